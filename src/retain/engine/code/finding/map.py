"""A map of a project: the symbols that the rest of it leans on most, as an outline within a token budget."""

from collections.abc import Sequence
from dataclasses import dataclass

from retain.domain.code import ChunkKind, StoredChunk
from retain.domain.code_words import is_called
from retain.domain.recall import Warning
from retain.domain.session import Caller
from retain.engine.code.finding.sketch import Sketch, most_that_fit
from retain.engine.code.finding.uses import Uses, found_uses
from retain.engine.code.finding.which import chosen, remarks
from retain.engine.context import tokens_in
from retain.engine.knowledge.pagerank import pagerank
from retain.engine.parts import Parts
from retain.errors import Refused, invalid

FEWEST_TOKENS = 100
MOST_TOKENS = 100_000
DAMPING, ITERATIONS = 0.85, 40

# What tests, examples and benchmarks use, and what they define, matters less than the product.
ASIDE = 0.1
# What leaves every file besides its uses: one that uses next to nothing has next to no say.
SILENCE = 3.0
# A symbol that nobody uses still comes before one in a file that nobody uses.
UNUSED = 0.01

_NOT_SYMBOLS = frozenset({ChunkKind.MODULE, ChunkKind.SECTION, ChunkKind.TEXT})


@dataclass(frozen=True, slots=True)
class CodeMap:
    """The outline, what it shows of how much, and what to know about it."""

    text: str
    tokens: int
    symbols: int
    files: int
    total_symbols: int
    total_files: int
    projects: tuple[str, ...]
    warnings: tuple[Warning, ...] = ()


def code_map(
    parts: Parts, project: str | None, caller: Caller, *, budget: int = 2000, focus: Sequence[str] = ()
) -> CodeMap:
    """The most important symbols, by file; `focus` are paths and names that matter now, and raise what is near them.

    A file is important when important files use what it defines, a symbol when such files use it.
    """
    if not FEWEST_TOKENS <= budget <= MOST_TOKENS:
        raise invalid("budget", budget, f"must be from {FEWEST_TOKENS} to {MOST_TOKENS:,} tokens")
    indexes = chosen(parts, project, caller)
    if not indexes:
        raise Refused("no code is indexed; call index_project with the path of a project")
    symbols = [s for index in indexes for s in parts.store.symbols(index.key) if s.chunk.kind not in _NOT_SYMBOLS]
    focused = Focus(focus, symbols)
    uses = found_uses(parts.store, [index.key for index in indexes], symbols, focused.names)
    order = ranked(symbols, uses, focused)
    titles = {index.key: index.project.slug for index in indexes} if len(indexes) > 1 else {}
    warnings = (*remarks(indexes), *focused.warnings())
    return _drawn(Sketch(symbols, titles), order, budget, tuple(i.project.slug for i in indexes), warnings)


def _drawn(
    sketch: Sketch, order: Sequence[int], budget: int, projects: tuple[str, ...], warnings: tuple[Warning, ...]
) -> CodeMap:
    def draw(places: Sequence[int]) -> str:
        return sketch.drawn(places) + sketch.left_out(places)

    places = most_that_fit(order, draw, budget)
    text = draw(places)
    return CodeMap(
        text,
        tokens_in(text),
        symbols=len(sketch.shown(places)),
        files=sketch.count_files(places),
        total_symbols=len(sketch.symbols),
        total_files=sketch.total_files,
        projects=projects,
        warnings=warnings,
    )


class Focus:
    """What the caller cares about: files by path or part of it, symbols by name."""

    def __init__(self, given: Sequence[str], symbols: Sequence[StoredChunk]) -> None:
        self.files: set[tuple[str, str]] = set()
        self.names: set[str] = set()
        self._unknown = []
        for text in (text.strip() for text in given if text.strip()):
            files = {(s.index, s.path) for s in symbols if _lies_in(s.path, text)}
            named = [s for s in symbols if is_called(s.chunk, text)]
            self.files |= files | {(s.index, s.path) for s in named}
            self.names |= {s.chunk.name for s in named}
            if not files and not named:
                self._unknown.append(text)

    def warnings(self) -> list[Warning]:
        if not self._unknown:
            return []
        return [Warning("focus_unknown", f"no file or symbol is called {', '.join(self._unknown)}")]


def _lies_in(path: str, text: str) -> bool:
    wanted = text.removeprefix("./").strip("/")
    return path == wanted or path.startswith(f"{wanted}/") or path.endswith(f"/{wanted}")


def ranked(symbols: Sequence[StoredChunk], uses: Uses, focus: Focus) -> list[int]:
    """The places of the symbols, the most important first."""
    import numpy as np

    files = len(uses.files)
    seeds = {uses.files[file]: 1.0 for file in focus.files if file in uses.files}
    valued = np.ones(files)
    valued[[place for place in uses.aside if place not in seeds]] = ASIDE
    source, symbol = np.asarray(uses.sources, dtype=np.intp), np.asarray(uses.symbols, dtype=np.intp)
    home, weight = np.asarray(uses.homes, dtype=np.intp), np.asarray(uses.weights, dtype=float)
    # One more node, which nothing leaves, takes the part of a file's say that its uses do not.
    every, silent = np.arange(files), np.full(files, files)
    edges = np.append(source, every), np.append(home[symbol], silent), np.append(weight, np.full(files, SILENCE))
    starts = seeds or dict(enumerate(valued.tolist()))
    rank = pagerank(files + 1, *edges, starts, damping=DAMPING, iterations=ITERATIONS)
    flow = rank[source] * weight / (np.bincount(source, weight, files) + SILENCE)[source]
    used = np.bincount(symbol, flow, len(symbols))
    crowd = np.bincount(home, minlength=files)
    scores = (used + UNUSED * rank[home] / np.maximum(crowd[home], 1)) * valued[home]
    return [int(place) for place in np.argsort(-scores, kind="stable")]
