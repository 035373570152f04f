"""Steps that a command is about to make in files of others: shown, asked about, made."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from retain.app import SystemClock
from retain.clients import planning
from retain.clients.journal import Journal
from retain.clients.known import NAMES
from retain.clients.planning import Step
from retain.errors import Refused
from retain.surfaces.cli import drawn_setup, exits
from retain.surfaces.cli.draw import Drawn, several
from retain.surfaces.cli.options import Call

clients = click.option("--client", "names", multiple=True, type=click.Choice(NAMES), help="Only this one.")
dry_run = click.option("--dry-run", is_flag=True, help="Show the changes as a diff and make none.")


@dataclass(frozen=True)
class Work:
    call: Call
    steps: Sequence[Step]
    removing: bool = False
    summaries: Sequence[Step] = ()
    """Changes of a project's own texts, which `carry_out` leaves to the command."""
    remarks: Sequence[str] = ()
    """What else is to be known before."""

    @property
    def planned(self) -> list[Step]:
        return [*self.steps, *self.summaries]

    def show(self, **more: object) -> int | None:
        body = drawn_setup.body(self.planned, is_plan=True, removing=self.removing)
        self.call.terminal.tell(body | {"remarks": list(self.remarks)} | more, self._drawn_plan())
        return _code(self.planned)

    def allow(self, *, yes: bool) -> None:
        """Goes on if there is nothing to change, with --yes, or when somebody who is asked says so."""
        pending = sum(step.edit is not None for step in self.planned)
        if yes or not pending:
            return
        terminal, count = self.call.terminal, several(pending, "files")
        if not terminal.as_json and sys.stdin.isatty():
            terminal.draw(self._rows(self.planned, is_plan=True))
            # These texts are people's own, so how they change is shown before it is asked.
            terminal.draw([*drawn_setup.diffs(self.summaries), *self.remarks])
        if not terminal.asked(f"Change {count}? (--dry-run shows how)"):
            raise Refused(f"nothing was changed: {count} would be. --dry-run shows how, --yes does it without asking")

    def carry_out(self) -> list[Step]:
        make = planning.undo if self.removing else planning.do
        return make(self.steps, journal(self.call), SystemClock().now())

    def tell(self, done: Sequence[Step], drawn: Drawn, **more: object) -> int | None:
        """What became of it; the exit code says whether a file had to be left alone."""
        self.call.terminal.tell(
            drawn_setup.body(done, is_plan=False, removing=self.removing) | more, self._drawn(done, drawn)
        )
        return _code(done)

    def _rows(self, steps: Sequence[Step], *, is_plan: bool) -> Drawn:
        return drawn_setup.rows(steps, self.call.terminal.console.width, is_plan=is_plan, removing=self.removing)

    def _drawn_plan(self) -> Drawn:
        yield from self._rows(self.planned, is_plan=True)
        yield from drawn_setup.diffs(self.planned)
        yield from self.remarks
        idle = not self.remarks and not any(step.edit or step.problem for step in self.planned)
        yield "nothing to do; nothing was changed" if idle else "nothing was changed"

    def _drawn(self, done: Sequence[Step], rest: Drawn) -> Drawn:
        yield from self._rows(done, is_plan=False)
        yield from drawn_setup.copies(done, journal(self.call).folder)
        yield from rest


def journal(call: Call) -> Journal:
    return Journal(call.loaded.settings.backups / "clients")


def with_project(call: Call, root: Path) -> Mapping[str, object]:
    return {**call.given, "project_dir": root}


def _code(steps: Sequence[Step]) -> int | None:
    return exits.REFUSED if any(step.problem for step in steps) else None
