"""Questions that found something, for suggestions; few, and gone with what they may have been about."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from retain.domain.graph import fold
from retain.domain.listing import PastQuery
from retain.domain.words import query_terms
from retain.stores.asking import MOST, Said, about, title_of
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Batch, Database
from retain.stores.surreal.link.retrying import committed
from retain.stores.surreal.tables import Tables

Rows = Sequence[Mapping[str, Any]]
_CLEARING = 1 / 50
_HERE = "user = $user AND project = $project"
_AGAIN = "text = $input.text, times += $input.times, found = $input.found, last = $input.last"


class PastTables(Tables):
    """Past questions, as `ports.ListingStore` has them."""

    def past_queries(self, project: str | None, user: str) -> list[PastQuery]:
        query = f"SELECT text, times, found, last, key FROM asked WHERE {_HERE} ORDER BY last DESC, key LIMIT {MOST}"
        rows = self.db.rows(query, user=user, project=project or "")
        return [PastQuery(row["text"], row["times"], row["found"], row["last"]) for row in rows]

    def note_query(self, query: PastQuery, project: str | None, user: str) -> None:
        batch = Batch()
        batch.insert("asked", [asked_row(query, project or "", user)], _AGAIN)
        committed(self.db, batch)
        # Looking for what is too much takes ten times as long as counting, and it is never shown.
        if random.random() < _CLEARING:
            self._clear(project or "", user)

    def _clear(self, project: str, user: str) -> None:
        query = f"SELECT id, last, key FROM asked WHERE {_HERE} ORDER BY last DESC, key LIMIT 1000 START {MOST}"
        batch = Batch()
        batch.delete(records("asked", (row["id"] for row in self.db.rows(query, user=user, project=project))))
        committed(self.db, batch)


def forget(db: Database, batch: Batch, gone: Rows, before: Rows) -> None:
    """Adds to a batch what takes out every question that shares a word with memories that are destroyed.

    `gone` are their records, `before` those of their history.
    """
    users = {row["id"]: row["user"] for row in gone}
    asked = db.rows("SELECT id, user, terms FROM asked WHERE user IN $users", users=list(set(users.values())))
    if not asked:
        return
    said: list[Said] = [
        (row["user"], (row["title"], row["content"], *row["tags"], row["source"]["file"])) for row in gone
    ]
    said += [(users[row["memory"]], (row["content"], *row["tags"], title_of(row["rest"]))) for row in before]
    batch.delete(records("asked", about(((row["id"], row["user"], row["terms"]) for row in asked), said)))


def asked_row(asked: PastQuery, project: str, user: str) -> dict[str, Any]:
    key = fold(asked.text)
    return {
        "id": [user, project, key],
        "user": user,
        "project": project,
        "key": key,
        "text": asked.text,
        "terms": " ".join(query_terms(asked.text)),
        "times": asked.times,
        "found": asked.found,
        "last": asked.last,
    }
