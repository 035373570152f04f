"""How a client is told about this Retain."""

import json
import shlex
import shutil
import sys
from pathlib import Path


def command() -> list[str]:
    """The command that starts this very installation, with an absolute path: a client has another PATH."""
    beside = Path(sys.executable).with_name("retain")
    for found in (shutil.which(sys.argv[0]), beside if beside.is_file() else None):
        if found and Path(found).stem == "retain":
            return [str(Path(found).absolute())]
    return [sys.executable, "-m", "retain"]


def for_claude_code() -> str:
    return f"claude mcp add retain -- {shlex.join([*command(), 'serve'])}"


def servers() -> dict[str, object]:
    """What goes into .mcp.json, or wherever a client lists its servers."""
    first, *rest = command()
    return {"mcpServers": {"retain": {"command": first, "args": [*rest, "serve"]}}}


def for_any_client() -> str:
    return json.dumps(servers())
