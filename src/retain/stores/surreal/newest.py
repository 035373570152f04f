"""The newest of all that passes a filter, and how many there are, without reading all of them."""

from typing import Any

from retain.domain.recall import Filter
from retain.stores.newest import portions
from retain.stores.surreal import counting
from retain.stores.surreal.filters import where
from retain.stores.surreal.link.database import Database

Bound = dict[str, Any]


def newest(wanted: Filter, limit: int, fields: str, further: str = "") -> tuple[list[str], Bound]:
    """Subqueries that each give the newest of a place and a state, and the values to bind."""
    order = f"ORDER BY age, back LIMIT {limit}"
    return each(wanted, f"(SELECT {fields} FROM {{table}} WHERE {{passing}} {further} {order})")


def total(db: Database, wanted: Filter) -> int:
    return counting.total(db, wanted) if counting.is_plain(wanted) else counted(db, wanted)


def counted(db: Database, wanted: Filter, further: str = "", **bound: Any) -> int:
    """One by one, 20 µs each."""
    parts, values = each(
        wanted, f"(SELECT count() AS n FROM {{table}} WHERE {{passing}} {further} GROUP ALL)[0].n ?? 0"
    )
    return sum(db.run(f"RETURN [{', '.join(parts)}]", **values, **bound)[0]) if parts else 0


def each(wanted: Filter, query: str) -> tuple[list[str], Bound]:
    """A query for each place and state, with `{table}` and the conditions where it says `{passing}`.

    Two values of a field are two queries, since only for equalities an index serves to its last field.
    """
    # A session has few memories, its place all of a project's.
    table = "memory WITH INDEX memory_said" if wanted.session else "memory"
    parts, bound = [], Bound()
    for number, portion in enumerate(portions(wanted)):
        conditions, values = where(portion, named=f"f{number}")
        parts.append(query.format(table=table, passing=conditions))
        bound |= values
    return parts, bound
