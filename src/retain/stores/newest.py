"""The newest of what passes a filter, found in the order of an index."""

from dataclasses import replace
from itertools import product

from retain.domain.memory import State
from retain.domain.recall import Filter

# SQLite joins at most 500 queries into one.
MOST = 400


def portions(wanted: Filter) -> list[Filter]:
    """What has an index in the order of time: a place and a state of it. A session has few memories, and needs none."""
    places = {place.key: place for place in wanted.places}.values()
    states = set(wanted.states or State)
    if places and (wanted.session or len(places) * len(states) > MOST):
        return [wanted]
    return [replace(wanted, places=(place,), states=(state,)) for place, state in product(places, states)]
