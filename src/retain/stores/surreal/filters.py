"""A filter as SurrealQL, so that it holds inside every lane."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from retain.domain.category import kinds_standing_for
from retain.domain.graph import fold
from retain.domain.recall import Filter
from retain.stores.moments import micros

Condition = tuple[str, dict[str, Any]]
_WORD = re.compile(r"([@$])(\w+)")


def where(wanted: Filter, named: str = "f") -> Condition:
    """Conditions on `memory`, and the values to bind. Filters that stand in one query are `named` differently."""
    return _spelled(wanted, named, lambda field: field)


def where_text(wanted: Filter) -> Condition:
    """The same on a `text`, which has the place and the state of its memory."""
    return _spelled(wanted, "f", lambda field: field if field in ("place", "state") else f"memory.{field}")


def _spelled(wanted: Filter, named: str, field: Callable[[str], str]) -> Condition:
    """Below, `@` stands before the fields of a memory, and `$` before the values."""

    def spelled(word: re.Match[str]) -> str:
        return field(word[2]) if word[1] == "@" else f"${named}_{word[2]}"

    parts = [*_places(wanted), *_sorts(wanted), *_times(wanted)]
    conditions = " AND ".join(_WORD.sub(spelled, condition) for condition, _ in parts)
    return conditions, {f"{named}_{name}": value for _, values in parts for name, value in values.items()}


def _places(wanted: Filter) -> Iterator[Condition]:
    # One value as an equality: only then does an index in the order of time serve.
    yield _among("place", wanted.place_keys)
    if wanted.states:
        yield _among("state", [state.value for state in wanted.states])
    if wanted.session:
        yield "@session_id = $session", {"session": wanted.session}


def _sorts(wanted: Filter) -> Iterator[Condition]:
    if wanted.kinds:
        yield _among("type", [kind.value for kind in wanted.kinds])
    if wanted.categories:
        yield _among("category", wanted.categories)
    if wanted.types:
        yield (
            "(@category IN $types OR (@category = NULL AND @type IN $bare))",
            {"types": list(wanted.types), "bare": list(kinds_standing_for(wanted.types))},
        )
    if wanted.tags:
        yield "@tag_keys ANYINSIDE $tags", {"tags": [fold(tag) for tag in wanted.tags]}
    if wanted.min_importance > 0:
        yield "@importance >= $importance", {"importance": wanted.min_importance}
    if wanted.min_length > 0:
        yield "string::len(@content) >= $length", {"length": wanted.min_length}


def _times(wanted: Filter) -> Iterator[Condition]:
    if wanted.after:
        yield "@age < $after", {"after": 1 - micros(wanted.after)}
    if wanted.before:
        yield "@age >= $before", {"before": -micros(wanted.before)}
    if wanted.valid_at:
        valid = "@valid_from <= $valid AND (@valid_until = NULL OR @valid_until > $valid)"
        yield valid, {"valid": wanted.valid_at}
    if wanted.stored_by:
        yield "@created_at <= $stored", {"stored": wanted.stored_by}


def _among(field: str, values: Any) -> Condition:
    some = list(values)
    if len(some) == 1:
        return f"@{field} = ${field}", {field: some[0]}
    return f"@{field} IN ${field}", {field: some}
