"""`retain demo`: the main job as a short story, on a memory of its own that is gone afterwards."""

import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import RenderableType
from rich.text import Text

from retain.app import Retain
from retain.clients import this_install
from retain.config import apart, load
from retain.domain.memory import Kind, Scope
from retain.engine.drafts import Draft
from retain.engine.knowledge.walk import GraphQuestion
from retain.engine.recall.recall import Question
from retain.errors import RetainError
from retain.surfaces.cli import connect, draw
from retain.surfaces.cli.draw import DIM
from retain.surfaces.cli.terminal import Indented, Terminal, Verbatim

PAUSE = 0.3  # seconds after a step: enough to see that something happened, not enough to wait for
THEIRS = 20
MONDAY = "monday"

FACTS = (
    Draft(
        "Sessions expire after 15 minutes without a request, because AuthService lets their tokens lapse in Redis.",
        tags=("auth",),
        importance=0.8,
    ),
    Draft(
        "PaymentWorker depends on Redis for its locks, so run only one until the Stripe webhook is idempotent.",
        tags=("payments",),
    ),
    Draft("We chose Postgres LISTEN/NOTIFY over RabbitMQ for order events: one service less to run.", importance=0.7),
    Draft(
        "To cut a release: bump version.py, run make check, tag the commit, push the tag; CI publishes.",
        Kind.PROCEDURAL,
    ),
    Draft(
        "Prefers small commits with an imperative subject, and tests that are sentences.",
        scope=Scope.USER,
        importance=0.9,
    ),
)
SECRET = "The staging database is postgres://shop:hunter2-staging@db.internal/shop"
QUESTION = "why do people get logged out?"
TASK = "publish the next version"
EVENTS = (
    "test_checkout timed out on CI because the Stripe sandbox was slow to answer.",
    "test_checkout timed out on CI again while waiting for the Stripe sandbox.",
    "Raised the timeout of test_checkout to 60 seconds because the Stripe sandbox is slow.",
    "test_checkout passes on CI now that the Stripe sandbox has 60 seconds to answer.",
)


@dataclass(frozen=True)
class Stage:
    """A memory for the demo, and where its story is told."""

    app: Retain
    terminal: Terminal
    home: Path
    project: Path
    pause: float

    def chapter(self, title: str, line: str) -> None:
        self.say("", Text(title, "bold magenta"), Indented(line, style=DIM))

    def typed(self, *words: str) -> None:
        """The command that does the same."""
        self.say(Indented(shlex.join(["retain", *words]), style="cyan", lead=Text("$", DIM)))

    def say(self, *lines: RenderableType) -> None:
        self.terminal.draw(lines)

    def beat(self) -> None:
        self.terminal.console.file.flush()
        time.sleep(self.pause)


@click.command()
@click.option("--fast", is_flag=True, help="Without pauses.")
@click.option(
    "--json", "as_json", is_flag=True, help="One line of JSON at the end, and nothing else on standard output."
)
def demo(fast: bool, as_json: bool) -> None:
    """See what Retain does, in under a minute, on a memory of its own."""
    terminal = Terminal(as_json=as_json)
    if as_json:
        terminal.console.quiet = True
    began = time.perf_counter()
    with _stage(terminal, fast=fast) as stage:
        for chapter in CHAPTERS:
            chapter(stage)
        stored = stage.app.engine.status(stage.app.caller()).counts.total
    seconds = time.perf_counter() - began
    body = {"memories": stored, "seconds": round(seconds, 1), "connect": connect.for_claude_code(), **connect.servers()}
    terminal.tell(body, _ending(seconds))


def _store(stage: Stage) -> None:
    stage.chapter("Store", "What would be costly to find out again, in a sentence each.")
    for fact in FACTS:
        stage.typed("remember", fact.text)
        stage.say(*draw.remembered(stage.app.engine.remember(fact, stage.app.caller())))
        stage.beat()
    stage.say("", Indented("Secrets never reach the disk, and what is said twice is kept once:", style=DIM))
    for text in (SECRET, FACTS[2].text):
        stage.typed("remember", text)
        stage.say(*draw.remembered(stage.app.remember(text)))
        stage.beat()


def _recall(stage: Stage) -> None:
    stage.chapter("Recall by meaning", "The question shares no word with the answer.")
    stage.typed("recall", "--explain", "--limit", "2", QUESTION)
    answer = stage.app.engine.recall(Question(QUESTION, limit=2), stage.app.caller())
    stage.say(*draw.recalled(answer, stage.app.now(), explain=True))
    stage.beat()


def _graph(stage: Stage) -> None:
    stage.chapter("Knowledge graph", "Services, files and tools were read from the sentences.")
    stage.typed("graph", "Redis", "--no-memories")
    question = GraphQuestion("Redis", include_memories=False, limit=4)
    stage.say(*draw.graph(stage.app.engine.search_graph(question, stage.app.caller()), "Redis"))
    stage.beat()


def _context(stage: Stage) -> None:
    stage.chapter("Context block", "What an agent is handed at the start of a task, within a budget of tokens.")
    stage.typed("context", TASK)
    block = stage.app.context(TASK, max_tokens=300)
    stage.say(Indented(block.text), Text(f"  {block.tokens} of 300 tokens", DIM))
    stage.beat()


def _second_window(stage: Stage) -> None:
    stage.chapter(
        "Two windows at once", f"Another process stores {THEIRS} memories; this one writes until that one is done."
    )
    engine, caller = stage.app.engine, stage.app.caller()
    before = engine.status(caller).counts.total
    stage.typed("remember", "--lines")
    other = _another_window(stage)
    ours = 0
    while other.poll() is None:
        engine.remember(Draft(f"Order {2000 + ours} was shipped from the Leeds warehouse."), caller)
        ours += 1
    if other.returncode:
        raise RetainError("the second window could not write; run `retain doctor`")
    stored, faults = engine.status(caller).counts.total - before, engine.parts.store.faults()
    told = f" are there, {THEIRS} by that window and {ours} by this one; {len(faults)} faults"
    stage.say(Text.assemble((f"{stored} of {THEIRS + ours}", "green"), told))
    stage.beat()


def _another_window(stage: Stage) -> "subprocess.Popen[bytes]":
    """A process of its own, as another client would have it."""
    notes = stage.project / "notes"
    notes.write_text(
        "".join(f"Order {order} was refunded through the dashboard.\n" for order in range(1000, 1000 + THEIRS))
    )
    command = [*this_install.command(), "remember", "--lines", "--project", str(stage.project)]
    with notes.open() as lines:
        return subprocess.Popen(command, stdin=lines, stdout=subprocess.DEVNULL, env=apart(stage.home))


def _consolidate(stage: Stage) -> None:
    engine, caller = stage.app.engine, stage.app.caller(MONDAY)
    stage.chapter("Consolidation", "Events become a fact: as a dry run, for real, and undone.")
    for event in EVENTS:
        stage.typed("remember", "--type", "episodic", "--session", MONDAY, event)
        engine.remember(Draft(event, Kind.EPISODIC), caller)
    for dry_run in (True, False):
        stage.typed("consolidate", "--session", MONDAY, *(["--dry-run"] if dry_run else []))
        done = engine.consolidate(caller, MONDAY, "full", dry_run=dry_run)
        stage.say(*draw.consolidated(done, dry_run=dry_run))
        stage.beat()
    if done.run:
        stage.typed("undo", done.run)
        stage.say(*draw.undone(engine.undo(done.run, caller)))
        stage.beat()


CHAPTERS: tuple[Callable[[Stage], None], ...] = (_store, _recall, _graph, _context, _second_window, _consolidate)


def _ending(seconds: float) -> Iterable[RenderableType]:
    yield from ("", Text("Your turn", "bold magenta"))
    yield Indented(f"That took {seconds:.0f} s, on a memory that is gone now. Connect the clients you have:", style=DIM)
    yield Verbatim(connect.for_all_clients(), "cyan")
    yield Indented("Claude Code by hand, without hooks:", style=DIM)
    yield Verbatim(connect.for_claude_code(), "cyan")
    yield Indented("Any other client, in its .mcp.json:", style=DIM)
    yield Verbatim(connect.for_any_client(), "cyan")


@contextmanager
def _stage(terminal: Terminal, *, fast: bool) -> Iterator[Stage]:
    with TemporaryDirectory(prefix="retain-demo-") as folder:
        home, project = Path(folder) / "home", Path(folder) / "shop"
        (project / ".git").mkdir(parents=True)
        loaded = load({"project_dir": project}, apart(home), project)
        with Retain(loaded, own_session=False) as app:
            app.engine.warm()
            pause = PAUSE if terminal.console.is_terminal and not fast else 0.0
            yield Stage(app, terminal, home, project, pause)
