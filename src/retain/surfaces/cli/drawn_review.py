"""What was captured, as a person looks it over: one memory at a time, or a list."""

from collections import Counter
from collections.abc import Sequence, Set
from datetime import datetime

from rich.text import Text

from retain.domain.memory import Memory, MemoryId, Scope
from retain.domain.time import iso
from retain.engine.categories import category_of
from retain.surfaces.cli.draw import DIM, Drawn, age, facts, several
from retain.surfaces.cli.reviewing import HELP, Key, Step
from retain.surfaces.cli.terminal import Indented, line
from retain.surfaces.render import Body, memory_id

SHORT = 8  # characters of a session's id that tell it from the others
_DID = {Key.KEEP: "kept", Key.EDIT: "changed", Key.FORGET: "forgotten", Key.SCOPE: "moved to another scope"}


def body(found: Sequence[Memory], new: Set[MemoryId]) -> Body:
    rows = [
        {
            "memory_id": memory_id(memory.id),
            "content": memory.text,
            "type": category_of(memory),
            "scope": memory.scope.value,
            "said_at": iso(memory.event_time),
            "session_id": memory.session,
            "said_by": memory.metadata.get("said_by"),
            "found_by": memory.metadata.get("found_by"),
            "score": _number(memory, "score"),
            "threshold": _number(memory, "threshold"),
            "new": memory.id in new,
        }
        for memory in found
    ]
    return {"memories": rows, "count": len(rows), "new": sum(memory.id in new for memory in found)}


def one(memory: Memory, place: tuple[int, int], now: datetime) -> Drawn:
    yield ""
    about = f" · {category_of(memory)} · {memory.scope.value} · {memory_id(memory.id)}"
    yield line((f"{place[0]} of {place[1]}", "bold"), (about, DIM))
    yield Indented(memory.text, 2)
    yield from facts(
        {"said": f"{age(memory.event_time, now)}{_speaker(memory)}", "session": memory.session, "score": _score(memory)}
    )


def keys(memory: Memory | None) -> Drawn:
    if memory is None:
        yield line(("That was all. u undoes the last step, any other key ends.", DIM))
        return
    scope = "only this project" if memory.scope is Scope.USER else "every project"
    yield line((f"k keep · e edit · f forget · s {scope} · u undo · q quit · ? help", DIM))


def help_() -> Drawn:
    for key, meaning in HELP.items():
        yield Indented(meaning, 6, lead=Text(f"  {key.value}", "cyan"))


def said(text: str) -> Drawn:
    if text:
        yield line(("→ ", "green"), text)


def ended(steps: Sequence[Step], left: int) -> Drawn:
    counted = Counter(_DID[step.key] for step in steps)
    told = ", ".join(f"{count} {what}" for what, count in counted.items())
    rest = f"{several(left, 'memories')} left for the next review" if left else ""
    yield line("; ".join(part for part in (told, rest) if part) or "nothing was reviewed")


def listed(found: Sequence[Memory], now: datetime) -> Drawn:
    for memory in found:
        session = f" · session {memory.session[:SHORT]}" if memory.session else ""
        score = f" · score {_score(memory)}" if _score(memory) else ""
        about = f" · {category_of(memory)} · {memory.scope.value} · {age(memory.event_time, now)}{session}{score}"
        yield line((memory_id(memory.id), "bold"), (about, DIM))
        yield Indented(memory.text, 4)


def nothing(reviewed: int) -> Drawn:
    if reviewed:
        yield line(f"Nothing new to review; {several(reviewed, 'memories')} reviewed before (--all lists them).")
    else:
        yield line("Nothing has been captured here yet.")


def _speaker(memory: Memory) -> str:
    who = memory.metadata.get("said_by")
    return f", by the {who}" if who in ("user", "assistant") else ", in a tool's output" if who == "tool" else ""


def _score(memory: Memory) -> str:
    score, threshold = _number(memory, "score"), _number(memory, "threshold")
    if score is None:
        return ""
    return f"{score:.2f}" if threshold is None else f"{score:.2f} (kept from {threshold:.2f})"


def _number(memory: Memory, name: str) -> float | None:
    value = memory.metadata.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
