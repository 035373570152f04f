"""Indexes of code: who is at work on which, what is in them, and how records become chunks."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from retain.domain.code import Chunk, ChunkKind, CodeIndex, IndexStatus, Mark, StoredChunk
from retain.domain.model import earlier
from retain.domain.session import Project
from retain.stores.naming import free_slug
from retain.stores.surreal import migrations
from retain.stores.surreal.link.cbor import record, records
from retain.stores.surreal.link.database import Batch, Database
from retain.stores.surreal.link.failures import STALE
from retain.stores.surreal.sessions import PROJECT, project_of, project_row

CHUNK = """id, owner, path, language, kind, name, start_line, end_line, text, parent, signature, doc, part,
    type::record('code_file', [owner, path]).{digest, size, modified} AS mark"""
_INDEX = """project, user, status, total_files, indexed_files, total_chunks, embedded_chunks, skipped, started,
    completed, error, holder, beat"""
_AGAIN = ", ".join(f"{name.strip()} = $input.{name.strip()}" for name in _INDEX.split(","))
_NOTHING = {"files": 0, "chunks": 0, "embedded": 0, "terms": 0}


def indexes(db: Database, user: str) -> list[CodeIndex]:
    project = f"type::record('project', project).{{{PROJECT}}} AS its_project"
    rows = db.rows(f"SELECT {_INDEX}, {project} FROM code_index WHERE user = $user", user=user)
    found = [_index_of(row, project_of(row["its_project"])) for row in rows]
    return sorted(found, key=lambda index: index.project.slug)


def claim(db: Database, index: CodeIndex, dead_since: datetime, *, new: bool) -> CodeIndex | None:
    """Makes the holder of the index the one who indexes, unless another is alive and at it."""
    versions, change, there, projects, slugs, names = db.run(
        f"""SELECT VALUE number FROM migration; RETURN counter:code.value;
            SELECT status, holder, beat, held FROM $index;
            SELECT {PROJECT} FROM $project; SELECT VALUE slug FROM project; SELECT VALUE name_key FROM profile""",
        index=records("code_index", [index.key]),
        project=records("project", [index.project.id]),
    )
    migrations.check_version(max(versions, default=0))
    if not (there or new) or any(_is_held(row, index.holder, dead_since) for row in there):
        return None
    batch = Batch()
    batch.add("LET $now = (SELECT VALUE [status, holder, beat] FROM $?)", records("code_index", [index.key]))
    seen = [[row["status"], row["holder"], row["beat"]] for row in there]
    batch.add(f"IF $now != $? {{ THROW '{STALE}' }}", seen)
    project = project_of(projects[0]) if projects else _added(batch, index.project, slugs, names)
    held = there[0]["held"] if there else _NOTHING
    claimed = replace(index, project=project, status=IndexStatus.INDEXING, **_counts(held))
    # Later than all changes of an index with this key that was dropped.
    fresh = {"id": index.key, "held": _NOTHING, "change": change, **_row(claimed)}
    batch.insert("code_index", [fresh], _AGAIN)
    db.commit(batch)
    return claimed


def _is_held(row: Mapping[str, Any], holder: str | None, dead_since: datetime) -> bool:
    is_alive = row["beat"] is not None and row["beat"] > dead_since
    return bool(row["status"] == IndexStatus.INDEXING and row["holder"] != holder and is_alive)


def _added(batch: Batch, project: Project, slugs: Sequence[str], names: Sequence[str]) -> Project:
    added = replace(project, slug=free_slug(project, slugs, names))
    batch.add(
        f"IF (SELECT VALUE id FROM project WHERE slug = $? OR id = $?) != [] {{ THROW '{STALE}' }}",
        *(added.slug, record("project", added.id)),
    )
    batch.insert("project", [project_row(added, added.slug)])
    return added


def recount(db: Database, index: CodeIndex) -> CodeIndex | None:
    held = db.row("SELECT VALUE held FROM $index", index=records("code_index", [index.key]))
    counted = replace(index, status=IndexStatus.INDEXING, **_counts(held or _NOTHING))
    projects = report(db, counted)
    return replace(counted, project=project_of(projects[0])) if projects else None


def report(db: Database, index: CodeIndex) -> list[Any]:
    """The project of the index; none, and nothing is written, when its holder is another one."""
    project = f"type::record('project', project).{{{PROJECT}}}"
    (reported,) = db.run(
        f"UPDATE $index MERGE $row WHERE holder = $holder RETURN VALUE {project}",
        index=records("code_index", [index.key]),
        row=_row(index),
        holder=index.holder,
    )
    return list(reported)


def release(db: Database, key: str) -> None:
    """Takes an index from whoever holds it, so that the holder stops at its next report."""
    db.run("UPDATE $index SET holder = NULL, status = 'pending' RETURN NONE", index=records("code_index", [key]))


def guard_index(batch: Batch, key: str, seen: int, grown: Mapping[str, int]) -> None:
    """Lets the batch through only while an index has the change number that was seen, whatever happens to others."""
    setting = "".join(f", held.{name} += $?" for name in grown)
    this = record("code_index", key)
    batch.add(f"LET $mine = (UPDATE ONLY $? SET change += 1{setting} WHERE change = $?)", this, *grown.values(), seen)
    batch.add(f"IF $mine = NONE {{ THROW '{STALE}' }}")


def file_marks(db: Database, key: str) -> dict[str, Mark]:
    rows = db.rows("SELECT VALUE [id.id()[1], digest, size, modified] FROM code_file:[$key]..[$key, {}]", key=key)
    return {path: Mark(*mark) for path, *mark in rows}


def mark_files(db: Database, key: str, marks: Mapping[str, Mark]) -> None:
    batch = Batch()
    batch.merge([{"id": record("code_file", [key, path]), **mark_row(mark)} for path, mark in marks.items()])
    db.commit(batch)


def mark_row(mark: Mark) -> dict[str, Any]:
    return {"digest": mark.digest, "size": mark.size, "modified": mark.modified}


def unembedded(db: Database, key: str, model: str, limit: int) -> list[StoredChunk]:
    """In the order in which they were indexed: first those that no model has embedded, then those of others."""
    # One range of an index after the other, so that a batch does not read all that is left; NULL is less than any text.
    query = (
        "SELECT VALUE [num, chunk] FROM code_entry WHERE owner = $key AND model {} $model ORDER BY model, num LIMIT "
    )
    found = db.run("; ".join(query.format(than) + str(limit) for than in "<>"), key=key, model=model)
    some = sorted([row for rows in found for row in rows][:limit])
    return list(chunks(db, [chunk for _, chunk in some]).values())


def outdated(db: Database, user: str, model: str) -> list[str]:
    has = "(SELECT VALUE num FROM code_entry WHERE owner = $parent.id.id() AND model IN $models LIMIT 1) != []"
    query = f"SELECT VALUE id FROM code_index WHERE user = $user AND {has}"
    return db.rows(query, user=user, models=earlier(model)) if earlier(model) else []


def chunks(db: Database, ids: Sequence[str]) -> dict[str, StoredChunk]:
    rows = db.rows(f"SELECT {CHUNK} FROM $ids", ids=records("code_chunk", dict.fromkeys(ids)))
    found = {row["id"]: _stored(row) for row in rows}
    return {id: found[id] for id in ids if id in found}


def _stored(row: Mapping[str, Any]) -> StoredChunk:
    mark = Mark(**row["mark"])
    return StoredChunk(row["id"], row["owner"], row["path"], row["language"], mark, chunk_of(row))


def chunk_of(row: Mapping[str, Any]) -> Chunk:
    return Chunk(
        kind=ChunkKind(row["kind"]),
        name=row["name"],
        start_line=row["start_line"],
        end_line=row["end_line"],
        text=row["text"],
        parent=row["parent"],
        signature=row["signature"],
        doc=row["doc"],
        part=row["part"],
    )


def _counts(held: Mapping[str, int]) -> dict[str, Any]:
    return {
        "total_files": held["files"],
        "indexed_files": held["files"],
        "total_chunks": held["chunks"],
        "embedded_chunks": held["embedded"],
    }


def _row(index: CodeIndex) -> dict[str, Any]:
    return {
        "project": index.project.id,
        "user": index.user,
        "status": index.status.value,
        "total_files": index.total_files,
        "indexed_files": index.indexed_files,
        "total_chunks": index.total_chunks,
        "embedded_chunks": index.embedded_chunks,
        "skipped": json.dumps(dict(index.skipped), ensure_ascii=False),
        "started": index.started,
        "completed": index.completed,
        "error": index.error,
        "holder": index.holder,
        "beat": index.beat,
    }


def _index_of(row: Mapping[str, Any], project: Project) -> CodeIndex:
    return CodeIndex(
        project=project,
        user=row["user"],
        status=IndexStatus(row["status"]),
        total_files=row["total_files"],
        indexed_files=row["indexed_files"],
        total_chunks=row["total_chunks"],
        embedded_chunks=row["embedded_chunks"],
        skipped=json.loads(row["skipped"]),
        started=row["started"],
        completed=row["completed"],
        error=row["error"],
        holder=row["holder"],
        beat=row["beat"],
    )
