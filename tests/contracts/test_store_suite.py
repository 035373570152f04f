"""The suite itself: no method of the port goes untested."""

from pathlib import Path
from typing import Protocol

import pytest

from retain.ports import Store

PORTS = [part for part in Store.__mro__ if Protocol in part.__bases__ and part is not Store]
METHODS = sorted(name for part in PORTS for name in vars(part) if not name.startswith("_"))


def test_all_ports_of_a_store_are_looked_at():
    assert {"memories", "around", "records", "claim_index", "cursor", "faults"} <= set(METHODS)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_the_port_is_called_by_a_test_of_the_contract(method):
    tests = Path(__file__).parent.glob("test_store_*.py")
    assert any(f".{method}(" in file.read_text() for file in tests)
