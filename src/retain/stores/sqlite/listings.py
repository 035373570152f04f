"""Listings: light rows of everything that passes a filter, in pages that others cannot shift, and counts over all."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from retain.domain.graph import Tie, fold
from retain.domain.listing import OPENING, Card, Page, Row
from retain.domain.memory import MemoryId, Place, Stored
from retain.domain.recall import Filter
from retain.domain.words import terms as index_terms
from retain.stores.moments import micros, moment
from retain.stores.newest import portions
from retain.stores.sqlite.filters import where
from retain.stores.sqlite.rows import AMONG, KINDS, STORED, among, stored

_CARD = f"""m.id, m.title, substr(m.text, 1, {OPENING}), length(m.text), m.kind, m.category, m.tags, m.created,
    m.updated"""

# From each tag to the next one by the index: there are few of them, and many memories that carry them.
_EACH_TAG = """with recursive each(tag) as (
        select min(tag) from tag
        union all select (select min(tag) from tag where tag > each.tag) from each where each.tag is not null)
    select each.tag, m.tags from each
    join memory m on m.num = (select memory from tag where tag = each.tag limit 1) where each.tag is not null"""

_NEWEST = "order by event_time desc, id desc"


def page(db: sqlite3.Connection, wanted: Filter, limit: int, offset: int, beyond: Row | None) -> Page[Card]:
    """By when it happened and then by id, which a row keeps: a number is given to another once it is free."""
    parts, values = [], []
    for portion in portions(wanted):
        conditions, bound = _after(portion, beyond)
        parts.append(f"select * from (select num, event_time, id from memory m where {conditions} {_NEWEST} limit ?)")
        values += [*bound, limit + offset]
    chosen = f"select num from ({' union all '.join(parts)}) {_NEWEST} limit ? offset ?"
    query = f"select {_CARD}, m.event_time from memory m where m.num in ({chosen})"
    found = db.execute(f"{query} order by m.event_time desc, m.id desc", (*values, limit, offset)).fetchall()
    conditions, values = _after(wanted, beyond, everything=True)
    (total,) = db.execute(f"select count(*) from memory m where {conditions}", values).fetchone()
    last = Row(moment(found[-1][9]), found[-1][0]) if found else None
    return Page([_card(row[:9]) for row in found], last, total)


def _after(wanted: Filter, beyond: Row | None, *, everything: bool = False) -> tuple[str, list[Any]]:
    conditions, values = where(wanted, everything=everything)
    if beyond is None:
        return conditions, values
    at = micros(beyond.at)
    # Said twice: the first is a range of the index, the second looks at a row only where the times are equal.
    later = "m.event_time <= ? and (m.event_time < ? or m.id < ?)"
    return f"{conditions} and {later}", [*values, at, at, beyond.id]


def cards(db: sqlite3.Connection, ids: Sequence[MemoryId]) -> dict[MemoryId, Card]:
    rows = db.execute(f"select {_CARD} from memory m where m.id {AMONG}", (among(ids),))
    found = {row[0]: _card(row) for row in rows}
    return {id: found[id] for id in ids if id in found}


def holding(db: sqlite3.Connection, terms: Sequence[str], wanted: Filter) -> set[MemoryId]:
    if not terms:
        return set()
    conditions, values = where(wanted)
    said = f"""select m.id from memory_words cross join memory m on m.num = memory_words.rowid
        where memory_words match ? and {conditions}"""
    tagged = f"select m.id from tag t cross join memory m on m.num = t.memory where t.tag {AMONG} and {conditions}"
    any_of = " OR ".join(f'"{term}"' for term in terms)
    rows = db.execute(f"{said} union {tagged}", (any_of, *values, among(_tags_with(db, terms)), *values))
    return {row[0] for row in rows}


def _tags_with(db: sqlite3.Connection, wanted: Sequence[str]) -> list[str]:
    """The keys of all tags with any of these terms, each as some memory spells it: `PaymentGateway` has three."""
    rows = ((key, json.loads(written)) for key, written in db.execute(_EACH_TAG))
    spelled = ((key, next((tag for tag in written if fold(tag) == key), key)) for key, written in rows)
    return [key for key, tag in spelled if not set(wanted).isdisjoint(index_terms(tag))]


def titled(db: sqlite3.Connection, place: Place, title_key: str) -> Stored | None:
    query = f"{STORED} where m.place = ? and m.title_key = ? and +m.state = 'active' order by m.num limit 1"
    row = db.execute(query, (place.key, title_key)).fetchone()
    return stored(row) if row else None


def titles(db: sqlite3.Connection, wanted: Filter) -> list[tuple[MemoryId, str]]:
    conditions, values = where(wanted, everything=True)
    query = f"select m.id, m.title from memory m where m.title_key is not null and {conditions}"
    return [(id, title) for id, title in db.execute(f"{query} order by m.event_time desc, m.id desc", values)]


def tags(db: sqlite3.Connection, wanted: Filter) -> dict[str, int]:
    """As they are written in the memory that was stored last with them."""
    conditions, values = where(wanted, everything=True)
    passing = f"select num from memory m where {conditions}"
    rows = db.execute(
        f"""select t.tag, t.memories, m.tags from (
              select tag, count(*) as memories, max(memory) as last from tag where memory in ({passing}) group by tag) t
            join memory m on m.num = t.last""",
        values,
    )
    spelled = ((key, memories, json.loads(written)) for key, memories, written in rows)
    return {next((t for t in written if fold(t) == key), key): memories for key, memories, written in spelled}


def ties(db: sqlite3.Connection, memories: Sequence[MemoryId]) -> list[Tie]:
    these = among(memories)
    rows = db.execute(
        f"""select source, target, type, created, strength from tie where source {AMONG} or target {AMONG}
            order by created, source, target""",
        (these, these),
    )
    return [tie_of(row) for row in rows]


def tied(db: sqlite3.Connection, types: Sequence[str], places: Sequence[Place]) -> int:
    here = among(place.key for place in places)
    query = f"""select count(*) from tie t join memory s on s.id = t.source join memory e on e.id = t.target
        where t.type {AMONG} and s.place {AMONG} and e.place {AMONG}"""
    return int(db.execute(query, (among(types), here, here)).fetchone()[0])


def tie_of(row: Any) -> Tie:
    return Tie(row[0], row[1], row[2], moment(row[3]), row[4])


def _card(row: Any) -> Card:
    id, title, opening, length, kind, category, tags, created, updated = row
    return Card(
        *(id, title, opening, length, KINDS[kind], category, tuple(json.loads(tags))),
        *(moment(created), moment(updated)),
    )
