"""Full-text searches as FTS5 wants them, and what it knows of the terms that they are chosen by."""

import sqlite3
from collections.abc import Mapping, Sequence

from retain.stores.wording import ANY, ENOUGH, choices, countable

# A cached frequency serves until this share of the store has changed: it only chooses between terms.
_STALE_SHARE = 0.02
_MOST_KEPT = 50_000


class Frequencies:
    """How many texts hold each term: a common one while the store stays much the same, a rare one until it changes,
    since one more text matters to it."""

    def __init__(self, vocabulary: str) -> None:
        self._query = f"select doc from {vocabulary} where term = ?"
        self._common: dict[str, int] = {}
        self._since = -1
        self._rare: tuple[int, dict[str, int]] = (-1, {})

    def of(self, db: sqlite3.Connection, asked: Sequence[str], change: int) -> dict[str, int]:
        common, rare = self._kept(change)
        for term in asked:
            if term not in common and term not in rare:
                row = db.execute(self._query, (term,)).fetchone()
                number = row[0] if row else 0
                (rare if number < ENOUGH else common)[term] = number
        return {term: common[term] if term in common else rare[term] for term in asked}

    def _kept(self, change: int) -> tuple[dict[str, int], dict[str, int]]:
        """Dictionaries that nobody empties: other threads, with other views of the store, begin new ones."""
        if change - self._since > _STALE_SHARE * change or len(self._common) > _MOST_KEPT:
            self._common, self._since = {}, change
        at, rare = self._rare
        if at != change or len(rare) > _MOST_KEPT:
            rare = {}
            self._rare = change, rare
        return self._common, rare


def queries(asked: Sequence[str], holding: Mapping[str, int], enough: int = ENOUGH) -> list[str]:
    """FTS5 queries to try in turn until enough is found; none when no text holds any of the terms."""
    return [_joined(operator, chosen) for operator, chosen in choices(asked, holding, enough)]


def totals(db: sqlite3.Connection, index: str) -> tuple[int, int]:
    """Texts and terms in a full-text index, from the record FTS5 keeps of them (variable-length numbers)."""
    row = db.execute(f"select block from {index}_data where id = 1").fetchone()
    numbers: list[int] = []
    value = 0
    for byte in row[0] if row else b"":
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(value)
            value = 0
    return (numbers[0], sum(numbers[1:])) if numbers else (0, 0)


def all_of(asked: Sequence[str], holding: Mapping[str, int], documents: int) -> str | None:
    """A query for every text that holds any of the terms; None where there may be too many to count."""
    held = countable(asked, holding, documents)
    return None if held is None else _joined(ANY, held)


def _joined(operator: str, chosen: Sequence[str]) -> str:
    # Terms hold letters and digits only; quoted all the same.
    return f" {operator} ".join(f'"{term}"' for term in chosen)
