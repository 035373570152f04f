"""`retain forget`: one memory, or what was captured in a session."""

from collections.abc import Sequence

import click

from retain import maintenance
from retain.app import Retain
from retain.domain.memory import Memory, State
from retain.errors import NotFound, Refused
from retain.surfaces import claude_md, reports
from retain.surfaces.cli import bodies, draw, options
from retain.surfaces.cli.draw import Drawn, several
from retain.surfaces.cli.options import Call, common
from retain.surfaces.cli.terminal import line
from retain.surfaces.render import Body

# By this what went with a session is told from what was forgotten alone, which stays so.
WITH_SESSION = "forgotten with its session"


@click.command()
@click.argument("id", required=False)
@click.option("--session", metavar="ID|last", help="What was captured in this session; `last` is the newest one here.")
@click.option("--reason", help="Why, for the history.")
@click.option("--restore", is_flag=True, help="Bring back what was forgotten.")
@click.option("--purge", is_flag=True, help="Destroy it, with its history; this cannot be undone.")
@options.yes
@common
def forget(
    call: Call, id: str | None, session: str | None, reason: str | None, restore: bool, purge: bool, yes: bool
) -> None:
    """Hide a memory from recall; it can be brought back unless it was purged."""
    if restore and purge:
        raise click.UsageError("--restore and --purge exclude each other")
    if (id is None) == (session is None):
        raise click.UsageError("name one memory by its ID, or a session with --session")
    if session is not None and purge:
        raise click.UsageError("--purge takes the ID of one memory, not a session")
    with call.memory() as app:
        if id is None:
            _forget_session(call, app, str(session), reason, restore=restore, yes=yes)
        elif purge:
            _purge(call, app, id, yes=yes)
        else:
            memory = app.bring_back(id) if restore else app.forget(id, reason)
            drawn = draw.moved("brought back" if restore else "forgotten", memory)
            call.terminal.tell(reports.moved(memory), drawn)
        claude_md.sync_project(app)


def _forget_session(call: Call, app: Retain, named: str, reason: str | None, *, restore: bool, yes: bool) -> None:
    caller, state = app.caller(), State.FORGOTTEN if restore else State.ACTIVE
    lookup = app.engine.lookup
    session = lookup.captured_session(named, caller, state)
    found = [one for one in lookup.captured(caller, session, state) if not restore or _went_with_session(one)]
    if not found:
        raise NotFound(f"nothing of session {session} was forgotten with it", session_id=session)
    if not restore:
        _ask(call, found, session, yes=yes)
    why = f"{WITH_SESSION}: {reason}" if reason else WITH_SESSION
    done = [app.bring_back(one.id) if restore else app.forget(one.id, why) for one in found]
    call.terminal.tell(_body(done, session), _drawn(done, session, restore=restore, asked=not (restore or yes)))


def _ask(call: Call, found: Sequence[Memory], session: str, *, yes: bool) -> None:
    if yes:
        return
    count = several(len(found), "memories")
    if call.terminal.can_ask:
        call.terminal.draw(draw.memories(found))
    if not call.terminal.asked(f"Forget {count} captured in session {session}?"):
        raise Refused(f"nothing was forgotten: {count} of session {session} would be; --yes does it without asking")


def _went_with_session(memory: Memory) -> bool:
    return (memory.status.reason or "").startswith(WITH_SESSION)


def _body(done: Sequence[Memory], session: str) -> Body:
    return {"session_id": session, "count": len(done), "memories": [reports.moved(memory) for memory in done]}


def _drawn(done: Sequence[Memory], session: str, *, restore: bool, asked: bool) -> Drawn:
    verb = "brought back" if restore else "forgotten"
    yield line((verb, "green"), f" {several(len(done), 'memories')} of session {session}")
    if not asked:
        yield from draw.memories(done)
    if not restore:
        yield line((f"Bring them back with: retain forget --restore --session {session}", draw.DIM))


def _purge(call: Call, app: Retain, id: str, *, yes: bool) -> None:
    memory = app.get(id).memory
    if not yes and not call.terminal.asked(f"Destroy memory:{memory.id} and its history for good?"):
        raise Refused(f"memory:{memory.id} was not purged: that cannot be undone, so it takes --yes")
    app.engine.destroy(id, app.caller())
    holding = maintenance.backups_holding(app.settings, memory.id)
    call.terminal.tell(bodies.destroyed(memory, holding), draw.destroyed(memory, holding))
