"""Code that was found, and indexes, as lines that a person reads."""

from collections.abc import Callable, Sequence
from datetime import datetime
from textwrap import dedent

from rich.text import Text

from retain.domain.code import CodeIndex, IndexStatus, StoredChunk
from retain.domain.recall import Warning
from retain.engine.code.code import Indexing
from retain.engine.code.finding.map import CodeMap
from retain.engine.code.finding.search import CodeAnswer
from retain.engine.code.finding.symbols import Definitions, References
from retain.surfaces.cli.draw import DIM, Drawn, age, several
from retain.surfaces.cli.terminal import Cut, Indented, line

MOST_LINES = 8  # of one hit
BESIDE = 10  # columns that place and score of a hit take

# What tools are called, and the command that does the same; the engine speaks to both.
_COMMANDS = {
    "call index_project": "run `retain index`",
    "index_project": "`retain index`",
    "list_projects": "`retain projects`",
    "search_code": "`retain code`",
    "another process is indexing this project; ask for its status": "another process is indexing this project",
}


def as_commands(text: str) -> str:
    """What the engine says, with commands in the place of tools."""
    for tool, command in _COMMANDS.items():
        text = text.replace(tool, command)
    return text


def warnings(them: Sequence[Warning]) -> Drawn:
    for warning in them:
        yield Indented(line(as_commands(warning.message)), 6, lead=line(("note: ", "yellow")))


def indexed(done: Indexing) -> Drawn:
    """What one run did."""
    index, tally = done.index, done.tally
    complete = index.status is IndexStatus.COMPLETED
    verb = ("indexed ", "green") if complete else ("stopped ", "yellow")
    yield line(verb, _flat(index.project.slug), (f" · {_sizes(index)}", DIM))
    acts = {"added": tally.added, "changed": tally.changed, "moved": tally.moved, "removed": tally.removed}
    news = ", ".join(f"{count:,} {what}" for what, count in acts.items() if count)
    yield line((f"  {news or 'nothing has changed'}", DIM))
    if index.skipped:
        reasons = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in sorted(index.skipped.items()))
        yield Indented(line((f"left out: {reasons}", DIM)))
    yield from warnings(done.warnings)


def again(index: CodeIndex, now: datetime) -> Drawn:
    """An index that a change has brought up to date."""
    yield line((f"{now.astimezone():%H:%M:%S} ", DIM), ("indexed ", "green"), _flat(index.project.slug), _dot(index))


def indexes(found: Sequence[CodeIndex], now: datetime, pace: Callable[[CodeIndex], str]) -> Drawn:
    """Indexes and how far they are; `pace` says it of one that is being made."""
    if not found:
        yield Text("No code is indexed. `retain index` makes this project searchable.")
    for index in found:
        when = f" · {age(index.completed, now)}" if index.completed else ""
        yield line((_flat(index.project.slug), "bold"), f"  {index.status.value}", (f" · {_sizes(index)}{when}", DIM))
        yield Cut(f"  {_flat(index.project.path)}", DIM)
        if index.status is IndexStatus.INDEXING:
            yield line((f"  {pace(index)}", DIM))
        if index.error:
            yield Indented(index.error, style="red")
        if index.status in (IndexStatus.PENDING, IndexStatus.FAILED):
            yield line(("  `retain index` with this path goes on.", DIM))


def found(answer: CodeAnswer) -> Drawn:
    if not answer.hits and answer.searched:
        yield Text("No code was found. Other words may find it.")
    several_projects = len(answer.searched) > 1
    for place, hit in enumerate(answer.hits, start=1):
        lead = line((f"{place:>2}  ", "bold"), f"{hit.score:.2f}")
        yield Indented(_heading(hit.stored, hit.project if several_projects else ""), BESIDE, lead=lead)
        yield from _excerpt(hit.stored.chunk.text)
    yield from warnings(answer.warnings)


def definitions(answer: Definitions) -> Drawn:
    several_projects = len({each.project for each in answer.found}) > 1
    for each in answer.found:
        yield Indented(_heading(each.stored, each.project if several_projects else ""), 0)
        yield from _excerpt(each.stored.chunk.text)
    if answer.total > len(answer.found):
        yield line((f"{answer.total:,} in all; --limit shows more of them.", DIM))
    yield from warnings(answer.warnings)


def references(answer: References) -> Drawn:
    several_projects = len({file.project for file in answer.files}) > 1
    for each in answer.definitions:
        yield line(("defined ", DIM), f"{_flat(each.stored.path)}:{each.stored.chunk.start_line}")
    for file in answer.files:
        beside = f"  · {_flat(file.project)}" if several_projects else ""
        yield line((_flat(file.path), "bold"), (beside, DIM))
        for use in file.uses:
            within = f"  in {_flat(use.within)}" if use.within else ""
            text = line(use.text or "(the file has changed)", (within, DIM))
            yield Indented(text, 9, lead=line((f"  {use.line:>5}", DIM)))
    if not answer.files:
        yield Text(f"Nothing uses {_flat(answer.name)}.")
    if answer.more:
        yield line(("There are more; --limit shows them.", DIM))
    yield from warnings(answer.warnings)


def mapped(answer: CodeMap) -> Drawn:
    for each in answer.text.splitlines():
        yield Cut(each, "" if each.startswith(" ") else "bold")
    shown = f"{answer.symbols:,} of {several(answer.total_symbols, 'symbols')} · {several(answer.tokens, 'tokens')}"
    yield line((shown, DIM))
    yield from warnings(answer.warnings)


def _heading(stored: StoredChunk, project: str) -> Text:
    chunk = stored.chunk
    where = f"{_flat(stored.path)}:{chunk.start_line}-{chunk.end_line}"
    beside = f"  {chunk.kind.value}" + (f" · {_flat(project)}" if project else "")
    return line((_flat(chunk.qualified), "bold"), f"  {where}", (beside, DIM))


def _excerpt(text: str) -> Drawn:
    lines = dedent(text.expandtabs(4)).strip("\n").rstrip().splitlines()
    for each in lines[:MOST_LINES]:
        yield Cut(f"    {each}".rstrip())
    if len(lines) > MOST_LINES:
        yield line((f"    … {several(len(lines) - MOST_LINES, 'lines')} more", DIM))


def _flat(text: str) -> str:
    """A name or path on one line: both may have line breaks in them."""
    return "".join("\ufffd" if letter in "\n\t" else letter for letter in text)


def _sizes(index: CodeIndex) -> str:
    return f"{several(index.indexed_files, 'files')}, {several(index.total_chunks, 'chunks')}"


def _dot(index: CodeIndex) -> tuple[str, str]:
    return f" · {_sizes(index)}", DIM
