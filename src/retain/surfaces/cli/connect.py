"""How a client is told about this Retain."""

import json
import shlex

from retain.clients.this_install import command


def for_all_clients() -> str:
    return shlex.join([*command(), "setup"])


def for_claude_code() -> str:
    return f"claude mcp add retain -- {shlex.join([*command(), 'serve'])}"


def servers() -> dict[str, object]:
    """What goes into .mcp.json, or wherever a client lists its servers."""
    first, *rest = command()
    return {"mcpServers": {"retain": {"command": first, "args": [*rest, "serve"]}}}


def for_any_client() -> str:
    return json.dumps(servers())
