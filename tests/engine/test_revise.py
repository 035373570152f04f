"""Changing memories while others change them too."""

from dataclasses import replace

import pytest

from fakes import Rival
from retain.app import Retain
from retain.config import load
from retain.domain.memory import Kind
from retain.engine import revise
from retain.engine.drafts import Draft
from retain.engine.revise import Edit
from retain.errors import InvalidInput


@pytest.fixture
def app(tmp_path):
    (tmp_path / "shop").mkdir()
    settings = {"home": tmp_path / "home", "project_dir": tmp_path / "shop", "embedding_model": "hashed"}
    with Retain(load(settings, {"HOME": str(tmp_path)}, tmp_path)) as opened:
        yield opened


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


@pytest.fixture
def described(app):
    made = app.remember("The API listens on 8080").memory
    return app.engine.update(made.id, Edit(metadata={"by": "ada", "at": 1}), app.caller()).memory


def test_metadata_is_merged_unless_it_replaces(app, described):
    merged = app.engine.update(described.id, Edit(metadata={"at": 2}), app.caller())
    assert (merged.memory.metadata, merged.fields) == ({"by": "ada", "at": 2}, ("metadata",))
    replaced = app.engine.update(described.id, Edit(metadata={"at": 3}, replace_metadata=True), app.caller())
    assert replaced.memory.metadata == {"at": 3}
    assert app.engine.update(described.id, Edit(metadata={}, replace_metadata=True), app.caller()).memory.metadata == {}


@pytest.mark.parametrize("replaces", [False, True])
def test_whose_word_it_is_cannot_be_changed(app, replaces):
    made = app.engine.remember(Draft("The build needs Docker.", metadata={"said_by": "tool"}), app.caller()).memory
    edit = Edit(metadata={"said_by": "user", "at": 1}, replace_metadata=replaces)
    assert app.engine.update(made.id, edit, app.caller()).memory.metadata == {"said_by": "tool", "at": 1}


def test_replacing_metadata_that_was_not_given_leaves_it(app, described):
    done = app.engine.update(described.id, Edit(importance=0.9, replace_metadata=True), app.caller())
    assert (done.memory.metadata, done.fields) == ({"by": "ada", "at": 1}, ("importance",))


@pytest.mark.parametrize("edit", [Edit(), Edit(metadata={}), Edit(replace_metadata=True)])
def test_an_edit_that_says_nothing_is_refused(app, described, edit):
    with pytest.raises(InvalidInput, match="none of them was given"):
        app.engine.update(described.id, edit, app.caller())


def test_a_kind_can_be_corrected(app, described):
    done = app.engine.update(described.id, Edit(kind=Kind.PROCEDURAL), app.caller())
    assert (done.memory.kind, done.fields) == (Kind.PROCEDURAL, ("memory_type",))
    assert app.get(described.id).memory == done.memory
    assert app.engine.update(described.id, Edit(kind=Kind.PROCEDURAL), app.caller()).fields == ()


def test_secrets_in_metadata_are_not_kept(app, described):
    secret = "ghp_" + "a1B2" * 9
    done = app.engine.update(described.id, Edit(metadata={secret: [secret]}), app.caller())
    assert secret not in repr(done.memory)


def test_what_is_worded_anew_is_no_longer_what_the_user_said(app):
    draft = Draft("We deploy on Mondays", metadata={"said_by": "user", "found_by": "wish", "ticket": 7})
    id = app.engine.remember(draft, app.caller()).memory.id
    assert app.update(id, importance=0.9).memory.metadata["said_by"] == "user"
    assert app.update(id, text="We deploy on Fridays").memory.metadata == {"ticket": 7}


def test_what_a_tool_showed_stays_that_however_it_is_worded(app):
    draft = Draft("We deploy on Mondays", metadata={"said_by": "tool"})
    id = app.engine.remember(draft, app.caller()).memory.id
    assert app.update(id, text="We deploy on Fridays").memory.metadata == {"said_by": "tool"}
