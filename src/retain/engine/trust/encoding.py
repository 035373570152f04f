"""Encoding: an episode is stored with whose word it is, and taken as evidence for or against what is known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from retain.domain.changes import AtVersion, Changes, Contradiction
from retain.domain.claims import same_claim
from retain.domain.graph import CAUSAL, SUPPORTS, Tie
from retain.domain.memory import Event, Kind, Memory, MemoryId, Provenance, Source
from retain.domain.recall import Warning
from retain.domain.session import Caller
from retain.engine.capture.orders import is_hostile
from retain.engine.drafts import Draft, checked
from retain.engine.embed import embedded
from retain.engine.lifecycle.contradictions import clash
from retain.engine.nearby import Compared, Neighbour, neighbours
from retain.engine.parts import Parts, visible
from retain.engine.remember import Company, Remembered, landing, remember_all
from retain.engine.succession import entry
from retain.engine.thresholds import AGREES
from retain.engine.trust.judging import judged
from retain.engine.trust.reopening import reopened, undecided_since
from retain.errors import Fault, InvalidInput, LLMFailed, shorten
from retain.ports import Store

SALIENCE = 0.5
_SECONDS = 10.0  # that a language model may take; an agent is waiting


@dataclass(frozen=True, slots=True)
class Episode:
    """Something that was observed, told or concluded; `causes` are (relation, memory) with a causal relation."""

    text: str
    provenance: Provenance
    tags: tuple[str, ...] = ()
    salience: float | None = None
    causes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Encoded:
    """What became of an episode, and what it did to what was known."""

    remembered: Remembered
    supports: tuple[MemoryId, ...] = ()
    reopened: tuple[Contradiction, ...] = ()

    @property
    def memory(self) -> Memory:
        return self.remembered.memory


@dataclass(slots=True)
class _Effect:
    """What the last plan would do beside storing the episode."""

    store: Store
    causes: Sequence[tuple[str, MemoryId]]
    compared: Compared
    now: datetime
    supports: tuple[MemoryId, ...] = ()
    reopened: tuple[Contradiction, ...] = field(default=())

    def planned(self, new: Memory, near: Sequence[Neighbour]) -> Changes:
        denied = {id for id, why in self.compared.verdicts.items() if why}
        for_it = [one for one in near if one.memory.id not in {new.id, *denied} and _speaks_for(new, one)]
        self.supports = tuple(one.memory.id for one in for_it)
        # Where no language model was asked, that waits for the comparison: `comparing` does the same.
        is_whole = self.compared.covers(one for one in near if one.memory.id != new.id)
        self.reopened = reopened(self.store, new, near, self.now, denied) if is_whole else ()
        changes = Changes(
            at=self.now,
            expects=undecided_since(self.store, self.reopened),
            contradictions=self.reopened,
            ties=tuple(Tie(new.id, other, relation, self.now) for relation, other in self.causes if other != new.id),
        )
        # Saying the same sentence again is no further evidence for what it agrees with.
        told = {tie.target for tie in self.store.ties([new.id]) if tie.type == SUPPORTS and tie.source == new.id}
        return changes.joined(_reinforced(new, [one for one in for_it if one.memory.id not in told], self.now))


def encode(parts: Parts, episode: Episode, caller: Caller) -> Encoded:
    """Stores an episode, or reinforces the one that says it already; it speaks for and against its neighbours."""
    draft = _draft(episode)
    causes = _causes(parts.store, episode, caller)
    compared, warnings = _compared(parts, draft, caller)
    effect = _Effect(parts.store, causes, compared, parts.clock.now())
    (done,) = remember_all(parts, [draft], caller, company=Company(compared, effect.planned))
    return Encoded(replace(done, warnings=done.warnings + warnings), effect.supports, effect.reopened)


def _draft(episode: Episode) -> Draft:
    return Draft(
        episode.text,
        Kind.EPISODIC,
        importance=SALIENCE if episode.salience is None else episode.salience,
        tags=episode.tags,
        source=Source(provenance=episode.provenance),
        private=True,
    )


def _causes(store: Store, episode: Episode, caller: Caller) -> list[tuple[str, MemoryId]]:
    """The causal links, checked before anything is written."""
    faults = list(_unknown(episode.causes))
    if faults:
        raise InvalidInput(faults)
    return [(relation, visible(store, id, caller, "causes").memory.id) for relation, id in episode.causes]


def _unknown(causes: Sequence[tuple[str, str]]) -> Iterator[Fault]:
    for place, (relation, _) in enumerate(causes):
        if relation not in CAUSAL:
            yield Fault(f"causes[{place}].relation", shorten(relation), f"must be one of: {', '.join(CAUSAL)}")


def _compared(parts: Parts, draft: Draft, caller: Caller) -> tuple[Compared, tuple[Warning, ...]]:
    """What the language model that was chosen says about the neighbours; without one they are compared later."""
    llm = parts.llm
    if llm is None or llm.why_not():
        return Compared(), ()
    clean, _ = checked(draft)
    vectors = embedded(parts.embedder, clean.text)
    near = [one.memory for one in neighbours(parts.store, clean.text, vectors, caller, landing(clean, caller)[0])]
    if not near:
        return Compared(), ()
    try:
        found = judged(llm, clean.text, near, _SECONDS)
    except LLMFailed as error:
        return Compared(), (Warning("llm_failed", f"{error.message}; contradictions are looked for by the judge"),)
    sent = [memory for memory in near if not is_hostile(memory.text)]
    verdicts = {memory.id: found.get(memory.id) for memory in sent}
    return Compared(verdicts, whole=len(sent) == len(near), by_llm=True), ()


def _speaks_for(new: Memory, near: Neighbour) -> bool:
    """Another number, name or identifier is not agreement, whether or not a rule sees a contradiction in it."""
    if near.cosine < AGREES or not near.memory.is_active or not same_claim(near.memory.text, new.text):
        return False
    return clash(near.memory.text, new.text) is None


def _reinforced(new: Memory, supported: Sequence[Neighbour], now: datetime) -> Changes:
    old = [one.memory for one in supported]
    return Changes(
        at=now,
        expects=tuple(AtVersion(memory.id, memory.version) for memory in old),
        memories=tuple(replace(m.said_again(new.event_time), updated=now, version=m.version + 1) for m in old),
        history=tuple(entry(memory, Event.REINFORCED, now, f"{new.id} speaks for it") for memory in old),
        ties=tuple(Tie(new.id, one.memory.id, SUPPORTS, now, one.cosine) for one in supported),
    )
