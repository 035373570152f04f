"""A memory whose errors and caveats name commands: the engine speaks to models too, which have tools instead."""

from collections.abc import Iterator
from contextlib import contextmanager

from retain.app import Retain
from retain.domain.session import Project
from retain.errors import Refused, RetainError
from retain.surfaces.cli.options import Call

_COMMANDS = {
    "project_init": "`retain project init`",
    "project_list": "`retain project list`",
    "session_start": "`retain session start`",
    "session_log": "`retain session log`",
    "session_complete": "`retain session done`",
    "session_list": "`retain session list`",
    "session_abort": "`retain session abort`",
    "memory_search": "`retain search`",
}


@contextmanager
def memory(call: Call) -> Iterator[Retain]:
    try:
        with call.memory() as app:
            yield app
    except RetainError as error:
        error.message = as_commands(error.message)
        raise


def as_commands(text: str) -> str:
    """What the engine says, with commands in the place of tools."""
    for tool, command in _COMMANDS.items():
        text = text.replace(f"call {tool}", f"run {command}").replace(tool, command)
    return text


def project_here(app: Retain) -> Project:
    """The current project; refused where there is none."""
    project = app.caller().project
    if project is None:
        where = "there is no project here: the home folder and the root of the file system are none"
        raise Refused(f"{where}; go into a folder of your project, or name it with --project")
    return project
