"""Options that commands share, and what a command is given of them."""

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import click

from retain.app import Retain
from retain.config import Loaded, load
from retain.domain.connection import noticing
from retain.domain.memory import Kind, Scope
from retain.engine.comparer import Patience
from retain.errors import Refused
from retain.standing import SETTINGS, Notice, of_settings
from retain.surfaces import degraded
from retain.surfaces.cli.terminal import Terminal

P = ParamSpec("P")
R = TypeVar("R")

# Counting accesses and finishing a long text's vectors may go on after the answer, but not for long.
SETTLE_SECONDS = 2.0
# A person waits for a command, not an agent, and wants to see what the new contradicts.
AT_A_TERMINAL = Patience(reply=5.0, encode=5.0, most=100)


@dataclass(frozen=True)
class Call:
    """One run of a command: where it writes to, and whose memory it opens."""

    terminal: Terminal
    given: Mapping[str, object]
    loaded: Loaded

    @classmethod
    def of(cls, terminal: Terminal, **given: object) -> "Call":
        """Settings that were given on the command line go before all others; what is wrong with any is told."""
        loaded = load(given)
        for problem in loaded.remarks:
            terminal.warn(problem)
        terminal.notices = lambda: of_settings(loaded.problems)
        if loaded.settings.log_level == "debug":
            logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
        return cls(terminal, given, loaded)

    @contextmanager
    def memory(self) -> Iterator[Retain]:
        """The memory, without a session of its own: a command is no conversation."""
        if self.loaded.settings.deployment_mode == "embedded-memory":
            self.terminal.warn("deployment_mode is embedded-memory: what is stored now ends with this command")
        with Retain(self.loaded, own_session=False, patience=AT_A_TERMINAL) as app, noticing() as met:
            self.terminal.met, self.terminal.notices = met, app.notices
            try:
                yield app
            finally:
                self._tell_what_stands(app.notices())
            app.engine.settle(SETTLE_SECONDS)
            if met.is_away:
                at_the_end = met.connection()
                met.connection = lambda: at_the_end  # what is told later is told of a closed store
                self.terminal.warn(degraded.remark(met))

    def check_decided(self) -> None:
        """For what is about a whole store: it must be clear which one that is."""
        if self.loaded.is_held and self.loaded.project_file:
            raise Refused(f"nothing was done: {self.loaded.project_file.remark}")

    def _tell_what_stands(self, notices: Sequence[Notice]) -> None:
        """Also where nothing was found: it may be in what is missing. What is wrong with settings was told before."""
        self.terminal.notices = lambda: notices  # what is told later is told of a closed store
        for notice in notices:
            if notice.code != SETTINGS:
                self.terminal.warn(notice.message)


def common(command: Callable[Concatenate[Call, P], R]) -> Callable[P, R]:
    """Adds --project, --user, --agent and --json, and hands the command a `Call`."""

    @click.option("--project", type=click.Path(exists=True, file_okay=False), help="Folder whose project it is.")
    @click.option("--user", metavar="NAME", help="Whose memory, where several people share a store.")
    @click.option("--agent", metavar="NAME", help="Also what this agent keeps to itself.")
    @click.option("--json", "as_json", is_flag=True, help="One line of JSON, and nothing else on standard output.")
    @wraps(command)
    def run(*args: P.args, **named: P.kwargs) -> R:
        everywhere = click.get_current_context().find_root().params.get("as_json")
        terminal = Terminal(as_json=bool(named.pop("as_json") or everywhere))
        who = {"user_id": named.pop("user"), "agent": named.pop("agent")}
        call = Call.of(terminal, project_dir=named.pop("project"), **who)
        return command(call, *args, **named)

    return run


def filters(command: Callable[P, R]) -> Callable[P, R]:
    """--scope and --type, each as often as one likes."""
    kinds, scopes = click.Choice([kind.value for kind in Kind]), click.Choice([scope.value for scope in Scope])
    by_kind = click.option("--type", "kinds", multiple=True, type=kinds, help="Only this type.")
    by_scope = click.option("--scope", "scopes", multiple=True, type=scopes, help="Only this scope.")
    return by_scope(by_kind(command))


def limit(most: int, default: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    within = click.IntRange(1, most)
    return click.option("--limit", type=within, default=default, show_default=True, help="At most so many.")


offset = click.option("--offset", type=click.IntRange(0), default=0, show_default=True, help="Leave out so many first.")
session = click.option("--session", metavar="ID", help="The session it belongs to; default: the client's, if any.")
yes = click.option("--yes", is_flag=True, help="Do not ask.")
path = click.Path(dir_okay=False, path_type=Path)
