"""Whatever happens between two pages, and whatever a client sends to a bank tool: lists, counts and errors hold."""

import itertools
import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retain.domain.visible import visible
from retain.errors import RetainError
from surfaces.banking import entry, folder, project
from surfaces.shapes import ODD, objects, put, sloppy, string_fields, with_ids
from surfaces.test_bank_errors import CALLS
from surfaces.wire import BANK, Desk, Wire, environment, serve_command

CODES = {-32602, -32000}
SAID = {
    "memory_create": {"id", "created_at"},
    "memory_search": {"results", "total"},
    "memory_get": {"id", "title", "content", "type", "tags", "project_id", "session_id", "created_at", "updated_at"},
    "memory_update": {"updated_at"},
    "memory_delete": {"deleted"},
    "memory_list": {"memories", "total", "offset", "limit"},
    "project_init": {"id", "created_at"},
    "project_get": {"id", "name", "path", "description", "created_at", "updated_at"},
    "project_list": {"projects", "total", "offset", "limit"},
    "session_start": {"id", "started_at"},
    "session_log": {"logged_at"},
    "session_complete": {"completed_at", "duration_minutes"},
    "session_get": {"id", "title", "project_id", "status", "started_at", "completed_at", "progress"},
    "session_list": {"sessions", "total"},
    "session_abort": {"aborted_sessions", "count"},
    "memory_faceted-search": {"results", "total"},
    "memory_enhanced-search": {"results", "total"},
    "memory_search-suggestions": {"suggestions"},
}
FIELDS = [(name, path) for name, tool in BANK.items() for path in string_fields(tool.input_schema)]
NUMBERS = itertools.count()
untimed = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def windows(tmp_path_factory):
    """Two windows on one memory: one reads while the other writes."""
    home = tmp_path_factory.mktemp("paging-bank")
    opened = Desk(home, BANK), Desk(home, BANK)
    yield opened
    for desk in opened:
        desk.app.close()


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    desk = Desk(tmp_path_factory.mktemp("busy-bank"), BANK)
    desk.folder = folder(desk, "shop")
    yield desk
    assert desk.store.faults() == []
    desk.app.close()


@pytest.fixture(scope="module")
def wire(tmp_path_factory):
    home = tmp_path_factory.mktemp("odd-bank")
    wire = Wire(*serve_command("bank"), env=environment(home), cwd=home / "shop")
    wire.folder = home / "shop"
    wire.hello()
    yield wire
    assert wire.process.poll() is None
    assert wire.leave() == (0, "")


def fresh(desk, name):
    """A project of its own for each example."""
    number = desk("project_list", limit=1)["total"]
    return project(desk, f"{name} {number}", f"{name}-{number}")


def numbered(desk, place, numbers):
    return {n: entry(desk, f"Entry {n}", f"Part {n} costs {n * 37} cents", project_id=place) for n in numbers}


def an_error(body):
    assert set(body) == {"error"} and set(body["error"]) == {"code", "message", "data"}
    assert body["error"]["code"] in CODES and 3 < len(body["error"]["message"]) < 2000
    assert not any(word in json.dumps(body) for word in ("Traceback", "inside Retain"))
    if body["error"]["code"] == -32602:
        assert all(each["field"] and each["error"] for each in body["error"]["data"]["validation_errors"])


# Pages


@untimed
@given(data=st.data(), count=st.integers(0, 25), limit=st.integers(1, 8))
def test_every_entry_that_stays_is_listed_exactly_once_while_others_write(windows, data, count, limit):
    reader, writer = windows
    place = fresh(writer, "paged")
    there = numbered(writer, place, range(count))
    kept, new, seen, offset = dict(there), count, [], 0
    while True:
        body = reader("memory_list", project_id=place, limit=limit, offset=offset)
        seen += [row["id"] for row in body["memories"]]
        offset += limit
        if offset >= body["total"]:
            break
        for doomed in data.draw(
            st.lists(st.sampled_from(sorted(kept)), max_size=2, unique=True) if kept else st.just([])
        ):
            writer("memory_delete", id=kept.pop(doomed))
        added = data.draw(st.integers(0, 2))
        numbered(writer, place, range(new, new + added))
        new += added
    counted = Counter(seen)
    assert all(counted[id] == 1 for id in kept.values())
    assert max(counted.values(), default=1) == 1


@untimed
@given(count=st.integers(0, 25), limit=st.integers(1, 30), offset=st.integers(0, 30))
def test_a_page_at_any_offset_is_that_part_of_the_whole(windows, count, limit, offset):
    reader, writer = windows
    place = fresh(writer, "jumped")
    newest = list(numbered(writer, place, range(count)).values())[::-1]
    body = reader("memory_list", project_id=place, limit=limit, offset=offset)
    assert [row["id"] for row in body["memories"]] == newest[offset : offset + limit]
    assert (body["total"], body["offset"], body["limit"]) == (count, offset, limit)


# Facets


ENTRIES = st.lists(
    st.tuples(
        st.sampled_from(["decision", "pattern", "error_solution", "code", "documentation"]),
        st.lists(st.sampled_from(["auth", "Auth", "api", "jwt"]), max_size=3, unique=True),
        st.sampled_from([20, 199, 200, 600, 1000, 1001, 3000]),
    ),
    max_size=12,
)


@untimed
@given(entries=ENTRIES, limit=st.integers(1, 5))
def test_facets_are_the_counts_over_all_matches(windows, entries, limit):
    reader, writer = windows
    place = fresh(writer, "counted")
    for n, (type, tags, length) in enumerate(entries):
        entry(writer, f"Entry {n}", f"billing {n} ".ljust(length, "x"), type, tags=tags, project_id=place)
    asked = {"query": "billing", "project_id": place, "threshold": 0.0}
    body = reader("memory_faceted-search", **asked, limit=limit)
    rows = reader("memory_faceted-search", **asked, limit=100)["results"]
    counts = body["facets"]
    assert body["total"] == len(rows) == len(entries)
    assert sum(counts["types"].values()) == sum(counts["content_length"].values()) == len(entries)
    assert counts["types"] == Counter(row["type"] for row in rows)
    folded = Counter(tag for row in rows for tag in {tag.lower() for tag in row["tags"]})
    assert {tag.lower(): count for tag, count in counts["tags"].items()} == folded
    lengths = Counter("short" if n < 200 else "medium" if n <= 1000 else "long" for _, _, n in entries)
    assert {name: count for name, count in counts["content_length"].items() if count} == lengths


# Anything at all


def things(call):
    """Three entries that are there, whatever an earlier call has destroyed or renamed."""
    known = [row["id"] for row in call("memory_list", limit=3, tags=["there"])["memories"]]
    while len(known) < 3:
        title = f"Thing {next(NUMBERS)}"
        known.append(
            call("memory_create", type="code", title=title, content=f"What {title} does", tags=["there"])["id"]
        )
    return tuple(known)


def least(tool, call, where):
    given = {name: value for name, value in CALLS[tool].items() if name != "id" or "project" in tool}
    if tool in ("memory_get", "memory_update", "memory_delete"):
        given["id"] = "{0}"
    if tool == "session_get":
        given["id"] = call("session_start", title="Work", project_id="shop")["id"]
    return with_ids(given, things(call), where)


@pytest.mark.parametrize(
    ("tool", "path"), FIELDS, ids=lambda given: given if isinstance(given, str) else ".".join(map(str, given))
)
def test_no_odd_string_in_any_field_does_harm(wire, tool, path):
    for value in ODD.values():
        result = wire.call(tool, **put(least(tool, wire.body, wire.folder), path, value))
        body = json.loads(result["content"][0]["text"])
        if result.get("isError"):
            an_error(body)
        else:
            assert set(body) >= SAID[tool]


@pytest.mark.parametrize("name", ODD)
def test_an_odd_text_comes_back_as_it_was_or_is_refused(wire, name):
    body = wire.body("memory_create", type="code", title=f"Odd {name}", content=ODD[name])
    if "error" in body:
        assert body["error"]["data"]["field"] == "content"
    else:
        assert wire.body("memory_get", id=body["id"])["content"] == visible(ODD[name]).strip()


@pytest.mark.parametrize("tool", BANK)
@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_call_gets_a_result_or_an_error_to_act_on(busy, tool, data):
    schema = BANK[tool].input_schema
    given_ = with_ids(data.draw(st.one_of(objects(schema), sloppy(schema))), things(busy), busy.folder)
    try:
        body = busy(tool, **given_)
    except RetainError as error:
        an_error(BANK[tool].envelope(error))
    else:
        assert set(body) >= SAID[tool]
