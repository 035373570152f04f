"""Whether clients know of this memory, and whether what they were told still holds."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from retain.clients import claude_code, edits, entries, launcher, status_line, this_install
from retain.clients.faults import Unfit
from retain.clients.known import CLAUDE_CODE, CLIENTS, Client, Machine, claude_settings

State = Literal["ok", "warn", "fail"]
AGAIN = "retain setup"


@dataclass(frozen=True, slots=True)
class Finding:
    state: State
    note: str
    repair: str = AGAIN


def findings(machine: Machine) -> list[Finding]:
    """What clients were told, which files cannot be read, and which clients are here and know nothing of it."""
    told = [finding for client in CLIENTS for finding in _servers(client, machine)] + list(_hooks(machine))
    if not told:
        told = [Finding("warn", "no client knows of this memory yet")]
    return [*told, *_not_connected(machine)]


def plugin_note(machine: Machine) -> str | None:
    """What to say about the plugin, which is not ours to remove, when the rest is taken back."""
    try:
        is_on = claude_code.plugin_is_on(edits.read(claude_settings(machine)) or "")
    except Unfit:
        return None
    return "the plugin is still enabled; `claude plugin uninstall retain` removes it" if is_on else None


def _not_connected(machine: Machine) -> Iterator[Finding]:
    """Not every client is wanted, so this is no fault."""
    for client in CLIENTS:
        through_plugin = client is CLAUDE_CODE and plugin_note(machine)
        if client.is_found(machine) and not through_plugin and not list(_servers(client, machine)):
            yield Finding("ok", f"{client.title}: not connected; `{AGAIN} --client {client.name}` does it")


def _servers(client: Client, machine: Machine) -> Iterator[Finding]:
    file = client.file(machine)
    try:
        entry = entries.server_in(client, edits.read(file) or "")
    except Unfit as error:
        state: State = "fail" if edits.names_us(file) else "warn"
        said = error.message if str(file) in error.message else f"{file}: {error.message}"
        yield Finding(state, f"{client.title}: {said}", "put that right, then retain setup")
        return
    if entry is None:
        return
    if not entries.is_ours(entry):
        yield Finding("warn", f"{client.title}: the server called retain in {file} is another", "rename that one")
    elif missing := _missing(entry):
        yield Finding("fail", f"{client.title}: its server is {missing}, which is not there")
    elif entry.get("command") != this_install.server()[0]:
        yield Finding("warn", f"{client.title}: its server is another installation, {entry.get('command')}")
    else:
        yield Finding("ok", f"{client.title}: server registered")


def _hooks(machine: Machine) -> Iterator[Finding]:
    title, file = CLAUDE_CODE.title, claude_settings(machine)
    try:
        text = edits.read(file) or ""
        hooks, plugin = claude_code.our_hooks(text), claude_code.plugin_is_on(text)
    except Unfit as error:
        # Its hooks are where the memory is used, so this file matters in any case.
        yield Finding("fail", f"{title}: {file}: {error.message}", "put that right, then retain setup")
        return
    if plugin and (command := launcher.found(machine)):
        yield Finding("ok", f"{title}: the plugin is enabled and starts {command}")
    elif plugin:
        yield Finding("fail", f"{title}: the plugin is enabled, and its launcher finds no command to start")
    if plugin and hooks:
        yield Finding("fail", f"{title}: hooks run twice, from the plugin and from {file}")
    elif hooks:
        yield from _told(hooks)
    yield from _status_line(text)


def _told(hooks: Mapping[str, list[dict[str, Any]]]) -> Iterator[Finding]:
    title = CLAUDE_CODE.title
    gone = {missing for them in hooks.values() for hook in them if (missing := _missing(hook))}
    for missing in sorted(gone):
        yield Finding("fail", f"{title}: hooks call {missing}, which is not there")
    if doubled := [event for event, them in hooks.items() if len(them) > 1]:
        yield Finding("fail", f"{title}: more than one hook for {', '.join(doubled)}")
    if lacking := [event for event in claude_code.EVENTS if event not in hooks]:
        yield Finding("warn", f"{title}: no hook for {', '.join(lacking)}")
    if not gone and not doubled and not lacking:
        yield Finding("ok", f"{title}: hooks for {', '.join(hooks)}")


def _status_line(text: str) -> Iterator[Finding]:
    found = status_line.status_line(text)
    if not status_line.is_ours(found):
        return
    try:
        command, *args = shlex.split(found["command"])
    except ValueError:  # somebody has edited it
        command, args = found["command"], []
    if missing := _missing({"command": command, "args": args}):
        yield Finding("fail", f"{CLAUDE_CODE.title}: its status line calls {missing}, which is not there")
    else:
        yield Finding("ok", f"{CLAUDE_CODE.title}: status line registered")


def _missing(entry: Mapping[str, Any]) -> str | None:
    """A path in a command that leads nowhere; a bare name is looked for by the client, on its own PATH."""
    args = entry.get("args")
    words = [entry.get("command"), *(args if isinstance(args, list) else ())]
    paths = [Path(word) for word in words if isinstance(word, str) and Path(word).is_absolute()]
    return next((str(path) for path in paths if not path.exists()), None)
