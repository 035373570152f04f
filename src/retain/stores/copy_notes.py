"""What is noted beside copies: of which state of which store each is, so that nothing is copied twice for nothing."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from retain.ports import Store
from retain.quick_json import written
from retain.run_files import read_object, write_private

# Today's copy of a store of at most so many bytes is made anew after an hour in which something was written; that of
# any store, when as much was written since as ever before, which on its first day is soon.
SMALL = 50_000_000
AGAIN_AFTER = timedelta(hours=1)


class CopyNotes:
    """The notes of one folder of copies; those of copies that are gone are dropped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "copies.json"

    @contextmanager
    def of(self, made: Path, store: Store, now: datetime) -> Iterator[None]:
        """Notes the copy that the block makes. What is written meanwhile counts as missing in it."""
        note = {"life": store.life(), "change": store.change(), "at": now.timestamp()}
        yield
        there = {name: old for name, old in self._read().items() if (self._folder / name).exists()}
        write_private(str(self._file), written({**there, made.name: note}))

    def current(self, store: Store) -> Path | None:
        """A copy since which nothing was written."""
        now = store.life(), store.change()
        named = (name for name, note in self._read().items() if (note.get("life"), note.get("change")) == now)
        return next((self._folder / name for name in named if (self._folder / name).exists()), None)

    def is_stale(self, made: Path, store: Store, now: datetime) -> bool:
        """Whether much of what the store holds is not in the copy. One of another store is left as it is."""
        note = self._read().get(made.name, {})
        before, at, change = note.get("change"), note.get("at"), store.change()
        if not isinstance(before, int) or not isinstance(at, int | float) or note.get("life") != store.life():
            return False
        is_old = now.timestamp() - at >= AGAIN_AFTER.total_seconds() and store.size() <= SMALL
        return change > before and (change >= 2 * before or is_old)

    def _read(self) -> dict[str, Mapping[str, object]]:
        return {name: note for name, note in read_object(str(self._file)).items() if isinstance(note, dict)}
