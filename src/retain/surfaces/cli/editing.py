"""`retain edit`: a person rewords a memory, on the command line or in their editor."""

import sys
from collections.abc import Sequence

import click

from retain.app import Retain
from retain.engine.revise import Edit, Revised
from retain.surfaces import claude_md, reports
from retain.surfaces.cli import draw
from retain.surfaces.cli.options import Call, common
from retain.surfaces.cli.terminal import line

BY_HAND = {"said_by": "user"}  # whoever types it here


@click.command()
@click.argument("id")
@click.argument("text", nargs=-1)
@common
def edit(call: Call, id: str, text: Sequence[str]) -> None:
    """Replace what a memory says with TEXT; without it, open $VISUAL or $EDITOR.

    An empty or unchanged file changes nothing. What it said before stays in `retain history`.
    """
    if not text and (call.terminal.as_json or not sys.stdin.isatty()):
        raise click.UsageError("no new text was given, and there is no terminal for an editor; say it after the ID")
    with call.memory() as app:
        before = app.get(id).memory
        new = " ".join(text) if text else in_editor(before.text)
        if new is None or new == before.text:
            call.terminal.tell({"memory_id": f"memory:{before.id}", "updated_fields": []}, ["nothing was changed"])
            return
        done = reword(app, before.id, new)
        claude_md.sync_project(app)
    call.terminal.tell(reports.revised(done), _drawn(done))


def in_editor(text: str) -> str | None:
    """What somebody made of a text in the editor that they chose; None when it is empty or as it was.

    It lies in a temporary file that only they can read, and goes with it.
    """
    new = click.edit(text, extension=".md", require_save=True)
    return new.strip() or None if new is not None and new.strip() != text.strip() else None


def reword(app: Retain, id: str, text: str) -> Revised:
    return app.engine.update(id, Edit(text=text, provenance=BY_HAND), app.caller())


def _drawn(done: Revised) -> draw.Drawn:
    yield line(("changed", "green"), f" memory:{done.memory.id}")
    yield from draw.memories([done.memory])
    for rival in done.contradicts:
        yield line(("contradicts ", "yellow"), f"memory:{rival.other(done.memory.id)}: {rival.detail}")
    if done.redacted:
        yield line(("removed before storing: ", "yellow"), ", ".join(done.redacted))
    yield from draw.warnings(done.warnings)
