"""Changing what is remembered: update, tag, forget, bring back, destroy. Every change leaves history."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from retain.domain.changes import AtVersion, Changes, Contradiction, NoTwin, TitleFree
from retain.domain.claims import fingerprint
from retain.domain.graph import fold
from retain.domain.ids import dressed
from retain.domain.memory import Event, Json, Kind, Memory, Place, Scope, State, Status
from retain.domain.recall import Warning
from retain.domain.session import Caller
from retain.engine.drafts import (
    MAX_TAGS,
    OWN,
    PROVENANCE,
    GivenEntity,
    callers,
    cleaned_entities,
    cleaned_metadata,
    cleaned_reason,
    cleaned_text,
    cleaned_title,
    each_once,
    importance_faults,
    label_faults,
    labels,
    metadata_faults,
    secrets_in,
    strings_in,
    text_faults,
    title_faults,
)
from retain.engine.embed import Embedded, embedded
from retain.engine.knowledge.support import hushed, relinked, revived, silenced, unheard, unsaid
from retain.engine.parts import Parts, settle, visible
from retain.engine.remember import refuse_title
from retain.engine.succession import entry, spoken_for
from retain.errors import Ended, Fault, InvalidInput, NotFound, Refused, Taken, invalid, shorten
from retain.ports import Store

TEXT_TAKEN = "unique_memory_text_per_project"
ENDED = (State.FORGOTTEN, State.INVALIDATED, State.SUPERSEDED, State.PRUNED)


@dataclass(frozen=True, slots=True)
class Edit:
    """What is to change about a memory; None and empty leave a field as it is.

    Metadata is merged into what is there, or replaces it, empty or not, when `replace_metadata` is set.
    """

    text: str | None = None
    importance: float | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] | None = None
    add_entities: tuple[GivenEntity, ...] = ()
    remove_entities: tuple[str, ...] = ()
    kind: Kind | None = None
    replace_metadata: bool = False
    title: str | None = None
    category: str | None = None
    tags: tuple[str, ...] | None = None
    """All tags that it is to have; `add_tags` and `remove_tags` change those that it has."""
    provenance: Mapping[str, Json] | None = None
    """Whose word the new text is, where a person says so and no agent; else that is worked out."""


@dataclass(frozen=True, slots=True)
class Revised:
    """A memory after a change, and what the change did."""

    memory: Memory
    fields: tuple[str, ...] = ()
    embedded: bool = False
    before: Scope | None = None
    contradicts: tuple[Contradiction, ...] = ()
    contradictions_pending: bool = False
    redacted: tuple[str, ...] = ()
    warnings: tuple[Warning, ...] = ()


def update(parts: Parts, id: str, edit: Edit, caller: Caller) -> Revised:
    """Applies an edit. A new text passes the same gate as a new memory, and is never merged with another."""
    _check(edit)
    changeable(parts.store, id, caller)
    # A text that was not given is not taken from here either: another window may be changing it.
    text, found = cleaned_text(edit.text) if edit.text is not None else (None, ())
    title = cleaned_title(edit.title) if edit.title is not None else None
    metadata = None if edit.metadata is None else cleaned_metadata(edit.metadata)
    clean = replace(edit, text=text, title=title, metadata=metadata, add_entities=cleaned_entities(edit.add_entities))
    now = parts.clock.now()
    made: dict[tuple[str, str | None], Embedded] = {}

    def plan() -> tuple[Changes, Revised]:
        old = changeable(parts.store, id, caller)
        new = _with(old, clean, now)
        said = (new.text, new.title)
        if said != (old.text, old.title) and said not in made:
            made[said] = embedded(parts.embedder, *said)
        changes, reply = _edited(parts.store, (old, new), clean, made.get(said))
        warning = made[said].warning if said in made else None
        return changes, replace(reply, warnings=(*reply.warnings, *((warning,) if warning else ())))

    return replace(settle(parts.store, plan), redacted=tuple(dict.fromkeys((*found, *secrets_in(*_beside_text(edit))))))


def _beside_text(edit: Edit) -> Iterator[str | None]:
    """Everything else that somebody wrote into an edit."""
    yield edit.title
    yield from (*(edit.tags or ()), *edit.add_tags)
    yield from (part for entity in edit.add_entities for part in (entity.name, entity.type, entity.relationship))
    yield from strings_in(dict(edit.metadata or {}))


def tag(parts: Parts, id: str, add: Sequence[str], remove: Sequence[str], caller: Caller) -> Revised:
    if not (add or remove):
        raise invalid("add, remove", "", "neither was given; name at least one tag to add or to remove")
    if faults := list(_undecided(add, remove, "add")):
        raise InvalidInput(faults)
    return update(parts, id, Edit(add_tags=tuple(add), remove_tags=tuple(remove)), caller)


def forget(parts: Parts, id: str, reason: str | None, caller: Caller) -> Memory:
    """Hides a memory from recall; its row, history and graph edges stay, the edges marked stale."""
    status = Status(State.FORGOTTEN, cleaned_reason(reason), parts.clock.now())
    return _moved(parts, id, status, Event.FORGOTTEN, caller)


def bring_back(parts: Parts, id: str, caller: Caller) -> Memory:
    """Makes a memory active again that was forgotten or invalidated; then it holds without an end."""
    return _moved(parts, id, Status(), Event.RESTORED, caller)


def wake(parts: Parts, memories: Sequence[Memory], caller: Caller) -> tuple[Memory, ...]:
    """Brings memories back that housekeeping put out of sight; one that somebody has said anew meanwhile stays so."""
    woken = []
    for memory in memories:
        with suppress(Refused, NotFound):
            woken.append(_moved(parts, memory.id, Status(), Event.WOKEN, caller))
    return tuple(woken)


def destroy(parts: Parts, id: str, caller: Caller) -> Memory:
    """Deletes a memory everywhere; only its id stays, so that other processes learn of it."""
    memory = visible(parts.store, id, caller).memory
    ended = unheard(parts.store, [memory])
    parts.store.apply(Changes(at=parts.clock.now(), purged=(memory.id,), ended=ended))
    return memory


def _moved(parts: Parts, id: str, status: Status, event: Event, caller: Caller) -> Memory:
    now = parts.clock.now()

    def plan() -> tuple[Changes, Memory]:
        old = visible(parts.store, id, caller).memory
        if old.status.state is status.state:
            return Changes(at=now), old
        until = None if status.state is State.ACTIVE else old.valid_until
        new = replace(old, status=status, valid_until=until, updated=now, version=old.version + 1)
        # Others may have come to contradict it while it was put aside.
        new = replace(new, compared=old.compared and not new.is_active)
        return move(parts.store, old, new, event), new

    return settle(parts.store, plan)


def move(store: Store, old: Memory, new: Memory, event: Event) -> Changes:
    """The plan that takes a memory to another state of its life, with all that depends on it."""
    back, is_forgotten = new.is_active, new.status.state is State.FORGOTTEN
    if back:
        refuse_twin(store, old.place, old.text, old)
        if old.title:
            refuse_title(store, old.place, old.title, old.id, "Rename or forget that one first, then bring this back")
    sources = spoken_for(store, old, by_it=back)
    return Changes(
        at=new.updated,
        expects=(
            AtVersion(old.id, old.version),
            *(AtVersion(s.id, s.version - 1) for s in sources),
            *((NoTwin(old.place, fingerprint(old.text), but=old.id),) if back else ()),
            *((TitleFree(old.place, old.title, but=old.id),) if back and old.title else ()),
        ),
        memories=(new, *sources),
        history=(entry(old, event, new.updated, new.status.reason),),
        stale=((old.id, not back),),
        relations=revived(store, new) if back else (),
        ended=unsaid(store, [new]) if back else hushed(store, old) if is_forgotten else silenced(store, [old]),
    )


def _check(edit: Edit) -> None:
    faults: list[Fault] = []
    if edit.text is not None:
        faults += text_faults(edit.text)
    if edit.importance is not None:
        faults += importance_faults(edit.importance)
    faults += title_faults(edit.title)
    faults += label_faults(edit.tags or (), "tags")
    faults += label_faults(edit.add_tags, "tags.add")
    faults += _undecided(edit.add_tags, edit.remove_tags, "tags.add")
    for part in ("name", "type", "relationship"):
        faults += label_faults([getattr(e, part) for e in edit.add_entities], f"related_entities.add.{part}")
    faults += metadata_faults(edit.metadata or {})
    if _says_nothing(edit):
        faults.append(Fault("content, importance, tags, metadata, related_entities", "", "none of them was given"))
    if faults:
        raise InvalidInput(faults)


def _undecided(add: Sequence[str], remove: Sequence[str], field: str) -> Iterator[Fault]:
    """What is both added and removed: nobody can say which was meant last."""
    removed = {fold(name) for name in remove}
    for place, name in enumerate(add):
        if fold(name) in removed:
            yield Fault(f"{field}[{place}]", shorten(name), "is in remove too; give it in one of the two")


def _says_nothing(edit: Edit) -> bool:
    given = edit.metadata if edit.replace_metadata else edit.metadata or None
    return replace(edit, metadata=given, replace_metadata=False) == Edit()


def changeable(store: Store, id: str, caller: Caller) -> Memory:
    memory = visible(store, id, caller).memory
    refuse_ended(memory, "changed")
    return memory


def refuse_ended(memory: Memory, done: str, states: Collection[State] = ENDED) -> None:
    """Refuses what only makes sense for a memory that stands: what was true once must not be rewritten."""
    if memory.status.state in states:
        raise Ended(
            f"{memory.id} is {memory.status.state}, so it cannot be {done}; bring it back first, with restore: true "
            f"where it was forgotten or invalidated, or with `retain forget --restore {memory.id}`",
            memory_id=dressed("mem", memory.id),
            state=memory.status.state.value,
        )


def refuse_twin(store: Store, place: Place, text: str, memory: Memory) -> None:
    twin = store.twin(place, fingerprint(text))
    if twin and twin.memory.id != memory.id:
        instead = "Change or forget that one instead"
        raise Taken(
            f"memory:{twin.memory.id} already says exactly this there; nothing was written. {instead}",
            constraint=TEXT_TAKEN,
            suggestion=instead,
            memory_id=dressed("mem", twin.memory.id),
        )


def _edited(
    store: Store, versions: tuple[Memory, Memory], edit: Edit, vectors: Embedded | None
) -> tuple[Changes, Revised]:
    """The plan from the old version to the new; `vectors` are those of what is said anew."""
    old, new = versions
    now, rewritten, retitled = new.updated, new.text != old.text, new.title != old.title
    if rewritten:
        refuse_twin(store, new.place, new.text, old)
    if retitled and new.title:
        refuse_title(store, new.place, new.title, but=old.id)
    if len(new.tags) > max(MAX_TAGS, len(old.tags)):
        raise InvalidInput([Fault("tags", f"{len(new.tags)} tags", f"a memory has at most {MAX_TAGS}")])
    graph = relinked(store, old, new, edit.add_entities, edit.remove_entities)
    named, unknown = _named(store, old, edit.remove_entities)
    changed = _changed(old, new, relinked=bool(edit.add_entities or named))
    if not changed:
        return Changes(at=now), Revised(old, warnings=unknown)
    changes = Changes(
        at=now,
        expects=(
            AtVersion(old.id, old.version),
            *((NoTwin(new.place, fingerprint(new.text), but=old.id),) if rewritten else ()),
            *((TitleFree(new.place, new.title, but=old.id),) if retitled and new.title else ()),
        ),
        memories=(new,),
        embeddings=vectors.of(new.id) if vectors else (),
        history=(entry(old, Event.UPDATED if changed != ("tags",) else Event.TAGGED, now),),
    ).joined(graph)
    made = bool(vectors and vectors.vectors)
    return changes, Revised(new, changed, made, warnings=unknown)


def _with(old: Memory, edit: Edit, now: datetime) -> Memory:
    removed = {fold(name) for name in edit.remove_tags}
    kept = tuple(name for name in (old.tags if edit.tags is None else labels(edit.tags)) if fold(name) not in removed)
    return replace(
        old,
        text=edit.text if edit.text is not None else old.text,
        title=edit.title if edit.title is not None else old.title,
        category=edit.category or old.category,
        importance=old.importance if edit.importance is None else edit.importance,
        tags=each_once((*kept, *labels(edit.add_tags))),
        metadata=_metadata(old, edit),
        kind=edit.kind or old.kind,
        updated=now,
        version=old.version + 1,
        compared=old.compared and edit.text in (None, old.text),
    )


def _metadata(old: Memory, edit: Edit) -> Mapping[str, Json]:
    """Whose word a memory is stays as it was: an agent must not pass a tool's output off as the user's. But what is
    worded anew is no longer what the user said. And a line of a session's log stays one."""
    reworded = edit.text not in (None, old.text)
    if reworded and (edit.provenance is not None or old.metadata.get("said_by") == "user"):
        rest = {name: value for name, value in old.metadata.items() if name not in PROVENANCE}
        old = replace(old, metadata=rest | dict(edit.provenance or {}))
    if edit.metadata is None:
        return old.metadata
    known = {name: value for name, value in old.metadata.items() if not edit.replace_metadata or name in OWN}
    return {**known, **callers(edit.metadata)}


def _changed(old: Memory, new: Memory, *, relinked: bool) -> tuple[str, ...]:
    differing = {
        "title": new.title != old.title,
        "content": new.text != old.text,
        "importance": new.importance != old.importance,
        "tags": new.tags != old.tags,
        "metadata": new.metadata != old.metadata,
        "category": new.category != old.category,
        "memory_type": new.kind != old.kind,
        "related_entities": relinked,
    }
    return tuple(name for name, differs in differing.items() if differs)


def _named(store: Store, old: Memory, names: Sequence[str]) -> tuple[list[str], tuple[Warning, ...]]:
    """Those of the names that the memory is linked to, and a word on the others."""
    linked = {fold(entity.name) for _, entity in store.links([old.id])} if names else set()
    unknown = [shorten(name) for name in names if fold(name) not in linked]
    said = f"related_entities.remove: the memory is not linked to {', '.join(unknown)}, so nothing was removed there"
    return [name for name in names if fold(name) in linked], (Warning("not_linked", said),) if unknown else ()
