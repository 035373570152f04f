"""Finding memories by words: the full-text index gives those that hold them, and they are ranked here as FTS5 does."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from retain.domain.memory import MemoryId
from retain.domain.recall import Filter, Found
from retain.ports import Corpus
from retain.stores.bm25 import rarity, shortness, weighed
from retain.stores.surreal.filters import where_text
from retain.stores.surreal.link.cbor import record, records
from retain.stores.surreal.link.database import Database
from retain.stores.wording import ALL, ANY, COUNTED, ENOUGH, MOST, Choice, choices, countable

_MARK, _SPELLED = re.compile(r"[^\w ]|_"), re.compile("ʬ([0-9a-f]+)ʬ")
# The operator by which all, or any, of the words on its right must be there.
MATCHES = {ALL: "@@", ANY: "@0,OR@"}
Match = tuple[MemoryId, int, str]  # its number and words
_FOUND = f"FROM text WHERE words {MATCHES[ANY]}"
# Terms are [how many texts hold it, its place in the question, the term], so that they sort by the first two.
# Each search stands in an array of its own: of one that finds a single row, a block gives the row itself.
# How many texts there are and how many hold a term are read in one statement: where others write between two, more
# texts seem to hold a term than there are.
_DOCUMENTS = "(SELECT VALUE [documents, length] FROM ONLY counter:change)"
_AHEAD = f"""
LET $counts = [{_DOCUMENTS}, $asked.map(|$term, $place| [$term[0].n ?? 0, $place, $term[1]])];
LET $corpus = $counts[0];
LET $known = $counts[1];
LET $held = array::sort($known.filter(|$term| $term[0] > 0));
LET $rarest = $held.fold([0, []], |$so, $term| IF $so[0] = 0 OR $so[0] + $term[0] <= {ENOUGH}
    {{{{ [$so[0] + $term[0], array::append($so[1], $term[2])] }}}} ELSE {{{{ $so }}}});
LET $words = IF $held != [] AND $rarest[0] <= {ENOUGH} {{{{ array::join($rarest[1], ' ') }}}};
LET $rows = IF $words != NONE {{{{ [(SELECT VALUE [memory, num, words] {_FOUND} $words AND {{conditions}}
    ORDER BY num DESC LIMIT {MOST} {{within}})] }}}};
LET $all = array::join($held.map(|$term| $term[2]), ' ');
LET $most = math::min([math::sum($held.map(|$term| $term[0])), $corpus[0]]);
LET $more = $words != $all OR array::len($rows[0] ?? []) = {MOST};
LET $numbers = IF $counted AND $words != NONE AND $more AND $most <= {COUNTED}
    {{{{ [(SELECT VALUE num {_FOUND} $all AND {{conditions}} {{within}})] }}}};
RETURN array::concat($corpus, [$known.map(|$term| $term[0]), $words, $rows, $numbers])"""


def corpus(db: Database, terms: Sequence[str]) -> Corpus:
    terms_held = records("term", dict.fromkeys(terms))
    counts, (documents, length) = db.view("SELECT VALUE [id, n] FROM $terms", _DOCUMENTS, terms=terms_held)
    holding = dict(counts)
    return Corpus(documents, length / documents if documents else 0.0, {term: holding.get(term, 0) for term in terms})


def searchable(words: str) -> str:
    """Words as the index has them: the engine takes every accent that stands alone for a blank, and some vowels too."""
    return words if words.isascii() else _MARK.sub(lambda mark: f"ʬ{ord(mark[0]):x}ʬ", words)


def as_said(words: str) -> str:
    """Words that the index has, as they were before."""
    return words if words.isascii() else _SPELLED.sub(lambda mark: chr(int(mark[1], 16)), words)


def by_words(db: Database, terms: Sequence[str], wanted: Filter, limit: int, *, counted: bool) -> Found:
    ahead = _ahead(db, terms, wanted, counted)
    known = ahead.corpus
    ranked: dict[MemoryId, float] = {}
    keys: set[int] = set()
    tried = choices(terms, known.holding)
    for choice in tried:
        rows = ahead.rows if ahead.is_about(choice) else _newest(db, choice, wanted)
        weigh = Weighing(known, choice[1])
        ranked.update({id: weigh(words) for id, _, words in rows})
        keys.update(num for _, num, _ in rows)
        if len(ranked) >= ENOUGH:
            break
    everything = countable(terms, known.holding, known.documents) if counted else None
    if everything and (not _finds_all(tried[0], everything) or len(ranked) == MOST):
        keys.update(ahead.numbers if ahead.numbers is not None else _numbers(db, everything, wanted))
    best = sorted(ranked, key=ranked.__getitem__, reverse=True)[:limit]
    return Found({id: ranked[id] for id in best}, keys, exact=everything is not None, corpus=known)


@dataclass(frozen=True, slots=True)
class _Ahead:
    """The corpus, and what was searched along with it in the same message.

    The database chooses as `wording.choices` does where the terms are rare. If it chose otherwise, or not at all,
    that is seen here, and the search is made once more.
    """

    corpus: Corpus
    words: str | None
    rows: list[Match]
    numbers: list[int] | None
    """Of every text that holds any of the terms, if they were counted."""

    def is_about(self, choice: Choice) -> bool:
        operator, chosen = choice
        return operator == ANY and searchable(" ".join(chosen)) == self.words


def _ahead(db: Database, terms: Sequence[str], wanted: Filter, counted: bool) -> _Ahead:
    asked = list(dict.fromkeys(terms))
    conditions, bound = where_text(wanted)
    *_, (documents, length, holding, words, rows, numbers) = db.run(
        _AHEAD.format(conditions=conditions, within=f"TIMEOUT {db.query_seconds * 1000:.0f}ms"),
        asked=[[record("term", term), searchable(term)] for term in asked],
        counted=counted,
        **bound,
    )
    known = Corpus(documents, length / documents if documents else 0.0, dict(zip(asked, holding, strict=True)))
    return _Ahead(known, words, rows[0] if rows else [], numbers[0] if numbers else None)


def _finds_all(choice: Choice, terms: Sequence[str]) -> bool:
    """Whether a choice finds every text that holds any of the terms."""
    operator, chosen = choice
    return (operator == ANY or len(chosen) == 1) and set(chosen) == set(terms)


def _numbers(db: Database, terms: Sequence[str], wanted: Filter) -> list[int]:
    conditions, bound = where_text(wanted)
    query = f"SELECT VALUE num FROM text WHERE words {MATCHES[ANY]} $words AND {conditions}"
    return db.rows(query, words=searchable(" ".join(terms)), **bound)


def _newest(db: Database, choice: Choice, wanted: Filter) -> list[Match]:
    operator, chosen = choice
    conditions, bound = where_text(wanted)
    return db.rows(
        f"""SELECT VALUE [memory, num, words] FROM text WHERE words {MATCHES[operator]} $words AND {conditions}
            ORDER BY num DESC LIMIT {MOST}""",
        words=searchable(" ".join(chosen)),
        **bound,
    )


class Weighing:
    """BM25 of some terms."""

    def __init__(self, corpus: Corpus, terms: Sequence[str]) -> None:
        self._rarities = [(searchable(term), rarity(corpus.documents, corpus.holding[term])) for term in terms]
        self._average = corpus.average_length

    def __call__(self, words: str) -> float:
        held = words.split(" ")
        short = shortness(len(held), self._average)
        return float(sum(rare * weighed(held.count(spelled), short) for spelled, rare in self._rarities))
