"""Which tools the agents of a project have: what the entries of this memory in clients' files say about that."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from retain.clients import edits, entries
from retain.clients.faults import Unfit
from retain.clients.known import CLAUDE_CODE, CLIENTS, Client, Machine

OPTION, VARIABLE = "--toolset", "RETAIN_TOOLSET"


def toolsets(root: Path, machine: Machine, otherwise: str) -> list[str]:
    """The setting of every server that a client starts in this project; `otherwise` where an entry names none."""
    found = [_named(entry) or otherwise for entry in _entries(root, machine)]
    return list(dict.fromkeys(found)) or [otherwise]


def _entries(root: Path, machine: Machine) -> Iterator[Mapping[str, Any]]:
    """Of Claude Code the entry that counts: the one for this folder, that of the project, or the user's."""
    own = CLAUDE_CODE.file(machine)
    here = replace(CLAUDE_CODE, path=("projects", str(root), *CLAUDE_CODE.path))
    places = [(here, own), (CLAUDE_CODE, root / ".mcp.json"), (CLAUDE_CODE, own)]
    yield from [entry for client, file in places if (entry := _entry(client, file))][:1]
    others = [client for client in CLIENTS if client is not CLAUDE_CODE]
    yield from (entry for client in others if (entry := _entry(client, client.file(machine))))


def _entry(client: Client, file: Path) -> Mapping[str, Any] | None:
    try:
        entry = entries.server_in(client, edits.read(file) or "")
    except Unfit:  # `retain doctor` tells about that
        return None
    return entry if entry is not None and entries.is_ours(entry) else None


def _named(entry: Mapping[str, Any]) -> str | None:
    """What is given on the command line goes before the environment, as it does in the server."""
    args = [str(arg) for arg in entry.get("args") or ()]
    given = [after for before, after in pairwise(args) if before == OPTION]
    given += [arg.partition("=")[2] for arg in args if arg.startswith(f"{OPTION}=")]
    variables = entry.get("env")
    said = given[-1] if given else variables.get(VARIABLE) if isinstance(variables, dict) else None
    return said if isinstance(said, str) and said else None
