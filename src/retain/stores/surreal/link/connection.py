"""Opening a database: in memory, in a folder of this machine, or on a server, where one signs in first."""

import re
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from retain.errors import ConfigError, RetainError
from retain.stores.surreal import migrations
from retain.stores.surreal.link.database import Database, Link
from retain.stores.surreal.link.embedded import EmbeddedLink
from retain.stores.surreal.link.failures import Forbidden
from retain.stores.surreal.link.retrying import insisting

if TYPE_CHECKING:  # what speaks over sockets takes 70 ms to import
    from retain.stores.surreal.link.reconnecting import Reconnecting
    from retain.stores.surreal.link.socket import SocketLink

NAMESPACE, DATABASE = "memory", "default"
NEEDED = 3
"""The first version of SurrealDB that has full-text indexes as they are used here."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is, and who signs in to it."""

    url: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    namespace: str = NAMESPACE
    database: str = DATABASE
    context: ssl.SSLContext | None = None
    """Which certificates are trusted, where those of the system are not the right ones."""


def in_memory(query_seconds: float = 5.0) -> Database:
    return _used(EmbeddedLink.in_memory(), NAMESPACE, DATABASE, query_seconds)


def in_folder(
    folder: Path, query_seconds: float = 5.0, namespace: str = NAMESPACE, database: str = DATABASE
) -> Database:
    """Only one process at a time can have it; StoreBusy says which one has."""
    return _used(EmbeddedLink.in_folder(folder), namespace, database, query_seconds)


def on_server(
    address: Address | Callable[[], Address], now: Callable[[], datetime], *, may_be_away: bool = False
) -> "Reconnecting":
    """A link for a `Database`, signed in now and after every loss. A server that may move is asked for each time.

    ConfigError or SchemaNewer: it will never work as it is set. LinkLost: it cannot be reached now; when it may be
    away, that is no error, and it is tried in the background.
    """
    from retain.stores.surreal.link.reconnecting import Reconnecting

    link = Reconnecting(lambda: signed_in(address() if callable(address) else address), now=now)
    link.open(may_be_away=may_be_away)
    return link


def signed_in(address: Address) -> "SocketLink":
    """A connection that is ready for queries: a server of a fitting version, its schema brought to ours."""
    from retain.stores.surreal.link.socket import SocketLink

    if address.user and not address.password:
        raise ConfigError("remote_user is set and remote_pass is not; set both (RETAIN_REMOTE_PASS)")
    link = SocketLink(address.url, context=address.context)
    try:
        db = Database(link)
        check_server(str(db.call("version")), address.url)
        if address.user:
            _sign_in(db, address)
        insisting(lambda: _prepare(db, address))  # others may be setting it up
    except RetainError:
        link.close()
        raise
    return link


def check_server(said: str, url: str) -> None:
    found = re.search(r"(\d+)\.\d+\S*", said)
    if found is None:
        raise ConfigError(f"{url} says it is {said!r}, which is no SurrealDB; check remote_url")
    if int(found[1]) < NEEDED:
        raise ConfigError(
            f"{url} is SurrealDB {found[0]}, and Retain needs {NEEDED}.0 or later; update the server, "
            "or set store to sqlite and deployment_mode to embedded-file"
        )


def _sign_in(db: Database, address: Address) -> None:
    """Users are defined for a whole server, a namespace or a database, and have to say which of these they are."""
    person = {"user": address.user, "pass": address.password}
    levels: tuple[dict[str, str], ...] = (
        {},
        {"ns": address.namespace},
        {"ns": address.namespace, "db": address.database},
    )
    for level in levels:
        with suppress(Forbidden):
            db.call("signin", person | level)
            return
    raise ConfigError(
        f"{address.url} does not know the user {address.user!r} with this password, neither for the server, nor for "
        f"namespace {address.namespace!r}, nor for database {address.database!r}; check remote_user and remote_pass"
    )


def _prepare(db: Database, address: Address) -> None:
    try:
        db.call("use", address.namespace, address.database)
        migrations.migrate(db)
    except Forbidden as error:
        if address.user is None:
            raise ConfigError(
                f"{address.url} lets nobody in without a password; set remote_user and remote_pass"
            ) from None
        raise ConfigError(
            f"the user {address.user!r} may not write to database {address.database!r} in namespace "
            f"{address.namespace!r} at {address.url}; give it the role EDITOR or OWNER ({error.message})"
        ) from None


def _used(link: Link, namespace: str, database: str, query_seconds: float) -> Database:
    db = Database(link, query_seconds)
    try:
        db.call("use", namespace, database)
        migrations.migrate(db)
    except RetainError:
        db.close()
        raise
    return db
