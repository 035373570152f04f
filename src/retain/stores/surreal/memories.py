"""Reading memories: by id, by place, by words, and the neighbours they were said among."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from operator import itemgetter
from typing import Any

from retain.domain.memory import Event, HistoryEntry, Memory, MemoryId, Place, Scope, State, Stored
from retain.domain.recall import Filter, Found
from retain.ports import Context, Corpus, Counts
from retain.stores.moments import rest_of
from retain.stores.surreal import words
from retain.stores.surreal.cbor import records
from retain.stores.surreal.counting import owned
from retain.stores.surreal.database import Statements
from retain.stores.surreal.filters import where
from retain.stores.surreal.newest import newest, total
from retain.stores.surreal.rows import FIELDS, KINDS, SCOPES, STORED, stored
from retain.stores.surreal.tables import Tables

_SPOKEN = "id, num, content, words, type, scope, importance, event_time, reinforced_at, consolidated"
_WHERE_SAID = "session_id, position, place"
_SAID = """RETURN array::flatten($spans.map(|$span| (SELECT VALUE [id, place, memory, words]
    FROM type::record('text', $span[0]..$span[1]) WHERE state = 'active')))"""
_ENTRY = "id, memory, version, event, content, importance, tags, scope, changed_at, reason, rest"
# Memories that this model has not embedded whole, as ranges of one index; the last is of those that another one has.
_LACKING = (
    "model = NULL AND chunks_missing = 0",
    "model = $model AND chunks_missing >= 1",
    "model IN $others",
)
_OTHERS = "LET $others = (SELECT VALUE id.id() FROM model WHERE id.id() != $model)"
_BY_MODEL = "FROM memory WITH INDEX memory_embedded WHERE"
_CODE = """SELECT count() AS n FROM code_chunk
    WHERE owner IN (SELECT VALUE id.id() FROM code_index WHERE user = $user) GROUP ALL"""
Spot = tuple[str, int]
Said = tuple[str, MemoryId, str]  # the place, the memory and its words


class MemoryTables(Tables):
    """`ports.MemoryStore` but for vectors."""

    def memories(self, ids: Sequence[MemoryId]) -> dict[MemoryId, Stored]:
        if not ids:
            return {}
        rows, used = self.db.run(
            f"SELECT {FIELDS} FROM $ids; SELECT id, count, last FROM $used",
            ids=records("memory", ids),
            used=records("access", ids),
        )
        accesses = {row["id"]: row for row in used}
        found = {row["id"]: stored({**row, "access": accesses.get(row["id"])}) for row in rows}
        return {id: found[id] for id in ids if id in found}

    def destroyed(self, ids: Sequence[MemoryId]) -> set[MemoryId]:
        return set(self.db.rows("SELECT VALUE id FROM $ids", ids=records("tombstone", ids)))

    def twin(self, place: Place, fingerprint: str, *, ended: bool = False) -> Stored | None:
        wanted = "!= $active ORDER BY state_since DESC, num DESC" if ended else "= $active ORDER BY num"
        row = self.db.row(
            # By fingerprint, which few share, not by state.
            f"""SELECT {STORED}, num FROM memory WITH INDEX memory_twin
                WHERE place = $place AND fingerprint = $fingerprint AND state {wanted} LIMIT 1""",
            place=place.key,
            fingerprint=fingerprint,
            active=State.ACTIVE.value,
        )
        return stored(row) if row else None

    def listed(self, wanted: Filter, limit: int, offset: int = 0) -> list[Stored]:
        """Each place and state gives its own newest, in the order of an index; the newest of those remain."""
        parts, bound = newest(wanted, limit + offset, "id, happened, num, age, back")
        if not parts:
            return []
        order = "ORDER BY happened DESC, num DESC"
        rows: list[Any] = self.db.run(
            f"""LET $best = (SELECT * FROM array::flatten([{", ".join(parts)}]) {order} LIMIT {limit} START {offset});
                SELECT {STORED}, happened, num FROM $best.id {order}""",
            **bound,
        )[-1]
        return [stored(row) for row in rows]

    def total(self, wanted: Filter) -> int:
        return total(self.db, wanted)

    def by_words(self, terms: Sequence[str], wanted: Filter, limit: int, *, counted: bool = False) -> Found:
        return words.by_words(self.db, terms, wanted, limit, counted=counted)

    def corpus(self, terms: Sequence[str]) -> Corpus:
        return words.corpus(self.db, terms)

    def contexts(self, ids: Sequence[MemoryId], wanted: Filter, reach: int) -> list[Context]:
        """Each memory that passes the filter, with what was said at most `reach` steps before and after it."""
        if not ids:
            return []
        conditions, bound = where(wanted)
        fields = f"{_SPOKEN}, {_WHERE_SAID}" if reach else _SPOKEN
        query = f"SELECT {fields} FROM $ids WHERE {conditions}"
        rows = {row["id"]: row for row in self.db.rows(query, ids=records("memory", ids), **bound)}
        said = self._said_near(rows.values(), reach) if reach else {}
        return [_context(rows[id], list(_beside(rows[id], said, reach))) for id in ids if id in rows]

    def _said_near(self, rows: Iterable[Mapping[str, Any]], reach: int) -> dict[Spot, list[Said]]:
        """What was said in the sessions of the memories, near them, by session and position."""
        spots = sorted((row["session_id"], row["position"]) for row in rows if row["session_id"])
        found: dict[Spot, list[Said]] = {}
        if spots:
            (there,) = self.db.run(_SAID, spans=list(_spans(spots, reach)))
            for (session, position, _), *said in there:
                found.setdefault((session, position), []).append((said[0], said[1], said[2]))
        return found

    def history(self, *ids: MemoryId) -> list[HistoryEntry]:
        if not ids:
            return []
        # One after the other: a thousand with IN take seconds.
        each = f"$ids.map(|$one| (SELECT {_ENTRY} FROM memory_history WHERE memory = $one))"
        (found,) = self.db.run(f"RETURN {each}", ids=list(dict.fromkeys(ids)))
        return [entry_of(row) for row in sorted((row for rows in found for row in rows), key=itemgetter("id"))]

    def unembedded(
        self, model: str, limit: int, *, by_others: bool, user: str | None = None
    ) -> list[tuple[Memory, int]]:
        """Active memories without all of their vectors by this model, and how many chunks each has already."""
        fields, most = f"{STORED}, num, array::len(signs) AS made", f"ORDER BY num LIMIT {limit}"
        conditions = "state != 'forgotten'" + ("" if user is None else " AND user = $user")
        ranges = _LACKING if by_others else _LACKING[:2]
        parts = (f"SELECT {fields} {_BY_MODEL} {lacking} AND {conditions} {most}" for lacking in ranges)
        _, *found = self.db.run(";".join((_OTHERS, *parts)), model=model, user=user)
        rows = sorted((row for some in found for row in some), key=lambda row: row["num"])[:limit]
        return [(stored(row).memory, row["made"] if row["model"] == model else 0) for row in rows]

    def counts(self, user: str, model: str) -> Counts:
        lacking = (
            f"SELECT count() AS n {_BY_MODEL} {lacking} AND user = $user AND state = 'active' GROUP ALL"
            for lacking in _LACKING
        )
        _, chunks, *unembedded = self.db.run(";".join((_OTHERS, _CODE, *lacking)), user=user, model=model)
        by_state, by_scope, by_kind = Counter[str](), Counter[str](), Counter[str]()
        found = owned(self.db, user)
        for (scope, kind), number in found.active.items():
            by_state[State.ACTIVE.value] += number
            by_scope[scope.value] += number
            by_kind[kind.value] += number
        by_state.update({state.value: number for state, number in found.ended.items()})
        return Counts(
            *(by_scope.total(), by_scope, by_kind, by_state),
            *(found.entities, found.relations),
            sum(rows[0]["n"] for rows in unembedded if rows),
            self._dimensions(),
            chunks[0]["n"] if chunks else 0,
        )

    def _dimensions(self) -> int:
        """How long the vectors of the memory are that was stored last of all that have any."""
        models = self.db.rows("SELECT VALUE [id, dimensions] FROM model")
        newest = Statements()
        for name, _ in models:
            for missing in ("= 0", ">= 1"):
                last = f"chunks_missing {missing} ORDER BY num DESC LIMIT 1"
                newest.add(f"SELECT VALUE num {_BY_MODEL} model = $? AND {last}", name)
        found = self.db.run(newest.query, **newest.bound) if models else []
        lengths = [length for _, length in models for _ in range(2)]
        return max(((rows[0], length) for rows, length in zip(found, lengths, strict=True) if rows), default=(0, 0))[1]


def _context(row: Mapping[str, Any], neighbours: Sequence[tuple[int, MemoryId, str]]) -> Context:
    return Context(
        memory=row["id"],
        text=row["content"],
        words=row["words"],
        neighbours=neighbours or (),
        kind=KINDS[row["type"]],
        scope=SCOPES[row["scope"]],
        importance=row["importance"],
        last_said=max(row["event_time"], row["reinforced_at"] or row["event_time"]),
        consolidated=row["consolidated"],
    )


def _spans(spots: Sequence[Spot], reach: int) -> Iterator[list[list[Any]]]:
    """Ranges of ids with all that is near the spots, which come in order; what overlaps is one range."""
    begun: Spot | None = None
    for spot, following in zip_longest(spots, spots[1:]):
        begun = begun or spot
        if following is None or following[0] != spot[0] or following[1] - spot[1] > 2 * reach + 1:
            yield [[begun[0], begun[1] - reach], [spot[0], spot[1] + reach + 1]]
            begun = None


def _beside(
    row: Mapping[str, Any], said: Mapping[Spot, Sequence[Said]], reach: int
) -> Iterable[tuple[int, MemoryId, str]]:
    """What was said near a memory in the same session and place: how far away, by which id, in which words."""
    if not said or not row["session_id"]:
        return
    for step in range(-reach, reach + 1):
        for place, id, text in said.get((row["session_id"], row["position"] + step), ()):
            if place == row["place"] and id != row["id"]:
                yield step, id, text


def entry_of(row: Mapping[str, Any]) -> HistoryEntry:
    said = (row["content"], row["importance"], tuple(row["tags"]), Scope(row["scope"]))
    event = Event(row["event"])
    return HistoryEntry(
        row["memory"], row["version"], event, *said, row["changed_at"], row["reason"], rest_of(row["rest"])
    )
