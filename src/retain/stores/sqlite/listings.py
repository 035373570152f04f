"""Listings: light rows of everything that passes a filter, in pages that others cannot shift, and counts over all."""

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Any

from retain.domain.graph import Tie
from retain.domain.listing import OPENING, Card, Page, Row
from retain.domain.memory import MemoryId, Place, Stored
from retain.domain.recall import Filter
from retain.stores.sqlite.filters import where
from retain.stores.sqlite.rows import AMONG, KINDS, STORED, among, micros, moment, stored

_CARD = f"""m.id, m.title, substr(m.text, 1, {OPENING}), length(m.text), m.kind, m.category, m.tags, m.created,
    m.updated"""


def page(db: sqlite3.Connection, wanted: Filter, limit: int, offset: int, beyond: Row | None) -> Page[Card]:
    """By when it happened and then by id, which a row keeps: a number is given to another once it is free."""
    conditions, values = where(wanted)
    if beyond is not None:
        conditions += " and (m.event_time, m.id) < (?, ?)"
        values += [micros(beyond.at), beyond.id]
    query = f"select {_CARD}, m.event_time from memory m where {conditions}"
    rows = db.execute(f"{query} order by m.event_time desc, m.id desc limit ? offset ?", (*values, limit, offset))
    found = rows.fetchall()
    (total,) = db.execute(f"select count(*) from memory m where {conditions}", values).fetchone()
    last = Row(moment(found[-1][9]), found[-1][0]) if found else None
    return Page([_card(row[:9]) for row in found], last, total)


def cards(db: sqlite3.Connection, ids: Sequence[MemoryId]) -> dict[MemoryId, Card]:
    rows = db.execute(f"select {_CARD} from memory m where m.id {AMONG}", (among(ids),))
    found = {row[0]: _card(row) for row in rows}
    return {id: found[id] for id in ids if id in found}


def holding(db: sqlite3.Connection, terms: Sequence[str], wanted: Filter) -> set[MemoryId]:
    if not terms:
        return set()
    conditions, values = where(wanted)
    rows = db.execute(
        f"""select m.id from memory_words cross join memory m on m.num = memory_words.rowid
            where memory_words match ? and {conditions}""",
        (" OR ".join(f'"{term}"' for term in terms), *values),
    )
    return {row[0] for row in rows}


def titled(db: sqlite3.Connection, place: Place, title_key: str) -> Stored | None:
    query = f"{STORED} where m.place = ? and m.title_key = ? and +m.state = 'active' order by m.num limit 1"
    row = db.execute(query, (place.key, title_key)).fetchone()
    return stored(row) if row else None


def titles(db: sqlite3.Connection, wanted: Filter) -> list[tuple[MemoryId, str]]:
    conditions, values = where(wanted)
    query = f"select m.id, m.title from memory m where m.title_key is not null and {conditions}"
    return [(id, title) for id, title in db.execute(f"{query} order by m.event_time desc, m.id desc", values)]


def tags(db: sqlite3.Connection, wanted: Filter) -> dict[str, int]:
    """As they are written; one that is written in several ways is counted by its commonest."""
    conditions, values = where(wanted)
    written: dict[str, Counter[str]] = {}
    for (listed,) in db.execute(f"select m.tags from memory m where m.tags <> '[]' and {conditions}", values):
        for tag in json.loads(listed):
            written.setdefault(tag.casefold(), Counter())[tag] += 1
    return {ways.most_common(1)[0][0]: ways.total() for ways in written.values()}


def ties(db: sqlite3.Connection, memories: Sequence[MemoryId]) -> list[Tie]:
    these = among(memories)
    rows = db.execute(
        f"""select source, target, type, created, strength from tie where source {AMONG} or target {AMONG}
            order by created, source, target""",
        (these, these),
    )
    return [tie_of(row) for row in rows]


def tie_of(row: Any) -> Tie:
    return Tie(row[0], row[1], row[2], moment(row[3]), row[4])


def _card(row: Any) -> Card:
    id, title, opening, length, kind, category, tags, created, updated = row
    return Card(
        *(id, title, opening, length, KINDS[kind], category, tuple(json.loads(tags))),
        *(moment(created), moment(updated)),
    )
