"""A map of a project: the symbols that the rest of it leans on most, as an outline within a token budget."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from retain.domain.code import ChunkKind, CodeIndex, StoredChunk
from retain.domain.code_words import is_called, is_compound, is_test
from retain.domain.recall import Warning
from retain.domain.session import Caller
from retain.engine.code.finding.sketch import Sketch, most_that_fit
from retain.engine.code.finding.which import chosen, remarks
from retain.engine.context import tokens_in
from retain.engine.knowledge.pagerank import pagerank
from retain.engine.parts import Parts
from retain.errors import Refused, invalid

FEWEST_TOKENS = 100
MOST_TOKENS = 100_000
DAMPING, ITERATIONS = 0.85, 40

# What a use of a name says about the file that defines it. A plain word in lower case may be anybody's (`items`,
# `get`, `index`); a private name is not meant for others; inside of its own file a use says little about the project.
PLAIN, PRIVATE, AT_HOME = 0.1, 0.1, 0.1
FOCUSED = 10.0
# Plain words that so many files use are at half: `str` is somewhere a function, and mostly not that one.
COMMON = 10
# A name with more definers says nothing about any of them.
MOST_DEFINERS = 20
# What tests use matters less than what the product uses.
TEST_FILE = 0.1
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


@dataclass(slots=True)
class Uses:
    """Who uses which symbol, as the columns that PageRank walks on."""

    files: dict[tuple[str, str], int] = field(default_factory=dict)
    sources: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    symbols: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    homes: list[int] = field(default_factory=list)
    """The file of each symbol."""

    def file(self, index: str, path: str) -> int:
        return self.files.setdefault((index, path), len(self.files))

    def add(self, source: int, target: int, symbol: int, weight: float) -> None:
        self.sources.append(source)
        self.targets.append(target)
        self.symbols.append(symbol)
        self.weights.append(weight)


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
    uses = _uses(parts, indexes, symbols, focused)
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


def _uses(parts: Parts, indexes: Iterable[CodeIndex], symbols: Sequence[StoredChunk], focus: Focus) -> Uses:
    uses = Uses()
    uses.homes = [uses.file(symbol.index, symbol.path) for symbol in symbols]
    defined: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for place, symbol in enumerate(symbols):
        defined[symbol.index, symbol.chunk.name].append(place)
    for key in [index.key for index in indexes]:
        found = [use for use in parts.store.uses(key) if (key, use[1]) in defined]
        users = Counter(name for _, name, _ in found)
        for path, name, lines in found:
            definers, focused = defined[key, name], name in focus.names
            if len(definers) <= MOST_DEFINERS or focused:
                weight = _weight(name, users[name], len(definers)) * (FOCUSED if focused else 1.0)
                _spread(uses, uses.file(key, path), definers, weight * lines**0.5)
    return uses


def _weight(name: str, users: int, definers: int) -> float:
    """What a use of a name is worth; one that many define is likely another one's."""
    plain = PLAIN / (1 + users / COMMON) if name.islower() and not is_compound(name) else 1.0
    private = PRIVATE if name.startswith("_") else 1.0
    return float(plain * private / definers**0.5)


def _spread(uses: Uses, source: int, definers: Sequence[int], weight: float) -> None:
    """One use among all that it may mean; when the file itself defines the name it means that."""
    own = [place for place in definers if uses.homes[place] == source]
    meant, each = (own, AT_HOME * weight / len(own)) if own else (definers, weight / len(definers))
    for place in meant:
        uses.add(source, uses.homes[place], place, each)


def ranked(symbols: Sequence[StoredChunk], uses: Uses, focus: Focus) -> list[int]:
    """The places of the symbols, the most important first."""
    import numpy as np

    files = len(uses.files)
    seeds = {uses.files[file]: 1.0 for file in focus.files if file in uses.files}
    seeds = seeds or {place: TEST_FILE if is_test(path) else 1.0 for (_, path), place in uses.files.items()}
    rank = pagerank(files, uses.sources, uses.targets, uses.weights, seeds, damping=DAMPING, iterations=ITERATIONS)
    source, weight = np.asarray(uses.sources, dtype=np.intp), np.asarray(uses.weights, dtype=float)
    leaving = np.bincount(source, weight, files) if len(source) else np.ones(files)
    flow = rank[source] * weight / leaving[source] if len(source) else weight
    used = np.bincount(np.asarray(uses.symbols, dtype=np.intp), flow, len(symbols))
    home = np.asarray(uses.homes, dtype=np.intp)
    crowd = np.bincount(home, minlength=files)
    scores = used + UNUSED * rank[home] / np.maximum(crowd[home], 1)
    return [int(place) for place in np.argsort(-scores, kind="stable")]
