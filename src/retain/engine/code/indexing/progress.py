"""How far an index is, and how long it still takes."""

from datetime import datetime

from retain.domain.code import CodeIndex, IndexStatus

# Of the time that a new index takes with a model; the rest goes into vectors. On two cores without a GPU a chunk takes
# about 2 ms to read, cut and store, and 15 ms to embed.
FILES = 0.1


def progress_percent(index: CodeIndex, *, with_vectors: bool) -> float:
    """From 0 to 100. Below 100 while it is being indexed, since the last step is to say that it is complete."""
    if index.status is IndexStatus.COMPLETED:
        return 100.0
    files = _share(index.indexed_files, index.total_files)
    if not with_vectors:
        return round(min(files * 100, 99.9), 1)
    vectors = _share(index.embedded_chunks, index.total_chunks)
    # Vectors follow when all files are read: those of an earlier run say little about this one until then.
    return round(min((FILES * files + (1 - FILES) * files * vectors) * 100, 99.9), 1)


def eta_seconds(index: CodeIndex, now: datetime, *, with_vectors: bool) -> int | None:
    """Seconds left if it goes on as it has since it was started; None where nothing can be said."""
    if index.status is IndexStatus.COMPLETED:
        return 0
    done = progress_percent(index, with_vectors=with_vectors)
    if index.status is not IndexStatus.INDEXING or index.started is None or not done:
        return None
    return max(round((now - index.started).total_seconds() * (100 - done) / done), 0)


def _share(part: int, whole: int) -> float:
    return min(part / whole, 1.0) if whole else 0.0
