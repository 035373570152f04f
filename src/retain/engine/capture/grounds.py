"""On whose word a statement rests: which part of a conversation holds the words that tell something in it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from retain.domain.claims import signature
from retain.domain.conversation import Conversation, Said, Speaker, ToolRun, Turn
from retain.domain.echo import without_echo
from retain.domain.memory import Json
from retain.domain.stem import stem
from retain.domain.words import query_terms, terms
from retain.engine.capture.by_rule.lasting import is_own
from retain.engine.capture.by_rule.typed import sentences
from retain.engine.capture.orders import is_hostile, needs_the_user
from retain.engine.lifecycle.redact import MARK

ENOUGH = 0.6  # of the telling words; models say things in words of their own
_INPUT = 2000  # characters of what a tool was given
# Words with which a summary is framed; they tell nothing about where it came from.
_FRAME = """
    user prefer project use decide decision team want like repo repository code codebase instead rather now current
    chose choose chosen adopt implement app application should must always never because due caus reason
"""
# What the user says that others say is not the user's word.
_REPORTS = re.compile(
    r"\baccording to\b|\b(?:wiki|docs?|documentation|readme|manual|vendor|guide|page|site|article|blog|post|answer|file"
    r"|comment|issue|ticket|e?mail|message|linter|compiler|log|output|error|tool|bot|stackoverflow|chatgpt|he|she"
    r"|they|it)"
    r"\s+(?:\w+\s+){0,2}?(?:says?|said|prints?|printed|tells?|told|claims?|recommends?|suggests?|wants?|reads?"
    r"|states?)\b",
    re.IGNORECASE,
)
FRAME = frozenset(map(stem, _FRAME.split()))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one turn says, and on whose word."""

    speaker: Speaker
    words: frozenset[str]
    text: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Grounded:
    speaker: Speaker
    at: datetime | None


def evidence(conversation: Conversation) -> list[Evidence]:
    """Every turn as evidence. Of what a user sent only what they typed is theirs; what they pasted is as good as the
    output of a tool. In an aside nobody is the user."""
    return [part for turn in conversation.turns for part in _evidence(turn, is_aside=conversation.aside)]


def grounded(statement: str, parts: Iterable[Evidence]) -> Grounded | None:
    """On whose word a statement rests; None when it rests on nobody's, or on that of one who may not say such a thing.

    It is the user's only if a single message of theirs says it, with its names and numbers.
    """
    found = list(parts)
    if is_hostile(statement) or MARK.search(statement):
        return None
    user = [part for part in found if part.speaker is Speaker.USER and _says(statement, [part])]
    if user:
        return Grounded(Speaker.USER, user[-1].at)
    if needs_the_user(statement) or not _says(statement, found):
        return None
    told = [part for part in found if part.speaker is not Speaker.TOOL]
    times = [part.at for part in told if part.at]
    return Grounded(Speaker.ASSISTANT if _says(statement, told) else Speaker.TOOL, max(times, default=None))


def is_said_in(statement: str, text: str) -> bool:
    """Whether a text says what a statement does, and leaves no name or number of it out."""
    return _says(statement, [Evidence(Speaker.ASSISTANT, frozenset(terms(text)), text.casefold(), None)])


def _evidence(turn: Turn, *, is_aside: bool) -> Iterator[Evidence]:
    match turn:
        case Said(speaker=Speaker.USER) if not is_aside:
            typed = (sentence.text for sentence in sentences(turn.text) if is_own(sentence))
            yield _part(Speaker.USER, "\n".join(text for text in typed if not _REPORTS.search(text)), turn)
            yield _part(Speaker.TOOL, turn.text, turn)
        case Said(speaker=Speaker.TOOL):
            yield _part(Speaker.TOOL, turn.text, turn)
        case Said():
            yield _part(Speaker.ASSISTANT, turn.text, turn)
        case ToolRun():
            yield _part(Speaker.ASSISTANT, " ".join(_strings(list(turn.input.values()))), turn)
            yield _part(Speaker.TOOL, turn.output, turn)


def _part(speaker: Speaker, text: str, turn: Turn) -> Evidence:
    said = without_echo(text)
    return Evidence(speaker, frozenset(terms(said)), said.casefold(), turn.at)


def _strings(values: Iterable[Json]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value[:_INPUT]
        elif isinstance(value, list):
            yield from _strings(value)
        elif isinstance(value, dict):
            yield from _strings(value.values())


def _says(statement: str, parts: list[Evidence]) -> bool:
    """Whether enough of the statement's words, and every number and identifier in it, stand in these."""
    words = frozenset[str]().union(*(part.words for part in parts))
    asked = [term for term in query_terms(statement) if term not in FRAME] or query_terms(statement)
    if not asked or sum(term in words for term in asked) < ENOUGH * len(asked):
        return False
    exact = signature(statement)
    return all(map(partial(_stands, parts=parts), (*exact.numbers, *exact.identifiers)))


def _stands(detail: str, parts: list[Evidence]) -> bool:
    """Whether a number or an identifier is named, be it in other words or in its parts."""
    wanted = detail.casefold()
    if any(wanted in part.text for part in parts):
        return True
    if any(detail in signature(part.text).numbers for part in parts):
        return True
    words = frozenset[str]().union(*(part.words for part in parts))
    return not detail[0].isdigit() and all(term in words for term in terms(detail))
