"""One SurrealDB database: queries with bound values, and transactions that are sent whole."""

import itertools
from collections.abc import Container, Mapping, Sequence
from typing import Any, Protocol

from retain.stores.surreal.link.cbor import decode, encode, record
from retain.stores.surreal.link.failures import STALE, LinkLost, Overtaken, Unanswered, refused

# Of a write that is given up nobody knows whether it comes about, so it is waited for longer than a read. A plan of
# 400 memories takes 1 s, and 10 s on a machine with five times the work it can do.
_COMMIT_SECONDS = 60.0


class Link(Protocol):
    """The way to an engine: in this process, or over a socket."""

    def request(self, message: bytes, id: int, seconds: float) -> bytes:
        """The answer to a message; StoreDown when the way is gone, QueryTimeout when there is none in time."""
        ...

    def close(self) -> None: ...


class Statements:
    """Statements that are sent together. Each `$?` stands for one value to bind."""

    def __init__(self) -> None:
        self._statements: list[str] = []
        self._bound: dict[str, Any] = {}

    def add(self, statement: str, *values: Any) -> int:
        """Says which of the statements it is."""
        first, *rest = statement.split("$?")
        names = [f"v{len(self._bound) + place}" for place in range(len(values))]
        self._statements.append(first + "".join(f"${name}{part}" for name, part in zip(names, rest, strict=True)))
        self._bound.update(zip(names, values, strict=True))
        return len(self._statements) - 1

    @property
    def query(self) -> str:
        return ";\n".join(self._statements)

    @property
    def queries(self) -> Sequence[str]:
        return self._statements

    @property
    def bound(self) -> Mapping[str, Any]:
        return self._bound


class Batch(Statements):
    """Statements that are committed together or not at all."""

    def bind(self, name: str, value: Any) -> None:
        """A value that statements call by its name."""
        self._bound[name] = value

    def insert(self, table: str, rows: Sequence[Mapping[str, Any]], otherwise: str = "") -> None:
        """Adds rows; what becomes of one that is there already says `otherwise`, where `$input` is the new row."""
        if rows:
            update = f" ON DUPLICATE KEY UPDATE {otherwise}" if otherwise else ""
            self.add(f"INSERT INTO {table} $?{update} RETURN NONE", list(rows))

    def put(self, table: str, rows: Mapping[Any, Mapping[str, Any]], there: Container[Any]) -> None:
        """Writes whole rows by id, a tuple for a list; of those that are `there` already, all is written anew.

        For many rows: an INSERT keeps a way back for each, and takes 115 µs a row for 1,600 of them, this 30.
        """
        for verb, some in (
            ("CREATE", [id for id in rows if id not in there]),
            ("UPDATE", [id for id in rows if id in there]),
        ):
            if some:
                ids = (record(table, list(id) if isinstance(id, tuple) else id) for id in some)
                put = [{**rows[id], "id": of} for id, of in zip(some, ids, strict=True)]
                self.add(f"FOR $row IN $? {{ {verb} $row.id CONTENT $row RETURN NONE }}", put)

    def relate(self, table: str, rows: Sequence[Mapping[str, Any]], otherwise: str) -> None:
        """As `insert`, for edges, which have an `in` and an `out`.

        One by one, and looked for first: an INSERT of 1,600 takes 1 ms for each of them, this 0.16 for any number.
        """
        if rows:
            edges = [{**row, "id": record(table, row["id"])} for row in rows]
            found = f"UPDATE $row.id SET {otherwise.replace('$input.', '$row.')} RETURN NONE"
            new = "LET $from = $row.in; LET $edge = $row.id; LET $to = $row.out; "
            new += "RELATE $from->$edge->$to CONTENT $row RETURN NONE"
            self.add(f"FOR $row IN $? {{ IF record::exists($row.id) {{ {found} }} ELSE {{ {new} }} }}", edges)

    def merge(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Changes records that are there: each row has the record as its `id`, and the fields to set."""
        if rows:
            self.add("FOR $row IN $? { UPDATE $row.id MERGE $row RETURN NONE }", list(rows))

    def delete(self, records: Sequence[Any]) -> None:
        if records:
            self.add("DELETE $? RETURN NONE", list(records))

    @property
    def query(self) -> str:
        return f"BEGIN;\n{super().query};\nCOMMIT"


class Database:
    """Safe to use from any thread."""

    def __init__(self, link: Link, query_seconds: float = 5.0) -> None:
        self._link = link
        self.query_seconds = query_seconds
        self._numbers = itertools.count(1)

    def run(self, query: str, **bound: Any) -> list[Any]:
        """What each of the statements gives; raises when any of them fails."""
        return self._results(query, bound, self.query_seconds)

    def view(self, *queries: str, **bound: Any) -> list[Any]:
        """What each of the queries gives, all of them at one moment.

        The engine begins anew for every statement of a message, and others write in between: a count that is read
        in one statement and its parts that are read in the next need not fit. So these are made one statement.
        """
        found: list[Any] = self.run(f"RETURN [{', '.join(f'({query})' for query in queries)}]", **bound)[0]
        return found

    def rows(self, query: str, **bound: Any) -> list[Any]:
        """What one SELECT finds, within the deadline."""
        found: list[Any] = self._results(
            f"{query} TIMEOUT {self.query_seconds * 1000:.0f}ms", bound, self.query_seconds
        )[-1]
        return found

    def row(self, query: str, **bound: Any) -> Any:
        """The first row of a SELECT, or None."""
        return next(iter(self.rows(query, **bound)), None)

    def counted(self, table: str, condition: str, **bound: Any) -> int:
        row = self.row(f"SELECT count() AS n FROM {table} WHERE {condition} GROUP ALL", **bound)
        return int(row["n"]) if row else 0

    def commit(self, batch: Batch) -> None:
        """All of the batch; Overtaken, and nothing was written, when another writer came first.

        LinkLost when there is no answer, from whatever reason: it may be written all the same, even later.
        """
        try:
            self._results(batch.query, batch.bound, max(self.query_seconds, _COMMIT_SECONDS))
        except Unanswered as error:
            raise LinkLost(f"{error.message}. Nobody knows whether the write comes about") from error

    def call(self, method: str, *params: Any, seconds: float | None = None) -> Any:
        """A request of the protocol, such as `use` or `signin`."""
        number = next(self._numbers)
        message = encode({"id": number, "method": method, "params": list(params)})
        answer = decode(self._link.request(message, number, seconds or self.query_seconds))
        if answer.get("error"):
            raise refused(answer["error"])
        return answer.get("result")

    def close(self) -> None:
        self._link.close()

    def _results(self, query: str, bound: Mapping[str, Any], seconds: float) -> list[Any]:
        # A second more than the database takes for itself, so that it is the one to give up.
        answers = self.call("query", query, dict(bound), seconds=seconds + 1)
        failed = [answer for answer in answers if answer["status"] != "OK"]
        if failed:
            raise _telling(failed)
        return [answer["result"] for answer in answers]


def _telling(failed: Sequence[Mapping[str, Any]]) -> Exception:
    """The error to raise: most statements of a transaction fail only because another one did."""
    own = [answer for answer in failed if (answer.get("details") or {}).get("kind") != "NotExecuted"]
    errors = [refused(answer) for answer in own or failed]
    return next((error for error in errors if isinstance(error, Overtaken)), errors[0])


def guard(batch: Batch, counter: str, seen: int, grown: str = "", *values: Any) -> None:
    """Lets the batch through only while a counter has the value that was seen, and raises it by one."""
    batch.add(f"LET $next = (UPDATE ONLY counter:{counter} SET value += 1{grown} WHERE value = $?)", *values, seen)
    batch.add(f"IF $next = NONE {{ THROW '{STALE}' }}")
