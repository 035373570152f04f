"""Comparing at once what a test writes, where nobody does it in the background."""

from dataclasses import replace
from typing import Any

from fakes import EagerJudge
from retain.engine.comparer import Patience
from retain.engine.comparing import Found, compare_missing
from retain.engine.parts import Parts

# Replies wait until their memory is compared, so that they do not depend on the load of the machine.
PATIENT = Patience(reply=20, encode=20, most=100)


def compare(parts: Parts, judge: Any = None) -> dict[str, Found]:
    """Compares all that waits; what came of it, by memory."""
    found: dict[str, Found] = {}
    judged = replace(parts, judge=judge or parts.judge or EagerJudge())
    compare_missing(judged, done=lambda memory, one: found.update({memory.id: one}))
    return found


def told(parts: Parts, done: Any, judge: Any = None) -> Any:
    """A reply with what comparing its memory has come to."""
    found = compare(parts, judge).get(done.memory.id)
    return replace(done, contradicts=found.contradictions) if found else done
