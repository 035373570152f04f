"""A filter as SQL, so that it holds inside every lane."""

from collections.abc import Iterator
from typing import Any

from retain.domain.category import kinds_standing_for
from retain.domain.graph import fold
from retain.domain.recall import Filter
from retain.stores.moments import micros
from retain.stores.sqlite.rows import marks


def where(wanted: Filter, *, everything: bool = False) -> tuple[str, list[Any]]:
    """Conditions on `memory m` and the values to bind; said otherwise for a query that looks at all that passes."""
    conditions: list[str] = []
    values: list[Any] = []

    def add(condition: str, *bound: Any) -> None:
        conditions.append(condition)
        values.extend(bound)

    # The plus keeps these from being the way to find them: a session has few memories, its place all of a project's.
    asked = "+" if wanted.session else ""
    places = wanted.place_keys
    add(f"{asked}m.place in ({marks(places)})", *places)
    if wanted.states:
        add(f"{asked}m.state in ({marks(wanted.states)})", *(state.value for state in wanted.states))
    for condition, *bound in _sorts(wanted):
        add(condition, *bound)
    if wanted.min_length > 0:
        add("length(m.text) >= ?", wanted.min_length)
    if wanted.tags:
        # Asked of each candidate, not a way to find them: a common tag has half of a store. Where all are looked at,
        # to put those that carry it into a table first takes half to a third of the time.
        carrying = f"from tag where tag in ({marks(wanted.tags)})"
        each = f"exists (select 1 {carrying} and memory = m.num)"
        add(f"+m.num in (select memory {carrying})" if everything else each, *tag_keys(wanted))
    if wanted.min_importance > 0:
        add("m.importance >= ?", wanted.min_importance)
    if wanted.session:
        add("m.session = ?", wanted.session)
    for condition, *bound in _times(wanted):
        add(condition, *bound)
    return " and ".join(conditions), values


def tag_keys(wanted: Filter) -> list[str]:
    return [fold(tag) for tag in wanted.tags]


def _sorts(wanted: Filter) -> Iterator[tuple[Any, ...]]:
    if wanted.kinds:
        yield f"m.kind in ({marks(wanted.kinds)})", *(kind.value for kind in wanted.kinds)
    if wanted.categories:
        yield f"m.category in ({marks(wanted.categories)})", *wanted.categories
    if wanted.types:
        kinds = kinds_standing_for(wanted.types)
        bare = f"m.category is null and m.kind in ({marks(kinds)})"
        yield f"(m.category in ({marks(wanted.types)}) or ({bare}))", *wanted.types, *kinds


def _times(wanted: Filter) -> Iterator[tuple[Any, ...]]:
    if wanted.after:
        yield "m.event_time >= ?", micros(wanted.after)
    if wanted.before:
        yield "m.event_time <= ?", micros(wanted.before)
    if wanted.valid_at:
        at = micros(wanted.valid_at)
        yield "m.valid_from <= ? and (m.valid_until is null or m.valid_until > ?)", at, at
    if wanted.stored_by:
        yield "m.created <= ?", micros(wanted.stored_by)
