"""Commands that read: recall, show, context, graph, history."""

from collections.abc import Sequence

import click

from retain.domain.graph import Direction
from retain.domain.memory import Kind, Scope
from retain.domain.recall import Strategy
from retain.domain.time import parse_moment
from retain.engine.context import SECTIONS, Task
from retain.engine.knowledge.walk import GraphQuestion
from retain.engine.recall.recall import Question
from retain.surfaces import render, reports
from retain.surfaces.cli import bodies, draw, exits, options
from retain.surfaces.cli.options import Call, common


@click.command()
@click.argument("question", nargs=-1, required=True)
@options.filters
@click.option("--tag", "tags", multiple=True, help="Only with this tag; any of several.")
@click.option("--strategy", type=click.Choice([s.value for s in Strategy]), default="hybrid", show_default=True)
@click.option("--min-importance", type=click.FloatRange(0, 1), default=0.0)
@click.option("--after", metavar="TIME", help="Only what happened since, such as 2026-02-20.")
@click.option("--before", metavar="TIME", help="Only what happened until then.")
@click.option("--forgotten", is_flag=True, help="Also what is forgotten or superseded.")
@click.option("--explain", is_flag=True, help="Show the terms of each score.")
@options.limit(50, 10)
@options.session
@common
def recall(
    call: Call,
    question: Sequence[str],
    scopes: Sequence[str],
    kinds: Sequence[str],
    tags: Sequence[str],
    strategy: str,
    min_importance: float,
    after: str | None,
    before: str | None,
    forgotten: bool,
    explain: bool,
    limit: int,
    session: str | None,
) -> int | None:
    """Find what is remembered about a QUESTION, best first."""
    asked = Question(
        " ".join(question),
        tuple(Scope(name) for name in scopes),
        tuple(Kind(name) for name in kinds),
        Strategy(strategy),
        limit,
        min_importance,
        tuple(tags),
        parse_moment(after, "--after") if after else None,
        parse_moment(before, "--before", until=True) if before else None,
        forgotten,
    )
    with call.memory() as app:
        answer = app.engine.recall(asked, app.caller(session))
        now = app.now()
    call.terminal.tell(reports.recalled(answer, explain=explain), draw.recalled(answer, now, explain=explain))
    return None if answer.hits else exits.NOTHING


@click.command()
@click.argument("id")
@common
def show(call: Call, id: str) -> None:
    """Show everything about one memory, with its whole text."""
    with call.memory() as app:
        stored, now = app.get(id), app.now()
    call.terminal.tell(render.whole(stored), draw.whole(stored, now))


@click.command()
@click.argument("task", nargs=-1)
@click.option("--file", "files", multiple=True, help="A file that is being worked on.")
@click.option("--section", "sections", multiple=True, type=click.Choice(list(SECTIONS)), help="Only this section.")
@click.option("--max-tokens", type=click.IntRange(100, 8000), default=2000, show_default=True)
@options.session
@common
def context(
    call: Call, task: Sequence[str], files: Sequence[str], sections: Sequence[str], max_tokens: int, session: str | None
) -> int | None:
    """Print a block of what matters for a TASK, as an agent is given it."""
    wanted = Task(" ".join(task), tuple(files), max_tokens, tuple(sections) or tuple(SECTIONS))
    with call.memory() as app:
        block = app.engine.context(wanted, app.caller(session))
    call.terminal.tell(reports.context(block), [block.text, *draw.warnings(block.warnings)])
    return None if block.memories else exits.NOTHING


@click.command()
@click.argument("entity", required=False)
@click.option("--relation", metavar="TYPE", help="Only edges of this type, such as depends_on.")
@click.option("--direction", type=click.Choice([d.value for d in Direction]), default="both", show_default=True)
@click.option("--depth", type=click.IntRange(1, 3), default=1, show_default=True, help="How many steps away.")
@click.option("--no-memories", is_flag=True, help="Only entities and how they relate.")
@options.limit(100, 20)
@common
def graph(
    call: Call, entity: str | None, relation: str | None, direction: str, depth: int, no_memories: bool, limit: int
) -> int | None:
    """Show what is connected with an ENTITY; without one, what is connected most."""
    asked = GraphQuestion(entity, relation, Direction(direction), depth, not no_memories, limit)
    with call.memory() as app:
        answer = app.engine.search_graph(asked, app.caller())
    call.terminal.tell(reports.graph(answer, asked), draw.graph(answer, entity))
    return None if answer.nodes else exits.NOTHING


@click.command()
@click.argument("id", required=False)
@click.option("--runs", is_flag=True, help="List consolidations instead.")
@options.limit(100, 20)
@common
def history(call: Call, id: str | None, runs: bool, limit: int) -> None:
    """Show what a memory said before, and what changed it and why."""
    if runs == bool(id):
        raise click.UsageError("history takes the id of a memory, or --runs")
    with call.memory() as app:
        now = app.now()
        if id:
            entries = app.engine.history(id, app.caller())
            call.terminal.tell(bodies.history(entries[0].memory, entries), draw.history(entries[-limit:], now))
        else:
            found = app.engine.runs(app.caller(), limit)
            call.terminal.tell(bodies.runs(found), draw.runs(found, now))
