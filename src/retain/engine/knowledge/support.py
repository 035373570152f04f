"""Which relations the memories support that stand: an edit ends what only the old text said, a return revives it.

No row says which memory a relation was read from. So the texts of those that speak of both its ends are read again.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from retain.domain.changes import Changes
from retain.domain.graph import RELATED, Entity, Link, Relation, fold
from retain.domain.memory import Memory, MemoryId
from retain.engine.drafts import GivenEntity
from retain.engine.knowledge.entities import Linking, given_links, linked_to, read_in
from retain.ports import Store

Linked = Sequence[tuple[Link, Entity]]
# Texts that are read for one relation. Where more memories speak of both ends it is left as it is: that they are
# related is sure, and how is asked again with the next edit.
MOST_READ = 30


@dataclass(frozen=True, slots=True)
class Saying:
    """What a memory says: its entities by id, and its relations by key."""

    entities: frozenset[str] = frozenset()
    relations: frozenset[tuple[str, str, str]] = frozenset()

    def has(self, relation: Relation) -> bool:
        """For having been named together it is enough that both are named."""
        if relation.type == RELATED:
            return self.entities.issuperset(relation.key[:2])
        return relation.key in self.relations


def relinked(
    store: Store, old: Memory, new: Memory, added: Sequence[GivenEntity] = (), removed: Collection[str] = ()
) -> Changes:
    """What an edit does to the graph: links and relations of the new text, and the end of those of the old one."""
    rewritten, before = new.text != old.text, store.links([old.id])
    links = linked_to(store, new, added, new.updated) if rewritten else given_links(new, added, new.updated)
    names = {fold(name) for name in removed}
    gone = [pair for pair in before if fold(pair[1].name) in names or (rewritten and pair[0].by_rule)]
    ended: tuple[Relation, ...] = ()
    if rewritten or gone:
        left = [pair for pair in before if pair not in gone]
        kept = _saying(store, new, (*_given(left), *added), but=() if rewritten else names)
        ended = tuple(r for r in _holding(store, before) if not kept.has(r) and not _is_said(store, r, {old.id}))
    if rewritten or added:
        ended += tuple(r for r in unsaid(store, [new], added) if r not in ended)
    return _changes(new, links, ended, gone)


def moved(store: Store, old: Memory, new: Memory) -> Changes:
    """The same for a memory that goes to another owner, whose entities are others."""
    before = store.links([old.id])
    gone = [pair for pair in before if pair[1].owner != new.place.owner]
    ended = tuple(r for r in _holding(store, gone) if not _is_said(store, r, {old.id}))
    return _changes(new, linked_to(store, new, _given(before), new.updated), ended, gone)


def silenced(store: Store, memories: Sequence[Memory], successors: Sequence[Memory] = ()) -> tuple[Relation, ...]:
    """What ends with memories that stand no longer: relations that no other says, nor what takes their place.

    What was forgotten leaves its edges, marked as stale, as long as nobody else speaks of both ends; see `unsaid`.
    """
    ids = {memory.id for memory in memories}
    said = [_saying(store, memory, _given(store.links([memory.id]))) for memory in successors]
    found = {r.key: r for id in sorted(ids) for r in _holding(store, store.links([id]))}
    return tuple(r for r in found.values() if not any(s.has(r) for s in said) and not _is_said(store, r, ids))


def hushed(store: Store, memory: Memory) -> tuple[Relation, ...]:
    """What ends with a memory that is forgotten: of what is silenced, that of which others speak. The rest is stale."""
    return tuple(r for r in silenced(store, [memory]) if _others(store, r, {memory.id}))


def unsaid(store: Store, memories: Sequence[Memory], given: Sequence[GivenEntity] = ()) -> tuple[Relation, ...]:
    """Stale relations that would hold again because memories name both their ends, though none of them says so."""
    said = [_saying(store, memory, (*_given(store.links([memory.id])), *given)) for memory in memories]
    return _not_said(store, said, {memory.id for memory in memories})


def unsaid_by(store: Store, new: Memory, linking: Linking) -> tuple[Relation, ...]:
    """The same for a new memory that was just read: where it names no two things that were known, none is asked for."""
    known = frozenset(entity.id for entity in linking.entities if entity.created < new.created)
    saying = Saying(known, frozenset(relation.key for relation in linking.relations))
    return _not_said(store, [saying], {new.id}) if len(known) > 1 else ()


def _not_said(store: Store, said: Sequence[Saying], ids: Collection[MemoryId]) -> tuple[Relation, ...]:
    among = (r for one in said for r in store.relations_among(sorted(one.entities)))
    found = {r.key: r for r in among if r.by_rule and r.valid_until is None and not any(s.has(r) for s in said)}
    return tuple(r for r in found.values() if not _others(store, r, ids))


def unheard(store: Store, memories: Sequence[Memory]) -> tuple[Relation, ...]:
    """What is destroyed with memories: relations that only they, or earlier versions of them, have said."""
    ids = [memory.id for memory in memories]
    said = [_saying(store, memory, _given(store.links([memory.id]))) for memory in memories]
    whose = {memory.id: memory for memory in memories}
    said += [_saying(store, replace(whose[row.memory], text=row.text)) for row in store.history(*ids)]
    ends = sorted({end for one in said for end in one.entities})
    found = [r for r in store.relations_among(ends) if r.by_rule and any(one.has(r) for one in said)]
    return tuple(r for r in found if not _is_said(store, r, ids))


def revived(store: Store, memory: Memory) -> tuple[Relation, ...]:
    """Relations that ended while a memory was out of sight, and that it says."""
    links = store.links([memory.id])
    over = [r for r in _by_rule(store, links) if r.valid_until is not None]
    said = _saying(store, memory, _given(links)) if over else Saying()
    return tuple(replace(r, created=memory.updated, valid_until=None) for r in over if said.has(r))


def _changes(new: Memory, links: Linking, ended: tuple[Relation, ...], gone: Linked) -> Changes:
    return Changes(
        at=new.updated,
        entities=links.entities,
        links=links.links,
        unlinked=tuple((new.id, entity.id) for _, entity in gone),
        relations=links.relations,
        ended=ended,
    )


def _by_rule(store: Store, links: Linked) -> list[Relation]:
    """Relations that rules have read between entities that a memory speaks of."""
    return [r for r in store.relations_among(sorted({entity.id for _, entity in links})) if r.by_rule]


def _holding(store: Store, links: Linked) -> list[Relation]:
    return [r for r in _by_rule(store, links) if r.valid_until is None]


def _is_said(store: Store, relation: Relation, but: Collection[MemoryId]) -> bool:
    """Whether a memory other than these says so."""
    others = _others(store, relation, but)
    if relation.type == RELATED or len(others) > MOST_READ:
        return bool(others)
    found = (stored.memory for stored in store.memories(others).values())
    return any(_saying(store, memory, _given(store.links([memory.id]))).has(relation) for memory in found)


def _others(store: Store, relation: Relation, but: Collection[MemoryId]) -> list[MemoryId]:
    found = store.together(relation.source, relation.target, MOST_READ + 1 + len(but))
    return [id for id in found if id not in but]


def _saying(store: Store, memory: Memory, given: Sequence[GivenEntity] = (), but: Collection[str] = ()) -> Saying:
    """What a memory says, with what it was linked to by hand and without some names."""
    linking = read_in(store, memory, given)
    ids = frozenset(entity.id for entity in linking.entities if fold(entity.name) not in but)
    return Saying(ids, frozenset(r.key for r in linking.relations if ids.issuperset(r.key[:2])))


def _given(links: Linked) -> tuple[GivenEntity, ...]:
    return tuple(GivenEntity(e.name, e.type, link.relationship) for link, e in links if not link.by_rule)
