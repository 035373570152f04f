"""A filter as SQL, so that it holds inside every lane."""

from collections.abc import Iterator
from typing import Any

from retain.domain.graph import fold
from retain.domain.recall import Filter
from retain.stores.sqlite.rows import marks, micros


def where(wanted: Filter) -> tuple[str, list[Any]]:
    """Conditions on `memory m` and the values to bind."""
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
    if wanted.kinds:
        add(f"m.kind in ({marks(wanted.kinds)})", *(kind.value for kind in wanted.kinds))
    if wanted.categories:
        add(f"m.category in ({marks(wanted.categories)})", *wanted.categories)
    if wanted.tags:
        folded = tuple(fold(tag) for tag in wanted.tags)
        # The plus: asked of each candidate, not a way to find them.
        add(f"+m.num in (select memory from tag where tag in ({marks(folded)}))", *folded)
    if wanted.min_importance > 0:
        add("m.importance >= ?", wanted.min_importance)
    if wanted.session:
        add("m.session = ?", wanted.session)
    for condition, *bound in _times(wanted):
        add(condition, *bound)
    return " and ".join(conditions), values


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
