"""How far a person has looked over what was captured, and what they were told of it. Only ids are kept.

review/<place>.json   what was reviewed: every id up to `floor`, and those in `seen`
review/<place>.told   the newest id that the line at the start of a session spoke of

A place is the user's or that of one of their projects (`domain/places.py`), so what was reviewed of the user's in one
project is not new in another. Hooks import this, so it imports next to nothing.
"""

import os

from retain.domain.ids import first_id, id_of
from retain.quick_json import written
from retain.run_files import Lock, read_object, read_text, write_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# A server may hand over what another machine captured days ago. So ids are named one by one for that long.
DAYS = 30.0
_ATTEMPTS = 50


class Reviewed:
    """What was reviewed of one place."""

    __slots__ = ("floor", "seen")

    def __init__(self, floor: str = "", seen: "Iterable[str]" = ()) -> None:
        self.floor = floor
        self.seen = set(seen)

    def has(self, id: str) -> bool:
        return id <= self.floor or id in self.seen


def reviewed(home: str, place: str) -> Reviewed:
    found = read_object(_file(home, place))
    floor, seen = found.get("floor"), found.get("seen")
    named = [id for id in seen if isinstance(id, str)] if isinstance(seen, list) else []
    return Reviewed(floor if isinstance(floor, str) else "", named)


def mark(home: str, place: str, id: str, *, is_reviewed: bool = True) -> None:
    """Counts a memory as reviewed, or as new again. Raises OSError where nothing can be written."""
    lock = _locked(home, place)
    try:
        known = reviewed(home, place)
        if is_reviewed:
            known.seen.add(id)
        else:
            known.seen.discard(id)
        _keep(home, place, known)
    finally:
        lock.release()


def compact(home: str, place: str, new: "Iterable[str]", now: float) -> None:
    """Raises the floor over what was reviewed long ago, below the first id that is still new."""
    lock = _locked(home, place)
    try:
        known = reviewed(home, place)
        below = min([first_id(now - DAYS * 86_400), *new])
        known.floor = max([known.floor, *(id for id in known.seen if id < below)])
        known.seen = {id for id in known.seen if id > known.floor}
        _keep(home, place, known)
    finally:
        lock.release()


def told(home: str, place: str) -> str:
    """The newest id that the person was told of; empty for none."""
    try:
        return read_text(_file(home, place, "told")).strip()
    except OSError:
        return ""


def tell(home: str, place: str, id: str) -> None:
    write_private(_file(home, place, "told"), id)


def _keep(home: str, place: str, known: Reviewed) -> None:
    write_private(_file(home, place), written({"floor": known.floor, "seen": sorted(known.seen)}))


def _locked(home: str, place: str) -> Lock:
    """In vain only while another process hangs, and then this one goes on without."""
    lock = Lock(_file(home, place, "lock"))
    lock.take(_ATTEMPTS)
    return lock


def _file(home: str, place: str, ending: str = "json") -> str:
    return os.path.join(home, "review", f"{id_of(place)}.{ending}")
