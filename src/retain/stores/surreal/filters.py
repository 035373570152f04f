"""A filter as SurrealQL, so that it holds inside every lane."""

import re
from collections.abc import Iterator
from typing import Any

from retain.domain.category import kinds_standing_for
from retain.domain.graph import fold
from retain.domain.recall import Filter
from retain.stores.moments import micros

Condition = tuple[str, dict[str, Any]]


def where(wanted: Filter, of: str = "", named: str = "f") -> Condition:
    """Conditions on `memory`, and the values to bind; `of` leads to the memory from another record, as `in.` does.

    Filters that stand in one query are `named` differently.
    """
    parts = [*_places(wanted), *_sorts(wanted), *_times(wanted)]
    bound = {name.replace("f", named, 1): value for _, values in parts for name, value in values.items()}
    return " AND ".join(condition.replace("@", of).replace("$f_", f"${named}_") for condition, _ in parts), bound


def where_text(wanted: Filter) -> Condition:
    """The same on a `text`, which has the place and the state of its memory."""
    condition, bound = where(wanted, "memory.")
    return re.sub(r"\bmemory\.(place|state)\b", r"\1", condition), bound


def _places(wanted: Filter) -> Iterator[Condition]:
    # One value as an equality: only then does an index in the order of time serve.
    yield _among("place", wanted.place_keys)
    if wanted.states:
        yield _among("state", [state.value for state in wanted.states])
    if wanted.session:
        yield "@session_id = $f_session", {"f_session": wanted.session}


def _sorts(wanted: Filter) -> Iterator[Condition]:
    if wanted.kinds:
        yield _among("type", [kind.value for kind in wanted.kinds])
    if wanted.categories:
        yield _among("category", wanted.categories)
    if wanted.types:
        yield (
            "(@category IN $f_types OR (@category = NULL AND @type IN $f_bare))",
            {"f_types": list(wanted.types), "f_bare": list(kinds_standing_for(wanted.types))},
        )
    if wanted.tags:
        yield "@tag_keys ANYINSIDE $f_tags", {"f_tags": [fold(tag) for tag in wanted.tags]}
    if wanted.min_importance > 0:
        yield "@importance >= $f_importance", {"f_importance": wanted.min_importance}
    if wanted.min_length > 0:
        yield "string::len(@content) >= $f_length", {"f_length": wanted.min_length}


def _times(wanted: Filter) -> Iterator[Condition]:
    if wanted.after:
        yield "@age < $f_after", {"f_after": 1 - micros(wanted.after)}
    if wanted.before:
        yield "@age >= $f_before", {"f_before": -micros(wanted.before)}
    if wanted.valid_at:
        valid = "@valid_from <= $f_valid AND (@valid_until = NULL OR @valid_until > $f_valid)"
        yield valid, {"f_valid": wanted.valid_at}
    if wanted.stored_by:
        yield "@created_at <= $f_stored", {"f_stored": wanted.stored_by}


def _among(field: str, values: Any) -> Condition:
    some = list(values)
    if len(some) == 1:
        return f"@{field} = $f_{field}", {f"f_{field}": some[0]}
    return f"@{field} IN $f_{field}", {f"f_{field}": some}
