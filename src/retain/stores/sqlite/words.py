"""Which terms of a question decide a full-text search: the rarest, so that its cost does not grow with the store."""

import sqlite3
from collections.abc import Sequence

from retain.domain.words import terms

# Texts that a search may look at: about two milliseconds' worth. Terms are added from the rarest on until
# they hold this many together; what is commoner is scored only on the texts those found.
ENOUGH = 400
TOGETHER = 4  # terms that a text must hold together at first, where all of them are common
MOST = 1500  # texts of one query, newest first, that are ranked
COUNTED = 2000  # texts counted though they hold only the commoner terms; above that a count is a lower bound
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


def indexed(title: str | None, text: str, file: str | None) -> str:
    """What the full-text index keeps of a memory: its title and text, and the file it is about."""
    return " ".join(terms("\n".join(part for part in (title, text, file) if part)))


def queries(asked: Sequence[str], holding: dict[str, int], enough: int = ENOUGH) -> list[str]:
    """FTS5 queries to try in turn until enough is found; none when no text holds any of the terms.

    Where the rarest terms are rare, they decide: any of them may match. Where even the rarest is common, texts
    that hold several come first: the four rarest together, then three, two, and the rarest alone. Rare is what
    `enough` texts hold together at most.
    """
    rarest = sorted((term for term in asked if holding[term]), key=holding.__getitem__)
    if not rarest:
        return []
    if holding[rarest[0]] > enough:
        return [_joined(" AND ", rarest[:number]) for number in range(min(len(rarest), TOGETHER), 0, -1)]
    chosen = [rarest[0]]
    texts = holding[rarest[0]]
    for term in rarest[1:]:
        texts += holding[term]
        if texts > enough:
            break
        chosen.append(term)
    return [_joined(" OR ", chosen)]


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


def all_of(asked: Sequence[str], holding: dict[str, int], documents: int) -> str | None:
    """A query for every text that holds any of the terms; None where there may be too many to count."""
    held = [term for term in asked if holding[term]]
    most = min(sum(holding[term] for term in held), documents)
    return _joined(" OR ", held) if most <= COUNTED else None


def _joined(operator: str, chosen: Sequence[str]) -> str:
    # Terms hold letters and digits only; quoted all the same.
    return operator.join(f'"{term}"' for term in chosen)
