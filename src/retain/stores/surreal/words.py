"""Finding memories by words: the full-text index gives those that hold them, and they are ranked here as FTS5 does."""

import re
from collections.abc import Mapping, Sequence
from math import log

from retain.domain.memory import MemoryId
from retain.domain.recall import Filter, Found
from retain.ports import Corpus
from retain.stores.surreal.cbor import records
from retain.stores.surreal.database import Database
from retain.stores.surreal.filters import where_text
from retain.stores.wording import ALL, ANY, ENOUGH, MOST, Choice, choices, countable

_MARK = re.compile(r"[^\w ]|_")
# The operator by which all, or any, of the words on its right must be there.
MATCHES = {ALL: "@@", ANY: "@0,OR@"}
_SATURATION, _LENGTH_SHARE = 1.2, 0.75  # FTS5's k1 and b
_LEAST_RARITY = 1e-6  # of a term that more than half of all texts hold


def corpus(db: Database, terms: Sequence[str], table: str = "term", counter: str = "change") -> Corpus:
    """Of memories, unless other tables are named."""
    counts, (documents, length) = db.run(
        f"SELECT VALUE [id, n] FROM $terms; SELECT VALUE [documents, length] FROM ONLY counter:{counter}",
        terms=records(table, dict.fromkeys(terms)),
    )
    holding = dict(counts)
    return Corpus(documents, length / documents if documents else 0.0, {term: holding.get(term, 0) for term in terms})


def searchable(words: str) -> str:
    """Words as the index has them: the engine takes every accent that stands alone for a blank, and some vowels too."""
    return words if words.isascii() else _MARK.sub(lambda mark: f"ʬ{ord(mark[0]):x}ʬ", words)


def by_words(db: Database, terms: Sequence[str], wanted: Filter, limit: int, *, counted: bool) -> Found:
    known = corpus(db, terms)
    ranked: dict[MemoryId, float] = {}
    keys: set[int] = set()
    tried = choices(terms, known.holding)
    for choice in tried:
        rows = _newest(db, choice, wanted)
        weigh = Weighing(known, choice[1])
        ranked.update({id: weigh(words) for id, _, words in rows})
        keys.update(num for _, num, _ in rows)
        if len(ranked) >= ENOUGH:
            break
    everything = countable(terms, known.holding, known.documents) if counted else None
    if everything and (not _finds_all(tried[0], everything) or len(ranked) == MOST):
        conditions, bound = where_text(wanted)
        query = f"SELECT VALUE num FROM text WHERE words {MATCHES[ANY]} $words AND {conditions}"
        keys.update(db.rows(query, words=searchable(" ".join(everything)), **bound))
    best = sorted(ranked, key=ranked.__getitem__, reverse=True)[:limit]
    return Found({id: ranked[id] for id in best}, keys, exact=everything is not None)


def _finds_all(choice: Choice, terms: Sequence[str]) -> bool:
    """Whether a choice finds every text that holds any of the terms."""
    operator, chosen = choice
    return (operator == ANY or len(chosen) == 1) and set(chosen) == set(terms)


def _newest(db: Database, choice: Choice, wanted: Filter) -> list[tuple[MemoryId, int, str]]:
    operator, chosen = choice
    conditions, bound = where_text(wanted)
    return db.rows(
        f"""SELECT VALUE [memory, num, words] FROM text WHERE words {MATCHES[operator]} $words AND {conditions}
            ORDER BY num DESC LIMIT {MOST}""",
        words=searchable(" ".join(chosen)),
        **bound,
    )


class Weighing:
    """BM25 of some terms, to the last digit as FTS5 works it out."""

    def __init__(self, corpus: Corpus, terms: Sequence[str]) -> None:
        self._rarities = [(term, _rarity(corpus.documents, corpus.holding[term])) for term in terms]
        self._spelled = {term: searchable(term) for term in terms}
        self._average = corpus.average_length

    def __call__(self, words: str) -> float:
        held = words.split(" ")
        return self.of({term: held.count(spelled) for term, spelled in self._spelled.items()}, len(held))

    def of(self, times: Mapping[str, float], length: int) -> float:
        """Of a text that holds each term so many times, and so many terms in all."""
        shortness = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / self._average)
        return sum(
            rarity * (times[term] * (_SATURATION + 1) / (times[term] + shortness)) for term, rarity in self._rarities
        )


def _rarity(documents: int, holding: int) -> float:
    rarity = log((documents - holding + 0.5) / (holding + 0.5))
    return rarity if rarity > 0 else _LEAST_RARITY
