"""The summaries in a project's CLAUDE.md and AGENTS.md, as setting up and taking down plan and change them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from retain.app import Retain
from retain.clients.edits import Edit
from retain.clients.journal import Journal
from retain.clients.planning import Step
from retain.config import Loaded, Settings
from retain.errors import Refused
from retain.surfaces import claude_md, section


def text_now(loaded: Loaded) -> str:
    """What a summary would say; a memory that nobody has used yet says nothing, and is not made to find out."""
    settings = loaded.settings
    if not settings.is_on_server and not settings.database_file.exists():
        return ""
    with Retain(loaded, own_session=False) as app:
        return claude_md.summary(app)


def kept(root: Path, settings: Settings, choices: Mapping[str, object]) -> list[Path]:
    """The files that have a summary, or get one when there is something to say."""
    names = claude_md.FILES.items()
    return [root / name for setting, name in names if choices.get(setting, getattr(settings, setting))]


def written(files: Sequence[Path], text: str) -> Iterator[Step]:
    """A step for each file that would change, or that would but cannot."""
    return _steps(files, lambda raw: section.replaced(raw, text))


def removed(root: Path) -> Iterator[Step]:
    return _steps(standing(root), section.removed)


def standing(root: Path) -> list[Path]:
    """The files in which a summary stands, also one whose markers are broken."""
    files = [root / name for name in claude_md.FILES.values()]
    return [file for file in files if file.is_file() and section.START in file.read_bytes()]


def remove(root: Path, steps: Sequence[Step], journal: Journal, now: datetime) -> list[claude_md.Outcome]:
    keep_copies(steps, journal, now)
    return [claude_md.remove(file) for file in standing(root)]


def keep_copies(steps: Sequence[Step], journal: Journal, now: datetime) -> None:
    for step in steps:
        try:
            if step.edit:
                journal.copy(step.edit, now)
        except OSError as error:
            why = f"no copy of it could be made in {journal.folder} ({error.strerror})"
            raise Refused(f"{step.path} was not changed: {why}") from None


def _steps(files: Sequence[Path], change: Callable[[bytes], bytes]) -> Iterator[Step]:
    for file in files:
        try:
            raw, new = claude_md.planned(file, change)
        except (Refused, OSError) as error:
            why = error.message if isinstance(error, Refused) else error.strerror or str(error)
            yield Step("project", "summary", file, problem=f"{file}: {why}")
            continue
        if new != (raw or b""):
            old = raw.decode() if raw is not None else None
            left = new.decode() if new.removeprefix(section.BOM) else None
            yield Step("project", "summary", file, Edit(file, old, left), had_ours=section.START in (raw or b""))
