"""A conversation as a model reads it: one line a turn, in pieces that overlap a little."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from retain.domain.conversation import Conversation, Said, Speaker, ToolRun, Turn
from retain.domain.memory import Json

SIZE, OVERLAP = 6000, 500  # characters, as the contract has it
PROMPTS = 8  # that are judged at once; then the cursor moves
_NAMES = {Speaker.USER: "USER", Speaker.ASSISTANT: "CLAUDE", Speaker.TOOL: "TOOL"}
# What says best what a tool was used for, first one that is there.
_TELLING = ("file_path", "notebook_path", "path", "command", "pattern", "query", "url", "description", "prompt")
_LONGEST_RUN = 300


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a conversation: its text, and the turns that it tells, in whole or in part, up to `end`."""

    text: str
    start: int
    end: int


def chunked(conversation: Conversation, root: str = "", size: int = SIZE, overlap: int = OVERLAP) -> list[Chunk]:
    """Pieces of at most `size` characters. Each begins with the end of the one before, at the start of a line where
    there is one near, so that a statement is whole in one of them."""
    lines = [line_of(turn, root) for turn in conversation.turns]
    text = "\n".join(lines)
    ends = _ends(lines)
    chunks: list[Chunk] = []
    start = 0
    while start < len(text):
        end = _end(text, start, size)
        chunks.append(Chunk(text[start:end], _turn_at(ends, start), _turn_at(ends, end - 1) + 1))
        start = len(text) if end == len(text) else _start(text, end, overlap)
    return chunks


def stretches(conversation: Conversation) -> list[tuple[int, int]]:
    """Where judging begins and ends: a few prompts with what came of them."""
    turns = conversation.turns
    prompts = [place for place, turn in enumerate(turns) if isinstance(turn, Said) and turn.speaker is Speaker.USER]
    starts = [0, *prompts[PROMPTS::PROMPTS]]
    return list(pairwise([*starts, len(turns)])) if turns else []


def line_of(turn: Turn, root: str = "") -> str:
    """`USER: …`, `CLAUDE: …`, `TOOL [Bash]: npm test → failed: first line`; paths below `root` without it."""
    if isinstance(turn, Said):
        return f"{_NAMES[turn.speaker]}: {turn.text}"
    return f"TOOL [{turn.name}]: {_within(told(turn.input), root)}{_outcome(turn)}"


def told(given: Mapping[str, Json]) -> str:
    """What a tool was used on, in one line."""
    named = next((given[name] for name in _TELLING if isinstance(given.get(name), str)), "")
    return _one_line(str(named))


def _outcome(run: ToolRun) -> str:
    if not run.failed:
        return ""
    first = next((line.strip() for line in run.output.splitlines() if _says_why(line)), "")
    return f" → failed: {_one_line(first)}" if first else " → failed"


def _says_why(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("Exit code ")


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_RUN else line[: _LONGEST_RUN - 1] + "…"


def _within(path: str, root: str) -> str:
    return path.removeprefix(root.rstrip("/\\")).lstrip("/\\") if root and path.startswith(root) else path


def _ends(lines: Sequence[str]) -> list[int]:
    ends, position = [], -1
    for line in lines:
        position += len(line) + 1
        ends.append(position)
    return ends


def _turn_at(ends: Sequence[int], position: int) -> int:
    return min(bisect_left(ends, position), len(ends) - 1)


def _end(text: str, start: int, size: int) -> int:
    """At the end of a line in the last quarter of the piece, else where it is full."""
    if start + size >= len(text):
        return len(text)
    found = text.rfind("\n", start + size * 3 // 4, start + size)
    return found + 1 if found >= 0 else start + size


def _start(text: str, end: int, overlap: int) -> int:
    found = text.find("\n", end - overlap, end - 1)
    return found + 1 if found >= 0 else end - overlap
