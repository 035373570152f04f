"""Reading memories: by id, by place, by words, and the neighbours they were said among."""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from retain.domain.memory import Event, HistoryEntry, Memory, MemoryId, Place, Scope, State, Stored
from retain.domain.model import alike
from retain.domain.recall import Filter, Found
from retain.ports import Context, Corpus, Counts
from retain.stores.moments import moment, rest_of
from retain.stores.neighbours import next_to
from retain.stores.newest import MOST as MOST_PORTIONS
from retain.stores.newest import portions
from retain.stores.sqlite.filters import where
from retain.stores.sqlite.graph import owners_of
from retain.stores.sqlite.rows import AMONG, KINDS, SCOPES, STORED, among, stored
from retain.stores.sqlite.vectors import model_numbers
from retain.stores.sqlite.words import all_of, queries, totals
from retain.stores.wording import ENOUGH, MOST

_NEWEST = "order by event_time desc, num desc"


def by_ids(db: sqlite3.Connection, ids: Sequence[MemoryId]) -> dict[MemoryId, Stored]:
    rows = db.execute(f"{STORED} where m.id {AMONG}", (among(ids),))
    found = {row[0]: stored(row) for row in rows}
    return {id: found[id] for id in ids if id in found}


def destroyed(db: sqlite3.Connection, ids: Sequence[MemoryId]) -> set[MemoryId]:
    return {row[0] for row in db.execute(f"select id from tombstone where id {AMONG}", (among(ids),))}


def twin(db: sqlite3.Connection, place: Place, fingerprint: str, states: Sequence[State]) -> Stored | None:
    row = db.execute(
        # The plus: by fingerprint, which few share, not by state.
        f"""{STORED} where m.place = ? and m.fingerprint = ? and +m.state {AMONG} order by m.state <> 'active',
            iif(m.state = 'active', null, m.state_since) desc, iif(m.state = 'active', m.num, -m.num) limit 1""",
        (place.key, fingerprint, among(state.value for state in states)),
    ).fetchone()
    return stored(row) if row else None


def listed(db: sqlite3.Connection, wanted: Filter, limit: int, offset: int) -> list[Stored]:
    """Newest first. Each place and state, and each category of these where some are asked for, gives its own newest, in
    the order of an index; the newest of those remain."""
    parts, values = [], []
    for portion in _by_category(portions(wanted)):
        conditions, bound = where(portion)
        parts.append(f"select * from (select num, event_time from memory m where {conditions} {_NEWEST} limit ?)")
        values += [*bound, limit + offset]
    if not parts:
        return []
    chosen = f"select num from ({' union all '.join(parts)}) {_NEWEST} limit ? offset ?"
    rows = db.execute(
        f"{STORED} where m.num in ({chosen}) order by m.event_time desc, m.num desc", (*values, limit, offset)
    )
    return [stored(row) for row in rows]


def _by_category(portions: Sequence[Filter]) -> Sequence[Filter]:
    each = [replace(p, categories=(category,)) for p in portions for category in dict.fromkeys(p.categories)]
    return each if 0 < len(each) <= MOST_PORTIONS else portions


def total(db: sqlite3.Connection, wanted: Filter) -> int:
    conditions, values = where(wanted, everything=True)
    return int(db.execute(f"select count(*) from memory m where {conditions}", values).fetchone()[0])


def by_words(
    db: sqlite3.Connection, terms: Sequence[str], known: Corpus, wanted: Filter, limit: int, *, counted: bool
) -> Found:
    conditions, values = where(wanted)
    matching = f"""from memory_words cross join memory m on m.num = memory_words.rowid
                   where memory_words match ? and {conditions}"""
    # In the order of the index, so that ranks are worked out only for what passes the filter.
    ranking = f"select m.id, -rank, m.num {matching} order by memory_words.rowid desc limit ?"
    ranked: dict[MemoryId, float] = {}
    keys: set[int] = set()
    tried = queries(terms, known.holding)
    for query in tried:
        for id, score, num in db.execute(ranking, (query, *values, MOST)):
            ranked[id] = score
            keys.add(num)
        if len(ranked) >= ENOUGH:
            break
    everything = all_of(terms, known.holding, known.documents) if counted else None
    if everything and (everything != tried[0] or len(ranked) == MOST):
        # As one JSON array: thousands of rows of one number each take three times as long.
        (row,) = db.execute(f"select json_group_array(m.num) {matching}", (everything, *values)).fetchone()
        keys.update(json.loads(row))
    best = sorted(ranked, key=ranked.__getitem__, reverse=True)[:limit]
    return Found({id: ranked[id] for id in best}, keys, everything is not None, known)


def contexts(
    db: sqlite3.Connection, ids: Sequence[MemoryId], wanted: Filter, reach: int, beside: Collection[MemoryId]
) -> list[Context]:
    found = _contexts(db, ids, wanted, reach)
    further = next_to(found, beside)
    return found + _contexts(db, further, wanted, reach) if further else found


def _contexts(db: sqlite3.Connection, ids: Sequence[MemoryId], wanted: Filter, reach: int) -> list[Context]:
    conditions, values = where(wanted)
    rows = db.execute(
        f"""select m.num, m.id, m.text, coalesce(w.c0, ''), m.kind, m.scope, m.importance, m.event_time,
                   max(m.event_time, coalesce(m.reinforced_at, m.event_time)), m.consolidated,
                   m.state = 'dormant'
            from json_each(?) given cross join memory m on m.id = given.value
              left join memory_words_content w on w.id = m.num
            where {conditions}""",
        (among(ids), *values),
    ).fetchall()
    neighbours = _beside(db, [row[0] for row in rows], reach) if reach else {}
    found = {
        id: Context(
            memory=id,
            text=text,
            words=words,
            neighbours=neighbours.get(num, ()),
            kind=KINDS[kind],
            scope=SCOPES[scope],
            importance=importance,
            happened=moment(happened),
            last_said=moment(said),
            consolidated=bool(consolidated),
            asleep=bool(asleep),
        )
        for num, id, text, words, kind, scope, importance, happened, said, consolidated, asleep in rows
    }
    return [found[id] for id in ids if id in found]


def _beside(db: sqlite3.Connection, nums: Sequence[int], reach: int) -> dict[int, list[tuple[int, MemoryId, str]]]:
    """What was said near each memory in the same session and place: how far away, by which id, in which words."""
    rows = db.execute(
        """select a.num, b.position - a.position, b.id, coalesce(w.c0, '')
            from json_each(?) given cross join memory a on a.num = given.value cross join memory b
              on b.session = a.session and b.position between a.position - ? and a.position + ?
             and b.num <> a.num and b.place = a.place and b.state = 'active'
              left join memory_words_content w on w.id = b.num""",
        (among(nums), reach, reach),
    )
    found: dict[int, list[tuple[int, MemoryId, str]]] = defaultdict(list)
    for num, distance, id, words in rows:
        found[num].append((distance, id, words))
    return found


def corpus(db: sqlite3.Connection, holding: dict[str, int]) -> Corpus:
    documents, length = totals(db, "memory_words")
    return Corpus(documents, length / documents if documents else 0.0, holding)


def history(db: sqlite3.Connection, ids: Sequence[MemoryId]) -> list[HistoryEntry]:
    rows = db.execute(
        f"""select memory, version, event, text, importance, tags, scope, at, reason, rest from history
            where memory {AMONG} order by rowid""",
        (among(ids),),
    )
    return [entry_of(row) for row in rows]


def entry_of(row: Sequence[Any]) -> HistoryEntry:
    memory, version, event, text, importance, tags, scope, at, reason, rest = row
    said = (text, importance, tuple(json.loads(tags)), Scope(scope))
    return HistoryEntry(memory, version, Event(event), *said, moment(at), reason, rest_of(rest))


def unembedded(
    db: sqlite3.Connection, model: str, limit: int, *, by_others: bool, earlier: bool, user: str | None
) -> list[tuple[Memory, int]]:
    """Active memories without all of their vectors by this model, and how many chunks each has already."""
    rows = db.execute(
        f"""{STORED} where m.num in (select num from memory where {_lacking(db, model, by_others, earlier)})
            and m.state <> 'forgotten' and (?1 is null or m.user = ?1) order by m.num limit ?2""",
        (user, limit),
    ).fetchall()
    if not rows:
        return []
    made = dict(
        db.execute(
            f"""select m.id, count(*) from sign s join memory m on m.num = s.memory
                where s.model = (select num from model where name = ?) and m.id {AMONG} group by m.id""",
            (model, among(row[0] for row in rows)),
        )
    )
    return [(stored(row).memory, made.get(row[0], 0)) for row in rows]


def uncompared(db: sqlite3.Connection, limit: int, user: str | None) -> list[Memory]:
    rows = db.execute(
        f"""{STORED} where m.num in (select num from memory where compared = 0)
            and m.state = 'active' and (?1 is null or m.user = ?1) order by m.num limit ?2""",
        (user, limit),
    )
    return [stored(row).memory for row in rows]


def _lacking(db: sqlite3.Connection, model: str, by_others: bool = True, earlier: bool = False) -> str:
    """The condition for a memory that this model has not embedded whole, as ranges of an index."""
    own, good = model_numbers(db, [model]), model_numbers(db, alike(model))
    every = [num for (num,) in db.execute("select num from model")]
    wrong = [num for num in every if (num not in good and by_others) or (num in good and num not in own and earlier)]
    partly = "".join(f" or (model = {num} and chunks_missing > 0)" for num in good)
    return f"model is null{partly}" + "".join(f" or model = {num}" for num in wrong)


def counts(db: sqlite3.Connection, user: str, model: str) -> Counts:
    query = "select state, scope, kind, count(*) from memory where user = ? group by state, scope, kind"
    by_state, by_scope, by_kind = Counter[str](), Counter[str](), Counter[str]()
    for state, scope, kind, count in db.execute(query, (user,)):
        by_state[state] += count
        if state == State.ACTIVE:
            by_scope[scope] += count
            by_kind[kind] += count
    mine = f"owner {AMONG}", (among(owners_of(db, user)),)
    (entities,) = db.execute(f"select count(*) from entity where {mine[0]}", mine[1]).fetchone()
    (relations,) = db.execute(
        f"select count(*) from relation r join entity e on e.id = r.source where {mine[0]}", mine[1]
    ).fetchone()
    (unembedded,) = db.execute(
        f"""select count(*) from memory where num in (select num from memory where {_lacking(db, model)})
            and +user = ? and +state = 'active'""",  # the plus: by number, of which there are few, not by user
        (user,),
    ).fetchone()
    query = "select count(*) from memory where compared = 0 and +user = ? and +state = 'active'"
    (uncompared,) = db.execute(query, (user,)).fetchone()
    newest = "select model from memory where model is not null order by num desc limit 1"
    dimensions = db.execute(f"select dimensions from model where num = ({newest})").fetchone()
    (code_chunks,) = db.execute(
        "select count(*) from code_chunk where owner in (select key from code_index where user = ?)", (user,)
    ).fetchone()
    return Counts(
        *(by_scope.total(), by_scope, by_kind, by_state, entities, relations, unembedded),
        dimensions[0] if dimensions else 0,
        code_chunks,
        uncompared,
    )


def numbers(db: sqlite3.Connection, ids: Sequence[MemoryId], model: str) -> list[tuple[MemoryId, bytes]]:
    """Stored vectors of memories, chunk by chunk."""
    return db.execute(
        f"""select m.id, v.numbers from memory m join sign s on s.memory = m.num join vector v on v.num = s.num
            where m.id {AMONG} and s.model {AMONG} order by m.num, s.chunk""",
        (among(ids), among(model_numbers(db, alike(model)))),
    ).fetchall()
