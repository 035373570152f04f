"""`retain contradictions`: what is remembered that cannot both be true, and deciding what holds."""

from datetime import datetime

import click

from retain.app import Retain
from retain.domain.changes import ContradictionState
from retain.engine.trust import disputes
from retain.engine.trust.disputes import Resolution, Verdict
from retain.surfaces import claude_md, trust_reports
from retain.surfaces.cli import drawn_disputes as draw
from retain.surfaces.cli import exits, options
from retain.surfaces.cli.options import Call, common

MOST_LISTED = 100
OPEN = (ContradictionState.OPEN, ContradictionState.REOPENED)
KEEP: dict[str, Resolution] = {"older": "older", "newer": "newer", "both": "context_dependent"}


@click.command()
@click.argument("id", required=False)
@click.option("--state", type=click.Choice([*(state.value for state in ContradictionState), "all"]), help="Only these.")
@click.option("--keep", type=click.Choice(list(KEEP)), help="Decide: which of the two holds.")
@click.option("--when", metavar="TEXT", help="With --keep both: when the one holds and when the other.")
@click.option("--because", metavar="TEXT", help="Why, for the record.")
@click.option("--ask", is_flag=True, help="Let the language model decide.")
@click.option("--reopen", is_flag=True, help="Take a decision back; with --keep or --ask, decide anew.")
@options.limit(MOST_LISTED, 20)
@options.offset
@common
def contradictions(
    call: Call,
    id: str | None,
    state: str | None,
    keep: str | None,
    when: str | None,
    because: str | None,
    ask: bool,
    reopen: bool,
    limit: int,
    offset: int,
) -> int | None:
    """List what cannot both be true, those first that nobody decided; with ID show one, or decide it.

    By default those are listed that are open, or open again since new evidence came. The memory that loses is
    superseded, never deleted.
    """
    decides = bool(keep or ask)
    if id is None:
        if decides or reopen or when or because:
            raise click.UsageError("name the contradiction that is meant; `retain contradictions` lists their ids")
        return _list(call, state, limit, offset)
    if state:
        raise click.UsageError("--state is for the list; with an ID the one contradiction is shown")
    _refuse_unfit(keep, when, because, ask=ask)
    if decides:
        _resolve(call, id, Verdict(KEEP[keep], when, because) if keep else None, again=reopen)
    elif reopen:
        _reopen(call, id)
    else:
        _show(call, id)
    return None


def _show(call: Call, id: str) -> None:
    with call.memory() as app:
        found, now = disputes.dispute(app.engine.parts.store, id, app.caller()), app.now()
    call.terminal.tell(trust_reports.dispute(found), draw.dispute(found, now))


def _list(call: Call, state: str | None, limit: int, offset: int) -> int | None:
    states = tuple(ContradictionState) if state == "all" else (ContradictionState(state),) if state else OPEN
    with call.memory() as app:
        found, total = disputes.listed(app.engine.parts, app.caller(), states, limit, offset)
        now = app.now()
    body = {"contradictions": [trust_reports.dispute(each) for each in found], "total": total}
    call.terminal.tell(body, draw.disputes(found, draw.Listing(total, offset, now, state)))
    return None if found else exits.NOTHING


def _resolve(call: Call, id: str, verdict: Verdict | None, *, again: bool) -> None:
    with call.memory() as app:
        done = disputes.resolve(app.engine.parts, id, verdict, app.caller(), again=again)
        now = _synced(app)
    call.terminal.tell(trust_reports.resolved(done), draw.resolved(done, now))


def _reopen(call: Call, id: str) -> None:
    with call.memory() as app:
        found = disputes.reopen(app.engine.parts, id, app.caller())
        now = _synced(app)
    call.terminal.tell(trust_reports.dispute(found), draw.reopened(found, now))


def _synced(app: Retain) -> datetime:
    """The time, once what CLAUDE.md shows is what holds now."""
    claude_md.sync_project(app)
    return app.now()


def _refuse_unfit(keep: str | None, when: str | None, because: str | None, *, ask: bool) -> None:
    if keep and ask:
        raise click.UsageError("--keep and --ask exclude each other")
    if (when or because) and not keep:
        raise click.UsageError("--when and --because go with --keep")
    if keep == "both" and not when:
        raise click.UsageError("--keep both needs --when TEXT: when the one holds and when the other")
    if when and keep != "both":
        raise click.UsageError("--when goes with --keep both: one that holds alone holds always")
