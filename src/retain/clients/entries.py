"""The entry of the server in a client's file: which one is ours, and how it is set and removed."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import PureWindowsPath
from typing import Any

from retain.clients import json_text, toml_text
from retain.clients.faults import Unfit
from retain.clients.known import Client
from retain.installed import NAME


def server_in(client: Client, text: str) -> Mapping[str, Any] | None:
    """The entry under our name, whoever made it."""
    found = toml_text.data(text) if client.format == "toml" else json_text.data(text, comments=_comments(client))
    for step in client.path:
        found = found.get(step) if isinstance(found, dict) else None
    if found is not None and not isinstance(found, dict):
        raise Unfit(f"{'.'.join(client.path)} is not an object; put that right first")
    return found


def is_ours(entry: Mapping[str, Any]) -> bool:
    """Whether an entry starts a Retain, by whatever path or runner: `… retain serve …`, or `… retain-mcp serve …`."""
    words = [str(entry.get("command", "")), *map(str, _args(entry))]
    # A Windows path splits at both kinds of slash.
    names = [PureWindowsPath(word).stem for word in words]
    return any(one in (NAME, "retain") and other == "serve" for one, other in pairwise(names))


def with_server(client: Client, text: str, command: list[str]) -> str:
    """The text with this server; of an older entry of ours, options behind `serve` and further keys stay."""
    there = server_in(client, text)
    if there is not None and not is_ours(there):
        raise Unfit(f"another server is listed there as {client.path[-1]}; rename or remove that one first")
    options = _options(there) if there else []
    entry = {**(there or {}), **client.entry([*command, *options])}
    if client.format == "toml":
        return toml_text.put(text, client.path, entry)
    return json_text.put(text, client.path, entry, comments=_comments(client))


def without_server(client: Client, text: str) -> str:
    """The text without our server, and without a list of servers that would be empty then."""
    there = server_in(client, text)
    if there is None or not is_ours(there):
        return text
    if client.format == "toml":
        return toml_text.drop(text, client.path)
    comments = _comments(client)
    new = json_text.drop(text, client.path, comments=comments)
    *holder, _ = client.path
    return without_empty(new, holder, comments=comments)


def without_empty(text: str, path: list[str], *, comments: bool = False) -> str:
    found = json_text.data(text, comments=comments)
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    return json_text.drop(text, path, comments=comments) if found in ({}, []) else text


def _options(entry: Mapping[str, Any]) -> list[str]:
    args = [str(arg) for arg in _args(entry)]
    return args[args.index("serve") + 1 :] if "serve" in args else []


def _args(entry: Mapping[str, Any]) -> list[Any]:
    args = entry.get("args")
    return args if isinstance(args, list) else []


def _comments(client: Client) -> bool:
    return client.format == "jsonc"
