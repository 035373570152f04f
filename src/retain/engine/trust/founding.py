"""A principle and the episodes that it rests on: a new one, or a known one with more behind it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from retain.domain.claims import fingerprint
from retain.domain.ids import new_id
from retain.domain.memory import Kind, Memory, Place, Provenance, Scope, Source, State, Status
from retain.domain.recall import Filter
from retain.engine.embed import Embedded
from retain.engine.knowledge.entities import Linking, linked_to
from retain.engine.lifecycle.clusters import Cluster
from retain.engine.lifecycle.consolidation import MOST_TAGS, SAME_SUMMARY
from retain.engine.lifecycle.contradictions import plainly
from retain.engine.trust.generalising import BY_MODEL, Wording
from retain.engine.trust.grouping import cosine
from retain.ports import Store

_NEAREST = 8
LASTING = (Kind.SEMANTIC, Kind.PROCEDURAL)
# One that sleeps wakes when it is found again.
_USABLE = (State.ACTIVE, State.DORMANT)


@dataclass(frozen=True, slots=True)
class Founded:
    """A principle that is added (`before` is None) or extended, with the episodes that join it now."""

    memory: Memory
    members: tuple[Memory, ...]
    before: Memory | None = None
    vectors: Embedded | None = None
    links: Linking = field(default_factory=Linking)

    def is_twin(self, other: "Founded") -> bool:
        """Whether both came to the same principle."""
        one, two = self.memory, other.memory
        if one.id == two.id or one.place != two.place:
            return one.id == two.id
        return fingerprint(one.text) == fingerprint(two.text) or self._is_alike(other)

    def _is_alike(self, other: "Founded") -> bool:
        here, there = (each.vectors.whole if each.vectors else None for each in (self, other))
        if here is None or there is None or cosine(here, there) < SAME_SUMMARY:
            return False
        return plainly(self.memory.text, other.memory.text) is None


def founded(store: Store, cluster: Cluster, wording: Wording, vectors: Embedded, now: datetime) -> Founded:
    """The principle of a group. Where one is known that says the same it keeps its text, unless they contradict."""
    place = _place(cluster)
    candidates = _said(store, wording.text, vectors, place)
    same = next((known for known in candidates if not _denies(known, wording, cluster)), None)
    if same:
        return Founded(_extended(same, cluster.members, now), cluster.members, same)
    memory = _new(cluster, wording, place, now)
    return Founded(memory, cluster.members, None, vectors, linked_to(store, memory, (), now))


def joined(one: Founded, members: tuple[Memory, ...], now: datetime) -> Founded:
    """A principle of this run with one more group behind it."""
    longer = replace(_extended(one.memory, members, now), version=one.memory.version)
    if one.before is None:
        longer = replace(longer, reinforced=0, reinforced_at=None)
    return replace(one, memory=longer, members=one.members + members)


def _place(cluster: Cluster) -> Place:
    """Where all agents see it: in the project if any episode is from there, since what it said does not leave it."""
    narrowest = min((memory.place for memory in cluster.members), key=lambda place: place.project is None)
    return Place(Scope.PROJECT if narrowest.project else Scope.USER, narrowest.user, narrowest.project)


def _said(store: Store, text: str, vectors: Embedded, place: Place) -> Iterator[Memory]:
    """What says the same there, to the letter or nearly so; what is awake first."""
    ended = tuple(state for state in State if state is not State.ACTIVE)
    for states in ((State.ACTIVE,), ended):
        twin = store.twin(place, fingerprint(text), states=states)
        if twin and twin.memory.kind is not Kind.EPISODIC and twin.memory.status.state in _USABLE:
            yield twin.memory
    if vectors.whole is None:
        return
    wanted = Filter((place,), kinds=LASTING, states=_USABLE)
    near = store.by_vector(vectors.whole, vectors.model, wanted, _NEAREST).scores
    found = store.memories([id for id in near if near[id] >= SAME_SUMMARY])
    principles = [stored.memory for stored in found.values() if stored.memory.derived_from]
    yield from sorted(principles, key=lambda memory: not memory.is_active)


def _denies(known: Memory, wording: Wording, cluster: Cluster) -> bool:
    return any(plainly(known.text, text) for text in (*cluster.texts, wording.text))


def _new(cluster: Cluster, wording: Wording, place: Place, now: datetime) -> Memory:
    newest = cluster.members[-1]
    provenance = Provenance.MODEL_GENERATED if wording.by == BY_MODEL else Provenance.INFERENCE
    return Memory(
        id=new_id(now),
        text=wording.text,
        kind=wording.kind,
        place=place,
        tags=cluster.tags[:MOST_TAGS],
        importance=cluster.importance,
        source=Source(tool="consolidation", provenance=provenance),
        created=now,
        updated=now,
        event_time=newest.event_time,
        valid_from=newest.event_time,
        derived_from=tuple(memory.id for memory in cluster.members),
        compared=False,
    )


def _extended(old: Memory, members: Sequence[Memory], now: datetime) -> Memory:
    """The same text with more behind it; what slept wakes."""
    tags = dict.fromkeys((*old.tags, *(tag for memory in members for tag in memory.tags)))
    return replace(
        old,
        tags=tuple(tags)[: max(MOST_TAGS, len(old.tags))],
        importance=max(old.importance, *(memory.importance for memory in members)),
        derived_from=tuple(dict.fromkeys((*old.derived_from, *(memory.id for memory in members)))),
        status=Status(),
        reinforced=old.reinforced + len(members),
        reinforced_at=now,
        updated=now,
        version=old.version + 1,
    )
