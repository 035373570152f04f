"""Transcripts for tests, line by line in the shapes that Claude Code writes."""

import json
from itertools import count
from pathlib import Path

from fakes import START
from making import at
from retain.domain.time import iso

_number = count(1)


def line(type, seconds=0.0, uuid=None, **fields):
    """One line, with what every line has."""
    number = next(_number)
    common = {
        "parentUuid": None,
        "isSidechain": False,
        "type": type,
        "uuid": uuid or f"00000000-0000-4000-8000-{number:012d}",
        "timestamp": iso(at(seconds)),
        "userType": "external",
        "entrypoint": "cli",
        "cwd": "/home/ada/shop",
        "sessionId": "5e551041-0000-4000-8000-000000000001",
        "version": "2.1.325",
        "gitBranch": "main",
    }
    return common | fields


def prompt(text, seconds=0.0, **fields):
    return line("user", seconds, message={"role": "user", "content": text}, promptSource="typed", **fields)


def answer(text, seconds=0.0, message=None, **fields):
    return _assistant({"type": "text", "text": text}, seconds, message, fields)


def thinking(text, seconds=0.0, message=None):
    return _assistant({"type": "thinking", "thinking": text, "signature": "c2ln"}, seconds, message, {})


def call(id, name, given, seconds=0.0, message=None, **fields):
    return _assistant({"type": "tool_use", "name": name, "input": given, "id": id}, seconds, message, fields)


def result(id, output, seconds=0.0, *, failed=False, **fields):
    block = {"tool_use_id": id, "type": "tool_result", "content": output}
    block |= {"is_error": True} if failed else {}
    message = {"role": "user", "content": [block]}
    return line("user", seconds, message=message, toolUseResult=output, **fields)


def snapshot(size=50_000):
    """What fills most of a transcript, and is nobody's word."""
    return line("attachment", attachment={"type": "prompt_snapshot", "text": "x" * size})


def a_long_turn(number, size=3000):
    """A prompt and an answer that say nothing worth keeping."""
    return [
        prompt(f"look at part {number}", 10 * number),
        answer(f"part {number} is " + "fine " * (size // 5), 10 * number + 1),
    ]


def write(path, *lines, mode="w"):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode, encoding="utf-8") as file:
        file.writelines(json.dumps(each, separators=(",", ":"), ensure_ascii=False) + "\n" for each in lines)
    return path


def append(path, *lines):
    return write(path, *lines, mode="a")


def fixture(name) -> Path:
    return Path(__file__).parent / "transcripts" / "claude" / f"{name}.jsonl"


def _assistant(block, seconds, message, fields):
    told = {
        "id": message or f"msg_{next(_number):06d}",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [block],
        "stop_reason": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }
    return line("assistant", seconds, message=told, **fields)


__all__ = [
    "START",
    "a_long_turn",
    "answer",
    "append",
    "call",
    "fixture",
    "line",
    "prompt",
    "result",
    "thinking",
    "write",
]
