"""Set or remove one setting in the front matter of a settings file; the rest of the file stays as it is."""

from typing import Any

from retain.clients.faults import Broken, Unfit
from retain.settings_yaml import FRONT_MATTER, settings_in


def put(text: str, name: str, value: str | bool) -> str:
    """Raises `Broken` where the front matter is no YAML, `Unfit` where a later block would still say otherwise."""
    if _values(text).get(name) == value:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    written = str(value).lower() if isinstance(value, bool) else value
    front, span = FRONT_MATTER.search(text), _span(text, name)
    if span:
        new = text[: span[1]] + written + text[span[2] :]
    elif front:
        new = text[: front.end(1)] + f"{name}: {written}{newline}" + text[front.end(1) :]
    else:
        new = f"---{newline}{name}: {written}{newline}---{newline}" + text
    found, problems = settings_in(new)
    if problems or found.get(name) != value:
        raise Unfit(f"{name} cannot be set there: a block further down, or the way it is written, says otherwise")
    return new


def drop(text: str, name: str) -> str:
    """Without the setting, and without a front matter that would be empty then."""
    span = _span(text, name)
    if span is None:
        return text
    end = text.find("\n", span[2])
    new = text[: span[0]] + text[end + 1 :]
    front = FRONT_MATTER.search(new)
    if front and not front[1].strip():
        return new[front.end() :].lstrip("\r\n")
    return new


def value(text: str, name: str) -> Any:
    return _values(text).get(name)


def _values(text: str) -> dict[str, Any]:
    found, problems = settings_in(text)
    if problems:
        _span(text, "")
        raise Unfit(problems[0])
    return found


def _span(text: str, name: str) -> tuple[int, int, int] | None:
    """Where a setting of the front matter begins, and where its value begins and ends."""
    import yaml

    front = FRONT_MATTER.search(text)
    if front is None:
        return None
    try:
        node = yaml.compose(front[1])
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark, why = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        line = text.count("\n", 0, front.start(1)) + 1
        raise Broken(why or "no YAML", line + mark.line if mark else line, mark.column + 1 if mark else 1) from None
    if node is None:
        return None
    if not isinstance(node, yaml.MappingNode):
        raise Broken("the front matter is not a list of names and values", 2, 1)
    start = front.start(1)
    for key, held in node.value:
        if key.value == name:
            return (start + key.start_mark.index, start + held.start_mark.index, start + held.end_mark.index)
    return None
