"""The suite itself: no method of the port goes untested."""

from pathlib import Path

import pytest

from retain.ports import (
    Durable,
    GraphStore,
    ListingStore,
    MemoryStore,
    RelationStore,
    SessionStore,
    TrustStore,
    WorkStore,
)

PORTS = (MemoryStore, ListingStore, GraphStore, RelationStore, SessionStore, WorkStore, TrustStore, Durable)
METHODS = sorted(name for part in PORTS for name in vars(part) if not name.startswith("_"))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_the_port_is_called_by_a_test_of_the_contract(method):
    tests = Path(__file__).parent.glob("test_store_*.py")
    assert any(f".{method}(" in file.read_text() for file in tests)
