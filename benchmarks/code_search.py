"""Finding functions by what their docstrings said of them: words, vectors and both together.

    python benchmarks/code_search.py [--full] [--classes] [--half report|tune] [--sweep] [corpus ...]

A question is the first sentence of a function's docstring. What is searched is the package itself, copied without the
docstrings of its functions and indexed as any project is. Figures are given twice: among functions and methods, and
among everything, where classes and module code, which repeat the names of functions, are answers too.

The questions are cut in two halves by their hash: weights are looked for on one (--half tune --sweep) and reported on
the other. Early choices were made with another cut of the first three corpora, so their reporting half is not sealed;
that of the last two corpora was looked at only when weights stood. Without --full, files of the standard library are
taken at random until they have 1,500 functions; packages are always whole. Vectors are kept under .cache for the next
run. With --classes what is asked for are classes, by the first sentences of theirs, and nothing has a docstring: what
helps functions must not cost them. Some packages may have been among those that the model was trained on: read vectors
as an upper bound.
"""

import argparse
import ast
import hashlib
import random
import re
import sqlite3
import statistics
import sysconfig
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType

import results
from retain.app import SystemClock
from retain.domain.code import ChunkKind, CodeFilter, CodeIndex, StoredChunk
from retain.domain.code_words import code_terms
from retain.domain.ids import id_of
from retain.domain.memory import Vector
from retain.domain.session import Caller, Project
from retain.embedding.onnx import OnnxEmbedder
from retain.engine.code.finding import rank
from retain.engine.code.finding.search import CodeQuestion, each_once, search
from retain.engine.code.indexing.index import Run
from retain.engine.embed import query_vector
from retain.engine.parts import Parts
from retain.stores.sqlite.store import SqliteStore

CACHE = Path(__file__).parent / ".cache" / "code_search"
CORPORA = ("stdlib", "pydantic", "_pytest", "huggingface_hub", "mcp")
LEFT_OUT = {"test", "tests", "testing", "_vendor", "site-packages", "idlelib", "lib2to3", "turtledemo", "__pycache__"}
FUNCTIONS = 1500  # of the standard library, without --full
QUESTIONS = 600  # from each corpus, in both halves
FEWEST_WORDS, MOST_WORDS = 6, 40
DEPTH = 10
SHIPPED = rank.VECTOR  # read once: a sweep changes it
FOUND = 50  # answers that are looked at, so that ten functions are among them

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
Figures = dict[str, float]


@dataclass(frozen=True)
class Question:
    """A sentence, and the function that it was written for, at its place in the copy."""

    text: str
    path: str
    name: str
    line: int

    @property
    def half(self) -> str:
        return "tune" if hashlib.sha256(self.text.encode()).digest()[0] % 2 else "report"

    def is_answered_by(self, found: StoredChunk) -> bool:
        """By the function itself, or by a later part of it."""
        chunk = found.chunk
        if (found.path, chunk.name) != (self.path, self.name):
            return False
        return chunk.start_line > self.line if chunk.part else chunk.start_line <= self.line <= chunk.end_line


@dataclass(frozen=True)
class Corpus:
    name: str
    parts: Parts
    index: CodeIndex
    questions: list[Question]
    functions: int
    seconds: float


class Kept:
    """The bundled model, with every vector it ever made on disk."""

    def __init__(self) -> None:
        self._real = OnnxEmbedder()
        CACHE.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(CACHE / "vectors.db")
        self._db.execute("create table if not exists vector (key blob primary key, numbers blob)")
        self.model, self.dimensions = self._real.model, 384
        self.state, self.warm, self.wait = self._real.state, self._real.warm, self._real.wait
        self.chunks, self.stats = self._real.chunks, self._real.stats

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        keys = [hashlib.sha256(f"{self.model}\0{text}".encode("utf-8", "replace")).digest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if self._known(key) is None}
        made = zip(missing, self._real.embed(list(missing.values())), strict=True)
        self._db.executemany("insert or replace into vector values (?, ?)", made)
        self._db.commit()
        return [self._known(key) or Vector(b"") for key in keys]

    def _known(self, key: bytes) -> Vector | None:
        row = self._db.execute("select numbers from vector where key = ?", (key,)).fetchone()
        return Vector(row[0]) if row else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", default=CORPORA, help="stdlib, or packages beside this Python")
    parser.add_argument("--full", action="store_true", help="the whole standard library: embedding it takes minutes")
    parser.add_argument("--half", choices=("report", "tune"), default="report")
    parser.add_argument("--classes", action="store_true", help="ask for classes; nothing is saved")
    parser.add_argument("--sweep", action="store_true", help="hybrid with other weights on vectors")
    given = parser.parse_args()
    figures: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in given.corpora:
            corpus = prepared(name, Path(folder), full=given.full, classes=given.classes)
            asked = [question for question in corpus.questions if question.half == given.half]
            print(f"\n{describe(corpus)}, {len(asked)} questions ({given.half})")
            rows = {
                f"{way}, {among}": figures_of
                for way, find in ways(corpus, sweep=given.sweep).items()
                for among, figures_of in score(asked, find).items()
                if among == "everything" or not given.classes
            }
            for way, row in rows.items():
                print(f"  {way:28}" + "".join(f"{column} {value:5.1f}   " for column, value in row.items()))
            counts = {"functions": corpus.functions, "chunks": corpus.index.total_chunks, "questions": len(asked)}
            figures[name] = {**counts, **rows}
    if given.half == "report" and not given.sweep and not given.classes:
        print(f"\nSaved as {results.save('code_search', figures)}")


def describe(corpus: Corpus) -> str:
    index = corpus.index
    return f"{corpus.name}: {index.indexed_files} files, {corpus.functions} functions, {index.total_chunks} chunks"


def ways(corpus: Corpus, *, sweep: bool) -> dict[str, Callable[[str], Iterator[StoredChunk]]]:
    """How a question can be answered; the lanes alone as the store gives them, one result for each symbol."""
    parts, wanted = corpus.parts, CodeFilter((corpus.index.key,))

    def by_words(text: str) -> Iterator[StoredChunk]:
        found = parts.store.code_by_words(code_terms(text), wanted, FOUND)
        return each_once(parts.store.code_chunks(list(found)).values())

    def by_vector(text: str) -> Iterator[StoredChunk]:
        vector, _ = query_vector(parts.embedder, text)
        assert vector is not None
        found = parts.store.code_by_vector(vector, parts.embedder.model, wanted, FOUND)
        return each_once(parts.store.code_chunks(list(found)).values())

    def hybrid(text: str, weight: float = SHIPPED) -> Iterator[StoredChunk]:
        rank.VECTOR, rank.WORDS = weight, 1 - weight
        question = CodeQuestion(text, corpus.index.project.id, limit=FOUND)
        return (hit.stored for hit in search(parts, question, Caller()).hits)

    weights = (0.5, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95) if sweep else ()
    others = {f"hybrid {weight}": lambda text, weight=weight: hybrid(text, weight) for weight in weights}
    return {"BM25": by_words, "vectors": by_vector, "hybrid": hybrid, **others}


def score(questions: Sequence[Question], find: Callable[[str], Iterator[StoredChunk]]) -> dict[str, Figures]:
    """Among functions, and among everything."""
    places: dict[str, list[int | None]] = {"functions": [], "everything": []}
    for question in questions:
        found = list(find(question.text))
        callable = [stored for stored in found if stored.chunk.kind in (ChunkKind.FUNCTION, ChunkKind.METHOD)]
        places["functions"].append(place(question, callable))
        places["everything"].append(place(question, found))
    return {among: percent(some) for among, some in places.items()}


def place(question: Question, found: Sequence[StoredChunk]) -> int | None:
    first = enumerate(found[:DEPTH], start=1)
    return next((place for place, stored in first if question.is_answered_by(stored)), None)


def percent(places: Sequence[int | None]) -> Figures:
    """The function first, among the first five or ten, and the mean reciprocal rank in the first ten."""
    within = {f"R@{depth}": [bool(place and place <= depth) for place in places] for depth in (1, 5, 10)}
    shares = {name: statistics.mean(hits) for name, hits in within.items()}
    shares["MRR"] = statistics.mean(1 / place if place else 0.0 for place in places)
    return {name: round(100 * share, 1) for name, share in shares.items()}


def prepared(name: str, folder: Path, *, full: bool, classes: bool = False) -> Corpus:
    """A corpus copied, indexed and embedded."""
    root = folder / name
    questions, functions = copied(name, root, full=full, classes=classes)
    parts = Parts(SqliteStore(folder / f"{name}.db"), Kept(), SystemClock())
    began = time.perf_counter()
    index = indexed(parts, root)
    there = parts.store.marks(index.key)
    kept = [question for question in questions if question.path in there]
    random.Random(7).shuffle(kept)
    return Corpus(name, parts, index, kept[: None if full else QUESTIONS], functions, time.perf_counter() - began)


def indexed(parts: Parts, root: Path) -> CodeIndex:
    parts.embedder.wait(60)
    now = parts.clock.now()
    project = Project(id_of(str(root)), root.name, str(root), now)
    claimed = parts.store.claim_index(CodeIndex(project, holder="benchmark", started=now, beat=now), now)
    assert claimed is not None
    run = Run(parts, claimed, threading.Event())
    run.work()
    return run.index


def copied(name: str, root: Path, *, full: bool, classes: bool) -> tuple[list[Question], int]:
    """Writes the sources without their functions' docstrings, or without any; says what can be asked about them."""
    source = Path(sysconfig.get_paths()["stdlib" if name == "stdlib" else "purelib"])
    source = source if name == "stdlib" else source / name
    files = [file for file in sorted(source.rglob("*.py")) if not LEFT_OUT & set(file.relative_to(source).parts)]
    if name == "stdlib":
        random.Random(7).shuffle(files)
    asked: list[Question] = []
    functions = 0
    for file in files:
        path = file.relative_to(source).as_posix()
        text = readable(file)
        if text is None:
            continue
        bare, questions, count = stripped(text, path, classes=classes)
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(bare)
        asked += questions
        functions += count
        if name == "stdlib" and not full and functions >= FUNCTIONS:
            break
    often = Counter(question.text for question in asked)
    return [question for question in asked if often[question.text] == 1], functions


def readable(file: Path) -> str | None:
    try:
        text = file.read_text()
        with warnings.catch_warnings(action="ignore"):  # other people's invalid escapes
            ast.parse(text)
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return None
    return text


def stripped(text: str, path: str, *, classes: bool) -> tuple[str, list[Question], int]:
    """The text without docstrings of functions, the questions that they make, and how many functions there are.

    With `classes` the text is without theirs too, and the questions are about them. The definitions of the copy are
    those of the original in the same order, which tells where each one went.
    """
    kinds, asked_for = (Definition, ast.ClassDef) if classes else (Function, Function)
    definitions = definitions_in(text, kinds)
    sentences = [
        sentence(ast.get_docstring(one) or "") if len(one.body) > 1 and isinstance(one, asked_for) else ""
        for one, _ in definitions
    ]
    copy = without_docstrings(text, [one for one, _ in definitions])
    moved = definitions_in(copy, kinds)
    questions = [
        Question(asked, path, one.name, one.lineno)
        for asked, (one, is_inner) in zip(sentences, moved, strict=True)
        if asked and not is_inner
    ]
    return copy, questions, sum(isinstance(one, Function) for one, _ in definitions)


def definitions_in(text: str, kinds: UnionType) -> list[tuple[Definition, bool]]:
    """All definitions of these kinds from the first line on, each with whether it is inside of a function."""
    found: list[tuple[Definition, bool]] = []

    def visit(node: ast.AST, is_inner: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, kinds):
                found.append((child, is_inner))
            visit(child, is_inner or isinstance(child, Function))

    with warnings.catch_warnings(action="ignore"):
        visit(ast.parse(text), False)
    return found


def without_docstrings(text: str, definitions: Sequence[Definition]) -> str:
    lines = text.encode().splitlines(keepends=True)
    for one in sorted(definitions, key=lambda one: -one.body[0].lineno):
        if ast.get_docstring(one, clean=False) is None:
            continue
        doc = one.body[0]
        last = doc.end_lineno or doc.lineno
        before, after = lines[doc.lineno - 1][: doc.col_offset], lines[last - 1][doc.end_col_offset :]
        stands_alone = not before.strip() and not after.strip()
        is_all = len(one.body) == 1
        lines[doc.lineno - 1 : last] = [] if stands_alone and not is_all else [before + b"..." + after]
    return b"".join(lines).decode()


def sentence(docstring: str) -> str:
    """The first sentence, when somebody could ask it."""
    paragraph = " ".join(docstring.strip().split("\n\n")[0].split())
    first = re.split(r"(?<!e\.g\.)(?<!i\.e\.)(?<=[.!?])\s", paragraph)[0]
    return first if FEWEST_WORDS <= len(first.split()) <= MOST_WORDS and ">>>" not in first else ""


if __name__ == "__main__":
    main()
