"""What a client is told of the bank tools: names, schemas, hints, and the words that come first."""

import json

import pytest

from retain.surfaces.mcp.instructions import BANK as INSTRUCTIONS
from retain.surfaces.mcp.toolsets import bank
from surfaces.wire import BANK, Wire, environment, serve_command

NAMES = [
    "memory_create", "memory_search", "memory_get", "memory_update", "memory_delete", "memory_list",
    "project_init", "project_get", "project_list",
    "session_start", "session_log", "session_complete", "session_get", "session_list", "session_abort",
    "memory_faceted-search", "memory_enhanced-search", "memory_search-suggestions",
]  # fmt: skip
READING = {name for name in NAMES if "search" in name or name.endswith(("_get", "_list"))}
REQUIRED = {
    "memory_create": {"type", "title", "content"},
    "memory_search": {"query"},
    "memory_get": {"id"},
    "memory_update": {"id"},
    "memory_delete": {"id"},
    "project_init": {"name", "path"},
    "session_start": {"title", "project_id"},
    "session_complete": {"outcome"},
    "session_get": {"id"},
    "session_abort": {"project_id"},
    "memory_faceted-search": {"query"},
    "memory_enhanced-search": {"query"},
    "memory_search-suggestions": {"partial_query"},
}
DEFAULTS = {
    "memory_search": {"limit": 10, "threshold": 0.5},
    "memory_list": {"limit": 20, "offset": 0},
    "project_list": {"limit": 50, "offset": 0},
    "session_log": {"entry_type": "info"},
    "session_list": {"limit": 20, "offset": 0},
    "memory_faceted-search": {"limit": 20, "threshold": 0.5},
    "memory_enhanced-search": {"limit": 10, "threshold": 0.5},
    "memory_search-suggestions": {"limit": 10},
}
BOUNDS = {"limit": (1, 100), "offset": (0, None), "threshold": (0, 1)}


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """The tools that a client gets who asks for all toolsets."""
    wire = Wire(*serve_command("all"), env=environment(tmp_path_factory.mktemp("home")))
    wire.hello()
    yield [tool["name"] for tool in wire.ask("tools/list")["result"]["tools"]]
    wire.end()


def test_the_set_has_the_tools_of_the_contract_and_no_more():
    assert [tool.name for tool in bank.tools.tools] == NAMES


@pytest.mark.parametrize("tool", NAMES)
def test_what_is_required_is_as_in_the_contract(tool):
    assert set(BANK[tool].input_schema.get("required", ())) == REQUIRED.get(tool, set())


@pytest.mark.parametrize("tool", NAMES)
def test_defaults_and_bounds_are_as_in_the_contract(tool):
    fields = BANK[tool].input_schema["properties"]
    assert {name: each["default"] for name, each in fields.items() if "default" in each} == DEFAULTS.get(tool, {})
    for name in fields.keys() & BOUNDS.keys():
        assert (fields[name].get("minimum"), fields[name].get("maximum")) == BOUNDS[name]


def test_every_tool_says_whether_it_reads_or_destroys():
    assert {name for name, tool in BANK.items() if tool.hints.get("read_only")} == READING
    assert {name for name, tool in BANK.items() if tool.hints.get("destructive")} == {"memory_delete", "session_abort"}


def test_every_tool_has_a_title_and_says_when_to_call_it():
    assert all(tool.title and 20 < len(tool.description) < 400 for tool in BANK.values())


def test_the_list_is_cheap_to_carry():
    told = [{"name": tool.name, "d": tool.description, "s": tool.input_schema} for tool in BANK.values()]
    assert len(json.dumps(told)) / 4 < 4000


def test_the_instructions_fit_where_clients_cut_them_and_name_only_tools_that_are_there():
    words = {word.strip(".,;()") for word in INSTRUCTIONS.split()}
    named = {word for word in words if word.startswith(("memory_", "session_", "project_"))}
    assert len(INSTRUCTIONS) < 2000 and named and named <= set(NAMES)


def test_among_all_sets_a_name_that_is_taken_gets_the_set_in_front(everything):
    assert len(everything) == len(set(everything)) == 65
    assert {"memory_create", "bank_memory_search", "bank_memory_delete", "memory_faceted-search"} <= set(everything)
