"""Commands that look up what was captured: search and ask."""

import sys
from collections.abc import Sequence

import click

from retain.domain.category import CAPTURED
from retain.domain.recall import Recalled
from retain.engine.ask import Asked
from retain.engine.categories import LASTING, category_of
from retain.engine.recall.recall import Question
from retain.surfaces import capture_reports as reports
from retain.surfaces.cli import drawn_capture as draw
from retain.surfaces.cli import exits, options
from retain.surfaces.cli.options import Call, common
from retain.surfaces.cli.terminal import printable

MOST_FOUND = 100


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--type", "types", multiple=True, type=click.Choice(CAPTURED), help="Only this type; any of several.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag; any of several.")
@options.limit(MOST_FOUND, 20)
@common
def search(call: Call, query: Sequence[str], types: Sequence[str], tags: Sequence[str], limit: int) -> int | None:
    """Search what is remembered, with the type that capture gave it and how far it still counts."""
    asked = Question(" ".join(query), LASTING, tags=tuple(tags), limit=MOST_FOUND if types else limit)
    with call.memory() as app:
        answer, now = _of_types(app.engine.recall(asked, app.caller()), types, limit), app.now()
    call.terminal.tell(reports.searched(answer, now), draw.searched(answer, now))
    return None if answer.hits else exits.NOTHING


@click.command()
@click.argument("question", nargs=-1, required=True)
@common
def ask(call: Call, question: Sequence[str]) -> int | None:
    """Answer a QUESTION from all that is remembered, as it comes; without a language model, with the best passages."""
    asked: Asked | None = None
    with call.memory() as app:
        for piece in app.engine.ask_streaming(" ".join(question), app.caller()):
            if isinstance(piece, Asked):
                asked = piece
            elif not call.terminal.as_json:
                sys.stdout.write(printable(piece))
                sys.stdout.flush()
        now = app.now()
    assert asked is not None  # it comes last
    call.terminal.tell(reports.asked(asked, now), draw.asked(asked, now))
    return None if asked.passages else exits.NOTHING


@click.command("list")
@click.option("--type", "type_", type=click.Choice(CAPTURED), help="Only this type.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag; any of several.")
@options.limit(1000, 20)
@common
def list_(call: Call, type_: str | None, tags: Sequence[str], limit: int) -> int | None:
    """List what is remembered of this project and the user, newest first."""
    with call.memory() as app:
        found, total = app.engine.categorised(app.caller(), type_, tags, limit)
        now = app.now()
    call.terminal.tell(reports.listed(found, total, now), draw.listed(found, total, now))
    return None if found else exits.NOTHING


def _of_types(answer: Recalled, types: Sequence[str], limit: int) -> Recalled:
    """Only hits of these types: a type may be read from a memory's kind, which no lane filters by."""
    if not types:
        return answer
    found = [hit for hit in answer.hits if category_of(hit.stored.memory) in types]
    exact = len(answer.hits) < MOST_FOUND
    return Recalled(tuple(found[:limit]), len(found), answer.strategy, answer.warnings, exact)
