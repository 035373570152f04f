"""How hooks and their worker fare: what a person should know of it, each fault with the way to put it right."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Literal

from retain import pauses
from retain.hook_log import CAPTURE, DROPPED, WORKER, Entry, entries
from retain.run_files import is_held, names_in, read_object, worker_lock

SLOW_MS = 200.0
LONG_WAIT = timedelta(hours=1)
LONG_WORK = timedelta(minutes=16)  # a worker ends itself after 15
A_DAY = timedelta(days=1)
MOST_FAULTS = 5
_REINSTALL = "run `retain setup` again; if that does not help, pip install --force-reinstall retain-mcp"
_UNDECIDED = "`retain trust`"
# By a word in what the log says, the first that fits.
_REMEDIES = (
    ("No space left", "free some space on that disk"),
    ("Read-only", "make the folder writable, or set RETAIN_HOME to one that is"),
    ("PermissionError", "make the folder writable, or set RETAIN_HOME to one that is"),
    ("ImportError", _REINSTALL),
    ("ModuleNotFoundError", _REINSTALL),
    (_UNDECIDED, "run `retain trust` in that project; nothing is lost until then"),
    ("not done in time", "the disk or the store was busy then; if it happens often, close windows that index or wait"),
    (
        "StoreBusy",
        "what waits is captured when that process has ended; or set deployment_mode to local-server and have "
        "`retain db serve` running",
    ),
    ("LinkLost", "see `store` in this report; what waits is captured when the database answers"),
    ("ConfigError", "put that setting right; what waits is captured then"),
    ("MissingExtra", "install what it names; what waits is captured then"),
    ("DatabaseError", "see `store` in this report; retain doctor --repair puts a damaged store right"),
    ("OperationalError", "see `store` in this report; `database is locked` passes by itself"),
    ("schema", "run `retain status` once: it brings the store up to date; if it is newer, update this Retain"),
    ("was not changed", "put that right in the file; the next conversation that ends renews the summary"),
    ("no event", "run `retain setup` again: it registers the events that there are"),
    ("setting", "`retain config` shows what is in force and what is wrong"),
    ("input", "nothing, if you ran the hook by hand; else report it with the version of your client"),
)
_OTHERWISE = "please report it with the last lines of logs/hooks.log; they hold nothing of what was said"

_BEHIND = (WORKER, CAPTURE, DROPPED)  # nobody waits for them

State = Literal["ok", "warn"]


@dataclass(frozen=True, slots=True)
class Remark:
    """`repair` says what to do unless the state is ok. Nothing here is a fault of the memory itself: hooks fail quietly
    and the session goes on."""

    state: State
    note: str
    repair: str = ""


def look(home: Path, now: datetime) -> list[Remark]:
    log = entries(home)
    recent = [entry for entry in log if now - entry.at < A_DAY]
    told = [*_runs(log, now), *_paused(home, now), *_failures(recent, now), *_slow(recent)]
    return [*told, *_spool(home, now), *_worker(home, now)]


def _runs(log: Sequence[Entry], now: datetime) -> Iterator[Remark]:
    last = {entry.event: entry.at for entry in log if entry.event not in _BEHIND}
    if not last:
        yield Remark("ok", "none has run yet; `retain setup` registers them")
        return
    newest_first = sorted(last.items(), key=lambda one: one[1], reverse=True)
    yield Remark("ok", "last runs: " + ", ".join(f"{event} {_ago(now - at)}" for event, at in newest_first))
    captured = [entry for entry in log if entry.event == CAPTURE and not entry.error]
    if captured:
        newest, recent = captured[-1], [entry for entry in captured if now - entry.at < A_DAY]
        stored = sum(count for entry in recent if isinstance(count := entry.facts.get("stored"), int))
        when = _ago(now - newest.at)
        yield Remark("ok", f"last capture {when}; in a day {len(recent)}, with {stored} memories stored")


def _paused(home: Path, now: datetime) -> Iterator[Remark]:
    try:
        lasting = [pause for pause in pauses.pauses(str(home)) if pause.lasts]
    except pauses.Unreadable as error:
        yield Remark("warn", str(error), "delete that file; then nothing is paused, and earlier pauses are not known")
        return
    for pause in lasting:
        option = " --all" if pause.project == pauses.EVERYWHERE else ""
        since = _ago(now - datetime.fromtimestamp(pause.since, UTC))
        note = f"capture is paused for {pause.path}, since {since}; what is said is not captured"
        yield Remark("warn", note, f"`retain resume{option}` captures again")


def _failures(recent: Sequence[Entry], now: datetime) -> Iterator[Remark]:
    failed = [entry for entry in recent if entry.error]
    last = {(entry.event, entry.error): entry.at for entry in failed}
    counted = Counter((entry.event, entry.error or "") for entry in failed)
    for (event, error), times in counted.most_common(MOST_FAULTS):
        when = f"last {_ago(now - last[event, error])}"
        came = "found settings undecided" if _UNDECIDED in error else "failed"
        yield Remark("warn", f"{event or 'a hook'} {came} {_times(times)} in a day, {when}: {error}", _remedy(error))
    if len(counted) > MOST_FAULTS:
        yield Remark("warn", f"{len(counted) - MOST_FAULTS} further kinds of failure", "see logs/hooks.log")


def _slow(recent: Sequence[Entry]) -> Iterator[Remark]:
    for event in sorted({entry.event for entry in recent if entry.event not in _BEHIND}):
        taken = [entry.ms for entry in recent if entry.event == event and entry.ms is not None]
        if taken and median(taken) > SLOW_MS:
            yield Remark(
                "warn",
                f"{event} takes {median(taken):.0f} ms as a rule, of {len(taken)} runs in a day",
                "a slow disk or a very large store may be why; `retain status` tells its size",
            )


def _spool(home: Path, now: datetime) -> Iterator[Remark]:
    waiting, failed = names_in(str(home / "spool")), names_in(str(home / "spool" / "failed"))
    if waiting:
        age = now - _written(waiting[0], now)
        stuck = age > LONG_WAIT and not is_held(str(home))
        several = f"{len(waiting)} conversations wait to be captured, the oldest"
        note = f"{several if len(waiting) > 1 else '1 conversation waits to be captured,'} for {_long(age)}"
        repair = (
            "the next session takes them up; its failures are named above, and those of a paused project wait for it"
        )
        yield Remark("warn" if stuck else "ok", note, repair)
    if failed:
        why = read_object(str(home / "spool" / "failed" / failed[-1])).get("why") or "see logs/hooks.log"
        several = "conversation" if len(failed) == 1 else "conversations"
        note = f"{len(failed)} {several} could not be captured; the last time because: {why}"
        yield Remark("warn", note, "once the cause is gone: retain doctor --repair tries them again")


def _worker(home: Path, now: datetime) -> Iterator[Remark]:
    if not is_held(str(home)):
        return
    held = read_object(worker_lock(str(home)).path)
    at = held.get("at")
    age = now - datetime.fromtimestamp(at, UTC) if isinstance(at, int | float) else timedelta()
    state: State = "warn" if age > LONG_WORK else "ok"
    yield Remark(state, f"the worker (process {held.get('pid')}) is at work for {_long(age)}", "end that process")


def _written(name: str, now: datetime) -> datetime:
    """When an item was put into the spool: its name begins with it, in microseconds."""
    moment = name.partition("-")[0]
    return datetime.fromtimestamp(int(moment) / 1e6, UTC) if moment.isdecimal() and len(moment) == 16 else now


def _remedy(error: str) -> str:
    return next((remedy for word, remedy in _REMEDIES if word in error), _OTHERWISE)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _ago(age: timedelta) -> str:
    return f"{_long(age)} ago"


def _long(age: timedelta) -> str:
    seconds = max(0, int(age.total_seconds()))
    for size, unit in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"


def try_again(home: Path) -> int:
    """Puts what could not be captured back into the spool; says how many."""
    folder = home / "spool" / "failed"
    names = names_in(str(folder))
    for name in names:
        os.replace(folder / name, home / "spool" / name)
    return len(names)
