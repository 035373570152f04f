"""Go through a conversation once and collect what the rules find, without doubles and what was taken back."""

from collections.abc import Callable, Iterator, Sequence

from retain.domain.conversation import Conversation, Extracted, Said, Speaker, Turn
from retain.engine.capture.by_rule.confirmed import confirmed
from retain.engine.capture.by_rule.conventions import convention
from retain.engine.capture.by_rule.corrections import correction
from retain.engine.capture.by_rule.decisions import decision
from retain.engine.capture.by_rule.facts import fact
from retain.engine.capture.by_rule.files import made_files
from retain.engine.capture.by_rule.fixes import fixes
from retain.engine.capture.by_rule.found import Found, Placed
from retain.engine.capture.by_rule.lasting import is_lasting
from retain.engine.capture.by_rule.progress import progress
from retain.engine.capture.by_rule.statement import stated
from retain.engine.capture.by_rule.taken_back import last_said
from retain.engine.capture.by_rule.typed import Sentence, sentences
from retain.engine.capture.by_rule.wishes import wish

MOST = 10  # of a hundred turns; who says more than that is pasting a document
BEFORE = 40  # turns before a conversation that can matter to it: a proposal, a failure, what was decided first

# The first rule that knows a sentence has it, so the more explicit ones come first.
_RULES: tuple[tuple[str, Callable[[Sentence], Found | None]], ...] = (
    ("progress", progress),
    ("decision", decision),
    ("correction", correction),
    ("wish", wish),
    ("convention", convention),
    ("fact", fact),
)


def extract(conversation: Conversation, before: Sequence[Turn] = ()) -> list[Extracted]:
    """What is worth remembering, in the order in which it was said. In an aside only what tools showed counts:
    its "user" is an agent.

    `before` are the turns that came earlier and were read already: "yes, do that" is about what was asked in
    them, and a command that passes may have failed there. What was found in them is not found again.
    """
    earlier = tuple(before)[-BEFORE:]
    turns = (*earlier, *conversation.turns)
    found = fixes(turns) if conversation.aside else [*_said(turns), *made_files(turns), *fixes(turns)]
    new = [placed.item for placed in last_said(found) if placed.at >= len(earlier)]
    return new[: MOST * (1 + len(conversation.turns) // 100)]


def _said(turns: Sequence[Turn]) -> Iterator[Placed]:
    for place, turn in enumerate(turns):
        if not isinstance(turn, Said) or turn.speaker is not Speaker.USER:
            continue
        agreed = confirmed(turns, place)
        items = [*_kept(agreed, "confirmed", turn)] if agreed else []
        for sentence in sentences(turn.text):
            items += _by_rule(sentence, turn)
        yield from (Placed(place, item) for item in items)


def _by_rule(sentence: Sentence, turn: Said) -> Iterator[Extracted]:
    if not is_lasting(sentence):
        return
    for name, rule in _RULES:
        found = rule(sentence)
        if found is not None:
            yield from _kept(found, name, turn)
            return


def _kept(found: Found, rule: str, turn: Said) -> Iterator[Extracted]:
    text = stated(found.text)
    if text:
        yield Extracted(
            text, found.category, found.speaker, rule, scope=found.scope, at=turn.at, replaces=found.replaces
        )
