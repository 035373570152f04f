"""One project: its settings file, its server for the team, what another memory left there."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from retain.app import Retain
from retain.clients import planning
from retain.clients.journal import Journal
from retain.clients.known import CLAUDE_CODE
from retain.clients.planning import Step
from retain.config import Settings
from retain.engine.importing import FILE, Imported, listed, parsed
from retain.errors import Refused
from retain.folders import root_of
from retain.installed import NAME
from retain.settings_files import is_in
from retain.surfaces import claude_md

SETTINGS = ".claude/retain.local.md"
# Goes with the project to other machines, where the command has another path.
TEAM_COMMAND = [NAME, "serve"]


def root(settings: Settings) -> Path:
    """The project's folder; a worktree belongs to its main checkout."""
    folder = settings.project_dir or Path.cwd()
    if not folder.is_dir():
        raise Refused(f"{folder} is no folder; --project names the one that is meant")
    found = root_of(str(folder), str(Path.home()))
    if found is None:
        raise Refused(f"{folder} is no project: home and / are everybody's. Go into one, or name it with --project")
    return Path(found)


def set_up(root: Path, choices: Mapping[str, str | bool], *, team_server: bool) -> Iterator[Step]:
    yield _inside(root, planning.settings(root / SETTINGS, choices))
    if excludes := _excludes(root):
        yield planning.text_step("settings", "kept out of git", excludes, _excluded)
    if (root / FILE).exists() and not is_in(root / FILE, root):
        where = f"{root / FILE} leads out of the project by a link"
        yield Step("project", "import", root / FILE, problem=f"{where}, so nothing is imported from there")
    if team_server:
        yield _inside(root, planning.server_for(CLAUDE_CODE, root / ".mcp.json", TEAM_COMMAND))


def take_down(root: Path, journal: Journal) -> Iterator[Step]:
    steps = [planning.without_settings(root / SETTINGS, list(claude_md.FILES))]
    # That file is the team's: an entry that somebody else made is not ours to remove.
    if journal.knows(root / ".mcp.json"):
        steps.append(planning.server_from(CLAUDE_CODE, root / ".mcp.json"))
    if excludes := _excludes(root):
        steps.append(planning.text_step("settings", "kept out of git", excludes, _included))
    return (_inside(root, planning.taken_back(step, journal)) for step in steps)


def _inside(root: Path, step: Step) -> Step:
    """A project's folder may come with links, and what they lead to is not the project's."""
    # A repository's own folder may lie elsewhere; git follows it too.
    if step.edit is None or ".git" in step.path.parts or is_in(step.path, root):
        return step
    where = f"{step.path} leads out of the project by a link"
    return replace(
        step, edit=None, problem=f"{where}, so nothing is written there; put a folder or a file in its place"
    )


def left_behind(root: Path) -> int:
    """How many memories an earlier memory of this project holds in its file; 0 when there is none."""
    file = _earlier(root)
    return len(listed(parsed(file.read_bytes()))) if file else 0


def take_over(app: Retain, root: Path) -> Imported | None:
    """Imports that file, which stays where it is; None when there is none."""
    file = _earlier(root)
    return app.engine.import_state(parsed(file.read_bytes()), app.caller()) if file else None


def _earlier(root: Path) -> Path | None:
    """One that a link brings in from elsewhere is another project's."""
    file = root / FILE
    return file if file.is_file() and is_in(file, root) else None


def _excludes(root: Path) -> Path | None:
    """The list of files that git passes over on this machine alone; a `.gitignore` would change for everyone."""
    marker = root / ".git"
    if marker.is_dir():
        return marker / "info" / "exclude"
    if marker.is_file():
        named = marker.read_text(encoding="utf-8", errors="replace").removeprefix("gitdir:").strip()
        return (root / named).resolve() / "info" / "exclude"
    return None


def _excluded(text: str) -> str:
    if f"/{SETTINGS}" in text.splitlines():
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = newline if text and not text.endswith("\n") else ""
    return f"{text}{gap}/{SETTINGS}{newline}"


def _included(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if line.strip() != f"/{SETTINGS}")
