"""Whatever string of whichever tool a secret is in: it is cleaned or refused, and nothing keeps it."""

from contextlib import suppress

import pytest

from retain.errors import RetainError
from surfaces.wire import AUDREY, BANK, CAPTURE, GRAPH, TOOLS, Desk

TOKEN = "ghp_" + "q7RtV2mXb9LdKcZ4wNfY8sHjP3uTgA1eQ6oW"
SETS = {"default": TOOLS, "graph": GRAPH, "capture": CAPTURE, "bank": BANK, "audrey": AUDREY}
# What a call needs to get as far as the store, where a string of any kind would be refused before.
PLAIN = {"type": "semantic", "scope": "project", "kind": "semantic", "entity_type": "tool", "relation_type": "uses"}


def values(schema, name, text):
    """Something that a field takes, with a text in each string of it."""
    shapes = schema.get("anyOf", [schema])
    shape = next((each for each in shapes if each.get("type") != "null"), schema)
    if "enum" in shape or "const" in shape:
        return shape.get("const", shape.get("enum", [None])[0])
    if "default" in schema and shape.get("type") not in ("string", "array", "object"):
        return schema["default"]
    kind = shape.get("type")
    if kind == "array":
        return [values(shape.get("items", {"type": "string"}), name, text)]
    if kind == "object":
        inner = shape.get("properties", {})
        return {key: values(each, key, text) for key, each in inner.items()} or {"note": text}
    return {"string": text, "integer": 1, "number": 0.5, "boolean": False}.get(kind, text)


def strings(schema):
    return [
        name
        for name, each in schema.get("properties", {}).items()
        if values(each, name, TOKEN) != values(each, name, "x")
    ]


@pytest.mark.parametrize("toolset", SETS)
def test_no_string_of_any_tool_keeps_a_secret(tmp_path, toolset):
    (tmp_path / "shop").mkdir()
    desk = Desk(tmp_path, SETS[toolset])
    tried = 0
    for tool in SETS[toolset].values():
        if tool.name.startswith(("reset", "index")):
            continue
        schema = tool.input_schema
        properties = schema.get("properties", {})
        needed = {
            name: PLAIN.get(name, values(properties[name], name, "We deploy")) for name in schema.get("required", [])
        }
        for name in strings(schema):
            tried += 1
            with suppress(RetainError):  # to be refused is as good
                desk(tool.name, **{**needed, name: values(properties[name], name, f"deploy {TOKEN} deploy")})
    desk.settled()
    assert tried > 5 and not desk.keeps(TOKEN)
    desk.app.close()


def test_a_user_that_holds_a_secret_is_refused_without_repeating_it(tmp_path):
    (tmp_path / "shop").mkdir()
    desk = Desk(tmp_path, GRAPH)
    refused = str(desk.refused("store_memory", content="We deploy on Mondays", user_id=f"ada {TOKEN}"))
    assert "a secret (github_token)" in refused and TOKEN not in refused
    assert not desk.keeps(TOKEN)
    desk.app.close()
