"""Where a memory is: the name by which hooks and servers of one memory find each other, and its files here."""

import os
from pathlib import Path

from retain.config import Loaded, Settings
from retain.domain.ids import id_of

HELD_QUEUE = "queue.db"
USUAL = "ws://localhost:8000"  # where a SurrealDB listens that was started without options


def name_for(loaded: Loaded) -> str:
    """As `name_of`, also while nobody has decided which memory it is."""
    return f"held:{held_folder(loaded)}" if loaded.is_held else name_of(loaded.settings)


def readable_for(loaded: Loaded) -> Path | None:
    """As `readable_file`, also while nobody has decided which memory it is: then there is only what waits."""
    return held_copy(loaded) if loaded.is_held else readable_file(loaded.settings)


def held_folder(loaded: Loaded) -> Path:
    """Where writes wait for a decision about the project's settings file.

    Processes with other settings of their own would have another store without that file, so they have another folder:
    what waits in it goes where they would have written, or where the file says.
    """
    file, base = loaded.project_file, loaded.base or loaded.settings
    if file is None:
        raise ValueError("no settings file of a project was read")
    otherwise = "memory" if base.deployment_mode == "embedded-memory" else name_of(base)
    return held_folders(file.kept_in) / id_of("\x1f".join((file.content.path, otherwise)))


def held_folders(home: Path) -> Path:
    return home.expanduser().absolute() / "held"


def held_queue(loaded: Loaded) -> Path:
    return held_folder(loaded) / HELD_QUEUE


def held_copy(loaded: Loaded) -> Path:
    return held_folder(loaded) / "copy.db"


def name_of(settings: Settings) -> str:
    """The same for all processes that use this memory, and no others."""
    if settings.is_on_server:
        return f"server:{_digest(settings)}"
    if settings.deployment_mode == "embedded-memory":
        return f":memory:{os.getpid()}"
    path = str(settings.database_file.absolute())
    return "\x1f".join((path, settings.namespace, settings.database)) if settings.uses_surrealdb else path


def readable_file(settings: Settings) -> Path | None:
    """A file of SQLite that any process can read: the store itself, or the copy of a database on a server.

    SurrealDB's folder is read by the process that has it open, and by no other.
    """
    if settings.is_on_server:
        return beside_server(settings, "cache")
    if settings.uses_surrealdb or settings.deployment_mode == "embedded-memory":
        return None
    return settings.database_file.absolute()


def address(settings: Settings) -> str:
    """The place that a person knows it by."""
    return _url(settings) or "retain db serve" if settings.is_on_server else str(settings.database_file)


def shown(settings: Settings) -> str:
    which = f", database {settings.database} in namespace {settings.namespace}" if settings.is_on_server else ""
    return address(settings) + which


def beside_server(settings: Settings, folder: str) -> Path:
    """Where something is kept on this machine for one user of one database on a server."""
    return settings.home.expanduser().absolute() / folder / f"{_digest(settings)}.db"


def _digest(settings: Settings) -> str:
    """Of one user's part of a database, as a name that a file can have."""
    return id_of("\x1f".join((_url(settings), settings.namespace, settings.database, settings.user_id)))


def _url(settings: Settings) -> str:
    """Nothing for the one that `retain db serve` has, wherever it listens."""
    return settings.remote_url or (USUAL if settings.remote_user else "")
