"""Code by its words: BM25 as FTS5 has it, over the lists of the terms."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from retain.domain.code import CodeFilter
from retain.stores.bm25 import rarity, shortness, weighed
from retain.stores.code_wording import ENOUGH, WEIGHTS
from retain.stores.surreal.code.words import COLUMNS, bucket
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Database, Statements
from retain.stores.wording import ALL, choices

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


def ranked(db: Database, terms: Sequence[str], wanted: CodeFilter, limit: int) -> dict[int, float]:
    """Scores by number, best first. How rare a term is, the indexes say that are searched."""
    asked = list(dict.fromkeys(terms))
    chunks, length, lists = _read(db, asked, wanted)
    holding = {term: len(entries) for term, (entries, _) in lists.items()}
    found: dict[int, float] = {}
    for operator, chosen in choices(asked, holding, ENOUGH):
        weights = {term: rarity(chunks, holding[term]) for term in chosen}
        allowed = {term: entries[mask] for term, (entries, mask) in lists.items() if term in weights}
        together = len(chosen) if operator == ALL else 1
        # Those that hold more of the terms together were found first, with more to their score.
        found = {**_best(allowed, weights, together, length / chunks, limit), **found}
        if len(found) >= limit:
            break
    best = sorted(found, key=found.__getitem__, reverse=True)[:limit]
    return {num: found[num] for num in best}


def _read(db: Database, asked: Sequence[str], wanted: CodeFilter) -> "tuple[int, int, dict[str, tuple[Array, Array]]]":
    """How many chunks the indexes have and how many terms these, and the list of each term that is asked for, with
    which of its entries are in a language that is wanted."""
    import numpy as np

    statements = Statements()
    statements.add("SELECT VALUE [held.chunks, held.terms] FROM $?", records("code_index", wanted.indexes))
    places = {
        term: [
            statements.add(
                f"SELECT VALUE [id.id()[3], held[$?]] FROM code_words:[$?, {bucket(term)}]..[$?, {bucket(term)}, {{}}] "
                "WHERE held[$?] != NONE",
                *(term, index, index, term),
            )
            for index in wanted.indexes
        ]
        for term in asked
    }
    totals, *results = db.view(*statements.queries, **statements.bound)
    lists = {}
    for term, numbers in places.items():
        rows = [row for number in numbers for row in results[number - 1]]
        entries = np.frombuffer(b"".join(held for _, held in rows), dtype=COLUMNS)
        is_wanted = [not wanted.languages or language in wanted.languages for language, _ in rows]
        lists[term] = entries, np.repeat(is_wanted, [len(held) // entries.itemsize for _, held in rows]).astype(bool)
    return sum(chunks for chunks, _ in totals), sum(length for _, length in totals), lists


def _best(
    lists: "Mapping[str, Array]", weights: Mapping[str, float], together: int, average: float, limit: int
) -> dict[int, float]:
    """The best of those that hold so many of the terms."""
    import numpy as np

    scores = []
    for term, entries in lists.items():
        times = sum(weight * entries[name] for weight, name in zip(WEIGHTS, ("names", "doc", "body"), strict=True))
        scores.append(weights[term] * weighed(times, shortness(entries["length"], average)))
    numbers, places = np.unique(np.concatenate([entries["num"] for entries in lists.values()]), return_inverse=True)
    # The limit bounds the work where even the rarest term is everywhere.
    enough = np.flatnonzero(np.bincount(places, minlength=len(numbers)) >= together)[:ENOUGH]
    total = np.bincount(places, np.concatenate(scores), minlength=len(numbers))[enough]
    order = np.argsort(-total, kind="stable")[:limit]
    return dict(zip(numbers[enough][order].tolist(), total[order].tolist(), strict=True))
