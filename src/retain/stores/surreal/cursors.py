"""How far transcripts have been read."""

from collections.abc import Mapping, Sequence
from typing import Any

from retain.domain.conversation import Cursor
from retain.stores.surreal.link.cbor import record
from retain.stores.surreal.tables import Tables

_CURSOR = "id, session, offset, last, project, user, extractions, at"
# A transcript only grows, so of two readers the one that came further is right; 0 is for one that begins anew.
# The database works this out even for a row that is new, where every field is NONE.
_IS_RIGHT = "$input.offset >= offset OR $input.offset = 0"
_MOST = "IF extractions > $input.extractions { extractions } ELSE { $input.extractions }"
_MOVED = {name: f"$input.{name}" for name in ("session", "offset", "last", "project", "user", "at")}
CURSOR_AGAIN = ", ".join(
    f"{name} = IF {_IS_RIGHT} {{ {value} }} ELSE {{ {name} }}"
    for name, value in {**_MOVED, "extractions": _MOST}.items()
)


class CursorTables(Tables):
    """`ports.CaptureStore`."""

    def cursor(self, transcript: str) -> Cursor | None:
        row = self.db.row(f"SELECT {_CURSOR} FROM $cursor", cursor=[record("cursor", transcript)])
        return cursor_of(row) if row else None

    def cursors_at(self, lines: Sequence[str]) -> list[Cursor]:
        if not lines:
            return []
        found = self.db.rows(f"SELECT {_CURSOR} FROM cursor WHERE last IN $lines", lines=list(lines))
        return sorted(map(cursor_of, found), key=lambda cursor: cursor.transcript)

    def extractions(self, project: str | None, user: str) -> int:
        query = "SELECT VALUE extractions FROM cursor WHERE project = $project AND user = $user"
        return sum(self.db.rows(query, project=project, user=user))


def cursor_row(cursor: Cursor) -> dict[str, Any]:
    """To be inserted with `CURSOR_AGAIN`."""
    return {
        "id": cursor.transcript,
        "session": cursor.session,
        "offset": cursor.offset,
        "last": cursor.last,
        "project": cursor.project,
        "user": cursor.user,
        "extractions": cursor.extractions,
        "at": cursor.at,
    }


def cursor_of(row: Mapping[str, Any]) -> Cursor:
    return Cursor(
        transcript=row["id"],
        session=row["session"],
        offset=row["offset"],
        at=row["at"],
        last=row["last"],
        project=row["project"],
        user=row["user"],
        extractions=row["extractions"],
    )
