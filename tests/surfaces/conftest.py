"""Fixtures for the surfaces: a memory to call tools on, opened once or several times."""

import pytest

from surfaces.coded import with_code
from surfaces.hooking import Client
from surfaces.wire import AUDREY, BANK, CAPTURE, GRAPH, ON_SURREALDB, Desk, Wire, environment, serve_command


def pytest_collection_modifyitems(items):
    """On SurrealDB there is no file to look into."""
    for item in items:
        if ON_SURREALDB and item.get_closest_marker("sqlite"):
            item.add_marker(pytest.mark.skip(reason="looks into the file of the SQLite store"))


@pytest.fixture
def desks(tmp_path):
    """Opens the memory in `tmp_path`, as often as a test has windows."""
    opened = []

    def open_one(**settings):
        opened.append(Desk(tmp_path, **settings))
        return opened[-1]

    yield open_one
    for desk in opened:
        desk.app.close()


def loaded(desk):
    """The same window, where no reply is without a vector or a judgement because a model was still loading."""
    parts = desk.app.engine.parts
    assert parts.embedder.wait(60) and (parts.judge is None or parts.judge.wait(60))
    return desk


@pytest.fixture
def desk(desks):
    """One window, with vectors that know letters and no meaning."""
    return desks()


@pytest.fixture
def knowing(desks):
    """One window with the real models, once those are loaded."""
    return loaded(desks(embedding_model="bundled"))


@pytest.fixture
def board(desks):
    """One window with the graph tools, and vectors that know letters and no meaning."""
    return desks(tools=GRAPH)


@pytest.fixture
def knowing_board(desks):
    """One window with the graph tools and the real models, once those are loaded."""
    return loaded(desks(tools=GRAPH, embedding_model="bundled"))


@pytest.fixture
def notebook(desks):
    """One window with the capture tools, and vectors that know letters and no meaning."""
    return desks(tools=CAPTURE)


@pytest.fixture
def bank(desks):
    """One window with the bank tools, and vectors that know letters and no meaning."""
    return desks(tools=BANK)


@pytest.fixture
def knowing_bank(desks):
    """One window with the bank tools and the real models, once those are loaded."""
    return loaded(desks(tools=BANK, embedding_model="bundled"))


@pytest.fixture
def audrey(desks):
    """One window with the audrey tools, and vectors that know letters and no meaning."""
    return desks(tools=AUDREY)


@pytest.fixture
def knowing_audrey(desks):
    """One window with the audrey tools and the real models, once those are loaded."""
    return loaded(desks(tools=AUDREY, embedding_model="bundled"))


@pytest.fixture
def retain(tmp_path):
    """The command, in a project with some code."""
    return with_code(tmp_path)


@pytest.fixture
def known(retain):
    """The same, once that code is indexed."""
    assert retain("index").code == 0
    return retain


@pytest.fixture
def servers(tmp_path):
    """Starts `retain serve` on the memory in `tmp_path`, as often as a test has windows."""
    started = []

    def start(toolset="default", options=None, **settings):
        env = environment(tmp_path, **settings)
        wire = Wire(*serve_command(toolset), env=env, cwd=tmp_path / "shop", **(options or {}))
        started.append(wire)
        return wire

    yield start
    for wire in started:
        wire.end()


@pytest.fixture
def client(tmp_path):
    """A client that runs hooks, and leaves no worker behind."""
    client = Client.in_folder(tmp_path)
    yield client
    client.settle()
