"""Counting memories without reading them, 1 µs each instead of 20.

The engine counts by the keys of an index only where every value stands in the query itself; for one that is bound it
reads the records. No text of anybody's may stand in a query, so users and places are counted by numbers made of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import product

from retain.domain.memory import Kind, Scope, State
from retain.domain.recall import Filter
from retain.stores.surreal.database import Database


@lru_cache(maxsize=1024)
def number_for(key: str) -> int:
    """Another one for every user and every place: of a million, two share one with a chance of 1 in 10,000,000."""
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest()) >> 1


def is_plain(wanted: Filter) -> bool:
    """Whether a filter asks for nothing but places, states and kinds."""
    return replace(wanted, places=(), states=(), kinds=()) == Filter((), states=())


def total(db: Database, wanted: Filter) -> int:
    """How many pass a plain filter."""
    places = {place.key: place for place in wanted.places}.values()
    queries = [
        _count(place.user, state, f"{_sort(place.scope, kind)} AND counted_place = {number_for(place.key)}")
        for place, state, kind in product(places, set(wanted.states or State), set(wanted.kinds or Kind))
    ]
    return sum(_run(db, queries))


@dataclass(frozen=True, slots=True)
class Owned:
    """How much a user has, in all places."""

    active: Mapping[tuple[Scope, Kind], int]
    ended: Mapping[State, int]
    entities: int
    relations: int


def owned(db: Database, user: str) -> Owned:
    sorts = list(product(Scope, Kind))
    states: list[State] = [state for state in State if state is not State.ACTIVE]
    theirs = f"counted_user = {number_for(user)}"
    entities, relations, *counts = _run(
        db,
        [
            *(f"SELECT count() AS n FROM {table} WHERE {theirs} GROUP ALL" for table in ("entity", "relates_to")),
            *(_count(user, State.ACTIVE, _sort(scope, kind)) for scope, kind in sorts),
            *(_count(user, state) for state in states),
        ],
    )
    active = {sort: count for sort, count in zip(sorts, counts, strict=False) if count}
    ended = {state: count for state, count in zip(states, counts[len(sorts) :], strict=True) if count}
    return Owned(active, ended, entities, relations)


def _count(user: str, state: State, further: str = "") -> str:
    return (
        f"SELECT count() AS n FROM memory WITH INDEX memory_counted WHERE counted_user = {number_for(user)} "
        f"AND state = '{state.value}'{further} GROUP ALL"
    )


def _sort(scope: Scope, kind: Kind) -> str:
    return f" AND scope = '{scope.value}' AND type = '{kind.value}'"


def _run(db: Database, queries: list[str]) -> list[int]:
    return [rows[0]["n"] if rows else 0 for rows in db.run(";".join(queries))] if queries else []
