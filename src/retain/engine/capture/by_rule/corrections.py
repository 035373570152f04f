"""Corrections: "no, the port is 8081, not 8080". The corrected fact, and what it takes the place of."""

import re

from retain.engine.capture.by_rule.addressed import is_complaint, is_on_screen
from retain.engine.capture.by_rule.declaring import declares, leads_to_a_task
from retain.engine.capture.by_rule.found import Found
from retain.engine.capture.by_rule.lasting import is_question
from retain.engine.capture.by_rule.statement import opened
from retain.engine.capture.by_rule.typed import Sentence

_WRONG = re.compile(
    r"(?:no+(?=\s*[,.:;!–—-]|\s+(?:no|the|we|our|it|that|this|all|every|they|wait)\b|\s*$)|nope|argh|oops|nah|wrong"
    r"|incorrect|not quite|correction|actually|sorry|my (?:bad|mistake)|i was wrong|i meant"
    r"|i (?:made a mistake|misspoke)|(?:that'?s|that is) (?:wrong|incorrect|not (?:right|true|correct))"
    r"|(?:you'?re|you are) wrong)\b[\s,.:;!–—-]*",
    re.I,
)
_ROOT = 4  # letters that two forms of a name share
_WE = re.compile(r"we (?:don'?t |do not |only )?(?:run|use|have|deploy|support|are on|host|build|target)\b .+", re.I)
# A number, a name in code, a place, or "we": without any, "no, the loop is fine" is talk about the moment.
_TELLING = re.compile(
    r"\d|[\w-]+[/_.]\w|`|\bwe\b|\b(?:only|never|always|deployed|hosted|called|lives?|runs?|needs?|requires?)\b", re.I
)
_AT_HAND = re.compile(
    r"\W*\d|(?:the |this |that |your |my )?(?:\w+ )?(?:tests?|output|result|array|list|loop|function|method|line"
    r"|value|answer|variable|string"
    r"|code|query|row|image|image|input|diff|commit|error|problem|bug|issue|cause|reason|class|argument|param\w*"
    r"|return)\b",
    re.I,
)
_NOT = re.compile(
    r"(?P<fact>.+?(?<! is)(?<! are)(?<! be)(?<! do)(?<! does)(?<! did)(?<! must)(?<! may)),? (?:and )?not (?!(?:only"
    r"|yet|just|sure|even|to|be|a problem|all|every|unique)\b)(?P<old>(?:[^,;.]|\.(?=\w)){1,60}?)(?:(?:,| so "
    r"| because | since ).*)?$",
    re.I,
)


def correction(sentence: Sentence) -> Found | None:
    text = opened(sentence.text)
    corrected = text
    for _ in range(3):
        corrected = opened(_WRONG.sub("", corrected, count=1)) if _WRONG.match(corrected) else corrected
    if corrected == text or is_question(corrected) or not (declares(corrected) or _WE.match(corrected)):
        return None
    old = denied(corrected)
    if is_complaint(corrected) or is_on_screen(corrected) or not (old or _TELLING.search(corrected)):
        return None
    if _AT_HAND.match(corrected) or leads_to_a_task(corrected):
        return None
    return Found(corrected, "architecture", replaces=old)


def denied(fact: str) -> str | None:
    """The fact that "X, not Y" denies, as it would have been said: the same words with Y in the place of X."""
    match = _NOT.match(fact)
    if match is None:
        return None
    said, old = re.sub(r",?(?: (?:here|btw|now))+$", "", match["fact"]).split(), match["old"].split()
    place = next((at for at in range(len(said) - 1, -1, -1) if _alike(said[at], old[0])), max(1, len(said) - len(old)))
    return " ".join([*said[:place], *old, *said[place + len(old) :]])


def _alike(word: str, old: str) -> bool:
    """Whether one can stand for the other: "5am" for "3am" in "at 5am UTC, not 3am", "orders-v2" for "orders"."""
    if word == old:
        return False
    if any(map(str.isdigit, old)):
        return any(map(str.isdigit, word))
    return len(old) > _ROOT and word[:_ROOT].lower() == old[:_ROOT].lower()
