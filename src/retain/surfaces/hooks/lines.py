"""What one line of a Claude Code transcript says: a prompt, a piece of an answer, a tool's call or its result."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Line = Mapping[str, Any]  # JSON of the client, whose shape changes from version to version

# Ours that say what to do with memories; what they are given is no statement.
_ABOUT_MEMORY = frozenset({"forget", "recall", "memory-status"})
_COMMAND = re.compile(r"<command-(name|message|args)>(.*?)</command-\1>", re.DOTALL)
_NOT_TYPED = ("<command-name>", "<local-command-", "<bash-", "[Request interrupted by user", "Caveat: ")
_WHAT_NEXT = re.compile(r"\bthe user said:\s*\n(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """Words of the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A text of the assistant; one message may have several."""

    text: str
    message: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    input: Mapping[str, Any]
    message: str


@dataclass(frozen=True, slots=True)
class Result:
    """How a call went; one that was `denied` never ran."""

    call: str
    output: str
    failed: bool = False
    denied: bool = False


Piece = Prompt | Answer | ToolCall | Result


def counts(line: Line, *, aside: bool) -> bool:
    """Whether a line belongs to the conversation: said by the user, the assistant or a tool, not by the client.

    In the transcript of a subagent every line is marked as a side chain; elsewhere those are somebody else's talk.
    """
    if line.get("type") not in ("user", "assistant") or not isinstance(line.get("message"), Mapping):
        return False
    machine = ("isMeta", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly", "repeatsCompactSummary")
    return not any(line.get(mark) for mark in machine) and (aside or not line.get("isSidechain"))


def pieces(line: Line) -> Iterator[Piece]:
    """What a line that counts says; nothing when it is thinking, a picture, or something that nobody knows yet."""
    message = line["message"]
    blocks = message.get("content")
    if isinstance(blocks, str):
        blocks = [{"type": "text", "text": blocks}]
    known = [block for block in blocks if isinstance(block, Mapping)] if isinstance(blocks, list) else []
    if line["type"] == "assistant":
        yield from _answered(known, str(message.get("id") or line.get("uuid")))
    elif any(block.get("type") == "tool_result" for block in known):
        yield from _results(known, denied=bool(line.get("toolDenialKind")))
    elif prompt := typed(_text(known)):
        yield Prompt(prompt)


def typed(text: str) -> str:
    """What the user typed of a prompt: all of it, or what a command of theirs was given; empty for the client's."""
    text = text.strip()
    if text.startswith(_NOT_TYPED):
        return ""
    if not text.startswith("<command-message>"):
        return text
    said = {part: value.strip() for part, value in _COMMAND.findall(text)}
    command = said.get("name", "").lstrip("/").rpartition(":")[2]
    given = said.get("args", "")
    if not given or command in _ABOUT_MEMORY:
        return ""
    return f"Remember: {given}" if command == "remember" else given


def moment(line: Line) -> datetime | None:
    """When a line was written; None when it does not say, or not in a way that is a time."""
    try:
        at = datetime.fromisoformat(str(line.get("timestamp")))
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _answered(blocks: list[Line], message: str) -> Iterator[Piece]:
    for block in blocks:
        if block.get("type") == "text" and (text := str(block.get("text") or "").strip()):
            yield Answer(text, message)
        elif block.get("type") == "tool_use" and isinstance(block.get("id"), str):
            given = block.get("input")
            yield ToolCall(block["id"], str(block.get("name")), given if isinstance(given, Mapping) else {}, message)


def _results(blocks: list[Line], *, denied: bool) -> Iterator[Piece]:
    for block in blocks:
        if block.get("type") != "tool_result" or not isinstance(block.get("tool_use_id"), str):
            continue
        output = block.get("content")
        text = output if isinstance(output, str) else _text(output if isinstance(output, list) else [])
        yield Result(block["tool_use_id"], text, failed=block.get("is_error") is True, denied=denied)
        # Who turns a call down may say what to do instead, and only the client marks a line as such.
        if denied and (instead := _WHAT_NEXT.search(text)):
            yield Prompt(instead[1].strip())


def _text(blocks: list[Any]) -> str:
    texts = [block.get("text") for block in blocks if isinstance(block, Mapping) and block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))
