"""`retain session`: work that is tracked by hand, from its title to its outcome."""

from collections.abc import Sequence

import click

from retain.app import Retain
from retain.domain.session import Caller
from retain.domain.work import LOGGED, EntryType, Work, WorkState
from retain.errors import NotFound, Refused, shorten
from retain.surfaces import bank_reports as reports
from retain.surfaces.cli import drawn_bank as draw
from retain.surfaces.cli import exits, options, spoken
from retain.surfaces.cli.options import Call, common

MOST_LISTED = 100
MOST_NAMED = 5  # sessions that an error lists

_tags = click.option("--tag", "tags", multiple=True, help="A label; may be given several times.")
_within = click.option("--in", "within", metavar="SESSION", help="Its id; by default the active session here.")


@click.group(invoke_without_command=True)
@click.pass_context
def session(context: click.Context) -> None:
    """Track a piece of work: start a session, log what happens, end it with an outcome; alone, show it.

    Everything logged is remembered, so that later sessions find it. Without --in, commands mean the active session
    of the project here.
    """
    if context.invoked_subcommand is None:
        context.invoke(show)


@session.command()
@click.argument("title", nargs=-1, required=True)
@click.option("--description", metavar="TEXT", help="What is to be done.")
@_tags
@common
def start(call: Call, title: Sequence[str], description: str | None, tags: Sequence[str]) -> None:
    """Start a session in the project here. One that is still active is aborted."""
    with spoken.memory(call) as app:
        spoken.project_here(app)
        done, now = app.engine.tracking.start(" ".join(title), description, tuple(tags), app.caller()), app.now()
    call.terminal.tell(reports.started(done), draw.started(done, now))


@session.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--type", "entry", type=click.Choice([each.value for each in LOGGED]), default="info", show_default=True)
@_tags
@_within
@common
def log(call: Call, text: Sequence[str], entry: str, tags: Sequence[str], within: str | None) -> None:
    """Add TEXT to the log of the active session, as a memory of it."""
    with spoken.memory(call) as app:
        caller = app.caller()
        meant = within or _active(app, caller).id
        done = app.engine.tracking.log(meant, EntryType(entry), " ".join(text), tuple(tags), caller)
    call.terminal.tell(reports.logged(done), draw.logged(done))


@session.command("done")
@click.argument("outcome", nargs=-1, required=True)
@click.option("--summary", metavar="TEXT", help="How it went, at more length.")
@_within
@common
def done_(call: Call, outcome: Sequence[str], summary: str | None, within: str | None) -> None:
    """Complete the active session with its OUTCOME."""
    with spoken.memory(call) as app:
        caller = app.caller()
        meant = within or _active(app, caller).id
        done = app.engine.tracking.complete(meant, " ".join(outcome), summary, caller)
    call.terminal.tell(reports.completed(done), draw.completed(done))


@session.command()
@common
def abort(call: Call) -> int | None:
    """End the active session without an outcome; its log stays."""
    with spoken.memory(call) as app:
        where = spoken.project_here(app)
        ended = app.engine.tracking.abort(app.caller())
    call.terminal.tell(reports.aborted(ended), draw.aborted(ended, where.slug))
    return None if ended else exits.NOTHING


@session.command("list")
@click.option("--status", type=click.Choice([state.value for state in WorkState]), help="Only these.")
@click.option("--all-projects", is_flag=True, help="Not only those of the project here.")
@options.limit(MOST_LISTED, 20)
@options.offset
@common
def list_(call: Call, status: str | None, all_projects: bool, limit: int, offset: int) -> int | None:
    """List sessions, newest first."""
    with spoken.memory(call) as app:
        caller, now = app.caller(), app.now()
        where = None if all_projects else spoken.project_here(app).id
        state = WorkState(status) if status else None
        found, total = app.engine.tracking.sessions(where, state, limit, offset, caller)
        names = _project_names(app, found, caller) if all_projects else {}
    listing = draw.Listing(total, offset, now, state, names)
    call.terminal.tell(reports.sessions(found, total), draw.sessions(found, listing))
    return None if found else exits.NOTHING


@session.command()
@click.argument("session", required=False)
@common
def show(call: Call, session: str | None = None) -> None:
    """Show a SESSION with its log; by default the active one here, else the newest."""
    with spoken.memory(call) as app:
        caller, now = app.caller(), app.now()
        told = app.engine.tracking.get(session or _newest(app, caller).id, caller)
        names = _project_names(app, [told.work], caller)
    call.terminal.tell(reports.session(told), draw.told(told, names[told.work.project], now))


def _active(app: Retain, caller: Caller) -> Work:
    """The session that a command without --in means. Every command is a process of its own, and started none."""
    where = spoken.project_here(app)
    found, total = app.engine.tracking.sessions(where.id, WorkState.ACTIVE, MOST_NAMED, 0, caller)
    if not found:
        raise Refused(f"no session is active in {where.slug}; `retain session start TITLE` begins one")
    if total > 1:
        them = ", ".join(f"{work.id} ({shorten(work.title)})" for work in found)
        raise Refused(f"{total} sessions are active in {where.slug}; name one of them with --in: {them}")
    return found[0]


def _newest(app: Retain, caller: Caller) -> Work:
    where = spoken.project_here(app)
    for state in (WorkState.ACTIVE, None):
        found, _ = app.engine.tracking.sessions(where.id, state, 1, 0, caller)
        if found:
            return found[0]
    raise NotFound(f"no session was started in {where.slug} yet; `retain session start TITLE` begins one")


def _project_names(app: Retain, works: Sequence[Work], caller: Caller) -> dict[str, str]:
    """What the projects of these sessions are called."""
    ids = {work.project for work in works}
    profiles = {id: app.engine.parts.store.profile(id, caller.user) for id in ids}
    return {id: profile.name if profile else id for id, profile in profiles.items()}
