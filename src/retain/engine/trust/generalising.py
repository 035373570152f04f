"""What several episodes say together, in one text: by the language model that was chosen, else in their own words."""

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from retain.domain.llm import Completion, Prompt
from retain.domain.memory import Kind
from retain.domain.recall import Warning
from retain.domain.stem import stem
from retain.domain.words import bare
from retain.engine.capture.answers import json_in, list_in, nonsense, object_in, text_in
from retain.engine.capture.grounds import is_said_in
from retain.engine.capture.orders import is_hostile, speaks_of_its_first_word
from retain.engine.capture.prompts import FENCED, fenced, one_line
from retain.engine.drafts import cleaned_text
from retain.engine.lifecycle.clusters import Cluster
from retain.engine.lifecycle.summary import summary
from retain.engine.lifecycle.vocabulary import VERBS
from retain.errors import InvalidInput, LLMFailed
from retain.ports import LLM, Embedder

BY_MODEL, BY_RULE = "llm", "rules"
AT_ONCE = 8  # groups in one question
CALL_SECONDS, LEAST_SECONDS = 45.0, 5.0
LONGEST = 400
_MOST_SHOWN = 20  # members of a group, the newest
_LINE = 300
_KINDS = {Kind.SEMANTIC.value: Kind.SEMANTIC, Kind.PROCEDURAL.value: Kind.PROCEDURAL}

_GENERALISE = """\
You read groups of notes from the work on a software project. The notes of a group speak of the same thing. For each \
group write the one principle that they show together: what holds beyond the single case.

{fenced}

Answer with one JSON object and nothing else, with every group exactly once:
{{"principles": [{{"group": 1, "type": "semantic", "content": "one or two sentences, at most {longest} characters"}}]}}

type is "procedural" when the notes tell how to do something, else "semantic". Say nothing that the notes do not say: \
every name, number and identifier in the content stands in a note of that group. Write in the language of the notes."""

_BEYOND = Warning(
    "llm_failed", "the language model said something that the memories do not; such principles were worded by rule"
)
# How a rule begins, and who is told to follow it.
_ASKED = re.compile(
    r"^(?:please\s+|also\s+)?(?:always|never|do not|don['’]t|remember to|make sure|be sure|avoid|prefer|to \w+.{0,60},)"
    r"|\b(?:we|you|one|everyone|developers|agents)\s+(?:\w+ly\s+)?(?:always|never|must|should|have to|need to)\b"
    r"|\bhow to\b|^(?:when|whenever|before|after|if)\b.{3,80},\s*(?:always\s+|first\s+|then\s+)?(?P<verb>\w+)",
    re.IGNORECASE,
)
_FURTHER = """
    add ask call check clean close copy create delete format install lint open reset restart set update wait wrap try
    upgrade rebuild regenerate migrate
"""
_ORDERS = VERBS | frozenset(map(stem, _FURTHER.split()))
_NO_ORDER = ("s", "ed", "ing", "ion", "er", "or", "ment")


@dataclass(frozen=True, slots=True)
class Wording:
    """What a group says together, whether that is a fact or a way of working, and who found the words."""

    text: str
    kind: Kind
    by: str


def worded(
    llm: LLM | None, clusters: Sequence[Cluster], left: Callable[[], float], embedder: Embedder | None = None
) -> tuple[list[Wording], tuple[Warning, ...]]:
    """A wording for each group. What a model gets wrong, or has no time for, the rule does, with a warning."""
    if llm is None or not clusters:
        return [by_rule(cluster) for cluster in clusters], ()
    found: list[Wording] = []
    warnings: list[Warning] = []
    for start in range(0, len(clusters), AT_ONCE):
        some = clusters[start : start + AT_ONCE]
        try:
            answered = _asked(llm, some, left, embedder)
        except LLMFailed as error:
            answered = [None] * len(some)
            warnings.append(Warning("llm_failed", f"{error.message}; principles were worded by rule"))
        else:
            warnings += [_BEYOND] if None in answered else []
        found += [one or by_rule(cluster) for one, cluster in zip(answered, some, strict=True)]
    return found, tuple(dict.fromkeys(warnings))


def by_rule(cluster: Cluster) -> Wording:
    """The most central statement of the members, and what others add to it."""
    kind = Kind.PROCEDURAL if tells_how(cluster.texts) else Kind.SEMANTIC
    return Wording(summary(cluster.texts, cluster.near), kind, BY_RULE)


def tells_how(texts: Sequence[str]) -> bool:
    """Whether most of the texts say how something is to be done: "Run make lint before pushing"."""
    return 2 * sum(map(_is_instruction, texts)) > len(texts)


def question(clusters: Sequence[Cluster]) -> Prompt:
    fence = secrets.token_hex(8)
    instructions = _GENERALISE.format(fenced=FENCED.format(fence=fence), longest=LONGEST)
    lines = [
        line
        for number, cluster in enumerate(clusters, start=1)
        for line in (f"Group {number}:", *(f"- {one_line(text, _LINE)}" for text in cluster.texts[-_MOST_SHOWN:]))
    ]
    tokens = 300 + 250 * len(clusters)
    return Prompt(instructions, f"The notes:\n{fenced(lines, fence)}", max_tokens=tokens, purpose="consolidate")


def read(answer: Completion, groups: int) -> list[tuple[str, Kind]]:
    """Text and kind for each group in their order; LLMFailed unless each is there exactly once."""
    given = [
        object_in(one, "an object for each principle")
        for one in list_in(object_in(json_in(answer), "a JSON object"), "principles")
    ]
    by_number = {one.get("group"): one for one in given if type(one.get("group")) is int}
    if len(given) != groups or set(by_number) != set(range(1, groups + 1)):
        wanted = f"each of the groups 1 to {groups} exactly once"
        raise nonsense(wanted, [one.get("group") for one in given])
    return [_principle(by_number[number]) for number in range(1, groups + 1)]


def _asked(
    llm: LLM, clusters: Sequence[Cluster], left: Callable[[], float], embedder: Embedder | None
) -> list[Wording | None]:
    """None for each group of which the model said something that its members do not."""
    if why_not := llm.why_not():
        raise LLMFailed(f"{llm.name} cannot be asked ({why_not})")
    if left() < LEAST_SECONDS:
        raise LLMFailed("there was no time left to ask the language model")
    answer = llm.complete(question(clusters), min(CALL_SECONDS, left()))
    found = read(answer, len(clusters))
    return [_believed(*one, cluster, embedder) for one, cluster in zip(found, clusters, strict=True)]


def _principle(one: dict[str, object]) -> tuple[str, Kind]:
    kind, content = _KINDS.get(str(one.get("type"))), text_in(one, "content", LONGEST)
    if kind is None:
        raise nonsense("a type of semantic or procedural", one.get("type"))
    if not content:
        raise nonsense("a content that says something", one.get("content"))
    return content, kind


def _believed(text: str, kind: Kind, cluster: Cluster, embedder: Embedder | None) -> Wording | None:
    try:
        clean, _ = cleaned_text(text)
    except InvalidInput:
        return None
    if is_hostile(clean) or not is_said_in(clean, "\n".join(cluster.texts[-_MOST_SHOWN:]), embedder):
        return None
    return Wording(clean, kind, BY_MODEL)


def _is_instruction(text: str) -> bool:
    said = text.strip().lstrip("-*•> ").split("\n", 1)[0]
    asked = _ASKED.search(said)
    if asked and (asked["verb"] is None or _is_order(asked["verb"])):
        return True
    return bool(said) and not speaks_of_its_first_word(said) and _is_order(said.split()[0])


def _is_order(word: str) -> bool:
    plain = bare(word.strip(".,:;`\"'"))
    return stem(plain) in _ORDERS and not plain.endswith(_NO_ORDER)
