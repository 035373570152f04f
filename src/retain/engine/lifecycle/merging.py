"""Consolidation by category: what overlaps is merged, what is out of date put aside, and after two weeks destroyed.

A language model decides if one was chosen, else, and where it fails, a rule. One run is one atomic write that can be
undone; destroying what was put aside earlier cannot.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from retain.domain.category import CATEGORIES, LIVES, confidence, kind_of
from retain.domain.changes import Applied, AtVersion, Changes, NoTwin, Run, RunFree
from retain.domain.claims import fingerprint, jaccard, same_claim
from retain.domain.conversation import Speaker
from retain.domain.ids import new_id
from retain.domain.memory import Event, Kind, Memory, MemoryId, Place, Scope, Source, State, Status
from retain.domain.recall import Filter, Warning
from retain.domain.session import Caller
from retain.engine.capture import by_model
from retain.engine.capture.answers import Merge
from retain.engine.capture.supersede import ALIKE, word_of
from retain.engine.drafts import cleaned_text
from retain.engine.embed import Embedded, embedded
from retain.engine.knowledge.entities import linked_to
from retain.engine.knowledge.support import unheard
from retain.engine.lifecycle.consolidation import MOST_TAGS, reason_of
from retain.engine.parts import Parts, places, settle
from retain.engine.succession import entry, succession
from retain.errors import InvalidInput, LLMFailed
from retain.ports import Store

STRATEGY = "categories"
IN_HOOKS, BY_HAND = 5, 3  # memories of a category from which on it is looked at
EVERY = 10  # extractions
CROWDED = 80  # active memories of a project above which every extraction is followed by a look
KEPT_FOR = timedelta(days=14)
MOST = 100  # memories of a category that are looked at, the newest
CALL_SECONDS, _LEAST_SECONDS = 60.0, 5.0
_PAGE = 500
_FADED = "faded"


@dataclass(frozen=True, slots=True)
class Group:
    """Memories that one text stands for; it may be that of one of them."""

    text: str
    sources: tuple[Memory, ...]
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decided:
    """What is to become of a category's memories; what is not named stays."""

    category: str
    groups: tuple[Group, ...] = ()
    dropped: tuple[tuple[Memory, str], ...] = ()
    by: str = "rules"
    warning: Warning | None = None


@dataclass(frozen=True, slots=True)
class Merged:
    """What was done: (id, sources) for each merger, what was put aside, and how much was destroyed for good."""

    merged: tuple[tuple[MemoryId, tuple[MemoryId, ...]], ...] = ()
    dropped: tuple[MemoryId, ...] = ()
    kept: int = 0
    pruned: int = 0
    by: str = "rules"
    run: str | None = None
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class Occasion:
    """When a look is taken: how much time there is, whether what has not changed is looked at again, and whether
    anything is written."""

    at_least: int = BY_HAND
    left: Callable[[], float] = field(default=lambda: 10 * CALL_SECONDS)
    even_unchanged: bool = True
    dry_run: bool = False


def merge_categories(parts: Parts, caller: Caller, occasion: Occasion) -> Merged:
    """Consolidates the project's memories, or the user's where there is no project; never across the two."""
    place = places(caller, (Scope.PROJECT,) if caller.project else (Scope.USER,))[0]
    known = {category: memories for category, memories in _by_category(parts.store, place) if memories}
    looked_at = {category: memories for category, memories in known.items() if len(memories) >= occasion.at_least}
    asked_at = None if occasion.even_unchanged else _last_asked(parts.store, place)
    decided = [_decided(parts, name, memories, occasion, asked_at) for name, memories in looked_at.items()]
    vectors: dict[str, Embedded] = {}
    analysed = sum(map(len, looked_at.values()))

    def plan() -> tuple[Changes, Merged]:
        return _planned(parts, [_still_true(parts.store, one) for one in decided], place, analysed, vectors)

    warnings = tuple(dict.fromkeys(one.warning for one in decided if one.warning))
    if occasion.dry_run:
        return replace(plan()[1], run=None, warnings=warnings)
    return replace(settle(parts.store, plan), pruned=prune(parts, caller), warnings=warnings)


def is_due(store: Store, caller: Caller, event: str, before: int) -> bool:
    """Whether a hook should consolidate; `before` is how many extractions there had been before this one."""
    project = caller.project.id if caller.project else None
    if event == "SessionEnd" or store.extractions(project, caller.user) // EVERY > before // EVERY:
        return True
    return store.total(Filter(places(caller, (Scope.PROJECT,) if caller.project else (Scope.USER,)))) > CROWDED


def prune(parts: Parts, caller: Caller) -> int:
    """Destroys what was put aside more than two weeks ago; says how many."""
    old, pruned = prunable(parts, caller), 0
    for start in range(0, len(old), _PAGE):
        some = old[start : start + _PAGE]
        expects = tuple(AtVersion(memory.id, memory.version) for memory in some)
        gone, ended = tuple(memory.id for memory in some), unheard(parts.store, some)
        changes = Changes(at=parts.clock.now(), expects=expects, purged=gone, ended=ended)
        # What somebody brings back at this moment stays, and the rest waits for the next time.
        pruned += len(some) if isinstance(parts.store.apply(changes), Applied) else 0
    return pruned


def prunable(parts: Parts, caller: Caller) -> list[Memory]:
    """What was put aside so long ago that it is to be destroyed."""
    now = parts.clock.now()
    wanted = Filter(places(caller, (Scope.PROJECT, Scope.USER)), states=(State.ARCHIVED,))
    archived = [memory for page in _pages(parts.store, wanted) for memory in page]
    return [memory for memory in archived if (memory.status.since or now) < now - KEPT_FOR]


def _by_category(store: Store, place: Place) -> Iterator[tuple[str, list[Memory]]]:
    for category in CATEGORIES:
        yield category, [s.memory for s in store.listed(Filter((place,), categories=(category,)), MOST)]


def _pages(store: Store, wanted: Filter) -> Iterator[list[Memory]]:
    offset = 0
    while found := store.listed(wanted, _PAGE, offset):
        yield [stored.memory for stored in found]
        offset += len(found)


def _last_asked(store: Store, place: Place) -> datetime | None:
    mine = (run.at for run in store.runs(1000) if run.scope == place.key and run.strategy == STRATEGY)
    return next(mine, None)


def _decided(
    parts: Parts, category: str, memories: Sequence[Memory], occasion: Occasion, asked_at: datetime | None
) -> Decided:
    is_news = asked_at is None or any(memory.updated > asked_at for memory in memories)
    if parts.llm is None or not is_news or occasion.left() < _LEAST_SECONDS:
        return by_rule(category, memories, parts.clock.now())
    try:
        if why_not := parts.llm.why_not():
            raise LLMFailed(f"{parts.llm.name} cannot be asked ({why_not})")
        seconds = min(CALL_SECONDS, occasion.left())
        return _by_model(category, memories, by_model.merge_category(parts.llm, memories, seconds, parts.embedder))
    except LLMFailed as error:
        warning = Warning("llm_failed", f"{error.message}; {category} was consolidated by rule")
        return replace(by_rule(category, memories, parts.clock.now()), warning=warning)


def _by_model(category: str, memories: Sequence[Memory], answer: Merge) -> Decided:
    """A model's answer, as far as it goes: what the user said is merged with what the user said, and never dropped."""
    by_id = {memory.id: memory for memory in memories}
    groups = [Group(m.content, tuple(by_id[id] for id in m.ids), m.tags) for m in answer.merge]
    groups = [group for group in groups if len({_is_wish(source) for source in group.sources}) == 1]
    dropped = [by_id[id] for id in answer.drop if not _is_wish(by_id[id])]
    reason = "put aside by the language model as out of date"
    return Decided(category, tuple(groups), tuple((memory, reason) for memory in dropped), "llm")


def by_rule(category: str, memories: Sequence[Memory], now: datetime) -> Decided:
    """Of memories that claim the same in nearly the same words, the newest stands; what has faded is put aside."""
    faded = [memory for memory in memories if _has_faded(memory, now) and not _is_wish(memory)]
    left = sorted((m for m in memories if m not in faded), key=lambda m: (m.event_time, m.id), reverse=True)
    groups = []
    while left:
        newest, *older = left
        same = [old for old in older if _says_the_same(newest, old)]
        left = [old for old in older if old not in same]
        if same:
            groups.append(Group(newest.text, (newest, *same)))
    return Decided(category, tuple(groups), tuple((memory, _FADED) for memory in faded))


def _says_the_same(newer: Memory, older: Memory) -> bool:
    alike = jaccard(newer.text, older.text) > ALIKE and same_claim(newer.text, older.text)
    return alike and (_is_wish(newer) or not _is_wish(older))


def _has_faded(memory: Memory, now: datetime) -> bool:
    age = (now - memory.updated).total_seconds() / 86_400
    return memory.category in LIVES and confidence(memory.category, age) == 0.0


def _is_wish(memory: Memory) -> bool:
    """What the user said, or prefers, is the user's to give up."""
    return memory.category == "preference" or word_of(memory) is Speaker.USER


def _still_true(store: Store, decided: Decided) -> Decided:
    """The decision without what somebody has changed since it was made."""
    named = [m for group in decided.groups for m in group.sources] + [memory for memory, _ in decided.dropped]
    now = store.memories([memory.id for memory in named])
    same = {memory.id for memory in named if memory.id in now and now[memory.id].memory == memory}
    return replace(
        decided,
        groups=tuple(group for group in decided.groups if all(m.id in same for m in group.sources)),
        dropped=tuple((memory, why) for memory, why in decided.dropped if memory.id in same),
    )


def _planned(
    parts: Parts, decided: Sequence[Decided], place: Place, analysed: int, vectors: dict[str, Embedded]
) -> tuple[Changes, Merged]:
    now = parts.clock.now()
    latest = parts.store.latest_run(place.key)
    run = Run(new_id(now), place.key, STRATEGY, now, (), (), analysed)
    changes = Changes(at=now, expects=(RunFree(place.key, latest.id if latest else None),))
    merged: list[tuple[MemoryId, tuple[MemoryId, ...]]] = []
    made: list[MemoryId] = []
    for one in decided:
        for group in one.groups:
            plan, successor, ended = _merger(parts, group, one, run, vectors)
            changes = changes.joined(plan)
            merged += [(successor.id, tuple(old.id for old in ended))] if ended else []
            made += [successor.id] if successor not in group.sources and ended else []
    aside = [(memory, why) for one in decided for memory, why in one.dropped]
    changes = changes.joined(_put_aside(aside, run))
    sources = [id for _, ids in merged for id in ids] + [memory.id for memory, _ in aside]
    asked = any(one.by == "llm" for one in decided)
    if not sources and not asked:
        return Changes(at=now), Merged(kept=analysed)
    run = replace(run, made=tuple(made), sources=tuple(sources))
    reply = Merged(
        tuple(merged),
        tuple(memory.id for memory, _ in aside),
        analysed - len(sources),
        by=", ".join(dict.fromkeys(one.by for one in decided)),
        run=run.id if sources else None,
    )
    return changes.joined(Changes(at=now, runs=(run,))), reply


def _merger(
    parts: Parts, group: Group, decided: Decided, run: Run, vectors: dict[str, Embedded]
) -> tuple[Changes, Memory, list[Memory]]:
    """The plan by which one memory stands for a group; the memory that says exactly this already, if there is one."""
    place = group.sources[0].place
    try:
        text, _ = cleaned_text(group.text)
    except InvalidInput:
        return Changes(at=run.at), group.sources[0], []
    twin = parts.store.twin(place, fingerprint(text))
    successor = twin.memory if twin else _merged(group, text, decided, run.at)
    ended = [source for source in group.sources if source.id != successor.id]
    plan = succession(parts.store, ended, successor, run.at)
    plan = replace(plan, history=tuple(replace(row, reason=reason_of(run)) for row in plan.history))
    if twin:
        return replace(plan, expects=(*plan.expects, AtVersion(successor.id, successor.version))), successor, ended
    if text not in vectors:
        vectors[text] = embedded(parts.embedder, text)
    links = linked_to(parts.store, successor, (), run.at)
    created = Changes(
        at=run.at,
        expects=(NoTwin(place, fingerprint(text)),),
        memories=(successor,),
        embeddings=vectors[text].of(successor.id),
        history=(entry(successor, Event.CREATED, run.at, reason_of(run)),),
        entities=links.entities,
        links=links.links,
        relations=links.relations,
    )
    return plan.joined(created), successor, ended


def _merged(group: Group, text: str, decided: Decided, now: datetime) -> Memory:
    newest = max(group.sources, key=lambda source: source.event_time)
    tags = dict.fromkeys((*group.tags, *(tag for source in group.sources for tag in source.tags)))
    return Memory(
        id=new_id(now),
        text=text,
        kind=Kind(kind_of(decided.category)),
        place=newest.place,
        category=decided.category,
        tags=tuple(tags)[:MOST_TAGS],
        importance=max(source.importance for source in group.sources),
        source=Source(tool="consolidation"),
        metadata=_provenance(group, decided),
        created=now,
        updated=now,
        event_time=newest.event_time,
        valid_from=newest.event_time,
        derived_from=tuple(source.id for source in group.sources),
    )


def _provenance(group: Group, decided: Decided) -> Mapping[str, str]:
    """A merger stands on the weakest word of its sources."""
    words = {word_of(source) for source in group.sources}
    weakest = next(word for word in (Speaker.TOOL, Speaker.ASSISTANT, Speaker.USER) if word in words)
    return {"said_by": weakest.value, "found_by": decided.by}


def _put_aside(dropped: Sequence[tuple[Memory, str]], run: Run) -> Changes:
    return Changes(
        at=run.at,
        expects=tuple(AtVersion(memory.id, memory.version) for memory, _ in dropped),
        memories=tuple(
            replace(m, status=Status(State.ARCHIVED, why, run.at), updated=run.at, version=m.version + 1)
            for m, why in dropped
        ),
        history=tuple(entry(memory, Event.ARCHIVED, run.at, reason_of(run)) for memory, _ in dropped),
        stale=tuple((memory.id, True) for memory, _ in dropped),
    )
