"""Capturing: a portion of a conversation, piece by piece, becomes memories, and the cursor follows.

A crash repeats at most one piece, and repeating it changes nothing (`supersede.judged`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from retain.domain.category import CATEGORIES, kind_of
from retain.domain.changes import Changes, Run
from retain.domain.claims import fingerprint
from retain.domain.conversation import Conversation, Cursor, Dropped, Extracted, Judged, Speaker, Turn
from retain.domain.ending import word_of
from retain.domain.ids import new_id
from retain.domain.memory import MAX_LABEL, Json, Kind, Memory, MemoryId, Source, State
from retain.domain.recall import Filter, Warning
from retain.domain.session import Caller
from retain.domain.words import query_terms
from retain.engine.capture import by_judge, by_model
from retain.engine.capture.checking import CALL_SECONDS, LEAST_SECONDS
from retain.engine.capture.chunks import Chunk, chunked, stretches
from retain.engine.capture.cleaning import cleaned_turn
from retain.engine.capture.grounds import hearing
from retain.engine.capture.supersede import Arriving, Known, News, alike, judged
from retain.engine.drafts import Draft, label
from retain.engine.embed import embedded
from retain.engine.lifecycle.undoing import CORRECTION
from retain.engine.nearby import Compared, Neighbour
from retain.engine.parts import LASTING, Parts, places
from retain.engine.remember import Company, Remembered, landing, remember, remember_all
from retain.engine.trust.fixing import fix_of_what_is_near
from retain.errors import InvalidInput, JudgeAway, LLMFailed
from retain.ports import LLM, Judge

LOADING_SECONDS = 20.0
_FAILURES = 2  # in a row, after which it is left alone for this conversation
_KNOWN_NEWEST, _KNOWN_NEAR = 30, 30
_MOST_TAGS = 10


@dataclass(frozen=True, slots=True)
class Portion:
    """What is to be captured, and the cursor once that is done; `marks` has (offset, line) for each turn before it."""

    conversation: Conversation
    cursor: Cursor
    marks: tuple[tuple[int, str | None], ...] = ()
    before: tuple[Turn, ...] = ()
    """What was said just before and has been captured: "yes, do that" is about it."""


@dataclass(frozen=True, slots=True)
class Captured:
    """What came of it. `by` names who read it: llm, judge, or both."""

    stored: tuple[MemoryId, ...] = ()
    reinforced: tuple[MemoryId, ...] = ()
    superseded: tuple[MemoryId, ...] = ()
    skipped: int = 0
    dropped: tuple[Dropped, ...] = ()
    """What a language model said that rests on nothing, or on nobody who may say it."""
    judged: tuple[Judged, ...] = ()
    """What the judge kept, or nearly did."""
    by: tuple[str, ...] = ()
    unembedded: int = 0
    warnings: tuple[Warning, ...] = ()
    finished: bool = True
    """Not when the time was over before all was read; the cursor says how far that is."""

    def __add__(self, other: "Captured") -> "Captured":
        return Captured(
            self.stored + other.stored,
            self.reinforced + other.reinforced,
            self.superseded + other.superseded,
            self.skipped + other.skipped,
            self.dropped + other.dropped,
            self.judged + other.judged,
            tuple(dict.fromkeys(self.by + other.by)),
            self.unembedded + other.unembedded,
            tuple(dict.fromkeys(self.warnings + other.warnings)),
            self.finished and other.finished,
        )


@dataclass(frozen=True, slots=True)
class _Piece:
    """What was found in a piece, by whom, and how far that is."""

    found: Sequence[Extracted]
    by: str
    cursor: Cursor | None
    warning: Warning | None = None
    at: datetime | None = None
    """When it was said, for what does not say so itself."""
    dropped: tuple[Dropped, ...] = ()
    judged: tuple[Judged, ...] = ()
    is_last: bool = True
    """Not where the time was over before what follows it was read."""


def capture(parts: Parts, portion: Portion, caller: Caller, left: Callable[[], float]) -> Captured:
    """Stores what is worth it. `left` says how many seconds there are: with few of them, the judge reads the rest.

    Without a judge it raises JudgeAway and the cursor stays where it is, so that the conversation can be read when
    there is one again; what the user asked to remember in so many words is stored all the same.
    """
    portion = _cleaned(portion)
    caller = replace(caller, session=portion.conversation.session)
    judge = parts.judge
    if judge is None or not judge.wait(max(0.0, min(left(), LOADING_SECONDS))):
        _keep_what_was_asked(parts, portion, caller)
        raise JudgeAway(why_away(judge))
    done = Captured()
    for piece in _pieces(parts, judge, portion, caller, left):
        done += _kept(parts, judge, piece, caller)
    return done


def why_away(judge: Judge | None) -> str:
    why = (judge.state().why if judge else "") or "it is not loaded yet"
    return f"what conversations say cannot be judged: {why}. They wait, and are read when the judge is there again"


def _keep_what_was_asked(parts: Parts, portion: Portion, caller: Caller) -> None:
    """No comparing, no ending: only what is not there yet, each once however often the conversation is read."""
    for found in by_judge.asked_for(portion.conversation):
        draft = _draft(found, parts.clock.now(), caller)
        if parts.store.twin(landing(draft, caller)[0], fingerprint(draft.text), states=tuple(State)) is None:
            remember(parts, draft, caller)


def keep(parts: Parts, draft: Draft, caller: Caller) -> Remembered:
    """Stores what an agent wants kept under a category; what says nearly the same there ends, unless that was kept on
    purpose, or is the user's own word: it stands beside it."""
    near = alike(parts.store, draft.text, draft.category, landing(draft, caller)[0]) if draft.category else []
    ended = [old.id for old in near if word_of(old) is not Speaker.USER]
    return remember(parts, replace(draft, replaces=tuple(ended)), caller)


def importance_of(found: Extracted) -> float:
    """Wishes and decisions weigh more than what was learnt, and that more than what was done."""
    is_wish = found.speaker is Speaker.USER and found.category == "pattern"
    if is_wish or found.category in ("decision", "preference"):
        return 0.7
    return 0.6 if found.category in ("gotcha", "error_solution") else 0.5


def _pieces(
    parts: Parts, judge: Judge, portion: Portion, caller: Caller, left: Callable[[], float]
) -> Iterator[_Piece]:
    """By language model, as long as one can be asked and answers; else by the judge."""
    whole = portion.conversation
    llm, warning = _usable(parts.llm)
    if llm is None:
        yield from _by_judge(judge, portion, 0, warning, left)
        return
    chunks, failures = chunked(whole, caller.project.path if caller.project else ""), 0
    for number, chunk in enumerate(chunks):
        if left() < LEAST_SECONDS or failures == _FAILURES:
            yield from _by_judge(judge, portion, chunk.start, None, left)
            return
        piece = _by_model(parts, _Asked(llm, judge), chunk, portion, caller, left)
        failures = failures + 1 if piece.by != by_model.FOUND_BY else 0
        yield replace(piece, cursor=_cursor_before(portion, [after.start for after in chunks[number + 1 :]]))
    if not chunks:
        yield _Piece((), by_judge.FOUND_BY, portion.cursor)


def _by_judge(
    judge: Judge, portion: Portion, start: int, warning: Warning | None, left: Callable[[], float]
) -> Iterator[_Piece]:
    """What the judge hears from a turn on. When the time is over the cursor stays at the last stretch that was read."""
    rest = replace(portion.conversation, turns=portion.conversation.turns[start:])
    parts = stretches(rest) or [(0, 0)]
    for number, (begin, end) in enumerate(parts):
        earlier = (*portion.before, *portion.conversation.turns[: start + begin])
        read = by_judge.extract(judge, replace(rest, turns=rest.turns[begin:end]), earlier)
        cursor = _cursor_before(portion, [start + after for after, _ in parts[number + 1 :]])
        is_late = left() <= 0 and number + 1 < len(parts)
        yield _Piece(read.found, by_judge.FOUND_BY, cursor, warning, judged=read.judged, is_last=not is_late)
        if is_late:
            return


def _usable(llm: LLM | None) -> tuple[LLM | None, Warning | None]:
    why_not = llm.why_not() if llm else None
    if llm is None or why_not is None:
        return llm, None
    return None, Warning("llm_unavailable", f"{llm.name} cannot be asked ({why_not}); the judge reads the conversation")


@dataclass(frozen=True, slots=True)
class _Asked:
    """Who reads a piece: a language model, between a judge that says what to send and checks what comes back."""

    llm: LLM
    judge: Judge


def _by_model(
    parts: Parts, asked: _Asked, chunk: Chunk, portion: Portion, caller: Caller, left: Callable[[], float]
) -> _Piece:
    whole = portion.conversation
    turns = replace(whole, turns=whole.turns[chunk.start : chunk.end])
    earlier = (*portion.before, *whole.turns[: chunk.start])
    read_by_judge = by_judge.extract(asked.judge, turns, earlier)
    if not by_judge.may_hold_something(read_by_judge):
        return _Piece((), by_model.FOUND_BY, None, judged=read_by_judge.judged)
    try:
        known = _known(parts, chunk.text, caller)
        said = hearing(turns, parts.embedder)
        read = by_model.extract(asked.llm, chunk.text, known, said, min(CALL_SECONDS, left()))
        read = by_model.checked(asked.llm, chunk.text, read, left)
        read = by_model.worth_keeping(read, asked.judge)
        at = max((turn.at for turn in turns.turns if turn.at), default=None)
        return _Piece(read.found, by_model.FOUND_BY, None, read.warning, at, read.dropped)
    except LLMFailed as error:
        note = f"{error.message}; the judge read that part of the conversation"
        found = read_by_judge.found
        return _Piece(found, by_judge.FOUND_BY, None, Warning("llm_failed", note), judged=read_by_judge.judged)


def _known(parts: Parts, text: str, caller: Caller) -> list[Memory]:
    """What a model should know of already: what is newest, and what shares words with the piece."""
    wanted = Filter(places(caller, LASTING))
    near = parts.store.by_words(query_terms(text), wanted, _KNOWN_NEAR).scores
    found = [*parts.store.memories(list(near)).values(), *parts.store.listed(wanted, _KNOWN_NEWEST)]
    return list({stored.memory.id: stored.memory for stored in found}.values())


def _cursor_before(portion: Portion, following: Sequence[int]) -> Cursor | None:
    """How far one has read when the next piece begins, by the turns at which they do; None while that is not known."""
    if not following:
        return portion.cursor
    place = following[0] - 1
    if not 0 <= place < len(portion.marks):
        return None
    offset, last = portion.marks[place]
    return replace(portion.cursor, offset=offset, last=last)


def _kept(parts: Parts, judge: Judge, piece: _Piece, caller: Caller) -> Captured:
    warnings = (piece.warning,) if piece.warning else ()
    read = (piece.dropped, piece.judged, (piece.by,))
    done = Captured((), (), (), 0, *read, warnings=warnings, finished=piece.is_last)
    for found in piece.found:
        done += _one(parts, judge, replace(found, at=found.at or piece.at), caller)
    if piece.cursor:
        parts.store.apply(Changes(at=parts.clock.now(), cursors=(piece.cursor,)))
    return done


def _one(parts: Parts, judge: Judge, found: Extracted, caller: Caller) -> Captured:
    now = parts.clock.now()
    found = replace(found, at=min(found.at, now) if found.at else None)
    draft = _draft(found, now, caller)
    place = landing(draft, caller)[0]
    verdict = judged(parts.store, judge, Arriving(found, place, embedded(parts.embedder, draft.text), caller))
    if isinstance(verdict, Known) or found.category not in CATEGORIES:
        return Captured(skipped=1)
    company = fix_of_what_is_near(now) if found.found_by == "fix" else _company(verdict, place.key)
    try:
        (done,) = remember_all(parts, [replace(draft, replaces=verdict.replaces)], caller, company=company)
    except InvalidInput as error:
        return Captured(skipped=1, warnings=(Warning("not_stored", error.message),))
    ids = (done.memory.id,)
    unembedded = int(not done.embedded or done.chunks_missing > 0)
    if done.reinforced:
        return Captured(reinforced=ids, superseded=done.superseded, unembedded=unembedded)
    return Captured(stored=ids, superseded=done.superseded, unembedded=unembedded)


def _company(verdict: News, scope: str) -> Company:
    """With what the judge compared, and a run that `retain undo` knows for what ends."""

    def also(memory: Memory, near: Sequence[Neighbour]) -> Changes:
        if not verdict.replaces:
            return Changes(at=memory.updated)
        at = memory.updated
        run = Run(new_id(at), scope, CORRECTION, at, (), verdict.replaces, len(verdict.replaces) + 1)
        return Changes(at=at, runs=(run,))

    return Company(Compared(verdict.compared, whole=True), also)


def _draft(found: Extracted, now: datetime, caller: Caller) -> Draft:
    tags = dict.fromkeys(label(tag) for tag in found.tags)
    return Draft(
        found.text,
        Kind(kind_of(found.category)),
        found.scope,
        importance_of(found),
        tuple(tag for tag in tags if 0 < len(tag) <= MAX_LABEL)[:_MOST_TAGS],
        Source(tool="capture", file=found.file),
        session=caller.session,
        category=found.category,
        metadata=_about(found),
        event_time=found.at or now,
    )


def _about(found: Extracted) -> dict[str, Json]:
    about: dict[str, Json] = {"said_by": found.speaker.value, "found_by": found.found_by}
    if found.score is not None:
        about |= {"score": found.score, "threshold": found.threshold}
    return about


def _cleaned(portion: Portion) -> Portion:
    """Readers clean what they read; whoever else has a conversation captured need not know that it must be."""
    whole = portion.conversation
    cleaned = [cleaned_turn(turn) for turn in whole.turns]
    marks = [mark for mark, turn in zip(portion.marks, cleaned, strict=False) if turn is not None]
    turns = tuple(turn for turn in cleaned if turn is not None)
    before = tuple(turn for turn in map(cleaned_turn, portion.before) if turn is not None)
    return replace(portion, conversation=replace(whole, turns=turns), marks=tuple(marks), before=before)
