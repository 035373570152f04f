"""Commands that look up what was captured: search and ask."""

import sys
from collections.abc import Sequence

import click

from retain.domain.category import CAPTURED, CATEGORIES
from retain.domain.recall import Recalled
from retain.domain.visible import marked
from retain.engine.ask import Asked
from retain.engine.categories import category_of
from retain.engine.lookup.matching import Search, Sort, SortField
from retain.engine.parts import LASTING
from retain.engine.recall.recall import Question
from retain.surfaces import bank_reports
from retain.surfaces import capture_reports as reports
from retain.surfaces.cli import drawn_bank, exits, options, spoken
from retain.surfaces.cli import drawn_capture as draw
from retain.surfaces.cli.options import Call, common

MOST_FOUND = 100
LONGEST_SIGN = 16  # characters of an emoji of several


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--type", "types", multiple=True, type=click.Choice(CATEGORIES), help="Only this type; any of several.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag; any of several.")
@click.option("--facets", is_flag=True, help="Count all that matched by type, tag and length.")
@click.option("--explain", is_flag=True, help="Show what each score is made of, why, and the passage that matched.")
@click.option("--threshold", type=click.FloatRange(0, 1), help="How alike at least; at 0 shared words are enough.")
@click.option("--sort", type=click.Choice([f.value for f in SortField]), help="Best, newest or A first.")
@options.limit(MOST_FOUND, 20)
@common
def search(
    call: Call,
    query: Sequence[str],
    types: Sequence[str],
    tags: Sequence[str],
    facets: bool,
    explain: bool,
    threshold: float | None,
    sort: str | None,
    limit: int,
) -> int | None:
    """Search what is remembered, with its type and how far it still counts.

    With --facets, --explain, --threshold or --sort every match is looked at, and --type takes all types.
    """
    text = " ".join(query)
    if facets or explain or threshold is not None or sort:
        by = Sort(SortField(sort or SortField.RELEVANCE))
        asked = Search(text, tuple(types), tuple(tags), threshold=threshold or 0.0, limit=limit, sort=by)
        return _look_up(call, asked, facets=facets, explain=explain)
    _check_captured(types)
    question = Question(text, LASTING, tags=tuple(tags), limit=MOST_FOUND if types else limit)
    with call.memory() as app:
        answer, now = _of_types(app.engine.recall(question, app.caller()), types, limit), app.now()
    call.terminal.tell(reports.searched(answer, now), draw.searched(answer, now))
    return None if answer.hits else exits.NOTHING


@click.command()
@click.argument("question", nargs=-1, required=True)
@common
def ask(call: Call, question: Sequence[str]) -> int | None:
    """Answer a QUESTION from all that is remembered, as it comes; without a language model, with the best passages."""
    asked: Asked | None = None
    waiting = ""
    with call.memory() as app:
        for piece in app.engine.ask_streaming(" ".join(question), app.caller()):
            if isinstance(piece, Asked):
                asked = piece
            elif not call.terminal.as_json:
                whole, waiting = _parted(waiting + piece)
                sys.stdout.write(marked(whole))
                sys.stdout.flush()
        now = app.now()
    sys.stdout.write(marked(waiting))
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


def _parted(text: str) -> tuple[str, str]:
    """What can be shown of an answer that is still coming, and what waits: the next piece may join it into one sign."""
    plain = next((place + 1 for place in range(len(text) - 1, -1, -1) if text[place].isascii()), 0)
    at = max(plain, len(text) - LONGEST_SIGN)
    return text[:at], text[at:]


def _of_types(answer: Recalled, types: Sequence[str], limit: int) -> Recalled:
    """Only hits of these types: a type may be read from a memory's kind, which no lane filters by."""
    if not types:
        return answer
    found = [hit for hit in answer.hits if category_of(hit.stored.memory) in types]
    exact = len(answer.hits) < MOST_FOUND
    return Recalled(tuple(found[:limit]), len(found), answer.strategy, answer.warnings, exact)


def _look_up(call: Call, asked: Search, *, facets: bool, explain: bool) -> int | None:
    with spoken.memory(call) as app:
        answer, now = app.engine.lookup.search(asked, app.caller()), app.now()
    body = bank_reports.faceted(answer, with_facets=facets)
    body |= {"results": bank_reports.explained(answer)["results"]} if explain else {}
    drawn = drawn_bank.searched(answer, now, facets=facets, explain=explain, by=asked.sort.field)
    call.terminal.tell(body, drawn)
    return None if answer.hits else exits.NOTHING


def _check_captured(types: Sequence[str]) -> None:
    for name in types:
        if name not in CAPTURED:
            flags, known = "--facets, --explain, --threshold or --sort", ", ".join(CAPTURED)
            raise click.UsageError(f"--type {name} needs {flags}; without them types are {known}")
