"""Contradictions as lines that a person reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.text import Text

from retain.domain.changes import ContradictionState
from retain.domain.memory import Memory
from retain.engine.trust.disputes import Dispute, Resolved
from retain.surfaces.cli.draw import DIM, Drawn, age, several
from retain.surfaces.cli.terminal import Indented, line

MOST_CHARS = 400  # of either side in a list
BESIDE = 11  # columns of what stands before a side
STYLES = {
    ContradictionState.OPEN: "yellow",
    ContradictionState.REOPENED: "yellow",
    ContradictionState.RESOLVED: "green",
    ContradictionState.CONTEXT_DEPENDENT: "green",
}
NONE = {None: "No contradiction is open here.", "all": "Nothing that is remembered here contradicts itself."}
FINDERS = {"rule": "rule", "judge": "the judge", "llm": "the language model"}
STATES = {state: state.value.replace("_", " ") for state in ContradictionState}


@dataclass(frozen=True, slots=True)
class Listing:
    """Of which list a page is."""

    total: int
    offset: int
    now: datetime
    state: str | None = None


def disputes(found: Sequence[Dispute], listing: Listing) -> Drawn:
    if not listing.total:
        yield Text(NONE.get(listing.state, f"No contradiction here is {listing.state}."))
    for place, each in enumerate(found):
        if place:
            yield ""
        yield from _drawn(each, listing.now, MOST_CHARS)
    yield from _rest(len(found), listing.total, listing.offset)
    if any(each.contradiction.is_open for each in found):
        yield ""
        yield _what_next("ID")


def dispute(one: Dispute, now: datetime) -> Drawn:
    yield from _drawn(one, now, None)
    if one.contradiction.is_open:
        yield _what_next(one.contradiction.id)
    else:
        does = "opens it again" if one.is_outdated else "takes the decision back"
        yield line((f"`retain contradictions {one.contradiction.id} --reopen` {does}.", DIM))


def resolved(done: Resolved, now: datetime) -> Drawn:
    found = done.dispute.contradiction
    yield line(("decided ", "green"), _outcome(done.dispute), (f"  {found.id}", DIM))
    yield from _sides(done.dispute, now, MOST_CHARS)
    yield from _facts({"when": found.conditions, "because": found.explanation, "also": _also(done.followed)})
    yield line((f"`retain contradictions {found.id} --reopen` takes it back.", DIM))


def _also(followed: Sequence[str]) -> str | None:
    return f"{', '.join(followed)}: the same in other words" if followed else None


def reopened(one: Dispute, now: datetime) -> Drawn:
    yield line(("open again ", "yellow"), one.contradiction.id)
    yield from _sides(one, now, MOST_CHARS)
    yield _what_next(one.contradiction.id)


def _drawn(one: Dispute, now: datetime, most: int | None) -> Drawn:
    found = one.contradiction
    told = f" · found {_since(found.found, now)} by {FINDERS[found.found_by]}"
    yield line((found.id, "bold"), (f"  {STATES[found.state]}", STYLES[found.state]), (told, DIM))
    yield Indented(found.detail)
    yield from _sides(one, now, most)
    yield from _facts(_decision(one, now))


def _sides(one: Dispute, now: datetime, most: int | None) -> Drawn:
    for name, memory in (("older", one.older), ("newer", one.newer)):
        yield Indented(_short(memory.text, most), BESIDE, lead=line((f"  {name}", "bold")))
        yield Indented(line((f"memory:{memory.id} · {_since(memory.event_time, now)}{_state(memory)}", DIM)), BESIDE)


def _decision(one: Dispute, now: datetime) -> dict[str, str | None]:
    """What was decided; of one that was reopened, what had been said for it."""
    found = one.contradiction
    if found.resolved is None:
        return {}
    decided = f"{_since(found.resolved, now)} {one.decided_by}"
    if found.is_open:
        return {"before": f"decided {decided}", "because": found.explanation}
    if one.is_outdated:
        return {"ended": decided, "because": found.explanation}
    return {"decided": f"{_outcome(one)} · {decided}", "when": found.conditions, "because": found.explanation}


def _outcome(one: Dispute) -> str:
    return "both hold" if one.resolution == "context_dependent" else f"the {one.resolution} one holds"


def _since(moment: datetime, now: datetime) -> str:
    when = age(moment, now)
    return "just now" if when == "now" else when


def _state(memory: Memory) -> str:
    if memory.is_active:
        return ""
    successor = f" by memory:{memory.status.successor}" if memory.status.successor else ""
    return f" · {memory.status.state.value}{successor}"


def _facts(them: Mapping[str, str | None]) -> Drawn:
    for name, value in them.items():
        if value:
            yield Indented(value, BESIDE, lead=line((f"  {name}", DIM)))


def _what_next(id: str) -> Indented:
    note = f"`retain contradictions {id}` decides with --keep older, --keep newer or --keep both --when TEXT"
    return Indented(line((f"{note}; --ask lets the language model decide.", DIM)), 0)


def _rest(shown: int, total: int, offset: int) -> Drawn:
    """What a page leaves out after it; or that it begins after the end."""
    after = total - offset - shown
    if total and not shown:
        yield line(f"{several(total, 'contradictions')} in all; --offset {offset} is past the last.")
    elif after > 0:
        yield line((f"{several(after, 'contradictions')} more; --offset {offset + shown} goes on.", DIM))


def _short(text: str, most: int | None) -> str:
    flat = " ".join(text.split())
    return flat if most is None or len(flat) <= most else flat[:most].rsplit(" ", 1)[0] + " …"
