"""Commands about code: index, projects, code, map."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from retain.app import Retain
from retain.domain.code import CodeIndex
from retain.domain.visible import marked
from retain.engine.code.code import Indexing
from retain.engine.code.finding.search import CodeQuestion
from retain.engine.code.indexing.progress import progress_percent
from retain.errors import Refused, RetainError, shorten
from retain.surfaces import code_reports
from retain.surfaces.cli import drawn_code, exits, options
from retain.surfaces.cli.options import Call, common
from retain.surfaces.cli.terminal import Terminal, line


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--watch", is_flag=True, help="Go on, and index again whenever files change; ends with Ctrl-C.")
@common
def index(call: Call, path: Path | None, watch: bool) -> None:
    """Make the code in PATH searchable; by default that of this project. Only what changed is read again."""
    with _memory(call) as app:
        caller = app.caller()
        folder = path or Path(caller.project.path if caller.project else ".")
        try:
            with _bar(call.terminal, app, folder.name or str(folder)) as tell:
                done = app.engine.code.index(str(folder), caller, watch=watch, patience=None, progress=tell)
        except KeyboardInterrupt:
            call.terminal.warn("stopped; what is done is kept, and `retain index` goes on from there")
            raise
        call.terminal.tell(code_reports.indexed(app, done), drawn_code.indexed(done))
        if watch:
            _stay(call.terminal, app, done)


@click.command()
@click.argument("name", required=False)
@click.option("--drop", is_flag=True, help="Delete the index of NAME; its files and memories stay.")
@options.yes
@common
def projects(call: Call, name: str | None, drop: bool, yes: bool) -> int | None:
    """List the projects whose code is indexed, or show how far the index of NAME is.

    `retain project` has the names of all projects.
    """
    if drop and not name:
        raise click.UsageError("--drop takes the NAME of a project")
    with _memory(call) as app:
        caller = app.caller()
        if name and drop:
            _drop(call, app, name, yes=yes)
            return None
        found = [app.engine.code.status(name, caller)] if name else app.engine.code.indexes(caller)
        body = {"projects": [code_reports.index(app, each) for each in found], "count": len(found)}
        call.terminal.tell(body, drawn_code.indexes(found, app.now(), partial(code_reports.paced, app)))
    return None if found else exits.NOTHING


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--definition", is_flag=True, help="Where the symbol QUERY is defined.")
@click.option("--references", is_flag=True, help="Which lines use the symbol QUERY.")
@click.option("--in", "within", metavar="NAME", help="Only in this indexed project, by name or folder.")
@click.option("--language", "languages", multiple=True, help="Only in this language, such as python.")
@options.limit(50, 10)
@common
def code(
    call: Call,
    query: Sequence[str],
    definition: bool,
    references: bool,
    within: str | None,
    languages: Sequence[str],
    limit: int,
) -> int | None:
    """Find code by what it does or what it is called: QUERY is a question, or the name of a symbol."""
    if definition and references:
        raise click.UsageError("--definition and --references exclude each other")
    asked = CodeQuestion(" ".join(query), within, tuple(languages), limit)
    with _memory(call) as app:
        caller, code = app.caller(), app.engine.code
        if definition:
            defined = code.definitions(asked, caller)
            call.terminal.tell(code_reports.definitions(defined), drawn_code.definitions(defined))
            return None
        if references:
            used = code.references(asked, caller)
            call.terminal.tell(code_reports.references(used), drawn_code.references(used))
            return None if used.files else exits.NOTHING
        answer = code.search(asked, caller)
    call.terminal.tell(code_reports.found(answer), drawn_code.found(answer))
    return None if answer.hits else exits.NOTHING


@click.command("map")
@click.argument("focus", nargs=-1)
@click.option("--in", "within", metavar="NAME", help="Of this indexed project, by name or folder.")
@click.option("--tokens", type=click.IntRange(100, 100_000), default=2000, show_default=True, help="At most so many.")
@common
def map_(call: Call, focus: Sequence[str], within: str | None, tokens: int) -> None:
    """Outline the symbols that the rest of the code leans on most; FOCUS are files and names that matter now."""
    with _memory(call) as app:
        answer = app.engine.code.map(within, app.caller(), budget=tokens, focus=focus)
    call.terminal.tell(code_reports.map_of(answer), drawn_code.mapped(answer))


@contextmanager
def _memory(call: Call) -> Iterator[Retain]:
    """The memory; what it refuses is said in the words of commands."""
    try:
        with call.memory() as app:
            yield app
    except RetainError as error:
        error.message = drawn_code.as_commands(error.message)
        raise


@contextmanager
def _bar(terminal: Terminal, app: Retain, name: str) -> "Iterator[code_reports.Tell]":
    texts = (TextColumn(field, markup=False) for field in ("{task.description}", "{task.fields[said]}"))
    columns = (next(texts), BarColumn(), next(texts), TimeRemainingColumn())
    with Progress(*columns, console=terminal.errors, disable=not terminal.shows_progress, transient=True) as bar:
        complete = code_reports.with_vectors(app)
        task = bar.add_task(f"indexing {shorten(name, 30)}", total=100, said="looking for files")

        def tell(index: CodeIndex) -> None:
            bar.update(task, completed=progress_percent(index, with_vectors=complete), said=code_reports.said(index))

        yield tell


def _stay(terminal: Terminal, app: Retain, done: Indexing) -> None:
    """Waits until somebody interrupts, and says what was indexed meanwhile."""
    terminal.errors.print(line(f"watching {done.index.project.path}; Ctrl-C ends it"), soft_wrap=True)

    def tell(index: CodeIndex) -> None:
        terminal.tell(code_reports.index(app, index), drawn_code.again(index, app.now()))
        sys.stdout.flush()  # a pipe is read as it comes

    sys.stdout.flush()
    app.engine.code.wait_while_watching(tell)


def _drop(call: Call, app: Retain, name: str, *, yes: bool) -> None:
    size = app.engine.code.status(name, app.caller()).total_chunks
    if not yes and not call.terminal.asked(f"Delete the index of {marked(name)} ({size:,} chunks)?"):
        raise Refused(f"the index of {name} was not deleted: making it anew takes time, so it takes --yes")
    chunks = app.engine.code.drop(name, app.caller())
    call.terminal.tell({"chunks_deleted": chunks}, [f"deleted the index of {name}: {chunks:,} chunks"])
