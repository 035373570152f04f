"""Saving code: what is the same as before stays as it is, with its id and its vectors.

A portion is worked out from the outlines of its files, and sent as one transaction.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from retain.domain.code import Chunk, CodeFile, Mark
from retain.errors import NotFound
from retain.stores.code_matching import fresh, ids_of, lines_of, matched, spelled
from retain.stores.code_portions import Portion
from retain.stores.code_wording import Wording
from retain.stores.surreal import migrations
from retain.stores.surreal.code.indexes import chunk_of, guard_index, mark_row
from retain.stores.surreal.code.outlines import Outline, Outlined, chunks_of, chunks_row, uses_of
from retain.stores.surreal.code.words import Lists, distinct, length
from retain.stores.surreal.link.cbor import record, records
from retain.stores.surreal.link.database import Batch, Database
from retain.stores.surreal.link.failures import Overtaken
from retain.stores.surreal.vectors.numbers import vector_numbers

# New chunks in one transaction, which then takes less than a tenth of a second: 0.4 ms each, and more with more.
AT_ONCE = 200
# Destroyed chunks that are listed; once there are more, other processes read their copies of the vectors anew.
MOST_GONE = 20_000


@dataclass(frozen=True, slots=True)
class _State:
    """The store before a portion."""

    change: int
    """Of the index."""
    files: Mapping[str, Outline]


def save(db: Database, key: str, portion: Portion, wording: Wording) -> None:
    moved = dict(portion.moved)
    gone = [path for path in portion.gone if path not in moved]
    files = {file.path: file for file in portion.files}
    state = _read(db, key, {*gone, *moved, *moved.values(), *files})
    if state is None:
        raise NotFound(f"no code index {key!r}: it was deleted, or never claimed. Nothing was saved; index it again")
    plan = _Plan(key, state, wording)
    plan.remove(gone)
    plan.move(moved)
    for file in files.values():
        plan.replace(file)
    db.commit(plan.batch(db))


def drop_some(db: Database, key: str, files: int) -> int | None:
    """Destroys so many files of an index, or the index itself once it has none; None when it has gone.

    Says how many chunks there were.
    """
    query = f"SELECT VALUE id.id()[1] FROM code_file:[$key]..[$key, {{}}] LIMIT {files}"
    paths: list[str] = db.rows(query, key=key)
    state = _read(db, key, paths)
    if state is None:
        return None
    plan = _Plan(key, state, Wording())
    plan.remove(paths)
    batch = plan.batch(db)
    if not paths:
        batch.delete(records("code_index", [key]))
    db.commit(batch)
    return sum(len(outline.chunks) for outline in state.files.values())


def _read(db: Database, key: str, paths: Iterable[str]) -> _State | None:
    named = [[key, path] for path in paths]
    # One statement, so that all of it is of one moment.
    ((versions, changes, files, outlines),) = db.run(
        """RETURN [(SELECT VALUE number FROM migration), (SELECT VALUE change FROM $index),
           (SELECT * FROM $files), (SELECT * FROM $outlines)]""",
        index=records("code_index", [key]),
        files=records("code_file", named),
        outlines=records("code_outline", named),
    )
    migrations.check_version(max(versions, default=0))
    if not changes:
        return None
    marked = {row["id"][1]: (row["language"], Mark(row["digest"], row["size"], row["modified"])) for row in files}
    found = {
        row["id"][1]: Outline(*marked[row["id"][1]], chunks_of(row["chunks"]), uses_of(row["uses"])) for row in outlines
    }
    return _State(changes[0], found)


class _Plan:
    """The files of a portion, first as they were and then as they are to be; what to write is the difference."""

    def __init__(self, key: str, state: _State, wording: Wording) -> None:
        self._key, self._state, self._wording = key, state, wording
        self._files = dict(state.files)
        self._new: dict[int, Chunk] = {}

    def remove(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._files.pop(path, None)

    def move(self, targets: Mapping[str, str]) -> None:
        """Gives files another path, in place of whatever was there; their chunks get other ids."""
        moved = {new: self._files.pop(old) for old, new in targets.items() if old in self._files}
        self.remove(targets.values())
        for path, outline in moved.items():
            ids = ids_of(self._key, path, ((chunk.qualified, chunk.part) for chunk in outline.chunks))
            named = (chunk._replace(id=id) for chunk, id in zip(outline.chunks, ids, strict=True))
            self._files[path] = replace(outline, chunks=tuple(named))

    def replace(self, file: CodeFile) -> None:
        parsed = file.parsed
        before = self._files.get(file.path)
        now = fresh(self._key, file.path, parsed.language, parsed.chunks)
        kept, new, _ = matched([chunk.known for chunk in before.chunks] if before else [], now)
        outlined = [Outlined.of(known.num, one) for known, one in kept]
        for one in new:
            num = -len(self._new) - 1  # until all are known that need a number
            self._new[num] = one.chunk
            outlined.append(Outlined.of(num, one))
        in_order = tuple(sorted(outlined, key=lambda chunk: (chunk.start_line, chunk.end_line)))
        self._files[file.path] = Outline(parsed.language, file.mark, in_order, lines_of(parsed.references))

    def batch(self, db: Database) -> Batch:
        first = _reserved(db, len(self._new)) if self._new else 0
        numbers = {num: first + place for place, num in enumerate(self._new)}
        files = {path: _numbered(outline, numbers) for path, outline in self._files.items()}
        new = {numbers[num]: chunk for num, chunk in self._new.items()}
        return _Difference(self._key, self._state, files, new, self._wording).batch(db)


def _reserved(db: Database, chunks: int) -> int:
    """The first of so many numbers that nobody else gets; those of a portion that fails are never used."""
    (last,) = db.run("UPDATE ONLY counter:code_chunks SET value += $chunks RETURN VALUE value", chunks=chunks)
    return int(last) - chunks + 1


def _numbered(outline: Outline, numbers: Mapping[int, int]) -> Outline:
    if all(chunk.num not in numbers for chunk in outline.chunks):
        return outline
    chunks = (chunk._replace(num=numbers.get(chunk.num, chunk.num)) for chunk in outline.chunks)
    return replace(outline, chunks=tuple(chunks))


Place = tuple[str, str, Outlined]


def _places(files: Mapping[str, Outline]) -> dict[int, Place]:
    """By number: the path of a chunk, its language, and the chunk."""
    return {chunk.num: (path, file.language, chunk) for path, file in files.items() for chunk in file.chunks}


class _Difference:
    """Between the files as they were and as they are to be, as a batch."""

    def __init__(
        self, key: str, state: _State, files: Mapping[str, Outline], new: Mapping[int, Chunk], wording: Wording
    ) -> None:
        self._key, self._state, self._files, self._new, self._wording = key, state, files, new, wording
        self._before, self._after = _places(state.files), _places(files)
        self._gone = [num for num in self._before if num not in self._after]
        stay = [(num, self._before[num], self._after[num]) for num in self._before if num in self._after]
        # A record cannot have another id: such a chunk is written anew, and keeps its number.
        self._renamed = {num for num, old, now in stay if (old[0], old[2].id) != (now[0], now[2].id)}
        self._shifted = [now[2] for num, old, now in stay if num not in self._renamed and old[2][3:5] != now[2][3:5]]
        self._lists = Lists(key)
        self._terms = 0

    def batch(self, db: Database) -> Batch:
        old = {self._before[num][2].id for num in (*self._gone, *self._renamed)}
        rows, entries = db.run(
            "SELECT * FROM $chunks; SELECT VALUE [num, model, array::len(signs)] FROM $entries",
            chunks=records("code_chunk", old),
            entries=records("code_entry", [*self._gone, *self._renamed]),
        )
        if len(rows) < len(old):
            raise Overtaken("chunks have gone while a portion was worked out")
        chunks = {row["num"]: row for row in rows}
        embedded = {num: parts for num, model, parts in entries if model is not None}
        for num in self._gone:
            self._drop_words(num, chunks[num])
        saved = {self._after[num][2].id: self._row(num, chunk) for num, chunk in self._new.items()}
        saved |= {self._after[num][2].id: self._renamed_row(num, chunks[num]) for num in self._renamed}
        lists = db.rows("SELECT * FROM $lists", lists=self._lists.touched)
        batch = Batch()
        gone = [num for num in self._gone if num in embedded]
        guard_index(batch, self._key, self._state.change, self._grown(len(gone)))
        # The engine does not take a record that the same transaction has deleted.
        batch.delete(records("code_chunk", old.difference(saved)))
        batch.put("code_chunk", saved, old)
        self._save_entries(batch, embedded)
        self._list_gone(batch, gone)
        batch.merge([{"id": record("code_chunk", chunk.id), **_lines(chunk)} for chunk in self._shifted])
        self._save_files(batch)
        self._lists.save(batch, {tuple(row["id"]): row["held"] for row in lists})
        return batch

    def _row(self, num: int, chunk: Chunk) -> dict[str, Any]:
        path, language, outlined = self._after[num]
        words = self._wording.of(path, language, chunk)
        self._lists.add(num, language, words)
        self._terms += length(words)
        name = spelled(chunk.qualified)
        return {
            **{"num": num, "owner": self._key, "path": path, "language": language},
            **{"kind": chunk.kind.value, "name": chunk.name, "parent": chunk.parent, "signature": chunk.signature},
            **{"doc": chunk.doc, "text": chunk.text, "part": chunk.part, **_lines(outlined)},
            **{"last_name": name.rpartition(".")[2], "full_name": name},
            **{"words": " ".join(distinct(words)), "length": length(words)},
        }

    def _renamed_row(self, num: int, row: Mapping[str, Any]) -> dict[str, Any]:
        path, _, outlined = self._after[num]
        if path == row["path"]:
            return {**row, **_lines(outlined)}
        self._drop_words(num, row)
        return self._row(num, chunk_of(row))

    def _drop_words(self, num: int, row: Mapping[str, Any]) -> None:
        self._lists.drop(num, row["language"], row["words"].split())
        self._terms -= row["length"]

    def _save_entries(self, batch: Batch, embedded: Mapping[int, int]) -> None:
        unembedded: dict[str, Any] = {"model": None, "signs": [], "changed": 0}
        entries = {
            num: {"num": num, "chunk": chunk.id, "owner": self._key, "language": language, **unembedded}
            for num, (_, language, chunk) in self._after.items()
            if num in self._new
        }
        batch.put("code_entry", entries, ())
        names = {num: self._after[num][2].id for num in self._renamed}
        batch.merge([{"id": record("code_entry", num), "chunk": id} for num, id in names.items()])
        vectors = [(at, names[num]) for num in names for at in vector_numbers(num, embedded.get(num, 0))]
        batch.merge([{"id": record("code_vector", at), "chunk": id} for at, id in vectors])
        batch.delete(records("code_entry", self._gone))
        destroyed = [at for num in self._gone for at in vector_numbers(num, embedded.get(num, 0))]
        batch.delete(records("code_vector", destroyed))

    def _list_gone(self, batch: Batch, gone: Sequence[int]) -> None:
        """Only what had vectors is in the copies that other processes have of them."""
        batch.add("LET $next = (UPDATE ONLY counter:code SET value += 1, gone += $?)", len(gone))
        listing = "CREATE type::record('code_gone', $num) SET changed = $next.value RETURN NONE"
        batch.add(f"FOR $num IN $? {{ {listing} }}", gone)
        forgetting = "UPDATE counter:code SET forgotten = $next.value, gone = 0 RETURN NONE"
        batch.add(f"IF $next.gone > {MOST_GONE} {{ DELETE code_gone RETURN NONE; {forgetting} }}")

    def _save_files(self, batch: Batch) -> None:
        before, after = self._state.files, self._files
        there = {(self._key, path) for path in before}
        removed = [list(id) for id in there if id[1] not in after]
        batch.delete([*records("code_file", removed), *records("code_outline", removed)])
        saved = {(self._key, path): file for path, file in after.items() if file is not before.get(path)}
        marks = {id: {"language": file.language, **mark_row(file.mark)} for id, file in saved.items()}
        batch.put("code_file", marks, there)
        batch.put("code_outline", {id: chunks_row(file) for id, file in saved.items()}, there)
        used, uses = self._references(before), self._references(after)
        batch.delete(records("code_reference", map(list, used - uses)))
        batch.put("code_reference", {one: {} for one in sorted(uses - used)}, ())

    def _references(self, files: Mapping[str, Outline]) -> set[tuple[str, ...]]:
        return {
            (self._key, name.casefold(), path, name, file.language)
            for path, file in files.items()
            for name in file.uses
        }

    def _grown(self, gone: int) -> dict[str, int]:
        return {
            "files": len(self._files) - len(self._state.files),
            "chunks": len(self._new) - len(self._gone),
            "embedded": -gone,
            "terms": self._terms,
        }


def _lines(chunk: Outlined) -> dict[str, int]:
    return {"start_line": chunk.start_line, "end_line": chunk.end_line}
