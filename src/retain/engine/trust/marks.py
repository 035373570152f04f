"""Marks: what stands behind a line about a memory that contradicts an earlier one, or that holds only in some cases."""

from retain.domain.earlier import Earlier
from retain.domain.handing import safe
from retain.domain.standing import Standing

SAID = 120  # characters of conditions


def mark(earlier: Earlier | None, standing: Standing | None) -> str:
    """When it holds, and what was said before; empty where there is nothing to say. Always in one line."""
    when = f" (when: {safe(standing.when, SAID)})" if standing and standing.when else ""
    return when + (earlier.told() if earlier else "")


def short_mark(earlier: Earlier | None, standing: Standing | None) -> str:
    """The least that must be said where there is no room for more."""
    if earlier:
        return " (disputed)"
    return " (in some cases)" if standing and standing.when else ""
