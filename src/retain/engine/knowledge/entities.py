"""Planning the graph around a memory: the entities it names, given or by rule, and how they relate."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
MOST_LINKED_BACK = 20
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
    links = tuple(Link(memory.id, entities[_key(g)].id, g.relationship, now) for g in given)
    return Linking(tuple(entities.values()), links, given=len(links))


def linked_to(store: Store, memory: Memory, given: Sequence[GivenEntity], now: datetime) -> Linking:
    """What the caller says, what rules read in the text, and earlier memories that name a new entity."""
    linking, new = _read(store, memory, given, now)
    return replace(linking, links=(*linking.links, *linked_back(store, new, memory.place, now)))


def read_in(store: Store, memory: Memory, given: Sequence[GivenEntity]) -> Linking:
    """What a memory says by itself, with the ids under which the store knows it."""
    linking, _ = _read(store, memory, given, memory.updated)
    found = store.entities_named([entity.name for entity in linking.entities], [memory.place.owner])
    known = {entity.key: entity for entity in found}
    called = {entity.id: known.get(entity.key, entity) for entity in linking.entities}
    relations = (replace(r, source=called[r.source].id, target=called[r.target].id) for r in linking.relations)
    return replace(linking, entities=tuple(called.values()), relations=tuple(relations))


def _read(store: Store, memory: Memory, given: Sequence[GivenEntity], now: datetime) -> tuple[Linking, list[Entity]]:
    """What the caller says and what rules read in the text, and those of it that nobody knew."""
    text = memory.text[:_READ]
    said = given_links(memory, given, now)
    names = runs(text) + [entity.name for entity in said.entities]
    known = {fold(e.name): e for e in store.entities_named(names, [memory.place.owner])}
    found = mentions(text, lambda name: known[name].type if name in known else None)
    entities = {fold(entity.name): entity for entity in said.entities}
    read = {fold(m.name): known.get(fold(m.name)) or _entity(m.name, m.kind, memory, now) for m in found}
    read = {name: entity for name, entity in read.items() if name not in entities}
    entities |= read
    speaker = fold(found[0].name) if found and text.startswith(f"{found[0].name}:") else None
    links = [
        Link(memory.id, e.id, SAID_BY if name == speaker else MENTIONS, now, by_rule=True) for name, e in read.items()
    ]
    stated_here = stated(text, found) + labelled(text, [(g.name, g.relationship) for g in given], found)
    linking = Linking(
        entities=(*said.entities, *read.values()),
        links=(*said.links, *links),
        relations=_relations(stated_here, entities, now),
        given=said.given,
    )
    return linking, [entity for name, entity in entities.items() if name not in known]


def about_the_same(store: Store, links: Linking, memory: Memory, limit: int = 5) -> list[Stored]:
    """Earlier memories in reach of this one that speak of an entity it speaks of."""
    wanted = Filter((memory.place,))
    ids = [link.memory for link in store.linked([e.id for e in links.entities], wanted, limit)]
    return list(store.memories(list(dict.fromkeys(ids))).values())


def _given(given: Sequence[GivenEntity], memory: Memory, now: datetime) -> dict[tuple[str, str], Entity]:
    return {_key(g): _entity(g.name, g.type, memory, now) for g in given}


def _key(given: GivenEntity) -> tuple[str, str]:
    return fold(given.name), fold(given.type)


def _entity(name: str, type: str, memory: Memory, now: datetime) -> Entity:
    return Entity(new_id(now), name, type, memory.place.owner, now)


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


def linked_back(store: Store, new: Sequence[Entity], place: Place, now: datetime) -> list[Link]:
    """Earlier memories of the same owner that name an entity which did not exist when they were stored."""
    # The longest term of a name is the rarest as a rule: the whole of an identifier, the surname of a person.
    rarest = {max(terms(entity.name), key=len, default="") for entity in new} - {""}
    if not rarest:
        return []
    scope = Scope.PROJECT if place.project else Scope.USER
    wanted = Filter((Place(scope, place.user, place.project),))
    candidates = store.by_words(sorted(rarest), wanted, MOST_LINKED_BACK).scores
    texts = {id: fold(stored.memory.text) for id, stored in store.memories(list(candidates)).items()}
    return [
        Link(id, entity.id, MENTIONS, now, by_rule=True)
        for entity in new
        for id, text in texts.items()
        if _is_named(fold(entity.name), text)
    ]


def _is_named(name: str, text: str) -> bool:
    """Whether a name stands in a text as a word of its own."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not any(letter.isalnum() or letter == "_" for letter in text[at - 1 : at] + text[end : end + 1]):
            return True
        at = text.find(name, end)
    return False


def runs(text: str) -> list[str]:
    """Every run of up to three words: what a known entity could be called in this text."""
    words = [word.rstrip(".") for word in _WORD.findall(text)][:400]
    return list({" ".join(words[i : i + n]) for n in range(1, 4) for i in range(len(words) - n + 1)})
