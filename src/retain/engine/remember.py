"""Remembering: through the gate (redact, duplicates, contradictions, entities), then one atomic write."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce

from retain.domain.changes import AtVersion, Changes, Contradiction, Expectation, NoTwin, TitleFree
from retain.domain.claims import fingerprint, same_claim
from retain.domain.graph import SIMILAR, Tie
from retain.domain.ids import new_id
from retain.domain.memory import Event, HistoryEntry, Memory, MemoryId, Place, Rest, Scope, State, Status, Stored
from retain.domain.recall import Filter, Warning
from retain.domain.session import Caller, Session
from retain.domain.stem import stem
from retain.domain.words import query_terms, terms
from retain.engine.drafts import Draft, checked
from retain.engine.embed import Embedded, embedded
from retain.engine.knowledge.entities import about_the_same, given_links, linked_to
from retain.engine.lifecycle.contradictions import clash
from retain.engine.parts import Parts, place_for, places, settle, visible
from retain.errors import Taken, shorten
from retain.ports import Store

NEAR = 0.95
NEIGHBOURS = 8
ALIKE = 0.6
# Words that may come and go without another meaning.
_LIGHT = """
    a an the that this these those we our us i my it its is are was were be been of to for as in on at and also just
"""
LIGHT = frozenset(map(stem, _LIGHT.split()))


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a draft."""

    memory: Memory
    reinforced: bool = False
    embedded: bool = False
    chunks_missing: int = 0
    links_given: int = 0
    links_inferred: int = 0
    contradicts: tuple[Contradiction, ...] = ()
    redacted: tuple[str, ...] = ()
    warnings: tuple[Warning, ...] = ()
    superseded: tuple[MemoryId, ...] = ()
    similar: MemoryId | None = None
    """What says the same already, where both are kept."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A draft that passed the checks, with where it is to land."""

    draft: Draft
    place: Place
    vectors: Embedded
    caller: Caller
    at: datetime
    redacted: tuple[str, ...] = ()
    warnings: tuple[Warning, ...] = ()

    @property
    def session(self) -> str | None:
        return self.draft.session or self.caller.session


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory close to a text, and how close."""

    stored: Stored
    cosine: float

    @property
    def memory(self) -> Memory:
        return self.stored.memory


def remember(parts: Parts, draft: Draft, caller: Caller) -> Remembered:
    """Stores the draft, or reinforces the memory that already says it. What it supersedes ends in the same write."""
    return remember_all(parts, [draft], caller)[0]


def remember_all(
    parts: Parts,
    drafts: Sequence[Draft],
    caller: Caller,
    along: Changes | None = None,
    check: Callable[[], None] | None = None,
) -> list[Remembered]:
    """All of the drafts in one write, with whatever else belongs into it.

    `check` is asked before every attempt: it raises when others have made the write pointless. Drafts that are not
    distinct must not say the same as one another.
    """
    arrivals = [_arrival(parts, draft, caller) for draft in drafts]

    def plan() -> tuple[Changes, list[Remembered]]:
        if check:
            check()
        plans = [_planned(parts.store, arrival) for arrival in arrivals]
        changes = reduce(Changes.joined, [changes for changes, _ in plans])
        return changes.joined(along) if along else changes, [reply for _, reply in plans]

    replies = settle(parts.store, plan)
    return [
        replace(reply, redacted=arrival.redacted, warnings=arrival.warnings + reply.warnings)
        for reply, arrival in zip(replies, arrivals, strict=True)
    ]


def _arrival(parts: Parts, draft: Draft, caller: Caller) -> Arrival:
    draft, redacted = checked(draft)
    place, warnings = landing(draft, caller)
    vectors = embedded(parts.embedder, draft.text, draft.title)
    if vectors.warning:
        warnings = (*warnings, vectors.warning)
    return Arrival(draft, place, vectors, caller, parts.clock.now(), redacted, warnings)


def _planned(store: Store, arrival: Arrival) -> tuple[Changes, Remembered]:
    draft, caller = arrival.draft, arrival.caller
    near = neighbours(store, draft.text, arrival.vectors, caller, arrival.place)
    # The first part of a long text must not stand for all of it: what differs further down would be lost.
    ended = _superseded(store, draft.supersedes, caller)
    alike = [n for n in near if n.memory not in ended] if arrival.vectors.whole else []
    same = _same(store, draft.text, arrival.place, alike)
    if draft.distinct:
        changes, reply = _beside(store, arrival, near, same)
    else:
        changes, reply = _reinforce(same, arrival) if same else _store(store, arrival, near)
    ended = [old for old in ended if old.id != reply.memory.id]
    reply = replace(reply, superseded=tuple(old.id for old in ended))
    return changes.joined(succession(store, ended, reply.memory, arrival.at)), reply


def neighbours(store: Store, text: str, vectors: Embedded, caller: Caller, place: Place) -> list[Neighbour]:
    """What the caller already knows that is closest to a text: by meaning, else by words."""
    wanted = Filter(tuple({*places(caller), place}))
    if vectors.vectors:
        found = store.by_vector(vectors.vectors[0], vectors.model, wanted, NEIGHBOURS).scores
    else:
        found = dict.fromkeys(store.by_words(query_terms(text), wanted, NEIGHBOURS).scores, 0.0)
    memories = store.memories(list(found))
    return [Neighbour(stored, found[id]) for id, stored in memories.items()]


def contradictions(
    near: Sequence[Neighbour], new: Memory, also: Sequence[Stored], now: datetime
) -> tuple[Contradiction, ...]:
    """Rivals among what is near in meaning, and among what speaks of the same entities."""
    close = {stored.memory.id: Neighbour(stored, 0.0) for stored in also} | {n.memory.id: n for n in near}
    close.pop(new.id, None)
    words = set(query_terms(new.text))
    found = []
    for old in close.values():
        # Two texts that share hardly a word have no subject in common; most are told apart by that.
        if old.cosine < ALIKE and len(words.intersection(terms(old.memory.text))) < 2:
            continue
        rival = clash(old.memory.text, new.text, cosine=old.cosine)
        if rival:
            found.append(Contradiction(new_id(now), old.memory.id, new.id, rival.kind, rival.detail, now))
    return tuple(found)


def started(session: str | None, caller: Caller, now: datetime) -> tuple[Session, ...]:
    """The session as it must exist once something was said in it."""
    project = caller.project.id if caller.project else None
    return (Session(session, now, project, caller.user),) if session else ()


def entry(before: Memory, event: Event, at: datetime, reason: str | None = None) -> HistoryEntry:
    """The history row for a memory that is about to change."""
    said = (before.text, before.importance, before.tags, before.scope)
    place = (before.place.project, before.session)
    called = (before.title, before.category)
    rest = Rest(before.kind, before.status, before.metadata, before.valid_until, *place, called)
    # Every memory has a row for having been made, before which it was nothing.
    return HistoryEntry(before.id, before.version, event, *said, at, reason, None if event is Event.CREATED else rest)


def succession(store: Store, ended: Sequence[Memory], successor: Memory, now: datetime) -> Changes:
    """The plan by which a memory takes the place of others: they held until it began to."""
    found = {source.id: source for old in ended for source in spoken_for(store, old, by_it=False)}
    sources = [source for id, source in found.items() if id not in {old.id for old in ended}]
    return Changes(
        at=now,
        expects=tuple(
            AtVersion(memory.id, version)
            for memory, version in [*((m, m.version) for m in ended), *((m, m.version - 1) for m in sources)]
        ),
        memories=(*(_ended(old, successor, now) for old in ended), *sources),
        history=tuple(entry(old, Event.SUPERSEDED, now, f"superseded by {successor.id}") for old in ended),
        stale=tuple((old.id, True) for old in ended),
    )


def spoken_for(store: Store, summary: Memory, *, by_it: bool) -> list[Memory]:
    """What a summary was made from, as it stands once the summary speaks for it, or no longer does."""
    found = [stored.memory for stored in store.memories(summary.derived_from).values()]
    changed = [memory for memory in found if memory.consolidated is not by_it]
    return [replace(memory, consolidated=by_it, version=memory.version + 1) for memory in changed]


def _superseded(store: Store, ids: Sequence[MemoryId], caller: Caller) -> list[Memory]:
    found = [visible(store, id, caller, "supersedes").memory for id in dict.fromkeys(ids)]
    return [memory for memory in found if memory.is_active]


def _ended(old: Memory, successor: Memory, now: datetime) -> Memory:
    until = min(max(old.valid_from, successor.valid_from), old.valid_until or now, now)
    status = Status(State.SUPERSEDED, None, now, successor.id)
    return replace(old, status=status, valid_until=until, updated=now, version=old.version + 1)


def landing(draft: Draft, caller: Caller) -> tuple[Place, tuple[Warning, ...]]:
    project = caller.project.id if caller.project else None
    if draft.scope is Scope.PROJECT and project is None:
        note = "the working folder belongs to no project (home or root), so this is stored for the user, everywhere"
        return Place(Scope.USER, caller.user), (Warning("no_project", note),)
    return place_for(draft.scope, caller.user, project, draft.session or caller.session), ()


def _same(store: Store, text: str, place: Place, near: Sequence[Neighbour]) -> Stored | None:
    """The memory in this place that already says it, to the letter or in nearly the same words."""
    twin = store.twin(place, fingerprint(text))
    if twin:
        return twin
    alike = (n for n in near if n.cosine >= NEAR and n.memory.place.key == place.key and _as_long(n, text))
    return next((n.stored for n in alike if _agrees(n, text)), None)


def _as_long(near: Neighbour, text: str) -> bool:
    return len(near.memory.text) <= 2 * len(text)


def _agrees(near: Neighbour, text: str) -> bool:
    """Whether a text that means nearly the same also says the same: "we use tabs" and "we use spaces" are close."""
    old = near.memory.text
    return same_claim(old, text) and _adds_nothing(text, old) and clash(old, text, cosine=near.cosine) is None


def _adds_nothing(new: str, old: str) -> bool:
    """Whether all that the new text says stands in the old one, in the same order.

    "The left sidebar" and "the right sidebar", or who calls whom, is a difference that a vector hardly
    shows, and what is taken for a repetition is not kept. A part may have moved from one end to the other
    ("in tests we use tabs", "we use tabs in tests"): that turns the row of words, and does not mix it.
    """
    said, told = _telling(old), _telling(new)
    turned = (iter(said[start:] + said[:start]) for start in range(max(len(said), 1)))
    return any(all(term in row for term in told) for row in turned)


def _telling(text: str) -> list[str]:
    return [term for term in terms(text) if term not in LIGHT]


def _reinforce(stored: Stored, arrival: Arrival) -> tuple[Changes, Remembered]:
    old, draft, now = stored.memory, arrival.draft, arrival.at
    memory = replace(
        old,
        tags=tuple(dict.fromkeys((*old.tags, *draft.tags))),
        importance=max(old.importance, draft.importance),
        metadata={**old.metadata, **draft.metadata},
        reinforced=old.reinforced + 1,
        reinforced_at=now,
        updated=now,
        version=old.version + 1,
    )
    links = given_links(memory, draft.entities, now)
    changes = Changes(
        at=now,
        expects=(AtVersion(old.id, old.version),),
        memories=(memory,),
        history=(entry(old, Event.REINFORCED, now),),
        entities=links.entities,
        links=links.links,
        sessions=started(arrival.session, arrival.caller, now),
    )
    embedded = stored.model is not None
    return changes, Remembered(memory, reinforced=True, embedded=embedded, links_given=len(links.links))


def _store(store: Store, arrival: Arrival, near: Sequence[Neighbour]) -> tuple[Changes, Remembered]:
    memory, caller, vectors = _memory(arrival), arrival.caller, arrival.vectors
    links = linked_to(store, memory, arrival.draft.entities, arrival.at)
    rivals = contradictions(near, memory, about_the_same(store, links, memory), arrival.at)
    changes = Changes(
        at=arrival.at,
        expects=(NoTwin(memory.place, fingerprint(memory.text)),),
        memories=(memory,),
        embeddings=vectors.of(memory.id),
        history=(entry(memory, Event.CREATED, arrival.at),),
        entities=links.entities,
        links=links.links,
        relations=links.relations,
        contradictions=rivals,
        projects=(caller.project,) if caller.project and memory.place.project else (),
        sessions=started(memory.session, caller, arrival.at),
    )
    return changes, Remembered(
        memory,
        embedded=bool(vectors.vectors),
        chunks_missing=vectors.missing,
        links_given=links.given,
        links_inferred=links.inferred,
        contradicts=rivals,
    )


def _beside(
    store: Store, arrival: Arrival, near: Sequence[Neighbour], same: Stored | None
) -> tuple[Changes, Remembered]:
    """Stores the draft whatever else says the same, tied to it; but not under a title that is taken."""
    title = arrival.draft.title
    if title:
        refuse_title(store, arrival.place, title)
    changes, reply = _store(store, arrival, near)
    free: tuple[Expectation, ...] = (TitleFree(arrival.place, title),) if title else ()
    cosine = next((n.cosine for n in near if same and n.memory.id == same.memory.id), 1.0)
    ties = (Tie(reply.memory.id, same.memory.id, SIMILAR, arrival.at, cosine),) if same else ()
    return replace(changes, expects=free, ties=ties), replace(reply, similar=same.memory.id if same else None)


def refuse_title(store: Store, place: Place, title: str, but: MemoryId | None = None) -> None:
    holder = store.titled(place, title)
    if holder and holder.memory.id != but:
        raise Taken(
            f"mem_{holder.memory.id} has the title {shorten(title)} already; nothing was written. "
            "Use a different title or update the existing memory",
            constraint="unique_memory_title_per_project",
            suggestion="Use a different title or update the existing memory",
            memory_id=f"mem_{holder.memory.id}",
        )


def _memory(arrival: Arrival) -> Memory:
    draft, now = arrival.draft, arrival.at
    return Memory(
        id=new_id(now),
        text=draft.text,
        title=draft.title,
        kind=draft.kind,
        category=draft.category,
        place=arrival.place,
        session=arrival.session,
        agent=arrival.caller.agent,
        tags=draft.tags,
        importance=draft.importance,
        source=draft.source,
        metadata=draft.metadata,
        created=now,
        updated=now,
        event_time=draft.event_time or now,
        valid_from=draft.event_time or now,
    )
