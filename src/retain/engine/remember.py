"""Remembering: through the gate (redact, duplicates, entities), then one atomic write."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce

from retain.domain.changes import AtVersion, Changes, Contradiction, Expectation, NoTwin, TitleFree
from retain.domain.claims import fingerprint
from retain.domain.conversation import Speaker
from retain.domain.ending import Way, word_of
from retain.domain.graph import SIMILAR, Tie
from retain.domain.ids import dressed, new_id
from retain.domain.memory import (
    Event,
    Json,
    Memory,
    MemoryId,
    Place,
    Provenance,
    Scope,
    Source,
    Status,
    Stored,
)
from retain.domain.recall import Warning
from retain.domain.session import Caller, Session
from retain.engine.drafts import OWN, PROVENANCE, Draft, checked, each_once
from retain.engine.embed import Embedded, embedded
from retain.engine.ending import endable
from retain.engine.knowledge.entities import given_links, linked_to
from retain.engine.knowledge.support import revived, unsaid, unsaid_by
from retain.engine.nearby import Compared, Neighbour, contradictions, neighbours, said_already
from retain.engine.parts import Parts, place_for, settle, visible
from retain.engine.rivalry import rivalry
from retain.engine.succession import entry, succession
from retain.errors import Taken, shorten
from retain.ports import Store

ANOTHER_TITLE = "Use a different title or update the existing memory"
# Why a memory gave way to another.
NAMED, SAID_ANEW = "replaced by a memory that names it", "something newer was said in its place"


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a draft."""

    memory: Memory
    reinforced: bool = False
    woken: bool = False
    """Whether it slept until it was said again."""
    embedded: bool = False
    chunks_missing: int = 0
    links_given: int = 0
    links_inferred: int = 0
    contradicts: tuple[Contradiction, ...] = ()
    contradictions_pending: bool = False
    """Whether it is still to be compared with what is near it."""
    near: int = 0
    """How many memories there are to compare it with."""
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
    company: "Company | None" = None

    @property
    def session(self) -> str | None:
        return self.draft.session or self.caller.session

    @property
    def compared(self) -> Compared:
        return self.company.compared if self.company else Compared()


@dataclass(frozen=True, slots=True)
class Company:
    """How a draft is taken by the memories near it, where rules are not all there is to it."""

    compared: Compared
    also: Callable[[Memory, Sequence[Neighbour]], Changes]
    """What else is to be written, once it is known which memory the draft has become."""


def remember(parts: Parts, draft: Draft, caller: Caller) -> Remembered:
    """Stores the draft, or reinforces the memory that already says it. What it supersedes ends in the same write."""
    return remember_all(parts, [draft], caller)[0]


def remember_all(
    parts: Parts,
    drafts: Sequence[Draft],
    caller: Caller,
    along: Changes | None = None,
    check: Callable[[], None] | None = None,
    company: Company | None = None,
) -> list[Remembered]:
    """All of the drafts in one write, with whatever else belongs into it.

    `check` is asked before every attempt: it raises when others have made the write pointless. Drafts that are not
    distinct must not say the same as one another. What is stored is marked as not compared yet, unless its company was.
    """
    arrivals = [replace(_arrival(parts, draft, caller), company=company) for draft in drafts]

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
    named = _superseded(store, draft.supersedes, caller)
    replaced = _replaced(store, draft, named)
    ended = [*named, *replaced]
    staying = [n for n in near if n.memory not in ended]
    same = said_already(store, draft.text, arrival.place, staying if arrival.vectors.whole else [])
    if draft.distinct:
        changes, reply = _beside(store, arrival, staying, same)
    else:
        changes, reply = _reinforce(store, same, arrival, staying) if same else _store(store, arrival, staying)
    for olds, why in ((named, NAMED), (replaced, SAID_ANEW)):
        if gone := [old for old in olds if old.id != reply.memory.id]:
            reply = replace(reply, superseded=(*reply.superseded, *(old.id for old in gone)))
            changes = changes.joined(succession(store, gone, reply.memory, arrival.at, why))
    return changes.joined(arrival.company.also(reply.memory, near)) if arrival.company else changes, reply


def started(session: str | None, caller: Caller, now: datetime) -> tuple[Session, ...]:
    """The session as it must exist once something was said in it."""
    project = caller.project.id if caller.project else None
    return (Session(session, now, project, caller.user),) if session else ()


def _superseded(store: Store, ids: Sequence[MemoryId], caller: Caller) -> list[Memory]:
    found = [visible(store, id, caller, "supersedes").memory for id in dict.fromkeys(ids)]
    return [memory for memory in found if memory.is_active]


def _replaced(store: Store, draft: Draft, named: Sequence[Memory]) -> list[Memory]:
    """What ends without having been named; asked in the plan, since somebody may be editing it."""
    found = [stored.memory for stored in store.memories(draft.replaces).values()] if draft.replaces else []
    return endable(store, [memory for memory in found if memory.is_active and memory not in named], Way.REPLACE)


def landing(draft: Draft, caller: Caller) -> tuple[Place, tuple[Warning, ...]]:
    project = caller.project.id if caller.project else None
    if draft.scope is Scope.PROJECT and project is None:
        note = "the working folder belongs to no project (home or root), so this is stored for the user, everywhere"
        return landing(replace(draft, scope=Scope.USER), caller)[0], (Warning("no_project", note),)
    place = place_for(draft.scope, caller.user, project, draft.session or caller.session)
    return replace(place, agent=caller.agent) if draft.private and caller.agent else place, ()


def _reinforce(store: Store, stored: Stored, arrival: Arrival, near: Sequence[Neighbour]) -> tuple[Changes, Remembered]:
    old, draft, now = stored.memory, arrival.draft, arrival.at
    asleep = not old.is_active
    memory = replace(
        old.said_again(draft.event_time or now),
        tags=each_once((*old.tags, *draft.tags)),
        importance=max(old.importance, draft.importance),
        metadata=_both_metadata(old, draft),
        source=_better(old.source, draft.source),
        status=Status() if asleep else old.status,
        updated=now,
        version=old.version + 1,
        compared=arrival.compared.covers(near) if asleep else old.compared,
    )
    links = given_links(memory, draft.entities, now)
    changes = Changes(
        at=now,
        expects=(AtVersion(old.id, old.version),),
        memories=(memory,),
        history=(entry(old, Event.WOKEN if asleep else Event.REINFORCED, now),),
        stale=((old.id, False),) if asleep else (),
        relations=revived(store, memory) if asleep else (),
        ended=unsaid(store, [memory], draft.entities) if asleep or draft.entities else (),
        entities=links.entities,
        links=links.links,
        sessions=started(arrival.session, arrival.caller, now),
    )
    done = Remembered(memory, reinforced=True, embedded=stored.model is not None, links_given=len(links.links))
    if not asleep:
        return changes, done
    # While it slept, others may have been told what it denies; and some of that was decided before.
    found = rivalry(store, memory, contradictions(near, memory, arrival.compared, now), now)
    return changes.joined(found.changes), replace(done, woken=True, contradicts=found.found)


def _both_metadata(old: Memory, draft: Draft) -> Mapping[str, Json]:
    """Saying something again adds to what is noted of it; it stays the user's word and a line of its log."""
    said = {**old.metadata, **draft.metadata}
    kept = OWN if word_of(old) is Speaker.USER else [name for name in OWN if name not in PROVENANCE]
    return said | {name: value for name, value in old.metadata.items() if name in kept}


def _better(old: Source, new: Source) -> Source:
    """What is said again on a better word rests on that."""
    words = [source.provenance for source in (old, new) if source.provenance]
    return replace(old, provenance=min(words, key=list(Provenance).index)) if words else old


def _store(store: Store, arrival: Arrival, near: Sequence[Neighbour]) -> tuple[Changes, Remembered]:
    memory, caller, vectors, given = _memory(arrival, near), arrival.caller, arrival.vectors, arrival.draft.entities
    links = linked_to(store, memory, given, arrival.at)
    rivals = contradictions(near, memory, arrival.compared, arrival.at)
    changes = Changes(
        at=arrival.at,
        expects=(NoTwin(memory.place, fingerprint(memory.text)),),
        memories=(memory,),
        embeddings=vectors.of(memory.id),
        history=(entry(memory, Event.CREATED, arrival.at),),
        entities=links.entities,
        links=links.links,
        relations=links.relations,
        ended=unsaid(store, [memory], given) if given else unsaid_by(store, memory, links),
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
        near=len(near),
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


def refuse_title(
    store: Store, place: Place, title: str, but: MemoryId | None = None, instead: str = ANOTHER_TITLE
) -> None:
    """Raises when another memory there has the title; `instead` is what can be done about it."""
    holder = store.titled(place, title)
    if holder and holder.memory.id != but:
        id = dressed("mem", holder.memory.id)
        raise Taken(
            f'{id} has the title "{shorten(holder.memory.title)}" already; nothing was written. {instead}',
            constraint="unique_memory_title_per_project",
            suggestion=instead,
            memory_id=id,
        )


def _memory(arrival: Arrival, near: Sequence[Neighbour]) -> Memory:
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
        compared=arrival.compared.covers(near),
    )
