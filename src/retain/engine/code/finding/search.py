"""Searching code: words and vectors find chunks, names lift them, and what has changed on disk is left out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from retain.domain.code import CodeFilter, CodeIndex, IndexStatus, StoredChunk
from retain.domain.code_words import code_terms, lookups, names_asked
from retain.domain.memory import Vector
from retain.domain.recall import MIN_COSINE, Warning
from retain.domain.session import Caller
from retain.engine.code.finding.aliases import checked_languages
from retain.engine.code.finding.rank import Score, final, fuse, lift
from retain.engine.code.finding.which import chosen, remarks
from retain.engine.code.reading.fresh import Disk
from retain.engine.embed import query_vector
from retain.engine.parts import Parts
from retain.engine.recall.recall import question_faults, timely
from retain.errors import InvalidInput, QueryTimeout

LANE = 300  # candidates from each search: with 100, one question in a hundred less is answered in the first ten
NAMED = 50


@dataclass(frozen=True, slots=True)
class CodeQuestion:
    """What is looked for, and where: in a project by id, name or folder, in languages by name or alias."""

    text: str
    project: str | None = None
    languages: tuple[str, ...] = ()
    limit: int = 10


@dataclass(frozen=True, slots=True)
class CodeHit:
    """A chunk that was found, in the project of that name.

    `score` is 0.8 · `vector` + 0.2 · `words`, 0.9 of that for lines outside of all definitions and for tests that
    nobody asked for, lifted towards 1 when the question names the `symbol`. `vector` is the mean of two cosines, 0.65
    of the best piece and 0.35 of the headline, or what it is at most when words alone found the chunk; `words` is
    BM25 / (BM25 + 15).
    """

    stored: StoredChunk
    project: str
    score: float
    vector: float
    words: float
    symbol: bool


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """Hits best first, one for each symbol; what to know about them; the projects that were searched by name."""

    hits: tuple[CodeHit, ...]
    warnings: tuple[Warning, ...] = ()
    searched: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    """Keys of the indexes that should be brought up to date."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate and where it stands."""

    stored: StoredChunk
    total: float
    score: Score
    symbol: bool


@dataclass(slots=True)
class Lanes:
    """What each search found, and what one of them could not do."""

    vectors: dict[str, float] = field(default_factory=dict)
    words: dict[str, float] = field(default_factory=dict)
    named: list[StoredChunk] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)
    late: int = 0
    vector: Vector | None = None


def search(parts: Parts, question: CodeQuestion, caller: Caller) -> CodeAnswer:
    """The chunks that answer a question best, of files that are still as they were indexed."""
    faults = list(question_faults(question.text, question.limit))
    if faults:
        raise InvalidInput(faults)
    languages = checked_languages(question.languages)
    indexes = {index.key: index for index in chosen(parts, question.project, caller)}
    warnings = remarks(list(indexes.values()))
    if not indexes:
        return CodeAnswer((), tuple(warnings))
    lanes = _lanes(parts, question.text, CodeFilter(tuple(indexes), languages))
    disk = Disk(indexes)
    ranked = _ranked(parts, question.text, lanes, _floor(lanes, indexes.values()))
    best = islice(_fresh(each_once(entry.stored for entry in ranked), disk), question.limit)
    slugs = {key: index.project.slug for key, index in indexes.items()}
    by_id = {entry.stored.id: entry for entry in ranked}
    hits = tuple(_hit(by_id[stored.id], slugs) for stored in best)
    lacking = _without_vectors(indexes.values()) if lanes.vector else []
    warnings += [*lanes.warnings, *map(_by_words_only, lacking), *_left_out(disk)]
    stale = tuple(dict.fromkeys([*(index for index, _ in disk.changed), *(index.key for index in lacking)]))
    return CodeAnswer(hits, tuple(warnings), tuple(slugs.values()), stale)


def _without_vectors(indexes: Iterable[CodeIndex]) -> list[CodeIndex]:
    """Those that were completed while there was no model."""
    return [i for i in indexes if i.status is IndexStatus.COMPLETED and i.embedded_chunks < i.total_chunks]


def _by_words_only(index: CodeIndex) -> Warning:
    missing = f"{index.total_chunks - index.embedded_chunks:,} of {index.total_chunks:,} chunks"
    note = f"{missing} of {index.project.slug} have no vectors yet and were searched by words only"
    return Warning("keyword_only", f"{note}; index_project makes them")


def _hit(entry: Ranked, slugs: dict[str, str]) -> CodeHit:
    score = entry.score
    return CodeHit(entry.stored, slugs[entry.stored.index], entry.total, score.vector, score.words, entry.symbol)


def _lanes(parts: Parts, text: str, wanted: CodeFilter) -> Lanes:
    """Runs the searches; one that is late leaves the answer to the others."""
    lanes, store = Lanes(), parts.store
    lanes.vector, warning = query_vector(parts.embedder, text)
    lanes.warnings += [warning] if warning else []
    if vector := lanes.vector:
        model = parts.embedder.model
        lanes.vectors = timely(lanes, "vector", lambda: store.code_by_vector(vector, model, wanted, LANE), {})
    lanes.words = timely(lanes, "keyword", lambda: store.code_by_words(code_terms(text), wanted, LANE), {})
    if lanes.late and not lanes.vectors and not lanes.words:
        raise QueryTimeout("every search ran past its deadline; ask a shorter question or name a project")
    asked = [way for name in names_asked(text) for way in lookups(name)]
    lanes.named = store.code_named(asked, wanted, NAMED) if asked else []
    return lanes


def _floor(lanes: Lanes, indexes: Iterable[CodeIndex]) -> float | None:
    """The cosine that a chunk has at most which only words found; None when it may have no vector yet."""
    if not lanes.vectors or any(index.embedded_chunks < index.total_chunks for index in indexes):
        return None
    return min(lanes.vectors.values()) if len(lanes.vectors) >= LANE else MIN_COSINE


def _ranked(parts: Parts, text: str, lanes: Lanes, floor: float | None) -> list[Ranked]:
    scores, names = fuse(lanes.vectors, lanes.words, floor), names_asked(text)
    chunks = parts.store.code_chunks(list(scores)) | {stored.id: stored for stored in lanes.named}
    unfound = Score(0.0, floor or 0.0, 0.0)
    ranked = []
    for id, stored in chunks.items():
        score = scores.get(id, unfound)
        by = lift(stored.chunk, names, text)
        if id in scores or by:
            ranked.append(Ranked(stored, final(stored, score.total, by, text), score, symbol=by > 0))
    return sorted(ranked, key=lambda entry: (-entry.total, entry.stored.path, entry.stored.chunk.start_line))


def each_once(ranked: Iterable[StoredChunk]) -> Iterator[StoredChunk]:
    """Of a symbol that was cut in parts only the best part; two symbols of one name are two."""
    seen: dict[tuple[str, str, str], set[int]] = {}
    for stored in ranked:
        parts = seen.setdefault((stored.index, stored.path, stored.chunk.qualified), set())
        if not parts or stored.chunk.part in parts:
            yield stored
        parts.add(stored.chunk.part)


def _fresh(ranked: Iterable[StoredChunk], disk: Disk) -> Iterator[StoredChunk]:
    for stored in ranked:
        if disk.is_unchanged(stored.index, stored.path, stored.mark):
            yield stored


def _left_out(disk: Disk) -> list[Warning]:
    files = len(disk.changed)
    if not files:
        return []
    were = "1 file was" if files == 1 else f"{files} files were"
    note = f"{were} left out that changed or vanished since indexing"
    return [Warning("stale_files", f"{note}; index_project reads what changed")]
