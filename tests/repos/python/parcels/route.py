"""Routes between depots."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

MAX_STOPS = 12


class NoRoute(LookupError):
    """Two depots that nothing connects."""


@dataclass(frozen=True)
class Route:
    """The stops of a parcel, the first and the last included."""

    stops: tuple[str, ...]
    minutes: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def is_direct(self) -> bool:
        return len(self.stops) == 2

    def extended(
        self,
        stop: str,
        minutes: int,
    ) -> Route:
        """The same route with one more stop."""
        # A route keeps its notes to itself.
        return Route((*self.stops, stop), self.minutes + minutes)


# Depots are few, so a heap of whole routes is small enough.
def shortest(roads: dict[str, dict[str, int]], start: str, goal: str) -> Route:
    """The quickest route; NoRoute when there is none."""

    def cost(route: Route) -> int:
        return route.minutes

    waiting = [(0, Route((start,)))]
    while waiting:
        _, route = heapq.heappop(waiting)
        if route.stops[-1] == goal:
            return route
        for stop, minutes in roads.get(route.stops[-1], {}).items():
            longer = route.extended(stop, minutes)
            if len(longer.stops) <= MAX_STOPS:
                heapq.heappush(waiting, (cost(longer), longer))
    raise NoRoute(f"{start} to {goal}")


DEFAULT_ROADS = {"harbour": {"mill": 20}, "mill": {"station": 15}}
