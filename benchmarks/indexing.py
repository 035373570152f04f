"""How fast code is indexed: the standard library of this Python, and folders of very many files.

    python benchmarks/indexing.py [--quick] [--only library,vectors,many]

Nothing fails here because of a time: machines differ, and so does what else they do.
"""

import argparse
import resource
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from measuring import Row, load_average, table, timed
from results import save
from retain.app import SystemClock
from retain.domain.session import Caller
from retain.embedding.off import NoEmbedder
from retain.embedding.onnx import OnnxEmbedder
from retain.engine.code.code import Code, Indexing
from retain.engine.code.reading.files import walk
from retain.engine.code.reading.roots import Roots
from retain.engine.parts import Parts
from retain.ports import Embedder
from retain.stores.sqlite.store import SqliteStore
from servers import cores

LIBRARY = Path(sysconfig.get_path("stdlib"))
ANYTIME = 1e6
Section = Callable[[argparse.Namespace], Iterator[Row]]


def library(options: argparse.Namespace) -> Iterator[Row]:
    """The standard library by words only, then once more without a change."""
    root = LIBRARY / "json" if options.quick else LIBRARY
    with a_code(NoEmbedder("not measured here")) as (code, store):
        before, seconds, done = _peak(), *_indexed(code, root)
        skipped = ", ".join(f"{count:,} {reason}" for reason, count in sorted(done.index.skipped.items()))
        yield Row("files of the standard library", done.index.total_files, "files", note=f"left out: {skipped}")
        yield Row("chunks of it", done.index.total_chunks, "chunks")
        yield Row("indexing without vectors", done.index.total_chunks / seconds, "chunks/s", 300, at_least=True)
        yield Row("all of it", seconds, "s")
        yield Row("more memory at the peak", _peak() - before, "MB")
        yield Row("disk", store.size() / max(done.index.total_chunks, 1) / 1000, "KB/chunk")
        again, _ = _indexed(code, root)
        yield Row("a second run, nothing changed", again * 1000)


def vectors(options: argparse.Namespace) -> Iterator[Row]:
    """A part of it with the model that ships in the package."""
    root = LIBRARY / ("json" if options.quick else "asyncio")
    model = OnnxEmbedder()
    model.wait(60)
    with a_code(model) as (code, _):
        seconds, done = _indexed(code, root)
        note = f"{done.index.total_chunks:,} chunks of {root.name}"
        yield Row("indexing with vectors", done.index.total_chunks / seconds, "chunks/s", note=note)
        again, _ = _indexed(code, root)
        yield Row("a second run, nothing changed", again * 1000)


def many(options: argparse.Namespace) -> Iterator[Row]:
    """Folders of 10,000 and of 50,000 small files."""
    sizes = [1000, 5000] if options.quick else [10_000, 50_000]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        _grow(root, sizes[0])
        with a_code(NoEmbedder("not measured here")) as (code, _):
            seconds, done = _indexed(code, root)
            yield Row(f"{sizes[0]:,} files, the first run", seconds, "s", note=f"{done.index.total_chunks:,} chunks")
            again, _ = _indexed(code, root)
            yield Row(f"{sizes[0]:,} files, nothing changed", again, "s", 2.0)
        _grow(root, sizes[1])
        times = timed([lambda: sum(1 for _ in walk(root, Counter()))] * 3)
        yield Row(f"walking over {sizes[1]:,} files", times.median / 1000, "s", 2.0, note="three ignore files")


def _indexed(code: Code, root: Path) -> tuple[float, Indexing]:
    began = time.perf_counter()
    done = code.index(str(root), Caller(), patience=ANYTIME)
    return time.perf_counter() - began, done


@contextmanager
def a_code(embedder: Embedder) -> Iterator[tuple[Code, SqliteStore]]:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "retain.db")
        yield Code(Parts(store, embedder, SystemClock()), Roots((Path("/"),))), store
        store.close()


def _grow(root: Path, files: int) -> None:
    """Adds files until there are so many: 50 in a folder, in two layers, with ignore rules as a project has them."""
    (root / ".gitignore").write_text("*.log\n*.tmp\n/out/\n__pycache__/\n*.py[cod]\n.env*\n!.env.example\ndocs/_*/\n")
    for n in range(files):
        folder = root / f"area{n // 2500}" / f"part{n // 50}"
        if n % 50 == 0:
            folder.mkdir(parents=True, exist_ok=True)
        if n % 5000 == 0:
            (folder.parent / ".gitignore").write_text("*.generated.py\n!keep.generated.py\nlocal/\n")
        file = folder / f"file{n}.py"
        if not file.exists():
            file.write_text(f'def number_{n}(value):\n    """Adds {n} to a value."""\n    return value + {n}\n')


def _peak() -> float:
    """Megabytes of this process at its largest so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)


SECTIONS: dict[str, Section] = {"library": library, "vectors": vectors, "many": many}


def main() -> None:
    options = _options()
    print(f"load average {load_average():.1f} on {cores()} cores", flush=True)
    rows: dict[str, list[Row]] = {}
    for name in options.only:
        rows[name] = list(SECTIONS[name](options))
        print(f"\n{name} (load average {load_average():.1f})\n{table(rows[name])}", flush=True)
    told = {name: [row.told() for row in them] for name, them in rows.items()}
    machine = {"cores": cores(), "load_average": load_average(), "python": sys.version.split()[0]}
    print("saved", save("indexing", {"quick": options.quick, "machine": machine, "rows": told}))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small part of it, to see that it works")
    parser.add_argument("--only", type=lambda given: given.split(","), default=list(SECTIONS), help=",".join(SECTIONS))
    return parser.parse_args()


if __name__ == "__main__":
    main()
