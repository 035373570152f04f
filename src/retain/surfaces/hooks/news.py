"""The line that a person sees when a session begins: what was captured since they were last told."""

import time

from retain import reviewed
from retain.domain.handing import safe
from retain.domain.places import seen_from
from retain.surfaces.hooks import log, reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from retain.surfaces.hooks.call import Call

MOST_CHARACTERS = 120  # one line of a terminal
LONGEST = 40  # characters of one text
MOST_TEXTS = 8  # more never fit
BETWEEN, MORE, HOW = " · ", " · …", " · retain review"


def line(call: "Call") -> str:
    """Empty when nothing new was captured; told once, so it is noted before it is said."""
    import sqlite3

    try:
        new = _new(call)
        ids = sorted((id for found in new.values() for id in found), reverse=True)
        if not ids or call.store is None:
            return ""
        known = reading.texts(call.store, ids[:MOST_TEXTS], call.user)
        for place, found in new.items():
            reviewed.tell(call.home, place, found[0])
    except (OSError, reading.CannotRead, sqlite3.Error, UnicodeDecodeError) as error:
        log.note(call.home, call.event, error)
        return ""
    return worded([known[id][0] for id in ids[:MOST_TEXTS] if id in known], len(ids))


def worded(texts: "Sequence[str]", count: int) -> str:
    """As many of the texts as fit, the newest first, each as text that can be nothing else."""
    head, shown = f"Remembered {count}: ", ""
    room = MOST_CHARACTERS - len(head) - len(HOW)
    for place, text in enumerate(texts, start=1):
        longer = f"{shown}{BETWEEN if shown else ''}{safe(text, LONGEST)}"
        if len(longer) + (len(MORE) if place < count else 0) > room:
            return f"{head}{shown}{MORE}{HOW}"
        shown = longer
    return f"{head}{shown}{MORE if len(texts) < count else ''}{HOW}"


def _new(call: "Call") -> "dict[str, list[str]]":
    """Ids by place, newest first: the user's and the project's."""
    db = reading.opened_for(call)
    if db is None:
        return {}
    now, places = time.time(), seen_from(call.user, call.project_id, None)
    new = {place: reading.captured(db, place, reviewed.told(call.home, place), now) for place in places}
    return {place: ids for place, ids in new.items() if ids}
