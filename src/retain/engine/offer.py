"""The offer: which memories to put in front of an agent for what the user just asked, unasked; often none."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from retain.domain.choosing import MOST, above_floor, excerpt, says_the_same, score
from retain.domain.memory import Memory, MemoryId, Stored
from retain.domain.model import alike
from retain.domain.recall import Hit, Strategy
from retain.domain.session import Caller
from retain.domain.telling import rarity, says_something, shared, telling
from retain.domain.words import terms
from retain.engine.parts import Parts
from retain.engine.recall.recall import Question, recall
from retain.engine.recall.scoring import weights
from retain.engine.trust.order import current, holds

LOOKED_AT = 20  # hits of recall
_LONGEST = 10_000  # characters of a memory whose words are looked at


@dataclass(frozen=True, slots=True)
class Prompted:
    """What the user asked. `lost` is when the conversation was last cut: what was said in it since is still there."""

    text: str
    lost: datetime | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A memory worth showing. `terms` has its cosine as `meaning`, and as `words` how much of the prompt it says."""

    stored: Stored
    score: float
    terms: Mapping[str, float]
    replaces: MemoryId | None = None
    """The older memory that fitted, which this one contradicts."""
    before: Memory | None = None
    """What was said before and is contradicted by it, undecided."""

    @property
    def memory(self) -> Memory:
        return self.stored.memory


@dataclass(frozen=True, slots=True)
class Offered:
    """Best first; `by_meaning` is False when only words could be compared."""

    notes: tuple[Note, ...] = ()
    by_meaning: bool = False


@dataclass(slots=True)
class _Choice:
    """Notes as they are chosen, one for each thing that is said."""

    notes: list[Note] = field(default_factory=list)
    said: list[set[str]] = field(default_factory=list)

    def add(self, note: Note) -> None:
        held = _held(note.memory)
        if not any(says_the_same(held, other) for other in self.said):
            self.notes.append(note)
            self.said.append(held)


def offer(parts: Parts, prompt: Prompted, caller: Caller, seen: Collection[MemoryId] = ()) -> Offered:
    """What fits a prompt and was not `seen` yet. Never waits for a model that is not loaded.

    What a newer memory contradicts comes with that one only. Those that hold no longer, have faded, or were said in
    this very conversation are left out.
    """
    is_ready = parts.embedder.state().name == "ready"
    if not says_something(prompt.text) and not (is_ready and _asks(prompt.text)):
        return Offered()
    strategy = Strategy.HYBRID if is_ready else Strategy.KEYWORD
    question = Question(excerpt(prompt.text), strategy=strategy, limit=LOOKED_AT, second_look=False, rules=False)
    answer = recall(parts, question, caller)
    now = parts.clock.now()
    fitting = {note.memory.id: note for note in _noted(parts, prompt.text, answer.hits)}
    fitting = {id: note for id, note in fitting.items() if holds(note.memory, now)}
    best = above_floor({id: note.score for id, note in fitting.items()})
    chosen = _Choice()
    for note in _undisputed(parts, [fitting[id] for id in best], caller, now):
        if not _is_said_here(note.memory, prompt, caller):
            chosen.add(note)
    # What was seen is taken out last: what fits less must not come up because the best is known.
    return Offered(tuple([note for note in chosen.notes if note.memory.id not in seen][:MOST]), is_ready)


def _asks(prompt: str) -> bool:
    """Whether common words are a question all the same: "where do tests live?" has meaning, "what now?" has none."""
    return prompt.rstrip().endswith("?") and len(telling(prompt)) > 1


def _noted(parts: Parts, prompt: str, hits: Sequence[Hit]) -> list[Note]:
    asked = telling(prompt)
    corpus = parts.store.corpus([term for _, them in asked for term in them])
    rare = rarity(corpus.documents, corpus.holding)
    full, notes = weights(excerpt(prompt))["meaning"], []
    for hit in hits:
        words = shared(asked, rare, _held(hit.stored.memory))
        has_vector = "meaning" in hit.terms and hit.stored.model in alike(parts.embedder.model)
        cosine = hit.terms["meaning"] / full if has_vector else None
        found = {"words": words} if cosine is None else {"meaning": cosine, "words": words}
        notes.append(Note(hit.stored, score(cosine, words), found))
    return notes


def _is_said_here(memory: Memory, prompt: Prompted, caller: Caller) -> bool:
    """Whether the agent has it before it anyway, since it was said in this conversation."""
    is_here = memory.session is not None and memory.session == caller.session
    return is_here and (prompt.lost is None or memory.created > prompt.lost)


def _undisputed(parts: Parts, notes: Sequence[Note], caller: Caller, now: datetime) -> list[Note]:
    """The notes, in which what a newer memory contradicts gives way to that, and what a summary speaks for to it."""
    stands = current(parts.store, [note.stored for note in notes], caller, now)
    kept: dict[MemoryId, Note] = {}
    for note in notes:
        found = stands[note.memory.id]
        last = found.stored.memory.id
        replaces = note.memory.id if note.memory.id != last else None
        kept.setdefault(last, Note(found.stored, note.score, note.terms, replaces, found.before))
    told = {id for note in kept.values() for id in note.memory.derived_from}
    return [note for id, note in kept.items() if not (note.memory.consolidated and id in told)]


def _held(memory: Memory) -> set[str]:
    """The terms that a full-text index has of it."""
    return set(terms("\n".join(filter(None, (memory.title, memory.text[:_LONGEST], memory.source.file)))))
