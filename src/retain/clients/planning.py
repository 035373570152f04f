"""What setting up and taking down would change, file by file, and the doing of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from retain.clients import claude_code, edits, entries, front_matter, json_text, status_line, this_install
from retain.clients.edits import Edit
from retain.clients.faults import Unfit
from retain.clients.journal import Journal
from retain.clients.known import CLAUDE_CODE, Client, Machine, claude_settings


@dataclass(frozen=True, slots=True)
class Step:
    """One file. `edit` is None when it is as it should be, or cannot be edited for the `problem` that is named."""

    client: str
    what: str
    path: Path
    edit: Edit | None = None
    problem: str = ""
    note: str = ""
    had_ours: bool = False
    """Whether something of ours was in the file already."""


def set_up(
    clients: Iterable[Client], machine: Machine, *, tool_hooks: bool | None, statusline: bool | None = None
) -> Iterator[Step]:
    """None leaves hooks on tools and the status line as they are."""
    for client in clients:
        if client is CLAUDE_CODE:
            yield from map(_private, _set_up_claude_code(machine, tool_hooks=tool_hooks, statusline=statusline))
        else:
            yield _private(_server_step(client, client.file(machine), partial(_registered, client)))


def take_down(clients: Iterable[Client], machine: Machine, journal: Journal) -> Iterator[Step]:
    for client in clients:
        yield taken_back(server_from(client, client.file(machine)), journal)
        if client is CLAUDE_CODE:
            yield taken_back(_hooks_step(claude_settings(machine), _without_ours), journal)


def server_for(client: Client, file: Path, command: list[str]) -> Step:
    """One server in one file, by a command that the caller chooses."""
    return _server_step(client, file, lambda text: entries.with_server(client, text, command))


def server_from(client: Client, file: Path) -> Step:
    return _server_step(client, file, partial(entries.without_server, client))


def settings(path: Path, values: Mapping[str, str | bool]) -> Step:
    """Some settings in a settings file, which is made for its owner alone."""

    def changed(text: str) -> str:
        for name, value in values.items():
            text = front_matter.put(text, name, value)
        return text

    step = text_step(
        "settings", ", ".join(f"{name}: {str(value).lower()}" for name, value in values.items()), path, changed
    )
    had = step.edit is not None and any(front_matter.value(step.edit.old or "", name) is not None for name in values)
    return replace(_private(step), had_ours=had)


def without_settings(path: Path, names: Sequence[str]) -> Step:
    def changed(text: str) -> str:
        for name in names:
            text = front_matter.drop(text, name)
        return text

    return replace(text_step("settings", ", ".join(names), path, changed), had_ours=True)


def do(steps: Iterable[Step], journal: Journal, now: datetime) -> list[Step]:
    """Each step as it went: with its edit if that was made, with a problem if not. One that fails stops no other."""
    return [_done(step, journal, now) for step in steps]


def undo(steps: Iterable[Step], journal: Journal, now: datetime) -> list[Step]:
    """The same for steps that take something back; what they leave is nothing to go back from."""
    done = []
    for step in steps:
        done.append(_done(step, journal, now))
        if step.edit and not done[-1].problem:
            journal.forget(step.path)
            journal.clear_folders(step.path)
    return done


def taken_back(step: Step, journal: Journal) -> Step:
    """The same, to the very bytes of before if the file is as it was left; a file that was made here goes with it."""
    if step.edit is None or step.edit.old is None:
        # A file that is broken and has nothing of ours is no concern here.
        return step if edits.names_us(step.path) else replace(step, problem="")
    exact = journal.before(step.path, step.edit.old)
    if exact is not None:
        return replace(step, edit=exact)
    if journal.made(step.path) and _is_empty(step.edit.new or ""):
        return replace(step, edit=replace(step.edit, new=None))
    return step


def only_exact(path: Path, journal: Journal) -> Step:
    """A file that is given back as it was before, if it is still as it was left; else it is the user's by now."""
    try:
        text = edits.read(path)
    except Unfit:
        text = None
    exact = journal.before(path, text) if text is not None else None
    return _checked(Step("settings", "llm", path, exact, had_ours=True))


def has_other_status_line(machine: Machine) -> bool:
    """Whether Claude Code shows a status line of somebody else's."""
    try:
        found = status_line.status_line(edits.read(claude_settings(machine)) or "")
    except Unfit:
        return False
    return found is not None and not status_line.is_ours(found)


def _without_ours(text: str) -> str:
    return status_line.without_status_line(claude_code.without_hooks(text))


def _set_up_claude_code(machine: Machine, *, tool_hooks: bool | None, statusline: bool | None) -> Iterator[Step]:
    servers, settings = CLAUDE_CODE.file(machine), claude_settings(machine)
    try:
        plugin = claude_code.plugin_is_on(edits.read(settings) or "")
    except Unfit:
        plugin = False
    if plugin:
        note = "the plugin is installed and enabled and does this already; twice would be too much"
        yield replace(server_from(CLAUDE_CODE, servers), note=note)
        step = _hooks_step(
            settings, lambda text: status_line.with_status_line(claude_code.without_hooks(text), wanted=statusline)
        )
        yield step if statusline else replace(step, note=note)  # a plugin brings no status line
        return
    yield _server_step(CLAUDE_CODE, servers, partial(_registered, CLAUDE_CODE))
    yield _hooks_step(
        settings,
        lambda text: status_line.with_status_line(
            claude_code.with_hooks(text, tool_hooks=tool_hooks), wanted=statusline
        ),
    )


def _private(step: Step) -> Step:
    """A file that is made is its owner's alone: clients keep keys beside servers."""
    return replace(step, edit=step.edit and replace(step.edit, private=True))


def _registered(client: Client, text: str) -> str:
    return entries.with_server(client, text, this_install.server())


def _server_step(client: Client, file: Path, change: Callable[[str], str]) -> Step:
    step = text_step(client.title, "server", file, change)
    had = step.edit is not None and _has(lambda text: entries.server_in(client, text) is not None, step.edit.old)
    return replace(step, had_ours=had)


def _hooks_step(file: Path, change: Callable[[str], str]) -> Step:
    step = text_step(CLAUDE_CODE.title, "hooks", file, change)
    had = step.edit is not None and _has(lambda text: _without_ours(text) != text, step.edit.old)
    return replace(step, had_ours=had)


def _has(holds: Callable[[str], bool], text: str | None) -> bool:
    return text is not None and holds(text)


def text_step(client: str, what: str, path: Path, change: Callable[[str], str]) -> Step:
    """Nothing to do where the text says it already; a file that is not there is not made for nothing."""
    try:
        old = edits.read(path)
        new = change(old or "")
    except Unfit as error:
        return Step(client, what, path, problem=_about(path, error))
    edit = Edit(path, old, new)
    return _checked(Step(client, what, path, edit if new != (old or "") else None))


def _checked(step: Step) -> Step:
    """A change that could not be made is known before it is tried, so that a dry run tells it too."""
    if step.edit is None:
        return step
    try:
        edits.check(step.path)
    except Unfit as error:
        return replace(step, edit=None, problem=_about(step.path, error))
    return step


def _about(path: Path, error: Unfit) -> str:
    said = error.message
    return said if str(path) in said else f"{path}: {said}"


def _done(step: Step, journal: Journal, now: datetime) -> Step:
    if step.edit is None:
        return step
    try:
        copy = journal.copy(step.edit, now)
    except OSError as error:
        why = f"{step.path}: no copy of it could be made in {journal.folder} ({error.strerror}), so it was left alone"
        return replace(step, edit=None, problem=why)
    new_folders = [folder for folder in step.path.parents if not folder.exists()]
    done = _written(step)
    if not done.problem:
        journal.note(step.edit, copy, had_ours=step.had_ours)
        journal.note_folders(new_folders)
    return done


def _written(step: Step) -> Step:
    if step.edit is None:
        return step
    try:
        edits.write(step.edit)
    except Unfit as error:
        return replace(step, edit=None, problem=_about(step.path, error))
    return step


def _is_empty(text: str) -> bool:
    return json_text.is_blank(text) or text.strip("\ufeff \t\r\n") in ("{}", "[]")
