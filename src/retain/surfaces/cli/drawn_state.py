"""The state of a memory as lines: status, settings, the doctor's checks."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path

from rich.text import Text

from retain.checks import Check
from retain.config import Loaded, Settings
from retain.doctor import is_sound
from retain.domain.connection import Connection
from retain.domain.session import Caller
from retain.engine.status import Report
from retain.surfaces.cli import bodies
from retain.surfaces.cli.draw import DIM, Drawn, facts, several
from retain.surfaces.cli.terminal import Indented, line
from retain.whereabouts import shown

STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}


def status(report: Report, caller: Caller, settings: Settings, paused: datetime | None = None) -> Drawn:
    counts = report.counts
    rest = f", {several(counts.entities, 'entities')}, {several(counts.relations, 'relations')}"
    yield line((several(counts.total, "memories"), "bold"), rest)
    yield from facts(
        {
            "scopes": _counted(counts.by_scope),
            "types": _counted(counts.by_kind),
            "forgotten": counts.by_state.get("forgotten"),
            "keyword only": f"{counts.unembedded} (`retain reembed` makes their vectors)"
            if counts.unembedded
            else None,
            "not compared": f"{counts.uncompared} with what is near them" if counts.uncompared else None,
            "model": report.model + (f" ({report.model_state.why})" if report.model_state.why else ""),
            "store": None if report.connection.is_undecided else f"{shown(settings)}, {report.size / 1e6:.1f} MB",
            "database": _connection(report.connection),
            "code": f"{counts.code_chunks:,} chunks (`retain projects` lists them)" if counts.code_chunks else None,
            "project": caller.project.path if caller.project else "none (home or root)",
            "session": caller.session,
            "capture": f"paused since {paused:%Y-%m-%d %H:%M} UTC (`retain resume`)" if paused else None,
        }
    )
    for notice in report.notices:
        yield line(("note: ", "yellow"), notice)


def settings(loaded: Loaded, files: Sequence[Path]) -> Drawn:
    names = [field.name for field in fields(loaded.settings)]
    width = max(map(len, names)) + 2
    for name in names:
        value, origin = bodies.shown(loaded, name), loaded.origins.get(name)
        text = line("-" if value in (None, "") else str(value), (f"  from {origin}" if origin else "", DIM))
        yield Indented(text, width, lead=Text(name, "bold" if origin else ""))
    yield ""
    for file in files:
        yield line((f"{file}{'' if file.exists() else ' (not there)'}", DIM))
    decided = loaded.project_file
    if decided and decided.asks and decided.verdict:
        yield line((f"{decided.verdict}: ", "bold"), f"{', '.join(decided.asks)} in {decided.path} (`retain trust`)")
    for problem in loaded.remarks:
        yield line(("problem: ", "red"), problem)


def checks(them: Sequence[Check], done: Sequence[str]) -> Drawn:
    for act in done:
        yield line(("repaired  ", "green"), act)
    area = ""
    for check in them:
        if check.area != area:
            area = check.area
            yield Text(area, "bold")
        yield Indented(check.note, 8, lead=Text(f"  {check.state}", STYLES[check.state]))
        if check.state != "ok" and check.repair:
            yield Indented(f"→ {check.repair}", 8)
    yield Text(_verdict(them))


def _verdict(them: Sequence[Check]) -> str:
    if not is_sound(them):
        return "There are faults; see what to do above."
    warned = [check.area for check in them if check.state == "warn"]
    return f"No faults; but see {', '.join(dict.fromkeys(warned))} above." if warned else "Everything is in order."


def _connection(connection: Connection) -> str | None:
    """Nothing where the database is in this process."""
    if connection.since is None:
        return None
    queued = connection.queued
    waiting = f", {several(queued.waiting, 'writes')} waiting" if queued.waiting else ""
    refused = f", {several(queued.refused, 'writes')} refused (`retain db queue`)" if queued.refused else ""
    if connection.is_undecided:
        return f"undecided since {connection.since:%Y-%m-%d %H:%M} UTC (`retain trust`){waiting}"
    why = f" ({connection.why})" if connection.why else ""
    return f"{connection.reach} since {connection.since:%Y-%m-%d %H:%M} UTC{why}{waiting}{refused}"


def _counted(them: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(them.items()) if count)
