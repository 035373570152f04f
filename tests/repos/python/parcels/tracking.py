import json
from enum import Enum
from pathlib import Path

from parcels.route import Route


class State(Enum):
    WAITING = "waiting"
    MOVING = "moving"
    DELIVERED = "delivered"


class Parcel:
    def __init__(self, label: str, route: Route) -> None:
        self.label = label
        self.route = route
        self.state = State.WAITING

    class Scan:
        """One reading of the label."""

        place: str

        def at(self, place: str) -> bool:
            return self.place == place

    async def deliver(self) -> None:
        self.state = State.DELIVERED


def track(path: Path) -> list[Parcel]:
    return [Parcel(each["label"], Route(tuple(each["stops"]))) for each in json.loads(path.read_text())]


if __name__ == "__main__":
    raise SystemExit(len(track(Path("parcels.json"))))
