"""Judging by language model: which memories a statement contradicts, and which of two that contradict each other holds.

An answer that is not exactly what was asked for is LLMFailed, so that a rule, or a person, decides instead.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from retain.domain.changes import Contradiction
from retain.domain.claims import signature
from retain.domain.llm import Completion, Prompt
from retain.domain.memory import Memory, MemoryId
from retain.domain.trust import provenance_of
from retain.engine.capture.answers import json_in, nonsense, object_in, text_in
from retain.engine.capture.orders import is_hostile
from retain.engine.capture.prompts import FENCED, fenced, one_line
from retain.engine.lifecycle.redact import redact
from retain.errors import LLMFailed, shorten
from retain.ports import LLM

Resolution = Literal["older", "newer", "context_dependent"]
RESOLUTIONS: tuple[Resolution, ...] = get_args(Resolution)

MOST_NEAR = 8
LONGEST_WHY = 200
LONGEST_CONDITIONS = 300
LONGEST_EXPLANATION = 600
_LONGEST_NOTE = 1000

_CONTRADICTS = """\
You keep the memory of a software project free of contradictions. A new statement has come; with it you are given \
numbered notes that were kept earlier.

{fenced}

Name the notes that cannot be true if the new statement is: they give another value, number, version, name or choice \
for the same thing, or one denies what the other says. Not a contradiction: a note about another thing, one that says \
the same in other words, in more detail or in less, one more item of a list, and what holds in another case (another \
environment, module, time or person).

Answer with a JSON array and nothing else; mostly it is [].
[{{"number": 2, "why": "what differs, in at most {longest} characters, such as: port 8080 against 9090"}}]"""

_DECIDES = """\
Two notes about a software project contradict each other. You decide what is to be remembered.

{fenced}

Each note is given with its date, how it came to be known and how often it was said again. The answers are:
- newer: things have changed since the older note, or the newer one corrects it. Mostly it is this.
- older: the newer note is a mistake, such as a guess against what was seen or what the user said.
- context_dependent: both hold, each in a case of its own that the notes tell.

Answer with one JSON object and nothing else:
{{"resolution": "newer | older | context_dependent", "conditions": "for context_dependent: when the one holds and when \
the other, in at most {conditions} characters; otherwise null", "explanation": "why, in one or two sentences of \
together at most {explanation} characters"}}"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which of two memories holds; or that both do, and then on what that depends."""

    resolution: Resolution
    conditions: str | None = None
    explanation: str | None = None


def judged(llm: LLM, new_text: str, near: Sequence[Memory], seconds: float) -> dict[MemoryId, str]:
    """Those of the nearest memories that a new text contradicts, each with why; only the first 8 are looked at.

    Texts that speak to the machine are not put before it: a memory among them is passed over, and a new text that
    does is LLMFailed.
    """
    sent = [memory for memory in near[:MOST_NEAR] if not is_hostile(memory.text)]
    if is_hostile(new_text):
        raise LLMFailed("the new text gives orders to the language model, so it was not asked")
    if not sent:
        return {}
    answer = _asked(llm, _contradicting(new_text, sent), seconds)
    return {sent[number - 1].id: why for number, why in _numbered(answer, len(sent)).items()}


def decided(llm: LLM, contradiction: Contradiction, older: Memory, newer: Memory, seconds: float) -> Verdict:
    """What the model makes of two memories that contradict each other."""
    if any(map(is_hostile, (older.text, newer.text))):
        raise LLMFailed("one of the two texts gives orders to the language model, so it was not asked")
    told = [f"older: {_note(older)}", f"newer: {_note(newer)}", f"what differs: {one_line(contradiction.detail)}"]
    return _verdict(_asked(llm, _deciding(told), seconds), " ".join(told))


def _asked(llm: LLM, prompt: Prompt, seconds: float) -> Completion:
    if why_not := llm.why_not():
        raise LLMFailed(f"{llm.name} cannot be asked ({why_not})")
    return llm.complete(prompt, seconds)


def _contradicting(new_text: str, near: Sequence[Memory]) -> Prompt:
    fence = secrets.token_hex(8)
    instructions = _CONTRADICTS.format(fenced=FENCED.format(fence=fence), longest=LONGEST_WHY)
    notes = [f"{number}. {_note(memory)}" for number, memory in enumerate(near, start=1)]
    new = fenced([one_line(new_text, _LONGEST_NOTE)], fence)
    text = f"The new statement:\n{new}\n\nThe notes:\n{fenced(notes, fence)}"
    return Prompt(instructions, text, max_tokens=200 + 100 * len(near), purpose="judge")


def _deciding(told: Sequence[str]) -> Prompt:
    fence = secrets.token_hex(8)
    instructions = _DECIDES.format(
        fenced=FENCED.format(fence=fence), conditions=LONGEST_CONDITIONS, explanation=LONGEST_EXPLANATION
    )
    return Prompt(instructions, f"The two notes:\n{fenced(told, fence)}", max_tokens=800, purpose="judge")


def _note(memory: Memory) -> str:
    again = f", said again {memory.reinforced} times" if memory.reinforced else ""
    known = f"{memory.event_time:%Y-%m-%d}, {provenance_of(memory).value}{again}"
    return f"({known}) {one_line(memory.text, _LONGEST_NOTE)}"


def _numbered(answer: Completion, most: int) -> dict[int, str]:
    found = json_in(answer)
    if not isinstance(found, list):
        raise nonsense("a JSON array", found)
    pairs = [_why(object_in(one, "an object for each note"), most) for one in found]
    whys = dict(pairs)
    if len(whys) < len(pairs):
        raise nonsense("each number once", found)
    return whys


def _why(one: dict[str, Any], most: int) -> tuple[int, str]:
    number = one.get("number")
    if type(number) is not int or not 1 <= number <= most:  # True is an int too
        raise nonsense(f"numbers from 1 to {most}", number)
    return number, _said(one, "why", LONGEST_WHY)


def _verdict(answer: Completion, told: str) -> Verdict:
    one = object_in(json_in(answer), "a JSON object")
    resolution = next((each for each in RESOLUTIONS if each == one.get("resolution")), None)
    if resolution is None:
        raise nonsense(f"a resolution out of {', '.join(RESOLUTIONS)}", one.get("resolution"))
    explanation = _said(one, "explanation", LONGEST_EXPLANATION)
    if resolution != "context_dependent":
        return Verdict(resolution, None, explanation)
    conditions = _said(one, "conditions", LONGEST_CONDITIONS)
    made_up = _made_up(conditions, told)
    if made_up:
        raise LLMFailed(f"the language model's conditions name {shorten(made_up)}, which neither memory does")
    return Verdict(resolution, conditions, explanation)


def _said(one: dict[str, Any], name: str, longest: int) -> str:
    """A text that is there, short enough, and about the work; it will be shown to agents."""
    text = redact(text_in(one, name, longest)).text
    if not text:
        raise nonsense(f"a text in {name}", one.get(name))
    if is_hostile(text):
        raise LLMFailed(f"the language model's {name} gives orders")
    return text


def _made_up(statement: str, told: str) -> str | None:
    """The first number or identifier that a statement names and its sources do not."""
    exact, known = signature(statement), told.casefold()
    # A number that was spelled out, as in "in two cases", is seldom one of the work.
    named = [each for each in (*exact.numbers, *exact.identifiers) if each.casefold() in statement.casefold()]
    return next((each for each in named if each.casefold() not in known), None)
