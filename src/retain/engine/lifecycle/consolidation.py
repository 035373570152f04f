"""Consolidation: what a session said in many episodes becomes a few facts, and what keeps coming up a pattern.

One run is one atomic write, and can be undone: the history rows that it leaves name it.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from retain.domain.changes import AtVersion, Changes, Conflict, Run, RunFree
from retain.domain.claims import fingerprint
from retain.domain.ending import RUN, Way
from retain.domain.ids import new_id
from retain.domain.memory import Event, Json, Kind, Memory, MemoryId, Place, Scope, Source, State
from retain.domain.recall import Filter, Warning
from retain.domain.session import Caller
from retain.engine.embed import Embedded, embedded
from retain.engine.ending import endable
from retain.engine.knowledge.entities import Linking, linked_to
from retain.engine.lifecycle.clusters import Cluster, clustered, episodes_of, evidence_for, is_pattern, listed, missing
from retain.engine.lifecycle.summary import extended, is_preference, recurring, summary, themes
from retain.engine.parts import ATTEMPTS, Parts, places
from retain.engine.succession import entry
from retain.errors import StoreBusy
from retain.ports import Store

Strategy = Literal["summarize", "extract_patterns", "full"]

SAME_SUMMARY = 0.92  # as the contracts have it: at or above, it is merged and not added
SESSIONS_OF_A_PATTERN = 3  # twice may be chance
MOST_TAGS = 12
MOST_MADE = 50  # facts, and patterns, in one run: some 10 ms each, and a run should take less than 2 s
UNDONE = "undone run "


@dataclass(frozen=True, slots=True)
class Pattern:
    """What keeps coming up, how often, and how far it seems to reach; `memory` holds it."""

    pattern: str
    frequency: int
    suggested_scope: Scope
    memory: MemoryId


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would write, and what it expects to be true by then."""

    run: Run
    changes: Changes
    summaries: tuple[Memory, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What a run made, or would make; `run` undoes it. `lost_to` is the run that did the same work first."""

    memories: tuple[Memory, ...]
    patterns: tuple[Pattern, ...]
    analysed: int
    run: str | None = None
    lost_to: str | None = None
    dry_run: bool = False
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class _Made:
    """A memory that a run adds (`before` is None) or extends, and the sources that joined it in this run."""

    memory: Memory
    before: Memory | None
    cluster: Cluster
    sources: tuple[MemoryId, ...]
    vectors: Embedded | None = None
    links: Linking = field(default_factory=Linking)


def consolidate(
    parts: Parts, caller: Caller, session: str | None, strategy: Strategy = "full", *, dry_run: bool = False
) -> Consolidated:
    """Carries out a plan, or only shows it. When there is nothing new to say, nothing is written, not even the run."""
    for _ in range(ATTEMPTS):
        planned = plan(parts, caller, session, strategy)
        run, reply = planned.run, replace(_told(planned), dry_run=dry_run)
        if dry_run or not run.made:
            return reply
        if not isinstance(parts.store.apply(planned.changes), Conflict):
            return replace(reply, run=run.id)
        winner = parts.store.latest_run(run.scope)
        if winner and not winner.undone and set(winner.sources) & set(run.sources):
            note = f"run {winner.id} consolidated the same memories at the same moment; nothing was done twice"
            warning = Warning("lost_to_another_run", note)
            return Consolidated((), (), run.analysed, lost_to=winner.id, warnings=(warning,))
    raise StoreBusy("others kept changing the memories to consolidate; nothing was written, try again")


def plan(parts: Parts, caller: Caller, session: str | None, strategy: Strategy) -> Plan:
    """Reads and decides, writes nothing. Without any session, all that the caller sees is summarised."""
    caller = replace(caller, session=session or caller.session)
    now = parts.clock.now()
    scope = places(caller, (Scope.PROJECT,) if caller.project else (Scope.USER,))[0].key
    latest = parts.store.latest_run(scope)
    episodes = episodes_of(parts.store, caller) if strategy != "extract_patterns" else []
    evidence = evidence_for(parts.store, caller) if strategy != "summarize" else []
    summaries, patterns = _summaries(parts, episodes, now), _patterns(parts, evidence, caller, now)
    run = Run(
        new_id(now),
        scope,
        strategy,
        now,
        made=tuple(made.memory.id for made in summaries + patterns),
        sources=tuple(dict.fromkeys(id for made in summaries + patterns for id in made.sources)),
        analysed=len({memory.id for memory in episodes + evidence}),
    )
    return Plan(
        run,
        _changes(summaries, patterns, run, RunFree(scope, latest.id if latest else None)),
        tuple(made.memory for made in summaries),
        tuple(_pattern(made) for made in patterns),
        (
            *missing(parts.store, list({m.id for m in episodes + evidence}), parts.embedder.model),
            *_unfinished(max(len(summaries), len(patterns))),
        ),
    )


def _told(planned: Plan) -> Consolidated:
    return Consolidated(planned.summaries, planned.patterns, planned.run.analysed, warnings=planned.warnings)


def _unfinished(made: int) -> tuple[Warning, ...]:
    note = f"a run makes at most {MOST_MADE} facts and {MOST_MADE} patterns; run it again for what is left"
    return (Warning("partial_results", note),) if made == MOST_MADE else ()


def _summaries(parts: Parts, episodes: Sequence[Memory], now: datetime) -> list[_Made]:
    """A fact for every cluster of episodes that belong to the same place."""
    found: list[tuple[Place, Cluster]] = []
    for place in dict.fromkeys(_beyond_session(m.place) for m in episodes):
        there = [m for m in episodes if _beyond_session(m.place) == place]
        found += [(place, cluster) for cluster in clustered(parts.store, there, parts.embedder.model)]
    made: list[_Made] = []
    for place, cluster in sorted(found, key=lambda one: one[1].weight, reverse=True)[:MOST_MADE]:
        taken = {one.memory.id for one in made}
        made.append(_summary(parts, cluster, place, taken, now))
    return made


def _beyond_session(place: Place) -> Place:
    """Where a summary belongs: what a session said outlives it in its own project, never in another's."""
    if place.project:
        return Place(Scope.PROJECT, place.user, place.project)
    return Place(Scope.USER, place.user)


def _summary(parts: Parts, cluster: Cluster, place: Place, taken: Set[MemoryId], now: datetime) -> _Made:
    """A new fact, or the one that already says so, extended by what is new."""
    text = summary(cluster.texts, cluster.near)
    vectors = embedded(parts.embedder, text)
    same = _same(parts.store, text, vectors, place)
    if same and same.id not in taken:
        # What somebody worded stays as it is, and has more behind it.
        may_reword = bool(endable(parts.store, [same], Way.REWORD))
        text = extended(same.text, cluster.texts, cluster.near) if may_reword else same.text
        vectors = embedded(parts.embedder, text, same.title)
        memory = _extended(replace(same, text=text), cluster, [m.id for m in cluster.members], now)
    else:
        same, memory = None, _new(cluster, Kind.SEMANTIC, text, place, now)
    sources = tuple(m.id for m in cluster.members)
    return _Made(memory, same, cluster, sources, vectors, linked_to(parts.store, memory, (), now))


def _same(store: Store, text: str, vectors: Embedded, place: Place) -> Memory | None:
    """A fact in this place with the same text, or a summary that is as good as the same."""
    twin = store.twin(place, fingerprint(text))
    if twin and twin.memory.kind is Kind.SEMANTIC:
        return twin.memory
    if vectors.whole is None:
        return None
    near = store.by_vector(vectors.whole, vectors.model, Filter((place,), kinds=(Kind.SEMANTIC,)), 5).scores
    found = store.memories([id for id, cosine in near.items() if cosine >= SAME_SUMMARY])
    return next((stored.memory for stored in found.values() if stored.memory.derived_from), None)


def _patterns(parts: Parts, evidence: Sequence[Memory], caller: Caller, now: datetime) -> list[_Made]:
    """What comes up in several sessions: new patterns, and known ones that came up again."""
    wanted = Filter(places(caller), kinds=(Kind.PROCEDURAL,), states=(State.ACTIVE, State.FORGOTTEN))
    known = [m for m in listed(parts.store, wanted) if is_pattern(m)]
    known = [m for m in known if m.is_active or not (m.status.reason or "").startswith(UNDONE)]
    made: list[_Made] = []
    # One summary can stand for many sessions, so it is sessions that are counted and not members.
    found = clustered(parts.store, evidence, parts.embedder.model, smallest=1)
    for cluster in sorted(found, key=lambda one: one.weight, reverse=True):
        if len(_sessions(parts.store, cluster)) < SESSIONS_OF_A_PATTERN:
            continue
        before = next((m for m in known if _is_about(m, cluster)), None)
        if before is None:
            made.append(_first_seen(parts, cluster, now))
        # One that the user has forgotten stays so: finding it again would be nagging.
        elif before.is_active and not {*cluster.roots} <= {*before.derived_from}:
            made.append(_seen_again(parts.store, cluster, before, now))
        if len(made) == MOST_MADE:
            break
    return made


def _first_seen(parts: Parts, cluster: Cluster, now: datetime) -> _Made:
    # In the project if any source is: what a project said does not leave it, whatever scope is suggested.
    narrowest = min((m.place for m in cluster.members), key=lambda place: place.project is None)
    text = recurring(cluster.texts, cluster.near)
    memory = replace(
        _new(cluster, Kind.PROCEDURAL, text, _beyond_session(narrowest), now),
        session=None,
        category="pattern",
        metadata={"topics": list[Json](themes(cluster.texts))},
        derived_from=cluster.roots,
    )
    links = linked_to(parts.store, memory, (), now)
    vectors = embedded(parts.embedder, text)
    return _Made(counted(parts.store, memory), None, cluster, cluster.roots, vectors, links)


def _seen_again(store: Store, cluster: Cluster, before: Memory, now: datetime) -> _Made:
    joined = tuple(root for root in cluster.roots if root not in before.derived_from)
    return _Made(counted(store, _extended(before, cluster, joined, now)), before, cluster, joined)


def _sessions(store: Store, cluster: Cluster) -> set[str]:
    """Where the things were said that a cluster rests on."""
    ids = [root for m in cluster.members for root in m.derived_from]
    said = [*cluster.members, *(stored.memory for stored in store.memories(ids).values())]
    return {m.session for m in said if m.session}


def counted(store: Store, pattern: Memory) -> Memory:
    """A pattern with how often it came up, and in how many sessions."""
    sessions = _sessions(store, Cluster((pattern,)))
    counts: dict[str, Json] = {"frequency": len(pattern.derived_from), "sessions": len(sessions)}
    return replace(pattern, metadata={**pattern.metadata, **counts})


def _is_about(pattern: Memory, cluster: Cluster) -> bool:
    """Whether a known pattern and a cluster share half of the smaller one's sources."""
    shared = {*cluster.roots} & {*pattern.derived_from}
    return 2 * len(shared) >= min(len(cluster.roots), len(pattern.derived_from))


def _pattern(made: _Made) -> Pattern:
    memory, cluster = made.memory, made.cluster
    spans = len({m.place.project for m in cluster.members}) > 1
    everywhere = spans or memory.scope is Scope.USER or is_preference(cluster.texts)
    return Pattern(memory.text, len(memory.derived_from), Scope.USER if everywhere else Scope.PROJECT, memory.id)


def _new(cluster: Cluster, kind: Kind, text: str, place: Place, now: datetime) -> Memory:
    newest = cluster.members[-1]
    return Memory(
        id=new_id(now),
        text=text,
        kind=kind,
        place=place,
        session=newest.session,
        tags=cluster.tags[:MOST_TAGS],
        importance=cluster.importance,
        source=Source(tool="consolidation"),
        created=now,
        updated=now,
        event_time=newest.event_time,
        valid_from=newest.event_time,
        derived_from=tuple(m.id for m in cluster.members),
    )


def _extended(old: Memory, cluster: Cluster, joined: Sequence[MemoryId], now: datetime) -> Memory:
    return replace(
        old,
        tags=tuple(dict.fromkeys((*old.tags, *cluster.tags)))[: max(MOST_TAGS, len(old.tags))],
        importance=max(old.importance, cluster.importance),
        derived_from=tuple(dict.fromkeys((*old.derived_from, *joined))),
        updated=now,
        version=old.version + 1,
    )


def _changes(summaries: Sequence[_Made], patterns: Sequence[_Made], run: Run, free: RunFree) -> Changes:
    both = [*summaries, *patterns]
    marked = [m for made in summaries for m in made.cluster.members]
    seen = {m.id: m for made in both for m in (*made.cluster.members, *((made.before,) if made.before else ()))}
    reason = reason_of(run)
    return Changes(
        at=run.at,
        expects=(free, *(AtVersion(m.id, m.version) for m in seen.values())),
        memories=(
            *(made.memory for made in both),
            *(replace(m, consolidated=True, version=m.version + 1) for m in marked),
        ),
        embeddings=tuple(e for made in both if made.vectors for e in made.vectors.of(made.memory.id)),
        history=(
            *(entry(made.before, Event.UPDATED, run.at, reason) for made in both if made.before),
            *(entry(made.memory, Event.CREATED, run.at, reason) for made in both if not made.before),
            *(entry(m, Event.CONSOLIDATED, run.at, reason) for m in marked),
        ),
        entities=tuple(e for made in both for e in made.links.entities),
        links=tuple(k for made in both for k in made.links.links),
        relations=tuple(r for made in both for r in made.links.relations),
        runs=(run,),
    )


def reason_of(run: Run) -> str:
    return f"{RUN}{run.id}"
