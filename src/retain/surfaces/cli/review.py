"""`retain review`: what was captured from conversations since the person last looked."""

import sys
from collections.abc import Sequence

import click

from retain.app import Retain
from retain.domain.memory import Memory
from retain.surfaces import claude_md
from retain.surfaces.cli import drawn_review, exits, reviewing
from retain.surfaces.cli.editing import in_editor
from retain.surfaces.cli.options import Call, common
from retain.surfaces.cli.reviewing import Key, Walk


@click.command()
@click.option("--all", "everything", is_flag=True, help="Also what was reviewed before.")
@click.option("--session", metavar="ID|last", help="Only what was captured in this session; `last` is the newest here.")
@common
def review(call: Call, everything: bool, session: str | None) -> int | None:
    """Look over what was captured from conversations: keep, edit, forget, or change its scope.

    Shows what is new since the last review, oldest first. In a terminal each is shown alone and waits for a key;
    elsewhere they are listed, and listing does not count as a review.
    """
    with call.memory() as app:
        caller, lookup = app.caller(), app.engine.lookup
        meant = lookup.captured_session(session, caller) if session else None
        captured = lookup.captured(caller, meant)
        new = reviewing.still_new(app, captured)
        found = captured if everything else new
        if found and call.terminal.can_ask and sys.stdout.isatty():
            _walk(call, app, found)
            return None
        now = app.now()
    body = drawn_review.body(found, {memory.id for memory in new})
    call.terminal.tell(body, drawn_review.listed(found, now) if found else drawn_review.nothing(len(captured)))
    return None if found else exits.NOTHING


def _walk(call: Call, app: Retain, found: Sequence[Memory]) -> None:
    walk = Walk(app, list(found), in_editor)
    try:
        _step_by_step(call, walk)
    finally:
        reviewing.settle(app, app.engine.lookup.captured(app.caller()))
        if walk.steps:
            claude_md.sync_project(app)
    call.terminal.draw(drawn_review.ended(walk.steps, walk.left))


def _step_by_step(call: Call, walk: Walk) -> None:
    """Until all were seen or somebody quits; after the last one there is still a chance to undo."""
    terminal = call.terminal
    while True:
        memory = walk.current
        if memory is not None:
            terminal.draw(drawn_review.one(memory, (walk.at + 1, len(walk.memories)), walk.app.now()))
        terminal.draw(drawn_review.keys(memory))
        key = _key(is_over=memory is None)
        if key is None or key is Key.QUIT:
            return
        terminal.draw(drawn_review.help_() if key is Key.HELP else drawn_review.said(walk.press(key)))


def _key(*, is_over: bool) -> Key | None:
    """The next key that means something; at the end anything but undo ends the walk."""
    while True:
        try:
            pressed = click.getchar().lower()
        except EOFError:
            return Key.QUIT
        if is_over and pressed != Key.UNDO:
            return None
        if pressed in set(Key):
            return Key(pressed)
