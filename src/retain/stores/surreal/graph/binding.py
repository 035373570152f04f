"""One query for each of some entities, all of them in one call."""

from collections.abc import Iterable, Sequence
from typing import Any

from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Database


def names(entities: Sequence[str]) -> list[str]:
    """Under which the entities are bound to the queries of `each`."""
    return [f"e{number}" for number in range(len(entities))]


def each(db: Database, queries: Iterable[str], entities: Sequence[str], **bound: Any) -> list[Any]:
    """What each of the queries gives, in one call. An entity is bound by name: of a variable of the query, such as
    that of a loop, the engine does not know that an index has what is asked for in order."""
    ids = dict(zip(names(entities), records("entity", entities), strict=True))
    return db.view(*queries, **ids, **bound)
