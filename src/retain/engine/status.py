"""The state of the memory, as it is."""

from dataclasses import dataclass
from datetime import datetime

from retain.domain.connection import Connection
from retain.domain.model import CacheStats, ModelState
from retain.domain.session import Caller, Session
from retain.engine.parts import Parts
from retain.ports import Counts


@dataclass(frozen=True, slots=True)
class Report:
    counts: Counts
    size: int
    model: str
    dimensions: int
    model_state: ModelState
    cache: CacheStats
    session: Session | None
    notices: tuple[str, ...]
    connection: Connection
    uptime: float


def report(parts: Parts, caller: Caller, since: datetime) -> Report:
    store, embedder = parts.store, parts.embedder
    return Report(
        counts=store.counts(caller.user, embedder.model),
        size=store.size(),
        model=embedder.model,
        dimensions=embedder.dimensions,
        model_state=embedder.state(),
        cache=embedder.stats(),
        session=store.session(caller.session, caller.user) if caller.session else None,
        notices=tuple(store.notices()),
        connection=store.connection(),
        uptime=(parts.clock.now() - since).total_seconds(),
    )
