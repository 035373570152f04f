"""What Retain takes of a disk: each memory, and the installation."""

import re
import tempfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import retain
from building import caller
from corpus import LookedUp, texts, vector_of, vectors
from engine_speed import engine_on
from measuring import Row
from retain.engine.drafts import Draft

MB = 1_000_000


def disk(number: int) -> Iterator[Row]:
    """Through the engine, which also writes history and the graph; the log is folded in when the store is closed."""
    rows = [(text, vector_of(row)) for text, row in zip(texts(), vectors(number), strict=False)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "disk.db"
        with engine_on(file, LookedUp(dict(rows))) as engine:
            kept = [engine.remember(Draft(text), caller(f"session-{n // 40}")) for n, (text, _) in enumerate(rows)]
        added = [done.memory for done in kept if not done.reinforced]
        said = sum(len(memory.text.encode()) for memory in added)
        beyond = (file.stat().st_size - said) / len(added) / 1000
        yield Row(
            "disk for each memory beyond its text",
            beyond,
            "KB",
            3.0,
            note=f"text {said / len(added) / 1000:.2f} KB; {_largest(file)}",
        )


def _largest(file: Path) -> str:
    import sqlite3

    db = sqlite3.connect(file)
    try:
        sizes = db.execute("select name, sum(pgsize) from dbstat group by name order by 2 desc limit 6").fetchall()
    except sqlite3.OperationalError:  # not every build has dbstat
        return ""
    finally:
        db.close()
    total = file.stat().st_size
    return ", ".join(f"{name} {100 * size / total:.0f} %" for name, size in sizes)


def install() -> Iterator[Row]:
    found = _closure("retain")
    sizes = {name: _size(each) for name, each in found.items()} | {"retain": _folder(Path(retain.__file__).parent)}
    compiled = sum(_size(each, ".pyc") for each in found.values()) / MB
    largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:5]
    note = ", ".join(f"{name} {sizes[name] / MB:.0f}" for name in largest) + f"; compiled byte code is {compiled:.0f}"
    yield Row("install without extras", sum(sizes.values()) / MB, "MB", 200, note=note)
    yield Row("packages without extras", len(sizes), "", 45)


def _closure(name: str, found: dict[str, Distribution] | None = None) -> dict[str, Distribution]:
    """All that is installed because of a package; a requirement for another platform is not here to be found."""
    found = {} if found is None else found
    try:
        here = distribution(name)
    except PackageNotFoundError:
        return found
    found[_plain(name)] = here
    for requirement in here.requires or ():
        needed = _plain(re.split(r"[\s\[<>=!~;(]", requirement, maxsplit=1)[0])
        if _is_meant(requirement) and needed not in found:
            _closure(needed, found)
    return found


def _is_meant(requirement: str) -> bool:
    from packaging.requirements import Requirement

    marker = Requirement(requirement).marker
    return marker is None or marker.evaluate({"extra": ""})


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _size(package: Distribution, ending: str = "") -> int:
    files = [Path(str(file.locate())) for file in package.files or () if file.name.endswith(ending)]
    return sum(file.stat().st_size for file in files if file.is_file())


def _folder(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
