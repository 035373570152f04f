"""Set or remove one table in a TOML text; every other letter, comment and line ending stays as it is."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from retain.clients.faults import Broken, Unfit

Keys = tuple[str, ...]
Values = Mapping[str, Any]

_STRING = re.compile(r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'', re.DOTALL)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_LAST_GAP = re.compile(r"(?<=\n)\r?\n\Z")
_WHERE = re.compile(r"at line (\d+), column (\d+)")


@dataclass(frozen=True, slots=True)
class _Line:
    """A table's header, or a key with its value: `keys` from the root on."""

    keys: Keys
    start: int
    end: int
    value: int | None = None
    """Where the value begins; None for a header."""


def data(text: str) -> dict[str, Any]:
    """Raises `Broken` with line and column where the text is not TOML."""
    try:
        # The parser wants line feeds alone to count lines by, and knows no mark at the beginning.
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        found = _WHERE.search(str(error))
        lines = text.count("\n") + 1
        line, column = (int(found[1]), int(found[2])) if found else (lines, len(text) - text.rfind("\n"))
        raise Broken(str(error).partition(" (at ")[0].lower(), line, column) from None


def put(text: str, table: Keys, values: Values) -> str:
    """The text with these values in a table; its other keys stay. It is added at the end if there is none."""
    was = data(text)
    old = _within(was, table)
    wanted = {**(old or {}), **values}
    if old == wanted:
        return text
    new = _appended(text, table, values) if old is None else _updated(text, table, old, values)
    return _checked(new, _with(was, table, wanted), table)


def drop(text: str, table: Keys) -> str:
    """The text without a table and the tables in it; unchanged when it is not there."""
    was = data(text)
    if _within(was, table) is None:
        return text
    new = text
    for line in reversed([line for line in _lines(text) if line.keys[: len(table)] == table]):
        new = _without(new, line)
    return _checked(new, _with(was, table, None), table)


def _appended(text: str, table: Keys, values: Values) -> str:
    newline = _newline(text)
    before = "" if not text.strip("\ufeff \t\r\n") else newline if text.endswith("\n") else newline * 2
    lines = [f"[{'.'.join(map(_key, table))}]", *(f"{_key(name)} = {_value(one)}" for name, one in values.items())]
    return text + before + newline.join(lines) + newline


def _updated(text: str, table: Keys, old: Values, values: Values) -> str:
    lines = list(_lines(text))
    whole = next((line for line in lines if line.keys == table and line.value is not None), None)
    if whole is not None and whole.value is not None:
        return text[: whole.value] + _value({**old, **values}) + text[whole.end :]
    for name, value in values.items():
        if old.get(name) != value:
            text = _set(text, table, name, value)
    return text


def _set(text: str, table: Keys, name: str, value: Any) -> str:
    lines = list(_lines(text))
    for line in lines:
        if line.keys == (*table, name) and line.value is not None:
            return text[: line.value] + _value(value) + text[line.end :]
    header = next((line for line in lines if line.keys == table and line.value is None), None)
    if header is None:
        raise Unfit(f"[{'.'.join(table)}] is written in a way that is not edited here; change it by hand")
    newline = _newline(text)
    end = text.find("\n", header.end)
    at, lead = (len(text), newline) if end < 0 else (end + 1, "")
    return text[:at] + lead + f"{_key(name)} = {_value(value)}" + newline + text[at:]


def _lines(text: str) -> Iterator[_Line]:
    """Headers and keys of a text that is known to be TOML."""
    at = _end(_GAP, text, 1 if text.startswith("\ufeff") else 0)
    inside: Keys = ()
    while at < len(text):
        if text[at] == "[":
            double = text.startswith("[[", at)
            keys, behind = _keys(text, at + (2 if double else 1))
            end = behind + (2 if double else 1)
            # An entry of an array of tables is nothing that could be edited here.
            inside = (*keys, "[]") if double else keys
            yield _Line(inside, at, end)
        else:
            keys, behind = _keys(text, at)
            value = _end(_BLANK, text, behind + 1)
            end = _value_end(text, value)
            yield _Line((*inside, *keys), at, end, value)
        at = _end(_GAP, text, end)


def _keys(text: str, at: int) -> tuple[Keys, int]:
    """A dotted key and where it ends, blanks behind it included."""
    keys: list[str] = []
    while True:
        at = _end(_BLANK, text, at)
        quoted, bare = _STRING.match(text, at), _BARE.match(text, at)
        found = quoted or bare
        assert found is not None, "TOML that was parsed has a key here"
        keys.append(_unquoted(found[0]) if quoted else found[0])
        at = _end(_BLANK, text, found.end())
        if text[at : at + 1] != ".":
            return tuple(keys), at
        at += 1


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _unquoted(key: str) -> str:
    return str(tomllib.loads(f"k = {key}")["k"])


def _value_end(text: str, at: int) -> int:
    """Where a value ends: strings are passed over whole, brackets are counted, a comment or line end ends the rest."""
    depth, end = 0, at
    while at < len(text):
        letter = text[at]
        if letter in "\"'" and (string := _STRING.match(text, at)):
            at = end = string.end()
            continue
        if letter == "#":
            if not depth:
                break
            at = text.find("\n", at)
            continue
        if letter == "\n" and not depth:
            break
        depth += (letter in "[{") - (letter in "]}")
        at += 1
        if not letter.isspace():
            end = at
    return end


def _without(text: str, line: _Line) -> str:
    """Without a whole line, its comment included; an empty line before a header goes too, if no more follows."""
    newline = text.rfind("\n", 0, line.start)
    before = text[: newline + 1] if newline >= 0 else "\ufeff" * text.startswith("\ufeff")
    end = text.find("\n", line.end)
    rest = text[end + 1 :] if end >= 0 else ""
    if line.value is None and not rest.strip():
        before = _LAST_GAP.sub("", before)
    return before + rest


def _within(found: Any, table: Keys) -> Values | None:
    for key in table:
        if not isinstance(found, dict) or key not in found:
            return None
        found = found[key]
    if not isinstance(found, dict):
        raise Unfit(f"{'.'.join(table)} is not a table; put that right first")
    return found


def _with(was: dict[str, Any], table: Keys, values: Values | None) -> dict[str, Any]:
    """The data with that table, or without it; tables that hold nothing else then are gone too."""
    first, *rest = table
    inner = was.get(first, {})
    if not isinstance(inner, dict):
        raise Unfit(f"{first} is not a table; put that right first")
    new: Values | None = _with(inner, tuple(rest), values) if rest else values
    return {**was, first: new} if new else {key: value for key, value in was.items() if key != first}


def _checked(new: str, wanted: dict[str, Any], table: Keys) -> str:
    """The new text, if it says what it should; TOML has forms of a table that cannot be added to."""
    try:
        found = data(new)
    except Broken:
        found = None
    if found is None or _lean(found) != _lean(wanted):
        raise Unfit(f"[{'.'.join(table)}] cannot be added to what is there; change it by hand")
    return new


def _lean(found: Any) -> Any:
    """Without empty tables, and with numbers that are no numbers made equal to themselves."""
    if isinstance(found, dict):
        return {key: lean for key, value in found.items() if (lean := _lean(value)) != {}}
    if isinstance(found, list):
        return [_lean(one) for one in found]
    return "nan" if found != found else found


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(name))} = {_value(one)}" for name, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool | int | float | str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
