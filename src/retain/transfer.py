"""Copying a whole memory from one store to another, each named by where it is."""

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from retain.config import Settings
from retain.errors import NotFound, Refused, invalid
from retain.ports import Store
from retain.stores.copying import Compared, Copied, Told, compared, copied
from retain.whereabouts import name_of
from retain.wiring import make_bare_store

__all__ = ["CURRENT", "Compared", "Copied", "Moved", "Told", "copy", "settings_for"]

CURRENT = "current"
_FOLDER = ".surrealkv"


@dataclass(frozen=True, slots=True)
class Moved:
    """What came of a copy; indexes of code stay where they are, since they are made from files."""

    copied: Copied
    code_indexes: int


def settings_for(named: str, settings: Settings) -> Settings:
    """The settings with which a store that somebody named is opened."""
    scheme, _, rest = named.partition(":")
    if named == CURRENT:
        return settings
    # What the settings limit or demand is about the store that they name.
    other = replace(settings, max_storage_mb=None, embedding_dimensions=None, deployment_mode="embedded-file")
    if scheme == "sqlite" and rest:
        return replace(other, store="sqlite", db_path=Path(rest))
    if scheme == "surrealkv" and rest:
        return replace(other, store="surrealdb", db_path=_folder(named, rest))
    if scheme in ("ws", "wss", "http", "https") and rest.startswith("//"):
        return replace(other, store="surrealdb", deployment_mode="remote", remote_url=named)
    raise invalid("store", named, f"name it as sqlite:FILE, surrealkv:FOLDER, ws://HOST:PORT, wss://HOST or {CURRENT}")


def copy(source: Settings, target: Settings, told: Told, *, dry_run: bool = False) -> Moved:
    """Makes the target hold all that the source does; with `dry_run` only compares them."""
    for one in (source, target):
        if one.deployment_mode == "embedded-memory":
            raise Refused("the settings say embedded-memory: what is there ends with its process, and is not copied")
    if _is_same(source, target):
        raise Refused("source and target are the same store; name another with --from or --to")
    if not _is_there(source):
        raise NotFound(f"there is no store at {source.database_file}")
    with closing(make_bare_store(source)) as giving, closing(_target(target, dry_run=dry_run)) as taking:
        done = compared(giving, taking, told) if dry_run else copied(giving, taking, told)
        return Moved(done, len(giving.indexes(source.user_id)))


def _folder(named: str, rest: str) -> Path:
    folder = Path(rest.removeprefix("//"))
    if folder.suffix not in ("", _FOLDER):
        raise invalid("store", named, f"a folder of SurrealDB ends in {_FOLDER}; one without is where it lies in")
    return folder


def _is_same(source: Settings, target: Settings) -> bool:
    are_here = not (source.is_on_server or target.is_on_server)
    by_another_name = are_here and source.database_file.resolve() == target.database_file.resolve()
    return by_another_name or name_of(source) == name_of(target)


def _is_there(settings: Settings) -> bool:
    return settings.is_on_server or settings.database_file.exists()


def _target(settings: Settings, *, dry_run: bool) -> Store:
    """A store that is not there yet is compared as an empty one, without making it."""
    if dry_run and not _is_there(settings):
        settings = replace(settings, store="sqlite", deployment_mode="embedded-memory")
    return make_bare_store(settings)
