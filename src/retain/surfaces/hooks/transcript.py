"""Reading a Claude Code transcript from where it was left: as a stream, a portion at a time.

The file only grows, one JSON object a line. A line that is not whole yet, and calls whose results are not there yet,
are left for the next time.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from retain.domain.claims import fingerprint
from retain.domain.conversation import Conversation, Cursor, Said, Speaker, ToolRun, Turn
from retain.engine.capture.cleaning import cleaned_turn
from retain.surfaces.hooks.lines import Answer, Line, Piece, Prompt, Result, ToolCall, counts, moment, pieces

PORTION = 40_000  # characters of turns after which a portion ends, at the next prompt
_MOST = 4 * PORTION  # and after which it ends anywhere
EARLIER = 300_000  # bytes that are looked back; most of a transcript is no conversation
LONGEST = 16_000_000  # bytes of a line; a longer one holds a picture or a dump, and is passed over
# Most of a transcript is neither; told apart without parsing.
_OURS = re.compile(rb'"type"\s*:\s*"(?:user|assistant)"')
_UUID = re.compile(rb'"uuid"\s*:\s*"([!-\[\]-~]{1,100}?)"')
_LONGEST_ID = 100
_AT_ONCE = 500
_NEEDED = {"Stop": 3}
_EMPTY = Said(Speaker.TOOL, "")  # in the place of a turn of which nothing is kept
_AHEAD = "ahead:"

# Whether what was said at a moment is not to be read; None: nobody knows when that was.
Silence = Callable[[datetime | None], bool]


def always_heard(_: datetime | None) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Mark:
    """Where the next reading may begin, and the id of the last line before that."""

    offset: int
    last: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What was said from one place of a transcript to another, cleaned.

    `marks` has, for each turn, where to go on once it has been dealt with; `lines` counts lines of the conversation,
    `broken` those that could not be read.
    """

    conversation: Conversation
    offset: int
    last: str | None
    lines: int
    broken: int = 0
    more: bool = False
    marks: tuple[Mark, ...] = ()
    known: tuple[Turn, ...] = ()
    """Turns that stand in it and were dealt with already."""
    unheard: int = 0
    """Lines that are not to be read."""


@dataclass(slots=True)
class _Portion:
    """The turns that a portion has so far, each with where it began."""

    turns: list[Turn] = field(default_factory=list)
    starts: list[Mark] = field(default_factory=list)
    waiting: dict[str, int] = field(default_factory=dict)
    """Calls of the last message that have no result yet, by id, with their turn."""
    message: str = ""
    lines: int = 0
    broken: int = 0
    size: int = 0
    end: Mark = Mark(0)
    before: list[int] = field(default_factory=list)
    """How many lines there were before each turn."""
    at: datetime | None = None
    """When the last line was written that says so."""
    unheard: int = 0


def read(
    path: Path,
    start: Mark,
    session: str,
    *,
    aside: bool = False,
    final: bool = False,
    unheard: Silence = always_heard,
) -> Reading:
    """The next portion. `final` is for a conversation that has ended: a call without a result will get none."""
    portion = _Portion(end=start)
    more = False
    with path.open("rb") as file:
        file.seek(start.offset)
        for raw in _whole_lines(file, portion):
            line = _parsed(raw, portion) if raw is not None and _OURS.search(raw) else None
            is_ours = line is not None and counts(line, aside=aside) and not _is_unheard(portion, line, unheard)
            said = list(pieces(line)) if line is not None and is_ours else []
            if _is_full(portion, said):
                more = True
                break
            if said and line is not None:
                _take(portion, said, line)
                portion.lines += 1
            portion.end = Mark(file.tell(), _id_of(raw, line) or portion.end.last)
    if more or not final:
        _hold_back(portion, more=more)
    return _reading(portion, session, aside=aside, more=more)


def earlier(path: Path, start: Mark, *, aside: bool = False, unheard: Silence = always_heard) -> tuple[Turn, ...]:
    """The turns just before a place, for what is said after it may be about them."""
    portion = _Portion()
    with path.open("rb") as file:
        if start.offset > EARLIER:
            file.seek(start.offset - EARLIER)
            file.readline(LONGEST)  # the rest of a line
        for raw in _whole_lines(file, portion):
            if file.tell() > start.offset:
                break
            line = _parsed(raw, portion) if raw is not None and _OURS.search(raw) else None
            if line is not None and counts(line, aside=aside) and not _is_unheard(portion, line, unheard):
                _take(portion, list(pieces(line)), line)
    return tuple(turn for turn in portion.turns if turn is not _EMPTY)


def begin(path: Path, cursor: Cursor | None, known: Callable[[Sequence[str]], list[Cursor]]) -> Mark:
    """Where to begin: at the cursor; after the copy with which a fork begins; else at the start.

    A file that is shorter than it was, or has no line's end where it was left, is another file by now.
    """
    if cursor is None:
        return _after_copy(path, known)
    if cursor.offset == 0:
        return Mark(0)
    with path.open("rb") as file:
        file.seek(cursor.offset - 1)
        return Mark(cursor.offset, cursor.last) if file.read(1) == b"\n" else Mark(0)


def with_last_message(reading: Reading, message: str, at: datetime | None) -> Reading:
    """The reading with the answer that the client had not written down yet when it told of it.

    Where the last turn is an answer already, nothing is missing. The mark says what was read ahead, so that it is
    not read again once it is written down.
    """
    turns = reading.conversation.turns
    is_answered = bool(turns) and isinstance(turns[-1], Said) and turns[-1].speaker is Speaker.ASSISTANT
    said = cleaned_turn(Said(Speaker.ASSISTANT, message.strip(), at))
    if not turns or is_answered or reading.more or said is None:
        return reading
    ahead = _ahead(said)
    if any(_ahead(turn) == ahead for turn in turns):
        return reading
    return replace(
        reading,
        conversation=replace(reading.conversation, turns=(*turns, said)),
        lines=reading.lines + 1,
        last=ahead,
        marks=(*reading.marks, Mark(reading.offset, ahead)),
    )


def without_what_was_read_ahead(reading: Reading, start: Mark) -> Reading:
    """The reading without the answer that an earlier one had already, by the hook's word."""
    if not (start.last or "").startswith(_AHEAD):
        return reading
    told = [_ahead(turn) == start.last for turn in reading.conversation.turns]
    if not any(told):
        # Not there yet: the next reading still has to know.
        last = reading.last if reading.conversation.turns else start.last
        return replace(reading, last=last)
    at = told.index(True)
    turns = (*reading.conversation.turns[:at], *reading.conversation.turns[at + 1 :])
    marks = (*reading.marks[:at], *reading.marks[at + 1 :])
    conversation = replace(reading.conversation, turns=turns)
    known = (reading.conversation.turns[at],)
    return replace(reading, conversation=conversation, marks=marks, lines=reading.lines - 1, known=known)


def asides(path: Path) -> list[Path]:
    """Transcripts of the session's subagents; not of the one that sums a conversation up for compaction."""
    found = sorted((path.with_suffix("") / "subagents").glob("agent-*.jsonl"))
    return [file for file in found if not file.name.startswith("agent-acompact")]


def lines_needed(event: str) -> int:
    """New lines of the conversation that make a reading worth while; a context about to be lost always is."""
    return _NEEDED.get(event, 1)


def _whole_lines(file: BinaryIO, portion: _Portion) -> Iterator[bytes | None]:
    """Each line that has its end; None for one that is too long to be looked at."""
    while raw := file.readline(LONGEST):
        whole = raw
        while raw and not raw.endswith(b"\n"):
            raw = file.readline(LONGEST)
        if not raw:
            return  # it is being written
        if raw is whole:
            yield raw
        else:
            portion.broken += 1
            yield None


def _parsed(raw: bytes, portion: _Portion) -> Line | None:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        portion.broken += 1
        return None
    return line if isinstance(line, dict) else None


def _is_unheard(portion: _Portion, line: Line, unheard: Silence) -> bool:
    """A line that does not say when it was written was so right after the one before."""
    portion.at = moment(line) or portion.at
    is_unheard = unheard(portion.at)
    portion.unheard += is_unheard
    return is_unheard


def _is_full(portion: _Portion, said: list[Piece]) -> bool:
    if portion.size < PORTION:
        return False
    return portion.size >= _MOST or any(isinstance(piece, Prompt) for piece in said)


def _take(portion: _Portion, said: list[Piece], line: Line) -> None:
    at, id = moment(line), str(line.get("uuid") or "")
    for piece in said:
        match piece:
            case Prompt(text):
                portion.waiting.clear()  # what has no result by now gets none
                _add(portion, Said(Speaker.USER, text, at, id))
            case Answer(text, message):
                _next_message(portion, message)
                _add(portion, Said(Speaker.ASSISTANT, text, at, id))
            case ToolCall(call, name, given, message):
                _next_message(portion, message)
                portion.waiting[call] = len(portion.turns)
                _add(portion, ToolRun(name, given, at=at, id=call))
            case Result():
                _finish(portion, piece)


def _next_message(portion: _Portion, message: str) -> None:
    if message != portion.message:
        portion.message = message
        portion.waiting.clear()  # the model went on, so it has had all results


def _add(portion: _Portion, turn: Turn) -> None:
    """Cleaned at once: what is kept of a long output must be small."""
    cleaned = cleaned_turn(turn)
    portion.turns.append(cleaned if cleaned is not None else _EMPTY)
    portion.starts.append(portion.end)
    portion.before.append(portion.lines)
    portion.size += _size(portion.turns[-1])


def _finish(portion: _Portion, result: Result) -> None:
    place = portion.waiting.pop(result.call, None)
    run = portion.turns[place] if place is not None else None
    if place is None or not isinstance(run, ToolRun):
        return  # its call was dealt with in an earlier reading, or is an echo
    finished = cleaned_turn(replace(run, output=result.output, failed=result.failed))
    portion.turns[place] = _EMPTY if result.denied or finished is None else finished
    portion.size += _size(portion.turns[place]) - _size(run)


def _hold_back(portion: _Portion, *, more: bool) -> None:
    """Ends the portion before the first call that still waits for its result, unless nothing else is in it."""
    place = min(portion.waiting.values(), default=None)
    if place is None or (more and place == 0):
        return
    portion.end, portion.lines = portion.starts[place], portion.before[place]
    del portion.turns[place:], portion.starts[place:]


def _reading(portion: _Portion, session: str, *, aside: bool, more: bool) -> Reading:
    """A turn has been dealt with when the next one begins; so marks never lead past one that is still to come."""
    kept = [place for place, turn in enumerate(portion.turns) if turn is not _EMPTY]
    following = [*portion.starts[1:], portion.end]
    return Reading(
        Conversation(session, tuple(portion.turns[place] for place in kept), aside),
        portion.end.offset,
        portion.end.last,
        portion.lines,
        portion.broken,
        more,
        tuple(following[place] for place in kept),
        unheard=portion.unheard,
    )


def _after_copy(path: Path, known: Callable[[Sequence[str]], list[Cursor]]) -> Mark:
    """Behind the last line at which another transcript was left: that much of this one is a copy that was read."""
    found = Mark(0)
    for some in _batches(path):
        there = {cursor.last for cursor in known(list(some))}
        found = max([found, *(Mark(some[id], id) for id in there if id in some)], key=lambda mark: mark.offset)
    return found


def _batches(path: Path) -> Iterator[dict[str, int]]:
    """Ids of lines with where these end, some hundred at a time."""
    some: dict[str, int] = {}
    with path.open("rb") as file:
        for raw in _whole_lines(file, _Portion()):
            if raw is not None and (uuid := _UUID.search(raw)):
                some[uuid[1].decode()] = file.tell()
            if len(some) == _AT_ONCE:
                yield some
                some = {}
    yield some


def _id_of(raw: bytes | None, line: Line | None) -> str | None:
    if line is not None:
        id = line.get("uuid")
        return id if isinstance(id, str) and id.isascii() and 0 < len(id) <= _LONGEST_ID else None
    found = _UUID.search(raw) if raw is not None else None
    return found[1].decode() if found else None


def _ahead(turn: Turn) -> str | None:
    """What stands for an answer that was read before it was written down."""
    if not isinstance(turn, Said) or turn.speaker is not Speaker.ASSISTANT:
        return None
    return f"{_AHEAD}{fingerprint(turn.text)}"


def _size(turn: Turn) -> int:
    return len(turn.text) if isinstance(turn, Said) else len(turn.output) + 100
