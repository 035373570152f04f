"""Changing how far a memory reaches, down as well as up, and what the history says of it."""

import pytest

from retain.app import Retain
from retain.config import load
from retain.domain.memory import Event, Scope
from retain.engine.drafts import Draft
from retain.engine.revise import Edit
from retain.errors import Refused, Taken


@pytest.fixture
def opened(tmp_path):
    """Opens the memory from a folder of the machine."""
    apps = []

    def in_folder(name):
        (tmp_path / name).mkdir(exist_ok=True)
        settings = {"home": tmp_path / "home", "project_dir": tmp_path / name, "embedding_model": "hashed"}
        apps.append(Retain(load(settings, {"HOME": str(tmp_path)}, tmp_path)))
        return apps[-1]

    yield in_folder
    for app in apps:
        app.close()


def test_what_is_the_users_becomes_a_projects_and_says_so_in_its_history(opened):
    shop, blog = opened("shop"), opened("blog")
    made = shop.remember("Postgres runs in Docker on port 5433", scope="user").memory
    done = shop.engine.narrow(made.id, None, shop.caller())
    assert (done.before, done.memory.scope, done.memory.place.project) == (
        Scope.USER,
        Scope.PROJECT,
        shop.caller().project.id,
    )
    newest = shop.engine.history(made.id, shop.caller())[-1]
    assert (newest.event, newest.scope, newest.reason) == (Event.UPDATED, Scope.USER, "scope user → project")
    assert [hit.id for hit in shop.recall("postgres port")] == [made.id]
    assert blog.recall("postgres port") == ()


def test_up_and_down_again_is_where_it_was(opened):
    shop = opened("shop")
    made = shop.remember("Postgres runs in Docker on port 5433").memory
    shop.engine.promote(made.id, Scope.USER, None, shop.caller())
    back = shop.engine.narrow(made.id, None, shop.caller()).memory
    assert (back.place, back.session, back.text) == (made.place, made.session, made.text)
    links = shop.engine.parts.store.links([made.id])
    assert {entity.owner for _, entity in links} == {made.place.owner}


def test_only_what_is_the_users_is_narrowed(opened):
    shop = opened("shop")
    made = shop.remember("Postgres runs in Docker on port 5433").memory
    with pytest.raises(Refused, match="only what has scope user"):
        shop.engine.narrow(made.id, None, shop.caller())


def test_a_project_that_says_it_already_stays_as_it_is(opened):
    shop = opened("shop")
    wide = shop.remember("Postgres runs in Docker on port 5433", scope="user").memory
    shop.remember("Postgres runs in Docker on port 5433")
    with pytest.raises(Taken):
        shop.engine.narrow(wide.id, None, shop.caller())
    assert shop.get(wide.id).memory.scope is Scope.USER


def test_a_person_may_say_whose_word_a_new_text_is(opened):
    shop = opened("shop")
    captured = Draft("The port is 5433", metadata={"said_by": "assistant", "found_by": "fact"})
    made = shop.engine.remember(captured, shop.caller()).memory
    edited = shop.engine.update(made.id, Edit(text="It is 5434", provenance={"said_by": "user"}), shop.caller()).memory
    assert dict(edited.metadata) == {"said_by": "user"}
    back = Edit(text=made.text, provenance=made.metadata)
    assert shop.engine.update(made.id, back, shop.caller()).memory.metadata == made.metadata
