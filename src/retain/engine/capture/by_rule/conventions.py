"""How things are done in a project: "we use tabs", "tests live in tests/", "branch names are feature/…"."""

import re

from retain.engine.capture.by_rule.addressed import CODING, DOING, is_complaint, is_for_the_agent, is_on_screen, reaches
from retain.engine.capture.by_rule.corrections import denied
from retain.engine.capture.by_rule.declaring import declares, is_order, leads_to_a_task
from retain.engine.capture.by_rule.found import Found, scope_of
from retain.engine.capture.by_rule.statement import opened
from retain.engine.capture.by_rule.typed import Sentence

_PLACE = (
    r"(?:(?:in|for) (?:this|our|the) (?:project|repo|repository|codebase|app|team|package|service)|around here"
    r"|over here|here(?!')|as a (?:rule(?! of)|convention)|by convention|(?:our|the) (?:convention|rule|policy"
    r"|style) is(?: that)?)\s?[,:]?\s*"
)
_HABITS = (
    r"use|deploy|follow|name|put|keep|write|test|build|ship|release|format|lint|store|squash|rebase|tag|version|host"
    r"|support|target|wrap|avoid|document|pin|vendor|mock|prefix|sort|run|review|merge|log in|sign in"
)
_WE = re.compile(
    rf"(?:{_PLACE})?(?P<what>we (?:only |only ever |all |generally |normally |usually |don'?t |do not |always "
    rf"|never )?(?:{_HABITS})\b(?! \w+ing\b| into\b| out\b| on\b| a lot\b| to\b) .+|we (?:deploy|ship|release"
    rf"|publish) (?:only )?to (?!an?\b|this\b|that\b|it\b)\w.+)",
    re.I,
)
_WE_HAVE = re.compile(
    r"(?P<what>we(?:(?:'re| are) (?:using|running|deploying|targeting|hosting) (?!too|so|it|this|that|out|a lot"
    r"|into).+| have .+ (?:in|at|under) [\w~.-]*[/.]\w.*|(?:'re| are) (?:still )?on "
    r"(?!(?:line|page|step|row|issue|ticket|day)\b)[\w.-]+ v?\d.*))",
    re.I,
)
_WE_WORK_WITH = re.compile(
    r"(?P<what>we (?:log|indent|validate|authenticate|style|schedule|monitor|cache|render|sign|encrypt|hash|paginate"
    r"|translate"
    r"|provision|trace|document)(?: (?!it|this|that|them)[\w-]+){0,2} (?:with|via|through|using) (?!an?\b|the\b|this\b"
    r"|that\b|it\b)\w.*)",
    re.I,
)
_ORDERED_HERE = re.compile(r"(?:use|prefer|avoid|write|follow|keep|name|format)\b(?!.*\bto\b)(?: \S+){1,9}$", re.I)
_FOR_WHAT = re.compile(
    r"for (?!now\b|example|instance|this\b|that\b|the moment|some reason|once)[\w -]{2,30}?,? (?=we (?:only |always "
    r"|never )?"
    r"(?:use|cache|keep|store|write|deploy|run|test|rely)\b)",
    re.I,
)
_WE_DO_NOT = re.compile(
    r"(?P<what>we (?:don'?t|do not|never) do (?!that\b|it\b|this\b)\w.* (?:here|in this (?:project|repo|codebase"
    r"|team)))[.!]*$",
    re.I,
)
_IN_FOLDER = re.compile(r"(?:[\w`.-]+ ){1,4}?(?:go|goes|belongs?|lives?) (?:in|into|under) [\w.-]*/.*", re.I)
_WE_MAY_NOT = re.compile(
    r"we (?:are not|aren'?t) allowed to .+|(?:we|you) (?:can'?t|cannot|can only|must not|mustn'?t"
    r"|may not) .+?\b(?:because|since|due to|otherwise|without|unless)\b .+|we have to .+?\b(?:because|since|due to"
    r"|otherwise)\b .+",
    re.I,
)
_HOW_TO = re.compile(
    r"to (?:run|build|deploy|test|start|lint|release|regenerate|format) (?!it\b|this\b|that\b|them\b)[\w -]{2,40}?,?"
    r" (?:use|run|call|you (?:need|have) to|you must) .+"
    r"|you need (?!to\b|it\b|this\b|that\b|an?\b|the\b)[\w .+-]{2,40} to (?:build|run|test|deploy|compile)\b.*"
    r"|on (?:macos|mac|macs|windows|linux|ubuntu|debian|arm\w*|m\d|ci|prod|staging),? (?:you|we) (?:have to|need to"
    r"|must"
    r"|can'?t|cannot) .+|no (?!errors|tests|changes|problems|issues|one\b|idea|bugs)[\w -]{3,40} in (?:this|our)"
    r" (?:project|repo|codebase)[.!]*$",
    re.I,
)
_FOR_EVERY = re.compile(
    r".{2,60}? (?:has to|have to|must|needs to) (?!be ).{2,60}?\b(?:every|each|all) (?!time|day|of|the time)\w+.*", re.I
)
_MADE = (
    r"code|tests?|specs?|endpoints?|routes?|handlers?|functions?|methods?|class(?:es)?|modules?|packages?|services?"
    r"|components?"
    r"|migrations?|commits?|prs?|pull requests?|branch(?:es)?|scripts?|files?|importers?|jobs?|quer(?:y|ies)|tables?"
    r"|models?"
    r"|hooks?|releases?|changes?|features?|repos?|libs?|librar(?:y|ies)|dependenc(?:y|ies)|plugins?|configs?|errors?"
    r"|secrets?"
    r"|texts?|strings?|apis?|events?|commands?|env vars?|images?|containers?|deploys?|deployments?"
)
_THIS_PROJECT = re.compile(
    r"this (?:project|repo|repository|codebase|app|service|package) (?:is|uses|has|needs|targets|supports|runs"
    r"|must)\b .+|(?:the|our) (?:convention|rule|policy) (?:here |for [\w -]{2,30}? )?is (?!in\b|on\b|not\b)\w.+"
    rf"|we want (?:all|every|each|any)\b(?: [\w-]+){{0,2}}? (?:{_MADE}) to .+"
    r"|this is an? .*\b(?:monorepo|library|cli|app|service|package|plugin|framework)\b.*",
    re.I,
)
_EVERY = re.compile(
    rf"(?:every|each|all|any)\b(?: [\w`/.-]+){{0,3}}? (?:{_MADE})\b.{{0,40}}? (?:needs?|must|gets?|has to|have to"
    rf"|goes|go|requires?|has its own|have their own)\b .+",
    re.I,
)
# "Allocators get passed in, never global": of all things of a kind, and what they are not.
_NOT_SO = re.compile(
    r"(?:all |our )?[a-z][\w-]*[^s\W]s (?:\w+ )?(?:is|are|get|go|come|live|have|need|use|take) .{2,80}?, (?:never"
    r"|not|nie) \w.*",
    re.I,
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
    r"|tested|versioned|placed|cut from|built|tagged|snake|camel|kebab|pascal|plain |like |(?:of|in) the form |feature/"
)
_OBJECTS = re.compile(
    rf"(?:all |our |the |every |new )?(?:[\w`/.-]+ ){{0,3}}?(?:{_THINGS})"
    r" (?:always |never |only |must |all )*(?:lives?\b|go(?:es)? (?:in|into|under|through|to|next to|beside|on)\b"
    rf"|(?:is|are|be) (?:always |never |only )?(?:{_TREATED})|are (?:in|under) \S*[/.]\S|(?:starts?|ends?) with"
    r"|follows?\b"
    r"|belongs? in\b).+",
    re.I,
)
_VAGUE = re.compile(r"we (?:\w+ )?\w+ (?:it|this|that|them|these|those|the same|a lot|too many|both)\b", re.I)
_AILING = re.compile(r"\b(?:there|but|deadlocks?|leaks?|crash(?:es)?|hangs?|problem|bug|issue|typo)\b", re.I)
_SOON = re.compile(r"\b(?:in an? (?:hour|minute|sec|few)|tomorrow|next week|later|soon|due|must pass)\b", re.I)
_UNSURE = re.compile(r"\b(?:should|please|fix(?!/))\b", re.I)


def convention(sentence: Sentence) -> Found | None:
    text = opened(sentence.text)
    if is_complaint(text) or is_on_screen(text) or leads_to_a_task(text) or _SOON.search(text):
        return None
    purpose = _FOR_WHAT.match(text)
    if purpose is not None and not sentence.beside_question and not _AILING.search(text):
        return _found(text)
    match = _WE.match(text) or _WE_HAVE.match(text) or _WE_WORK_WITH.match(text) or _WE_DO_NOT.match(text)
    if match is not None:
        is_aside = sentence.beside_question and not reaches(text)
        is_vague = _VAGUE.match(match["what"]) or _AILING.search(match["what"])
        return None if is_vague or is_aside else _found(match["what"])
    match = _HERE_WE.match(text)
    if match is not None and (match["what"].lower().startswith("we ") or _is_ordered_here(match, sentence)):
        return _found(match["what"])
    if match is not None and not text.lower().startswith("here") and declares(match["what"]):
        return _found(match["what"])
    return _found(text) if _is_custom(text, sentence) else None


def _is_ordered_here(match: re.Match[str], sentence: Sentence) -> bool:
    """ "In this project, use 4 spaces": a way to work, where no task stands beside it."""
    if sentence.beside_request:
        return False
    verb, _, rest = match["what"].partition(" ")
    is_way = _ORDERED_HERE.match(match["what"]) and is_for_the_agent(verb, rest, alone=True, told=True)
    return bool(is_way) and reaches(match[0][: match.start("what")])


def _is_custom(text: str, sentence: Sentence) -> bool:
    """Whether a sentence without "we" says how things are here: of all things of a kind, or in a list of rules."""
    if sentence.announced and (declares(text) or _LISTED.match(text)):
        return True
    if sentence.listed and (_LISTED.match(text) or not is_order(text)):
        return True
    if _UNSURE.search(text):
        return False
    ordered = _AND_NEVER.match(text)
    if ordered and declares(text) and ordered["verb"].lower() in DOING | CODING:
        return True
    if _NOT_SO.match(text):
        return True
    is_told = _OBJECTS.match(text) or _IN_FOLDER.match(text) or _HOW_TO.match(text)
    if is_told and not sentence.beside_question:
        return True
    if sentence.beside_request or sentence.beside_question:
        return bool(_IN_THIS.search(text) and declares(text))
    if _EVERY.match(text) or _WE_MAY_NOT.match(text) or _THIS_PROJECT.match(text):
        return True
    is_required = _FOR_EVERY.match(text) or _ALWAYS_HAS_TO.match(text) or _IN_THIS.search(text)
    return bool(is_required and declares(text))


def _found(text: str) -> Found:
    return Found(text, "pattern", scope_of(text), denied(text))
