"""The hooks in Claude Code's settings, and whether its plugin brings them already."""

import re
from collections.abc import Iterator
from typing import Any

from retain.clients import json_text, this_install
from retain.clients.entries import without_empty
from retain.clients.faults import Unfit

# Seconds that the client waits at most. Hooks have deadlines of their own that are far shorter.
EVENTS = {"SessionStart": 5, "UserPromptSubmit": 3, "Stop": 5, "PreCompact": 5, "SessionEnd": 5}
TOOL_EVENTS = {"PostToolUse": 3, "PostToolUseFailure": 3}
SOURCES = "startup|resume|clear|compact|fork"
PLUGIN = "retain"

_OURS = re.compile(r"surfaces/hooks/entry\.py|(?:^|[/\s\"'])retain(?:-mcp)?(?:\.exe)?[\"']? hook\b")

Group = dict[str, Any]


def group(event: str, seconds: int) -> Group:
    """One hook in exec form: no shell in between, which may be another on every machine."""
    command, args = this_install.hook(event)
    matcher = {"matcher": SOURCES} if event == "SessionStart" else {}
    return {**matcher, "hooks": [{"type": "command", "command": command, "args": args, "timeout": seconds}]}


def with_hooks(text: str, *, tool_hooks: bool | None) -> str:
    """The settings with each of our hooks once. Hooks on tools are left as they are unless something is said."""
    for event, seconds in EVENTS.items():
        text = _with_group(text, event, group(event, seconds))
    for event, seconds in TOOL_EVENTS.items():
        wanted = bool(list(_ours(text, event))) if tool_hooks is None else tool_hooks
        text = _with_group(text, event, group(event, seconds)) if wanted else _without_group(text, event)
    return text


def without_hooks(text: str) -> str:
    for event in _events(text):
        text = _without_group(text, event)
    return text


def our_hooks(text: str) -> dict[str, list[dict[str, Any]]]:
    """Our hooks by event, those of older installations too."""
    found = {event: [hook for _, _, hook in _ours(text, event)] for event in _events(text)}
    return {event: hooks for event, hooks in found.items() if hooks}


def plugin_is_on(text: str) -> bool:
    """Whether the plugin is installed and enabled, for then its hooks and its server run already."""
    enabled = _settings(text).get("enabledPlugins")
    plugins = enabled if isinstance(enabled, dict) else {}
    return any(name.partition("@")[0] == PLUGIN and bool(on) for name, on in plugins.items())


def is_ours(hook: Any) -> bool:
    if not isinstance(hook, dict):
        return False
    args = hook.get("args")
    words = [str(hook.get("command", "")), *(map(str, args) if isinstance(args, list) else ())]
    return bool(_OURS.search(" ".join(words).replace("\\", "/")))


def _events(text: str) -> list[str]:
    hooks = _settings(text).get("hooks")
    if hooks is not None and not isinstance(hooks, dict):
        raise Unfit("hooks is not an object; put that right first")
    return list(hooks or {})


def _settings(text: str) -> dict[str, Any]:
    found = json_text.data(text)
    if not isinstance(found, dict):
        raise Unfit("the whole is not an object; put that right first")
    return found


def _groups(text: str, event: str) -> list[Any]:
    _events(text)
    groups = (_settings(text).get("hooks") or {}).get(event, [])
    if not isinstance(groups, list):
        raise Unfit(f"hooks.{event} is not a list; put that right first")
    return groups


def _ours(text: str, event: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Where in the lists of an event our hooks are."""
    for at, one in enumerate(_groups(text, event)):
        hooks = one.get("hooks") if isinstance(one, dict) else None
        for place, hook in enumerate(hooks if isinstance(hooks, list) else ()):
            if is_ours(hook):
                yield at, place, hook


def _with_group(text: str, event: str, wanted: Group) -> str:
    ours = list(_ours(text, event))
    if len(ours) == 1 and len(_groups(text, event)[ours[0][0]]["hooks"]) == 1:
        return json_text.put(text, ["hooks", event, ours[0][0]], wanted)
    text = _without_group(text, event)
    return json_text.put(text, ["hooks", event, len(_groups(text, event))], wanted)


def _without_group(text: str, event: str) -> str:
    ours = list(_ours(text, event))
    for at, place, _ in reversed(ours):
        text = json_text.drop(text, ["hooks", event, at, "hooks", place])
        if not _groups(text, event)[at]["hooks"]:
            text = json_text.drop(text, ["hooks", event, at])
    if not ours:
        return text
    return without_empty(without_empty(text, ["hooks", event]), ["hooks"])
