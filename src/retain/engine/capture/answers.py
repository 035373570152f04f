"""What a language model answered, read strictly: anything that is not what was asked for is LLMFailed."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from retain.domain.category import CAPTURED
from retain.domain.handing import restored, safe
from retain.domain.ids import undress
from retain.domain.llm import Completion
from retain.domain.memory import MemoryId
from retain.domain.visible import visible
from retain.engine.capture.orders import is_hostile
from retain.engine.capture.prompts import LONGEST_MEMORY, LONGEST_MERGED, LONGEST_WHY, MOST_MEMORIES, MOST_TAGS
from retain.engine.lifecycle.redact import redact
from retain.errors import LLMFailed, shorten

LONGEST_ANSWER = 100_000
LONGEST_TAG = 40
_CODE_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Item:
    """One memory as the model gave it: of the right shape, and not yet believed."""

    category: str
    content: str
    tags: tuple[str, ...]
    replaces: str | None


@dataclass(frozen=True, slots=True)
class Group:
    """Memories that are to become one, and what it says."""

    ids: tuple[MemoryId, ...]
    content: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Merge:
    """What is to become of the memories of one category: each of them is in exactly one of the three."""

    keep: tuple[MemoryId, ...]
    merge: tuple[Group, ...]
    drop: tuple[MemoryId, ...]


def items(answer: Completion) -> list[Item]:
    """The memories in an answer to `prompts.extraction`."""
    found = json_in(answer)
    if not isinstance(found, list):
        raise nonsense("a JSON array", found)
    if len(found) > MOST_MEMORIES:
        raise LLMFailed(f"the language model gave {len(found)} memories, and {MOST_MEMORIES} is the most")
    return [_item(one) for one in found]


def merge(answer: Completion, sent: Sequence[MemoryId]) -> Merge:
    """The plan in an answer to `prompts.merging`: every id that was sent, once, and no other."""
    found = object_in(json_in(answer), "a JSON object")
    groups = tuple(_group(one) for one in list_in(found, "merge"))
    plan = Merge(_ids(found, "keep"), groups, _ids(found, "drop"))
    named = [*plan.keep, *plan.drop, *(id for group in groups for id in group.ids)]
    if sorted(named) != sorted(sent):
        strange, lost = set(named) - set(sent), set(sent) - set(named)
        why = f"{len(strange)} unknown, {len(lost)} lost, {len(named) - len(set(named))} named twice"
        raise LLMFailed(f"the language model did not account for each memory once ({why})")
    return plan


def denied(answer: Completion, asked: int) -> dict[int, str]:
    """What an answer to `prompts.checking` denies: the place of each such statement, from 0, and why. Every number that
    was asked about stands in it once, on one side."""
    found = object_in(json_in(answer), "a JSON object")
    refused = [object_in(one, "an object for each note that is not supported") for one in list_in(found, "not")]
    numbers = [*list_in(found, "supported"), *(one.get("n") for one in refused)]
    if any(type(number) is not int for number in numbers) or sorted(numbers) != list(range(1, asked + 1)):
        raise nonsense(f"each of the notes 1 to {asked} exactly once", numbers)
    return {one["n"] - 1: _reason(one.get("why")) for one in refused}


def _reason(given: Any) -> str:
    """Why a model denies a statement, for people who read the log; whatever it is, the statement is denied."""
    text = safe(redact(visible(given)).text, LONGEST_WHY) if isinstance(given, str) else ""
    return "" if is_hostile(text) else text


def json_in(answer: Completion) -> Any:
    text = answer.text.strip()
    if answer.cut or len(text) > LONGEST_ANSWER:
        raise LLMFailed("the language model's answer is too long, and not whole")
    inside = _CODE_FENCE.fullmatch(text)
    try:
        return json.loads(inside[1] if inside else text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise nonsense("JSON", text) from None


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _item(raw: Any) -> Item:
    one = object_in(raw, "an object for each memory")
    category = one.get("type")
    if category not in CAPTURED:
        raise nonsense(f"a type out of {', '.join(CAPTURED)}", category)
    content = text_in(one, "content", LONGEST_MEMORY)
    if not content:
        raise nonsense("a content that says something", one.get("content"))
    replaces = text_in(one, "supersedes_content", 2 * LONGEST_MERGED)
    return Item(str(category), content, _tags(one), replaces or None)


def _group(raw: Any) -> Group:
    one = object_in(raw, "an object for each merge")
    ids, content = _ids(one, "ids"), text_in(one, "content", LONGEST_MERGED)
    if len(ids) < 2 or not content:
        raise nonsense("two ids at least and a content in each merge", one)
    return Group(ids, content, _tags(one))


def _ids(one: dict[str, Any], name: str) -> tuple[MemoryId, ...]:
    given = list_in(one, name)
    ids = [undress(id) or id for id in given if isinstance(id, str)]
    if len(ids) != len(given):
        raise nonsense(f"ids in {name}", given)
    return tuple(ids)


def _tags(one: dict[str, Any]) -> tuple[str, ...]:
    """Short words in small letters; a tag that is a sentence is none."""
    given = list_in(one, "tags")
    if not all(isinstance(tag, str) for tag in given):
        raise nonsense("words in tags", given)
    cleaned = (" ".join(tag.split()).strip("#.,;:!?\"'`<>[](){}").lower() for tag in given)
    kept = [tag for tag in dict.fromkeys(cleaned) if 0 < len(tag) <= LONGEST_TAG and len(tag.split()) <= 3]
    return tuple(tag for tag in kept if tag.isprintable())[:MOST_TAGS]


def text_in(one: dict[str, Any], name: str, longest: int) -> str:
    given = one.get(name)
    if given is None:
        return ""
    if not isinstance(given, str):
        raise nonsense(f"text in {name}", given)
    line = " ".join(restored(visible(given)).split())
    if len(line) > longest:
        raise LLMFailed(f"the language model's {name} has {len(line)} characters, and {longest} is the most")
    return line


def list_in(one: dict[str, Any], name: str) -> list[Any]:
    given = one.get(name) or []
    if not isinstance(given, list):
        raise nonsense(f"a list in {name}", given)
    return given


def object_in(raw: Any, what: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise nonsense(what, raw)
    return raw


def nonsense(wanted: str, given: object) -> LLMFailed:
    return LLMFailed(f"the language model was to answer with {wanted}, and answered {shorten(given, 80)}")
