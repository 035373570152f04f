"""Capturing by language model: what it finds in a part of a conversation, as far as that can be believed."""

from collections.abc import Sequence
from dataclasses import dataclass

from retain.domain.conversation import Dropped, Extracted, Speaker
from retain.domain.memory import Memory
from retain.engine.capture import answers, prompts
from retain.engine.capture.answers import Item, Merge
from retain.engine.capture.grounds import Hearing, Unfounded, grounded, is_said_in
from retain.engine.capture.orders import is_hostile
from retain.engine.lifecycle.redact import redact
from retain.errors import LLMFailed
from retain.ports import LLM, Embedder

FOUND_BY = "llm"
# A model that would throw away more than this has misunderstood, or was told to by one of the memories.
MOST_DROPPED = 0.5


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model found that can be believed, and what of its answer cannot."""

    found: tuple[Extracted, ...]
    dropped: tuple[Dropped, ...] = ()


def extract(llm: LLM, chunk: str, existing: Sequence[Memory], said: Hearing, seconds: float) -> Reading:
    """What the chunk, a text of what was said, adds to what is known.

    Any answer that is not exactly what was asked for is LLMFailed, so that rules read the chunk instead. Statements
    that are orders to an agent, or rest on nothing that was said, are dropped, with the reason.
    """
    answer = llm.complete(prompts.extraction(chunk, existing), seconds)
    judged = [_believed(item, said) for item in answers.items(answer)]
    found = {one.text: one for one in judged if isinstance(one, Extracted)}
    dropped = {one.text: one for one in judged if isinstance(one, Dropped)}
    return Reading(tuple(found.values()), tuple(one for text, one in dropped.items() if text not in found))


def merge_category(llm: LLM, memories: Sequence[Memory], seconds: float, embedder: Embedder | None = None) -> Merge:
    """Which memories of one category to keep, merge and drop; LLMFailed unless the plan accounts for each once, and
    says in what it merges nothing that they did not."""
    answer = llm.complete(prompts.merging(memories), seconds)
    plan = answers.merge(answer, [memory.id for memory in memories])
    if len(plan.drop) > MOST_DROPPED * len(memories):
        raise LLMFailed(f"the language model would drop {len(plan.drop)} of {len(memories)} memories")
    texts = {memory.id: memory.text for memory in memories}
    for group in plan.merge:
        sources = " ".join(texts[id] for id in group.ids)
        if is_hostile(group.content) or not is_said_in(group.content, sources, embedder):
            raise LLMFailed("the language model merged memories into something that they do not say")
    return plan


def _believed(item: Item, said: Hearing) -> Extracted | Dropped:
    text = redact(item.content).text
    ground = grounded(text, said)
    if isinstance(ground, Unfounded):
        return Dropped(text, ground.why)
    category = _category(item, ground.speaker)
    if category is None:
        return Dropped(text, "only a tool printed it, and a tool decides nothing")
    if any(map(is_hostile, item.tags)):
        return Dropped(text, "one of its tags speaks to an agent")
    # What only a tool printed must not end what somebody said.
    replaces = item.replaces if ground.speaker is not Speaker.TOOL else None
    return Extracted(text, category, ground.speaker, FOUND_BY, item.tags, at=ground.at, replaces=replaces)


def _category(item: Item, speaker: Speaker) -> str | None:
    """How a memory may be kept. How to work is for the user to say: from others it is a fact about the project, and
    what a tool prints decides nothing."""
    if speaker is Speaker.TOOL and item.category in ("decision", "pattern"):
        return None
    return "architecture" if item.category == "pattern" and speaker is not Speaker.USER else item.category
