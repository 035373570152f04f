"""The error envelope of the bank contract: its codes, its messages, and what stands in `data`."""

import pytest

from retain.errors import (
    ConfigError,
    EmbeddingFailed,
    InvalidInput,
    NotFound,
    QueryTimeout,
    Refused,
    RetainError,
    SchemaNewer,
    StorageFull,
    StoreBusy,
    UnknownTool,
    invalid,
)
from retain.surfaces.bank_errors import envelope
from surfaces.banking import JWT, data, entry, error, faults, folder
from surfaces.wire import BANK, in_place

ID = "mem_" + "0" * 20
CALLS = {
    "memory_create": {"type": "code", "title": "T", "content": "C"},
    "memory_search": {"query": "q"},
    "memory_get": {"id": ID},
    "memory_update": {"id": ID, "title": "T"},
    "memory_delete": {"id": ID},
    "memory_list": {},
    "project_init": {"name": "N", "path": "."},
    "project_get": {"id": "shop"},
    "project_list": {},
    "session_start": {"title": "T", "project_id": "shop"},
    "session_log": {"content": "C"},
    "session_complete": {"outcome": "O"},
    "session_get": {"id": "sess_" + "0" * 20},
    "session_list": {},
    "session_abort": {"project_id": "shop"},
    "memory_faceted-search": {"query": "q"},
    "memory_enhanced-search": {"query": "q"},
    "memory_search-suggestions": {"partial_query": "q"},
}


def test_the_validation_example_of_the_document_is_answered_as_it_says(bank):
    body = bank.refused("memory_create", type="invalid_type", title="", content="Content without title")
    assert error(body) == (-32602, "Invalid parameters")
    assert [{name: each[name] for name in ("field", "error")} for each in data(body)["validation_errors"]] == [
        {"field": "type", "error": "must be one of: decision, pattern, error_solution, code, documentation"},
        {"field": "title", "error": "title cannot be empty"},
    ]


def test_the_threshold_example_of_the_document_is_answered_as_it_says(bank):
    body = bank.refused("memory_search", query="jwt", threshold=2)
    assert error(body) == (-32602, "Invalid params")
    assert (data(body)["field"], data(body)["error"]) == ("threshold", "must be between 0.0 and 1.0")


def test_one_fault_stands_beside_the_list_and_several_only_in_it(bank):
    one, two = (
        bank.refused("memory_search", query="q", **given) for given in ({"limit": 0}, {"limit": 0, "type": "x"})
    )
    assert (data(one)["field"], len(data(one)["validation_errors"])) == ("limit", 1)
    assert "field" not in data(two) and len(data(two)["validation_errors"]) == 2


def test_a_fault_repeats_the_value_and_says_what_to_do(bank):
    body = bank.refused("memory_list", limit=500)
    assert data(body)["validation_errors"] == [{"field": "limit", "error": "must be between 1 and 100", "value": "500"}]
    assert data(body)["hint"] == "Nothing was done. Correct what is named here and call again."


@pytest.mark.parametrize(
    ("tool", "given", "value"),
    [
        ("memory_create", {**CALLS["memory_create"], "type": "mistake"}, "mistake"),
        ("memory_list", {"limit": "5 or so"}, "5 or so"),
        ("memory_list", {"limit": 500}, "500"),
    ],
)
def test_a_value_is_told_as_it_was_given(bank, tool, given, value):
    assert data(bank.refused(tool, **given))["validation_errors"][0]["value"] == value


@pytest.mark.parametrize(
    ("tool", "given", "value"),
    [
        ("memory_search", {"query": "x" * 10_001}, "10001 characters"),
        ("memory_create", {**CALLS["memory_create"], "tags": ["x"] * 51}, "51 items"),
    ],
)
def test_of_what_is_too_long_the_length_is_told(bank, tool, given, value):
    assert data(bank.refused(tool, **given))["validation_errors"][0]["value"] == value


def test_a_missing_field_has_no_value(bank):
    (fault,) = data(bank.refused("memory_search"))["validation_errors"]
    assert fault == {"field": "query", "error": "is required; a string"}


def test_all_bad_fields_are_named_at_once(bank):
    given = {"type": "x", "title": "", "content": 5, "tags": ["", "y" * 101], "session_id": "", "projectid": "z"}
    found = faults(bank.refused("memory_create", **given))
    assert set(found) == {"type", "title", "content", "tags[0]", "tags[1]", "session_id", "projectid"}


BELL = "\u0007"  # passes the schema, and is no text


@pytest.mark.parametrize(
    ("tool", "given", "fields"),
    [
        (
            "memory_create",
            {"type": "code", "title": BELL, "content": "<private>q</private>", "tags": [BELL], "project_id": "nowhere"},
            {"title", "content", "tags[0]", "project_id"},
        ),
        (
            "session_start",
            {"title": BELL, "tags": [BELL], "project_id": "nowhere"},
            {"title", "tags[0]", "project_id"},
        ),
        ("project_init", {"name": BELL, "path": "/nowhere/at/all"}, {"name", "path"}),
        (
            "session_log",
            {"content": "a", "message": "b", "entry_type": "info", "type": "issue"},
            {"content, message", "entry_type, type"},
        ),
        ("session_log", {"entry_type": "info", "type": "issue"}, {"content", "entry_type, type"}),
        (
            "memory_faceted-search",
            {"query": "q", "filters": {"tags": [BELL]}, "project_id": "nowhere"},
            {"tags[0]", "project_id"},
        ),
    ],
)
def test_what_only_the_engine_finds_wrong_is_named_at_once_too(bank, tool, given, fields):
    folder(bank, "shop")
    assert set(faults(bank.refused(tool, **given))) == fields
    assert (bank("memory_list")["total"], bank("session_list")["total"], bank("project_list")["total"]) == (0, 0, 0)


def test_a_rule_beside_the_schema_is_named_with_the_rest(bank):
    found = faults(bank.refused("memory_faceted-search", query="", limit=0, sort_by={"field": "age"}))
    assert set(found) == {"query", "limit", "sort_by.field"}


@pytest.mark.parametrize("tool", BANK)
def test_unknown_arguments_are_refused_with_the_likely_name(bank, tool):
    for name in BANK[tool].input_schema["properties"]:
        assert f"did you mean {name}?" in faults(bank.refused(tool, **{f"{name}x": 1}))[f"{name}x"]


@pytest.mark.parametrize("tool", BANK)
def test_every_required_field_is_named_when_nothing_is_given(bank, tool):
    required = set(BANK[tool].input_schema.get("required", ()))
    if required:
        assert set(faults(bank.refused(tool))) == required


def test_every_tool_is_called_below():
    assert set(CALLS) == set(BANK)


@pytest.mark.parametrize(("tool", "given"), CALLS.items())
def test_without_a_store_every_tool_says_so_and_may_be_tried_again(desks, tmp_path, tool, given):
    (tmp_path / "file").write_text("a file where a folder should be")
    (tmp_path / "shop").mkdir()
    body = desks(tools=BANK, **in_place(tmp_path / "file" / "retain.db")).refused(tool, **given)
    assert body["error"]["code"] == -32000
    assert str(tmp_path) in body["error"]["message"]
    assert (data(body)["reason"], data(body)["retry_suggested"]) == ("memory_unavailable", True)


def test_a_full_store_says_so(desks):
    bank = desks(tools=BANK, max_storage_mb=1)
    with pytest.raises(StorageFull):
        for number in range(40):
            entry(bank, title=f"Part {number}", content=f"has words {number} " * 6000)
    body = bank.refused("memory_create", type="code", title="More", content=JWT)
    assert (body["error"]["code"], data(body)["reason"]) == (-32000, "storage_full")


@pytest.mark.parametrize(
    ("raised", "message", "told"),
    [
        (NotFound("no m", memory_id="m"), "Memory not found", {"memory_id": "m"}),
        (NotFound("no p", project_id="p"), "Project not found", {"project_id": "p", "hint": "no p"}),
        (NotFound("no s", session_id="s"), "Session not found", {"session_id": "s", "hint": "no s"}),
        (NotFound("no e"), "no e", {"reason": "not_found"}),
        (Refused("ended", session_id="s", status="aborted"), "ended", {"session_id": "s", "status": "aborted"}),
        (StorageFull("full", limit=5), "full", {"reason": "storage_full", "retry_suggested": True, "limit": 5}),
        (StoreBusy("busy"), "busy", {"reason": "store_busy", "retry_suggested": True}),
        (QueryTimeout("late"), "late", {"reason": "query_timeout", "retry_suggested": True}),
        (SchemaNewer("new"), "new", {"reason": "schema_newer", "retry_suggested": False}),
        (EmbeddingFailed("off"), "Embedding generation failed", {"retry_suggested": True, "hint": "off"}),
        (UnknownTool("none", method="m", close=[]), "Method not found", {"method": "m", "close": [], "hint": "none"}),
        (ConfigError("bad"), "bad", {"reason": "config_error"}),
        (RetainError("odd"), "odd", {"reason": "internal_error"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_error_has_its_message_and_its_data(raised, message, told):
    body = envelope(raised)
    assert error(body) == (-32601 if isinstance(raised, UnknownTool) else -32000, message)
    assert data(body).items() >= told.items()


def test_only_invalid_input_has_the_code_for_it():
    assert envelope(InvalidInput([]))["error"]["code"] == -32602
    assert envelope(invalid("a", 1, "b"))["error"]["code"] == -32602


def test_what_is_repeated_of_the_input_is_short(bank):
    body = bank.refused("memory_get", id="x" * 100_000)
    assert len(str(body)) < 1000


def test_over_the_wire_an_error_is_one_and_its_text_says_the_same(servers):
    wire = servers("bank")
    wire.hello()
    result = wire.call("memory_get", id="mem_invalid123")
    assert result["isError"] is True
    body = result["structuredContent"]
    assert (error(body), data(body)["memory_id"]) == ((-32000, "Memory not found"), "mem_invalid123")
    assert wire.body("memory_get", id="mem_invalid123") == body


def test_a_tool_that_is_not_there_is_answered_as_the_set_named_first_answers(servers):
    bank, default = servers("bank,default"), servers("default,bank")
    bank.hello(), default.hello()
    result = bank.call("memory_serch", query="q")
    body = result["structuredContent"]
    assert (result["isError"], error(body)) == (True, (-32601, "Method not found"))
    assert (data(body)["method"], "memory_search" in data(body)["close"]) == ("memory_serch", True)
    assert default.body("memory_serch", query="q")["error"] == "not_found"
