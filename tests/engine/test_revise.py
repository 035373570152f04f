"""Changing memories while others change them too."""

from dataclasses import replace

import pytest

from retain.app import Retain
from retain.config import load
from retain.engine import revise
from retain.engine.revise import Edit


@pytest.fixture
def app(tmp_path):
    (tmp_path / "shop").mkdir()
    settings = {"home": tmp_path / "home", "project_dir": tmp_path / "shop", "embedding_model": "hashed"}
    with Retain(load(settings, {"HOME": str(tmp_path)}, tmp_path)) as opened:
        yield opened


class Rival:
    """A store in which another window changes the memory just before the first plan is applied."""

    def __init__(self, store, act):
        self._store = store
        self._act = act

    def __getattr__(self, name):
        return getattr(self._store, name)

    def apply(self, changes):
        act, self._act = self._act, None
        if act:
            act()
        return self._store.apply(changes)


def test_tags_do_not_bring_back_a_text_that_another_window_has_changed(app):
    memory = app.remember("The API listens on 8080").memory
    parts, caller = app.engine.parts, app.caller()
    changed = Edit(text="The API listens on 9090")
    rival = Rival(parts.store, lambda: revise.update(parts, memory.id, changed, caller))
    done = revise.tag(replace(parts, store=rival), memory.id, ["api"], [], caller)
    kept = app.get(memory.id)
    assert (kept.memory.text, kept.memory.tags, done.fields) == ("The API listens on 9090", ("api",), ("tags",))
    assert kept.model is not None


def test_one_name_may_be_two_things(app):
    given = Edit(
        add_entities=(
            revise.GivenEntity("Mercury", "service", "uses"),
            revise.GivenEntity("Mercury", "person", "authored_by"),
        )
    )
    memory = app.remember("the planet was discovered long ago").memory
    app.engine.update(memory.id, given, app.caller())
    links = app.engine.parts.store.links([memory.id])
    assert {(entity.type, link.relationship) for link, entity in links} == {
        ("service", "uses"),
        ("person", "authored_by"),
    }
