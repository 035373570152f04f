"""A reset destroys everything of one user, and a copy brings all of it back."""

import pytest

from retain import maintenance
from retain.app import Retain
from retain.config import load
from retain.domain.graph import Direction
from retain.engine.drafts import Draft
from retain.errors import NotFound, StoreDown
from retain.stores.sqlite.failures import files_of


@pytest.fixture
def opened(tmp_path):
    """Opens the memory of a home with one project."""
    (tmp_path / "shop").mkdir()
    windows = []

    def open_one(**more):
        settings = {"home": tmp_path / "home", "project_dir": tmp_path / "shop", "embedding_model": "hashed", **more}
        windows.append(Retain(load(settings, {"HOME": str(tmp_path)}, tmp_path)))
        return windows[-1]

    yield open_one
    for window in windows:
        window.close()


@pytest.fixture
def app(opened):
    return opened()


def fill(app, user=None):
    """Memories with a history, and entities with a relation."""
    caller = app.caller(user=user)
    first = app.engine.remember(Draft("The zanzibarquux listens on 8080", tags=("net",)), caller).memory
    app.engine.forget(first.id, "why not", caller)
    second = app.engine.remember(Draft("The zanzibarquux listens on 9090"), caller).memory
    a, b = (app.engine.create_entity(name, "service", "Ours.", caller) for name in ("AuthService", "Vault"))
    app.engine.create_relation(a.id, b.id, "uses", 0.5, caller)
    return first, second, a


def reset(app, user=None):
    return maintenance.reset(app, app.now(), app.caller(user=user))


def test_everything_is_counted_and_gone(app):
    _, second, a = fill(app)
    gone, _ = reset(app)
    assert (gone.memories, gone.entities, gone.relations, gone.code_chunks) == (2, 2, 1, 0)
    for call in (lambda: app.get(second.id), lambda: app.related(a.id)):
        with pytest.raises(NotFound):
            call()
    assert app.memories() == [] and app.recall("zanzibarquux") == ()


def test_no_word_of_it_is_left_in_the_store(app):
    fill(app)
    store = app.engine.parts.store

    def written():
        return b"".join(part.read_bytes() for part in files_of(store.path) if part.exists())

    assert b"zanzibarquux" in written()
    reset(app)
    app.engine.settle(5)
    assert b"zanzibarquux" not in written()


def test_the_copy_brings_all_of_it_back(app):
    first, second, a = fill(app)
    history = app.engine.history(first.id, app.caller())
    _, copy = reset(app)
    app.remember("said after the reset")
    assert copy.parent == app.settings.backups and copy.name.startswith("retain-before-reset-")
    maintenance.restore(app.settings, copy)
    assert app.get(second.id).memory == second
    assert app.engine.history(first.id, app.caller()) == history
    found = app.related(a.id)
    assert [(entity.name, entity.description) for entity in found.entities] == [("Vault", "Ours.")]
    assert [relation.weight for relation in found.relations] == [0.5]
    assert [hit.id for hit in app.recall("zanzibarquux")] == [second.id]
    assert app.engine.parts.store.faults() == []


def test_other_users_keep_theirs(app):
    fill(app)
    _, theirs, entity = fill(app, "eve")
    gone, _ = reset(app)
    eve = app.caller(user="eve")
    assert gone.memories == 2
    assert app.engine.get(theirs.id, eve).memory == theirs
    assert len(app.engine.related(entity.id, 1, Direction.OUTGOING, eve).entities) == 1
    assert reset(app, "eve")[0] == gone


def test_nothing_is_destroyed_when_no_copy_can_be_made(app):
    _, second, _ = fill(app)
    app.settings.backups.parent.mkdir(parents=True, exist_ok=True)
    app.settings.backups.write_text("a file of somebody")
    with pytest.raises(StoreDown, match="no backup can be written"):
        reset(app)
    assert app.get(second.id).memory == second


def test_a_store_in_memory_is_copied_too(opened):
    app = opened(deployment_mode="embedded-memory")
    _, second, _ = fill(app)
    gone, copy = reset(app)
    assert (gone.memories, app.memories()) == (2, [])
    with Retain(load({"db_path": copy, "embedding_model": "hashed"}, {"HOME": str(copy.parent)}, copy.parent)) as other:
        assert other.get(second.id).memory == second


def test_an_empty_memory_can_be_reset(app):
    gone, copy = reset(app)
    assert (gone.memories, gone.entities, copy.exists()) == (0, 0, True)


def test_a_window_that_was_open_goes_on(app, opened):
    other = opened()
    fill(app)
    assert len(other.recall("zanzibarquux")) == 1
    reset(app)
    assert other.recall("zanzibarquux") == ()
    other.remember("said after the reset")
    assert [memory.text for memory in app.memories()] == ["said after the reset"]


def test_code_goes_too_and_no_watcher_brings_it_back(app, tmp_path):
    (tmp_path / "shop" / "prices.py").write_text("def with_tax(price):\n    return price * 1.19\n")
    app.index(watch=True)
    gone, _ = maintenance.reset(app, app.now(), app.caller())
    assert gone.code_chunks >= 1
    assert app.engine.code._watchers == {} and app.engine.code.indexes(app.caller()) == []
    assert app.engine.parts.store.projects() == []
