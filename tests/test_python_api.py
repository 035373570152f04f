"""`import retain`: the memory as a Python program uses it."""

import gc
import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta, timezone
from threading import Thread
from threading import enumerate as enumerate_threads
from typing import get_type_hints
from weakref import ref

import pytest

import retain
from retain.app import Retain
from retain.config import CLIENT_SESSION, CONFIG_PATH, VARIABLES
from retain.domain.connection import Reach
from retain.domain.graph import Direction
from retain.domain.memory import Kind, Memory, Scope, Stored
from retain.domain.recall import Hit
from retain.domain.time import as_moment
from retain.engine.code.code import Indexing
from retain.engine.code.finding.search import CodeHit
from retain.engine.context import Block
from retain.engine.remember import Remembered
from retain.errors import ConfigError, InvalidInput, NotFound, RetainError, StoreBusy, StoreDown
from surfaces.waiting import until

OUT = Direction.OUTGOING


@pytest.fixture(autouse=True)
def apart(monkeypatch, tmp_path):
    """No setting of whoever runs the tests, and a home and a project of their own."""
    for name in (CLIENT_SESSION, *CONFIG_PATH, *(variable for them in VARIABLES.values() for variable in them)):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "shop").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.chdir(tmp_path / "shop")


@pytest.fixture
def memory(tmp_path):
    with retain.open(tmp_path / "memory.db", embedding_model="hashed") as opened:
        yield opened


def test_the_example_of_the_package_works(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("RETAIN_HOME", str(tmp_path))
    example = textwrap.dedent(retain.__doc__.split("\n\n", 1)[1])
    exec(compile(example, "example", "exec"), {})
    text, score = capsys.readouterr().out.rsplit(" ", 1)
    assert text == "Deploys go through the staging cluster first"
    assert 0 < float(score) <= 1
    assert (tmp_path / "retain.db").exists()


def test_a_memory_is_kept_in_the_file_that_was_named(tmp_path):
    with retain.open(tmp_path / "here.db", embedding_model="hashed") as memory:
        id = memory.remember("We deploy on Mondays").memory.id
    with retain.open(tmp_path / "here.db", embedding_model="hashed") as memory:
        assert memory.get(id).memory.text == "We deploy on Mondays"


def test_the_same_memory_can_be_kept_in_surrealdb(tmp_path):
    where = {"store": "surrealdb", "embedding_model": "hashed"}
    with retain.open(tmp_path / "here", **where) as memory:
        id = memory.remember("We deploy on Mondays").memory.id
        with retain.open(tmp_path / "here", **where) as second, pytest.raises(StoreBusy, match="only one process"):
            second.get(id)
    assert (tmp_path / "here" / "retain.surrealkv").is_dir()
    with retain.open(tmp_path / "here", **where) as memory:
        assert [hit.id for hit in memory.recall("when do we deploy?")] == [id]


def test_a_server_that_is_away_is_told_and_no_error_for_a_program(tmp_path):
    away = {"deployment_mode": "remote", "remote_url": "ws://localhost:9", "embedding_model": "hashed"}
    with retain.open(home=tmp_path / "home", **away) as memory:
        id = memory.remember("We deploy on Mondays").memory.id
        assert memory.get(id).memory.text == "We deploy on Mondays"
        connection = memory.connection()
    assert (connection.reach, connection.queued.waiting) == (Reach.RECONNECTING, 1)


def test_a_folder_gets_a_file_in_it(tmp_path):
    with retain.open(tmp_path / "folder", embedding_model="hashed") as memory:
        memory.remember("We deploy on Mondays")
    assert (tmp_path / "folder" / "retain.db").exists()


def test_remembering_says_what_became_of_it(memory):
    first = memory.remember("We deploy on Mondays", tags=["deploy"], importance=0.9, file="deploy.md")
    assert isinstance(first, Remembered) and not first.reinforced
    assert (first.memory.kind, first.memory.scope) == (Kind.SEMANTIC, Scope.PROJECT)
    assert (first.memory.tags, first.memory.importance, first.memory.source.file) == (("deploy",), 0.9, "deploy.md")
    assert memory.remember("We deploy on Mondays").reinforced


def test_kinds_and_scopes_may_be_written_as_words(memory):
    made = memory.remember("Tag, then push", kind="procedural", scope="user").memory
    assert (made.kind, made.scope) == (Kind.PROCEDURAL, Scope.USER)


def test_recall_gives_hits_best_first_and_explained(memory):
    memory.remember("We deploy on Mondays")
    memory.remember("Deploys need a green build")
    hits = memory.recall("when do we deploy", limit=1)
    assert len(hits) == 1 and isinstance(hits[0], Hit)
    assert isinstance(hits[0].stored.memory, Memory)
    assert {"relevance", "importance", "recency"} <= set(hits[0].terms)


def test_a_session_and_a_turn_say_where_it_was_said(memory):
    made = memory.remember("Ada: I moved the date", session="talk", turn=3).memory
    assert (made.session, made.source.conversation_turn) == ("talk", 3)


def test_what_was_forgotten_can_be_brought_back(memory):
    id = memory.remember("We deploy on Mondays").memory.id
    assert memory.forget(id, "outdated").status.reason == "outdated"
    assert memory.recall("deploy Mondays") == ()
    assert memory.bring_back(id).is_active
    assert len(memory.recall("deploy Mondays")) == 1


def test_what_was_true_and_what_was_believed_are_two_questions(memory):
    before = memory.now()
    old = memory.remember("The API listens on 8080").memory
    new = memory.remember("The API listens on 9090").memory
    memory.invalidate(old.id, "moved", superseded_by=new.id)
    assert [found.id for found in memory.memories()] == [new.id]
    then = new.created.isoformat()
    assert {found.id for found in memory.memories(as_of=then)} == {old.id, new.id}
    assert {found.id for found in memory.memories(known_at=new.created)} == {old.id, new.id}
    assert memory.memories(known_at=before) == memory.memories(as_of=before) == []
    assert {hit.id for hit in memory.recall("API listens", as_of=then)} == {old.id, new.id}
    assert [hit.id for hit in memory.recall("API listens")] == [new.id]
    assert memory.bring_back(old.id).valid_until is None


@pytest.mark.parametrize("nonsense", ["yesterday", "", "2026-13-01", "2026-02-20T25:00", "12"])
@pytest.mark.parametrize("name", ["as_of", "known_at"])
def test_a_time_that_is_none_is_refused_with_an_example(memory, name, nonsense):
    with pytest.raises(InvalidInput, match=f"{name}.*2026-02-20T14:30:00Z"):
        memory.memories(**{name: nonsense})


@pytest.mark.parametrize("same", ["2026-02-20T14:30:00Z", "2026-02-20T15:30+01:00", "2026-02-20 14:30"])
def test_times_are_taken_with_and_without_a_zone(same):
    moment = datetime(2026, 2, 20, 14, 30, tzinfo=UTC)
    assert as_moment(same, "as_of") == as_moment(moment.replace(tzinfo=None), "as_of") == moment
    with pytest.raises(InvalidInput, match="as_of"):
        as_moment(datetime.max.replace(tzinfo=timezone(-timedelta(hours=1))), "as_of")


def test_named_things_and_how_they_relate(memory):
    shop, db = memory.entity("Shop", "service", "Sells."), memory.entity("Postgres")
    relation = memory.relate(shop.id, db.id, "stores in", 0.5)
    assert (relation.type, memory.entity("shop", "service")) == ("stores_in", shop)
    assert [found.name for found in memory.related(shop.id).entities] == ["Postgres"]
    assert [found.name for found in memory.related(db.id, direction="incoming", depth=3).entities] == ["Shop"]
    memory.invalidate(relation.id)
    assert memory.related(shop.id).entities == ()
    assert len(memory.related(shop.id, at=relation.valid_from, relation="stores in").entities) == 1
    with pytest.raises(InvalidInput, match="direction"):
        memory.related(shop.id, direction="sideways")


def test_one_user_does_not_see_what_is_anothers(memory):
    shop = memory.entity("Shop")
    id = memory.remember("We deploy on Mondays").memory.id
    eve = memory.caller(user="eve")
    for call in (memory.engine.get, memory.engine.history, lambda id, who: memory.engine.related(shop.id, 1, OUT, who)):
        call(id, memory.caller(user=""))
        with pytest.raises(NotFound):
            call(id, eve)
    assert memory.engine.valid(eve) == [] and memory.engine.listed(eve, 9) == ([], 0)


@pytest.mark.parametrize("user", ["x" * 201, "a\x1fb", "a\nb", "\ud800"])
def test_a_user_that_could_pass_for_another_is_refused(memory, user):
    with pytest.raises(InvalidInput, match="user_id"):
        memory.caller(user=user)


def test_all_but_forgotten_memories_are_listed_and_counted(memory):
    ids = [memory.remember(f"Note number {n} on thing{n}").memory.id for n in range(4)]
    memory.forget(ids[0])
    memory.invalidate(ids[1])
    listed, total = memory.engine.listed(memory.caller(), 2, 1)
    assert ([stored.memory.id for stored in listed], total) == ([ids[2], ids[1]], 3)
    assert memory.engine.total(memory.caller()) == 3


def test_a_context_block_fits_its_budget(memory):
    memory.remember("We deploy on Mondays")
    block = memory.context("plan the deploy", files=["deploy.py"], max_tokens=100)
    assert isinstance(block, Block) and "We deploy on Mondays" in block.text
    assert block.tokens <= 100


@pytest.mark.parametrize("dress", ["{}", "memory:{}", "mem_{}"])
def test_ids_are_taken_in_every_dress(memory, dress):
    id = memory.remember("We deploy on Mondays").memory.id
    assert isinstance(memory.get(dress.format(id)), Stored)


def test_errors_are_of_one_family(memory):
    with pytest.raises(InvalidInput, match="content"):
        memory.remember("  ")
    with pytest.raises(InvalidInput, match="importance"):
        memory.remember("a", importance=2)
    with pytest.raises(InvalidInput):
        memory.get("nonsense")
    with pytest.raises(NotFound):
        memory.get("0" * 20)
    assert issubclass(InvalidInput, RetainError) and issubclass(NotFound, RetainError)


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "fact"}, {"scope": "world"}, {"importance": float("nan")}, {"tags": [""]}, {"session": "x" * 201}],
)
def test_a_value_that_cannot_be_used_is_invalid_input(memory, wrong):
    with pytest.raises(InvalidInput):
        memory.remember("We deploy on Mondays", **wrong)


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": -1}, {"strategy": "magic"}])
def test_a_question_that_cannot_be_answered_is_invalid_input(memory, wrong):
    with pytest.raises(InvalidInput):
        memory.recall("deploy", **wrong)


def test_a_tag_given_as_a_word_is_one_tag(memory):
    with pytest.raises(InvalidInput, match="tags"):
        memory.remember("We deploy on Mondays", tags="deploy")


def test_a_budget_that_cannot_be_kept_is_invalid_input(memory):
    with pytest.raises(InvalidInput, match="max_tokens"):
        memory.context("deploy", max_tokens=0)


@pytest.mark.parametrize("setting", [{"toolset": "none"}, {"query_timeout": -1}, {"unknown": 1}])
def test_a_setting_that_cannot_be_used_is_refused(setting):
    with pytest.raises(ConfigError, match=next(iter(setting))):
        retain.open(**setting)


def test_a_path_that_cannot_be_used_is_said_with_the_first_call(tmp_path):
    (tmp_path / "file").write_text("")
    memory = retain.open(tmp_path / "file" / "retain.db", embedding_model="hashed")
    with pytest.raises(StoreDown, match="cannot be"):
        memory.remember("We deploy on Mondays")
    memory.close()


def test_closing_twice_is_closing_once(memory):
    memory.remember("We deploy on Mondays")
    memory.close()
    memory.close()


def test_a_with_block_closes_and_lets_errors_through(tmp_path):
    with pytest.raises(ZeroDivisionError), retain.open(tmp_path / "a.db", embedding_model="hashed") as memory:
        memory.remember("We deploy on Mondays")
        raise ZeroDivisionError
    until(lambda: not (tmp_path / "a.db-wal").exists())  # whoever compares at this moment lets go of it next


def test_what_is_closed_keeps_no_thread_and_no_model(tmp_path):
    before = set(enumerate_threads())
    with retain.open(tmp_path / "a.db") as memory:
        memory.remember("We deploy on Mondays")
        memory.remember("We deploy on Fridays now")
        memory.recall("When do we deploy?")
        models = [ref(memory.engine.parts.embedder), ref(memory.engine.parts.judge)]
        assert memory.engine.settle(60)
    del memory
    until(lambda: gc.collect() is not None and not any(model() for model in models))
    until(lambda: not set(enumerate_threads()) - before)


def test_threads_share_one_memory(memory):
    def work(number):
        memory.remember(f"Note number {number}")
        memory.recall("note")

    threads = [Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(memory.recall("note number", limit=50)) == 16


def test_every_public_method_is_typed():
    methods = [method for name, method in vars(Retain).items() if callable(method) and not name.startswith("_")]
    late = {"Indexing": Indexing, "CodeHit": CodeHit}  # imported only when code is asked for
    assert all("return" in get_type_hints(method, None, late) for method in (*methods, retain.open))


def test_what_is_offered_is_there():
    assert all(getattr(retain, name) is not None for name in retain.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = retain.nothing


def test_importing_it_costs_next_to_nothing():
    heavy = ["numpy", "pydantic", "mcp", "onnxruntime", "click"]
    code = f"import retain, sys; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_code_is_indexed_and_found(memory, tmp_path):
    (tmp_path / "shop" / "prices.py").write_text("def with_tax(price):\n    return price * 1.19\n")
    assert memory.index().index.indexed_files == 1
    (hit,) = memory.search_code("with_tax", language="python", limit=1)
    assert (hit.stored.path, hit.stored.chunk.name, hit.project) == ("prices.py", "with_tax", "shop")
    assert memory.search_code("with_tax", language="rust") == ()


def test_only_a_folder_that_may_be_indexed_is(memory, tmp_path):
    with pytest.raises(InvalidInput, match="Invalid path"):
        memory.index(tmp_path)


def test_a_memory_is_corrected_in_place(memory):
    id = memory.remember("We deploy on Mondays", tags=["deploy"]).memory.id
    done = memory.update(id, text="We deploy on Tuesdays", kind="procedural", add_tags=["ops"], remove_tags=["deploy"])
    assert (done.memory.id, done.memory.text, done.memory.kind) == (id, "We deploy on Tuesdays", Kind.PROCEDURAL)
    assert memory.get(id).memory.tags == ("ops",)


def test_tags_are_a_list(memory):
    id = memory.remember("We deploy on Mondays").memory.id
    with pytest.raises(InvalidInput, match="add_tags: must be a list of tags"):
        memory.update(id, add_tags="ops")


def test_the_backup_of_the_day_waits_for_the_first_memory(tmp_path):
    with retain.open(home=tmp_path, project_dir=tmp_path, embedding_model="off") as memory:
        memory.look_after()
        assert memory.engine.settle(10)
        assert list((tmp_path / "backups").glob("*.db")) == []
        memory.remember("We deploy on Mondays")
        memory.look_after()
        assert memory.engine.settle(10)
        assert len(list((tmp_path / "backups").glob("*.db"))) == 1
