"""A plan as one transaction: everything that it says, worked out from what the database had, and sent at once."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from retain.domain.changes import Changes
from retain.domain.graph import Entity, Link, Relation, relation_id
from retain.domain.memory import Embedding, HistoryEntry, Memory, MemoryId, Vector, user_of
from retain.stores.moments import rest_row
from retain.stores.signs import check_dimensions, pack
from retain.stores.surreal.counting import number_for
from retain.stores.surreal.link.cbor import record, records
from retain.stores.surreal.link.database import Batch, guard
from retain.stores.surreal.planning import Known
from retain.stores.surreal.recording import record_all
from retain.stores.surreal.rows import memory_row, text_of
from retain.stores.surreal.vectors.numbers import number_of, vector_numbers
from retain.stores.surreal.words import searchable

# About what a memory and a vector take on a disk beside their text, which is there twice: as it is and in terms.
MEMORY_BYTES, VECTOR_BYTES = 1200, 900
# A relation seen again grows towards 1, and one that somebody stated is no longer a guess. One that ended because no
# text said it holds again; one that somebody ended stays so, whatever a rule reads: a text may speak of what was.
# Each field is set from those that stand after it: the earlier ones are new by then.
_SEE = """weight = IF valid_until = NULL { 1 - (1 - weight) * (1 - $input.weight) }
        ELSE IF by_rule { $input.weight } ELSE { weight },
    valid_from = IF valid_until != NULL AND by_rule { $input.created_at } ELSE { valid_from },
    valid_until = IF by_rule { NULL } ELSE { valid_until },
    by_rule = IF valid_until = NULL { by_rule AND $input.by_rule } ELSE { by_rule }, changed = $input.changed"""
# Who has seen it since has made it heavier.
_UNSEEN = "by_rule = true AND weight = $?"
# One that holds goes on holding from when it did.
_STATE = """valid_from = IF valid_until = NULL OR valid_until > $at {
        IF valid_from = NULL { created_at } ELSE { valid_from } } ELSE { $input.valid_from },
    weight = $input.weight, by_rule = by_rule AND $input.by_rule, valid_until = $input.valid_until,
    changed = $input.changed"""
_LINK = "by_rule = by_rule AND $input.by_rule, stale = $input.stale"
_AGE = "UPSERT type::record('aged', $entity.id()) RETURN NONE"
_TAKEN = "created_at = $input.created_at, by_rule = $input.by_rule, stale = $input.stale"


def written(known: Known, changes: Changes) -> Batch:
    """All of the plan but what it destroys."""
    return _Writing(known, changes).batch()


class _Writing:
    """One plan on its way into a batch."""

    def __init__(self, known: Known, changes: Changes) -> None:
        self._known, self._changes = known, changes
        self._change = known.change + 1
        self._there: dict[MemoryId, dict[str, Any]] = {id: dict(row) for id, row in known.memories.items()}
        self._saved: dict[MemoryId, dict[str, Any]] = {}
        self._terms: Counter[str] = Counter()
        self._grown: Counter[str] = Counter()
        self._vectors: dict[int, tuple[MemoryId, bytes]] = {}
        self._dropped: set[int] = set()
        self._positions = dict(known.positions)
        self._kept = {kept.memory: kept.position for kept in changes.restored.memories} if changes.restored else {}
        self._new_models: dict[str, int] = {}

    def batch(self) -> Batch:
        changes = self._changes
        for place, memory in enumerate(changes.memories):
            self._memory(memory, place)
        for embedding in changes.embeddings:
            self._embedding(embedding)
        batch = Batch()
        batch.bind("at", changes.at)
        grown = ", documents += $?, length += $?, bytes += $?"
        guard(batch, "change", self._known.change, grown, *(self._grown[name] for name in _GROWING))
        if changes.key:
            # By the database's clock, as they are forgotten: that of a machine may be a month behind.
            made = "CREATE type::record('applied', $?) SET change = $?, at = time::now() RETURN NONE"
            batch.add(made, changes.key, self._change)
        if changes.restored:
            _clear(batch, [kept.memory for kept in changes.restored.memories], changes.links)
        self._save_memories(batch)
        batch.put("memory_history", dict(self._history(changes.history)), ())
        self._graph(batch)
        record_all(batch, changes, self._known, self._there.keys())
        return batch

    # Memories and their vectors

    def _memory(self, memory: Memory, place: int) -> None:
        before = self._there.get(memory.id)
        row = {**memory_row(memory), "changed": self._change}
        if memory.id in self._kept:
            row["position"] = self._kept[memory.id]
        if before is None:
            num = number_of(self._change, place)
            row = {"position": self._position(memory), **row, "num": num}
            self._grown.update(documents=1, bytes=MEMORY_BYTES)
            before = {"num": num, "words": "", "content": "", "signs": [], "model": None, "title": None, "new": True}
        if before.get("new") or (before["content"], before["title"]) != (memory.text, memory.title):
            self._drop_vectors(before)
            row |= {
                "words": self._worded(memory, before, self._known.words[place]),
                "model": None,
                "chunks_missing": 0,
                "signs": [],
            }
        self._there[memory.id] = before = {**before, **row, "new": False}
        self._saved[memory.id] = self._saved.get(memory.id, {}) | row

    def _worded(self, memory: Memory, before: Mapping[str, Any], words: str) -> str:
        """The terms of a text, which are counted for the whole store."""
        self._terms.update(set(words.split()))
        self._terms.subtract(set(before["words"].split()))
        self._grown["length"] += len(words.split()) - len(before["words"].split())
        self._grown["bytes"] += 2 * (len(memory.text.encode()) - len(before["content"].encode()))
        return words

    def _position(self, memory: Memory) -> int:
        """Where in its session a memory was said: the turn it names, else after all that was stored before."""
        if not memory.session:
            return memory.source.conversation_turn or 0
        turn = memory.source.conversation_turn
        position = self._positions.get(memory.session, 0) + 1 if turn is None else turn
        self._positions[memory.session] = max(position, self._positions.get(memory.session, 0))
        return position

    def _embedding(self, embedding: Embedding) -> None:
        row = self._there.get(embedding.memory)
        if row is None or not embedding.vectors:
            return
        self._check_dimensions(embedding.model, embedding.vectors)
        if embedding.first == 0 and row["model"] is not None:
            self._drop_vectors(row)
        packed = [pack(vector) for vector in embedding.vectors]
        signs = [*row["signs"][: embedding.first], *(bits for bits, _ in packed)]
        first = vector_numbers(row["num"], len(signs))[embedding.first :]
        self._vectors.update(zip(first, ((embedding.memory, numbers) for _, numbers in packed), strict=True))
        self._grown["bytes"] += VECTOR_BYTES * len(packed)
        made = {"model": embedding.model, "chunks_missing": embedding.missing, "signs": signs, "changed": self._change}
        row |= made
        self._saved[embedding.memory] = self._saved.get(embedding.memory, {}) | made

    def _check_dimensions(self, model: str, vectors: Sequence[Vector]) -> None:
        dimensions = self._known.models.get(model) or self._new_models.get(model)
        if dimensions is None:
            dimensions = self._new_models[model] = len(vectors[0]) // 4
        for vector in vectors:
            check_dimensions(model, dimensions, vector)

    def _drop_vectors(self, row: dict[str, Any]) -> None:
        numbers = vector_numbers(row["num"], len(row["signs"]))
        self._dropped.update(numbers)
        for number in numbers:
            self._vectors.pop(number, None)
        self._grown["bytes"] -= VECTOR_BYTES * len(numbers)
        row |= {"signs": [], "model": None}

    def _save_memories(self, batch: Batch) -> None:
        new = {id: row for id, row in self._saved.items() if id not in self._known.memories}
        old = {id: row for id, row in self._saved.items() if id in self._known.memories}
        batch.put("memory", new, ())
        batch.merge([{**row, "id": record("memory", id)} for id, row in old.items()])
        self._save_texts(batch, new, old)
        batch.insert("model", [{"id": name, "dimensions": length} for name, length in self._new_models.items()])
        batch.delete(records("vector", self._dropped - self._vectors.keys()))
        vectors = {number: {"memory": id, "numbers": numbers} for number, (id, numbers) in self._vectors.items()}
        known = self._known.memories.values()
        batch.put("vector", vectors, {n for row in known for n in vector_numbers(row["num"], len(row["signs"]))})
        before = {term for row in self._known.memories.values() for term in row["words"].split()}
        count_terms(batch, self._terms, self._known.terms | before)

    def _save_texts(self, batch: Batch, new: Iterable[MemoryId], old: Mapping[MemoryId, Mapping[str, Any]]) -> None:
        ids = {id: text_of(self._there[id]) for id in self._saved}
        moved = [id for id in old if text_of(self._known.memories[id]) != ids[id]]
        batch.delete([text_of(self._known.memories[id]) for id in moved])
        there = ((id, self._there[id]) for id in (*new, *moved))
        rows = {
            tuple(ids[id].value[1]): {"memory": record("memory", id), "num": row["num"], **_text(row)}
            for id, row in there
        }
        batch.put("text", rows, ())
        batch.merge([{"id": ids[id], **_text(row)} for id, row in old.items() if "state" in row and id not in moved])

    def _history(self, entries: Iterable[HistoryEntry]) -> Iterable[tuple[int, dict[str, Any]]]:
        for place, entry in enumerate(entries):
            # Another process may have destroyed the memory between the plan and now.
            if entry.memory in self._there:
                row = {
                    "memory": entry.memory,
                    "version": entry.version,
                    "event": entry.event.value,
                    "content": entry.text,
                    "importance": float(entry.importance),
                    "tags": list(entry.tags),
                    "scope": entry.scope.value,
                    "changed_at": entry.at,
                    "reason": entry.reason,
                    "rest": rest_row(entry.rest),
                }
                yield number_of(self._change, place), row

    # The graph

    def _graph(self, batch: Batch) -> None:
        changes = self._changes
        stated = [named for named in changes.stated if isinstance(named, Entity)]
        called = self._entities(batch, (*changes.entities, *stated))
        there = [link for link in changes.links if link.memory in self._there]
        links = [_link(link, called, self._there[link.memory]) for link in there]
        for memory, entity in changes.unlinked:
            # What is linked again stays: a record that a transaction has deleted it cannot make anew.
            again = [record("memory_entity", row["id"]) for row in links if row["id"][:2] == [memory, entity]]
            ends = record("memory", memory), record("entity", entity)
            batch.add("DELETE memory_entity WHERE in = $? AND out = $? AND id NOT IN $? RETURN NONE", *ends, again)
        for memory, stale in changes.stale:
            one = record("memory", memory)
            batch.add("UPDATE memory_entity SET stale = $? WHERE in = $? RETURN NONE", stale, one)
            if stale:
                # In two steps: of a query with one result a loop takes that for the list.
                batch.add("LET $entities = (SELECT VALUE out FROM memory_entity WHERE in = $?)", one)
                batch.add(f"FOR $entity IN $entities {{ {_AGE} }}")
        self._links(batch, links)
        said = [self._relation(relation, called) for relation in changes.relations]
        self._end(batch, {row["id"] for row in said})
        batch.relate("relates_to", said, _SEE)
        for named in stated:
            one = record("entity", called[named.id])
            batch.add(
                "UPDATE $? SET stated = true, description = $? ?? description RETURN NONE", one, named.description
            )
        known = self._known.ends | set(called.values())
        relations = (self._relation(one, called) for one in changes.stated if isinstance(one, Relation))
        for row in relations:
            # Another process may have destroyed an end meanwhile.
            if {row["in"].value[1], row["out"].value[1]} <= known:
                batch.relate("relates_to", [row], _STATE)
        destroyed = changes.purged and changes.ended
        if changes.restored or destroyed or not self._saved.keys() >= _speaking(changes):
            batch.add("UPDATE counter:cut SET value = $? RETURN NONE", self._change)

    def _end(self, batch: Batch, said: Container[str]) -> None:
        for relation in self._changes.ended:
            one = record("relates_to", relation.id)
            if relation.id in said:
                continue
            if self._changes.purged:
                batch.add(f"DELETE $? WHERE {_UNSEEN} RETURN NONE", one, relation.weight)
            else:
                ended = f"UPDATE $? SET valid_until = $at, changed = $? WHERE {_UNSEEN} AND valid_until = NULL"
                batch.add(f"{ended} RETURN NONE", one, self._change, relation.weight)

    def _relation(self, relation: Relation, called: Mapping[str, str]) -> dict[str, Any]:
        return {**relation_row(relation, called), "changed": self._change}

    def _links(self, batch: Batch, rows: Sequence[Mapping[str, Any]]) -> None:
        for id, before in self._known.memories.items():
            now = self._there[id]
            if (now["place"], now["state"]) != (before["place"], before["state"]):
                moved = "UPDATE memory_entity SET place = $?, state = $? WHERE in = $? RETURN NONE"
                batch.add(moved, now["place"], now["state"], record("memory", id))
        batch.relate("memory_entity", rows, _TAKEN if self._changes.restored else _LINK)
        if aged := [row["out"] for row in rows if row["stale"]]:
            batch.add(f"FOR $entity IN $? {{ {_AGE} }}", aged)

    def _entities(self, batch: Batch, entities: Sequence[Entity]) -> dict[str, str]:
        """The ids under which they are known: that of the one that is there, if its key is taken."""
        known, called, new = dict(self._known.entities), dict[str, str](), dict[str, dict[str, Any]]()
        for place, entity in enumerate(entities):
            if entity.key not in known:
                known[entity.key] = entity.id
                new[entity.id] = entity_row(entity, number_of(self._change, place))
            called[entity.id] = known[entity.key]
        batch.put("entity", new, ())
        return called


# The fields of a text, by what they are called in a memory.
_TEXT = {"place": "place", "state": "state", "words": "words", "tag_words": "tags"}


def _text(row: Mapping[str, Any]) -> dict[str, Any]:
    text = {name: row[field] for field, name in _TEXT.items() if field in row}
    return text | {name: searchable(text[name]) for name in ("words", "tags") if text.get(name)}


_GROWING = ("documents", "length", "bytes")


def _clear(batch: Batch, memories: Sequence[MemoryId], links: Sequence[Link]) -> None:
    """Makes room for what is taken over from another store: it comes with all of its history and links.

    Links that stay are left: a record that was deleted cannot be inserted again by the same transaction.
    """
    if memories:
        kept = records("memory_entity", ([link.memory, link.entity, link.relationship] for link in links))
        batch.add("DELETE memory_history WHERE memory IN $? RETURN NONE", list(memories))
        gone = "DELETE memory_entity WHERE in IN $? AND id NOT IN $? RETURN NONE"
        batch.add(gone, records("memory", memories), kept)
        batch.delete(records("tombstone", memories))


def count_terms(batch: Batch, counted: Mapping[str, int], there: Container[str]) -> None:
    """How many texts more, or less, hold each term; `there` are those that are counted already."""
    changed = {term: number for term, number in counted.items() if number}
    batch.put("term", {term: {"n": number} for term, number in changed.items() if term not in there}, ())
    more = [{"id": record("term", term), "n": number} for term, number in changed.items() if term in there]
    if more:
        batch.add("FOR $row IN $? { UPDATE $row.id SET n += $row.n RETURN NONE }", more)


def entity_row(entity: Entity, num: int) -> dict[str, Any]:
    owner, name, type = entity.key
    return {
        "id": entity.id,
        "num": num,
        "owner": owner,
        "counted_user": number_for(user_of(owner)),
        "name": entity.name,
        "folded": name,
        "type": entity.type,
        "folded_type": type,
        "created_at": entity.created,
        "description": entity.description,
        "stated": entity.stated,
    }


def _speaking(changes: Changes) -> set[MemoryId]:
    """Memories whose links are other ones. Where they are not saved, their own change number does not tell."""
    unlinked, stale = ((id for id, _ in some) for some in (changes.unlinked, changes.stale))
    return {*(link.memory for link in changes.links), *unlinked, *stale}


def _link(link: Link, called: Mapping[str, str], memory: Mapping[str, Any]) -> dict[str, Any]:
    entity = called.get(link.entity, link.entity)
    return {
        "id": [link.memory, entity, link.relationship],
        "in": record("memory", link.memory),
        "out": record("entity", entity),
        "relationship": link.relationship,
        "created_at": link.created,
        "by_rule": link.by_rule,
        "stale": link.stale,
        "place": memory["place"],
        "state": memory["state"],
        "recency": -memory["num"],
    }


def relation_row(relation: Relation, called: Mapping[str, str]) -> dict[str, Any]:
    source, target = (called.get(end, end) for end in (relation.source, relation.target))
    return {
        "id": relation_id(source, target, relation.type),
        "in": record("entity", source),
        "out": record("entity", target),
        "relationship": relation.type,
        "created_at": relation.created,
        "weight": float(relation.weight),
        "by_rule": relation.by_rule,
        "valid_from": relation.valid_from,
        "valid_until": relation.valid_until,
    }
