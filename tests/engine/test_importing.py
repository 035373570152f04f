"""Importing an earlier state.json: liberal in what it reads, and never twice."""

import json
from datetime import UTC, datetime

import pytest

from fakes import Rival
from making import START, a_memory, a_place, in_state, save
from retain.domain.memory import Kind, Place, Scope, State
from retain.domain.recall import Filter
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.engine.engine import Engine
from retain.engine.importing import parsed
from retain.engine.parts import Parts
from retain.engine.recall.recall import Question
from retain.errors import InvalidInput, Unavailable

HERE = Caller(project=Project("shop", "shop", "/home/ada/shop", START))
EVERY = tuple(State)
# Put together, so that no file of the repository holds one.
SECRET = "sk-ant-" + "api03-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"


@pytest.fixture
def engine(store, clock):
    made = Engine(Parts(store, HashedEmbedder(), clock))
    yield made
    made.settle(10)


@pytest.fixture
def held(store):
    """All that the project holds, by its text."""

    def look(place=a_place()):  # noqa: B008 - a frozen value
        found = store.listed(Filter((place,), states=EVERY), 10_000)
        return {stored.memory.text: stored for stored in found}

    return look


def item(id="mem_1706345600000_a1b2c3", content="Stripe integration via src/lib/stripe.ts", **fields):
    times = {"created": "2026-01-27T09:00:00Z", "updated": "2026-02-01T09:00:00Z"}
    return (
        {"id": id, "type": "architecture", "content": content, "tags": ["billing"], "confidence": 1.0} | times | fields
    )


def test_a_memory_keeps_what_it_was(engine, held):
    done = engine.import_state({"version": 1, "memories": [item(accessCount=3)]}, HERE)
    assert (done.added, done.known, done.skipped) == (1, 0, ())
    stored = held()["Stripe integration via src/lib/stripe.ts"]
    memory = stored.memory
    assert (memory.category, memory.kind, memory.tags) == ("architecture", Kind.SEMANTIC, ("billing",))
    assert memory.created == datetime(2026, 1, 27, 9, tzinfo=UTC) == memory.valid_from
    assert memory.updated == datetime(2026, 2, 1, 9, tzinfo=UTC)
    assert memory.metadata == {"said_by": "import", "original_id": "mem_1706345600000_a1b2c3"}
    assert (memory.source.tool, memory.source.file, stored.accesses) == ("import", ".memory/state.json", 3)


def test_what_was_imported_is_found_by_words_by_meaning_and_by_entity(engine, store, held):
    engine.import_state([item()], HERE)
    assert engine.settle(10)
    [hit] = engine.recall(Question("stripe integration"), HERE).hits
    assert hit.stored.model == engine.parts.embedder.model
    assert store.links([hit.id])


@pytest.mark.parametrize(
    "data",
    [
        [item()],
        {"memories": [item()]},
        {"memories": {"mem_1706345600000_a1b2c3": {k: v for k, v in item().items() if k != "id"}}},
        {"mem_1706345600000_a1b2c3": item()},
    ],
)
def test_the_shapes_of_a_file(engine, data):
    assert engine.import_state(data, HERE).added == 1
    assert engine.import_state([item()], HERE).known == 1


@pytest.mark.parametrize("data", [None, 3, "text", {"memories": "none"}, {"version": 1}])
def test_a_file_without_memories_is_refused(engine, data):
    with pytest.raises(InvalidInput, match=r"\.memory/state\.json: has no list of memories"):
        engine.import_state(data, HERE)


def test_an_empty_file_imports_nothing(engine):
    assert engine.import_state({"memories": []}, HERE).added == 0


@pytest.mark.parametrize(
    ("fields", "created"),
    [
        ({"created": 1769504400000}, datetime(2026, 1, 27, 9, tzinfo=UTC)),
        ({"created": 1769504400}, datetime(2026, 1, 27, 9, tzinfo=UTC)),
        ({"created": "1769504400000"}, datetime(2026, 1, 27, 9, tzinfo=UTC)),
        ({"created": "2026-01-27T10:00:00+01:00"}, datetime(2026, 1, 27, 9, tzinfo=UTC)),
        ({"created": None, "createdAt": "2026-01-27T09:00"}, datetime(2026, 1, 27, 9, tzinfo=UTC)),
        ({"created": "yesterday"}, datetime.fromtimestamp(1706345600, UTC)),  # from its id
        ({"created": True}, datetime.fromtimestamp(1706345600, UTC)),
        ({"created": 1e300}, datetime.fromtimestamp(1706345600, UTC)),
        ({"created": float("nan")}, datetime.fromtimestamp(1706345600, UTC)),
        ({"created": -1e12}, datetime.fromtimestamp(1706345600, UTC)),
        ({"created": "9999-12-31T23:59:59-12:00"}, datetime.fromtimestamp(1706345600, UTC)),
        ({"created": "2199-01-01"}, START),  # nothing known is from the future
        ({"id": "mine", "created": None, "updated": None}, START),
        ({"id": "mine", "created": None}, datetime(2026, 2, 1, 9, tzinfo=UTC)),
    ],
)
def test_times_as_programs_write_them(engine, held, fields, created):
    engine.import_state([item(content="It", **fields)], HERE)
    assert held()["It"].memory.created == created


@pytest.mark.parametrize(
    ("given", "category"),
    [
        ("Decision", "decision"),
        ("error-solution", "error_solution"),
        ("todo", "context"),
        (None, "context"),
        (7, "context"),
    ],
)
def test_types(engine, held, given, category):
    engine.import_state([item(content="It", type=given)], HERE)
    assert held()["It"].memory.category == category


@pytest.mark.parametrize(
    ("tags", "kept"),
    [
        ("a, b,,a", ("a", "b")),
        (None, ()),
        ({"a": 1}, ()),
        (["ok", 3, "", "x" * 200, "new\nline", "half\ud800"], ("ok", "new line", "half")),
        ([f"t{n}" for n in range(80)], tuple(f"t{n}" for n in range(50))),
    ],
)
def test_tags(engine, held, tags, kept):
    engine.import_state([item(content="It", tags=tags)], HERE)
    assert held()["It"].memory.tags == kept


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"status": "superseded"}, State.SUPERSEDED),
        ({"status": "Archived"}, State.ARCHIVED),
        ({"archived": True}, State.ARCHIVED),
        ({"superseded": True}, State.SUPERSEDED),
        ({"status": "active"}, State.ACTIVE),
        ({"confidence": 0.0}, State.ACTIVE),
    ],
)
def test_states_are_kept(engine, held, fields, state):
    engine.import_state([item(content="It", **fields)], HERE)
    status = held()["It"].memory.status
    assert status.state is state
    assert status.since == (None if state is State.ACTIVE else START)


def test_what_supersedes_and_what_was_merged_stay_joined(engine, held):
    data = [
        item("old", "Postgres 15"),
        item("new", "Postgres 16", supersedes="old"),
        item("a", "Tests use pytest"),
        item("b", "Tests run in parallel", status="archived"),
        item("c", "Tests use pytest, in parallel", mergedFrom=["a", "b", "lost"]),
        item("d", "Redis", supersedes="lost"),
    ]
    engine.import_state(data, HERE)
    by = {text: stored.memory for text, stored in held().items()}
    merged = by["Tests use pytest, in parallel"]
    assert (by["Postgres 15"].status.state, by["Postgres 15"].status.successor) == (
        State.SUPERSEDED,
        by["Postgres 16"].id,
    )
    assert merged.derived_from == (by["Tests use pytest"].id, by["Tests run in parallel"].id)
    assert by["Tests use pytest"].status.successor == merged.id
    assert by["Tests run in parallel"].status.state is State.ARCHIVED
    assert by["Postgres 16"].is_active and merged.is_active and by["Redis"].is_active


@pytest.mark.parametrize(
    "data",
    [
        [item("a", "A", supersedes="a")],
        [item("a", "A", supersedes="b"), item("b", "B", supersedes="a")],
        [item("a", "A", mergedFrom=["b"]), item("b", "B", mergedFrom=["c"]), item("c", "C", mergedFrom=["a"])],
    ],
)
def test_a_circle_of_successors_leaves_something(engine, held, data):
    engine.import_state(data, HERE)
    assert any(stored.memory.is_active for stored in held().values())


def test_a_second_run_adds_nothing(engine, store, held):
    data = [item("a", "A", accessCount=2), item("b", "B", status="superseded"), item(None, "C"), item("", "D")]
    assert engine.import_state(data, HERE).added == 4
    assert engine.settle(10)
    before, change = held(), store.change()
    again = engine.import_state(data, HERE)
    assert (again.added, again.known) == (0, 4)
    assert (held(), store.change()) == (before, change)


def test_what_was_forgotten_or_destroyed_since_does_not_come_back(engine, held):
    data = [item("a", "We use tabs"), item("b", "We use Jenkins"), item("c", "Ports start at 8000")]
    engine.import_state(data, HERE)
    engine.forget(held()["We use tabs"].memory.id, None, HERE)
    engine.destroy(held()["We use Jenkins"].memory.id, HERE)
    again = engine.import_state(data, HERE)
    assert (again.added, again.known) == (0, 2)
    assert again.skipped == ("b: was destroyed here, and does not come back",)
    assert "We use Jenkins" not in held()


def test_what_is_known_already_or_was_forgotten_in_the_same_words_is_not_doubled(engine, store, held):
    forgotten = a_memory("m2", "We use vim", status=in_state(State.FORGOTTEN))
    save(store, a_memory("m1", "We use tabs"), forgotten, a_memory("m3", "Mongo", status=in_state(State.SUPERSEDED)))
    data = [item("a", "We use  tabs."), item("b", "Redis", supersedes="a"), item("c", "We use vim"), item("d", "Mongo")]
    done = engine.import_state(data, HERE)
    assert (done.added, done.known) == (2, 2)
    assert store.memories(["m1"])["m1"].memory.is_active
    assert not store.memories(["m2"])["m2"].memory.is_active


def test_equal_texts_in_a_file_are_one_memory_and_one_that_ended_another(engine, held, store):
    data = [item("a", "Tabs"), item("b", "Tabs"), item("b", "Tabs"), item("c", "Spaces", status="superseded")]
    data += [item("d", "Spaces")]
    done = engine.import_state(data, HERE)
    assert (done.added, done.known) == (3, 2)
    assert store.total(Filter((a_place(),))) == 2


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("text", "entry 1: memory: is not an object (given: text)"),
        ({"id": "a"}, "entry 1: content: is missing or not a text"),
        (item(content=7), "entry 1: content: is missing or not a text (given: 7)"),
        (item(content=" \n"), "entry 1: content: is empty; say what should be remembered"),
        (item(content="\ud800\0"), "entry 1: content: is empty"),
        (item(content="x" * 100_001), "entry 1: content: longer than 100,000 characters"),
        (item(content="<private>all of it</private>"), "entry 1: content: nothing is left"),
    ],
)
def test_what_cannot_be_read_is_named_and_the_rest_is_imported(engine, entry, reason):
    done = engine.import_state([entry, item("b", "B")], HERE)
    assert done.added == 1
    assert done.skipped[0].startswith(reason)


def test_an_id_that_stands_for_two_texts_is_named(engine):
    done = engine.import_state([item("a", "A"), item("a", "B")], HERE)
    assert (done.added, done.skipped) == (1, ("entry 2: id: is the id of an earlier entry (given: a)",))


def test_secrets_stay_out(engine, held):
    data = [item("a", f"The key is {SECRET}", tags=[SECRET], type="gotcha")]
    assert engine.import_state(data, HERE).redacted == 1
    [stored] = held().values()
    assert SECRET not in repr(stored)
    assert "[redacted:" in stored.memory.text


def test_a_rival_that_stores_the_same_meanwhile_wins(store, clock, held):
    rival = Rival(store, lambda: save(store, a_memory("m1", "A")))
    engine = Engine(Parts(rival, HashedEmbedder(), clock))
    done = engine.import_state([item("a", "A"), item("b", "B")], HERE)
    assert engine.settle(10)
    assert (done.added, done.known) == (1, 1)
    assert held()["A"].memory.id == "m1"


def test_a_write_that_fails_leaves_nothing(store, clock, held):
    def full():
        raise Unavailable("the disk is full")

    with pytest.raises(Unavailable):
        Engine(Parts(Rival(store, full), HashedEmbedder(), clock)).import_state([item("a", "A"), item("b", "B")], HERE)
    assert held() == {}


def test_outside_of_a_project_it_is_the_users(engine, held):
    engine.import_state([item(content="It")], Caller())
    assert "It" in held(Place(Scope.USER))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b'{"memories": [\n  {"id" "a"}\n]}', "is not valid JSON at line 2, column 9: "),
        (b"", "is not valid JSON at line 1, column 1: Expecting value"),
        (b'["\xff"]', "is not UTF-8 text at byte 2"),
        (b"[" * 200_000, "nested too deep"),
    ],
)
def test_a_broken_file_is_refused_with_the_place(raw, said):
    with pytest.raises(InvalidInput, match=said):
        parsed(raw)


def test_a_file_may_begin_with_a_byte_order_mark(engine):
    assert engine.import_state(parsed(b"\xef\xbb\xbf" + json.dumps([item()]).encode()), HERE).added == 1


def test_a_large_file_is_imported_in_one_write(engine, store):
    data = [item(f"mem_{1706345600000 + n}_x", f"Fact {n} about service-{n % 50}") for n in range(1500)]
    before = store.change()
    assert engine.import_state(data, HERE).added == 1500
    assert store.change() == before + 1
