"""Explicit wishes: "remember that…", "always…", "from now on…", "stop …ing", "I prefer…"."""

import re

from retain.engine.capture.by_rule.declaring import declares, is_order
from retain.engine.capture.by_rule.found import Found, category_of, scope_of, without_reach
from retain.engine.capture.by_rule.statement import opened
from retain.engine.capture.by_rule.typed import Sentence

_ASKED = (
    r"(?:(?:can|could|will|would) (?:you|u) |i(?:'d| would)? (?:want|need|like) (?:you|u) to "
    r"|(?:you|u) (?:should|must|need to|have to) |we (?:should|must) |let'?s |try to )?(?:please |pls |also )*"
)
_MEMORY = (
    r"(?:rem(?:em)?ber|remeber|keep in mind|bear in mind|don'?t forget|do not forget|(?:please )?(?:take )?note"
    r"|memori[sz]e)"
)
_REMEMBER = re.compile(
    rf"{_ASKED}(?:{_MEMORY}(?: this| the following| for (?:later|next time|the future))?(?:,? that\b|\s?:| -"
    r"|,(?= (?:we|the|our|all|always|never|don'?t|do not)\b))|(?:note to self|for (?:future|later) reference"
    r"|for the (?:record|future))\s?[:,]?(?: that\b)?"
    r"|(?:add|save|put) (?:this )?(?:in)?to (?:your )?memory\s?:)\s*(?P<what>.+)",
    re.I,
)
# Without "that" only when a subject and its verb follow: "remember to run the tests" is for the moment.
_REMEMBER_FACT = re.compile(
    rf"{_ASKED}{_MEMORY} (?P<what>(?!to |when |how |what |why |the (?:difference"
    rf"|trailing))[\w`'\"/.-]+(?: [\w`'\"/.-]+){{0,6}}? "
    r"(?:is|are|has|have|needs?|uses?|runs?|lives?|goes|must|can'?t|cannot|only|use|deploy|expires?)\b.+)",
    re.I,
)
_FOREIGN_FACT = re.compile(
    r"(?:bitte )?(?:merk(?:e)? dir|denk(?:e)? (?:daran|dran)|vergiss nicht)\s?[,:]\s*(?:dass\s+)?(?P<de>.+)"
    r"|(?:recuerda|acu[ée]rdate de|ten en cuenta|no olvides)\s+que\s+(?P<es>.+)"
    r"|(?:souviens-toi|rappelle-toi|n'oublie pas|retiens|note bien)\s+qu(?:e\s+|')(?P<fr>.+)"
    r"|(?:请)?(?:记住|记得|牢记)[:：,，]?\s*(?P<zh>.+)",
    re.I,
)
_FOREIGN_RULE = re.compile(
    r"(?:ab (?:jetzt|sofort)|von (?:jetzt|nun) an|in zukunft)\s?,?\s*(?:bitte )?(?P<de>.+)"
    r"|(?:a partir de ahora|de ahora en adelante)\s?,?\s*(?P<es>.+)|(?:à partir de maintenant|désormais"
    r"|dorénavant)\s?,?\s*(?P<fr>.+)|(?:从现在开始|从现在起|以后(?:请)?(?=都|一律|总是))[,，]?\s*(?P<zh>.+)",
    re.I,
)
_REMEMBER_LAST = re.compile(
    r"(?P<what>.+?)\s?[,;.!–—-]\s?(?:please |pls |so )*(?:keep (?:that|this|it) in mind"
    r"|(?:remember|note|don'?t forget|never forget) (?:that|this|it))\b(?! \w+ (?:is|are)\b).{0,60}",
    re.I,
)
_ALWAYS_ABROAD = re.compile(r"\b(?:immer|nie(?:mals)?|siempre|nunca|toujours|jamais)\b|总是|永远|不要|只能|必须", re.I)
_FROM_NOW = (
    r"(?:from (?:now|here|today) on(?:wards?)?|from this point on|going forward|moving forward|in (?:the )?future"
    r"|starting (?:now|today)|as of (?:now|today)|henceforth|(?:the )?next time(?: (?:you|around))?)"
)
_IN_GENERAL = r"(?:in general|generally|as a (?:general )?rule|(?:one thing |a note )?for (?:the|your) future)\s?[,:]"
_FROM_NOW_FIRST = re.compile(rf"(?:{_FROM_NOW}\s?[,:]?|{_IN_GENERAL})\s*(?P<what>.+)", re.I)
_FROM_NOW_LAST = re.compile(rf"(?P<what>.+?),?\s+{_FROM_NOW}[.!]*$", re.I)
_OWN_PLAN = re.compile(r"(?:i|i'll|i'm|i'd|i've|we'll|you'll|it|it'll|that|this)\b", re.I)
_ALWAYS = re.compile(
    rf"{_ASKED}(?:(?:make sure|ensure)(?: that)?(?: you| u| to| we)? )?(?:please |to )*"
    r"(?P<what>(?:always|never(?: ever)?) (?P<verb>[a-z][\w'-]*).+)",
    re.I,
)
_WE_ALWAYS = re.compile(r"(?P<what>we (?:always|never) (?P<verb>[a-z][\w'-]*).+)", re.I)
_NOBODY = re.compile(
    r"(?P<what>(?:(?:nobody|no one) (?:may|must|is allowed to)"
    r"|you (?:may|must|are) (?:not|never)(?: allowed to)?) .+)",
    re.I,
)
_ONLY_USE = re.compile(r"(?P<what>only (?:ever )?use .+ (?:for|in|when|with) .+)", re.I)
_ARTEFACTS = re.compile(
    r"(?P<what>(?:write|keep|make|format|prefix|start|phrase) (?:all (?:your |our |the )?|your "
    r"|our )(?:commit messages?|commits|pr (?:titles|descriptions)|comments|answers|replies|summaries|tests"
    r"|branch names|docs) .+)",
    re.I,
)
_WORK = r"(?:commits?|push|prs?|merge|release|change|deploy(?:ment)?|feature|migration|edit|new \w+)"
_EVERY_TIME = re.compile(
    r"(?P<what>(?:whenever|every time|each time) (?:you|u|we) .+|(?:before|after|with|on|for) (?:each"
    rf"|every) {_WORK}\b.+"
    r"|(?:make sure|ensure) .+\b(?:every time|each time|before (?:each|every)|before (?:you )?(?:commit|push"
    r"|merge)\w*)\b.*"
    r"|(?:ask|check with) (?:me )?(?:first )?before .+|i want (?:you )?to .+ before you (?!do\b|go\b|continue\b).+"
    r"|(?:you|we) (?:need to|have to|must) .+ (?:after|before|when(?:ever)?|every time) (?:you |we |any |each "
    r"|every |\w+ing\b).+)",
    re.I,
)
_DO_NOT = re.compile(
    r"(?:you (?:must|should|can) not|(?:you )?(?:must|should)n'?t|do not|don'?t|no more)\s+(?P<what>.+)", re.I
)
_NO_SUCH = re.compile(
    r"(?P<what>no (?!thanks|problem|worries|need|way|idea|rush)[\w` -]{3,40}),? (?:please|pls|ever|at all)\b", re.I
)
_FOR_GOOD = re.compile(
    r"\b(?:again|ever|anymore|any more)\b|\bwithout (?:asking|my (?:ok|okay|approval|permission|consent)|permission"
    r"|telling me)\b",
    re.I,
)
_USE_NOT = re.compile(
    r"use (?!it\b|this\b|that\b|the\b|a\b|an\b)[^,]{2,40}(?:, (?:we|there|it|that)|,? (?:because|since))\b.+", re.I
)
_AGAIN = re.compile(r"\s+(?:ever )?(?:again|anymore|any more)\b", re.I)
_STOP = re.compile(r"(?:you (?:have|need) to )?(?:stop|quit) (?P<what>(?P<verb>[a-z]+ing)\b.+)", re.I)
_RUNNING_WORDS = """
    running watching building serving listening waiting typing being loading polling testing
"""
_RUNNING = frozenset(_RUNNING_WORDS.split())
_PREFER = re.compile(
    r"i (?:(?:really|much|generally|usually|always|strongly) )*(?:prefer .+|(?:hate|dislike) (?:it )?when (?:you"
    r"|u) .+|(?:hate|dislike) [\w -]{2,40} in .+)|i(?:'d| would) rather have .+ than .+"
    r"|i always (?:want|like|need) .+|i never want (?:you|u) to .+|i (?:don'?t|do not) (?:like|want) (?!to\b|the\b"
    r"|this\b|that\b|it\b|a\b|an\b|you\b).+|i(?:'m| am) (?:on|using) (?:a )?(?:mac\w*|windows|linux|wsl\w*|ubuntu"
    r"|nixos)\b.*",
    re.I,
)
_OF_THE_MOMENT = re.compile(
    r"\b(?:the (?:second|first|last|other)|this(?! (?:project|repo|codebase))|that one|it|these|those|one of|drafts?"
    r"|tbh|to be (?:red|blue|a))\b",
    re.I,
)
# After "always" or "never": no order, but a habit, a fact, a phrase, or what a program shows to its users.
_NO_ORDER_WORDS = """
    a an the been had has was were is are am mind ever again in on at to of good nice happy glad welcome wanted
    thought knew got did used said felt forget forgot know end saw heard tried seen done gone known happened
    worked understood i we you they it he she this that ask here there up give quit let look cheer stop miss try
    believe show display hide render return redirect open close animate scroll highlight appear
"""
_NO_ORDER = frozenset(_NO_ORDER_WORDS.split())


def wish(sentence: Sentence) -> Found | None:
    said = opened(sentence.text)
    text = opened(without_reach(said))
    for rule in (_remembered, _in_another_language, _henceforth, ruled, _forbidden, _preferred):
        found = rule(text)
        if found is not None:
            scope = max(scope_of(said), scope_of(found.text), key=lambda scope: scope.breadth)
            return Found(found.text, found.category, scope)
    # Who says for how far something holds means it to last.
    return Found(text, category_of(text), scope_of(said)) if text != said else None


def ruled(text: str) -> Found | None:
    """A rule in so many words: always, never, whenever you…, ask before…."""
    match = _ALWAYS.match(text) or _WE_ALWAYS.match(text)
    if match is not None:
        return Found(match["what"], "pattern") if can_be_ordered(match["verb"]) else None
    match = next((m for rule in (_EVERY_TIME, _NOBODY, _ONLY_USE, _ARTEFACTS) if (m := rule.match(text))), None)
    return Found(match["what"], "pattern") if match else None


def _remembered(text: str) -> Found | None:
    last = _REMEMBER_LAST.fullmatch(text)
    match = _REMEMBER.match(text) or _REMEMBER_FACT.match(text) or last
    if match is None:
        return None
    what = opened(match["what"])
    if match is last and not (declares(what) or what.lower().startswith("we ")):
        return None
    return _henceforth(what) or ruled(what) or Found(what, category_of(what))


def _in_another_language(text: str) -> Found | None:
    rule = _FOREIGN_RULE.match(text)
    match = rule or _FOREIGN_FACT.match(text)
    if match is None:
        return None
    what = next(value for value in match.groups() if value)
    return Found(what, "pattern" if rule or _ALWAYS_ABROAD.search(what) else "architecture")


def _henceforth(text: str) -> Found | None:
    match = _FROM_NOW_FIRST.match(text) or _FROM_NOW_LAST.match(text)
    if match is None:
        return None
    what = re.sub(r"^don'?t\b", "do not", opened(match["what"]), flags=re.I)
    if _OWN_PLAN.match(what):
        return None
    return ruled(what) or Found(
        f"Always {what}" if is_order(what) and not what.startswith("do not") else what, "pattern"
    )


def can_be_ordered(verb: str) -> bool:
    """Whether "always" or "never" before this word makes an order, and not a habit or a phrase."""
    verb = verb.lower()
    is_inflected = len(verb) > 5 and verb.endswith(("ed", "ing")) and verb != "embed"
    is_third_person = verb.endswith("s") and not verb.endswith(("ss", "us"))
    return verb not in _NO_ORDER and not is_inflected and not is_third_person


def _forbidden(text: str) -> Found | None:
    match = _STOP.match(text)
    if match is not None:
        return Found(f"Avoid {match['what']}", "preference") if match["verb"].lower() not in _RUNNING else None
    match = _NO_SUCH.match(text)
    if match is not None:
        return Found(text, "preference")
    match = _DO_NOT.match(text)
    if match is None or not (_FOR_GOOD.search(text) or _USE_NOT.match(match["what"])):
        return None
    what = _AGAIN.sub("", match["what"].removeprefix("ever "))
    return Found(f"Do not {what}", "preference") if can_be_ordered(what.split()[0]) else None


def _preferred(text: str) -> Found | None:
    if _PREFER.match(text) is None or _OF_THE_MOMENT.search(text):
        return None
    return Found("I" + text[1:], "preference")
