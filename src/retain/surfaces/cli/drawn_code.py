"""Code that was found, and indexes, as lines that a person reads."""

from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

from retain.domain.code import CodeIndex, IndexStatus, StoredChunk
from retain.engine.code.code import Indexing
from retain.engine.code.finding.map import CodeMap
from retain.engine.code.finding.search import CodeAnswer
from retain.engine.code.finding.symbols import Definitions, References
from retain.surfaces.cli.draw import DIM, Drawn, age, several, warnings
from retain.surfaces.cli.terminal import line, printable

MOST_LINES = 8  # of one hit


def indexed(done: Indexing) -> Drawn:
    index, tally = done.index, done.tally
    if index.status is IndexStatus.FAILED:
        yield line(("failed ", "red"), f"{index.project.slug}: {index.error or 'it was interrupted'}")
        return
    sizes = f"{index.indexed_files:,} files, {index.total_chunks:,} chunks"
    yield line(("indexed ", "green"), index.project.slug, (f" · {sizes}", DIM))
    acts = {"added": tally.added, "changed": tally.changed, "moved": tally.moved, "removed": tally.removed}
    news = ", ".join(f"{count:,} {what}" for what, count in acts.items() if count)
    yield line((f"  {news or 'nothing has changed'}", DIM))
    if index.skipped:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(index.skipped.items()))
        yield line((f"  left out: {reasons}", DIM))
    yield from warnings(done.warnings)


def indexes(found: Sequence[CodeIndex], now: datetime) -> Drawn:
    if not found:
        yield Text("No code is indexed. `retain index` makes this project searchable.")
    for index in found:
        when = f" · {age(index.completed, now)}" if index.completed else ""
        sizes = f"{index.indexed_files:,} files, {index.total_chunks:,} chunks"
        yield line((index.project.slug, "bold"), f"  {index.status.value}", (f" · {sizes}{when}", DIM))
        yield line((f"  {index.project.path}", DIM))
        if index.error:
            yield line(("  ", ""), (index.error, "red"))


def found(answer: CodeAnswer) -> Drawn:
    if not answer.hits and answer.searched:
        yield Text("No code was found. Other words may find it.")
    for place, hit in enumerate(answer.hits, start=1):
        yield line((f"{place:>2}  ", "bold"), f"{hit.score:.2f}  ", *_heading(hit.stored, hit.project, answer.searched))
        yield from _excerpt(hit.stored.chunk.text)
    yield from warnings(answer.warnings)


def definitions(answer: Definitions) -> Drawn:
    for each in answer.found:
        yield line(*_heading(each.stored, each.project, ()))
        yield from _excerpt(each.stored.chunk.text)
    if answer.total > len(answer.found):
        yield line((f"{answer.total} in all; --limit shows more of them.", DIM))
    yield from warnings(answer.warnings)


def references(answer: References) -> Drawn:
    for each in answer.definitions:
        yield line(("defined ", DIM), f"{each.stored.path}:{each.stored.chunk.start_line}")
    for file in answer.files:
        yield line((file.path, "bold"))
        for use in file.uses:
            within = f"  in {use.within}" if use.within else ""
            yield line((f"  {use.line:>5}  ", DIM), use.text or "(the file has changed)", (within, DIM))
    if not answer.files:
        yield Text(f"Nothing uses {printable(answer.name)}.")
    if answer.more:
        yield line(("There are more; --limit shows them.", DIM))
    yield from warnings(answer.warnings)


def about_map(answer: CodeMap) -> Drawn:
    shown = f"{answer.symbols:,} of {several(answer.total_symbols, 'symbols')} · {answer.tokens:,} tokens"
    yield line((shown, DIM))
    yield from warnings(answer.warnings)


def _heading(stored: StoredChunk, project: str, searched: Sequence[str]) -> tuple[str | tuple[str, str], ...]:
    chunk = stored.chunk
    where = f"{stored.path}:{chunk.start_line}-{chunk.end_line}"
    beside = f"  {chunk.kind.value}" + (f" · {project}" if len(searched) > 1 else "")
    return (chunk.qualified, "bold"), f"  {where}", (beside, DIM)


def _excerpt(text: str) -> Drawn:
    lines = text.rstrip().splitlines()
    for each in lines[:MOST_LINES]:
        yield line((f"    {each.expandtabs(4)}", ""))
    if len(lines) > MOST_LINES:
        yield line((f"    … {several(len(lines) - MOST_LINES, 'lines')} more", DIM))
