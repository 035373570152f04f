"""Principles: what episodes that speak of one thing show together, kept with the evidence it rests on.

One run is one atomic write, and can be undone. A run that found nothing is recorded too: whoever asks when memory was
last consolidated is told.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from retain.domain.category import LIVES
from retain.domain.changes import AtVersion, Changes, NoTwin, Run, RunFree
from retain.domain.claims import fingerprint
from retain.domain.ending import Way
from retain.domain.graph import SUPPORTS, Tie
from retain.domain.ids import new_id
from retain.domain.memory import Event, Json, Kind, Memory, Scope, State
from retain.domain.recall import Filter, Warning
from retain.domain.session import Caller
from retain.engine.embed import Embedded, embedded
from retain.engine.ending import endable
from retain.engine.knowledge.support import revived
from retain.engine.lifecycle.clusters import Cluster, listed, missing
from retain.engine.lifecycle.consolidation import UNDONE, reason_of
from retain.engine.parts import Parts, places, settle
from retain.engine.succession import entry
from retain.engine.trust.founding import LASTING, Founded, founded, joined
from retain.engine.trust.generalising import BY_RULE, Wording, worded
from retain.engine.trust.grouping import Doubt, disputed, grouped
from retain.errors import Fault, InvalidInput
from retain.ports import Store

STRATEGY = "principles"
SMALLEST, THRESHOLD = 3, 0.80
MOST_EPISODES = 5000  # the newest; comparing them takes about a second
MOST_MADE = 100
SECONDS = 120.0  # for a language model, where nobody says how long there is


@dataclass(frozen=True, slots=True)
class Principles:
    """What a run made, or would make; `extended` are principles that more episodes speak for now. `lost_to` is the
    run that did the same work first."""

    run: str | None = None
    evaluated: int = 0
    clusters: int = 0
    made: tuple[Memory, ...] = ()
    extended: tuple[Memory, ...] = ()
    by: str = BY_RULE
    dry_run: bool = False
    lost_to: str | None = None
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """How to look for principles; `asleep` when that is a part of sleeping."""

    smallest: int = SMALLEST
    threshold: float = THRESHOLD
    dry_run: bool = False
    left: Callable[[], float] = field(default=lambda: SECONDS)
    asleep: bool = False


@dataclass(slots=True)
class _Kept:
    """What is not done again when somebody else was faster: words and vectors; and what was planned before."""

    wordings: dict[tuple[str, ...], Wording] = field(default_factory=dict)
    vectors: dict[str, Embedded] = field(default_factory=dict)
    warnings: tuple[Warning, ...] = ()
    run: Run | None = None


def consolidate(
    parts: Parts, caller: Caller, *, smallest: int = SMALLEST, threshold: float = THRESHOLD, dry_run: bool = False
) -> Principles:
    """Finds the principles in the caller's episodes, or only shows them."""
    return generalise(parts, caller, Look(smallest, threshold, dry_run))


def generalise(parts: Parts, caller: Caller, look: Look) -> Principles:
    """As `consolidate`; a language model is asked within the time there is."""
    _check(look)
    kept = _Kept()

    def plan() -> tuple[Changes, Principles]:
        if kept.run and (winner := _beaten_by(parts.store, kept.run)):
            note = f"run {winner} consolidated the same memories at the same moment; nothing was done twice"
            warning = Warning("lost_to_another_run", note)
            return Changes(at=kept.run.at), Principles(evaluated=kept.run.analysed, lost_to=winner, warnings=(warning,))
        return _planned(parts, caller, look, kept)

    return replace(plan()[1], run=None, dry_run=True) if look.dry_run else settle(parts.store, plan)


def run_scope(caller: Caller) -> str:
    """Whose a run is: the project's, or the user's where there is none."""
    return places(caller, (Scope.PROJECT,) if caller.project else (Scope.USER,))[0].key


def _check(look: Look) -> None:
    faults = []
    if look.smallest < 2:
        faults.append(Fault("min_cluster_size", str(look.smallest), "must be at least 2; one episode shows nothing"))
    if not 0 <= look.threshold <= 1:
        faults.append(Fault("similarity_threshold", str(look.threshold), "is a cosine, so it must be within 0 and 1"))
    if faults:
        raise InvalidInput(faults)


def _beaten_by(store: Store, lost: Run) -> str | None:
    winner = store.latest_run(lost.scope)
    is_same = winner is not None and not winner.undone and not set(lost.sources).isdisjoint(winner.sources)
    return winner.id if winner and is_same else None


def _planned(parts: Parts, caller: Caller, look: Look, kept: _Kept) -> tuple[Changes, Principles]:
    now, scope = parts.clock.now(), run_scope(caller)
    latest = parts.store.latest_run(scope)
    episodes = _episodes(parts.store, caller, Way.SUMMARISE if look.asleep else Way.GENERALISE)
    clusters = grouped(parts.store, episodes, parts.embedder.model, look.threshold, look.smallest)
    given_up = _given_up(parts.store, caller, look)
    clusters = [cluster for cluster in clusters if not any(_rests_on(known, cluster) for known in given_up)]
    agreed, doubts = _agreed(parts, clusters[:MOST_MADE])
    wordings = _wordings(parts, agreed, look, kept)
    made = _founded(parts, list(zip(agreed, wordings, strict=True)), kept, now)
    by = ", ".join(dict.fromkeys(wording.by for wording in wordings)) or BY_RULE
    reply = Principles(
        new_id(now),
        len(episodes),
        len(clusters),
        tuple(one.memory for one in made if one.before is None),
        tuple(one.memory for one in made if one.before),
        by,
        warnings=(
            *missing(parts.store, [memory.id for memory in episodes], parts.embedder.model),
            *kept.warnings,
            *doubts,
            *_unfinished(len(clusters)),
        ),
    )
    kept.run = _run(reply, scope, look, made, now)
    return _changes(parts.store, made, kept.run, RunFree(scope, latest.id if latest else None)), reply


def _episodes(store: Store, caller: Caller, way: Way) -> list[Memory]:
    """What no summary speaks for yet, newest first; not what is meant to fade, such as progress: a principle lasts."""
    wanted = Filter(places(caller), kinds=(Kind.EPISODIC,))
    found = (memory for memory in listed(store, wanted) if not memory.consolidated and memory.category not in LIVES)
    return endable(store, list(islice(found, MOST_EPISODES)), way)


def _given_up(store: Store, caller: Caller, look: Look) -> list[Memory]:
    """Principles that somebody has forgotten: to find them again would be nagging. One that went with its run comes
    back when somebody asks for a run."""
    wanted = Filter(places(caller), kinds=LASTING, states=(State.FORGOTTEN,))
    found = [memory for memory in listed(store, wanted) if memory.derived_from]
    return [m for m in found if look.asleep or not (m.status.reason or "").startswith(UNDONE)]


def _rests_on(principle: Memory, cluster: Cluster) -> bool:
    """Whether they share half of the smaller one's episodes."""
    members = {memory.id for memory in cluster.members}
    shared = members.intersection(principle.derived_from)
    return 2 * len(shared) >= min(len(members), len(principle.derived_from))


def _agreed(parts: Parts, clusters: Sequence[Cluster]) -> tuple[list[Cluster], tuple[Warning, ...]]:
    """The clusters whose members can all be true, and what to say about the others."""
    found = [disputed(parts.store, cluster) for cluster in clusters]
    agreed = [cluster for cluster, doubt in zip(clusters, found, strict=True) if not doubt]
    recorded = [doubt for doubt in found if doubt and doubt.recorded]
    unrecorded = [doubt for doubt in found if doubt and not doubt.recorded]
    warnings = (
        *_doubtful(recorded, "contradict each other", "resolve that first"),
        *_doubtful(unrecorded, "seem to contradict each other", "change or forget the one that does not hold"),
    )
    return agreed, warnings


def _doubtful(doubts: Sequence[Doubt], how: str, way_out: str) -> Iterator[Warning]:
    if doubts:
        what = "1 group of episodes" if len(doubts) == 1 else f"{len(doubts)} groups of episodes"
        pair = f"{doubts[0].older.id} and {doubts[0].newer.id}"
        yield Warning("contradiction", f"{what} made no principle, because members {how} ({pair}); {way_out}")


def _wordings(parts: Parts, clusters: Sequence[Cluster], look: Look, kept: _Kept) -> list[Wording]:
    unknown = [cluster for cluster in clusters if tuple(cluster.texts) not in kept.wordings]
    found, warnings = worded(parts.llm, unknown, look.left, parts.embedder)
    kept.wordings |= {tuple(cluster.texts): one for cluster, one in zip(unknown, found, strict=True)}
    kept.warnings = tuple(dict.fromkeys((*kept.warnings, *warnings)))
    return [kept.wordings[tuple(cluster.texts)] for cluster in clusters]


def _unfinished(clusters: int) -> tuple[Warning, ...]:
    note = f"a run looks at {MOST_MADE} groups of episodes, what matters most first; run it again for what is left"
    return (Warning("partial_results", note),) if clusters > MOST_MADE else ()


def _founded(parts: Parts, worded: Sequence[tuple[Cluster, Wording]], kept: _Kept, now: datetime) -> list[Founded]:
    made: list[Founded] = []
    for cluster, wording in worded:
        if wording.text not in kept.vectors:
            kept.vectors[wording.text] = embedded(parts.embedder, wording.text)
        vectors = kept.vectors[wording.text]
        one = founded(parts.store, cluster, wording, vectors, now)
        # Two groups may come to the same principle.
        place = next((place for place, other in enumerate(made) if other.is_twin(one)), None)
        if place is None:
            made.append(one)
        else:
            made[place] = joined(made[place], cluster.members, now)
    return made


def _run(reply: Principles, scope: str, look: Look, made: Sequence[Founded], now: datetime) -> Run:
    metrics: Mapping[str, Json] = {
        "evaluated": reply.evaluated,
        "clusters": reply.clusters,
        "made": len(reply.made),
        "extended": len(reply.extended),
        "threshold": look.threshold,
        "smallest": look.smallest,
        "by": reply.by,
        **({"asleep": True} if look.asleep else {}),
    }
    sources = tuple(memory.id for one in made for memory in one.members)
    return Run(
        reply.run or "",
        scope,
        STRATEGY,
        now,
        tuple(one.memory.id for one in made),
        sources,
        reply.evaluated,
        None,
        metrics,
    )


def _changes(store: Store, made: Sequence[Founded], run: Run, free: RunFree) -> Changes:
    members = [memory for one in made for memory in one.members]
    seen = {memory.id: memory for one in made for memory in (*one.members, *((one.before,) if one.before else ()))}
    new = [one for one in made if one.before is None]
    woken = [one for one in made if one.before and not one.before.is_active]
    return Changes(
        at=run.at,
        expects=(free, *(AtVersion(m.id, m.version) for m in seen.values()), *_untold(store, new)),
        memories=(
            *(one.memory for one in made),
            *(replace(m, consolidated=True, version=m.version + 1) for m in members),
        ),
        embeddings=tuple(e for one in new if one.vectors for e in one.vectors.of(one.memory.id)),
        history=(
            *(entry(one.before, _event(one.before), run.at, reason_of(run)) for one in made if one.before),
            *(entry(one.memory, Event.CREATED, run.at, reason_of(run)) for one in new),
            *(entry(memory, Event.CONSOLIDATED, run.at, reason_of(run)) for memory in members),
        ),
        entities=tuple(entity for one in new for entity in one.links.entities),
        links=tuple(link for one in new for link in one.links.links),
        relations=(
            *(relation for one in new for relation in one.links.relations),
            *(relation for one in woken for relation in revived(store, one.memory)),
        ),
        stale=tuple((one.memory.id, False) for one in woken),
        ties=tuple(_ties(store, made, run.at)),
        runs=(run,),
    )


def _event(before: Memory) -> Event:
    return Event.REINFORCED if before.is_active else Event.WOKEN


def _untold(store: Store, new: Sequence[Founded]) -> Iterator[NoTwin]:
    """Nobody else has said exactly this by then; where an episode does so in the same words, it may."""
    for one in new:
        mark = fingerprint(one.memory.text)
        if store.twin(one.memory.place, mark) is None:
            yield NoTwin(one.memory.place, mark)


def _ties(store: Store, made: Sequence[Founded], now: datetime) -> Iterator[Tie]:
    """Which episodes speak for what; one that does so already is left as it is, so that undoing leaves it too."""
    there = {(tie.source, tie.target) for tie in store.ties([one.memory.id for one in made]) if tie.type == SUPPORTS}
    for one in made:
        for member in one.members:
            if (member.id, one.memory.id) not in there:
                yield Tie(member.id, one.memory.id, SUPPORTS, now)
