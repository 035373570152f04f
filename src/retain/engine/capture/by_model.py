"""Capturing by language model: what it finds in a part of a conversation, as far as that can be believed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from retain.domain.conversation import Dropped, Extracted, Speaker
from retain.domain.judging import Surroundings
from retain.domain.memory import Memory
from retain.domain.recall import Warning
from retain.engine.capture import answers, prompts
from retain.engine.capture.answers import Item, Merge
from retain.engine.capture.checking import Checked, check
from retain.engine.capture.grounds import Hearing, Unfounded, grounded, is_said_in
from retain.engine.capture.orders import is_hostile
from retain.engine.capture.prompts import Source
from retain.engine.lifecycle.redact import redact
from retain.errors import LLMFailed
from retain.ports import LLM, Embedder, Judge

FOUND_BY = "llm"
# A model that would throw away more than this has misunderstood, or was told to by one of the memories.
MOST_DROPPED = 0.5
# Low: the model has seen what stood around a statement, and the judge sees the statement alone.
LEAST_WORTH = 0.15


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a model, and what speaks against it by its letters and meaning, if anything does."""

    said: Extracted
    doubt: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model said that may be believed, and what of its answer may not."""

    claims: tuple[Claim, ...]
    dropped: tuple[Dropped, ...] = ()
    warning: Warning | None = None
    """Where the model could not be asked again what of it was said."""

    @property
    def found(self) -> tuple[Extracted, ...]:
        """What nothing speaks against."""
        return tuple(claim.said for claim in self.claims if claim.doubt is None)


def extract(llm: LLM, chunk: str, existing: Sequence[Memory], said: Hearing, seconds: float) -> Reading:
    """What the chunk, a text of what was said, adds to what is known.

    Any answer that is not exactly what was asked for is LLMFailed, so that the judge decides alone. Statements
    that are orders to an agent, or ask for what the user did not, are dropped, with the reason; those that nobody
    seems to have said are doubted.
    """
    answer = llm.complete(prompts.extraction(chunk, existing), seconds)
    judged = [_believed(item, said) for item in answers.items(answer)]
    claims = {one.said.text: one for one in judged if isinstance(one, Claim)}
    dropped = {one.text: one for one in judged if isinstance(one, Dropped)}
    return Reading(tuple(claims.values()), tuple(one for text, one in dropped.items() if text not in claims))


def checked(llm: LLM, chunk: str, read: Reading, left: Callable[[], float]) -> Reading:
    """What is left of it once the model was asked which of its statements the chunk supports. Its answer settles what
    was doubted; without one the doubt does."""
    answer = check(llm, Source(chunk), [claim.said.text for claim in read.claims], left)
    doubts = {place: claim.doubt for place, claim in enumerate(read.claims) if claim.doubt}
    denied = answer.denied if answer.failed is None else doubts
    kept = tuple(Claim(claim.said) for place, claim in enumerate(read.claims) if place not in denied)
    dropped = tuple(Dropped(read.claims[place].said.text, why) for place, why in denied.items())
    return Reading(kept, read.dropped + dropped, answer.warning)


def worth_keeping(read: Reading, judge: Judge) -> Reading:
    """Without what the judge finds no reason to keep: a model that was asked for statements makes some of anything."""
    scores = {claim: judge.keep(claim.said.text, Surroundings(claim.said.speaker.value)).score for claim in read.claims}
    kept = tuple(claim for claim, score in scores.items() if score >= LEAST_WORTH)
    idle = (
        Dropped(c.said.text, f"the judge finds nothing to keep in it ({scores[c]:.2f})")
        for c in scores
        if c not in kept
    )
    return Reading(kept, (*read.dropped, *idle), read.warning)


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


def merge_checked(
    llm: LLM, memories: Sequence[Memory], plan: Merge, left: Callable[[], float]
) -> tuple[Merge, Checked]:
    """The plan without what the model, asked again, says that the memories do not say: these stay as they are."""
    by_age = sorted(memories, key=lambda memory: memory.updated)  # what is said last corrects what was said before
    source = prompts.grouped([[one.text for one in by_age if one.id in group.ids] for group in plan.merge])
    answer = check(llm, source, [group.content for group in plan.merge], left)
    made = tuple(group for place, group in enumerate(plan.merge) if place not in answer.denied)
    as_they_are = tuple(id for place in answer.denied for id in plan.merge[place].ids)
    return Merge((*plan.keep, *as_they_are), made, plan.drop), answer


def _believed(item: Item, said: Hearing) -> Claim | Dropped:
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
    found = Extracted(text, category, ground.speaker, FOUND_BY, item.tags, at=ground.at, replaces=replaces)
    return Claim(found, ground.doubt)


def _category(item: Item, speaker: Speaker) -> str | None:
    """How a memory may be kept. How to work is for the user to say: from others it is a fact about the project, and
    what a tool prints decides nothing."""
    if speaker is Speaker.TOOL and item.category in ("decision", "pattern"):
        return None
    return "architecture" if item.category == "pattern" and speaker is not Speaker.USER else item.category
