"""Entries of the bank tools: created under a title, read, corrected, listed, destroyed."""

import json
import re
from pathlib import Path

import pytest

from surfaces.banking import GATEWAY, JWT, by_other_tools, codes, data, entry, error, faults, project, titles
from surfaces.wire import BANK, GRAPH, TOOLS

MEMORY = {"id", "title", "content", "type", "tags", "project_id", "session_id", "created_at", "updated_at"}
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"
TYPES = {
    "decision": "semantic",
    "pattern": "procedural",
    "error_solution": "procedural",
    "code": "semantic",
    "documentation": "semantic",
}
NOBODY = "mem_" + "0" * 20


# Creating


def test_creating_answers_with_a_dressed_id_and_a_time(bank):
    body = bank("memory_create", type="decision", title="Sign tokens with JWT", content=JWT)
    assert set(body) == {"id", "created_at", "warnings"}
    assert re.fullmatch(r"mem_[0-9a-z]{20}", body["id"]) and re.fullmatch(TIME, body["created_at"])
    assert body["warnings"] == []


@pytest.mark.parametrize(("type", "kind"), TYPES.items())
def test_a_type_is_kept_and_fills_in_the_kind_that_other_tools_know(bank, type, kind):
    id = entry(bank, type=type)
    assert bank("memory_get", id=id)["type"] == type
    assert by_other_tools(bank, TOOLS, "get_memory", id=id)["type"] == kind


@pytest.mark.parametrize("spelled", ["{id}", "{bare}", "Payments", "payments", "{path}", "{path}/"])
def test_an_entry_goes_to_the_project_that_is_named_in_any_way(bank, spelled, tmp_path):
    id = project(bank)
    named = spelled.format(id=id, bare=id.removeprefix("proj_"), path=tmp_path / "payments")
    assert bank("memory_get", id=entry(bank, project_id=named))["project_id"] == id


def test_without_a_project_named_it_goes_to_the_current_one(bank):
    here = bank("memory_get", id=entry(bank))["project_id"]
    assert bank("project_get", id=here)["path"].endswith("/shop")


def test_outside_of_any_project_it_is_the_users_and_says_so(desks):
    bank = desks(tools=BANK, project_dir=Path.home())
    body = bank("memory_create", type="code", title="Retry", content="Retry three times")
    assert codes(body) == ["no_project"]
    assert bank("memory_get", id=body["id"])["project_id"] is None


def test_tags_and_session_come_back(bank):
    found = bank("memory_get", id=entry(bank, tags=["auth", "api"], session_id="sess-7"))
    assert (found["tags"], found["session_id"]) == (["auth", "api"], "sess-7")


def test_an_entry_of_a_development_session_belongs_to_it(bank):
    id = bank("session_start", title="Login", project_id="shop")["id"]
    assert bank("memory_get", id=entry(bank, session_id=id))["session_id"] == id
    bare = entry(bank, "Gateway", GATEWAY, session_id=id.removeprefix("sess_"))
    assert bank("memory_get", id=bare)["session_id"] == id
    elsewhere = entry(bank, "Other", "Of some other session", session_id="0" * 20)
    assert bank("memory_get", id=elsewhere)["session_id"] == "0" * 20


@pytest.mark.parametrize("title", ["Sign tokens with JWT", "  sign TOKENS with jwt "])
def test_a_title_that_the_project_has_is_refused_with_its_holder(bank, title):
    first = entry(bank)
    body = bank.refused("memory_create", type="code", title=title, content="Something else")
    assert error(body) == (-32000, "Database operation failed")
    assert data(body)["constraint"] == "unique_memory_title_per_project"
    assert data(body)["suggestion"] == "Use a different title or update the existing memory"
    assert data(body)["memory_id"] == first
    assert f'{first} has the title "Sign tokens with JWT" already' in data(body)["hint"]
    assert bank("memory_list")["total"] == 1


def test_another_project_may_have_the_same_title(bank):
    assert entry(bank) != entry(bank, project_id=project(bank))


def test_the_title_of_a_deleted_entry_is_free_again(bank):
    bank("memory_delete", id=entry(bank))
    assert entry(bank)


def test_an_equal_text_under_another_title_is_kept_and_tied(bank):
    first = entry(bank)
    body = bank("memory_create", type="pattern", title="Tokens", content=JWT)
    assert body["similar"] == [first]
    assert bank("memory_get", id=body["id"])["similar"] == [first]
    assert bank("memory_get", id=first)["similar"] == [body["id"]]


def test_a_contradiction_is_named(knowing_bank):
    first = entry(knowing_bank, "Indentation", "We use tabs for indentation")
    body = knowing_bank(
        "memory_create", type="decision", title="Whitespace", content="We do not use tabs for indentation"
    )
    assert [each["id"] for each in body["contradicts"]] == [first]


@pytest.mark.parametrize("field", ["title", "content"])
def test_a_secret_never_reaches_the_store(bank, field):
    secret = "AKIA" + "Q7Z2M9X4B6N1K8V3"
    given = {"title": "Keys", "content": "How keys are kept", field: f"The key is {secret}"}
    bank("memory_create", type="documentation", **given)
    assert secret not in json.dumps(bank("memory_list")) + json.dumps(bank("memory_search", query="key", threshold=0))


@pytest.mark.parametrize("given", [{"content": "A key: {}"}, {"title": "Key {}"}, {"tags": ["ops", "{}"]}])
def test_what_was_removed_is_said_wherever_it_stood(bank, given):
    secret = "AKIA" + "Q7Z2M9X4B6N1K8V3"
    said = json.loads(json.dumps(given).replace("{}", secret))
    body = bank("memory_create", **{"type": "code", "title": "Keys", "content": "How keys are kept", **said})
    assert codes(body) == ["redacted"]
    assert secret not in json.dumps(bank("memory_get", id=body["id"]))


@pytest.mark.parametrize("given", [{"content": "A key: {}"}, {"title": "Key {}"}, {"tags": ["ops", "{}"]}])
def test_what_was_removed_from_a_change_is_said_too(bank, given):
    secret, id = "AKIA" + "Q7Z2M9X4B6N1K8V3", entry(bank)
    assert codes(bank("memory_update", id=id, **json.loads(json.dumps(given).replace("{}", secret)))) == ["redacted"]
    assert secret not in json.dumps(bank("memory_get", id=id))


def test_a_session_id_that_holds_a_secret_is_refused_and_not_repeated(bank):
    secret = "ghp_" + "a1B2" * 9
    body = bank.refused("memory_create", type="code", title="T", content=JWT, session_id=secret)
    assert list(faults(body)) == ["session_id"] and secret not in json.dumps(body)
    assert bank("memory_list")["total"] == 0


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"title": "T", "content": JWT}, "type"),
        ({"type": "decision", "content": JWT}, "title"),
        ({"type": "decision", "title": "T"}, "content"),
        ({"type": "opinion", "title": "T", "content": JWT}, "type"),
        ({"type": "decision", "title": " ", "content": JWT}, "title"),
        ({"type": "decision", "title": "\u200b\u2060", "content": JWT}, "title"),
        ({"type": "decision", "title": "T", "content": "\u200b"}, "content"),
        ({"type": "decision", "title": "T", "content": JWT, "tags": ["\u200b"]}, "tags[0]"),
        ({"type": "decision", "title": "T" * 201, "content": JWT}, "title"),
        ({"type": "decision", "title": "T", "content": "\n"}, "content"),
        ({"type": "decision", "title": "T", "content": "x" * 100_001}, "content"),
        ({"type": "decision", "title": "T", "content": JWT, "tags": "auth"}, "tags"),
        ({"type": "decision", "title": "T", "content": JWT, "tags": [" "]}, "tags[0]"),
        ({"type": "decision", "title": "T", "content": JWT, "tags": ["x" * 101]}, "tags[0]"),
        ({"type": "decision", "title": "T", "content": JWT, "tags": ["x"] * 51}, "tags"),
        ({"type": "decision", "title": "T", "content": JWT, "session_id": "s" * 201}, "session_id"),
        ({"type": "decision", "title": "T", "content": JWT, "project_id": ""}, "project_id"),
        ({"type": "decision", "title": "T", "content": JWT, "project": "shop"}, "project"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_stored(bank, given, field):
    assert list(faults(bank.refused("memory_create", **given))) == [field]
    assert bank("memory_list")["total"] == 0


def test_a_project_that_is_not_known_is_named_and_nothing_is_stored(bank):
    body = bank.refused("memory_create", type="code", title="T", content=JWT, project_id="proj_ecommerce")
    assert error(body) == (-32000, "Project not found")
    assert data(body)["project_id"] == "proj_ecommerce"
    assert "project_init" in data(body)["hint"]
    assert bank("memory_list")["total"] == 0


# Reading


def test_an_entry_comes_back_with_the_fields_of_the_contract(bank):
    id = entry(bank, tags=["auth"])
    body = bank("memory_get", id=id)
    assert set(body) == MEMORY
    assert (body["id"], body["title"], body["content"]) == (id, "Sign tokens with JWT", JWT)
    assert body["created_at"] == body["updated_at"]


@pytest.mark.parametrize("dress", ["{}", "mem_{}", "memory:{}"])
def test_an_id_is_taken_in_any_dress(bank, dress):
    assert bank("memory_get", id=dress.format(entry(bank)[4:]))["content"] == JWT


@pytest.mark.parametrize("tool", ["memory_get", "memory_delete", "memory_update"])
@pytest.mark.parametrize("id", [NOBODY, "mem_invalid123", "nonsense"])
def test_an_id_that_nothing_has_is_not_found(bank, tool, id):
    given = {"title": "T"} if tool == "memory_update" else {}
    body = bank.refused(tool, id=id, **given)
    assert error(body) == (-32000, "Memory not found")
    assert data(body)["memory_id"] == id
    assert "memory_search" in data(body)["hint"]


def test_the_entry_of_somebody_else_is_not_found(desks):
    id = entry(desks(tools=BANK))
    assert error(desks(tools=BANK, user_id="ada").refused("memory_get", id=id)) == (-32000, "Memory not found")


@pytest.mark.parametrize(
    ("kind", "type"), [("episodic", "context"), ("semantic", "documentation"), ("procedural", "pattern")]
)
def test_what_other_tools_stored_has_a_title_and_a_type(bank, kind, type):
    id = by_other_tools(bank, GRAPH, "store_memory", content="Deploys run\non Mondays", memory_type=kind)["id"]
    body = bank("memory_get", id=id)
    assert (body["title"], body["type"], body["content"]) == ("Deploys run", type, "Deploys run\non Mondays")


def test_a_forgotten_entry_is_shown_and_says_so(bank):
    id = entry(bank)
    bank.app.forget(id, "outdated")
    body = bank("memory_get", id=id)
    assert (body["state"], body["reason"]) == ("forgotten", "outdated")


def test_what_was_replaced_names_its_successor_and_the_reason(bank):
    old, new = entry(bank), entry(bank, title="Another", content="We deploy on Fridays")
    bank.app.invalidate(old, superseded_by=new, reason="moved")
    body = bank("memory_get", id=old)
    assert (body["state"], body["reason"], body["superseded_by"]) == ("superseded", "moved", new)
    whole = TOOLS["get_memory"].function(bank.app, old)
    assert (whole["reason"], whole["superseded_by"]) == ("moved", new.replace("mem_", "memory:"))


def test_a_long_text_comes_back_whole(bank):
    text = "line of text " * 7000 + "end"
    assert bank("memory_get", id=entry(bank, content=text))["content"] == text


# Updating


@pytest.mark.parametrize(
    ("field", "value"),
    [("title", "JSON web tokens"), ("content", GATEWAY), ("tags", ["jwt"]), ("tags", []), ("type", "pattern")],
)
def test_only_the_field_that_is_given_changes(bank, field, value):
    id = entry(bank, tags=["auth", "api"])
    before = bank("memory_get", id=id)
    done = bank("memory_update", id=id, **{field: value})
    after = bank("memory_get", id=id)
    assert after == {**before, field: value, "updated_at": done["updated_at"]}
    assert done["updated_at"] > before["updated_at"]
    assert set(done) == {"updated_at", "warnings"}


def test_a_new_type_brings_its_kind_along(bank):
    id = entry(bank)
    bank("memory_update", id=id, type="pattern")
    assert by_other_tools(bank, TOOLS, "get_memory", id=id)["type"] == "procedural"


def test_an_update_without_anything_to_change_names_the_fields(bank):
    body = bank.refused("memory_update", id=entry(bank))
    assert list(faults(body)) == ["title, content, tags, type"]


def test_a_title_that_is_taken_stays_with_its_holder(bank):
    holder, id = entry(bank), entry(bank, "Gateway", GATEWAY)
    body = bank.refused("memory_update", id=id, title="sign tokens with jwt")
    assert (data(body)["constraint"], data(body)["memory_id"]) == ("unique_memory_title_per_project", holder)
    assert bank("memory_get", id=id)["title"] == "Gateway"


def test_a_text_that_another_entry_has_is_refused_with_its_holder(bank):
    holder, id = entry(bank), entry(bank, "Gateway", GATEWAY)
    body = bank.refused("memory_update", id=id, content=JWT)
    assert error(body) == (-32000, "Database operation failed")
    assert (data(body)["constraint"], data(body)["memory_id"]) == ("unique_memory_text_per_project", holder)
    assert holder in data(body)["hint"] and "memory:" not in json.dumps(body)
    assert bank("memory_get", id=id)["content"] == GATEWAY


def test_an_entry_keeps_its_own_title(bank):
    id = entry(bank)
    assert bank("memory_update", id=id, title="Sign Tokens With JWT")
    assert bank("memory_get", id=id)["title"] == "Sign Tokens With JWT"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"title": ""}, "title"),
        ({"content": " "}, "content"),
        ({"type": "note"}, "type"),
        ({"tags": [1]}, "tags[0]"),
        ({"name": "x"}, "name"),
    ],
)
def test_a_wrong_change_is_named_and_nothing_changes(bank, given, field):
    id = entry(bank)
    before = bank("memory_get", id=id)
    assert field in faults(bank.refused("memory_update", id=id, **given))
    assert bank("memory_get", id=id) == before


def test_a_forgotten_entry_cannot_be_changed(bank):
    id = entry(bank)
    bank.app.forget(id)
    body = bank.refused("memory_update", id=id, title="New")
    code, message = error(body)
    assert code == -32000 and f"{id} is forgotten" in message
    assert f"`retain forget --restore {id}`" in message and "restore: true" not in message
    assert (data(body)["memory_id"], data(body)["state"]) == (id, "forgotten")


# Deleting


def test_deleting_destroys_and_a_second_time_is_not_found(bank):
    id = entry(bank)
    assert bank("memory_delete", id=id) == {"deleted": True}
    assert bank("memory_list")["total"] == 0
    assert error(bank.refused("memory_delete", id=id)) == (-32000, "Memory not found")


def test_a_backup_that_still_holds_it_is_named(bank):
    id = entry(bank)
    from retain import maintenance

    copy = maintenance.backup(bank.app, bank.app.now())
    assert bank("memory_delete", id=id) == {"deleted": True, "still_in_backups": [str(copy)]}


# Listing


def many(bank, count, **given):
    return [entry(bank, f"Entry {n}", f"Fact number {n} about part {n * 7}", **given) for n in range(count)]


def test_rows_are_light_and_newest_first(bank):
    entry(bank, tags=["auth"])
    entry(bank, "Gateway", GATEWAY, "pattern")
    body = bank("memory_list")
    assert [set(row) for row in body["memories"]] == [{"id", "title", "type", "tags", "created_at"}] * 2
    assert titles(body) == ["Gateway", "Sign tokens with JWT"]
    assert (body["total"], body["offset"], body["limit"]) == (2, 0, 20)


def test_twenty_rows_are_shown_unless_told_otherwise(bank):
    many(bank, 23)
    assert len(bank("memory_list")["memories"]) == 20
    assert len(bank("memory_list", limit=100)["memories"]) == 23


def test_an_offset_goes_on_where_the_page_before_ended(bank):
    ids = many(bank, 5)[::-1]
    first, second = bank("memory_list", limit=3), bank("memory_list", limit=3, offset=3)
    assert [row["id"] for row in first["memories"] + second["memories"]] == ids
    assert (second["total"], second["offset"], second["limit"]) == (5, 3, 3)


def test_beyond_the_end_there_is_nothing_and_the_total_stands(bank):
    many(bank, 2)
    body = bank("memory_list", offset=50)
    assert (body["memories"], body["total"]) == ([], 2)


def test_a_type_lists_only_those(bank):
    entry(bank)
    entry(bank, "Gateway", GATEWAY, "pattern")
    assert titles(bank("memory_list", type="pattern")) == ["Gateway"]


def test_tags_list_what_has_any_of_them(bank):
    for name in ("auth", "billing", "logo"):
        entry(bank, f"About {name}", f"What {name} does", tags=[name.upper()])
    body = bank("memory_list", tags=["auth", "logo"])
    assert (titles(body), body["total"]) == (["About logo", "About auth"], 2)


def test_a_list_has_its_project_and_the_users_and_no_other(bank):
    entry(bank)
    entry(bank, "Gateway", GATEWAY, project_id=project(bank))
    bank.app.remember("I like short functions", scope="user")
    assert titles(bank("memory_list")) == ["I like short functions", "Sign tokens with JWT"]
    assert titles(bank("memory_list", project_id="Payments")) == ["I like short functions", "Gateway"]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"limit": 0}, "must be between 1 and 100"),
        ({"limit": 101}, "must be between 1 and 100"),
        ({"limit": "ten"}, "must be a whole number between 1 and 100"),
        ({"offset": -1}, "must be at least 0"),
        ({"type": "gotcha"}, "must be one of: decision, pattern, error_solution, code, documentation"),
    ],
)
def test_a_bound_is_named(bank, given, error):
    assert faults(bank.refused("memory_list", **given)) == dict.fromkeys(given, error)
