"""`retain serve`: the way to the server. Imports little, since a client waits for the first answer."""

import sys
from collections.abc import Sequence
from typing import NoReturn

from retain.config import TOOLSETS, load

HELP = f"""Usage: retain serve [--toolset NAMES]

  Serves the memory over MCP, on standard input and output, until the client
  leaves. Logs go to standard error.

  --toolset NAMES  Tools to offer, a list with commas of:
                   {", ".join(TOOLSETS)}  [default: RETAIN_TOOLSET or default]
  --help           Show this and leave.
"""


def serve(arguments: Sequence[str]) -> NoReturn:
    """Reads the options by hand: the parser of the other commands takes longer to import than the server to start."""
    if "--help" in arguments:
        sys.stdout.write(HELP)
        sys.exit(0)
    # As they came: what stands in for a closed one would be an end that nobody holds.
    for name, stream in (("input", sys.__stdin__), ("output", sys.__stdout__)):
        if stream is None:
            _refuse(f"standard {name} is closed, and serve speaks with its client over it; leave it open")
    loaded = load({"toolset": _toolset(list(arguments))})
    from retain.surfaces.mcp.serving import run

    run(loaded)


def _toolset(arguments: list[str]) -> str | None:
    toolset = None
    while arguments:
        option, has_value, value = arguments.pop(0).partition("=")
        if option != "--toolset":
            _refuse(f"serve has no option or argument {option}; there are --toolset and --help")
        if not has_value and not arguments:
            _refuse(f"--toolset needs a value; there are {', '.join(TOOLSETS)}")
        toolset = value if has_value else arguments.pop(0)
        if unknown := [name for name in toolset.split(",") if name.strip() not in TOOLSETS]:
            _refuse(f"no toolset {', '.join(unknown) or '(empty)'}; there are {', '.join(TOOLSETS)}")
    return toolset


def _refuse(why: str) -> NoReturn:
    sys.stderr.write(f"retain: {why}\n")
    sys.exit(2)
