"""What the text of a settings file says. It may be a stranger's, so nothing in it may raise, grow or take long.

Only texts, numbers, yes or no, and lists of these come out. All else is told, and the rest of the file is still read.
"""

import re
from collections.abc import Iterator
from typing import Any

from retain.domain.handing import safe

LONGEST = 20_000  # characters of YAML; settings need a few hundred, and a hook waits for the parser
FRONT_MATTER = re.compile(
    r"\A\ufeff?(?:[ \t]*\r?\n)*---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE
)  # fmt: skip
_OPENED = re.compile(r"\A\ufeff?(?:[ \t]*\r?\n)*---[ \t]*\r?\n")
_BLOCK = re.compile(
    r"^(`{3,}|~{3,})[ \t]*ya?ml[ \t]*\r?\n(.*?)(?:^\1|\Z)", re.DOTALL | re.MULTILINE | re.IGNORECASE
)  # fmt: skip
_TAG = "tag:yaml.org,2002:"
# A constructor of numbers and the like raises whatever Python does for a text that is none.
_FAULTS = (ValueError, OverflowError, LookupError, TypeError, AttributeError, RecursionError)


def settings_in(text: str) -> tuple[dict[str, Any], list[str]]:
    """What the front matter and the YAML blocks set, unchecked, and what of them cannot be understood."""
    found: dict[str, Any] = {}
    problems: list[str] = []
    parts = parts_of(text)
    if _OPENED.search(text) and not FRONT_MATTER.search(text):
        problems.append("its front matter has no closing --- and is not used")
    if sum(map(len, parts)) > LONGEST:
        return {}, [*problems, f"it has more than {LONGEST:,} characters of YAML; its settings are not used"]
    for part in parts:
        _take(part, found, problems)
    return found, problems


def parts_of(text: str) -> list[str]:
    """The YAML in it."""
    front = FRONT_MATTER.search(text)
    rest = text[front.end() :] if front else text
    return ([front[1]] if front else []) + [block[2] for block in _BLOCK.finditer(rest)]


def _take(part: str, found: dict[str, Any], problems: list[str]) -> None:
    import yaml

    try:
        node = yaml.compose(part, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, *_FAULTS) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error).partition("\n")[0]
        problems.append(f"it is not valid YAML: {safe(why, 120)}; that part is not used")
        return
    if isinstance(node, yaml.MappingNode):
        for name, value in _pairs(node, problems):
            found[name] = value
    elif node is not None:
        problems.append("it holds no names with values (`name: value`) where settings are expected")


def _pairs(mapping: Any, problems: list[str]) -> Iterator[tuple[str, Any]]:  # Any: a node, and what it says
    import yaml

    for key, node in mapping.value:
        if not isinstance(key, yaml.ScalarNode):
            problems.append("a list or a table cannot be the name of a setting; it is passed over")
            continue
        try:
            value = _value(node)
        except (yaml.YAMLError, *_FAULTS) as error:
            told = str(error) if isinstance(error, _Unfit) else "has a value that cannot be read"
            problems.append(f"{named(key.value)} {told}; it is passed over")
            continue
        if value is not None:
            yield key.value, value


def named(name: str) -> str:
    """A setting's name as it can be told; what is no name may be a sentence that somebody wants an agent to read."""
    return name if re.fullmatch(r"[A-Za-z0-9_.-]{1,40}", name) else "(something that is no name)"


class _Unfit(ValueError):
    """Says what is wrong with a value, without showing it."""


def _value(node: Any) -> Any:
    import yaml

    if isinstance(node, yaml.SequenceNode):
        if all(isinstance(each, yaml.ScalarNode) for each in node.value):
            return [each for each in map(_scalar, node.value) if each is not None]
    elif isinstance(node, yaml.ScalarNode):
        return _scalar(node)
    raise _Unfit("holds a table or a list of lists, and must be one value")


def _scalar(node: Any) -> str | bool | int | float | None:
    import yaml

    kind, made = node.tag.removeprefix(_TAG), yaml.constructor.SafeConstructor()
    if kind in ("str", "timestamp", "value", "merge"):
        return _text(node.value)
    if kind == "null":
        return None
    if kind == "bool":
        return bool(made.construct_yaml_bool(node))
    if kind == "float":
        return float(made.construct_yaml_float(node))
    if kind == "int":
        number = int(made.construct_yaml_int(node))
        return number if abs(number) < 1 << 63 else _text(node.value)
    raise _Unfit("has a value of a kind that settings do not have")


def _text(value: str) -> str:
    """No path and no store takes a NUL, or half of a surrogate pair."""
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise _Unfit("holds a character that is no text")
    return value
