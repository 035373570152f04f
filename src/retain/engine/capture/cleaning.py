"""What is taken out of a conversation before anything else sees it: echo, machine text, private spans and secrets."""

import re
from collections.abc import Mapping
from dataclasses import replace

from retain.domain.conversation import Conversation, Said, ToolRun, Turn
from retain.domain.echo import without_echo
from retain.domain.memory import Json
from retain.engine.lifecycle.redact import redact

SAID, OUTPUT = 16_000, 4_000  # characters that are kept of what somebody said, and of what a tool printed
# Detectors take linear time, and a log of many megabytes still too much of it.
_LOOKED_AT = 200_000
_MOST_ITEMS, _DEEPEST = 50, 6  # of what a tool was given; nothing reads further
_CUT = "\n[…]\n"
_MACHINE = r"system-reminder|local-command-[a-z]+|command-(?:name|message|args)|bash-(?:input|stdout|stderr)"
_MACHINE_SPAN = re.compile(rf"<({_MACHINE})\b[^>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
# What a memory answered is its own echo, over whichever way it was asked.
_ASKED_MEMORY = re.compile(r"mcp__(?:.*retain.*__.*|.*__.*(?:memor|recall).*)", re.IGNORECASE)
_RAN_US = re.compile(r"(?:^|[\n;&|(]|\$\()\s*(?:\S*/)?retain(?:-mcp)?(?:\s|$)|\bpython3?\S*\s+-m\s+retain\b")


def clean(conversation: Conversation) -> Conversation:
    """The conversation as rules, models and stores may see it; what has nothing left is left out."""
    turns = (cleaned_turn(turn) for turn in conversation.turns)
    return replace(conversation, turns=tuple(turn for turn in turns if turn is not None))


def cleaned_turn(turn: Turn) -> Turn | None:
    if isinstance(turn, Said):
        text = cleaned(turn.text, SAID)
        return replace(turn, text=text) if text else None
    if is_echo(turn):
        return None
    return replace(turn, input=_cleaned_input(turn.input), output=cleaned(turn.output, OUTPUT))


def cleaned(text: str, most: int) -> str:
    """The text without echo, machine text, private spans and secrets, then its beginning and end.

    In this order: of a private span or a key that is cut through first, the rest is not known for what it is.
    """
    looked_at = text[:_LOOKED_AT]
    left = redact(_plain(_MACHINE_SPAN.sub(" ", without_echo(looked_at)))).text.strip()
    # What was not looked at must not be its end either.
    return shortened(left, most) if looked_at == text else left[:most] + _CUT.rstrip()


def shortened(text: str, most: int) -> str:
    """At most so many characters: two thirds of them from the beginning, and the end."""
    if len(text) <= most:
        return text
    head = most * 2 // 3
    return text[:head] + _CUT + text[-(most - head - len(_CUT)) :]


def is_echo(run: ToolRun) -> bool:
    """Whether a tool only told what is remembered already."""
    if _ASKED_MEMORY.fullmatch(run.name):
        return True
    command = run.input.get("command")
    return isinstance(command, str) and _RAN_US.search(command) is not None


def _cleaned_input(given: Mapping[str, Json]) -> dict[str, Json]:
    return {name: _cleaned_value(value) for name, value in given.items()}


def _cleaned_value(value: Json, depth: int = 1) -> Json:
    match value:
        case str():
            return cleaned(value, OUTPUT)
        case list() | dict() if depth == _DEEPEST:
            return None
        case list():
            return [_cleaned_value(item, depth + 1) for item in value[:_MOST_ITEMS]]
        case dict():
            return {name: _cleaned_value(item, depth + 1) for name, item in list(value.items())[:_MOST_ITEMS]}
        case _:
            return value


def _plain(text: str) -> str:
    """Without what no store takes: NUL, and halves of surrogate pairs."""
    if text.isascii():
        return text.replace("\0", "")
    return text.encode("utf-8", "ignore").decode("utf-8").replace("\0", "")
