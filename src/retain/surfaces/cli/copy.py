"""`retain copy`: a whole memory from one store into another."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.progress import Progress, TextColumn

from retain import transfer
from retain.domain.transfer import Sort
from retain.surfaces.cli import exits
from retain.surfaces.cli.draw import Drawn, several
from retain.surfaces.cli.options import Call, common
from retain.surfaces.cli.terminal import Terminal, line
from retain.transfer import Moved, Told

_PLACES = "sqlite:FILE, surrealkv:FOLDER, ws://HOST:PORT, wss://HOST or current (what the settings say)"


@click.command()
@click.option("--from", "source", metavar="STORE", default=transfer.CURRENT, help=f"{_PLACES}; default: current.")
@click.option("--to", "target", metavar="STORE", required=True, help="Likewise; a new store, or an earlier copy.")
@click.option("--dry-run", is_flag=True, help="Only compare them, and say what would be written.")
@common
def copy(call: Call, source: str, target: str, dry_run: bool) -> int | None:
    """Copy a whole memory into another store, and check every record.

    One that was interrupted goes on where it was when it is started again.
    """
    if transfer.CURRENT in (source, target):
        call.check_decided()
    giving, taking = (transfer.settings_for(name, call.loaded.settings) for name in (source, target))
    try:
        with _progress(call.terminal, "comparing" if dry_run else "copying") as told:
            done = transfer.copy(giving, taking, told, dry_run=dry_run)
    except KeyboardInterrupt:
        call.terminal.warn("stopped; the same command goes on from there")
        raise
    call.terminal.tell(_body(done, source, target, dry_run=dry_run), _drawn(done, dry_run=dry_run))
    return None if dry_run or done.copied.is_equal else exits.NOTHING


@contextmanager
def _progress(terminal: Terminal, doing: str) -> Iterator[Told]:
    """A line that counts; without a terminal a line for each sort that there is something of."""

    def counted(number: int, sort: Sort, looked_at: int) -> str:
        return f"{doing if number == 1 else f'checking ({number})'} {sort.value}: {looked_at:,}"

    if terminal.shows_progress:
        with Progress(TextColumn("{task.description}"), console=terminal.errors, transient=True) as bar:
            task = bar.add_task("")
            yield lambda number, sort, looked_at: bar.update(task, description=counted(number, sort, looked_at))
        return
    last: tuple[int, Sort, int] | None = None

    def noted(number: int, sort: Sort, looked_at: int) -> None:
        nonlocal last
        if last and last[1] is not sort:
            tell()
        last = (number, sort, looked_at)

    def tell() -> None:
        if last and last[2] and not terminal.as_json:
            terminal.errors.print(counted(*last))

    yield noted
    tell()


def _body(done: Moved, source: str, target: str, *, dry_run: bool) -> dict[str, object]:
    sorts = {
        sort.value: {
            "records": one.source.records,
            "written": 0 if dry_run else done.copied.written[sort],
            "differing": one.differing,
            "checksum": one.source.checksum,
            "target_checksum": one.target.checksum,
        }
        for sort, one in done.copied.sorts.items()
    }
    return {
        "from": source,
        "to": target,
        "dry_run": dry_run,
        "equal": done.copied.is_equal,
        "passes": done.copied.passes,
        "sorts": sorts,
        "code_indexes_not_copied": done.code_indexes,
    }


def _drawn(done: Moved, *, dry_run: bool) -> Drawn:
    for sort, one in done.copied.sorts.items():
        if one.source.records or one.differing:
            said = f"{done.copied.written[sort]:,} {'to write' if dry_run else 'written'}"
            yield line(f"{sort.value:<15}{one.source.records:>9,}   {said}")
    differing = {sort: one.differing for sort, one in done.copied.sorts.items() if one.differing}
    if not differing:
        yield line(("equal: ", "green"), "every record was compared, in number and by checksum")
    elif not dry_run:
        listed = ", ".join(f"{count:,} {sort.value}" for sort, count in differing.items())
        yield line(("differs: ", "red"), f"{listed}; run it again once nobody writes to the source")
    if done.code_indexes:
        what = several(done.code_indexes, "indexes of code") if done.code_indexes > 1 else "1 index of code"
        yield line(f"not copied: {what}; `retain index` in the project's folder makes it anew")
