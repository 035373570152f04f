"""JSON Schema as a model should see it: no titles, no references, no null alternatives."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

# JSON Schema is data of any shape; nothing narrower describes it.
Schema = dict[str, Any]
Path = tuple[str, ...]


def schema_of(shape: type[Any]) -> Schema:
    """The slim schema of a model, a TypedDict or any other annotation."""
    full = TypeAdapter(shape).json_schema()
    return slim(full, full.pop("$defs", {}))


def slim(schema: Mapping[str, Any], definitions: Mapping[str, Schema], inside: Path = ()) -> Schema:
    """The same schema in fewer tokens. A type that contains itself is cut to a plain object."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        if name in inside:
            return {"type": "object"}
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return slim({**definitions[name], **beside}, definitions, (*inside, name))
    if "anyOf" in schema:
        schema = _without_null(schema)
    thin = {key: _inner(key, value, definitions, inside) for key, value in schema.items() if key != "title"}
    if "const" in thin:
        thin["enum"] = [thin.pop("const")]
    if "default" in thin and thin["default"] is None:
        del thin["default"]
    # The folded alternative may have been a reference.
    return slim(thin, definitions, inside) if "$ref" in thin else thin


def _without_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    options = [option for option in schema["anyOf"] if option.get("type") != "null"]
    if len(options) > 1:
        return {**schema, "anyOf": options}
    return {**options[0], **{key: value for key, value in schema.items() if key != "anyOf"}}


def _inner(key: str, value: Any, definitions: Mapping[str, Schema], inside: Path) -> Any:
    match key, value:
        case "properties", dict():
            return {name: slim(each, definitions, inside) for name, each in value.items()}
        case "items" | "additionalProperties", dict():
            return slim(value, definitions, inside)
        case "anyOf" | "oneOf" | "prefixItems", list():
            return [slim(each, definitions, inside) for each in value]
        case _:
            return value
