"""Domain values as JSON text and back, exactly: a plan can wait in a file, and two records can be compared."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

from retain.domain.changes import Changes

T = TypeVar("T")
# Any, throughout: values of every class go in and JSON of every shape comes out.
Reading = Callable[[Any], Any]

_CLASS = "is"  # says which class of a union an object is
_PLAIN: Mapping[Any, Reading] = {datetime: datetime.fromisoformat, bytes: b64decode}


def text_of(value: object) -> str:
    """The value as JSON; mappings keep their order."""
    # ASCII, because a text may hold half of a surrogate pair, which no file can.
    return json.dumps(_plain(value), separators=(",", ":"))


def value_of(kind: type[T], text: str) -> T:
    """What `text_of` made a text of."""
    hint: Any = kind
    value: T = _reading(hint)(json.loads(text))
    return value


def plan_of(text: str) -> Changes:
    return value_of(Changes, text)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        parts = [(field, getattr(value, field.name)) for field in fields(value)]
        told = {field.name: _plain(part) for field, part in parts if _is_told(field, part)}
        return {_CLASS: type(value).__name__, **told}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, frozenset | set):
        return sorted(map(_plain, value))
    if isinstance(value, tuple | list):
        return list(map(_plain, value))
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return value


def _is_told(field: Field[Any], value: Any) -> bool:
    """What is empty, and would be without being told, is left out: most of a plan is."""
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return bool(value) or default is MISSING or value != default


@cache
def _reading(hint: Any) -> Reading:
    """How a value of this type is read from JSON."""
    origin, inner = get_origin(hint), get_args(hint)
    if isinstance(hint, NewType):
        return _reading(hint.__supertype__)
    if origin in (Union, UnionType):
        return _reading_one_of(inner)
    if origin is tuple:
        return _reading_tuple(inner)
    if origin is frozenset:
        each = _reading(inner[0])
        return lambda listed: frozenset(map(each, listed))
    if _is_class(hint):
        return _reading_class(hint)
    is_enum = isinstance(hint, type) and issubclass(hint, Enum)
    return _PLAIN.get(hint, hint if is_enum else _as_it_is)


def _reading_one_of(kinds: Iterable[Any]) -> Reading:
    """Of a union: nothing, one of some classes by its name, or the only other type that there is."""
    others = [kind for kind in kinds if kind is not type(None)]
    classes = {kind.__name__: _reading(kind) for kind in others if _is_class(kind)}
    if len(classes) > 1:
        return lambda told: None if told is None else classes[told[_CLASS]](told)
    only = _reading(others[0]) if len(others) == 1 else _as_it_is
    return lambda told: None if told is None else only(told)


def _reading_tuple(kinds: tuple[Any, ...]) -> Reading:
    if kinds[-1] is ...:
        each = _reading(kinds[0])
        return lambda listed: tuple(map(each, listed))
    parts = [_reading(kind) for kind in kinds]
    return lambda listed: tuple(part(told) for part, told in zip(parts, listed, strict=True))


def _reading_class(kind: Any) -> Reading:
    """Fields that this version does not know are passed over: a newer one may have written them."""
    parts = {name: _reading(hint) for name, hint in get_type_hints(kind).items()}
    return lambda told: kind(**{name: parts[name](each) for name, each in told.items() if name in parts})


def _is_class(hint: Any) -> bool:
    return is_dataclass(hint)


def _as_it_is(told: Any) -> Any:
    return told
