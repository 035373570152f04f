"""A home of its own for every test, with the real client in it; nobody may be left running there afterwards."""

import shutil
import tempfile
from pathlib import Path

import pytest

from e2e.client import Unavailable, installed
from e2e.home import Home
from e2e.messages_api import MessagesApi


@pytest.fixture(scope="session")
def client():
    try:
        return installed()
    except Unavailable as missing:
        pytest.skip(f"the client cannot be had: {missing}")


@pytest.fixture
def api():
    with MessagesApi() as api:
        yield api


@pytest.fixture
def homes(client):
    """Makes homes. Their paths are short, since the name of a socket has at most 107 letters."""
    folder = Path(tempfile.mkdtemp(prefix="e2e-"))
    made = []

    def make(name="ada", **settings):
        made.append(Home(folder / name, settings=settings))
        return made[-1]

    try:
        yield make
        for home in made:
            home.assert_nothing_is_left()
    finally:
        for home in made:
            home.kill_all()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def bare(homes):
    """The client as it comes, without Retain."""
    return homes("bare")


@pytest.fixture
def ada(homes):
    """The client after `retain setup`."""
    return homes("ada").connect()


@pytest.fixture
def measured(record_property):
    """Notes a measurement, which is told at the end and fails nobody."""
    return lambda what: record_property("measured", what)


def pytest_terminal_summary(terminalreporter):
    passed = terminalreporter.getreports("passed")
    told = [
        f"{report.nodeid.rpartition('::')[2]}: {what}"
        for report in passed
        for name, what in report.user_properties
        if name == "measured" and report.when == "call"
    ]
    if told:
        terminalreporter.section("measured")
        for line in told:
            terminalreporter.write_line(line)
