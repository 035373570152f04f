"""A memory whose errors name commands: the engine speaks to models too, which have tools instead."""

from collections.abc import Iterator
from contextlib import contextmanager

from retain.app import Retain
from retain.domain.session import Project
from retain.errors import Refused, RetainError
from retain.surfaces.cli.options import Call

# How the engine ends what it says, and how that is said here. Titles, names and texts of people stand before, and may
# speak of tools too.
_ENDINGS = {
    "call project_init with the path of one": "run `retain project init` with the path of one",
    "call project_init to add one": "run `retain project init` to add one",
    "call session_start to begin one": "run `retain session start` to begin one",
    "call session_start to begin a new session": "run `retain session start` to begin a new session",
    "session_list has those there are": "`retain session list` has those there are",
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
    """What the engine says, with commands in the place of tools; what people wrote stays as it is."""
    for tools, commands in _ENDINGS.items():
        if text.endswith(tools):
            return text.removesuffix(tools) + commands
    return text


def project_here(app: Retain) -> Project:
    """The current project; refused where there is none."""
    project = app.caller().project
    if project is None:
        where = "there is no project here: the home folder and the root of the file system are none"
        raise Refused(f"{where}; go into a folder of your project, or name it with --project")
    return project
