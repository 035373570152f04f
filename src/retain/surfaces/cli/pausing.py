"""`retain pause` and `retain resume`: nothing is captured for a while, in a project or everywhere."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import click

from retain import pauses
from retain.app import Retain, SystemClock
from retain.domain.session import Project
from retain.domain.time import iso
from retain.errors import Refused, StoreDown
from retain.folders import project_of
from retain.pauses import EVERYWHERE, Pause, Unreadable
from retain.surfaces.cli.draw import several
from retain.surfaces.cli.options import Call, common

T = TypeVar("T")

_everywhere = click.option("--all", "everywhere", is_flag=True, help="Every project, and what belongs to none.")
EVERY = "every project"
_KEPT = "What is said until `retain resume{}` is never captured; what is remembered is still shown."


@click.command()
@_everywhere
@common
def pause(call: Call, everywhere: bool) -> None:
    """Stop capturing conversations of this project until `retain resume`.

    What is said meanwhile is never captured, not even later. Memories are still found and shown.
    """
    where = EVERYWHERE if everywhere else _project(call).id
    path = EVERY if everywhere else _project(call).path
    begun = _changed(call, lambda home, now: pauses.begin(home, where, path, now))
    since = _moment(begun.since)
    told = f"capture is paused for {path} since {since.astimezone():%Y-%m-%d %H:%M}"
    option = " --all" if everywhere else ""
    call.terminal.tell({"paused": True, "project": path, "since": iso(since)}, [told, _KEPT.format(option)])
    if not call.loaded.settings.capture:
        call.terminal.warn("the setting capture is off, so nothing was captured here anyway")


@click.command()
@_everywhere
@common
def resume(call: Call, everywhere: bool) -> None:
    """Capture conversations of this project again, from now on."""
    where = EVERYWHERE if everywhere else _project(call).id
    ended = _changed(call, lambda home, now: pauses.end(home, where, now))
    if not everywhere and pauses.paused_since(_home(call), where) is not None:
        raise Refused("capture is paused for every project; `retain resume --all` ends that, and all other pauses")
    body = {"paused": False, "ended": [{"project": one.path, "since": iso(_moment(one.since))} for one in ended]}
    call.terminal.tell(body, _told(ended, everywhere=everywhere))


def paused_here(app: Retain) -> datetime | None:
    """Since when nothing is captured in the current project."""
    project = app.caller().project
    since = pauses.paused_since(str(app.settings.home.expanduser()), project.id if project else None)
    return None if since is None else _moment(since)


def _told(ended: list[Pause], *, everywhere: bool) -> list[str]:
    if not ended:
        return ["nothing was paused" if everywhere else "capture was not paused here"]
    if len(ended) > 1:
        return [f"{several(len(ended), 'pauses')} ended: {', '.join(one.path for one in ended)}"]
    return [f"capture goes on for {ended[0].path}"]


def _changed(call: Call, change: Callable[[str, float], T]) -> T:
    try:
        return change(_home(call), SystemClock().now().timestamp())
    except Unreadable as error:
        raise Refused(f"{error}; delete that file to begin anew: all pauses in it are lost then") from error
    except OSError as error:
        raise StoreDown(f"{pauses.file(_home(call))} cannot be written: {error.strerror}") from error


def _project(call: Call) -> Project:
    folder = call.loaded.settings.project_dir or call.loaded.folder or Path.cwd()
    found = project_of(folder, Path.home(), SystemClock().now())
    if found is None:
        raise Refused(
            "there is no project here: go into a folder of your project, name it with --project, or use --all"
        )
    return found


def _home(call: Call) -> str:
    return str(call.loaded.settings.home.expanduser().absolute())


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)
