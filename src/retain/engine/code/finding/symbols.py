"""Where a symbol is defined, and which lines use it."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from retain.domain.code import CodeFilter, CodeIndex, Occurrence, StoredChunk
from retain.domain.code_words import folded, is_called, last_name, lookups
from retain.domain.recall import Warning
from retain.domain.session import Caller
from retain.engine.code.finding.aliases import checked_languages
from retain.engine.code.finding.which import chosen, remarks
from retain.engine.code.reading.fresh import Disk
from retain.engine.drafts import string_faults
from retain.engine.parts import Parts
from retain.errors import Fault, InvalidInput, NotFound, Refused, shorten
from retain.ports import Store

MOST_DEFINITIONS = 200  # of one name; `__init__` has more, and nobody reads them
LONGEST_NAME = 500
CLOSE_NAMES = 5


@dataclass(frozen=True, slots=True)
class Definition:
    """A symbol in the project of that name; `changed` when its file is no longer as it was indexed."""

    stored: StoredChunk
    project: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Definitions:
    """All that has a name, by file and line; `total` counts also those beyond the limit."""

    name: str
    found: tuple[Definition, ...]
    total: int
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class Use:
    """A line that uses a name, inside of the symbol `within`; its text, unless the file has changed since."""

    line: int
    within: str
    text: str | None


@dataclass(frozen=True, slots=True)
class FileUses:
    project: str
    path: str
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class References:
    """The lines that use a name, by file, and what they may mean; `more` when there are others beyond the limit."""

    name: str
    definitions: tuple[Definition, ...]
    files: tuple[FileUses, ...]
    more: bool = False
    warnings: tuple[Warning, ...] = ()

    @property
    def count(self) -> int:
        return sum(len(file.uses) for file in self.files)


def definitions(
    parts: Parts,
    name: str,
    project: str | None,
    caller: Caller,
    limit: int = 20,
    languages: Sequence[str] = (),
) -> Definitions:
    """Where a name is defined, in any spelling; a qualified name may leave out its beginning."""
    _check(name, limit)
    spoken = checked_languages(languages)
    indexes = _chosen(parts, project, caller)
    found = _defined(parts.store, name, CodeFilter(tuple(indexes), spoken))
    if not found:
        raise _unknown(parts.store, name, indexes)
    disk = Disk(indexes)
    shown = tuple(_definition(stored, indexes, disk) for stored in found[:limit])
    return Definitions(name, shown, len(found), (*remarks(list(indexes.values())), *_changed(disk)))


def references(
    parts: Parts,
    name: str,
    project: str | None,
    caller: Caller,
    limit: int = 50,
    languages: Sequence[str] = (),
) -> References:
    """The lines that use a name, without those that define it.

    Code is read, not run: a line that uses another symbol of the same name is among them, and a warning says so.
    """
    _check(name, limit)
    spoken = checked_languages(languages)
    indexes = _chosen(parts, project, caller)
    wanted = CodeFilter(tuple(indexes), spoken)
    found = _defined(parts.store, name, wanted)
    names = list(dict.fromkeys(stored.chunk.name for stored in found)) or [last_name(name)]
    used = _lines(parts.store, names, wanted, limit + 1)
    disk = Disk(indexes)
    if not found and not used:
        raise _unknown(parts.store, name, indexes)
    files = _by_file(parts.store, used[:limit], indexes, disk)
    meant = tuple(_definition(stored, indexes, disk) for stored in found[:MOST_DEFINITIONS])
    warnings = (*remarks(list(indexes.values())), *_ambiguous(parts.store, name, wanted), *_changed(disk))
    return References(name, meant, files, len(used) > limit, warnings)


def _check(name: str, limit: int) -> None:
    faults = list(string_faults(name, "query"))
    if not folded(name).strip():
        faults.append(Fault("query", shorten(name), "is no name; give that of a symbol, such as parse or Store.apply"))
    if len(name) > LONGEST_NAME:
        faults.append(Fault("query", f"{len(name):,} characters", f"must have at most {LONGEST_NAME} characters"))
    if limit < 1:
        faults.append(Fault("limit", str(limit), "must be at least 1"))
    if faults:
        raise InvalidInput(faults)


def _chosen(parts: Parts, project: str | None, caller: Caller) -> dict[str, CodeIndex]:
    indexes = chosen(parts, project, caller)
    if not indexes:
        raise Refused("no code is indexed; call index_project with the path of a project")
    return {index.key: index for index in indexes}


def _defined(store: Store, name: str, wanted: CodeFilter) -> list[StoredChunk]:
    """As written when there is such a name, else in any spelling; of what was cut in parts the first."""
    named = store.code_named(lookups(name), wanted, MOST_DEFINITIONS)
    meant = [stored for stored in named if stored.chunk.part == 0 and is_called(stored.chunk, name)]
    exact = [stored for stored in meant if stored.chunk.name == last_name(name)]
    return sorted(exact or meant, key=lambda stored: (stored.index, stored.path, stored.chunk.start_line))


def _lines(store: Store, names: Sequence[str], wanted: CodeFilter, limit: int) -> list[Occurrence]:
    found = [line for name in names for line in store.occurrences(name, wanted, limit)]
    return sorted(found, key=lambda line: (line.index, line.path, line.line))


def _by_file(
    store: Store, lines: Sequence[Occurrence], indexes: dict[str, CodeIndex], disk: Disk
) -> tuple[FileUses, ...]:
    marks = {key: store.marks(key) for key in {line.index for line in lines}}
    files = []
    for (key, path), group in groupby(lines, key=lambda line: (line.index, line.path)):
        mark = marks[key].get(path)
        text = disk.lines(key, path, mark) if mark else None
        files.append(FileUses(indexes[key].project.slug, path, tuple(_use(line, text) for line in group)))
    return tuple(files)


def _use(line: Occurrence, text: Sequence[str] | None) -> Use:
    shown = text[line.line - 1].strip() if text is not None and line.line <= len(text) else None
    return Use(line.line, line.within, shown)


def _definition(stored: StoredChunk, indexes: dict[str, CodeIndex], disk: Disk) -> Definition:
    changed = not disk.is_unchanged(stored.index, stored.path, stored.mark)
    return Definition(stored, indexes[stored.index].project.slug, changed)


def _ambiguous(store: Store, name: str, wanted: CodeFilter) -> list[Warning]:
    last = last_name(name)
    places = [f"{stored.path}:{stored.chunk.start_line}" for stored in _defined(store, last, wanted)]
    if len(places) < 2:
        return []
    note = f"{len(places)} symbols are called {last}; lines are found by name and may mean any of them"
    return [Warning("several_definitions", note)]


def _changed(disk: Disk) -> list[Warning]:
    if not disk.changed:
        return []
    files = ", ".join(path for _, path in disk.changed[:3]) + (", …" if len(disk.changed) > 3 else "")
    return [Warning("stale_files", f"changed since indexing, so line numbers may be off: {files}; call index_project")]


def _unknown(store: Store, name: str, indexes: dict[str, CodeIndex]) -> NotFound:
    close = close_names(store, name, list(indexes))
    hint = f"close names: {', '.join(close)}" if close else "search_code finds code by what it does"
    slugs = ", ".join(index.project.slug for index in indexes.values())
    return NotFound(f"nothing is called {shorten(name)} in {slugs}; {hint}", query=name)


def close_names(store: Store, name: str, keys: Sequence[str]) -> list[str]:
    """Names of symbols that are spelled nearly so, best first."""
    known: dict[str, str] = {}
    for key in keys:
        known.update((folded(stored.chunk.name), stored.chunk.name) for stored in store.symbols(key))
    wanted = folded(last_name(name))
    # Comparing costs a millisecond for a hundred names; other lengths cannot be close.
    near = [other for other in known if abs(len(other) - len(wanted)) <= max(2, len(wanted) // 3)]
    return [known[found] for found in difflib.get_close_matches(wanted, near, n=CLOSE_NAMES, cutoff=0.7)]
