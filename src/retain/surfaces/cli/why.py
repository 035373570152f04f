"""`retain why`: what hooks put in front of the agent, and the reason for every line of it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click
from rich.console import RenderableType

from retain.domain.choosing import BESIDE, BY_WORDS, FLOOR, MEANING, WORDS, WORDS_ALONE
from retain.domain.ids import undress
from retain.domain.time import iso
from retain.errors import invalid
from retain.surfaces.cli import exits, options
from retain.surfaces.cli.options import Call, common
from retain.surfaces.cli.terminal import Indented, line
from retain.surfaces.hooks import injected, reading
from retain.whereabouts import readable_for

Entry = Mapping[str, Any]  # a line of JSON
Said = Mapping[str, tuple[str, str]]

DIM = "bright_black"
SHORT = 8  # characters of a session's id that tell it from the others
LONGEST = 200
FOUND = {
    "meaning": "the server compared meaning and words",
    "words": "the server compared words alone: its model was not loaded",
    "keywords": "no server answered at once, so words alone were compared",
    "summary": "it is in the summary that every session begins with",
    "claude_md": "it stands in the project's CLAUDE.md, which the client reads itself",
    "fix": "it was learnt of an error like this one",
    "file": "it names this file",
}
_WORDS = "of what the prompt tells, so much is in the memory; rare words count most"
_NEVER = "Hooks have put nothing in front of an agent yet."
_HOW = "`retain setup` registers them with Claude Code; `retain doctor` tells whether they run."


@click.command()
@click.argument("id", required=False)
@click.option("--session", metavar="ID", help="Only what this session was shown; its first letters will do.")
@options.limit(500, 20)
@common
def why(call: Call, id: str | None, session: str | None, limit: int) -> int | None:
    """Show what hooks put in front of the agent, newest first, and why; with an ID, only that memory."""
    bare = undress(id) if id else None
    if id and bare is None:
        raise invalid("ID", id, "not an id; ids look like memory:0mwi0000000000000000 and end every injected line")
    settings = call.loaded.settings
    everything = injected.everything(str(settings.home.expanduser()))
    found = [entry for entry in everything if _is_meant(entry, bare, session)][-limit:][::-1]
    said = _said(call, {str(entry["memory"]) for entry in found})
    body = {"injected": [_told(entry, said) for entry in found], "count": len(found)}
    call.terminal.tell(body, _drawn(found, said) if found else _nothing(everything, bare, session))
    return None if found else exits.NOTHING


def _said(call: Call, ids: set[str]) -> Said:
    """What each memory says; from the store itself where there is no file that anybody can read."""
    file = readable_for(call.loaded)
    if file:
        return reading.said(str(file), ids, call.loaded.settings.user_id)
    if not ids:
        return {}
    with call.memory() as app:
        found, user = app.engine.parts.store.memories(sorted(ids)), app.settings.user_id
        own = (stored.memory for stored in found.values() if stored.memory.place.user == user)
        return {memory.id: (memory.text, memory.status.state.value) for memory in own}


def _is_meant(entry: Entry, id: str | None, session: str | None) -> bool:
    name = str(entry["session"])
    is_there = not session or name == injected.name_of(session) or name.removeprefix("session-").startswith(session)
    return is_there and (id is None or entry["memory"] == id)


def _told(entry: Entry, said: Said) -> dict[str, object]:
    text, state = said.get(entry["memory"], (None, "gone"))
    at = iso(datetime.fromtimestamp(entry["at"], UTC).replace(microsecond=0))
    body = {**entry, "at": at, "memory": f"memory:{entry['memory']}", "text": text, "state": state}
    return body | {"reason": FOUND.get(str(entry.get("path")), "")}


def _nothing(everything: Sequence[Entry], id: str | None, session: str | None) -> Iterator[RenderableType]:
    if not everything:
        yield line(_NEVER)
        yield line(_HOW)
    else:
        which = f"memory:{id}" if id else f"session {session}"
        yield line(f"Nothing of {which} was put in front of an agent in the last {injected.DAYS} days.")


def _drawn(found: Sequence[Entry], said: Said) -> Iterator[RenderableType]:
    before = None
    for entry in found:
        occasion = (entry["session"], entry.get("event"), entry.get("prompt"), round(entry["at"]))
        if occasion != before:
            yield from _occasion(entry)
        before = occasion
        text, state = said.get(entry["memory"], ("", "gone"))
        note = "" if state == "active" else f"  {state} since"
        yield line("  ", (f"memory:{entry['memory']}", "bold"), (f"  {entry.get('tokens', 0)} tokens{note}", DIM))
        if text:
            yield Indented(" ".join(text.split())[:LONGEST], 4)
        yield from (Indented(reason, 4, DIM) for reason in _reasons(entry))


def _occasion(entry: Entry) -> Iterator[RenderableType]:
    at = datetime.fromtimestamp(entry["at"], UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    source = f" ({entry['source']})" if entry.get("source") else ""
    session = str(entry["session"]).removeprefix("session-")[:SHORT]
    yield line((at, "green"), f"  {entry.get('event')}{source}", (f"  session {session}", DIM))
    if entry.get("prompt"):
        yield Indented(f"“{entry['prompt']}”", 2)


def _reasons(entry: Entry) -> Iterator[str]:
    path, terms = str(entry.get("path")), entry.get("terms") or {}
    yield FOUND.get(path, path)
    if not terms:
        return
    if "meaning" in terms:
        yield f"meaning {terms['meaning']:.2f}: how near prompt and memory are, 1 being the same"
    yield f"words {terms.get('words', 0):.2f}: {_WORDS}"
    both = f"{MEANING} × meaning + {WORDS} × words, at least {WORDS_ALONE} × words"
    how = both if "meaning" in terms else f"{BY_WORDS} × words"
    yield f"score {entry.get('score', 0):.2f} = {how}; needed: {FLOOR}, and {BESIDE} of the best score"
