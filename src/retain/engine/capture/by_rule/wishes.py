"""Explicit wishes: "remember that…", "always…", "from now on…", "stop …ing", "I prefer…"."""

import re

from retain.engine.capture.by_rule import labels
from retain.engine.capture.by_rule.abroad import in_another_language
from retain.engine.capture.by_rule.addressed import (
    CODING,
    DOING,
    is_complaint,
    is_for_the_agent,
    is_its_habit,
    is_on_screen,
    reaches,
)
from retain.engine.capture.by_rule.corrections import denied
from retain.engine.capture.by_rule.declaring import declares, is_order
from retain.engine.capture.by_rule.found import Found, category_of, ends_everywhere, instead_of, scope_of, without_reach
from retain.engine.capture.by_rule.lasting import is_question
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
    rf"{_ASKED}{_MEMORY} (?P<what>(?!to |when |how |what |why |me |this |it |that time |the (?:difference"
    rf"|trailing))[\w`'\"/.-]+(?: [\w`'\"/.-]+){{0,6}}? "
    r"(?:is|are|has|have|needs?|uses?|runs?|lives?|goes|must|can'?t|cannot|only|use|deploy|expires?)\b.+)",
    re.I,
)
_REMEMBER_LAST = re.compile(
    r"(?P<what>.+?)\s?[,;.!–—-]\s?(?:please |pls |so )*(?:keep (?:that|this|it) in mind"
    r"|(?:remember|note|don'?t forget|never forget) (?:that|this|it))\b(?! \w+ (?:is|are)\b).{0,60}",
    re.I,
)
_FROM_NOW = (
    r"(?:from (?:now|here|today) on(?:wards?)?|from this point on|going forward|moving forward"
    r"|in (?:the )?future(?! \w+s\b)|starting now|(?:starting|as of) (?:today|tomorrow|(?:next )?(?:week|sprint"
    r"|month|quarter|year|release|\w+day)\b)|effective immediately|henceforth|(?:the )?next time(?: (?:you"
    r"|around))?)"
)
_IN_GENERAL = (
    r"(?:in general|generally|as a (?:general )?rule(?! of)|(?:one thing |a note )?for (?:the|your) future)"
    r"(?:\s?[,:]|(?= (?:if|when|whenever) (?:you|u)\b))"
)
_FROM_NOW_FIRST = re.compile(rf"(?:{_FROM_NOW}\s?[,:]?|{_IN_GENERAL})\s*(?P<what>.+)", re.I)
_FROM_NOW_LAST = re.compile(
    rf"(?P<what>.+?),?\s+(?:{_FROM_NOW}|in general|generally|as a (?:general )?rule)(?: (?:please|pls))?[.!]*$", re.I
)
_NEXT_TIME = re.compile(r"\bnext time\b", re.I)
_OWN_PLAN = re.compile(r"(?:i|i'll|i'm|i'd|i've|we'll|you'll|it|it'll|that|this)\b", re.I)
_ALWAYS = re.compile(
    rf"(?P<asked>{_ASKED}(?:(?:make sure|ensure)(?: that)?(?: you| u| to| we)? )?(?:please |to )*)"
    r"(?P<what>(?:always|never(?: ever)?) (?P<verb>[a-z][\w'-]*) ?(?P<rest>.+))",
    re.I,
)
_WE_ALWAYS = re.compile(r"(?P<what>we (?:always|never) (?P<verb>[a-z][\w'-]*) ?(?P<rest>.+))", re.I)
_TO_THE_AGENT = re.compile(r"\b(?:you|u)\b", re.I)
_ALWAYS_LAST = re.compile(r"(?P<what>(?P<verb>[a-z-]+) (?P<rest>.+)),? always[.!]*", re.I)
_NOBODY = re.compile(
    r"(?P<what>(?:(?:nobody|no one) (?:may|must|is allowed to)"
    r"|you (?:may|must|are) (?:not|never)(?: allowed to)?) .+)",
    re.I,
)
_ONLY_USE = re.compile(
    r"(?P<what>only (?:ever )?use (?!the\b|this\b|that\b|it\b|an?\b|one\b).+(?:,? (?:because|since)\b|, (?:we|the"
    r"|our)\b"
    r"|\b(?:in|for) (?:this|our) (?:project|repo|codebase|team)).*)",
    re.I,
)
_ARTEFACTS = re.compile(
    r"(?P<what>(?:write|keep|format|prefix|phrase|make(?! all)) (?:(?:all (?:your |our |the )?|your "
    r"|our )(?:commit messages?|commits|pr (?:titles|descriptions)|comments|answers|replies|summaries|tests"
    r"|branch names|docs)|(?:commit messages|commits|commit msgs|pr titles|answers|replies|responses|explanations"
    r"|summaries)"
    r"(?= (?!open|as )\w)) .+)",
    re.I,
)
_WORK = r"(?:commits?|push|prs?|pull requests?|merge|release|deploy(?:ment)?)"
_ORDERED = "|".join(sorted(DOING))
_EVERY_TIME = re.compile(
    r"(?P<what>(?:(?:whenever|every time|each time) (?:you|u) [^,]{3,80},|(?:before|after|with|on|for) (?:each|every)"
    rf" {_WORK}\b,?|(?:before|after|with) (?:each|every) (?:code )?(?:change|edit|migration|feature)\b,?)"
    r" (?:(?:please|pls|also|always|first|you|u|we|must|should|need to|have to)\s)*(?P<verb>[a-z-]+)\b.*)",
    re.I,
)
_EACH_TIME = re.compile(
    rf"(?P<what>(?:(?:please|pls) )*(?:{_ORDERED}|add|update|write|check|format) .+ (?:before|after|with) (?:each"
    rf"|every) {_WORK}\b.*"
    rf"|(?:{_ORDERED}) .+ after (?:each|every|any) (?:change|edit|update)s? (?:to|of|in)\b.+"
    r"|before (?:you )?(?:run|start|deploy|build|push|releas|test|commit|merg)\w* .{2,60}?,? (?:you|we) (?:need to"
    r"|have to"
    r"|must) .+"
    r"|(?:make sure|ensure) .+\b(?:every time|each time|before (?:each|every))\b.*"
    r"|(?:(?:ask|check with) me (?:first )?before|ask before you) .+|i(?:'d| would) (?:rather|prefer) (?:you|u"
    r"|it if you) (?:asked?|never|always|not|did ?n.t|kept?)\b.+|i want (?:you )?to .+ before you (?!do\b|go\b"
    r"|continue\b).+"
    rf"|(?:you|we) (?:need to|have to|must) (?:{_ORDERED}) .+ (?:after|before|when(?:ever)?|every time) (?:you |we "
    rf"|any |each "
    r"|every |\w+ing\b).+)",
    re.I,
)
_DO_NOT = re.compile(
    r"(?:you (?:must|should|can) not|(?:you )?(?:must|should)n'?t|do not|don'?t|no more)\s+(?P<what>.+)", re.I
)
_NO_SUCH = re.compile(
    r"(?P<what>no (?!thanks|problem|worries|need|way|idea|rush)[\w` -]{3,40}),? (?:please|pls|ever|at all)\b", re.I
)
_NONE_BECAUSE = re.compile(
    r"no (?!thanks|worries|errors|changes|tests|problems|issues|logs|results|hits|matches|differences|warnings|users"
    r"|rows)"
    r"(?:[\w`-]+ )?[\w`-]+[^s\W]s,? (?:because|since|(?:we|the|our|they)\b.+\b(?:only|don'?t|can'?t|cannot|never"
    r"|break|breaks|banned))\b.+",
    re.I,
)
_NONE_UNASKED = re.compile(r"no [\w` -]{3,40} without (?:asking|telling|my (?:ok|okay|approval|permission))\b.*", re.I)
_MANNER = re.compile(
    r"\b(?:emojis?|emoticons?|essays?|summar(?:y|ies)|explanations?|apologies|flattery|filler|small talk|boilerplate"
    r"|bullet points"
    r"|long answers|walls of text|ever|at all)\b",
    re.I,
)
_BY_HAND = re.compile(
    r"(?:touch|edit|change|modify|write|bump|format|update|run|apply|deploy|commit)\b .+\b(?:by hand|manually"
    r"|directly)\b",
    re.I,
)
_FOR_GOOD = re.compile(
    r"\b(?:again|ever|anymore|any more)\b|\bwithout (?:asking|my (?:ok|okay|approval|permission|consent)|permission"
    r"|telling me)\b|, ask (?:me|us) first\b",
    re.I,
)
_USE_NOT = re.compile(
    r"use (?!it\b|this\b|that\b|the\b|a\b|an\b)[^,]{2,40}(?:, (?:we|there|it|that)|,? (?:because|since))\b.+", re.I
)
_NOT_IN_THIS = re.compile(
    r"(?:touch|edit|change|modify|delete|rename|remove) .*(?:[\w.-]+/|\b(?:generated|synced|vendored|frozen"
    r"|owned by)\b)"
    r".*, (?:it|they|that|those|we|because|since)\b.+|(?:use|write|add|create|import|export|mock|commit|introduce"
    r"|put|store|log|hardcode)\b (?!(?:it|this|that|the|these"
    r"|those|them)\b).+ (?:(?:in|for) (?:this|our) (?:project|repo|repository|codebase|code base|team|monorepo|package)"
    r"|around here|in any (?:project|repo)\w*)\b.*",
    re.I,
)
_DO_THAT = re.compile(
    r"(?:you|we|u) (?:have|need|got|must|should|gotta)\b.{5,160}?[,.;] (?:and |so )?(?:please )?(?:always|every time)"
    r" do (?:that|this|it|so)\b.*",
    re.I,
)
_TALK = re.compile(
    r"(?:i(?:'d| would)? (?:want|like) (?:you|u) to|i(?:'d| would) like (?:you|u) to|you should) (?P<what>(?:always )?"
    r"(?:answer|reply|respond|talk|speak|write to me)(?: to me| with me)? (?:in|with|like) (?!(?:json|yaml|a|an|the"
    r"|this"
    r"|that|one|rust|go|python|\d+)\b).+)",
    re.I,
)
_AGAIN = re.compile(r"\s+(?:ever )?(?:again|anymore|any more)\b", re.I)
_STOP = re.compile(r"(?:you (?:have|need) to )?(?:stop|quit) (?P<what>(?P<verb>[a-z]+ing)\b.+)", re.I)
_PREFER = re.compile(
    r"i (?:(?:really|much|generally|usually|always|strongly) )*(?:prefer (?!(?:the|your|my|an?|to|not|both|one"
    r"|option|plan|variant|version|number|\d+|red|blue|green|black|white"
    r"|left|right|bigger|smaller|[a-z]\W*$)\b).+"
    r"|(?:hate|dislike|don'?t like|do not like) (?:it )?when (?:you|u) .+"
    r"|(?:hate|dislike|don'?t like|do not like) [\w -]{2,40} in .+)|i(?:'d| would) rather have .+ than .+"
    r"|i (?:use|work (?:on|with|in)) (?!it\b|this\b|that\b|the\b|an?\b)[\w .-]{2,40},? so (?:please )?(?:use|give|avoid"
    r"|prefer|write|always|never|don'?t)\b .+|i(?:'m| am) (?:colou?r-?blind|blind|dyslexic|deaf|left-handed|new to \w+"
    r"|an? (?:beginner|junior|senior|designer|backend|frontend)\b).*"
    r"|i (?:like|want|prefer) my (?:answers|replies|summaries|explanations|commits|diffs) .+"
    r"|my (?:name|time ?zone|locale|os|shell|editor|role|pronouns|native language) (?:is|are) (?!shown|missing|wrong"
    r"|not"
    r"|displayed|empty|cut)\w.*|my preference is (?!the\b|that\b|to\b)\w.+|i (?:don'?t"
    r"|do not) want (?:any )?(?:comments|summaries|emojis|explanations"
    r"|essays|docstrings|boilerplate|abbreviations|markdown files)\b.*|call me (?!back|when|if|later|maybe)\w+"
    r"|i always (?:want|like) (?!to\b|the\b).+|i never want (?:you|u) to .+|i(?:'m| am) (?:on"
    r"|using) (?:a )?(?:mac\w*|windows"
    r"|linux|wsl\w*|ubuntu|nixos)\b.*",
    re.I,
)
_ENOUGH_OF_IT = re.compile(
    r",? (?:and |so )?(?:please |pls )?(?:don'?t|do not|never) (?:ever )?do (?:that|it|this)(?: again)?[.!]*$", re.I
)
_FORMULA = re.compile(r"\s(?:=|->|:=|→)\s")
_POINTS_LAST = re.compile(r"\b(?:this|that|it|these|those|now|yet|the (?:\w+ )?(?:one|ones))[\s.!]*$", re.I)
_OF_THE_MOMENT = re.compile(
    r"\b(?:the (?:second|first|last|other)|this(?! (?:project|repo|codebase))|that(?! (?:you|u|we|all)\b)|it|these"
    r"|those|one of|drafts?"
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
    found = _explicit(text) or _plain(text, sentence)
    if found is not None:
        scope = max(scope_of(said), scope_of(found.text), key=lambda scope: scope.breadth)
        return Found(found.text, found.category, scope, denied(found.text) or instead_of(found.text))
    # Who says for how far something holds means it to last.
    is_meant = text != said or (ends_everywhere(text) and _can_be_kept(text))
    return Found(text, category_of(text), scope_of(said)) if is_meant else None


def _explicit(text: str) -> Found | None:
    return next((found for rule in (_remembered, in_another_language, _henceforth) if (found := rule(text))), None)


def _plain(text: str, sentence: Sentence) -> Found | None:
    """A wish that does not say that it lasts: only about the agent's own work, and about nothing on a screen."""
    if is_on_screen(text):
        return None
    return (None if _POINTS_LAST.search(text) else _bare_rule(text, sentence)) or _forbidden(text) or _preferred(text)


def _bare_rule(text: str, sentence: Sentence) -> Found | None:
    match = _ALWAYS.match(text)
    if match is not None:
        told = _TO_THE_AGENT.search(match["asked"]) is not None
        alone = not sentence.beside_request
    else:
        match, told, alone = _WE_ALWAYS.match(text), False, not (sentence.beside_question or is_complaint(text))
    if match is None:
        return _by_occasion(text)
    is_work = is_for_the_agent(match["verb"], match["rest"], alone=alone, told=told)
    return Found(match["what"], "pattern") if is_work else None


def ruled(text: str) -> Found | None:
    """A rule in so many words, where something before it said that it lasts: always, never, whenever you…."""
    match = _ALWAYS.match(text) or _WE_ALWAYS.match(text)
    if match is not None:
        return Found(match["what"], "pattern") if can_be_ordered(match["verb"]) else None
    return _by_occasion(text)


def _by_occasion(text: str) -> Found | None:
    match = _EVERY_TIME.match(text)
    if match is not None:
        return Found(match["what"], "pattern") if match["verb"].lower() in DOING | CODING else None
    match = _ALWAYS_LAST.fullmatch(text)
    if match is not None and is_for_the_agent(match["verb"], match["rest"], alone=True):
        return Found(f"Always {match['what'].rstrip(', ')}", "pattern")
    match = next((m for rule in (_EACH_TIME, _NOBODY, _ONLY_USE, _ARTEFACTS) if (m := rule.match(text))), None)
    return Found(match["what"], "pattern") if match else None


def _remembered(text: str) -> Found | None:
    last = _REMEMBER_LAST.fullmatch(text)
    match = _REMEMBER.match(text) or _REMEMBER_FACT.match(text) or last
    reminder = labels.reminded(text)
    if match is None and not reminder:
        return None
    what = opened(match["what"] if match else reminder or "")
    closes = last is not None and match is last
    if (closes or (match is None and is_order(what))) and not _can_be_kept(what):
        return None
    if re.match(r"i \w+ed\b|i (?:did|was|went|put|left|made)\b", what, re.I):
        return None
    if text.lower().startswith(("don't forget", "dont forget", "do not forget")) and is_order(what):
        return None
    found = _henceforth(what) or ruled(what)
    if found is None and closes and is_order(what) and not re.match(r"do\b|don'?t\b", what, re.I):
        return Found(f"Always {what}", "pattern")
    return found or Found(what, category_of(what))


def _can_be_kept(what: str) -> bool:
    """Whether "remember that" after it can mean this: no task that is done once, nothing that only points."""
    if re.match(r"(?:we|i|i'm|my|you)\b", what, re.I) or declares(what):
        return True
    verb, _, rest = re.sub(r"^(?:do not|don'?t) ", "", what, flags=re.I).partition(" ")
    return is_for_the_agent(verb, rest, alone=True) and not is_on_screen(what)


def _henceforth(text: str) -> Found | None:
    rule = labels.ruled(text)
    if rule and not is_question(rule) and not _FORMULA.search(rule):
        return Found(opened(rule), "pattern")
    match = _FROM_NOW_FIRST.match(text) or _FROM_NOW_LAST.match(text)
    if match is None or is_on_screen(text):
        return None
    what = re.sub(r"^don'?t\b", "do not", opened(match["what"]), flags=re.I)
    if _OWN_PLAN.match(what) or (_NEXT_TIME.search(text) and not _is_work(what)):
        return None
    return ruled(what) or Found(
        f"Always {what}" if is_order(what) and not what.startswith("do not") else what, "pattern"
    )


def _is_work(what: str) -> bool:
    verb, _, rest = re.sub(r"^do not ", "", what).partition(" ")
    return verb.lower() in DOING | CODING and not re.search(r"\b(?:it|this|that|them)\b", rest)


def can_be_ordered(verb: str) -> bool:
    """Whether "always" or "never" before this word makes an order, and not a habit or a phrase."""
    verb = verb.lower()
    is_inflected = len(verb) > 5 and verb.endswith(("ed", "ing")) and verb != "embed"
    is_third_person = verb.endswith("s") and not verb.endswith(("ss", "us"))
    return verb not in _NO_ORDER and not is_inflected and not is_third_person


def _forbidden(text: str) -> Found | None:
    match = _STOP.match(text)
    if match is not None:
        return Found(f"Avoid {match['what']}", "preference") if is_its_habit(match["verb"]) else None
    match = _DO_THAT.match(text)
    if match is not None:
        return Found(text, "pattern")
    if _NONE_BECAUSE.match(text) or _NONE_UNASKED.match(text):
        return Found(text, "preference")
    match = _NO_SUCH.match(text)
    if match is not None:
        is_meant = _MANNER.search(text) or reaches(text)
        return Found(text, "preference") if is_meant else None
    match = _DO_NOT.match(text)
    if match is None or not any(
        (
            _FOR_GOOD.search(text),
            _USE_NOT.match(match["what"]),
            _BY_HAND.match(match["what"]),
            _NOT_IN_THIS.match(match["what"]),
        )
    ):
        return None
    what = _AGAIN.sub("", match["what"].removeprefix("ever "))
    return Found(f"Do not {what}", "preference") if can_be_ordered(what.split()[0]) else None


def _preferred(text: str) -> Found | None:
    talk = _TALK.match(text)
    if talk is not None:
        return Found("I want you to " + talk["what"], "preference")
    text = _ENOUGH_OF_IT.sub("", text)
    if _PREFER.match(text) is None or _OF_THE_MOMENT.search(text):
        return None
    return Found(re.sub(r"^i\b", "I", text), "preference")
