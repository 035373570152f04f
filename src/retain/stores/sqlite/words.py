"""Which terms of a question decide a full-text search: the rarest, so that its cost does not grow with the store."""

import sqlite3
from collections.abc import Sequence

from retain.domain.words import terms

# Texts that a search may look at: about two milliseconds' worth. Terms are added from the rarest on until
# they hold this many together; what is commoner is scored only on the texts those found.
ENOUGH = 600
# A cached frequency serves until this share of the store has changed: it only chooses between terms.
_STALE_SHARE = 0.02


class Frequencies:
    """How many texts hold each term, remembered while the store stays much the same."""

    def __init__(self) -> None:
        self._holding: dict[str, int] = {}
        self._change = -1

    def of(self, db: sqlite3.Connection, asked: Sequence[str], change: int) -> dict[str, int]:
        if change - self._change > _STALE_SHARE * change or len(self._holding) > 50_000:
            self._holding = {}
            self._change = change
        holding = self._holding
        for term in asked:
            # A rare term is looked up anew each time: that is cheap, and one more text matters to it.
            if holding.get(term, 0) < ENOUGH:
                row = db.execute("select doc from memory_terms where term = ?", (term,)).fetchone()
                holding[term] = row[0] if row else 0
        return {term: holding[term] for term in asked}


def indexed(title: str | None, text: str) -> str:
    """What the full-text index keeps of a memory."""
    return " ".join(terms(f"{title}\n{text}" if title else text))


def deciding(asked: Sequence[str], holding: dict[str, int]) -> list[str]:
    """The terms to search by, rarest first; never none of those that occur at all."""
    chosen: list[str] = []
    texts = 0
    for term in sorted((t for t in asked if holding[t]), key=holding.__getitem__):
        if chosen and texts + holding[term] > ENOUGH:
            break
        chosen.append(term)
        texts += holding[term]
    return chosen


def matching(chosen: Sequence[str]) -> str:
    """An FTS5 query for any of the terms; terms hold letters and digits only, quoted all the same."""
    return " OR ".join(f'"{term}"' for term in chosen)
