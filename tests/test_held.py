"""While nobody has decided where memories belong they wait, and are lost to nobody; then they go where they belong."""

import os
from shutil import copytree, rmtree
from uuid import uuid4

import pytest

from approving import approve
from retain import held, maintenance
from retain.app import Retain
from retain.approvals import Verdict
from retain.config import apart, load
from retain.domain.connection import Queued, Reach, noticing
from retain.errors import StoreDown
from retain.surfaces import degraded
from surreal_server import shared

TEXT = "Deploys go through the staging cluster"


@pytest.fixture
def place(tmp_path, monkeypatch):
    for folder in ("shop/.git", "other/.git", "user"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    return tmp_path


def home(place):
    return place / "user" / ".retain"


def asking(place, text):
    """A settings file that came with the project."""
    file = place / "shop" / ".claude" / "retain.local.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text("---\n" + text.format(place=place) + "\n---\n")
    return file


def opened(place, **environment):
    env = {**apart(home(place)), "HOME": str(place / "user"), "RETAIN_EMBEDDING_MODEL": "hashed"}
    del env["RETAIN_HOME"], env["RETAIN_CONFIG_PATH"]
    return Retain(load(environment={**env, **environment}, folder=place / "shop"), own_session=False)


def texts(app):
    return sorted(memory.text for memory in app.memories())


NAMING = [
    "db_path: {place}/theirs.db",
    "home: {place}/theirs",
    "user_id: ada",
    "project_dir: {place}/other",
    "store: surrealdb",
    "deployment_mode: embedded-memory",
    "deployment_mode: remote\nremote_url: ws://127.0.0.1:9\nremote_user: root\nremote_pass: root",
]


@pytest.mark.parametrize("text", NAMING)
def test_what_is_stored_reaches_no_store_and_is_found_by_every_process(place, text):
    with opened(place) as before:
        before.remember("In the default store")
        assert before.engine.settle(60)  # what still works in the background keeps files open
    asking(place, text)
    files = {path for path in place.rglob("*") if "held" not in path.parts}
    with opened(place) as app:
        with noticing() as met:
            app.remember(TEXT)
            assert texts(app) == [TEXT]
        told = degraded.remark(met)
        assert all(said in told for said in ("`retain trust`", "1 write"))
    assert {path for path in place.rglob("*") if "held" not in path.parts} == files
    with opened(place) as later:
        assert (texts(later), later.connection().queued.waiting) == ([TEXT], 1)


def test_what_waits_is_for_its_user_alone(place):
    asking(place, "user_id: ada")
    with opened(place) as app:
        app.remember(TEXT)
    for path in (home(place) / "held").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_after_approval_it_is_where_the_file_says(place):
    file = asking(place, "db_path: {place}/theirs.db")
    with opened(place) as app:
        app.remember(TEXT)
        app.remember("Another one")
    approve(file, home(place))
    with opened(place) as app:
        assert texts(app) == ["Another one", TEXT]
        assert app.connection().queued.waiting == 0
    assert (place / "theirs.db").exists()
    assert not (home(place) / "retain.db").exists()
    assert not list((home(place) / "held").rglob("copy.db"))


def test_after_refusal_it_is_where_it_would_be_without_the_file(place):
    file = asking(place, "db_path: {place}/theirs.db")
    with opened(place) as app:
        app.remember(TEXT)
    approve(file, home(place), Verdict.REFUSED)
    with opened(place) as app:
        assert texts(app) == [TEXT]
    file.unlink()
    with opened(place) as app:
        assert texts(app) == [TEXT]
    assert not (place / "theirs.db").exists()


def test_it_becomes_the_memory_of_the_user_and_the_project_that_were_meant(place):
    file = asking(place, "user_id: ada\nproject_dir: {place}/other")
    with opened(place) as app:
        app.remember("PaymentHub depends on LedgerCore")
        app.remember("Of the user", scope="user")
    approve(file, home(place))
    with opened(place) as app:
        assert texts(app) == ["Of the user", "PaymentHub depends on LedgerCore"]
        found = {memory.text: memory.place for memory in app.memories()}
        assert {each.user for each in found.values()} == {"ada"}
        assert found["PaymentHub depends on LedgerCore"].project == app.caller().project.id
        assert app.caller().project.path == os.path.realpath(place / "other")
        ledger = app.entity("LedgerCore")
        assert app.engine.parts.store.faults() == []
        assert [e.name for e in app.related(ledger.id, direction="incoming").entities] == ["PaymentHub"]
    file.unlink()
    with opened(place) as app:
        assert texts(app) == []


def test_changes_and_destruction_wait_in_their_order(place):
    file = asking(place, "user_id: ada")
    with opened(place) as app:
        kept, gone = app.remember(TEXT).memory.id, app.remember("Gone again").memory.id
        app.update(kept, text="Deploys are done by the pipeline")
        app.forget(gone)
    approve(file, home(place))
    with opened(place) as app:
        assert texts(app) == ["Deploys are done by the pipeline"]
        assert app.get(gone).memory.status.state == "forgotten"


def test_what_is_there_already_is_no_fault(place):
    file = asking(place, "db_path: {place}/theirs.db")
    with opened(place) as app:
        app.remember(TEXT)
    approve(file, home(place))
    with opened(place, RETAIN_DB_PATH=str(place / "theirs.db")) as app:
        app.remember(TEXT)
    with opened(place) as app:
        assert (texts(app), held.count(app.loaded).refused) == ([TEXT], 0)


def test_after_another_change_of_the_file_it_begins_anew(place):
    file = asking(place, "db_path: {place}/theirs.db")
    with opened(place) as app:
        app.remember(TEXT)
    approve(file, home(place))
    with opened(place) as app:
        assert texts(app) == [TEXT]
    asking(place, "db_path: {place}/theirs.db\nnamespace: others")
    with opened(place) as app:
        assert (texts(app), app.connection().queued.waiting) == ([], 0)
        app.remember("Since then")
        assert texts(app) == ["Since then"]
        assert [notice.code for notice in app.notices()] == ["settings_not_used"]
    assert not list((home(place) / "held").rglob("*.lost-*"))


def test_a_server_goes_on_with_what_was_decided(place):
    """It was started before, and keeps nothing waiting after."""
    file = asking(place, "db_path: {place}/theirs.db")
    with opened(place) as server:
        server.remember(TEXT)
        approve(file, home(place))
        server.remember("After the decision")
        assert texts(server) == ["After the decision", TEXT]
        assert server.loaded.problems == ()
    with opened(place) as later:
        assert texts(later) == ["After the decision", TEXT]


@pytest.mark.parametrize("before", [None, "log_level: info"])
def test_a_server_tells_that_the_file_is_another_than_it_read(place, before):
    if before:
        asking(place, before)
    with opened(place) as same:
        assert same.notices() == ()
    with opened(place) as server:
        file = asking(place, "db_path: {place}/theirs.db")
        (told,) = server.notices()
        assert (told.code, str(file) in told.message) == ("settings_not_used", True)


def test_without_the_file_what_waits_goes_nowhere_by_itself(place):
    file = asking(place, "db_path: {place}/theirs.db")
    with opened(place) as app:
        app.remember(TEXT)
    file.unlink()
    with opened(place) as app:
        assert texts(app) == []
        assert held.count(app.loaded).waiting == 1


def test_a_process_with_a_store_of_its_own_takes_nothing_that_waits_for_another(place):
    file = asking(place, "db_path: {place}/theirs.db")
    with opened(place) as app:
        app.remember(TEXT)
    approve(file, home(place))
    with opened(place, RETAIN_DB_PATH=str(place / "mine.db")) as app:
        assert texts(app) == []
    with opened(place) as app:
        assert texts(app) == [TEXT]


def test_after_approval_it_is_on_the_server_that_the_file_names(place):
    server = shared()
    login = f"remote_url: {server.url}\nremote_user: {server.user}\nremote_pass: {server.password}"
    file = asking(place, f"deployment_mode: remote\n{login}\ndatabase: held-{uuid4()}\nuser_id: ada")
    with opened(place) as app:
        app.remember(TEXT)
    approve(file, home(place))
    with opened(place) as app:
        assert (texts(app), app.connection().reach) == ([TEXT], Reach.CONNECTED)
        assert [memory.place.user for memory in app.memories()] == ["ada"]
        assert (app.connection().queued.waiting, held.count(app.loaded).waiting) == (0, 0)


def test_what_is_sent_to_a_server_that_is_away_waits_for_that(place):
    file = asking(place, "deployment_mode: remote\nremote_url: ws://127.0.0.1:9\nremote_user: a\nremote_pass: b")
    with opened(place) as app:
        app.remember(TEXT)
    approve(file, home(place))
    with opened(place) as app:
        assert (texts(app), app.connection().queued.waiting, held.count(app.loaded).waiting) == ([TEXT], 1, 0)


def test_what_was_sent_when_a_process_was_killed_is_not_doubled(place):
    """It may have been stored, and not yet noted that it was."""
    file = asking(place, "db_path: {place}/theirs.db\nuser_id: ada")
    with opened(place) as app:
        kept = app.remember(TEXT).memory.id
        app.update(kept, text="Deploys are done by the pipeline")
    copytree(home(place) / "held", place / "before")
    approve(file, home(place))
    with opened(place) as app:
        assert texts(app) == ["Deploys are done by the pipeline"]
        before = app.engine.history(kept, app.caller())
    rmtree(home(place) / "held")
    copytree(place / "before", home(place) / "held")
    with opened(place) as app:
        assert texts(app) == ["Deploys are done by the pipeline"]
        assert app.engine.history(kept, app.caller()) == before
        assert (held.count(app.loaded).waiting, held.count(app.loaded).refused) == (0, 0)


def test_what_cannot_be_sent_waits_on(place):
    file = asking(place, "db_path: {place}/theirs.db")
    with opened(place) as app:
        app.remember(TEXT)
    approve(file, home(place))
    (place / "theirs.db").mkdir()
    with opened(place) as app, pytest.raises(StoreDown):
        texts(app)
    (place / "theirs.db").rmdir()
    with opened(place) as app:
        assert texts(app) == [TEXT]


def test_code_and_whole_stores_are_told_to_wait(place):
    asking(place, "user_id: ada")
    with opened(place) as app:
        with pytest.raises(StoreDown, match="retain trust"):
            app.index(place / "shop")
        with pytest.raises(StoreDown, match="retain trust"):
            app.engine.parts.store.backup(place / "copy.db")


def spoil(place, name):
    (file,) = (home(place) / "held").glob(f"*/{name}")
    for log in file.parent.glob(f"{name}-*"):
        log.unlink()
    file.write_bytes(b"junk" * 3000)


def damaged_queues(place):
    return [file.name for file in (home(place) / "held").rglob("queue.db.damaged-*")]


@pytest.mark.parametrize("between", [(), ("PaymentHub is written in Go",)], ids=["at once", "after another write"])
def test_what_waited_in_a_queue_that_was_damaged_is_sent_from_its_copy(place, between):
    file = asking(place, "user_id: ada\nproject_dir: {place}/other")
    with opened(place) as app:
        app.remember("PaymentHub depends on LedgerCore")
        app.remember("Of the user", scope="user")
    spoil(place, "queue.db")
    for text in between:
        with opened(place) as app:
            app.remember(text)
    approve(file, home(place))
    with opened(place) as app:
        assert texts(app) == sorted(["Of the user", "PaymentHub depends on LedgerCore", *between])
        assert {memory.place.user for memory in app.memories()} == {"ada"}
        assert held.count(app.loaded) == Queued()
        assert app.notices() == ()
    assert [name for name in damaged_queues(place) if name.endswith(".salvaged")] == damaged_queues(place)
    assert not list((home(place) / "held").rglob("copy.db"))


def test_what_is_sent_again_is_not_stored_beside_the_same_that_was_said_meanwhile(place):
    with opened(place) as app:
        app.remember(TEXT)
    file = asking(place, "llm_provider: none\ndb_path: {place}/user/.retain/retain.db")
    with opened(place) as app:
        app.remember(TEXT)
    spoil(place, "queue.db")
    approve(file, home(place))
    with opened(place) as app:
        assert (texts(app), held.count(app.loaded)) == ([TEXT], Queued())


def test_what_was_lost_with_queue_and_copy_is_told_after_the_decision_until_it_is_settled(place):
    file = asking(place, "user_id: ada")
    with opened(place) as app:
        app.remember(TEXT)
    spoil(place, "queue.db")
    spoil(place, "copy.db")
    with opened(place) as app:
        app.remember("Another one")
    approve(file, home(place))
    for _ in range(2):
        with opened(place) as app:
            assert texts(app) == ["Another one"]
            assert [notice.code for notice in app.notices()] == ["queue_damaged"]
    maintenance.settle(app.loaded)
    with opened(place) as app:
        assert app.notices() == ()
