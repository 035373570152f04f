"""Why a match ranks where it does: what its title, text, tags and age give it, in numbers and in words."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from retain.domain.graph import fold
from retain.domain.listing import Card, heading
from retain.domain.memory import Memory
from retain.domain.telling import rarity
from retain.domain.time import freshness
from retain.domain.words import query_terms, telling_words, terms
from retain.engine.lookup.highlighting import highlight
from retain.engine.recall.scoring import MEANING, WORDS
from retain.ports import Corpus

# Tried on 51 real entries with a question each: 45 came first with these, 43 by cosine alone. Anything from 0.10 to
# 0.30 for the title changes at most one of them, so the choice is not a fine one.
TITLE, CONTENT, TAGS, RECENCY = 0.15, 0.70, 0.10, 0.05
PLACES = 4  # decimals of a score; its parts have as many, so that what is shown adds up
COMMON = 0.01  # what a word counts at least that stands everywhere
NOTABLE = 0.5  # freshness from which age is worth a word: younger than its kind's half-life
NAMED = 5  # words that a reason names; a long question would make it unreadable
_CLOSENESS = ((0.75, "Very close"), (0.5, "Close"), (0.35, "Somewhat close"), (0.0, "Loosely related"))


@dataclass(frozen=True, slots=True)
class Explanation:
    """Contributions that add up to the relevance, sentences that are true of the memory, and where it says so."""

    breakdown: Mapping[str, float]
    reasons: tuple[str, ...]
    highlight: str


@dataclass(frozen=True, slots=True)
class Asking:
    """A question as it is compared: its words as they are written, with their terms, and how rare each term is."""

    words: Mapping[str, tuple[str, ...]]
    rarity: Mapping[str, float]

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(self.rarity)

    def share(self, held: Set[str]) -> float:
        """How much of the question these terms cover, from 0 to 1; a rare term counts for more."""
        both = sum(rare for term, rare in self.rarity.items() if term in held)
        return both / sum(self.rarity.values()) if both else 0.0

    def met(self, held: Set[str]) -> list[str]:
        """The words that these terms meet, as a sentence names them."""
        found = [(word, [term in held for term in terms]) for word, terms in self.words.items()]
        return [f"'{word}'" if all(met) else f"part of '{word}'" for word, met in found if any(met)]


@dataclass(frozen=True, slots=True)
class Likeness:
    """How like a question a memory is: by meaning or, where that could not be compared, by the words it holds."""

    similarity: float
    by_words: bool = False


def asking(text: str, corpus: Corpus) -> Asking:
    rare = rarity(corpus.documents, corpus.holding)
    words = telling_words(text) or {" ".join(text.split()): tuple(query_terms(text))}
    return Asking(words, {term: max(rare[term], COMMON) for term in query_terms(text)})


def breakdown(asked: Asking, card: Card, likeness: Likeness, spoken: float, now: datetime) -> dict[str, float]:
    """What each part gives to the relevance; `spoken` is the BM25 of the memory."""
    content = MEANING * likeness.similarity + WORDS * spoken
    parts = {
        "title_match": TITLE * asked.share(frozenset(terms(card.heading))),
        "content_similarity": CONTENT * content,
        "tag_alignment": TAGS * asked.share(frozenset(terms("\n".join(card.tags)))),
        "recency_boost": RECENCY * freshness(card.kind, card.updated, now),
    }
    return {name: round(part, PLACES) for name, part in parts.items()}


def relevance(parts: Mapping[str, float]) -> float:
    return round(sum(parts.values()), PLACES)


def explain(
    asked: Asking, memory: Memory, parts: Mapping[str, float], likeness: Likeness, now: datetime
) -> Explanation:
    reasons = (*_said(asked, memory, likeness), *_labelled(asked, memory), *_age(memory, now))
    return Explanation(parts, reasons, highlight(memory.text, asked.terms))


def _said(asked: Asking, memory: Memory, likeness: Likeness) -> Iterator[str]:
    shown = heading(memory.title, memory.text)
    opening, text = asked.met(set(terms(shown))), asked.met(set(terms(memory.text)))
    if opening:
        yield f"{'Title' if memory.title else 'First line'} matches {_listed(opening)}"
    yield from _alike(likeness)
    if text and (memory.title or text != opening):
        yield f"Text matches {_listed(text)}"


def _alike(likeness: Likeness) -> Iterator[str]:
    similarity = likeness.similarity
    if likeness.by_words:
        yield f"Has {similarity:.0%} of the question's words, of which rare ones count for more"
    elif similarity > 0:
        close = next(word for least, word in _CLOSENESS if similarity >= least)
        yield f"{close} in meaning ({similarity:.2f})"


def _labelled(asked: Asking, memory: Memory) -> Iterator[str]:
    tags = {fold(tag): f"'{tag}'" for tag in memory.tags if asked.terms.intersection(terms(tag))}
    if tags:
        one = len(tags) == 1
        yield f"{'Tag' if one else 'Tags'} {_listed(list(tags.values()))} {'matches' if one else 'match'}"
    if memory.source.file and (named := asked.met(set(terms(memory.source.file)))):
        yield f"Its file matches {_listed(named)}"


def _age(memory: Memory, now: datetime) -> Iterator[str]:
    if freshness(memory.kind, memory.updated, now) >= NOTABLE:
        days = max((now - memory.updated).days, 0)
        what = "Stored" if memory.updated == memory.created else "Updated"
        yield f"{what} {_ago(days)}"


def _ago(days: int) -> str:
    if days == 0:
        return "within the last day"
    return "a day ago" if days == 1 else f"{days} days ago"


def _listed(words: Sequence[str]) -> str:
    """'a', 'b' and 'c', or the first few and how many more."""
    if len(words) > NAMED:
        return f"{', '.join(words[:NAMED])} and {len(words) - NAMED} more"
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
