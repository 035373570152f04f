"""How replies say that they come from less than the whole: in one place, for every tool and every command."""

from collections.abc import Mapping, Sequence

from retain.domain.connection import Connection, Met, Queued, Reach
from retain.domain.recall import Warning
from retain.domain.time import iso
from retain.standing import Notice
from retain.surfaces import render
from retain.surfaces.render import Body


def marked(body: Mapping[str, object] | str, met: Met, standing: Sequence[Notice] = ()) -> Mapping[str, object] | str:
    """A reply with what its reader should know: that a write waits, that a local copy was read, and what stands."""
    if not met.is_away:
        return noted(body, standing)
    told = Notice("degraded", remark(met))
    if isinstance(body, str):
        return noted(body, (told, *standing))
    state = {"degraded": True, **({"queued": True} if met.queued else {})}
    return noted({**body, **state}, (told, *standing))


def noted(body: Mapping[str, object] | str, standing: Sequence[Notice]) -> Mapping[str, object] | str:
    """A reply with these notices among its warnings, as far as they are not there; a text says them at its end."""
    if not standing:
        return body
    if isinstance(body, str):
        return "\n\n".join([body, *(f"({notice.message})" for notice in standing)])
    given = body.get("warnings", ())
    before = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    said = {each.get("message") if isinstance(each, Mapping) else each for each in before}
    new = [Warning(notice.code, notice.message) for notice in standing if notice.message not in said]
    return {**body, "warnings": [*before, *render.warnings(*new)]}


def remark(met: Met) -> str:
    """One sentence for people and models."""
    connection = met.connection()
    if connection.is_undecided:
        return _undecided(connection, met)
    since = f" since {connection.since:%Y-%m-%d %H:%M} UTC" if connection.since else ""
    is_back = connection.reach is Reach.CONNECTED
    why = "the database has just been away" if is_back else f"the database is away{since}"
    here = "this was written on this machine" if met.queued else "this comes from the copy on this machine"
    count = connection.queued.waiting
    sent = "being sent" if is_back else "sent when it is back"
    waiting = f"; {count} write{'s wait and are' if count != 1 else ' waits and is'} {sent}" if count else ""
    return f"{why}: {here}{waiting}"


def _undecided(connection: Connection, met: Met) -> str:
    """Why, and what to do, every reply says beside."""
    count = connection.queued.waiting
    here = "this waits on this machine" if met.queued else "this comes from what waits on this machine"
    return (
        f"nobody has decided yet where memories belong here (`retain trust`): {here}, {count} write{'s' * (count != 1)}"
    )


def state(connection: Connection) -> Body:
    """What a store that may be away adds to a status."""
    if connection.since is None:
        return {}
    return {
        "since": iso(connection.since),
        **({"reason": connection.why} if connection.why else {}),
        "queue": queue(connection.queued),
    }


def queue(queued: Queued) -> Body:
    return {
        "waiting": queued.waiting,
        "refused": queued.refused,
        "oldest": iso(queued.oldest) if queued.oldest else None,
    }
