"""Fixtures for all tests: a clock, and every store there is."""

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import settings

from fakes import FixedClock
from processes import LONG
from retain.ports import Store
from retain.stores.sqlite.store import MEMORY, SqliteStore

# How long an example takes says more about the machine than about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def _in_memory(folder: Path) -> Store:
    from retain.stores.surreal.link.connection import in_memory
    from retain.stores.surreal.store import SurrealStore

    return SurrealStore(in_memory())


def _in_folder(folder: Path) -> Store:
    from retain.stores.surreal.link.connection import in_folder
    from retain.stores.surreal.store import SurrealStore

    return SurrealStore(in_folder(folder / "retain.surrealkv"), folder=folder / "retain.surrealkv")


def _on_server(folder: Path) -> Store:
    """Two stores of one folder are on one database."""
    from retain.stores.surreal.link.connection import Address, on_server
    from retain.stores.surreal.link.database import Database
    from retain.stores.surreal.store import SurrealStore
    from surreal_server import shared

    known = shared()
    name = folder / "database"
    if not name.exists():
        name.write_text(f"test-{uuid4()}")
    address = Address(known.url, known.user, known.password, database=name.read_text())
    return SurrealStore(Database(on_server(address, lambda: datetime.now(UTC))))


# Every test that takes `store` runs once for each of these; another store is one more line.
STORES: dict[str, Callable[[Path], Store]] = {
    "sqlite-file": lambda folder: SqliteStore(folder / "retain.db"),
    "sqlite-memory": lambda folder: SqliteStore(MEMORY),
    "surreal-memory": _in_memory,
    "surreal-file": _in_folder,
    "surreal-socket": _on_server,
}
# The one for tests that are about something else; `make surreal` runs them on the other.
ANY_STORE = ("surreal-memory" if os.environ.get("RETAIN_TEST_STORE") == "surrealdb" else "sqlite-file",)
# One store behind three links: what a link could spoil (all sorts of values, durability, vectors) is tried on each, the
# rest on the engine in memory. `make surreal` tries everything on each.
LINKS = ("surreal-file", "surreal-socket")
SPOILT_BY_A_LINK = tuple(f"test_store_{name}.py" for name in ("durable", "memories", "vectors"))
ABOUT_STORES = tuple(Path(__file__).with_name(name) for name in ("contracts", "stores"))
# Stores that a second process can open, and how.
SHARED = ("sqlite-file", "surreal-socket")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what costs minutes and shows nothing that the contracts of the stores do not show."""
    left_out = [item for item in items if not _is_on_a_store_that_matters(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if _is_on_a_store_that_matters(item)]


def _is_on_a_store_that_matters(item: pytest.Item) -> bool:
    chosen = getattr(item, "callspec", None)
    name = chosen.params.get("store") if chosen else None
    if name not in STORES or name in ANY_STORE:
        return True
    if name in LINKS and not LONG and item.path.parent.name == "contracts":
        return item.path.name in SPOILT_BY_A_LINK
    return any(map(item.path.is_relative_to, ABOUT_STORES))


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = STORES[request.param](tmp_path)
    yield opened
    opened.close()


@pytest.fixture(params=SHARED)
def two_stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """Two objects on the same data, as two processes have them."""
    opened = STORES[request.param](tmp_path), STORES[request.param](tmp_path)
    yield opened
    for one in opened:
        one.close()


@pytest.fixture
def sqlite_file(tmp_path: Path) -> Iterator[SqliteStore]:
    """For tests of what only a file can do."""
    opened = SqliteStore(tmp_path / "retain.db")
    yield opened
    opened.close()
