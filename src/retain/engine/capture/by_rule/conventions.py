"""How things are done in a project: "we use tabs", "tests live in tests/", "branch names are feature/…"."""

import re

from retain.engine.capture.by_rule.corrections import denied
from retain.engine.capture.by_rule.declaring import declares
from retain.engine.capture.by_rule.found import Found, scope_of
from retain.engine.capture.by_rule.statement import opened
from retain.engine.capture.by_rule.typed import Sentence
from retain.engine.capture.by_rule.wishes import can_be_ordered

_PLACE = (
    r"(?:(?:in|for) (?:this|our|the) (?:project|repo|repository|codebase|app|team|package|service)|around here"
    r"|over here|here(?!')|as a (?:rule|convention)|by convention|(?:our|the) (?:convention|rule|policy"
    r"|style) is(?: that)?)\s?[,:]?\s*"
)
_HABITS = (
    r"use|deploy|follow|name|put|keep|write|test|build|ship|release|format|lint|store|squash|rebase|tag|version|host"
    r"|support|target|wrap|avoid|document|pin|vendor|mock|prefix|sort|run|review|merge"
)
_WE = re.compile(
    rf"(?:{_PLACE})?(?P<what>we (?:only |all |generally |normally |usually |don'?t |do not |always "
    rf"|never )?(?:{_HABITS})\b .+)",
    re.I,
)
_WE_HAVE = re.compile(
    r"(?P<what>we(?:(?:'re| are) (?:using|running|deploying|targeting|hosting) (?!too|so|it|this|that|out|a lot"
    r"|into).+| have .+ (?:in|at|under) [\w~.-]*[/.]\w.*|(?:'re| are) (?:still )?on [\w.-]+ v?\d.*))",
    re.I,
)
_WE_MAY_NOT = re.compile(
    r"we (?:are not|aren'?t) allowed to .+|(?:we|you) (?:can'?t|cannot|can only|must not|mustn'?t"
    r"|may not) .+?\b(?:because|since|due to|otherwise|without|unless)\b .+|we have to .+?\b(?:because|since|due to"
    r"|otherwise)\b .+",
    re.I,
)
_FOR_EVERY = re.compile(
    r".{2,60}? (?:has to|have to|must|needs to) (?!be ).{2,60}?\b(?:every|each|all) (?!time|day|of|the time)\w+.*", re.I
)
_THIS_PROJECT = re.compile(
    r"this (?:project|repo|repository|codebase|app|service|package) (?:is|uses|has|needs|targets|supports|runs"
    r"|must)\b .+|this is an? .*\b(?:monorepo|library|cli|app|service|package|plugin|framework)\b.*",
    re.I,
)
_EVERY = re.compile(
    r"(?:every|each|all|any)\b.{2,60}? (?:needs?|must|gets?|has to|have to|goes|go|requires?)\b .+", re.I
)
_AND_NEVER = re.compile(r"(?!always|never).{5,160}?, (?:and |so )?(?:always|never) (?P<verb>[a-z]+) .+", re.I)
_ALWAYS_HAS_TO = re.compile(r".{2,60}? (?:always|never) (?:has|have|needs?) to .+", re.I)
_LISTED = re.compile(r"(?:no|only|always|never|every|each|all|use|don'?t|do not|avoid|prefer|we)\b .+", re.I)
_IN_THIS = re.compile(r"\b(?:in this|in our) (?:project|repo|repository|codebase|app|team)\b", re.I)
_HERE_WE = re.compile(rf"{_PLACE}(?P<what>.+)", re.I)
_THINGS = (
    r"tests|specs|fixtures|branch(?:es| names)|commits?(?: messages)?|files|components|modules|classes|functions"
    r"|handlers|migrations|errors|variables|constants|types|interfaces|hooks|styles|strings|routes|endpoints"
    r"|controllers|models|services|packages|secrets|configs?|configuration|docs|prs|pull requests|tags|releases"
    r"|versions|tables?|columns|env vars|scripts|imports|logs|assets|translations|dates|timestamps|ids|prices"
    r"|reports|state|names|flags|amounts"
)
_TREATED = (
    r"named|called|written|wrapped|formatted|prefixed|suffixed|stored|kept|run|rendered|sorted|generated|grouped"
    r"|tested|versioned|placed|cut from|built|tagged|snake|camel|kebab|pascal|plain |like |of the form |feature/"
)
_OBJECTS = re.compile(
    rf"(?:all |our |the |every |new )?(?:[\w`/.-]+ ){{0,3}}?(?:{_THINGS})"
    r" (?:always |never |only |must |all )*(?:lives?\b|go(?:es)? (?:in|into|under|through|to)\b"
    rf"|(?:is|are|be) (?:always |never |only )?(?:{_TREATED})|are (?:in|under) \S*[/.]\S|(?:starts?|ends?) with"
    r"|follows?\b"
    r"|belongs? in\b).+",
    re.I,
)
_VAGUE = re.compile(r"we (?:\w+ )?\w+ (?:it|this|that|them|these|those|the same|a lot|too many|both)\b", re.I)
_VISIBLE = re.compile(
    r"\b(?:buttons?|pages?|headers?|footers?|labels?|icons?|colou?rs?|clicks?|popups?|modals?)\b", re.I
)
_TROUBLE = re.compile(
    r"\b(?:wrong|broken|bugs?|weird|strange|missing|slow|error|failing|not working|should|please|fix(?!/)|unused"
    r"|empty)\b",
    re.I,
)


def convention(sentence: Sentence) -> Found | None:
    text = opened(sentence.text)
    match = _WE.match(text) or _WE_HAVE.match(text)
    if match is not None:
        is_vague = _VAGUE.match(match["what"]) or (_TROUBLE.search(text) and sentence.beside_request)
        return None if is_vague else _found(match["what"])
    match = _HERE_WE.match(text)
    if match is not None and (declares(match["what"]) or match["what"].lower().startswith("we ")):
        return _found(match["what"])
    return _found(text) if _is_custom(text, sentence) else None


def _is_custom(text: str, sentence: Sentence) -> bool:
    """Whether a sentence without "we" says how things are here: of all things of a kind, or in a list of rules."""
    if sentence.announced and (declares(text) or _LISTED.match(text)):
        return True
    if _TROUBLE.search(text) or _VISIBLE.search(text):
        return False
    ordered = _AND_NEVER.match(text)
    if (ordered and declares(text) and can_be_ordered(ordered["verb"])) or (
        _ALWAYS_HAS_TO.match(text) and declares(text)
    ):
        return True
    if _EVERY.match(text) or _WE_MAY_NOT.match(text) or (_FOR_EVERY.match(text) and declares(text)):
        return not sentence.beside_request
    return bool(_OBJECTS.match(text) or _THIS_PROJECT.match(text) or (_IN_THIS.search(text) and declares(text)))


def _found(text: str) -> Found:
    return Found(text, "pattern", scope_of(text), denied(text))
