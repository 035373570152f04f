"""A glance at the store, for hooks: a read-only connection and plain SQL, with nothing to import but the standard
library and how words are cut.

It never makes, migrates or mends a store. What it leaves out is what the engine leaves out: other places, what is not
active or not valid now, and what faded. What a newer memory contradicts, undecided, comes with that one only.
"""

import os
import re
import sqlite3
import time

from retain.domain.category import HIDDEN, confidence
from retain.domain.choosing import MOST, above_floor, says_the_same, score
from retain.domain.order import Side, disputing, follow
from retain.domain.reliability import reliability
from retain.domain.telling import rarity, shared, telling
from retain.quick_json import parsed, written
from retain.stores.sqlite.words import queries, totals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from retain.domain.order import Pair

    Row = dict[str, Any]  # Any: a value of SQLite

SCHEMA = 14  # `migrations.CURRENT`, which hooks cannot afford to import
APPLICATION = 0x5274616E
WAIT = 20  # milliseconds for somebody's lock
_STEPS_PER_LOOK = 10_000
_TEXT = 1_000  # characters of a memory that a hook may show or look at
NEWEST = 400  # memories of a place that a summary is chosen from: several times what it can show
IMPORTANT, MOST_OTHERS = 0.8, 100  # where there are more, so many of at least this importance, and most used
MOST_MATCHES = 400  # texts whose words are compared, newest first
BEST = 40  # of these, so many are read whole
LEARNT = ("error_solution", "gotcha")
_DAY = 86_400.0

_COLUMNS = """m.num, m.id, m.title, substr(m.text, 1, 1000) as text, m.kind, m.category, m.scope, m.importance,
    m.updated / 1e6 as updated, m.created / 1e6 as created, m.session,
    max(m.event_time, coalesce(m.reinforced_at, m.event_time)) / 1e6 as said, m.consolidated, m.derived_from,
    json_extract(m.metadata, '$.said_by') as said_by, json_extract(m.source, '$.provenance') as provenance,
    json_extract(m.source, '$.file') as file"""
_HOLDS = "m.state = 'active' and m.valid_from <= :now and (m.valid_until is null or m.valid_until > :now)"
_SEEN = f"{_HOLDS} and m.place in (select value from json_each(:places))"
_ANY_PAIR = "select 1 from contradiction where state in ('open', 'reopened') limit 1"
_PAIRS = """select older, newer from contradiction
        where state in ('open', 'reopened') and older in (select value from json_each(:ids))
    union select older, newer from contradiction
        where state in ('open', 'reopened') and newer in (select value from json_each(:ids))"""
_LATEST = "select num from memory where place = ? and state = 'active' order by event_time desc limit ?"
# From the index alone, which has all of these columns.
_IMPORTANT = """select num from memory indexed by memory_changed where place = ? and state = 'active'
    and importance >= ? order by importance desc limit ?"""
_USED = """select m.num from access a cross join memory m on m.num = a.memory
    where m.place = ? and m.state = 'active' order by a.count desc limit ?"""


class CannotRead(Exception):
    """There is no store here that this version can read in a hurry; the message says why."""


class Sight:
    """From where somebody looks: the keys of the places, the session, and when its conversation was last cut."""

    __slots__ = ("lost", "places", "session")

    def __init__(self, places: "list[str]", session: "str | None" = None, lost: "float | None" = None) -> None:
        self.places = places
        self.session = session
        self.lost = lost


def opened(file: str, seconds: float) -> sqlite3.Connection:
    """A connection that gives up after so many seconds of work. Raises `CannotRead`."""
    late = time.monotonic() + seconds
    # Where nothing can be written, SQLite must not look for other writers: that takes a file of its own.
    alone = "" if os.access(os.path.dirname(file) or ".", os.W_OK) or _has_log(file) else "&immutable=1"
    address = f"file:{_address(file)}?mode=ro{alone}"
    try:
        db = sqlite3.connect(address, uri=True, timeout=0)
    except sqlite3.Error as error:
        raise CannotRead(f"{file} cannot be opened: {error}") from None
    try:
        db.execute(f"pragma busy_timeout = {WAIT}")
        (application,) = db.execute("pragma application_id").fetchone()
        (version,) = db.execute("pragma user_version").fetchone()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        db.close()
        raise CannotRead(f"{file} cannot be read: {error}") from None
    if application != APPLICATION or version != SCHEMA:
        db.close()
        raise CannotRead(f"{file} has schema {version} and this version reads {SCHEMA}; `retain doctor` says more")
    db.row_factory = sqlite3.Row
    db.set_progress_handler(lambda: time.monotonic() > late, _STEPS_PER_LOOK)
    return db


def _address(file: str) -> str:
    """A path as a part of a URI."""
    escaped = file.replace("%", "%25").replace("?", "%3f").replace("#", "%23").replace("\\", "/")
    return escaped if escaped.startswith("/") else f"/{escaped}"


def _has_log(file: str) -> bool:
    try:
        return os.stat(f"{file}-wal").st_size > 0
    except OSError:
        return False


def relevant(
    db: sqlite3.Connection, prompt: str, sight: Sight, now: float, categories: "tuple[str, ...]" = ()
) -> "list[tuple[Row, float]]":
    """What fits a prompt by its words, best first, each with how much of the prompt it says; often nothing.

    A word counts the more the fewer memories hold it, and one that everybody says counts little: one common word that
    both have is no hit.
    """
    asked = telling(prompt)
    holding = {term: _holding(db, term) for _, terms in asked for term in terms}
    rare = rarity(totals(db, "memory_words")[0], holding)
    told = [term for weight, terms in asked if weight == 1.0 for term in terms]
    held = _matching(db, queries(list(dict.fromkeys(told)), holding), sight, categories)
    share = {num: shared(asked, rare, words) for num, words in held.items()}
    rows = _rows(db, sorted(share, key=share.__getitem__, reverse=True)[:BEST], sight, now)
    rows = [row for row in rows if not _is_faded(row, now)]
    nums = {row["id"]: row["num"] for row in rows}
    fitting = above_floor({id: score(None, share[num]) for id, num in nums.items()})
    stands = _current(db, rows, sight, now)
    best: dict[str, tuple[Row, float]] = {}
    for id in fitting:
        best.setdefault(stands[id]["id"], (stands[id], share[nums[id]]))
    held |= _words(db, [row["num"] for row, _ in best.values() if row["num"] not in held])
    once = _once([row for row, _ in best.values()], held)
    return [best[row["id"]] for row in once if not _is_said_here(row, sight)]


def for_summary(db: sqlite3.Connection, sight: Sight, now: float, newest: int = NEWEST) -> "list[Row]":
    """What a summary can be made of, with how often each was used: of a large store the newest, the most important
    and the most used."""
    nums: set[int] = set()
    for place in sight.places:
        latest = db.execute(_LATEST, (place, newest)).fetchall()
        if len(latest) == newest:
            latest += db.execute(_IMPORTANT, (place, IMPORTANT, MOST_OTHERS)).fetchall()
            latest += db.execute(_USED, (place, MOST_OTHERS)).fetchall()
        nums.update(num for (num,) in latest)
    rows = _replaced(db, _rows(db, list(nums), sight, now), sight, now)
    told = {id for row in rows for id in _listed(row["derived_from"])}
    return [row for row in rows if not (row["consolidated"] and row["id"] in told)]


def naming(db: sqlite3.Connection, path: str, root: "str | None", sight: Sight, now: float) -> "list[Row]":
    """Memories that name a file, newest first. One that is called like a word needs a folder before its name."""
    steps = _steps(path, root)
    if not steps:
        return []
    from retain.domain.words import query_terms

    terms = query_terms("/".join(steps[-2:]))
    nums = _matching(db, [" OR ".join(f'"{term}"' for term in terms)] if terms else [], sight)
    found = _rows(db, list(nums), sight, now)
    named = [row for row in found if any(_is_end(steps, other, root) for other in _paths(row, steps[-1]))]
    shown = [row for row in _replaced(db, named, sight, now) if not _is_said_here(row, sight)]
    return sorted(shown, key=lambda row: row["id"], reverse=True)[:MOST]


def fixes(db: sqlite3.Connection, error: str, sight: Sight, now: float) -> "list[tuple[Row, float]]":
    """What was learnt of an error like this one."""
    return relevant(db, error, sight, now, LEARNT)


def captured(db: sqlite3.Connection, place: str, after: str, now: float) -> "list[str]":
    """Ids above another one of what was captured from conversations and holds now, newest first."""
    # With an id to begin from, few are left to look at; without one, all of the place are.
    plus = "+" if after else ""
    query = f"""select m.id from memory m where m.id > :after and {plus}m.place = :place
        and {plus}{_HOLDS} and json_extract(m.source, '$.tool') = 'capture' order by m.id desc"""
    return [id for (id,) in db.execute(query, {"after": after, "place": place, "now": int(now * 1e6)})]


def held_in(db: sqlite3.Connection, places: "list[str]") -> int:
    """How many active memories these places hold."""
    query = "select count(*) from memory where state = 'active' and place in (select value from json_each(?))"
    return int(db.execute(query, (written(places),)).fetchone()[0])


def pending(file: str) -> int:
    """How many writes wait in a queue for a database on a server; none where there is no queue that can be read."""
    try:
        db = sqlite3.connect(f"file:{_address(file)}?mode=ro", uri=True, timeout=WAIT / 1000)
        try:
            return int(db.execute("select count(*) from plan where why is null or why = ''").fetchone()[0])
        finally:
            db.close()
    except sqlite3.Error:
        return 0


def texts(db: sqlite3.Connection, ids: "Iterable[str]", user: str) -> "dict[str, tuple[str, str]]":
    """What somebody's memories say and in which state each is, by id; the purged say nothing."""
    query = f"""select id, substr(text, 1, {_TEXT}), state from memory
        where user = ? and id in (select value from json_each(?))"""
    return {id: (text, state) for id, text, state in db.execute(query, (user, written(list(ids))))}


def _holding(db: sqlite3.Connection, term: str) -> int:
    row = db.execute("select doc from memory_terms where term = ?", (term,)).fetchone()
    return row[0] if row else 0


def _matching(
    db: sqlite3.Connection, tried: "list[str]", sight: Sight, categories: "tuple[str, ...]" = ()
) -> "dict[int, set[str]]":
    """The words of all that match the first of the queries that matches anything, by number; newest first."""
    chosen = f"and m.category in ({','.join('?' * len(categories))})" if categories else ""
    query = f"""select m.num, w.words from memory_words w cross join memory m on m.num = w.rowid
        where w.memory_words match ? and m.place in ({",".join("?" * len(sight.places))}) and m.state = 'active'
          {chosen} order by w.rowid desc limit {MOST_MATCHES}"""
    for match in tried:
        if found := db.execute(query, (match, *sight.places, *categories)).fetchall():
            return {num: set(words.split()) for num, words in found}
    return {}


def _rows(db: sqlite3.Connection, keys: "Collection[object]", sight: Sight, now: float, by: str = "num") -> "list[Row]":
    """Those of the memories that may be shown."""
    query = f"""select {_COLUMNS}, coalesce(a.count, 0) as accesses
        from memory m left join access a on a.memory = m.num
        where m.{by} in (select value from json_each(:keys)) and {_SEEN}"""
    bound = {"keys": written(list(keys)), "now": int(now * 1e6), "places": written(sight.places)}
    return [dict(row) for row in db.execute(query, bound)]


def _words(db: sqlite3.Connection, nums: "list[int]") -> "dict[int, set[str]]":
    query = f"select rowid, words from memory_words where rowid in ({','.join('?' * len(nums))})"
    return {num: set(words.split()) for num, words in db.execute(query, nums)} if nums else {}


def _replaced(db: sqlite3.Connection, rows: "list[Row]", sight: Sight, now: float) -> "list[Row]":
    """The rows, each once, in which what a newer one contradicts gives way to that."""
    return list({row["id"]: row for row in _current(db, rows, sight, now).values()}.values())


def _current(db: sqlite3.Connection, rows: "list[Row]", sight: Sight, now: float) -> "dict[str, Row]":
    """What stands for each of the rows, by its id, with what was said before that, if anything, as `earlier`."""
    known = {row["id"]: row for row in rows}
    if db.execute(_ANY_PAIR).fetchone() is None:  # as in most stores
        return known

    def look(ids: "list[str]") -> "list[Pair]":
        pairs = db.execute(_PAIRS, {"ids": written(ids)}).fetchall()
        missing = {id for pair in pairs for id in pair} - known.keys()
        known.update({row["id"]: row for row in _rows(db, missing, sight, now, "id")} if missing else {})
        shown = [disputing(*map(_side, map(known.__getitem__, pair))) for pair in pairs if known.keys() >= set(pair)]
        return [pair for pair in shown if not _is_faded(known[pair.leading.id], now)]

    order = follow([row["id"] for row in rows], look)
    stands = {row["id"]: known[order.newest(row["id"])] for row in rows}
    for row in stands.values():
        before = known.get(order.before(row["id"]) or "")
        if before and not _is_faded(before, now):
            row["earlier"] = before
    return stands


def _side(row: "Row") -> Side:
    return Side(row["id"], row["said"], reliability(row["provenance"], row["said_by"]))


def _is_said_here(row: "Row", sight: Sight) -> bool:
    """Whether the agent has it before it anyway, since it was said in this conversation."""
    is_here = row["session"] is not None and row["session"] == sight.session
    return is_here and (sight.lost is None or row["created"] > sight.lost)


def _listed(text: str) -> "list[str]":
    found = parsed(text) if text != "[]" else []
    return found if isinstance(found, list) else []


def _is_faded(row: "Row", now: float) -> bool:
    return confidence(row["category"], (now - row["updated"]) / _DAY) < HIDDEN


def _once(rows: "list[Row]", held: "dict[int, set[str]]") -> "list[Row]":
    """Of near duplicates the best, of a summary and what it speaks for the summary."""
    told = {id for row in rows for id in _listed(row["derived_from"])}
    kept: list[Row] = []
    for row in rows:
        if row["consolidated"] and row["id"] in told:
            continue
        if not any(says_the_same(held[row["num"]], held[other["num"]]) for other in kept):
            kept.append(row)
    return kept


def _steps(path: str, root: "str | None") -> "list[str]":
    slashed = path.replace("\\", "/")
    top = (root or "").replace("\\", "/").rstrip("/")
    if top and slashed.startswith(f"{top}/"):
        slashed = slashed[len(top) :]
    return [step for step in slashed.split("/") if step.strip(".")]


def _paths(row: "Row", name: str) -> "list[str]":
    """The paths in a memory that end with a name."""
    said = f"{row['text']}\n{row['file'] or ''}".replace("\\", "/")
    return re.findall(rf"(?<![\w./~-])[\w./~-]*(?<![\w.-]){re.escape(name)}(?![\w/-]|\.\w)", said)


def _is_end(steps: "list[str]", other: str, root: "str | None") -> bool:
    named = _steps(other, root)
    if len(named) == 1 and steps[-1].isalpha() and steps[-1].islower():
        return False
    shorter = min(len(named), len(steps))
    return named[-shorter:] == steps[-shorter:]
