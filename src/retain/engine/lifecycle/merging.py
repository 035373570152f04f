"""Consolidation by category: what overlaps is merged, what a language model finds out of date is put aside.

A language model decides if one was chosen, else, and where it fails, a rule, which puts nothing aside. What somebody
kept on purpose is not looked at. One run is one atomic write that can be undone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from retain.domain.category import CATEGORIES, kind_of
from retain.domain.changes import AtVersion, Changes, NoTwin, Run, RunFree
from retain.domain.claims import fingerprint, jaccard, same_claim
from retain.domain.conversation import Speaker
from retain.domain.ending import Way, is_the_users, word_of
from retain.domain.ids import new_id
from retain.domain.memory import Event, Kind, Memory, MemoryId, Place, Scope, Source, State, Status
from retain.domain.recall import Filter, Warning
from retain.domain.session import Caller
from retain.engine.capture import by_model
from retain.engine.capture.answers import Merge
from retain.engine.capture.checking import CALL_SECONDS, LEAST_SECONDS, Checked
from retain.engine.drafts import cleaned_text
from retain.engine.embed import Embedded, embedded
from retain.engine.ending import endable
from retain.engine.knowledge.entities import linked_to
from retain.engine.knowledge.support import silenced, unsaid
from retain.engine.lifecycle.consolidation import MOST_TAGS, reason_of
from retain.engine.lifecycle.pruning import OUTDATED, Pruned, prune
from retain.engine.nearby import adds_nothing
from retain.engine.parts import Parts, pages, places, settle
from retain.engine.succession import entry, succession
from retain.engine.thresholds import ALIKE
from retain.errors import InvalidInput, LLMFailed
from retain.ports import Store

STRATEGY = "categories"
IN_HOOKS, BY_HAND = 5, 3  # memories of a category from which on it is looked at
EVERY = 10  # extractions
CROWDED = 80  # active memories of a project above which every extraction is followed by a look
MOST = 100  # memories of a category that are looked at, the newest
_PAGES = 4  # that are read to find these: somebody may have thousands of entries with titles
_WHY = {"rules": "a newer memory says the same", "llm": "merged with others by the language model"}


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
    dropped: tuple[Memory, ...] = ()
    by: str = "rules"
    warning: Warning | None = None


@dataclass(frozen=True, slots=True)
class Merged:
    """What was done: (id, sources) for each merger, what was put aside, and what became of what was earlier."""

    merged: tuple[tuple[MemoryId, tuple[MemoryId, ...]], ...] = ()
    dropped: tuple[MemoryId, ...] = ()
    kept: int = 0
    pruned: Pruned = field(default_factory=Pruned)
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
    done, pruned = settle(parts.store, plan), prune(parts, caller)
    return replace(done, pruned=pruned, warnings=(*warnings, *pruned.warnings))


def is_due(store: Store, caller: Caller, event: str, before: int) -> bool:
    """Whether a hook should consolidate; `before` is how many extractions there had been before this one."""
    project = caller.project.id if caller.project else None
    if event == "SessionEnd" or store.extractions(project, caller.user) // EVERY > before // EVERY:
        return True
    return store.total(Filter(places(caller, (Scope.PROJECT,) if caller.project else (Scope.USER,)))) > CROWDED


def _by_category(store: Store, place: Place) -> Iterator[tuple[str, list[Memory]]]:
    """What may be merged, the newest of each."""
    for category in CATEGORIES:
        found = islice(pages(store, Filter((place,), categories=(category,))), _PAGES)
        mergeable = (memory for page in found for memory in endable(store, page, Way.MERGE))
        yield category, list(islice(mergeable, MOST))


def _last_asked(store: Store, place: Place) -> datetime | None:
    mine = (run.at for run in store.runs(1000) if run.scope == place.key and run.strategy == STRATEGY)
    return next(mine, None)


def _decided(
    parts: Parts, category: str, memories: Sequence[Memory], occasion: Occasion, asked_at: datetime | None
) -> Decided:
    is_news = asked_at is None or any(memory.updated > asked_at for memory in memories)
    if parts.llm is None or not is_news or occasion.left() < LEAST_SECONDS:
        return by_rule(category, memories)
    try:
        if why_not := parts.llm.why_not():
            raise LLMFailed(f"{parts.llm.name} cannot be asked ({why_not})")
        seconds = min(CALL_SECONDS, occasion.left())
        answer = by_model.merge_category(parts.llm, memories, seconds, parts.embedder)
        answer, checked = by_model.merge_checked(parts.llm, memories, answer, occasion.left)
        return replace(_by_model(parts.store, category, memories, answer), warning=_told(category, checked))
    except LLMFailed as error:
        warning = Warning("llm_failed", f"{error.message}; {category} was consolidated by rule")
        return replace(by_rule(category, memories), warning=warning)


def _by_model(store: Store, category: str, memories: Sequence[Memory], answer: Merge) -> Decided:
    """A model's answer, as far as it goes: what the user said is merged with what the user said, and never dropped."""
    by_id = {memory.id: memory for memory in memories}
    groups = [Group(m.content, tuple(by_id[id] for id in m.ids), m.tags) for m in answer.merge]
    groups = [group for group in groups if len({is_the_users(source) for source in group.sources}) == 1]
    dropped = endable(store, [by_id[id] for id in answer.drop], Way.PUT_ASIDE)
    return Decided(category, tuple(groups), tuple(dropped), "llm")


def _told(category: str, checked: Checked) -> Warning | None:
    whys = "; ".join(checked.denied.values())
    return Warning("not_merged", f"some of {category} was not merged: {whys}") if whys else checked.warning


def by_rule(category: str, memories: Sequence[Memory]) -> Decided:
    """Of memories that claim the same in nearly the same words, the newest stands where it says all of it."""
    left = sorted(memories, key=lambda m: (m.event_time, m.id), reverse=True)
    groups = []
    while left:
        newest, *older = left
        same = [old for old in older if _says_the_same(newest, old)]
        left = [old for old in older if old not in same]
        if same:
            groups.append(Group(newest.text, (newest, *same)))
    return Decided(category, tuple(groups))


def _says_the_same(newer: Memory, older: Memory) -> bool:
    # A rule may not lose a word: "the proxy of staging" and "the proxy of production" are two things.
    alike = jaccard(newer.text, older.text) > ALIKE and adds_nothing(older.text, newer.text)
    alike = alike and same_claim(newer.text, older.text)
    return alike and (is_the_users(newer) or not is_the_users(older))


def _still_true(store: Store, decided: Decided) -> Decided:
    """The decision without what somebody has changed since it was made."""
    named = [m for group in decided.groups for m in group.sources] + list(decided.dropped)
    now = store.memories([memory.id for memory in named])
    same = {memory.id for memory in named if memory.id in now and now[memory.id].memory == memory}
    return replace(
        decided,
        groups=tuple(group for group in decided.groups if all(m.id in same for m in group.sources)),
        dropped=tuple(memory for memory in decided.dropped if memory.id in same),
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
    gone: list[Memory] = []
    successors: list[Memory] = []
    for one in decided:
        for group in one.groups:
            plan, successor, ended = _merger(parts, group, one, run, vectors)
            changes = changes.joined(plan)
            merged += [(successor.id, tuple(old.id for old in ended))] if ended else []
            gone += ended
            successors += [successor] if ended else []
            made += [successor.id] if successor not in group.sources and ended else []
    aside = [memory for one in decided for memory in one.dropped]
    # Each part of the plan takes the others for standing; only together they know what nobody says any more.
    silent = silenced(parts.store, [*gone, *aside], successors)
    changes = changes.joined(replace(_put_aside(aside, run), ended=silent))
    sources = [id for _, ids in merged for id in ids] + [memory.id for memory in aside]
    asked = any(one.by == "llm" for one in decided)
    if not sources and not asked:
        return Changes(at=now), Merged(kept=analysed)
    run = replace(run, made=tuple(made), sources=tuple(sources))
    reply = Merged(
        tuple(merged),
        tuple(memory.id for memory in aside),
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
    plan = succession(parts.store, ended, successor, run.at, f"{_WHY[decided.by]} ({reason_of(run)})")
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
        ended=unsaid(parts.store, [successor]),
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


def _put_aside(dropped: Sequence[Memory], run: Run) -> Changes:
    why = f"{OUTDATED} ({reason_of(run)})"
    return Changes(
        at=run.at,
        expects=tuple(AtVersion(memory.id, memory.version) for memory in dropped),
        memories=tuple(
            replace(m, status=Status(State.ARCHIVED, why, run.at), updated=run.at, version=m.version + 1)
            for m in dropped
        ),
        history=tuple(entry(memory, Event.ARCHIVED, run.at, reason_of(run)) for memory in dropped),
        stale=tuple((memory.id, True) for memory in dropped),
    )
