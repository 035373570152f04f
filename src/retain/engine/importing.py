"""Importing the memories of an earlier `.memory/state.json`: all of them at once, and none of them twice."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from retain.domain.category import CATEGORIES, kind_of
from retain.domain.changes import Changes, NoTwin
from retain.domain.claims import fingerprint
from retain.domain.ids import id_of, new_id
from retain.domain.memory import (
    MAX_LABEL,
    Event,
    Json,
    Kind,
    Memory,
    MemoryId,
    Place,
    Scope,
    Source,
    State,
    Status,
    Stored,
)
from retain.domain.session import Caller, Use
from retain.domain.time import as_moment
from retain.engine.drafts import MAX_TAGS, YEARS, Draft, checked, label
from retain.engine.knowledge.entities import linked_to
from retain.engine.knowledge.support import unsaid
from retain.engine.parts import Parts, settle
from retain.engine.succession import entry
from retain.errors import InvalidInput, invalid

FILE = ".memory/state.json"
OTHERWISE = "context"  # the category of what has none that is known
MOST_ACCESSES = 1000
_SECONDS = 1e11  # larger numbers are milliseconds: as seconds they would lie in the year 5138
_NO_TEXT = dict.fromkeys((0, *range(0xD800, 0xE000)))
_TIME = 9  # letters of an id that tell the time
MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the entries of a file; `skipped` says for each of those why."""

    added: int = 0
    known: int = 0
    skipped: tuple[str, ...] = ()
    redacted: int = 0
    """How many of those that were added had secrets, which are left out."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One memory of the file, as far as it could be read."""

    name: str
    """Its id in the file, or what stands for one."""
    memory: Memory
    accesses: int
    supersedes: str
    merged_from: tuple[str, ...]
    redacted: bool
    successor: str | None = None

    @property
    def is_active(self) -> bool:
        return self.memory.is_active and self.successor is None


def parsed(raw: bytes) -> Json:
    """What the file says; an error names line and column."""
    try:
        data: Json = json.loads(raw.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise invalid(FILE, "", f"is not valid JSON at {where}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise invalid(FILE, "", f"is not UTF-8 text at byte {error.start}") from None
    except RecursionError:
        raise invalid(FILE, "", "has lists or objects nested too deep") from None
    return data


def import_state(parts: Parts, data: Json, caller: Caller) -> Imported:
    """Adds what is not known yet, in one write. What was imported before and has changed since, was forgotten or
    was destroyed stays as it is."""
    now = parts.clock.now()
    items = listed(data)
    entries, unreadable = _read(items, _place(caller), now)

    def plan() -> tuple[Changes, tuple[Imported, list[_Entry]]]:
        fresh, ids, gone = _sorted_out(parts, entries)
        memories = [_joined(each, ids, now) for each in fresh]
        skipped = unreadable + gone
        known = len(items) - len(fresh) - len(skipped)
        done = Imported(len(fresh), known, skipped, sum(each.redacted for each in fresh))
        return _changes(parts, memories, caller, now), (done, fresh)

    done, added = settle(parts.store, plan)
    parts.store.note_uses(_uses(added))
    return done


def listed(data: Json) -> list[Json]:
    """The entries of a file: a list, or an object that has one."""
    found = data.get("memories", data) if isinstance(data, dict) else data
    if isinstance(found, dict) and all(isinstance(value, dict) for value in found.values()):
        return [{"id": id, **value} for id, value in found.items() if isinstance(value, dict)]
    if not isinstance(found, list):
        raise invalid(FILE, found, "has no list of memories, neither at the top nor under `memories`")
    return found


def _place(caller: Caller) -> Place:
    if caller.project is None:
        return Place(Scope.USER, caller.user)
    return Place(Scope.PROJECT, caller.user, caller.project.id)


def _read(items: Sequence[Json], place: Place, now: datetime) -> tuple[list[_Entry], tuple[str, ...]]:
    """The entries by their ids, each with what took its place, and why others cannot be read."""
    entries: dict[str, _Entry] = {}
    skipped = []
    for number, item in enumerate(items, start=1):
        try:
            one = _entry(item, place, now)
            if entries.setdefault(one.name, one).memory.text != one.memory.text:
                raise invalid("id", one.name, "is the id of an earlier entry")
        except InvalidInput as error:
            skipped.append(f"entry {number}: {'; '.join(map(str, error.faults))}")
    successors = _successors(entries)
    return [replace(each, successor=successors.get(each.name)) for each in entries.values()], tuple(skipped)


def _entry(item: Json, place: Place, now: datetime) -> _Entry:
    if not isinstance(item, dict):
        raise invalid("memory", item, "is not an object")
    category = _category(item.get("type", item.get("category")))
    source = Source(tool="import", file=FILE)
    name = _text(item.get("id"))
    draft = Draft(
        _content(item),
        kind=Kind(kind_of(category)),
        tags=_tags(item.get("tags")),
        source=source,
        category=category,
        metadata={"said_by": "import", **({"original_id": name} if name else {})},
    )
    draft, found = checked(draft)
    name = name or fingerprint(draft.text)
    created, updated = _times(item, name, now)
    memory = Memory(
        id=_id(f"{FILE}\x1f{place.key}\x1f{name}", created),
        text=draft.text,
        kind=draft.kind,
        place=place,
        created=created or now,
        updated=updated or now,
        event_time=created or now,
        valid_from=created or now,
        category=draft.category,
        tags=draft.tags,
        source=draft.source,
        metadata=draft.metadata,
        status=_status(item, now),
    )
    merged = item.get("mergedFrom", item.get("merged_from"))
    return _Entry(
        name,
        memory,
        _count(item.get("accessCount", item.get("access_count"))),
        _text(item.get("supersedes")),
        tuple(map(_text, merged)) if isinstance(merged, list) else (),
        bool(found),
    )


def _content(item: Mapping[str, Json]) -> str:
    """Checked here already: halves of surrogate pairs and NUL, which are no text, are left out rather than refused."""
    content = item.get("content", item.get("text"))
    if not isinstance(content, str):
        raise invalid("content", "" if content is None else content, "is missing or not a text")
    return content.translate(_NO_TEXT)


def _category(given: Json) -> str:
    name = given.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(given, str) else ""
    return name if name in CATEGORIES else OTHERWISE


def _text(given: Json) -> str:
    return str(given).translate(_NO_TEXT).strip()[:MAX_NAME] if isinstance(given, str | int) else ""


def _tags(given: Json) -> tuple[str, ...]:
    """Those that can be tags; what is wrong with others is no reason to lose a memory."""
    listed = given.split(",") if isinstance(given, str) else given if isinstance(given, list) else []
    named = [tag.translate(_NO_TEXT) for tag in listed if isinstance(tag, str)]
    return tuple(dict.fromkeys(tag for tag in map(label, named) if 0 < len(tag) <= MAX_LABEL))[:MAX_TAGS]


def _count(given: Json) -> int:
    return int(min(max(given, 0), MOST_ACCESSES)) if isinstance(given, int | float) and given == given else 0


def _times(item: Mapping[str, Json], name: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    """When it was made and last changed; ids of the form `mem_<milliseconds>_<random>` tell as well."""
    stamp = next((int(part) for part in name.split("_") if part.isdecimal() and len(part) == 13), None)
    made = [_moment(item.get(key), now) for key in ("created", "createdAt", "created_at", "timestamp")]
    changed = [_moment(item.get(key), now) for key in ("updated", "updatedAt", "updated_at")]
    created = next(filter(None, [*made, _moment(stamp, now)]), None)
    updated = next(filter(None, [*changed, created]), None)
    return created or updated, updated


def _moment(given: Json, now: datetime) -> datetime | None:
    """A time as programs write it; None for what is none. Nothing that is known can be from the future."""
    try:
        if isinstance(given, str) and not given.strip().isdecimal():
            moment = as_moment(given, "created")
        elif isinstance(given, str | int | float) and not isinstance(given, bool):
            number = float(given)
            moment = datetime.fromtimestamp(number / 1000 if number > _SECONDS else number, UTC)
        else:
            return None
    except (InvalidInput, ValueError, OverflowError, OSError):
        return None
    return min(moment, now) if YEARS[0] <= moment.year <= YEARS[1] else None


def _id(name: str, created: datetime | None) -> MemoryId:
    """The same for the same entry each time, so that a second run knows it; it sorts by time where there is one."""
    fixed = id_of(name)
    return new_id(created)[:_TIME] + fixed[_TIME:] if created else fixed


def _status(item: Mapping[str, Json], now: datetime) -> Status:
    """Ended now, as far as this store is concerned: what was put aside stays for a while before it is pruned."""
    word = _text(item.get("status", item.get("state"))).lower()
    if word == State.ARCHIVED or item.get("archived") is True:
        return Status(State.ARCHIVED, "archived before it was imported", now)
    if word == State.SUPERSEDED or item.get("superseded") is True:
        return Status(State.SUPERSEDED, "superseded before it was imported", now)
    return Status()


def _successors(entries: Mapping[str, _Entry]) -> dict[str, str]:
    """What took the place of what, where both are there; never in a circle, in which nothing would be left."""
    found: dict[str, str] = {}
    for new in entries.values():
        for old in (new.supersedes, *new.merged_from):
            if old in entries and old not in found and not _leads(new.name, old, found):
                found[old] = new.name
    return found


def _leads(start: str, to: str, successors: Mapping[str, str]) -> bool:
    step: str | None = start
    while step is not None and step != to:
        step = successors.get(step)
    return step == to


def _sorted_out(parts: Parts, entries: Sequence[_Entry]) -> tuple[list[_Entry], dict[str, MemoryId], tuple[str, ...]]:
    """What is to be added, the id of everything that is there then by its name, and what must not come back."""
    own = [each.memory.id for each in entries]
    present, destroyed = parts.store.memories(own), parts.store.destroyed(own)
    fresh: list[_Entry] = []
    ids: dict[str, MemoryId] = {}
    texts: dict[tuple[str, bool], MemoryId] = {}
    for each in entries:
        mark = fingerprint(each.memory.text)
        if each.memory.id in destroyed:
            continue
        known = present.get(each.memory.id) or _told(parts, each.memory.place, mark)
        # What was said, replaced and said again is two memories: one that ended and one that holds.
        said = (mark, each.is_active)
        ids[each.name] = known.memory.id if known else texts.setdefault(said, each.memory.id)
        if ids[each.name] == each.memory.id and known is None:
            fresh.append(each)
    gone = [each for each in entries if each.memory.id in destroyed]
    return fresh, ids, tuple(f"{each.name}: was destroyed here, and does not come back" for each in gone)


def _told(parts: Parts, place: Place, mark: str) -> Stored | None:
    """A memory that says the same, also one that somebody wanted out of sight."""
    twin = parts.store.twin(place, mark, states=tuple(State))
    return twin if twin and twin.memory.status.state in (State.ACTIVE, State.FORGOTTEN) else None


def _joined(each: _Entry, ids: Mapping[str, MemoryId], now: datetime) -> Memory:
    """The memory with its successor and its sources, as far as they are there."""
    memory, status = each.memory, each.memory.status
    successor = ids.get(each.successor) if each.successor else None
    if each.successor and status.state is not State.ARCHIVED:
        status = Status(State.SUPERSEDED, "superseded before it was imported", now, successor)
    sources = tuple(dict.fromkeys(ids[name] for name in each.merged_from if name in ids))
    return replace(memory, status=status, derived_from=tuple(id for id in sources if id != memory.id))


def _changes(parts: Parts, memories: Sequence[Memory], caller: Caller, now: datetime) -> Changes:
    active = [memory for memory in memories if memory.is_active]
    links = [linked_to(parts.store, memory, (), now) for memory in active]
    return Changes(
        at=now,
        expects=tuple(NoTwin(memory.place, fingerprint(memory.text)) for memory in active),
        memories=tuple(memories),
        history=tuple(entry(memory, Event.CREATED, memory.created) for memory in memories),
        entities=tuple(entity for each in links for entity in each.entities),
        links=tuple(link for each in links for link in each.links),
        relations=tuple(relation for each in links for relation in each.relations),
        ended=unsaid(parts.store, active),
        projects=(caller.project,) if caller.project and memories else (),
    )


def _uses(entries: Sequence[_Entry]) -> list[Use]:
    """As often as each was used; one use counts one access of every memory in it."""
    most = max((each.accesses for each in entries), default=0)
    used = [[each.memory for each in entries if each.accesses > times] for times in range(most)]
    return [Use(tuple(m.id for m in them), max(m.updated for m in them)) for them in used]
