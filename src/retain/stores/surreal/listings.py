"""Listings: light rows of everything that passes a filter, in pages that others cannot shift, and counts over all."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from retain.domain.graph import Tie, fold
from retain.domain.listing import OPENING, Card, Page, Row
from retain.domain.memory import MemoryId, Place, Stored
from retain.domain.recall import Filter
from retain.stores.moments import micros, moment
from retain.stores.surreal.filters import where, where_text
from retain.stores.surreal.link.cbor import record, records
from retain.stores.surreal.newest import counted, each, newest, total
from retain.stores.surreal.rows import KINDS, STORED, stored
from retain.stores.surreal.tables import Tables
from retain.stores.surreal.words import MATCHES, searchable
from retain.stores.wording import ANY

_CARD = f"""id, title, string::slice(content, 0, {OPENING}) AS opening, string::len(content) AS length, type, category,
    tags, created_at, updated_at"""
_TIE = "source, target, type, created_at, strength"
At = tuple[int, MemoryId]


class ListingTables(Tables):
    """`ports.ListingStore` but for vectors and past questions."""

    def page(self, wanted: Filter, limit: int, offset: int = 0, beyond: Row | None = None) -> Page[Card]:
        """By when it happened and then by id, which a row keeps."""
        if not wanted.places:
            return Page((), None, 0)
        rows = self._newest(wanted, limit + offset, beyond)[offset : offset + limit]
        found = self.cards([id for _, id in rows])
        last = Row(moment(rows[-1][0]), rows[-1][1]) if rows else None
        counted = total(self.db, wanted) - self._before(wanted, beyond)
        # Counted a moment later, when some may be gone: there are no fewer than are shown.
        return Page(list(found.values()), last, max(counted, offset + len(found) if found else 0))

    def _newest(self, wanted: Filter, number: int, beyond: Row | None) -> list[At]:
        """The first rows by time and id. The index has them by time and number, so all of the time that the last of
        them has are looked at."""
        if beyond is None:
            return self._first(wanted, number, "")
        row = {"at": -micros(beyond.at), "older": 1 - micros(beyond.at), "row": record("memory", beyond.id)}
        same = self._all(wanted, "AND age = $at AND id < $row", **row)
        return [*same, *self._first(wanted, number, "AND age >= $older", **row)][:number]

    def _first(self, wanted: Filter, number: int, further: str, **bound: Any) -> list[At]:
        parts, values = newest(wanted, number + 1, "VALUE [happened, id]", further)
        found = self.db.run(f"RETURN [{', '.join(parts)}]", **values, **bound)[0]
        rows = _in_order(row for part in found for row in part)
        if len(rows) <= number or rows[number - 1][0] != rows[number][0]:
            return rows[:number]
        last = rows[number - 1][0]
        same = self._all(wanted, "AND age = $last", last=-last)
        return [*(row for row in rows if row[0] > last), *same][:number]

    def _all(self, wanted: Filter, further: str, **bound: Any) -> list[At]:
        parts, values = each(wanted, f"(SELECT VALUE [happened, id] FROM {{table}} WHERE {{passing}} {further})")
        found = self.db.run(f"RETURN [{', '.join(parts)}]", **values, **bound)[0]
        return _in_order(row for part in found for row in part)

    def _before(self, wanted: Filter, beyond: Row | None) -> int:
        """How many come before the row that a page begins after, and that row."""
        if beyond is None:
            return 0
        earlier = "AND age < $older AND (age < $at OR id >= $row)"
        at = -micros(beyond.at)
        return counted(self.db, wanted, earlier, at=at, older=at + 1, row=record("memory", beyond.id))

    def cards(self, ids: Sequence[MemoryId]) -> dict[MemoryId, Card]:
        if not ids:
            return {}
        rows = self.db.rows(f"SELECT {_CARD} FROM $ids", ids=records("memory", ids))
        found = {row["id"]: _card(row) for row in rows}
        return {id: found[id] for id in ids if id in found}

    def holding(self, terms: Sequence[str], wanted: Filter) -> set[MemoryId]:
        if not terms:
            return set()
        conditions, bound = where_text(wanted)
        query = f"SELECT VALUE memory FROM text WHERE {{}} {MATCHES[ANY]} $words AND {conditions}"
        both = self.db.view(query.format("words"), query.format("tags"), words=searchable(" ".join(terms)), **bound)
        return {id for some in both for id in some}

    def titled(self, place: Place, title: str) -> Stored | None:
        row = self.db.row(
            f"""SELECT {STORED}, num FROM memory WITH INDEX memory_titled
                WHERE place = $place AND title_key = $key AND state = 'active' ORDER BY num LIMIT 1""",
            place=place.key,
            key=fold(title),
        )
        return stored(row) if row else None

    def titles(self, wanted: Filter) -> list[tuple[MemoryId, str]]:
        # By title, which few have; NULL comes before all text.
        titled = "FROM memory WITH INDEX memory_titled WHERE title_key >= '' AND {passing}"
        parts, bound = each(wanted, f"(SELECT VALUE [happened, id, title] {titled})")
        (found,) = self.db.run(f"RETURN [{', '.join(parts)}]", **bound)
        return [(id, title) for _, id, title in sorted((row for part in found for row in part), reverse=True)]

    def tags(self, wanted: Filter) -> dict[str, int]:
        """As they are written in the memory that was stored last with them."""
        conditions, bound = where(wanted)
        query = f"SELECT VALUE [num, tags] FROM memory WHERE tag_keys != [] AND {conditions}"
        memories, spelled = Counter[str](), dict[str, str]()
        for _, tags in sorted(self.db.rows(query, **bound), reverse=True):
            # The first of two spellings in one memory counts.
            keys = {fold(tag): tag for tag in reversed(tags)}
            memories.update(keys.keys())
            spelled = {**keys, **spelled}
        return {spelled[key]: number for key, number in memories.items()}

    def ties(self, memories: Sequence[MemoryId]) -> list[Tie]:
        if not memories:
            return []
        query = f"SELECT {_TIE} FROM tie WHERE {{}} IN $ids"
        found = self.db.view(query.format("source"), query.format("target"), ids=list(memories))
        rows = {(row["source"], row["target"], row["type"]): row for some in found for row in some}
        ties = [Tie(*key, row["created_at"], row["strength"]) for key, row in rows.items()]
        return sorted(ties, key=lambda tie: (tie.created, tie.source, tie.target))

    def tied(self, types: Sequence[str], places: Sequence[Place]) -> int:
        here = "type::record('memory', {}).place IN $places"
        return self.db.counted(
            "tie",
            f"type IN $types AND {here.format('source')} AND {here.format('target')}",
            types=list(types),
            places=[place.key for place in places],
        )


def _in_order(rows: Iterable[Sequence[Any]]) -> list[At]:
    return sorted(((at, id) for at, id in rows), reverse=True)


def _card(row: Mapping[str, Any]) -> Card:
    return Card(
        *(row["id"], row["title"], row["opening"], row["length"], KINDS[row["type"]], row["category"]),
        *(tuple(row["tags"]), row["created_at"], row["updated_at"]),
    )
