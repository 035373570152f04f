"""Sign bits and columns of a thousand memories in one record, for a process that begins.

To read them memory by memory takes 40 µs each, from a page 1 or 2. A page has every memory whose last change lay in one
stretch of change numbers when it was made. Of what has changed since, a later stretch tells, and where there is no
page the memories themselves are read: so a page that is lost, or never was made, makes nothing wrong. Pages are not
written by who writes memories, but by who had to read many. They are never changed. What destroys a memory destroys
the pages that have it: `counter:pages` lets nobody make one of what was read before that.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from retain.errors import RetainError
from retain.stores.surreal import migrations
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Batch, Database, guard
from retain.stores.surreal.link.failures import Overtaken
from retain.stores.surreal.vectors.columns import Columns, decoded, encoded, packed, rows_of

# Who changes what a row has takes another number, and adds a step to the schema that deletes all pages.
FORM = 1
COLUMNS = (
    "place, type, state, importance, happened, category ?? '', session_id ?? '', "
    "'\x1f' + array::join(tag_keys, '\x1f') + '\x1f', string::len(content), time::micros(created_at), "
    "time::micros(valid_from), IF valid_until = NULL { 9223372036854775807 } ELSE { time::micros(valid_until) }"
)
# Memories of a page. More would have to be read again when one of them is destroyed.
ROWS = 1000
# Pages that are made of what is read at once: a read of few has to read some of them twice.
MADE_AT_ONCE = 4
# Pages that are read at once, 1.5 MB.
AT_ONCE = 8
_SEEN = "SELECT VALUE value FROM ONLY counter:pages"
_ROW = f"[changed, num, model, signs, {COLUMNS}]"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Every memory that was changed last after one change, and not after another."""

    since: int
    upto: int
    columns: Columns

    def __len__(self) -> int:
        return len(self.columns.nums)


def read(db: Database, since: int, upto: int, at_least: int) -> Iterator[Stretch]:
    """From the memories, in the order of change, as stretches of so many memories or a few more; the last one has what
    is left. Not all the way, if there is much: what one change has touched is never split."""
    limit = MADE_AT_ONCE * at_least
    more = f"changed > $since AND changed <= $upto ORDER BY changed LIMIT {limit}"
    rows = _rows(db, more, since=since, upto=upto)
    if len(rows) < limit:
        last = upto
    elif rows[0][0] == rows[-1][0]:
        last = rows[0][0]
        rows = _rows(db, "changed = $last", last=last)
    else:
        last = rows[-1][0] - 1
        rows = [row for row in rows if row[0] <= last]
    begun = 0
    for place in range(at_least, len(rows)):
        if place - begun >= at_least and rows[place][0] > rows[place - 1][0]:
            yield Stretch(since, rows[place - 1][0], packed(rows[begun:place]))
            since, begun = rows[place - 1][0], place
    yield Stretch(since, last, packed(rows[begun:]))


class Pages:
    """The pages as one reader goes through them, and adds to them."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._ahead: list[tuple[int, int, bytes]] = []
        self._is_end = False
        # Read before any memory is: what is destroyed after that shall not be written down.
        self._seen: int = db.run(_SEEN)[0]
        self._may_write: bool | None = None

    def begin(self, since: int) -> int | None:
        """Where the first page begins of those that do so with this change or later. So one that overlaps another is
        left out."""
        self._ahead = [page for page in self._ahead if page[0] >= since]
        while not self._ahead and not self._is_end:
            found = self._db.rows(
                f"SELECT VALUE [id, upto, form, rows] FROM type::record('sign_page', $since..) LIMIT {AT_ONCE}",
                since=since,
            )
            self._is_end = len(found) < AT_ONCE
            since = found[-1][0] + 1 if found else since
            self._ahead = [(id, upto, rows) for id, upto, form, rows in found if form == FORM]
        return self._ahead[0][0] if self._ahead else None

    def take(self) -> Stretch:
        """That page."""
        return _stretch(*self._ahead.pop(0))

    def add(self, stretch: Stretch) -> bool:
        """Makes a page of what was read. False when somebody has made it, or a memory was destroyed meanwhile; a
        search does without it."""
        row = {
            "upto": stretch.upto,
            "form": FORM,
            "nums": stretch.columns.nums.tolist(),
            "rows": encoded(stretch.columns),
        }
        batch = Batch()
        batch.put("sign_page", {stretch.since: row}, ())
        return self._write(batch)

    def drop(self, begun: Iterable[int]) -> None:
        batch = Batch()
        batch.delete(records("sign_page", begun))
        self._write(batch)

    def _write(self, changes: Batch) -> bool:
        if self._may_write is None:
            self._may_write = not migrations.is_newer(migrations.version(self._db))
        if not self._may_write:
            return False
        guard(changes, "pages", self._seen)
        try:
            self._db.commit(changes)
        except (RetainError, Overtaken):
            # Others have written here: what was read may hold what they have destroyed.
            self._may_write = False
            return False
        self._seen += 1
        return True


def forget(db: Database, batch: Batch, nums: Iterable[int]) -> None:
    """Adds to a batch that destroys memories what destroys the pages that have them; Overtaken if another is made."""
    seen, pages = db.run(f"{_SEEN}; SELECT VALUE [id, nums] FROM sign_page")
    gone = set(nums)
    batch.delete(records("sign_page", (id for id, held in pages if not gone.isdisjoint(held))))
    guard(batch, "pages", seen)


def faults(db: Database) -> Iterator[str]:
    """Where pages and memories disagree: of what has changed since, a later page may tell, or none yet."""
    there = {row[1]: row for row in rows_of(packed(_rows(db, "changed >= 0")))}
    query = "SELECT VALUE [id, upto, rows] FROM sign_page WHERE form = $form"
    pages = [_stretch(*page) for page in db.rows(query, form=FORM)]
    held = [row for page in pages for row in rows_of(page.columns)]
    nums = {row[1] for row in held}
    if gone := nums - there.keys():
        yield f"{len(gone)} destroyed memories in the pages of sign bits"
    wrong = {row[1] for row in held if row[1] in there and row[0] == there[row[1]][0] and row != there[row[1]]}
    spans = [(page.since, page.upto) for page in pages]
    lost = {row[1] for row in there.values() if row[1] not in nums and any(s < row[0] <= u for s, u in spans)}
    if wrong or lost:
        yield f"{len(wrong | lost)} memories are not as the pages of sign bits have them"


def _rows(db: Database, condition: str, **bound: Any) -> list[Any]:
    return db.rows(f"SELECT VALUE {_ROW} FROM memory WITH INDEX memory_changed WHERE {condition}", **bound)


def _stretch(since: int, upto: int, rows: bytes) -> Stretch:
    return Stretch(since, upto, decoded(rows))
