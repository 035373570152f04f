"""The worker: takes conversations from the spool, reads what is new in them, and remembers what is worth it.

It is one detached process at a time, at low priority, with a deadline of its own. What it cannot do now because the
store is away or the disk is full stays in the spool; what it cannot do at all is set aside, and stops nothing else.
"""

import errno
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from retain import pauses
from retain.app import Retain
from retain.config import Loaded, load, with_settings_of
from retain.domain.conversation import Cursor
from retain.domain.ids import id_of
from retain.domain.recall import Warning
from retain.domain.session import Caller
from retain.engine.capture.capture import Captured, Portion
from retain.engine.capture.checking import UNCHECKED
from retain.engine.lifecycle.merging import IN_HOOKS, Merged, Occasion, is_due
from retain.engine.trust import sleeping
from retain.engine.trust.sleeping import Slept
from retain.errors import ConfigError, JudgeAway, StoreBusy, Unavailable
from retain.folders import root_of
from retain.hook_log import DROPPED, JUDGED
from retain.run_files import Lock
from retain.surfaces.hooks import log, snapshot, spool, transcript
from retain.surfaces.hooks.transcript import Mark, Reading, Silence

SECONDS = 300.0
WAITING_DAYS = 30  # for which a conversation waits for a judge
# For vectors that were not ready when their memories were stored.
_SETTLE_SECONDS = 30.0
# A client's server ends a moment after its session, and until then a folder of SurrealDB is open there.
BUSY_SECONDS = 10.0
_LOOK_SECONDS = 1.0
_MOST_TOLD = 20  # statements of one conversation that the log shows
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


@dataclass(frozen=True, slots=True)
class Item:
    """A conversation that a hook handed over."""

    event: str
    session: str
    transcript: Path
    project_dir: Path
    message: str
    at: datetime
    store: str | None = None
    """The file that its session reads, absolute: the worker works in another folder."""
    environment: dict[str, str] | None = None
    """What the environment of its session says about the settings."""
    is_held: bool = False
    """Nobody had decided yet which store it is."""

    @property
    def project(self) -> str | None:
        root = root_of(str(self.project_dir), str(Path.home()))
        return id_of(root) if root else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an item; not `finished` when there was more than time."""

    captured: Captured = field(default_factory=Captured)
    merged: Merged | None = None
    slept: Slept | None = None
    lines: int = 0
    broken: int = 0
    finished: bool = True
    note: str = ""

    def __add__(self, other: "Outcome") -> "Outcome":
        return Outcome(
            self.captured + other.captured,
            self.merged or other.merged,
            self.slept or other.slept,
            self.lines + other.lines,
            self.broken + other.broken,
            self.finished and other.finished,
            self.note or other.note,
        )


def main(home: str, lock: Lock | None = None, seconds: float = SECONDS) -> None:
    """Works until nothing waits or the time is over."""
    until = time.monotonic() + seconds

    def left() -> float:
        return until - time.monotonic()

    for path in spool.working(home, lock, seconds):
        _deal_with(home, path, left)


def _deal_with(home: str, path: str, left: Callable[[], float]) -> None:
    began = time.monotonic()
    try:
        given = spool.read(path)
        if given is None:
            return
        outcome = work_on(home, _item(given), left)
    except (Unavailable, ConfigError) as error:
        # A password may be set where another session runs, a setting may be mended, and a judge come back.
        is_over = isinstance(error, JudgeAway) and spool.is_older_than(path, WAITING_DAYS)
        log.note(home, "capture", error, kept=f"no longer, after {WAITING_DAYS} days" if is_over else "in the spool")
        if is_over:
            spool.done(path)
        return
    except Exception as error:  # noqa: BLE001 - one conversation must not stop the others; the log tells
        if isinstance(error, OSError) and error.errno in _FULL:
            log.note(home, "capture", error, kept="in the spool")
            return
        given_up = spool.failed(path, log.told(error))
        log.note(home, "capture", error, kept="in spool/failed" if given_up else "in the spool")
        return
    for each in outcome.captured.judged[:_MOST_TOLD]:
        about = {"score": each.score, "threshold": each.threshold, "kept": each.kept}
        log.note(home, JUDGED, None, text=each.text[: log.LONGEST], category=each.category, **about)
    for one in outcome.captured.dropped[:_MOST_TOLD]:
        log.note(home, DROPPED, None, why=one.why[: log.LONGEST], text=one.text[: log.LONGEST])
    log.note(
        home, "capture", None, ms=round(1000 * (time.monotonic() - began)), **_facts(str(given.get("event")), outcome)
    )
    if outcome.finished:
        spool.done(path)


def work_on(home: str, item: Item, left: Callable[[], float]) -> Outcome:
    """Captures one conversation with its subagents', consolidates when that is due, and renews the summary."""
    if not item.transcript.is_file():
        return Outcome(note="the transcript is gone")
    if pauses.paused_since(home, item.project) is not None:
        return Outcome(finished=False, note="capture is paused")
    loaded = _settings(home, item)
    settings = loaded.settings
    if not settings.capture or settings.deployment_mode == "embedded-memory":
        return Outcome(note="capture is off")
    with Retain(loaded, own_session=False) as app:
        _open(app, min(left(), BUSY_SECONDS if item.event == "SessionEnd" else 0.0))
        caller = app.caller(item.session)
        before = app.engine.parts.store.extractions(_project(caller), caller.user)
        outcome = _all_read(app, item, partial(_silence, home, item), left)
        if not app.loaded.is_held and is_due(app.engine.parts.store, caller, item.event, before):
            outcome = _consolidated(app, caller, outcome, left)
        _conclude(app, item, caller, outcome, left)
    return outcome


def _open(app: Retain, patience: float) -> None:
    """StoreBusy when another process has had the store to itself for all that time."""
    until = time.monotonic() + patience
    while True:
        try:
            _ = app.engine
            return
        except StoreBusy:
            if time.monotonic() + _LOOK_SECONDS > until:
                raise
        time.sleep(_LOOK_SECONDS)


def _consolidated(app: Retain, caller: Caller, outcome: Outcome, left: Callable[[], float]) -> Outcome:
    """Once a day all of what sleeping is, else only what overlaps is merged."""
    if sleeping.is_due(app.engine.parts.store, caller, app.now()):
        slept = sleeping.sleep(app.engine.parts, caller, left=left, by_hand=False)
        return replace(outcome, merged=slept.merged, slept=slept)
    merged = app.engine.merge_categories(caller, IN_HOOKS, Occasion(left=left, even_unchanged=False))
    return replace(outcome, merged=merged)


def _settings(home: str, item: Item) -> Loaded:
    """Those of the item's session: whichever session started this worker may have another store, user or model."""
    if item.is_held:
        return load({}, with_settings_of(item.environment or {}), item.project_dir)
    given = {"home": home, "project_dir": item.project_dir, "db_path": item.store}
    if item.environment is None or item.environment == snapshot.variables():
        return load(given, folder=item.project_dir)
    # Without the keys of this environment too: they are for another's endpoints.
    return load(given, with_settings_of(item.environment), item.project_dir)


def _silence(home: str, item: Item) -> Silence:
    """Tells what was said while capture was paused. A line that does not say when it was written may be from then."""
    try:
        found = [pause for pause in pauses.pauses(home) if pause.is_for(item.project)]
    except pauses.Unreadable:
        return lambda _: True
    return lambda at: any(at is None or pause.covers(at.timestamp()) for pause in found)


def _all_read(app: Retain, item: Item, silence: Callable[[], Silence], left: Callable[[], float]) -> Outcome:
    """The conversation, then what its subagents did: beside it, and on nobody's word."""
    outcome = Outcome()
    for path, aside in [(item.transcript, False), *((path, True) for path in transcript.asides(item.transcript))]:
        outcome += _read(app, item, path.absolute(), aside=aside, silence=silence, left=left)
    return outcome


def _read(
    app: Retain,
    item: Item,
    path: Path,
    *,
    aside: bool,
    silence: Callable[[], Silence],
    left: Callable[[], float],
) -> Outcome:
    """Portion by portion, each with its cursor; too few new lines are left for the next time."""
    caller = app.caller(item.session)
    start, extractions = _beginning(app, path, item, caller)
    before, outcome = transcript.earlier(path, start, aside=aside, unheard=silence()), Outcome()
    while True:
        reading = _portion(path, start, item, aside=aside, unheard=silence())  # a pause may have begun just now
        before += reading.known
        cursor = Cursor(
            *(str(path), item.session, reading.offset, app.now(), reading.last),
            *(_project(caller), caller.user, extractions + 1),
        )
        if outcome.lines == 0 and not reading.more and reading.lines < transcript.lines_needed(item.event):
            # From now on the last line has an id, by which a fork is known; and nobody comes back to a pause.
            if (reading.known or reading.unheard) and not reading.lines:
                app.engine.move_cursor(replace(cursor, extractions=extractions))
            return outcome
        marks = tuple((mark.offset, mark.last) for mark in reading.marks)
        captured = app.engine.capture(Portion(reading.conversation, cursor, marks, before), caller, left)
        outcome += Outcome(captured, lines=reading.lines, broken=reading.broken)
        if not reading.more or left() <= 0 or not captured.finished:
            return replace(outcome, finished=not reading.more and captured.finished)
        start, before = Mark(reading.offset, reading.last), reading.conversation.turns


def _beginning(app: Retain, path: Path, item: Item, caller: Caller) -> tuple[Mark, int]:
    """Where to begin, and how often something was extracted from there before."""
    store = app.engine.parts.store
    cursor = store.cursor(str(path))
    start = transcript.begin(path, cursor, store.cursors_at)
    if cursor is not None and start.offset < cursor.offset:
        app.engine.move_cursor(Cursor(str(path), item.session, 0, app.now(), None, _project(caller), caller.user))
    return start, cursor.extractions if cursor else 0


def _portion(path: Path, start: Mark, item: Item, *, aside: bool, unheard: Silence) -> Reading:
    has_ended = item.event == "SessionEnd"
    reading = transcript.read(path, start, item.session, aside=aside, final=has_ended, unheard=unheard)
    reading = transcript.without_what_was_read_ahead(reading, start)
    if aside or has_ended or not item.message or unheard(item.at):
        return reading
    return transcript.with_last_message(reading, item.message, item.at)


def _conclude(app: Retain, item: Item, caller: Caller, outcome: Outcome, left: Callable[[], float]) -> None:
    captured = outcome.captured
    if item.event == "SessionEnd" and (captured.stored or captured.reinforced):
        app.engine.end_session(caller)  # what was stored has opened it again
    if app.settings.claude_md or app.settings.agents_md:
        from retain.surfaces.claude_md import Refused, sync_project

        for done in sync_project(app):
            if isinstance(done, Refused):
                log.note(str(app.settings.home.expanduser()), "summary", str(done))
    app.untyped.serve(app.engine)
    app.engine.compare()  # what hooks, queues and processes that were killed have left
    app.engine.later(app.back_up)  # where no server runs, nobody else does
    app.engine.settle(max(0.0, min(_SETTLE_SECONDS, left())))


def _item(given: dict[str, object]) -> Item:
    def text(name: str) -> str:
        value = given.get(name)
        return value if isinstance(value, str) else ""

    at, folder = given.get("at"), text("project_dir") or text("cwd")
    told = given.get("environment")
    if not text("transcript"):
        raise ValueError("the item names no transcript")
    return Item(
        text("event"),
        text("session") or Path(text("transcript")).stem,
        Path(text("transcript")),
        # The worker's own folder is nobody's project; at home there is none.
        Path(folder) if folder else Path.home(),
        text("last_assistant_message"),
        datetime.fromtimestamp(float(at), UTC) if isinstance(at, int | float) else datetime.now(UTC),
        text("store") or None,
        {str(name): str(value) for name, value in told.items()} if isinstance(told, dict) else None,
        given.get("is_held") is True,
    )


def _facts(event: str, outcome: Outcome) -> dict[str, str | float]:
    """Numbers and names for the log; what a model made up has lines of its own."""
    captured, merged = outcome.captured, outcome.merged
    facts: dict[str, str | float] = {
        "on": event,
        "lines": outcome.lines,
        "stored": len(captured.stored),
        "reinforced": len(captured.reinforced),
        "superseded": len(captured.superseded),
        "skipped": captured.skipped,
        "dropped": len(captured.dropped),
        "by": ", ".join(captured.by) or "nobody",
    }
    if any(warning.code == UNCHECKED for warning in captured.warnings):
        facts["checked"] = False
    if outcome.broken:
        facts["broken"] = outcome.broken
    if merged and (merged.run or merged.pruned):
        facts |= {"merged": len(merged.merged), "put_aside": len(merged.dropped), "pruned": merged.pruned.hidden}
        facts |= {"destroyed": merged.pruned.destroyed, "brought_back": merged.pruned.brought_back}
    if slept := outcome.slept:
        principles = len(slept.principles.made) + len(slept.principles.extended)
        facts |= {"principles": principles, "dormant": len(slept.dormant)}
    warnings = (*captured.warnings, *(slept.warnings if slept else merged.warnings if merged else ()))
    if note := "; ".join(dict.fromkeys(map(_told, warnings))) or outcome.note:
        facts["note"] = note[: log.LONGEST]
    return facts if outcome.finished else facts | {"unfinished": "the rest follows"}


def _told(warning: Warning) -> str:
    """A warning without what it may quote: a model's answer repeats what was said."""
    return warning.message.partition(", and answered")[0] if warning.code.startswith("llm") else warning.code


def _project(caller: Caller) -> str | None:
    return caller.project.id if caller.project else None
