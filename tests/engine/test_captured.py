"""Listing what was captured, and naming the session that it is from."""

import pytest

from retain.app import Retain
from retain.config import load
from retain.domain.memory import Scope, Source, State
from retain.engine.drafts import Draft
from retain.errors import NotFound, Refused


@pytest.fixture
def app(tmp_path):
    (tmp_path / "shop").mkdir()
    settings = {"home": tmp_path / "home", "project_dir": tmp_path / "shop", "embedding_model": "hashed"}
    with Retain(load(settings, {"HOME": str(tmp_path)}, tmp_path)) as opened:
        yield opened


@pytest.fixture
def capture(app):
    def one(text, session, scope=Scope.PROJECT):
        draft = Draft(text, scope=scope, source=Source(tool="capture"), session=session)
        return app.engine.remember(draft, app.caller(session)).memory

    return one


def test_only_what_was_captured_is_listed_oldest_first(app, capture):
    first, second = capture("we use pnpm", "one"), capture("answer in German", "two", Scope.USER)
    app.remember("typed by hand")
    lookup, caller = app.engine.lookup, app.caller()
    assert [memory.id for memory in lookup.captured(caller)] == [first.id, second.id]
    assert [memory.id for memory in lookup.captured(caller, "two")] == [second.id]


def test_what_was_forgotten_is_listed_apart(app, capture):
    gone = capture("we use pnpm", "one")
    app.forget(gone.id)
    assert app.engine.lookup.captured(app.caller()) == []
    assert [memory.id for memory in app.engine.lookup.captured(app.caller(), state=State.FORGOTTEN)] == [gone.id]


def test_the_last_session_is_the_newest_of_this_project(app, capture, tmp_path):
    capture("we use pnpm", "one")
    capture("answer in German", "two", Scope.USER)  # said here, though it holds everywhere
    (tmp_path / "blog").mkdir()
    elsewhere = app.caller("three", folder=tmp_path / "blog")
    draft = Draft("answer briefly", scope=Scope.USER, source=Source(tool="capture"), session="three")
    app.engine.remember(draft, elsewhere)
    assert app.engine.lookup.captured_session("last", app.caller()) == "two"


def test_a_session_is_named_by_its_first_letters(app, capture):
    capture("we use pnpm", "8f31aaaa")
    capture("answer in German", "8f31bbbb")
    find = app.engine.lookup.captured_session
    assert find("8f31a", app.caller()) == "8f31aaaa"
    with pytest.raises(Refused, match="give more letters"):
        find("8f31", app.caller())
    for unknown in ("8f3", "zzzz", ""):
        with pytest.raises(NotFound):
            find(unknown, app.caller())


def test_where_nothing_was_captured_there_is_no_last_session(app):
    app.remember("typed by hand")
    with pytest.raises(NotFound, match="was captured from a conversation"):
        app.engine.lookup.captured_session("last", app.caller())
