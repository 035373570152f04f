"""Candidates as they were said, with their neighbours in the session, all of it in one message."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from retain.domain.memory import MemoryId
from retain.domain.recall import Filter
from retain.ports import Context
from retain.stores.neighbours import next_to
from retain.stores.surreal.filters import where
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.rows import KINDS, SCOPES, Row
from retain.stores.surreal.words import as_said

_SPOKEN = "id, num, content, words, type, scope, importance, event_time, reinforced_at, consolidated, state"
_WHERE_SAID = "session_id, position, place"
_IN_SESSION = "FROM $spoken WHERE session_id != NULL"
# Of texts that are near several memories each is read several times: a range costs more than what is in it.
_NEAR = """
LET $spoken = (SELECT {fields} FROM $ids WHERE {conditions});
LET $also = array::flatten((SELECT VALUE (SELECT VALUE memory FROM {next_to}) {in_session} AND id IN $beside));
RETURN $spoken;
SELECT VALUE (SELECT VALUE [id, place, memory, words] FROM {near}) {in_session};
SELECT {fields} FROM array::complement(array::distinct($also), $ids) WHERE {conditions}"""
Spot = tuple[str, int]
Said = tuple[str, MemoryId, str]  # the place, the memory and its words


def contexts(
    db: Database, ids: Sequence[MemoryId], wanted: Filter, reach: int, beside: Collection[MemoryId]
) -> list[Context]:
    if not ids:
        return []
    conditions, bound = where(wanted)
    bound |= {"ids": records("memory", ids)}
    if not reach:
        rows = db.rows(f"SELECT {_SPOKEN} FROM $ids WHERE {conditions}", **bound)
        return _in_order(ids, [_context(row, ()) for row in rows])
    query = _NEAR.format(
        fields=f"{_SPOKEN}, {_WHERE_SAID}",
        conditions=conditions,
        in_session=_IN_SESSION,
        next_to=_within(1),
        # What is beside a memory has neighbours one step further on.
        near=_within(reach + 1 if beside else reach),
    )
    *_, rows, texts, further = db.run(query, beside=records("memory", beside), **bound)
    said = _by_spot(text for some in texts for text in some)
    found = _in_order(ids, [_context(row, _beside(row, said, reach)) for row in rows])
    return found + _in_order(next_to(found, beside), [_context(row, _beside(row, said, reach)) for row in further])


def _within(reach: int) -> str:
    """What was said at most so many steps before and after a memory, which is there as the `$parent`."""
    session, position = "$parent.session_id", "$parent.position"
    span = f"[{session}, {position} - {reach}]..[{session}, {position} + {reach + 1}]"
    return f"type::record('text', {span}) WHERE state = 'active'"


def _in_order(ids: Iterable[MemoryId], found: Iterable[Context]) -> list[Context]:
    known = {context.memory: context for context in found}
    return [known[id] for id in ids if id in known]


def _by_spot(texts: Iterable[Any]) -> dict[Spot, list[Said]]:
    """By session and position, each text once; of those in one spot the first that was stored comes first."""
    found: dict[Spot, list[Said]] = {}
    for (session, position, _), (place, memory, words) in sorted({(*id,): (*said,) for id, *said in texts}.items()):
        found.setdefault((session, position), []).append((place, memory, as_said(words)))
    return found


def _beside(row: Row, said: Mapping[Spot, Sequence[Said]], reach: int) -> Iterator[tuple[int, MemoryId, str]]:
    """What was said near a memory in the same session and place: how far away, by which id, in which words."""
    if not said or not row["session_id"]:
        return
    for step in range(-reach, reach + 1):
        for place, id, text in said.get((row["session_id"], row["position"] + step), ()):
            if place == row["place"] and id != row["id"]:
                yield step, id, text


def _context(row: Row, neighbours: Iterable[tuple[int, MemoryId, str]]) -> Context:
    return Context(
        memory=row["id"],
        text=row["content"],
        words=row["words"],
        neighbours=list(neighbours) or (),
        kind=KINDS[row["type"]],
        scope=SCOPES[row["scope"]],
        importance=row["importance"],
        happened=row["event_time"],
        last_said=max(row["event_time"], row["reinforced_at"] or row["event_time"]),
        consolidated=row["consolidated"],
        asleep=row["state"] == "dormant",
    )
