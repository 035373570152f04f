"""Listings, projects as people name them, and tracked work: `ports.ListingStore` and `ports.WorkStore`."""

from collections.abc import Sequence

from retain.domain.graph import Tie, fold
from retain.domain.listing import Card, Page, PastQuery, Row
from retain.domain.memory import MemoryId, Place, Stored, Vector
from retain.domain.recall import Filter
from retain.domain.session import Profile
from retain.domain.work import Work, WorkFilter
from retain.stores.sqlite import listings, migrations, past_queries, profiles, work
from retain.stores.sqlite.tables import Tables


class ListingTables(Tables):
    def page(self, wanted: Filter, limit: int, offset: int = 0, beyond: Row | None = None) -> Page[Card]:
        return self._read(listings.page, wanted, limit, offset, beyond) if wanted.places else Page((), None, 0)

    def cards(self, ids: Sequence[MemoryId]) -> dict[MemoryId, Card]:
        return self._read(listings.cards, ids) if ids else {}

    def near(self, vector: Vector, model: str, wanted: Filter, floor: float) -> dict[MemoryId, float]:
        with self.pool.reading() as db:
            index = self._caches.memories(db).index(db, model)
            return index.near(db, vector, wanted, floor) if index else {}

    def holding(self, terms: Sequence[str], wanted: Filter) -> set[MemoryId]:
        return self._read(listings.holding, terms, wanted)

    def titled(self, place: Place, title: str) -> Stored | None:
        return self._read(listings.titled, place, fold(title))

    def titles(self, wanted: Filter) -> list[tuple[MemoryId, str]]:
        return self._read(listings.titles, wanted)

    def tags(self, wanted: Filter) -> dict[str, int]:
        return self._read(listings.tags, wanted)

    def ties(self, memories: Sequence[MemoryId]) -> list[Tie]:
        return self._read(listings.ties, memories) if memories else []

    def past_queries(self, project: str | None, user: str) -> list[PastQuery]:
        return self._read(past_queries.all_of, project, user)

    def note_query(self, query: PastQuery, project: str | None, user: str) -> None:
        with self.pool.writing(durable=False) as db:
            migrations.check_version(db)
            past_queries.note(db, query, project, user)

    def profile(self, project: str, user: str) -> Profile | None:
        return self._read(profiles.by_id, project, user)

    def profile_named(self, name: str, user: str) -> Profile | None:
        return self._read(profiles.named, name, user)

    def profiles(self, user: str, limit: int, offset: int = 0) -> tuple[list[Profile], int]:
        return self._read(profiles.listed, user, limit, offset)

    def work(self, id: str, user: str) -> Work | None:
        return self._read(work.by_id, id, user)

    def works(self, wanted: WorkFilter, limit: int, offset: int = 0, beyond: Row | None = None) -> Page[Work]:
        return self._read(work.page, wanted, limit, offset, beyond)
