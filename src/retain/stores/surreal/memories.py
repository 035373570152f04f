"""Reading memories: by id, by place, by words, and what they lack."""

from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any

from retain.domain.memory import Event, HistoryEntry, Memory, MemoryId, Place, Scope, State, Stored
from retain.domain.model import alike
from retain.domain.recall import Filter, Found
from retain.ports import Context, Corpus, Counts
from retain.stores.moments import rest_of
from retain.stores.surreal import contexts, words
from retain.stores.surreal.counting import BY_EARLIER, BY_MODEL, LACKING, OTHERS, counts
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.newest import newest, total
from retain.stores.surreal.rows import BY_ID, STORED, bound_ids, by_id, stored
from retain.stores.surreal.tables import Tables

_ENTRY = "id, memory, version, event, content, importance, tags, scope, changed_at, reason, rest"
# By fingerprint, which few share, not by state.
_TWIN = f"""(SELECT {STORED}, num FROM memory WITH INDEX memory_twin
    WHERE place = $place AND fingerprint = $fingerprint AND state"""


class MemoryTables(Tables):
    """`ports.MemoryStore` but for vectors."""

    def memories(self, ids: Sequence[MemoryId]) -> dict[MemoryId, Stored]:
        if not ids:
            return {}
        rows, used = self.db.view(*BY_ID, **bound_ids(ids))
        return by_id(ids, rows, used)

    def destroyed(self, ids: Sequence[MemoryId]) -> set[MemoryId]:
        return set(self.db.rows("SELECT VALUE id FROM $ids", ids=records("tombstone", ids)))

    def twin(self, place: Place, fingerprint: str, *, states: Sequence[State] = (State.ACTIVE,)) -> Stored | None:
        ended = [state.value for state in states if state is not State.ACTIVE]
        awake = f"{_TWIN} = 'active' ORDER BY num LIMIT 1)" if State.ACTIVE in states else "[]"
        last = f"{_TWIN} IN $ended ORDER BY state_since DESC, num DESC LIMIT 1)" if ended else "[]"
        *_, found = self.db.run(
            f"LET $awake = {awake}; RETURN IF $awake != [] {{ $awake[0] }} ELSE {{ {last}[0] }}",
            place=place.key,
            fingerprint=fingerprint,
            ended=ended,
        )
        return stored(found) if found else None

    def listed(self, wanted: Filter, limit: int, offset: int = 0) -> list[Stored]:
        """Each place and state gives its own newest, in the order of an index; the newest of those remain."""
        parts, bound = newest(wanted, limit + offset, "id, happened, num, age, back")
        if not parts:
            return []
        order = "ORDER BY happened DESC, num DESC"
        best = f"SELECT * FROM array::flatten([{', '.join(parts)}]) {order} LIMIT {limit} START {offset}"
        # In one statement: what is forgotten between two would be listed among what is not.
        rows: list[Any] = self.db.run(f"SELECT {STORED}, happened, num FROM ({best}).id {order}", **bound)[0]
        return [stored(row) for row in rows]

    def total(self, wanted: Filter) -> int:
        return total(self.db, wanted)

    def by_words(self, terms: Sequence[str], wanted: Filter, limit: int, *, counted: bool = False) -> Found:
        return words.by_words(self.db, terms, wanted, limit, counted=counted)

    def corpus(self, terms: Sequence[str]) -> Corpus:
        return words.corpus(self.db, terms)

    def contexts(
        self, ids: Sequence[MemoryId], wanted: Filter, reach: int, beside: Collection[MemoryId] = ()
    ) -> list[Context]:
        return contexts.contexts(self.db, ids, wanted, reach, beside)

    def history(self, *ids: MemoryId) -> list[HistoryEntry]:
        if not ids:
            return []
        # One after the other: a thousand with IN take seconds.
        each = f"$ids.map(|$one| (SELECT {_ENTRY} FROM memory_history WHERE memory = $one))"
        (found,) = self.db.run(f"RETURN {each}", ids=list(dict.fromkeys(ids)))
        return [entry_of(row) for row in sorted((row for rows in found for row in rows), key=itemgetter("id"))]

    def unembedded(
        self, model: str, limit: int, *, by_others: bool, earlier: bool = False, user: str | None = None
    ) -> list[tuple[Memory, int]]:
        """Active memories without all of their vectors by this model, and how many chunks each has already."""
        fields, most = f"{STORED}, num, array::len(signs) AS made", f"ORDER BY num LIMIT {limit}"
        conditions = "state != 'forgotten'" + ("" if user is None else " AND user = $user")
        ranges = (*(LACKING if by_others else LACKING[:2]), *([BY_EARLIER] if earlier else []))
        parts = (f"SELECT {fields} {BY_MODEL} {lacking} AND {conditions} {most}" for lacking in ranges)
        names = alike(model)
        _, *found = self.db.run(";".join((OTHERS, *parts)), alike=names, earlier=names[1:], user=user)
        rows = sorted((row for some in found for row in some), key=lambda row: row["num"])[:limit]
        return [(stored(row).memory, row["made"] if row["model"] == model else 0) for row in rows]

    def uncompared(self, limit: int, *, user: str | None = None) -> list[Memory]:
        conditions = "compared = false AND state = 'active'" + ("" if user is None else " AND user = $user")
        rows = self.db.rows(
            f"SELECT {STORED}, num FROM memory WHERE {conditions} ORDER BY num LIMIT {limit}", user=user
        )
        return [stored(row).memory for row in rows]

    def counts(self, user: str, model: str) -> Counts:
        return counts(self.db, user, model)


def entry_of(row: Mapping[str, Any]) -> HistoryEntry:
    said = (row["content"], row["importance"], tuple(row["tags"]), Scope(row["scope"]))
    event = Event(row["event"])
    return HistoryEntry(
        row["memory"], row["version"], event, *said, row["changed_at"], row["reason"], rest_of(row["rest"])
    )
