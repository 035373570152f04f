"""Emptying: destroying all that one user has, as thoroughly as a purge, while others keep theirs."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime

from retain.domain.memory import MemoryId, user_of
from retain.domain.places import user_in
from retain.ports import Emptied
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Batch, Database, guard
from retain.stores.surreal.link.failures import Overtaken
from retain.stores.surreal.purging import purge

Fill = Callable[[Batch, int], None]
AT_ONCE = 200
_OWN = ("asked", "profile", "work", "served", "session")


def empty(db: Database, user: str, at: datetime, change: int) -> Emptied | None:
    """Memories in portions, since a transaction holds no thousands of texts.

    None, and nothing is destroyed, when somebody has written since that change; who writes after the first portion
    is too late.
    """
    ids: list[MemoryId] = db.rows("SELECT VALUE id FROM memory WHERE user = $user", user=user)
    entities, relations = _graph_of(db, user)
    portions = [ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE)] or [[]]
    try:
        _step(db, at, change, _purging(db, portions[0]))
    except Overtaken:
        return None
    for portion in portions[1:]:
        _insist(db, at, _purging(db, portion))
    _insist(db, at, lambda batch, _: _rest(db, batch, user, entities, relations))
    return Emptied(len(ids), len(entities), len(relations), code_chunks=0)


def _purging(db: Database, ids: Sequence[MemoryId]) -> Fill:
    return lambda batch, change: purge(db, batch, ids, change)


def _insist(db: Database, at: datetime, fill: Fill) -> None:
    committed_at = "SELECT VALUE value FROM ONLY counter:change"
    while True:
        with suppress(Overtaken):
            return _step(db, at, db.run(committed_at)[0], fill)


def _step(db: Database, at: datetime, change: int, fill: Fill) -> None:
    batch = Batch()
    batch.bind("at", at)
    guard(batch, "change", change)
    fill(batch, change + 1)
    db.commit(batch)


def _rest(db: Database, batch: Batch, user: str, entities: Sequence[str], relations: Sequence[str]) -> None:
    for table in _OWN:
        batch.add(f"DELETE {table} WHERE user = $? RETURN NONE", user)
    batch.delete(records("relates_to", relations))
    batch.delete(records("entity", entities))
    batch.delete(records("aged", entities))
    # The scope of a run is the key of a place, whose second part is the user.
    scopes = set(db.rows("SELECT VALUE scope FROM run"))
    batch.add("DELETE run WHERE scope IN $? RETURN NONE", [scope for scope in scopes if user_in(scope) == user])


def owners_of(db: Database, user: str) -> list[str]:
    """All owners of entities that belong to one user: their projects, and they themselves."""
    return [owner for owner in set(db.rows("SELECT VALUE owner FROM entity")) if user_of(owner) == user]


def _graph_of(db: Database, user: str) -> tuple[list[str], list[str]]:
    """Entities and relations of a user, by id."""
    entities = db.rows("SELECT VALUE id FROM entity WHERE owner IN $owners", owners=owners_of(db, user))
    query = "SELECT VALUE id FROM relates_to WHERE in IN $mine OR out IN $mine"
    return entities, db.rows(query, mine=records("entity", entities))


def drop_unused_projects(db: Database) -> None:
    """A project is everybody's; it goes with the last that anybody has in it."""
    queries = [f"SELECT VALUE project FROM {table} GROUP BY project" for table in ("memory", "session")]
    queries += ["SELECT VALUE project FROM profile", "SELECT VALUE project FROM work"]
    used = {project for query in queries for project in db.rows(query)}
    owners = [*db.rows("SELECT VALUE owner FROM entity"), *db.rows("SELECT VALUE id FROM code_index")]
    used |= {owner.partition("\x1f")[0] for owner in owners}
    batch = Batch()
    batch.delete(records("project", set(db.rows("SELECT VALUE id FROM project")) - used))
    db.commit(batch)
