"""Facts and traps that the user states about the project, only where they are plainly meant to last."""

import re

from retain.engine.capture.by_rule.addressed import CODING, DOING, is_complaint, is_on_screen
from retain.engine.capture.by_rule.corrections import denied
from retain.engine.capture.by_rule.declaring import declares, leads_to_a_task
from retain.engine.capture.by_rule.found import Found, category_of
from retain.engine.capture.by_rule.statement import opened
from retain.engine.capture.by_rule.typed import Sentence
from retain.engine.capture.by_rule.wishes import ruled

_WARNED = re.compile(
    r"(?:be )?(?:careful|caution|beware|watch out|heads[- ]up|warning|gotcha|important|attention|caveat"
    r"|trap)(?: for (?:the future|later|next time|everyone))?"
    r"(?:\s?[:,!–—-]+\s*| (?:with|of|about) (?P<with>[^:,]{2,60}?)\s?[:,–—-]\s*| that )(?P<what>.+)",
    re.I,
)
_HAPPENS = re.compile(
    r"(?:the|our|all|every|any)\b(?: [\w`/.-]+){1,5} (?:every|each|always|never|only|automatically|at|after|on)\b .+"
    r"|(?:the|our|all|every|any)\b.+ (?:every|each) \w+",
    re.I,
)
_DO_NOT = re.compile(r"(?:do not|don'?t|never) (?P<what>(?P<verb>[a-z-]+) .+)", re.I)
_TOLD = re.compile(
    r"(?:btw|by the way|fyi|for your information|just so (?:that )?you know|for context|good to know|heads[- ]up"
    r"|(?:quick|small|side|short) note)\b",
    re.I,
)
_TOLD_LAST = re.compile(r"[\s,]*\b(?:btw|by the way|fyi|just so you know)[.!]*$", re.I)
_NEEDS = re.compile(
    r".{2,80}? (?:needs?|requires?|expects?) .{2,80}\b(?:running|installed|set|enabled|started|up|first|available"
    r"|reachable|access|to (?:run|build|work|start|connect|pass))\b|.{2,60}? (?:needs?|requires?|(?:has|have) to be"
    r"|must be)"
    r" (?:exactly |at least )?[a-z]?[\w-]* ?v?\d+\.\d[\w.]*.*",
    re.I,
)
_NEEDS_ELSE = re.compile(
    r".{2,80}? (?:needs?|requires?|must|has to|have to) .{2,120}\b(?:otherwise|or else|or (?:it|they|those|these|the"
    r"|that|everything|nothing|you)|because|since|by law|, (?:ci|prod|we|our|the (?:ci|server|customers?))"
    r"|required by|, (?:the )?\w+ requires|for (?:legal|compliance|audit|security))\b.*",
    re.I,
)
_HURTS_WHEN = re.compile(
    r".{2,80}? (?:breaks?|fails?|crash(?:es)?|hangs?|stalls?|blocks|freezes|restarts|times? out|dies|corrupts?"
    r"|deadlocks?|leaks?|loses?) .{0,60}\b(?:(?:when(?:ever)?|if|above|below)\b .+ (?:because|since)|unless"
    r"|without)\b .+",
    re.I,
)
_STANDING = re.compile(
    r".{2,80}? (?:(?:is|are) (?:always |only |never )?(?:(?:read-only|readonly|immutable|append-only|deprecated|frozen"
    r"|(?:auto-?)?generated|case-(?:in)?sensitive|versioned|shared|encrypted|forbidden|off limits|rate[- ]limited"
    r"|single-threaded|mirrored|mandatory|banned|not allowed)|(?:hosted|deployed|tracked|published|announced|stored"
    r"|kept|served|run|written|documented|described|handled|managed"
    r"|configured|provided|owned|maintained|synced|signed|rendered|cached) (?:in|on|at|under|by|via|through|with"
    r"|from|as)"
    r"|(?:\w+ )?separated|called)|comes? from"
    r"|stays? (?:on|off|enabled|disabled|at)|(?:happens?|works?) (?:via|through|by|over)|depends? on|relies on"
    r"|rely on|rotates? (?:every|daily|weekly|monthly|at)|expires? (?:after|every|in)|(?:lives?|sits?|resides?"
    r"|runs?) (?:in|on|at|under|behind) (?!every|each|a loop))\b.*",
    re.I,
)
_OURS_IS = re.compile(
    r"our [\w -]{2,40}? (?:is|are|runs?|uses?|lives?|has|have|needs?) (?!too|so|very|a bit|pretty|quite|not|slow"
    r"|\w+ing\b)\w.+|the reason (?:why|for|we) .+ (?:is|was) .+|.{2,60}? (?:is|are) (?:on purpose|intentional"
    r"|deliberate|by design)\b.*|.{2,60}? (?:only works?|works? only) (?:with|on|in|from|over|behind|if|when|as) .+",
    re.I,
)
_ONLY_WITH = re.compile(
    r"(?P<what>(?:the|our|all)\b[^,]{2,60}? only (?:pass(?:es)?|builds?|compiles?|runs?|starts?|links?)"
    r" (?:with|under|as|on)"
    r" [^,]{2,80})(?:,.*)?$",
    re.I,
)
_SETTING = re.compile(r"\b[A-Z][A-Z_]+=\S|`|\w \d+(?:\.\d+)*\b|--\w")
_WIPED = re.compile(
    r"(?:the|our)\b[^,]{0,40}\b(?:db|dbs|database|data|env|environment|bucket|cluster|server|sandbox|staging|schema|volume"
    r"|cache|redis|disk) (?:gets?|is|are) (?:\w+ly )?(?:wiped|reset|rebuilt|recreated|purged|truncated|cleared|flushed"
    r"|overwritten|refreshed) (?:nightly|daily|weekly|monthly|(?:every|each) "
    r"(?!time|request|call|render|click|test)\w+)\b.*",
    re.I,
)
_ALWAYS = re.compile(
    r"(?:(?:the|our|all|every|each)\b.{2,60}?|[a-z]+s) (?:is|are) (?:always|never|only) (?!fun|awesome|great|nice"
    r"|good|there|here)\w.*",
    re.I,
)
_OURS = re.compile(r"(?!my |speaking |on |.* (?:has|have) been )", re.I)
_MUST = re.compile(
    r".{2,60}? (?:must|has to|have to|may) (?:(?:not|never|only) be (?:changed|edited|touched|removed|renamed"
    r"|deleted|committed|logged|shared|called|used|deployed|updated|modified|merged|run)|(?:stay|remain) (?:at|on"
    r"|below|above|under|in)"
    r"|be ignored)\b.*",
    re.I,
)
_VALUED = re.compile(
    r"(?:the|our) (?:[\w-]+ ){0,3}?(?:(?:[\w-]+ )(?:url|host|port|timeout|limit|quota|version|region|bucket|domain"
    r"|address|policy|namespace|registry|budget|schedule)|deadline|(?:launch|release|cutover|freeze|go-live) date"
    r"|retention(?: period)?|license|currency)"
    r"(?: (?:for|of|on|in) [\w -]{2,30}?)? (?:is|are|(?:has )?changed to|(?:has )?moved to) (?:now )?"
    r"(?=\S*(?:\d|\w[./]\w)|[A-Z]\w+).+|.{2,60}? (?:is|are|runs?|listens?) on port \d+\b(?! (?:and|but)\b).*"
    r"|.{2,40}? (?:is|are) (?:planned|scheduled|set) for (?!today|tomorrow|tonight|later|next|now)\w.+"
    r"|(?:the|our) .{2,40}? (?:must|has to|have to) be (?:run|started|executed|deployed|built|installed) (?:from"
    r"|with|on"
    r"|before|after|as|in)\b.+",
    re.I,
)
_VALUES = re.compile(r"\b(?:null|undefined|true|false|recalculated)\b", re.I)
_TO_BE_DONE = re.compile(
    r"\b(?:needs?|has|have) (?:to be )?(?:fix|updat|refactor|chang|rewrit|clean|review|test|remov|renam|merg|handl"
    r"|restart|a (?:fix|test|review|rewrite|docstring))",
    re.I,
)
_PASSING = re.compile(
    r"^error\b|\b(?:again|still|now|today|yesterday|tonight|this morning|suddenly|since (?:the|yesterday|this)"
    r"|seems?|a mess|(?:just|we) (?:broke|failed|crashed)|down|broken|red|failing|i|i'm|im|i'll"
    r"|my|that'?s why|leaks state|interferes?)\b",
    re.I,
)

_AILS_NOW = re.compile(r"\b(?:again|now|today|yesterday|suddenly|since|seems?|somehow|weird\w*|strange\w*)\b", re.I)


def fact(sentence: Sentence) -> Found | None:
    text = _TOLD_LAST.sub("", opened(sentence.text))
    warned = _WARNED.match(text)
    if warned is not None and (not is_complaint(text) or _DO_NOT.match(warned["what"])):
        return _warning(warned["with"], warned["what"])
    only = _ONLY_WITH.match(text)
    if only is not None and _SETTING.search(only["what"]) and not _AILS_NOW.search(text):
        is_aside = sentence.beside_request or sentence.beside_question
        return None if is_aside or leads_to_a_task(text) else Found(only["what"], "gotcha")
    if _PASSING.search(text) or _TO_BE_DONE.search(text) or leads_to_a_task(text):
        return None
    if is_complaint(text) or is_on_screen(text):
        return None
    is_ours = re.match(r"we\b", text, re.I) is not None or (_OURS.match(text) is not None and declares(text))
    is_told = is_ours and _TOLD.search(sentence.text) is not None
    if not (is_told or _is_standing(text, sentence)):
        return None
    category = category_of(text)
    return Found(text, category if category in ("gotcha", "pattern") else "architecture", replaces=denied(text))


def _warning(subject: str | None, what: str) -> Found | None:
    rule = ruled(what)
    if rule is not None:
        return rule
    if order := _DO_NOT.match(what):
        return Found(f"Do not {order['what']}", "gotcha") if order["verb"].lower() in DOING | CODING else None
    if subject:
        return Found(f"{subject}: {what}", "gotcha")
    return Found(what, "gotcha") if declares(what) or _HAPPENS.match(what) else None


def _is_standing(text: str, sentence: Sentence) -> bool:
    """A thing's standing condition; the same words beside a request are more likely a bug or a feature described."""
    if not declares(text):
        return False
    if _NEEDS.match(text) or _NEEDS_ELSE.match(text):
        return True
    if sentence.beside_request or sentence.beside_question or _VALUES.search(text):
        return False
    return any(pattern.match(text) for pattern in (_STANDING, _OURS_IS, _ALWAYS, _HURTS_WHEN, _MUST, _VALUED, _WIPED))
