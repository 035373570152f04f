"""Commands that write: remember, consolidate, undo."""

import sys
from collections.abc import Sequence
from typing import get_args

import click

from retain import maintenance
from retain.app import Retain
from retain.domain.memory import Kind, Scope, Source
from retain.engine.drafts import Draft
from retain.engine.lifecycle.consolidation import Strategy
from retain.engine.lifecycle.merging import BY_HAND, Occasion
from retain.engine.remember import Remembered
from retain.errors import invalid
from retain.surfaces import capture_reports, reports
from retain.surfaces.cli import bodies, draw, drawn_capture, exits, options
from retain.surfaces.cli.options import Call, common
from retain.surfaces.render import Body


@click.command()
@click.argument("text", nargs=-1)
@click.option("--type", "kind", type=click.Choice([k.value for k in Kind]), show_default="semantic")
@click.option("--scope", type=click.Choice([s.value for s in Scope]), default="project", show_default=True)
@click.option("--importance", type=click.FloatRange(0, 1), default=0.5, show_default=True)
@click.option("--tag", "tags", multiple=True, help="A label; may be given several times.")
@click.option("--file", help="The file it is about.")
@click.option("--lines", is_flag=True, help="Each line of standard input is a memory of its own.")
@options.session
@common
def remember(
    call: Call,
    text: Sequence[str],
    kind: str | None,
    scope: str,
    importance: float,
    tags: Sequence[str],
    file: str | None,
    lines: bool,
    session: str | None,
) -> None:
    """Store a memory, or reinforce the one that says the same.

    TEXT is read from standard input when it is - or left out.
    """
    given = _text(text)
    texts = [line for line in given.splitlines() if line.strip()] if lines else [given]
    given_by = {"said_by": "user"}  # whoever types it here
    type_ = Kind(kind or "semantic")
    drafts = [
        Draft(each, type_, Scope(scope), importance, tuple(tags), Source(file=file), metadata=given_by)
        for each in texts
    ]
    with call.memory() as app:
        done = [_remember(app, draft, session, is_typed=kind is not None) for draft in drafts]
    if lines:
        body: Body = {"memories": [reports.remembered(one, None) for one in done]}
        call.terminal.tell(body, (line for one in done for line in draw.remembered(one)))
    else:
        call.terminal.tell(reports.remembered(done[0], None), draw.remembered(done[0]))


@click.command()
@click.option("--strategy", type=click.Choice(get_args(Strategy)), default="full", show_default=True)
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@options.session
@common
def consolidate(call: Call, strategy: Strategy, dry_run: bool, session: str | None) -> int | None:
    """Merge what overlaps, type by type, and turn events into lasting facts and patterns; undo takes a run back.

    With a session only its events are looked at; without one, all that is seen from here.
    """
    with call.memory() as app:
        caller = app.caller(session)
        merged = None if session else app.engine.merge_categories(caller, BY_HAND, Occasion(dry_run=dry_run))
        done = app.engine.consolidate(caller, session, strategy, dry_run=dry_run)
    by_type = {"by_type": capture_reports.merged(merged)} if merged else {}
    drawn = [*(drawn_capture.merged(merged) if merged else ()), *draw.consolidated(done, dry_run=dry_run)]
    call.terminal.tell(reports.consolidated(done, dry_run=dry_run) | by_type, drawn)
    return exits.REFUSED if done.lost_to else None


@click.command()
@click.argument("run")
@common
def undo(call: Call, run: str) -> None:
    """Take a consolidation back; `retain history --runs` lists them."""
    with call.memory() as app:
        done = app.engine.undo(run, app.caller())
        copies = (copy for id in done.destroyed for copy in maintenance.backups_holding(app.settings, id))
        holding = list(dict.fromkeys(copies))
    call.terminal.tell(bodies.undone(done, holding), draw.undone(done, holding))


def _text(words: Sequence[str]) -> str:
    if words and list(words) != ["-"]:
        return " ".join(words)
    if not words and sys.stdin.isatty():
        raise click.UsageError("nothing to remember was given; say it, or pipe it in: echo … | retain remember")
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise invalid("text", "", f"standard input is not UTF-8 text ({error.reason} at byte {error.start})") from None


def _remember(app: Retain, draft: Draft, session: str | None, *, is_typed: bool) -> Remembered:
    caller = app.caller(session)
    if draft.scope is Scope.SESSION and caller.session is None:
        raise invalid("scope", "session", "a memory of a session needs one; name it with --session")
    return app.keep(draft, caller, is_typed=is_typed)
