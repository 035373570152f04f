"""Corrections: "no, the port is 8081, not 8080". The corrected fact, and what it takes the place of."""

import re

from retain.engine.capture.by_rule.declaring import declares
from retain.engine.capture.by_rule.found import Found
from retain.engine.capture.by_rule.lasting import is_question
from retain.engine.capture.by_rule.statement import opened
from retain.engine.capture.by_rule.typed import Sentence

_WRONG = re.compile(
    r"(?:no+|nope|nah|wrong|incorrect|not quite|correction|actually|sorry|my (?:bad|mistake)|i was wrong|i meant"
    r"|i (?:made a mistake|misspoke)|(?:that'?s|that is) (?:wrong|incorrect|not (?:right|true|correct))"
    r"|(?:you'?re|you are) wrong)\b[\s,.:;!–—-]*",
    re.I,
)
_WE = re.compile(r"we (?:don'?t |do not |only )?(?:run|use|have|deploy|support|are on|host|build|target)\b .+", re.I)
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
    return Found(corrected, "architecture", replaces=denied(corrected))


def denied(fact: str) -> str | None:
    """The fact that "X, not Y" denies, as it would have been said: the same words with Y in the place of X."""
    match = _NOT.match(fact)
    if match is None:
        return None
    said, old = match["fact"].split(), match["old"].split()
    # "at 5am UTC, not 3am": the old value stands where a word of its shape stood.
    for place in range(len(said) - 1, -1, -1):
        if _shape(said[place]) == _shape(old[0]) and said[place] != old[0]:
            return " ".join([*said[:place], *old, *said[place + len(old) :]])
    keep = max(1, len(said) - len(old))
    return " ".join([*said[:keep], *old])


def _shape(word: str) -> str:
    if any(letter.isdigit() for letter in word):
        return "number"
    return "word" if word.isalpha() and len(word) > 3 else word.lower()
