"""The JSON of commands that no tool answers: what a run did, what was copied, what is set."""

import os
import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from retain.config import Loaded, ProjectFile
from retain.domain.changes import Run
from retain.domain.memory import HistoryEntry, Memory
from retain.domain.time import iso
from retain.engine.lifecycle.undoing import Undone
from retain.settings import SECRETS
from retain.surfaces.render import Body, memory_id

if TYPE_CHECKING:
    from retain.checks import Check

MASK = "••••"
_IN_URL = re.compile(r"(://[^/@]*:)[^/@]*@")


def destroyed(memory: Memory, holding: Sequence[Path]) -> Body:
    return {
        "memory_id": memory_id(memory.id),
        "status": "destroyed",
        "backups_holding_it": [str(file) for file in holding],
    }


def history(id: str, entries: Sequence[HistoryEntry]) -> Body:
    return {"memory_id": memory_id(id), "history": [_entry(entry) for entry in entries]}


def _entry(entry: HistoryEntry) -> Body:
    return {
        "version": entry.version,
        "event": entry.event.value,
        "content": entry.text,
        "importance": entry.importance,
        "tags": list(entry.tags),
        "scope": entry.scope.value,
        "at": iso(entry.at),
        "reason": entry.reason,
    }


def runs(them: Sequence[Run]) -> Body:
    return {"runs": [run(one) for one in them]}


def run(one: Run) -> Body:
    return {
        "run_id": one.id,
        "strategy": one.strategy,
        "at": iso(one.at),
        "made": [memory_id(id) for id in one.made],
        "sources": [memory_id(id) for id in one.sources],
        "undone_at": iso(one.undone) if one.undone else None,
    }


def undone(done: Undone, holding: Sequence[Path] = ()) -> Body:
    return {
        **run(done.run),
        "forgotten": [memory_id(id) for id in done.forgotten],
        "restored": [memory_id(id) for id in done.restored],
        "sources_active": [memory_id(id) for id in done.sources],
        "destroyed": [memory_id(id) for id in done.destroyed],
        "backups_holding_them": [str(file) for file in holding],
    }


def settings(loaded: Loaded, files: Sequence[Path]) -> Body:
    return {
        "settings": {
            field.name: {"value": shown(loaded, field.name), "origin": loaded.origins.get(field.name, "default")}
            for field in fields(loaded.settings)
        },
        "files": [{"path": str(file), "exists": file.exists()} for file in files],
        "approval": _decided(loaded.project_file),
        "problems": list(loaded.remarks),
    }


def checks(them: "Sequence[Check]", done: Sequence[str], *, sound: bool) -> Body:
    return {
        "ok": sound,
        "checks": [
            {"area": c.area, "state": c.state, "note": c.note, "repair": c.repair if c.state != "ok" else None}
            for c in them
        ],
        "repaired": list(done),
    }


def shown(loaded: Loaded, name: str) -> object:
    """A setting as it may be shown: never a password."""
    if name == "store" and loaded.settings.is_on_server:
        return "surrealdb"  # whatever is set: a server is one
    return shown_value(name, getattr(loaded.settings, name))


def shown_value(name: str, value: object) -> object:
    if name in SECRETS and value:
        return MASK
    if isinstance(value, str):
        return _IN_URL.sub(rf"\1{MASK}@", value)
    if isinstance(value, tuple):
        return os.pathsep.join(map(str, value))
    return str(value) if isinstance(value, Path) else value


def _decided(file: ProjectFile | None) -> Body | None:
    if file is None or not file.asks:
        return None
    verdict = file.verdict.value if file.verdict else "undecided"
    return {"path": str(file.path), "verdict": verdict, "settings": list(file.asks)}
