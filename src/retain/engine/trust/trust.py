"""Trust: what is known by whose word, how far it holds, what disputes it, and what comes of sleeping on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from retain.domain.changes import ContradictionState
from retain.domain.graph import CAUSAL
from retain.domain.memory import Kind, MemoryId, State, Stored
from retain.domain.recall import Filter
from retain.domain.session import Caller
from retain.domain.trust import CROWDED
from retain.engine.comparer import Comparer
from retain.engine.lifecycle import merging
from retain.engine.parts import Parts, Served, places
from retain.engine.remember import Remembered
from retain.engine.trust import dormancy, principles, sleeping
from retain.engine.trust.disputes import Dispute, Resolved, Verdict, listed, resolve
from retain.engine.trust.encoding import Encoded, Episode, encode
from retain.engine.trust.evidence import Known, weigh
from retain.engine.trust.recalling import TrustAnswer, TrustQuestion, recall_by_trust

MOST_RUNS = 10_000
TIDYING = (merging.STRATEGY, dormancy.STRATEGY)  # runs that make nothing of episodes


@dataclass(frozen=True, slots=True)
class Introspection:
    """How much is known here, of which kind, and how sound it is."""

    kinds: dict[str, int]
    causal_links: int
    dormant: int
    contradictions: dict[str, int]
    last_consolidation: datetime | None
    runs: int


class Trust:
    """Safe to call from any thread."""

    def __init__(
        self, parts: Parts, served: Served, embedding: Callable[[Remembered], Remembered], comparer: Comparer
    ) -> None:
        self._parts, self._served, self._embedding, self._comparer = parts, served, embedding, comparer

    def encode(self, episode: Episode, caller: Caller) -> Encoded:
        """Whoever encodes wants to know what it contradicts, and waits for that a little."""
        done = encode(self._parts, episode, caller)
        remembered = self._comparer.told_of_episode(self._embedding(done.remembered))
        return replace(done, remembered=remembered, reopened=(*done.reopened, *self._comparer.reopened(done.memory.id)))

    def recall(self, question: TrustQuestion, caller: Caller) -> TrustAnswer:
        answer = recall_by_trust(self._parts, question, caller)
        used = [hit.id for hit in answer.hits] + [hit.id for hit in answer.dormant if hit.similarity >= CROWDED]
        self._served(used, caller, counted=True)
        return answer

    def weigh(self, stored: Sequence[Stored], caller: Caller) -> dict[MemoryId, Known]:
        return weigh(self._parts, stored, caller)

    def consolidate(
        self, caller: Caller, *, smallest: int = 3, threshold: float = 0.80, dry_run: bool = False
    ) -> principles.Principles:
        done = principles.consolidate(self._parts, caller, smallest=smallest, threshold=threshold, dry_run=dry_run)
        self._comparer.soon()
        return done

    def sleep(
        self, caller: Caller, *, dry_run: bool = False, left: Callable[[], float] | None = None
    ) -> sleeping.Slept:
        done = sleeping.sleep(self._parts, caller, dry_run=dry_run, left=left)
        self._comparer.soon()
        return done

    def disputes(
        self, caller: Caller, states: Sequence[ContradictionState], limit: int, offset: int = 0
    ) -> tuple[list[Dispute], int]:
        return listed(self._parts, caller, states, limit, offset)

    def resolve(self, id: str, verdict: Verdict | None, caller: Caller) -> Resolved:
        return resolve(self._parts, id, verdict, caller)

    def introspect(self, caller: Caller) -> Introspection:
        store, here = self._parts.store, places(caller)
        keys = {place.key for place in here}
        runs = [run for run in store.runs(MOST_RUNS) if run.scope in keys and run.strategy not in TIDYING]
        return Introspection(
            {kind.value: store.total(Filter(here, kinds=(kind,))) for kind in Kind},
            store.tied(CAUSAL, here),
            store.total(Filter(here, states=(State.DORMANT,))),
            {state.value: store.disputes(here, (state,), 1)[1] for state in ContradictionState},
            max((run.at for run in runs), default=None),
            len(runs),
        )
