"""When a store was lost or damaged, and which copies are from before: only those hold what is missing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from retain import standing

_STAMP = re.compile(r"\.(?:damaged|lost)-(\d{8}T\d{6})(\d{0,6})")
_NAMED = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d{6}))?(?:-\d+)?\.db")


@dataclass(frozen=True, slots=True)
class Loss:
    """A store that was found to be gone or damaged, and that nobody has dealt with."""

    file: Path
    at: datetime

    @property
    def takes_a_copy(self) -> bool:
        """Whether nothing but a copy brings the memories back; of other damaged files a repair may read them."""
        return standing.DAMAGED not in self.file.name or self.file.name.endswith(standing.UNREADABLE)


def losses(path: Path) -> list[Loss]:
    """Of the store at this path, the first one first."""
    told = [*standing.damaged_files(str(path)), *standing.lost_files(str(path))]
    return sorted((Loss(Path(file), lost_at(Path(file))) for file in told), key=lambda loss: loss.at)


def lost_at(file: Path) -> datetime:
    """The moment in the name of what tells of a loss; of a name that somebody has changed, when it was written."""
    if said := _STAMP.search(file.name):
        return datetime.strptime(f"{said[1]}{said[2] or '0'}", "%Y%m%dT%H%M%S%f").replace(tzinfo=UTC)
    return datetime.fromtimestamp(file.stat().st_mtime, UTC)


def made_at(copy: Path) -> datetime:
    """When a copy was made: as its file says, but not after the moment in its name, which outlives being copied."""
    written = datetime.fromtimestamp(copy.stat().st_mtime, UTC)
    if not (said := _NAMED.search(copy.name)):
        return written
    try:
        named = datetime.strptime(f"{said[1]}T{said[2] or '000000'}", "%Y-%m-%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:  # a name of somebody's own
        return written
    return min(written, named + (timedelta(seconds=1) if said[2] else timedelta(days=1)))


def newest_before(copies: Sequence[Path], moment: datetime) -> Path | None:
    """Of copies, the newest that was made before a moment."""
    return max((copy for copy in copies if made_at(copy) < moment), key=made_at, default=None)


def ended_by(copy: Path, among: Sequence[Loss], copies: Sequence[Path]) -> list[Loss]:
    """The losses that a copy makes good: those after it, up to one before which another copy holds more."""
    ended: list[Loss] = []
    for loss in among:
        if loss.at <= made_at(copy):
            continue
        if ended and any(ended[-1].at < made_at(other) < loss.at for other in copies):
            break
        ended.append(loss)
    return ended
