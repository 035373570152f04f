"""The summary sends agents to tools that they have: those of the set that their client starts."""

import json

import pytest

from retain.clients.known import Machine
from retain.clients.registered import toolsets
from retain.config import TOOLSETS
from retain.surfaces.mcp.instructions import expanded, finding
from retain.surfaces.mcp.serving import _toolsets
from retain.surfaces.mcp.tools import merged

SETS = [*TOOLSETS, "bank,graph", "capture,bank", "audrey,capture"]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path / "ada", "linux", {})


@pytest.fixture
def registered(tmp_path, machine):
    """The sets that agents have in a project, after entries were written into clients' files."""
    root = tmp_path / "shop"
    root.mkdir()

    def listed(**files):
        for name, data in files.items():
            file = root / ".mcp.json" if name == "project" else machine.home / ".claude.json"
            file.parent.mkdir(exist_ok=True)
            file.write_text(data if isinstance(data, str) else json.dumps(data))
        return toolsets(root, machine, "default")

    listed.root = root
    return listed


def entry(*options, **more):
    return {"command": "/opt/bin/retain", "args": ["serve", *options], **more}


@pytest.mark.parametrize("toolset", SETS)
def test_every_tool_that_a_summary_names_is_in_the_set(toolset):
    offered = merged(_toolsets(expanded(toolset)))
    assert finding([toolset]) and set(finding([toolset])) <= set(offered)


@pytest.mark.parametrize(
    ("sets", "names"),
    [
        (["default"], ("recall_memories", "memory_ask")),
        (["default", "capture"], ("memory_ask",)),
        (["capture", "bank"], ("memory_search",)),
        (["default", "audrey"], ()),
        (["default", "no such set"], ("recall_memories", "memory_ask")),
        ([" graph , bank"], ("recall", "get_related")),
        ([], ()),
    ],
)
def test_of_several_servers_only_what_all_have_is_named(sets, names):
    assert finding(sets) == names


def test_without_an_entry_the_setting_counts(registered):
    assert registered() == ["default"]
    assert registered(user={"mcpServers": {"retain": entry()}}) == ["default"]


@pytest.mark.parametrize(
    "server",
    [entry("--toolset", "capture"), entry("--toolset=capture"), entry(env={"RETAIN_TOOLSET": "capture"})],
    ids=["option", "option with =", "environment"],
)
def test_an_entry_may_name_the_set(registered, server):
    assert registered(user={"mcpServers": {"retain": server}}) == ["capture"]


def test_of_one_client_the_nearest_entry_counts(registered):
    ours = {"mcpServers": {"retain": entry("--toolset", "bank")}}
    here = {"projects": {str(registered.root): {"mcpServers": {"retain": entry("--toolset", "graph")}}}}
    assert registered(user={"mcpServers": {"retain": entry()}}, project=ours) == ["bank"]
    assert registered(user=here, project=ours) == ["graph"]


@pytest.mark.parametrize("broken", ["{", '{"mcpServers": 5}', '{"mcpServers": {"retain": {"command": "other"}}}'])
def test_what_cannot_be_read_or_is_not_ours_names_nothing(registered, broken):
    assert registered(user=broken) == ["default"]


def test_other_clients_count_too(registered, machine):
    (machine.home / ".codex").mkdir(parents=True)
    codex = '[mcp_servers.retain]\ncommand = "retain"\nargs = ["serve", "--toolset", "capture"]\n'
    (machine.home / ".codex" / "config.toml").write_text(codex)
    assert registered(user={"mcpServers": {"retain": entry()}}) == ["default", "capture"]
