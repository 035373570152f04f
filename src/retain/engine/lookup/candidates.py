"""What matches a question at all: by meaning from a threshold up or, where meaning cannot be compared, by words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from retain.domain.memory import MemoryId, Vector
from retain.domain.recall import MIN_COSINE, Filter, Warning
from retain.domain.session import Caller
from retain.engine.embed import query_vector
from retain.engine.knowledge.walk import unaddressed
from retain.engine.lookup.explaining import Asking, Likeness
from retain.engine.parts import Parts
from retain.errors import EmbeddingFailed
from retain.ports import Store

ALL = -1.0  # a cosine that every vector has


@dataclass(frozen=True, slots=True)
class Candidates:
    """Everything that matches, and how well; `by_words` when nothing could be compared by meaning."""

    found: Mapping[MemoryId, Likeness] = field(default_factory=dict)
    warnings: tuple[Warning, ...] = ()
    by_words: bool = False


class Question(NamedTuple):
    text: str
    asked: Asking
    threshold: float
    wanted: Filter


def candidates(parts: Parts, question: Question, caller: Caller) -> Candidates:
    vector, why = query_vector(parts.embedder, unaddressed(parts.store, question.text, caller))
    if vector is not None:
        try:
            return _by_meaning(parts, vector, question, caller)
        except EmbeddingFailed as error:
            why = Warning("partial_results", f"Vector search unavailable ({error.message}); searched by keyword")
    return _by_words(parts, question, why)


def _by_meaning(parts: Parts, vector: Vector, question: Question, caller: Caller) -> Candidates:
    found, lacking = _near(parts, vector, question, caller)
    warnings = [_lacking(lacking, parts.embedder.model)] if lacking else []
    if not found and question.threshold > 0:
        below, _ = _near(parts, vector, question._replace(threshold=0.0), caller)
        warnings += [_below(below, question.threshold)] if below else []
    return Candidates(found, tuple(warnings))


def _near(parts: Parts, vector: Vector, question: Question, caller: Caller) -> tuple[dict[MemoryId, Likeness], int]:
    """What reaches the threshold, and how many memories have no vectors yet.

    Below what counts as a hit anywhere, a memory must also hold a word of the question.
    """
    store, model, (_, asked, threshold, wanted) = parts.store, parts.embedder.model, question
    some_lack = bool(store.unembedded(model, 1, by_others=True, user=caller.user))
    cosines = store.near(vector, model, wanted, threshold if threshold > 0 and not some_lack else ALL)
    lacking = max(store.total(wanted) - len(cosines), 0) if some_lack else 0
    held = store.holding(list(asked.rarity), wanted) if threshold < MIN_COSINE else set()
    found = {
        id: Likeness(min(cosine, 1.0))
        for id, cosine in cosines.items()
        if cosine >= threshold and (cosine >= MIN_COSINE or id in held)
    }
    shares = _shares(store, asked, wanted) if lacking else {}
    by_words = {id: share for id, share in shares.items() if id not in cosines and share >= threshold}
    return found | {id: Likeness(share, True) for id, share in by_words.items()}, lacking


def _by_words(parts: Parts, question: Question, why: Warning | None) -> Candidates:
    store = parts.store
    if not question.asked.rarity:
        raise _nothing_to_go_by(why, off=parts.embedder.state().name == "off")
    note = "without the embedding model, all memories that hold a word of the question match, whatever the threshold"
    told = Warning("threshold_not_applied", f"{note}; similarity is the share of its words that they hold, by rarity")
    found = {id: Likeness(share, True) for id, share in _shares(store, question.asked, question.wanted).items()}
    return Candidates(found, (why, told) if why else (told,), by_words=True)


def _nothing_to_go_by(why: Warning | None, *, off: bool) -> EmbeddingFailed:
    """A question without words, and no model; where that is switched off, trying again is of no use."""
    wordless = f"{why.message if why else 'no vector could be made'}; and the question has no word to search for"
    failed = EmbeddingFailed(f"{wordless}. Ask in words{'' if off else ', or try again once the model is ready'}")
    failed.retry_possible = not off
    return failed


def _shares(store: Store, asked: Asking, wanted: Filter) -> dict[MemoryId, float]:
    """How much of the question each memory holds: asked of the index term by term, so that no text is read."""
    held: dict[MemoryId, float] = {}
    for term, rare in asked.rarity.items():
        for id in store.holding([term], wanted):
            held[id] = held.get(id, 0.0) + rare
    whole = sum(asked.rarity.values())
    return {id: min(rare / whole, 1.0) for id, rare in held.items()}


def _lacking(number: int, model: str) -> Warning:
    are = "1 memory has" if number == 1 else f"{number:,} memories have"
    note = f"{are} no vectors by {model} yet and could be compared by words only"
    return Warning("keyword_only", f"{note}: by the share of the question's words that they hold")


def _below(found: Mapping[MemoryId, Likeness], threshold: float) -> Warning:
    best = max(likeness.similarity for likeness in found.values())
    lie = "1 memory lies" if len(found) == 1 else f"{len(found):,} memories lie"
    note = f"nothing reaches the threshold of {threshold:g}; {lie} below it, the best at {best:.2f}"
    return Warning("below_threshold", f"{note}. Lower the threshold to see more")
