"""Fixtures for all tests: a clock, and every store there is."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from fakes import FixedClock
from retain.ports import Store
from retain.stores.sqlite.store import MEMORY, SqliteStore

# How long an example takes says more about the machine than about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# Every test that takes `store` runs once for each of these; another store is one more line.
STORES: dict[str, Callable[[Path], Store]] = {
    "sqlite-file": lambda folder: SqliteStore(folder / "retain.db"),
    "sqlite-memory": lambda folder: SqliteStore(MEMORY),
}
# Stores that a second process can open, and how.
SHARED = ("sqlite-file",)


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
