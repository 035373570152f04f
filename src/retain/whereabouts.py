"""Where a memory is: the name by which hooks and servers of one memory find each other, and its files here."""

import os
from pathlib import Path

from retain.config import Settings
from retain.domain.ids import id_of

USUAL = "ws://localhost:8000"  # where a SurrealDB listens that was started without options


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
