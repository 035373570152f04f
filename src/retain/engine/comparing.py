"""Comparing: what was written is held against what is near it, after the reply and by whoever is alive.

A write marks the memory as not compared, in its own transaction. Any process may take such a mark at any time: what it
finds is written together with the mark's end, so a killed process loses no comparison, and two that compare the same
memory write it once.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from retain.domain.changes import AtVersion, Changes, Contradiction, Uncompared
from retain.domain.connection import Reach
from retain.domain.ids import new_id
from retain.domain.judging import Comparison
from retain.domain.memory import Kind, Memory, MemoryId, Vector
from retain.domain.recall import Filter
from retain.domain.session import Caller, Project
from retain.domain.words import query_terms, terms
from retain.engine.embed import embedded
from retain.engine.lifecycle.apart import asserted
from retain.engine.lifecycle.contradictions import plainly
from retain.engine.lifecycle.relating import MOST, in_order, related
from retain.engine.nearby import Neighbour
from retain.engine.parts import Parts, places, settle
from retain.engine.recall.cosines import cosines
from retain.engine.rivalry import rivalry, settled
from retain.engine.trust.reopening import reopened, undecided_since
from retain.errors import Closed, JudgeAway, RetainError, StoreDown
from retain.ports import Judge, Store

logger = logging.getLogger(__name__)

_EACH = 8  # that each way of looking adds to those they are chosen from
_AT_ONCE = 32
# Whoever wrote something compares it. Others take over what lies longer than that.
ABANDONED = timedelta(seconds=5)
LOADING_SECONDS = 60.0
_LASTING = (Kind.SEMANTIC, Kind.PROCEDURAL)


@dataclass(frozen=True, slots=True)
class Found:
    """What came of comparing a memory."""

    contradictions: tuple[Contradiction, ...] = ()
    news: tuple[Contradiction, ...] = ()
    """Those that were not recorded before."""
    reopened: tuple[Contradiction, ...] = ()


def why_not(parts: Parts) -> str | None:
    """Why nothing can be compared now; None when it can."""
    if parts.judge is None:
        return "there is no judge"
    state = parts.judge.state()
    if state.name == "off":
        return f"the judge is off: {state.why}"
    link = parts.store.connection()
    if link.is_undecided or link.reach is not Reach.CONNECTED or link.queued.waiting:
        return "the database is away, and what others wrote into it is not known here"
    return None


def compare_missing(
    parts: Parts,
    mine: Collection[MemoryId] | None = None,
    done: Callable[[Memory, Found], object] = lambda memory, found: None,
) -> int:
    """Compares what was marked; says how much that was. With `mine`, of what others wrote only what was abandoned."""
    if why_not(parts) or not (judge := parts.judge) or not _waiting(parts, (), mine) or not judge.wait(LOADING_SECONDS):
        return 0
    count, passed_over = 0, set[MemoryId]()
    # Loading takes a while, and the database may be away since.
    while not why_not(parts) and (waiting := _waiting(parts, passed_over, mine)):
        for memory in waiting:
            passed_over.add(memory.id)  # each once, even where somebody goes on writing it anew
            try:
                done(memory, compare(parts, judge, memory))
                count += 1
            except Closed:
                raise
            except (JudgeAway, StoreDown) as error:
                logger.warning("%d memories wait to be compared: %s", len(waiting), error.message)
                return count
            except RetainError as error:
                logger.warning("memory:%s waits to be compared: %s", memory.id, error.message)
    return count


def _waiting(parts: Parts, but: Collection[MemoryId], mine: Collection[MemoryId] | None) -> list[Memory]:
    """What is to be compared next; with `mine` these first, however many marks of others stand before them."""
    if mine is None:
        return _marked(parts, but, None)[:_AT_ONCE]
    own = [each.memory for each in parts.store.memories([id for id in mine if id not in but]).values()]
    ready = [memory for memory in own if memory.is_active and not memory.compared][:_AT_ONCE]
    there = {*but, *(memory.id for memory in ready)}
    return [*ready, *_marked(parts, there, parts.clock.now() - ABANDONED)][:_AT_ONCE]


def _marked(parts: Parts, but: Collection[MemoryId], until: datetime | None) -> list[Memory]:
    """Marked memories in the order in which they came, without those that were written later than `until`."""
    most = _AT_ONCE + len(but)
    marked = parts.store.uncompared(most)
    young = sum(memory.updated > until for memory in marked) if until else 0
    if young and len(marked) == most:
        marked = parts.store.uncompared(most + young)
    return [memory for memory in marked if memory.id not in but and (until is None or memory.updated <= until)]


def compare(parts: Parts, judge: Judge, memory: Memory) -> Found:
    """Holds a memory against what is near it, and writes down what came of it. Raises JudgeAway."""
    store, now = parts.store, parts.clock.now()
    near = _near(parts, memory)
    said: dict[tuple[str, MemoryId, str], Comparison] = {}

    def plan() -> tuple[Changes, Found]:
        there = store.memories([memory.id]).get(memory.id)
        if there is None or not there.memory.is_active:
            return Changes(at=now), Found()  # a mark stays for when it is active again
        new = there.memory
        if new.compared:
            return Changes(at=now), recorded(store, new.id)
        beside = _as_they_are(store, near if new.text == memory.text else _near(parts, new))
        against = []
        for each in beside:
            key = (new.text, each.memory.id, each.memory.text)
            if key not in said:
                said[key] = _judged(judge, new, each)
            if said[key].relation == "contradiction":
                against.append(_contradiction(new, each.memory, said[key], now))
        return _written(store, judge, _Compared(new, beside, against), now)

    return _under_their_ids(store, memory.id, settle(store, plan))


def _under_their_ids(store: Store, id: MemoryId, found: Found) -> Found:
    """Of two that find one pair at the same moment, only one has named it."""
    if not found.contradictions:
        return found
    there = {each.other(id): each for each in store.contradictions([id])}
    told, news = (
        tuple(there.get(each.other(id), each) for each in some) for some in (found.contradictions, found.news)
    )
    return replace(found, contradictions=told, news=news)


def recorded(store: Store, id: MemoryId) -> Found:
    """What came of comparing a memory that somebody else has compared."""
    found = tuple(each for each in store.contradictions([id]) if each.is_open)
    return Found(found, found)


def _near(parts: Parts, memory: Memory) -> list[Neighbour]:
    """Nothing where the judge would not be asked; but an episode is evidence by rules too."""
    return candidates(parts, memory) if asserted(memory.text) or memory.source.provenance else []


def _as_they_are(store: Store, near: Sequence[Neighbour]) -> list[Neighbour]:
    """What was found near, as it is worded now; how near that is, is known only of the wording that was found."""
    there = store.memories([each.memory.id for each in near])
    return [
        Neighbour(now, each.cosine if now.memory.text == each.memory.text else 0.0)
        for each in near
        if (now := there.get(each.memory.id)) and now.memory.is_active
    ]


@dataclass(frozen=True, slots=True)
class _Compared:
    """A memory, what is near it, and what of that contradicts it."""

    new: Memory
    near: Sequence[Neighbour]
    against: Sequence[Contradiction]


def _written(store: Store, judge: Judge, compared: _Compared, now: datetime) -> tuple[Changes, Found]:
    new, near = compared.new, compared.near
    others = {each.other(new.id) for each in compared.against}
    found = rivalry(store, new, compared.against, now)
    denies = _Asking(judge)
    again: tuple[Contradiction, ...] = ()
    if new.source.provenance is not None:  # an episode is evidence
        again = reopened(store, new, near, now, others)
    read = tuple(AtVersion(each.memory.id, each.memory.version) for each in near if each.memory.id in others)
    marked = Changes(
        at=now,
        expects=(Uncompared(new.id, new.version, new.category), *read, *undecided_since(store, again)),
        memories=(replace(new, compared=True),),
        contradictions=again,
    )
    ended = settled(store, new, found.found, denies, now)
    return marked.joined(found.changes).joined(ended), Found(found.found, found.changes.contradictions, again)


@dataclass(frozen=True, slots=True)
class _Asking:
    """Whether two memories contradict each other still, in whichever order they are read."""

    judge: Judge

    def __call__(self, one: Memory, other: Memory) -> bool:
        if asserted(one.text) is None or asserted(other.text) is None:
            return True  # nobody can tell any more, and what is in doubt stays open
        return related(self.judge, *_said(one, other), 1.0).relation == "contradiction"


def _said(new: Memory, other: Memory) -> tuple[str, str]:
    first, last = in_order(other, new)
    return first.text, last.text


def _judged(judge: Judge, new: Memory, other: Neighbour) -> Comparison:
    return related(judge, *_said(new, other.memory), other.cosine or None)


def _contradiction(new: Memory, other: Memory, said: Comparison, now: datetime) -> Contradiction:
    first, last = in_order(other, new)
    seen = plainly(first.text, last.text)
    kind = seen.kind if seen else "meaning"
    detail = seen.detail if seen else f"the judge says so, with {said.contradiction:.2f}"
    return Contradiction(new_id(now), first.id, last.id, kind, detail, now)


def candidates(parts: Parts, memory: Memory) -> list[Neighbour]:
    """What a memory is compared with: what is nearest by meaning, by words and by what both speak of."""
    store = parts.store
    wanted = Filter(places(_teller(store, memory)), kinds=_LASTING if memory.derived_from else ())
    vectors = embedded(parts.embedder, memory.text, memory.title)
    vector = vectors.vectors[0] if vectors.vectors else None
    ids = list(store.by_words(query_terms(memory.text), wanted, _EACH).scores)
    if vector:
        ids += store.by_vector(vector, vectors.model, wanted, _EACH + 1).scores
    entities = [entity.id for _, entity in store.links([memory.id])]
    ids += [link.memory for link in store.linked(entities, Filter((memory.place,)), _EACH)]
    others = [id for id in dict.fromkeys(ids) if id != memory.id and id not in memory.derived_from]
    return _nearest(store, memory, others, vector, vectors.model)


def _teller(store: Store, memory: Memory) -> Caller:
    """Who said it, as far as that decides what it is compared with."""
    session = store.session(memory.session, memory.place.user) if memory.session else None
    project = memory.place.project or (session.project if session else None)
    known = Project(project, "", "", memory.created) if project else None
    return Caller(memory.place.user, known, memory.session, memory.place.agent)


def _nearest(
    store: Store, memory: Memory, ids: Sequence[MemoryId], vector: Vector | None, model: str
) -> list[Neighbour]:
    near = cosines(store, vector, ids, model) if vector and ids else {}
    said = set(query_terms(memory.text))
    found = []
    for id, stored in store.memories(ids).items():
        if stored.memory.is_active and memory.id not in stored.memory.derived_from:
            shared = len(said.intersection(terms(stored.memory.text))) / max(len(said), 1)
            found.append((near.get(id, 0.0) + shared, Neighbour(stored, near.get(id, 0.0))))
    return [each for _, each in sorted(found, key=lambda pair: pair[0], reverse=True)[:MOST]]
