"""Arguments as a model sent them, checked against a tool's schema; every fault is named at once."""

import difflib
import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from retain import strict_json
from retain.errors import Fault, InvalidInput, shorten
from retain.surfaces.mcp.schema import Schema
from retain.surfaces.mcp.tools import Tool

# Stands for input that was no text (half a surrogate pair, bytes that are not UTF-8). A
# noncharacter: Unicode keeps it free for use inside a program.
NOT_TEXT = "\ufdd0"

# What is stored must fit into an answer again, and the protocol library gives up at about 200 levels.
DEEPEST = 50

_REFUSED = re.compile(f"[\0{NOT_TEXT}\ud800-\udfff]")
_NO_TEXT = "something that is not text (half a surrogate pair, or bytes that are not UTF-8)"
_CALLED = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
}

NOT_BLANK = r"\S"  # the pattern of a text in which something is said


def read(tool: Tool, given: Mapping[str, object] | None) -> dict[str, object]:
    """The values to call the tool with, defaults filled in; raises InvalidInput otherwise."""
    reading = _Reading()
    values = reading.members(tool.input_schema, given or {}, "")
    try:
        model = tool.model.model_validate(values)
    except ValidationError as error:
        # What the walk over the schema found, the model finds too, in other words; a rule of its own comes on top.
        found = [each for each in error.errors() if not reading.faults or each["type"] == "value_error"]
        raise InvalidInput([*reading.faults, *map(_rejected, found)]) from None
    if reading.faults:
        raise InvalidInput(reading.faults)
    return {name: getattr(model, name) for name in tool.model.model_fields}


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant."""
    folded = {each.lower(): each for each in known}
    found = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


class _Reading:
    """One pass over the arguments. A value with a fault comes back as it was given."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._depth = 0

    def value(self, schema: Schema, given: object, field: str) -> object:
        if self._depth == DEEPEST:
            self.faults.append(Fault(field, "", f"is nested more than {DEEPEST} levels deep"))
            return given
        self._depth += 1
        try:
            return self.checked(schema, given, field)
        finally:
            self._depth -= 1

    def checked(self, schema: Schema, given: object, field: str) -> object:
        if "anyOf" in schema:
            return self.either(schema, given, field)
        kind = schema.get("type")
        given = _decoded(given, kind)
        if kind is not None and not _is(given, kind):
            return self.fault(field, given, f"must be {described(schema)}")
        if "enum" in schema and given not in schema["enum"]:
            return self.fault(field, given, f"must be {described(schema)}{_meant(given, schema['enum'])}")
        match given:
            case str():
                return self.text(schema, given, field)
            case dict():
                return self.members(schema, given, field)
            case list():
                return self.items(schema, given, field)
            case int() | float() if not isinstance(given, bool):
                return self.number(schema, given, field)
            case _:
                return given

    def either(self, schema: Schema, given: object, field: str) -> object:
        """The first alternative that takes the value; else the faults of one that has its type."""
        faults = [Fault(field, _shown(given), f"must be {described(schema)}")]
        for option in schema["anyOf"]:
            attempt = _Reading()
            value = attempt.value(option, given, field)
            if not attempt.faults:
                return value
            if _is(given, option.get("type")):
                faults = attempt.faults
        self.faults += faults
        return given

    def members(self, schema: Schema, given: Mapping[str, object], field: str) -> dict[str, object]:
        known: Mapping[str, Schema] = schema.get("properties", {})
        required = schema.get("required", [])
        rest = schema.get("additionalProperties", not known)
        values: dict[str, object] = {}
        for name, value in given.items():
            path = f"{field}.{name}" if field else name
            if name in known:
                if value is not None or name in required:
                    values[name] = self.value(known[name], value, path)
            elif rest is False:
                self.fault(path, value, _unknown(name, known))
            else:
                self.text({}, name, path)
                values[name] = self.value(rest if isinstance(rest, dict) else {}, value, path)
        for name in required:
            if name not in given:
                path = f"{field}.{name}" if field else name
                self.faults.append(Fault(path, "", f"is required; {described(known[name])}"))
        return values

    def items(self, schema: Schema, given: list[object], field: str) -> list[object]:
        self.within(schema, len(given), field, ("minItems", "maxItems", "{} items"))
        items = schema.get("items", {})
        return [self.value(items, item, f"{field}[{place}]") for place, item in enumerate(given)]

    def text(self, schema: Schema, given: str, field: str) -> str:
        if bad := _REFUSED.search(given):
            what = "a NUL character" if bad[0] == "\0" else _NO_TEXT
            self.fault(field, given, f"contains {what}")
        self.within(schema, len(given), field, ("minLength", "maxLength", "{} characters"))
        if "pattern" in schema and not re.search(schema["pattern"], given):
            blank = schema["pattern"] == NOT_BLANK
            self.fault(field, given, "must not be empty" if blank else f"must match {schema['pattern']}")
        if schema.get("format") == "date-time" and not _is_time(given):
            self.fault(field, given, "must be a time in ISO 8601, such as 2026-02-23T10:00:00Z")
        return given

    def number(self, schema: Schema, given: int | float, field: str) -> int | float:
        if isinstance(given, float) and not math.isfinite(given):
            self.fault(field, given, "must be a finite number")
        elif isinstance(given, int) and abs(given) >= 2**63:
            self.fault(field, given, "must fit in 64 bits")
        elif isinstance(given, float) and schema.get("type") == "integer":
            given = int(given)
        self.within(schema, given, field, ("minimum", "maximum", "{}"))
        return given

    def within(self, schema: Schema, size: int | float, field: str, keys: tuple[str, str, str]) -> None:
        low, high, words = schema.get(keys[0]), schema.get(keys[1]), keys[2]
        if (low is not None and size < low) or (high is not None and size > high):
            self.faults.append(Fault(field, words.format(size), words.format(f"must be {_range(low, high)}")))

    def fault(self, field: str, given: object, problem: str) -> object:
        self.faults.append(Fault(field, _shown(given), problem))
        return given


def described(schema: Schema) -> str:
    """What a schema takes, in plain words."""
    if "anyOf" in schema:
        return " or ".join(described(option) for option in schema["anyOf"])
    if "enum" in schema:
        return "one of: " + ", ".join(map(str, schema["enum"]))
    if schema.get("type") == "array" and schema.get("items"):
        return f"an array, each item {described(schema['items'])}"
    words = _CALLED.get(schema.get("type", ""), "any value")
    limits = _range(schema.get("minimum"), schema.get("maximum"))
    return f"{words} {limits}" if limits else words


def _shown(given: object) -> str:
    """A value as the caller wrote it, in JSON, so that "5" is not taken for 5."""
    start = given[:80] if isinstance(given, str) else given
    try:
        line = json.dumps(start, ensure_ascii=False, default=str)
    except RecursionError:
        line = "a value of many levels"
    return shorten(_REFUSED.sub("\ufffd", line))


def _range(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"between {low} and {high}"
    if low is not None:
        return f"at least {low}"
    return f"at most {high}" if high is not None else ""


def _is(given: object, kind: str | None) -> bool:
    """Whether a value has a JSON type. 5.0 is a whole number; true is no number."""
    match given:
        case bool():
            return kind == "boolean"
        case int():
            return kind in ("integer", "number")
        case float():
            return kind == "number" or (kind == "integer" and given.is_integer())
        case str():
            return kind == "string"
        case list():
            return kind == "array"
        case dict():
            return kind == "object"
        case _:
            return False


def _decoded(given: object, kind: str | None) -> object:
    """An array or object that came as a JSON string, which many models send; an id in the nested form of a contract."""
    match given:
        case {"tb": str(), "id": {"String": str(id)}} if kind == "string":
            return id
    if not isinstance(given, str) or kind not in ("array", "object"):
        return given
    try:
        value = strict_json.loads(given)
    except (ValueError, RecursionError):
        return given
    return value if _is(value, kind) else given


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _unknown(name: str, known: Iterable[str]) -> str:
    if meant := closest(name, known):
        return f"unknown argument; did you mean {meant}?"
    names = ", ".join(known)
    return f"unknown argument; known are {names}" if names else "unknown argument; there are none here"


def _meant(given: object, allowed: Iterable[object]) -> str:
    meant = closest(given, map(str, allowed)) if isinstance(given, str) else None
    return f"; did you mean {meant}?" if meant else ""


def _rejected(error: Mapping[str, Any]) -> Fault:
    """A fault that only the model itself finds: a bound the schema walk does not know, or its own rule."""
    field = ".".join(map(str, error["loc"]))
    match error["type"], error.get("ctx", {}):
        case "value_error", {"error": reason}:
            problem = str(reason)
        case "greater_than", {"gt": bound}:
            problem = f"must be above {bound}"
        case "less_than", {"lt": bound}:
            problem = f"must be below {bound}"
        case _:
            problem = "is not valid here"
    return Fault(field, _shown(error["input"]), problem)
