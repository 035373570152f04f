"""What is put in front of the agent: notes in a frame, each with its id, and nothing when nothing fits.

Every function takes one call of a hook and gives the text, empty for none. What is shown is written down first, so
that nothing is shown twice; where that cannot be done, only the beginning of a session is told anything.
"""

import os
import time

from retain.domain.choosing import MOST, excerpt, score
from retain.domain.digest import NOTE, Row, line, titled, within_tokens
from retain.domain.earlier import Earlier
from retain.domain.echo import CLAUDE_MD, without_echo
from retain.domain.handing import CLOSE, FRAME, OPEN, framed
from retain.domain.retold import day
from retain.surfaces.hooks import injected, log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from retain.surfaces.hooks.call import Call
    from retain.surfaces.hooks.reading import Sight

    Found = list[tuple[Mapping[str, Any], float]]  # Any: a value of SQLite or of JSON

MOST_CHARACTERS = 9_500  # a client shows at most 10,000
OLD = 60 * 86_400.0  # seconds after which a note says of when it is
LOST = ("compact", "clear")  # ways to begin in which the conversation so far is gone
EDITING = ("Read", "Edit", "Write", "MultiEdit", "NotebookEdit")
ERROR_LINES = 12  # of the end of an error: what failed stands there
ONLY_BY_SERVER = "only its own process can read this store: notes come with prompts, from a server that answers"
_BYTES_PER_TOKEN = 4
FEWEST_TOKENS = 60  # the frame and one short line


class Shown:
    """A note as it is shown, and what is written down of it."""

    __slots__ = ("entry", "id", "text", "tokens")

    def __init__(self, row: Row, now: float, **entry: object) -> None:
        self.id = row.id
        self.text = noted(row, now)
        self.tokens = tokens_in(self.text) + 1
        self.entry: dict[str, object] = {"memory": row.id, "tokens": self.tokens, **entry}


def at_start(call: "Call") -> str:
    """A summary of what is known, for every way in which a session begins: after each the agent knows nothing of it."""
    now = time.time()
    if call.readable is None:
        log.note(call.home, call.event, note=ONLY_BY_SERVER)
    rows = [_row(found, now) for found in _rows_for_summary(call, now)]
    there = _lines_of_claude_md(call)
    told = {row.id: text for row in rows if (text := line(row)) in there} if there else {}
    room = call.number("inject_tokens") - tokens_in(call.remark)
    lines = _within([row for row in rows if row.id not in told], room, now)
    source = call.text("source")
    entries: list[dict[str, object]] = [
        {"at": now, "event": call.event, "source": source, "memory": id, "tokens": tokens_in(text), "path": "summary"}
        for text, id in lines
        if id
    ]
    entries += [
        {"at": now, "event": call.event, "source": source, "memory": id, "tokens": 0, "path": "claude_md"}
        for id, text in told.items()
        if not text.endswith("…")
    ]
    try:
        injected.repeat(call.home, call.session, entries, lost=source in LOST)
        injected.prune(call.home, now)
    except OSError as error:  # a full disk; what a session begins with may come again, so it is shown all the same
        log.note(call.home, call.event, error)
    return _framed(call, [text for text, _ in lines])


def for_prompt(call: "Call") -> str:
    """What fits the prompt: by meaning where a server answers at once, else by its words."""
    prompt = excerpt(_without_private(without_echo(call.text("prompt")))).strip()
    earlier = injected.earlier(call.home, call.session)
    room = call.number("prompt_tokens") - earlier.spent
    if not prompt or room < FEWEST_TOKENS:
        return ""
    now = time.time()
    answer = _answered(call, prompt, earlier)
    if answer is None:
        shown = _by_words(call, prompt, earlier, now)
        return _put(call, shown, room, kept=lambda: _redacted(prompt))
    path = "meaning" if answer.get("by_meaning") else "words"
    shown = [
        Shown(_row(note, now), now, path=path, score=note["score"], terms=note["terms"]) for note in _notes(answer)
    ]
    shown = [note for note in shown if note.id not in earlier.seen]
    return _put(call, shown, room, kept=lambda: str(answer.get("prompt") or "")[: injected.PROMPT])


def for_failure(call: "Call") -> str:
    """What was learnt of an error like the one that a tool ended with."""
    if call.payload.get("is_interrupt") is True:
        return ""
    error = "\n".join(call.text("error").splitlines()[-ERROR_LINES:])
    return _from_store(call, error, "fix", lambda db, sight, now: _reading().fixes(db, error, sight, now))


def for_file(call: "Call") -> str:
    """What is known of the file that a tool has read or written."""
    given = call.payload.get("tool_input")
    path = (given.get("file_path") or given.get("notebook_path")) if isinstance(given, dict) else None
    if call.text("tool_name") not in EDITING or not isinstance(path, str):
        return ""

    def named(db: "Any", sight: "Sight", now: float) -> "Found":
        return [(row, 1.0) for row in _reading().naming(db, path, call.project_root, sight, now)]

    return _from_store(call, path, "file", named)


def noted(row: Row, now: float) -> str:
    """A memory as one line that says whose word it is, how old if that matters, and under which id it is found."""
    return f"{line(row, NOTE)}{_behind(row, now)}"


def _behind(row: Row, now: float) -> str:
    said = day(row.said) if now - row.said > OLD else row.day
    return f"{f' ({said})' if said else ''} [memory:{row.id}]"


def tokens_in(text: str) -> int:
    """As `engine.context` counts them."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


def _within(rows: list[Row], tokens: int, now: float) -> "list[tuple[str, str | None]]":
    """Lines of the summary, with ids, that fit together with their frame."""
    frame = tokens_in("\n".join((OPEN, FRAME, CLOSE))) + 1
    room = min(tokens, MOST_CHARACTERS // _BYTES_PER_TOKEN) - frame
    return within_tokens(rows, room, now, lambda row: _behind(row, now)) if room > 0 else []


def _rows_for_summary(call: "Call", now: float) -> "list[Mapping[str, Any]]":
    def read(db: "Any", sight: "Sight", now: float) -> "Found":
        return [(row, 0.0) for row in _reading().for_summary(db, sight, now)]

    return [row for row, _ in _read(call, None, now, read)]


def _lines_of_claude_md(call: "Call") -> "set[str]":
    """What the agent is told by the project's own file, if Retain keeps a section in it.

    The client reads those in and above its folder; a worktree may lie elsewhere than the file of its main checkout.
    """
    root = call.project_root if call.settings.get("claude_md") else None
    if root is None or not os.path.join(os.path.realpath(call.project_dir), "").startswith(os.path.join(root, "")):
        return set()
    try:
        with open(os.path.join(root, "CLAUDE.md"), encoding="utf-8", errors="replace") as file:
            _, _, section = file.read().partition(CLAUDE_MD[0])
    except OSError:
        return set()
    return set(section.partition(CLAUDE_MD[1])[0].splitlines())


def _answered(call: "Call", prompt: str, earlier: "injected.Earlier") -> "dict[str, object] | None":
    from retain.surfaces.hooks.asking import SECONDS, ask

    request = {
        "store": call.settings.get("store_name"),
        "prompt": prompt,
        "session": call.session,
        "user": call.user,
        "project_dir": call.project_dir,
        "seen": sorted(earlier.seen),
        "lost": earlier.lost,
    }
    return ask(call.home, call.client_pid, request, min(SECONDS, call.left() / 2))


def _notes(answer: "Mapping[str, Any]") -> "list[dict[str, Any]]":
    notes = answer["notes"]
    return [note for note in notes if isinstance(note, dict)] if isinstance(notes, list) else []


def _by_words(call: "Call", prompt: str, earlier: "injected.Earlier", now: float) -> "list[Shown]":
    from retain.domain.telling import says_something

    if not says_something(prompt):
        return []
    found = _read(call, earlier.lost, now, lambda db, sight, now: _reading().relevant(db, prompt, sight, now))
    return _shown(found, earlier, now, "keywords")


def _from_store(call: "Call", about: str, path: str, read: "Callable[[Any, Sight, float], Found]") -> str:
    earlier = injected.earlier(call.home, call.session)
    room = call.number("prompt_tokens") - earlier.spent
    if not about or room < FEWEST_TOKENS:
        return ""
    now = time.time()
    found = _shown(_read(call, earlier.lost, now, read), earlier, now, path)
    return _put(call, found, room, kept=lambda: _redacted(about))


def _shown(found: "Found", earlier: "injected.Earlier", now: float, path: str) -> "list[Shown]":
    """Notes on what is new to the session. What names a file fits because of that, and has no score."""
    shown = []
    for row, words in found:
        fits = {"score": round(score(None, words), 3), "terms": {"words": round(words, 3)}} if path != "file" else {}
        if row["id"] not in earlier.seen:
            shown.append(Shown(_row(row, now), now, path=path, **fits))
    return shown


def _read(call: "Call", lost: "float | None", now: float, read: "Callable[[Any, Sight, float], Found]") -> "Found":
    """What a query finds; nothing, with a line in the log, where the store cannot be read in time."""
    reading = _reading()
    import sqlite3

    try:
        db = reading.opened_for(call)
        return read(db, reading.sight_of(call, lost), now) if db else []
    except (reading.CannotRead, sqlite3.Error, UnicodeDecodeError) as error:
        log.note(call.home, call.event, error)
        return []


def _reading() -> "Any":
    from retain.surfaces.hooks import reading

    return reading


def _put(call: "Call", shown: "list[Shown]", room: int, kept: "Callable[[], str]") -> str:
    """Writes down what fits into the room, then gives it. The first note pays for the frame."""
    cost = tokens_in("\n".join((OPEN, FRAME, call.remark, CLOSE))) + 1
    fitting: list[Shown] = []
    for note in shown[:MOST]:
        if cost + note.tokens <= room:
            fitting.append(note)
            note.entry["tokens"] = cost + note.tokens
            room -= cost + note.tokens
            cost = 0
    if not fitting:
        return ""
    about = kept()
    entries = [{"at": time.time(), "event": call.event, "prompt": about, **note.entry} for note in fitting]
    new = injected.record(call.home, call.session, entries)
    return _framed(call, [note.text for note in fitting if note.id in new]) if new else ""


def _framed(call: "Call", lines: "list[str]") -> str:
    """Notes after what stands: who reads them should know that they may not be all."""
    lines = [call.remark, *lines] if call.remark else lines
    return framed(lines) if lines else ""


def _without_private(text: str) -> str:
    """Before it is cut, for the rest of a span that is cut through is not known for what it is."""
    if "<private" not in text.lower():
        return text
    from retain.engine.lifecycle.redact import MARK, redact

    return MARK.sub(" ", redact(text).text)


def _redacted(text: str) -> str:
    # Only now: it takes as long to import as all the rest.
    from retain.engine.lifecycle.redact import redact

    return " ".join(redact(text).text.split())[: injected.PROMPT]


def _row(found: "Mapping[str, Any]", now: float) -> Row:
    return Row(
        str(found["id"]),
        titled(found.get("title"), str(found["text"])),
        kind=found["kind"],
        category=found["category"],
        scope=found["scope"],
        importance=found.get("importance", 0.5),
        updated=found["updated"],
        accesses=found.get("accesses", 0),
        said_by=found["said_by"],
        said=found.get("said"),  # a server of an earlier version does not tell
        earlier=_earlier(found["earlier"], now) if "earlier" in found else None,
    )


def _earlier(found: object, now: float) -> "Earlier | None":
    """What was said before, as a server of this version tells it; one of another may tell nothing of it."""
    if not isinstance(found, dict) or not isinstance(found.get("said"), int | float):
        return None
    return Earlier(titled(found.get("title"), str(found.get("text", ""))), found.get("said_by"), found["said"], now)
