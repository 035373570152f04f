"""Capturing by language model: what it finds in a part of a conversation, as far as that can be believed."""

from collections.abc import Sequence

from retain.domain.conversation import Conversation, Extracted, Speaker
from retain.domain.memory import Memory
from retain.engine.capture import answers, prompts
from retain.engine.capture.answers import Item, Merge
from retain.engine.capture.grounds import Evidence, evidence, grounded, is_said_in
from retain.engine.capture.orders import is_hostile
from retain.engine.lifecycle.redact import redact
from retain.errors import LLMFailed
from retain.ports import LLM

FOUND_BY = "llm"
# A model that would throw away more than this has misunderstood, or was told to by one of the memories.
MOST_DROPPED = 0.5


def extract(
    llm: LLM, chunk: str, existing: Sequence[Memory], conversation: Conversation, seconds: float
) -> list[Extracted]:
    """What the chunk, a text of that part of the conversation, adds to what is known.

    Any answer that is not exactly what was asked for is LLMFailed, so that rules read the chunk instead. Statements
    that are orders to an agent, or rest on nothing in the conversation, are left out.
    """
    answer = llm.complete(prompts.extraction(chunk, existing), seconds)
    given = answers.items(answer)
    said = evidence(conversation)
    found = (_believed(item, said) for item in given)
    return list({one.text: one for one in found if one is not None}.values())


def merge_category(llm: LLM, memories: Sequence[Memory], seconds: float) -> Merge:
    """Which memories of one category to keep, merge and drop; LLMFailed unless the plan accounts for each once, and
    says in what it merges nothing that they did not."""
    answer = llm.complete(prompts.merging(memories), seconds)
    plan = answers.merge(answer, [memory.id for memory in memories])
    if len(plan.drop) > MOST_DROPPED * len(memories):
        raise LLMFailed(f"the language model would drop {len(plan.drop)} of {len(memories)} memories")
    texts = {memory.id: memory.text for memory in memories}
    for group in plan.merge:
        sources = " ".join(texts[id] for id in group.ids)
        if is_hostile(group.content) or not is_said_in(group.content, sources):
            raise LLMFailed("the language model merged memories into something that they do not say")
    return plan


def _believed(item: Item, said: Sequence[Evidence]) -> Extracted | None:
    text = redact(item.content).text
    ground = grounded(text, said)
    category = _category(item, ground.speaker) if ground else None
    if ground is None or category is None or any(map(is_hostile, item.tags)):
        return None
    # What only a tool printed must not end what somebody said.
    replaces = item.replaces if ground.speaker is not Speaker.TOOL else None
    return Extracted(text, category, ground.speaker, FOUND_BY, item.tags, at=ground.at, replaces=replaces)


def _category(item: Item, speaker: Speaker) -> str | None:
    """How a memory may be kept. How to work is for the user to say: from others it is a fact about the project, and
    what a tool prints decides nothing."""
    if speaker is Speaker.TOOL and item.category in ("decision", "pattern"):
        return None
    return "architecture" if item.category == "pattern" and speaker is not Speaker.USER else item.category
