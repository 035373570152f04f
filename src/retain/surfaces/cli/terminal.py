"""What a command writes: JSON on one line for programs, drawn lines for people."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

import click
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from retain.domain.connection import Met
from retain.domain.visible import marked, visible_in
from retain.errors import RetainError
from retain.standing import Notice
from retain.surfaces import degraded

# A pipe has no width: what is read by another program is not cut into lines.
ENDLESS = 1_000_000


class Terminal:
    """Where the output of one command goes."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self.met = Met()
        self.notices: Callable[[], Sequence[Notice]] = tuple
        self.console = _console(stderr=False)
        self.errors = _console(stderr=True)

    def tell(self, body: Mapping[str, object], drawn: Iterable[RenderableType]) -> None:
        """The same data in one of its two forms."""
        if self.as_json:
            self.write(body)
        else:
            self.draw(drawn)

    def draw(self, drawn: Iterable[RenderableType]) -> None:
        for each in drawn:
            shown = marked(each) if isinstance(each, str) else each
            self.console.print(shown, soft_wrap=isinstance(each, Verbatim))

    def write(self, body: Mapping[str, object]) -> None:
        """One line, which also says when the database was away, and what stands."""
        self._write(degraded.marked(body, self.met, self.notices()))

    def _write(self, body: object) -> None:
        """Letters that the stream has no bytes for are written as JSON escapes."""
        plain = sys.stdout.encoding.lower() not in ("utf-8", "utf8")
        sys.stdout.write(
            json.dumps(visible_in(body), ensure_ascii=plain, separators=(",", ":"), allow_nan=False, default=str) + "\n"
        )

    def warn(self, message: str) -> None:
        self.errors.print(line(("retain: ", "yellow"), message), soft_wrap=True)

    def fail(self, error: RetainError) -> None:
        """One line on standard error; with --json the envelope that a tool would answer."""
        if self.as_json:
            body = {"error": error.code, "message": error.message, "retry_possible": error.retry_possible}
            self._write(body | dict(error.details))
        else:
            self.errors.print(line(("retain: ", "red"), " ".join(error.message.split())), soft_wrap=True)

    @property
    def shows_progress(self) -> bool:
        return not self.as_json and self.errors.is_terminal

    @property
    def can_ask(self) -> bool:
        """Whether somebody is there to be asked."""
        return not self.as_json and sys.stdin.isatty()

    def asked(self, question: str) -> bool:
        """Whether somebody is there and says yes."""
        return self.can_ask and click.confirm(question, err=True)


class Indented:
    """A text that keeps its distance from the left when it wraps; `lead` stands in that space on the first line."""

    def __init__(self, text: Text | str, by: int = 2, style: str = "", *, lead: Text | None = None) -> None:
        self.text = text if isinstance(text, Text) else Text(marked(text), style)
        self.by = by
        self.lead = lead or Text()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lead = self.lead.copy()
        lead.pad_right(self.by - lead.cell_len)
        for wrapped in self.text.wrap(console, max(options.max_width - self.by, 20)):
            wrapped.rstrip()
            yield Text.assemble(lead, wrapped)
            lead = Text(" " * self.by)


class Cut:
    """A line of which as much is shown as fits, as code is hard to read when it is wrapped."""

    def __init__(self, text: str, style: str = "") -> None:
        self.text = Text(marked(text), style, no_wrap=True, overflow="ellipsis")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text


class Verbatim(Text):
    """A line to be copied: the terminal may wrap it, and nothing is added."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def line(*parts: str | tuple[str, str]) -> Text:
    """One line of several parts, each a text or a text with its style."""
    return Text.assemble(*((marked(p), "") if isinstance(p, str) else (marked(p[0]), p[1]) for p in parts))


def _console(*, stderr: bool) -> Console:
    console = _Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = ENDLESS
    return console
