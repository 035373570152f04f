"""Planning the graph around a memory: the entities it names, given or by rule, and how they relate."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from retain.domain.graph import MENTIONS, RELATED, SAID_BY, Entity, Link, Relation, fold
from retain.domain.ids import new_id
from retain.domain.memory import Memory, Place, Scope, Stored
from retain.domain.recall import Filter
from retain.domain.words import terms
from retain.engine.drafts import GivenEntity
from retain.engine.knowledge.link import Stated, labelled, mentions, stated
from retain.ports import Store

# Being named together once is a hint; a relation grows towards 1 as it is seen again.
TOGETHER = 0.2
STATED = 0.8
MOST_TOGETHER = 6
MOST_LINKED_BACK = 50
_READ = 4000  # characters of a long text that are read for names
_WORD = re.compile(r"[^\s,;:!?()\[\]{}\"'`]+")


@dataclass(frozen=True, slots=True)
class Linking:
    """What a memory adds to the graph, and how much of it the caller gave."""

    entities: tuple[Entity, ...] = ()
    links: tuple[Link, ...] = ()
    relations: tuple[Relation, ...] = ()
    given: int = 0

    @property
    def inferred(self) -> int:
        return len(self.links) - self.given + len(self.relations)


def given_links(memory: Memory, given: Sequence[GivenEntity], now: datetime) -> Linking:
    """Only what the caller says."""
    entities = _given(given, memory, now)
    links = tuple(Link(memory.id, entities[fold(g.name)].id, g.relationship, now) for g in given)
    return Linking(tuple(entities.values()), links, given=len(links))


def linked_to(store: Store, memory: Memory, given: Sequence[GivenEntity], now: datetime) -> Linking:
    """What the caller says, what rules read in the text, and earlier memories that name a new entity."""
    text = memory.text[:_READ]
    owner = memory.place.owner
    known = {fold(e.name): e for e in store.entities_named(runs(text) + [g.name for g in given], [owner])}
    entities = _given(given, memory, now)
    found = mentions(text, lambda name: known[name].type if name in known else None)
    for mention in found:
        name = fold(mention.name)
        entities.setdefault(name, known.get(name) or Entity(new_id(now), mention.name, mention.kind, owner, now))
    links = [Link(memory.id, entities[fold(g.name)].id, g.relationship, now) for g in given]
    named = {fold(g.name) for g in given}
    speaker = fold(found[0].name) if found and text.startswith(f"{found[0].name}:") else None
    links += [
        Link(memory.id, e.id, SAID_BY if name == speaker else MENTIONS, now, by_rule=True)
        for name, e in entities.items()
        if name not in named
    ]
    for name, entity in entities.items():
        if name not in known:
            links += _linked_back(store, entity, memory.place, now)
    said = stated(text, found) + labelled(text, [(g.name, g.relationship) for g in given], found)
    relations = _relations(said, entities, now)
    return Linking(tuple(entities.values()), tuple(links), relations, given=len(given))


def about_the_same(store: Store, links: Linking, memory: Memory, limit: int = 10) -> list[Stored]:
    """Earlier memories in reach of this one that speak of an entity it speaks of."""
    wanted = Filter((memory.place,))
    ids = [link.memory for link in store.linked([e.id for e in links.entities], wanted, limit)]
    return list(store.memories(list(dict.fromkeys(ids))).values())


def _given(given: Sequence[GivenEntity], memory: Memory, now: datetime) -> dict[str, Entity]:
    owner = memory.place.owner
    return {fold(g.name): Entity(new_id(now), g.name, g.type, owner, now) for g in given}


def _relations(said: Sequence[Stated], entities: dict[str, Entity], now: datetime) -> tuple[Relation, ...]:
    """Stated relations, and `related_to` between those that are only named together."""
    made: dict[tuple[str, str], Relation] = {}
    for s in said:
        source, target = entities.get(fold(s.source)), entities.get(fold(s.target))
        if source and target and source.id != target.id:
            made[source.id, target.id] = Relation(source.id, target.id, s.relation, now, STATED, by_rule=True)
    together = sorted(list(entities.values())[:MOST_TOGETHER], key=lambda e: fold(e.name))
    for a, b in combinations(together, 2):
        if (a.id, b.id) not in made and (b.id, a.id) not in made:
            made[a.id, b.id] = Relation(a.id, b.id, RELATED, now, TOGETHER, by_rule=True)
    return tuple(made.values())


def _linked_back(store: Store, entity: Entity, place: Place, now: datetime) -> list[Link]:
    """Earlier memories of the same owner that name an entity which did not exist when they were stored."""
    wanted = Filter(
        (Place(Scope.PROJECT, place.user, place.project) if place.project else Place(Scope.USER, place.user),)
    )
    candidates = store.by_words(list(dict.fromkeys(terms(entity.name))), wanted, MOST_LINKED_BACK).scores
    named = re.compile(rf"(?<!\w){re.escape(fold(entity.name))}(?!\w)")
    found = store.memories(list(candidates)).values()
    return [
        Link(stored.memory.id, entity.id, MENTIONS, now, by_rule=True)
        for stored in found
        if named.search(fold(stored.memory.text))
    ]


def runs(text: str) -> list[str]:
    """Every run of up to four words: what a known entity could be called in this text."""
    words = [word.rstrip(".") for word in _WORD.findall(text)][:400]
    return list({" ".join(words[i : i + n]) for n in range(1, 5) for i in range(len(words) - n + 1)})
