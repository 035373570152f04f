"""The status line in Claude Code's settings: there is one, so somebody else's is never touched."""

import re
from typing import Any

from retain.clients import json_text, this_install
from retain.clients.faults import Unfit

KEY = "statusLine"

_OURS = re.compile(r"""(?:surfaces/hooks/entry\.py|(?:^|[/\s"'])retain(?:-mcp)?(?:\.exe)?)["']*\s+statusline\b""")


def with_status_line(text: str, *, wanted: bool | None) -> str:
    """The settings with our status line where there is none. With None it is brought up to date if it is there."""
    found = status_line(text)
    if wanted is False:
        return without_status_line(text)
    if is_ours(found):
        return json_text.put(text, [KEY, "command"], this_install.status_line())
    if wanted and found is None:
        return json_text.put(text, [KEY], {"type": "command", "command": this_install.status_line()})
    return text


def without_status_line(text: str) -> str:
    return json_text.drop(text, [KEY]) if is_ours(status_line(text)) else text


def status_line(text: str) -> Any:
    """What is set there, whoever set it; None for nothing."""
    found = json_text.data(text)
    if not isinstance(found, dict):
        raise Unfit("the whole is not an object; put that right first")
    return found.get(KEY)


def is_ours(found: Any) -> bool:
    command = found.get("command") if isinstance(found, dict) else None
    return isinstance(command, str) and bool(_OURS.search(command.replace("\\", "/")))
