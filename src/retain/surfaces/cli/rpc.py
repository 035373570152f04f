"""`retain rpc`: the bank's methods as plain JSON-RPC 2.0, for programs that do not speak MCP."""

import os
from contextlib import suppress
from functools import partial

import click

from retain.app import Retain
from retain.errors import RetainError
from retain.surfaces.cli.options import SETTLE_SECONDS, Call, common


@click.command()
@common
def rpc(call: Call) -> None:
    """Answer plain JSON-RPC 2.0: requests on standard input, one or a batch on each line.

    Methods and parameters are the tools of `retain serve --toolset bank`. For example:

    \b
    echo '{"id": 1, "method": "memory_search", "params": {"query": "login"}}' | retain rpc
    """
    from retain.surfaces.mcp.toolsets.bank import tools
    from retain.surfaces.rpc import Methods, serve

    if os.isatty(0):
        call.terminal.warn("one request on each line; Ctrl-D ends")
    # As in a server, what is stored belongs to a session of this process, unless the client has one.
    with Retain(call.loaded) as app, os.fdopen(_private(0, os.open(os.devnull, os.O_RDONLY)), "rb") as requests:
        if serve(Methods(tools, app), requests, partial(_write, _private(1, os.dup(2)))):
            # A store that could not be opened was every answer already.
            with suppress(RetainError):
                app.engine.settle(SETTLE_SECONDS)


def _private(stream: int, instead: int) -> int:
    """The client's end under a number of its own: no child may read from it, and no library print into it."""
    private = os.dup(stream)
    os.dup2(instead, stream)
    os.close(instead)
    return private


def _write(stream: int, answer: bytes) -> None:
    while answer:
        answer = answer[os.write(stream, answer) :]
