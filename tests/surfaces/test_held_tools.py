"""Tools in a project whose settings file nobody has approved: replies say so, nothing is lost or goes astray."""

import json

import pytest

from approving import approve
from retain.surfaces.mcp.toolsets import audrey, bank, capture, default, graph, scoped
from retain.surfaces.rpc import Methods

pytestmark = pytest.mark.sqlite
SETS = {"default": default, "scoped": scoped, "graph": graph, "capture": capture, "bank": bank, "audrey": audrey}
TEXT = "Deploys go through the staging cluster"
CALLS = [
    ("default", "store_memory", {"content": TEXT, "type": "semantic", "scope": "project"}),
    ("scoped", "recall_memories", {"query": "deploys"}),
    ("graph", "store_memory", {"content": TEXT}),
    ("graph", "search_text", {"query": "deploys"}),
    ("capture", "memory_save", {"type": "decision", "content": TEXT}),
    ("bank", "memory_list", {}),
    ("bank", "project_init", {"name": "Shop", "path": "{shop}"}),
    ("audrey", "memory_encode", {"content": TEXT, "source": "told-by-user"}),
    ("audrey", "memory_introspect", {}),
    ("default", "search_code", {"query": "deploys"}),
]


def asks(folder, text):
    file = folder / "shop" / ".claude" / "retain.local.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\n{text}\n---\n")
    return file


@pytest.mark.parametrize(("name", "tool", "given"), CALLS, ids=[f"{name}-{tool}" for name, tool, _ in CALLS])
def test_every_set_says_which_settings_wait_for_whom(desks, tmp_path, name, tool, given):
    file = asks(tmp_path, f"db_path: {tmp_path / 'theirs.db'}")
    params = {key: value.format(shop=tmp_path / "shop") for key, value in given.items()}
    methods = Methods(SETS[name].tools, desks().app)
    (line,) = methods.answers(json.dumps({"id": 1, "method": tool, "params": params}).encode())
    assert all(said in line for said in (str(file), "db_path", "`retain trust`"))
    assert not (tmp_path / "theirs.db").exists() and not (tmp_path / "retain.db").exists()


def test_a_server_goes_on_with_what_was_decided_while_it_runs(servers, tmp_path):
    file = asks(tmp_path, f"db_path: {tmp_path / 'theirs.db'}\ntoolset: all\nuser_id: ada")
    wire = servers()
    wire.hello()
    stored = wire.body("store_memory", content=TEXT, type="semantic", scope="project")
    assert (stored["queued"], stored["degraded"]) == (True, True)
    assert {warning["code"] for warning in stored["warnings"]} == {"degraded", "settings_not_used"}
    assert "retain trust" in wire.read("memory://user/preferences")
    approve(file, tmp_path)
    found = wire.body("recall_memories", query="deploys")
    assert [memory["content"] for memory in found["memories"]] == [TEXT]
    assert "degraded" not in found
    wire.leave()
    again = servers()
    again.hello()
    found = again.body("recall_memories", query="deploys")
    assert ([memory["content"] for memory in found["memories"]], found["warnings"]) == ([TEXT], [])
    assert (tmp_path / "theirs.db").exists() and not (tmp_path / "retain.db").exists()
    again.leave()
