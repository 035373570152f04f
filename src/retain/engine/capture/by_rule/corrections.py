"""Corrections: "no, the port is 8081, not 8080". The corrected fact, and what it takes the place of."""

import re

from retain.engine.capture.by_rule.addressed import is_complaint, is_on_screen
from retain.engine.capture.by_rule.declaring import declares, leads_to_a_task
from retain.engine.capture.by_rule.found import Found, instead_of
from retain.engine.capture.by_rule.lasting import is_question
from retain.engine.capture.by_rule.statement import opened
from retain.engine.capture.by_rule.typed import Sentence

_WRONG = re.compile(
    r"(?:no+(?=\s*[,.:;!–—-]|\s+(?:no|the|we|our|it|that|this|all|every|they|wait)\b|\s*$)|nope|argh|oops|nah|wrong"
    r"|incorrect|not quite|correction|actually|sorry|my (?:bad|mistake)|i was wrong|i meant"
    r"|i (?:made a mistake|misspoke)|(?:that'?s|that is) (?:wrong|incorrect|not (?:right|true|correct))"
    r"|(?:you'?re|you are) wrong|scratch that|forget (?:that|about that"
    r"|(?:what i said )?about (?P<old>[\w@/.+#-]+)))\b[\s,.:;!–—-]*",
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
    r"(?P<fact>.+?(?<! is)(?<! are)(?<! be)(?<!\bdo)(?<! does)(?<! did)(?<! must)(?<! may)),? (?:and )?not (?!(?:only"
    r"|yet|just|sure|even|to|be|a problem|all|every|unique)\b)(?P<old>(?:[^,;.]|\.(?=\w)){1,60}?)(?:(?:,| so "
    r"| because | since ).*)?$",
    re.I,
)


_MOVED = re.compile(
    r"(?P<what>(?:the|our) [\w -]{2,40}?) (?:has |have )?(?:moved|changed) from (?P<old>[^,]{1,30}?) to (?!the\b"
    r"|this\b|that\b)\S.+",
    re.I,
)
_VALUE_LAST = re.compile(
    r"(?P<frame>(?:the|our) .{2,60}? (?:runs?|lives?|listens?|sits?|points?|is|are) (?:on|at|in|under|to|called|named"
    r"|hosted (?:on|at))(?: (?:port|version|host))?) \S*[\d/:_-]\S*(?: now)?[.!]*",
    re.I,
)
# "… now, not 8080": the change of a standing thing, also without "no" or "correction" in front.
_CHANGED = re.compile(
    r"(?:the|our) .{2,60}? (?:listens?|runs?|lives?|sits?|points?|goes|comes?|deploys?|uses?|needs?|requires?|expires?"
    r"|ships?|is (?:called|named|hosted|served|deployed|stored|at|on|in|under"
    r"|behind))\b .{1,60}? now,? (?:and )?not .+"
    r"|.{2,40}? (?:is|are) (?:now )?(?:in|on|at|due) (?!line|column|row|index"
    r"|position)(?=[^,]*\d)[^,]{2,40}, not (?=.*\d).+"
    r"|we(?:'re| are) on [\w.-]+ v?\d\S* now,? not .+",
    re.I,
)


def correction(sentence: Sentence) -> Found | None:
    text = opened(sentence.text)
    corrected = text
    for _ in range(3):
        corrected = opened(_WRONG.sub("", corrected, count=1)) if _WRONG.match(corrected) else corrected
    moved = _MOVED.match(text)
    if moved is not None and not (sentence.beside_request or sentence.beside_question or _AT_HAND.match(text)):
        is_plain = not (is_complaint(text) or is_on_screen(text))
        return Found(text, "architecture", replaces=f"{moved['what']} {moved['old']}") if is_plain else None
    is_corrected = corrected != text or _CHANGED.match(text) is not None
    if (
        not is_corrected
        or is_question(corrected)
        or not (declares(corrected) or _WE.match(corrected) or corrected == text)
    ):
        return None
    old = denied(corrected)
    if is_complaint(corrected) or is_on_screen(corrected) or not (old or _TELLING.search(corrected)):
        return None
    if _AT_HAND.match(corrected) or leads_to_a_task(corrected):
        return None
    named = _WRONG.match(text)
    old = old or (named["old"] if named else None) or instead_of(corrected) or _frame(corrected)
    return Found(corrected, "architecture", replaces=old)


def _frame(fact: str) -> str | None:
    """The fact without its value, for one in which nothing else can have changed: "the database runs on"."""
    match = _VALUE_LAST.fullmatch(fact)
    return re.sub(r" moved(?: again)?,? (?:and )?it ", " ", match["frame"], flags=re.I) if match else None


def denied(fact: str) -> str | None:
    """The fact that "X, not Y" denies, as it would have been said: the same words with Y in the place of X."""
    match = _NOT.match(fact)
    if match is None:
        return None
    said, old = re.sub(r",?(?: (?:here|btw|now))+$", "", match["fact"]).split(), match["old"].split()
    if len(old) > 1 and old[-1] in said[1:]:  # "double quotes in python, not single quotes"
        place = max(1, said.index(old[-1], 1) - len(old) + 1)
        return " ".join([*said[:place], *old, *said[place + len(old) :]])
    place = next((at for at in range(len(said) - 1, -1, -1) if _alike(said[at], old[0])), max(1, len(said) - len(old)))
    return " ".join([*said[:place], *old, *said[place + len(old) :]])


def _alike(word: str, old: str) -> bool:
    """Whether one can stand for the other: "5am" for "3am" in "at 5am UTC, not 3am", "orders-v2" for "orders"."""
    if word == old:
        return False
    if any(map(str.isdigit, old)):
        return any(map(str.isdigit, word))
    return len(old) > _ROOT and word[:_ROOT].lower() == old[:_ROOT].lower()
