"""Marks: what stands behind a line about a memory that is disputed, or that holds only in some cases."""

from retain.domain.handing import safe
from retain.domain.standing import Rival, Standing

SAID = 120  # characters of what a rival says, or of conditions


def mark(standing: Standing | None) -> str:
    """Who says what else, or when it holds; empty where there is nothing to say. Always in one line."""
    if standing is None:
        return ""
    when = f" (when: {safe(standing.when, SAID)})" if standing.when else ""
    return when + _disputed(standing.rivals)


def short_mark(standing: Standing | None) -> str:
    """The least that must be said where there is no room for more."""
    if standing is None:
        return ""
    return " (disputed)" if standing.rivals else " (in some cases)"


def _disputed(rivals: tuple[Rival, ...]) -> str:
    if not rivals:
        return ""
    rival = max(rivals, key=lambda each: (each.is_newer, each.contradiction.found))
    age = "newer" if rival.is_newer else "older"
    others = f", and {len(rivals) - 1} more" if len(rivals) > 1 else ""
    return f' (disputed: the {age} memory:{rival.memory} says "{safe(rival.text, SAID)}"{others})'
