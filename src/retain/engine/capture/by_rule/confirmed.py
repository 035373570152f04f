"""Choices that the assistant proposed and the user confirmed in the very next words.

The words are the assistant's, which may have read anything; so only a choice with its reason counts, never one
that quotes, orders, names an address, makes the work less safe or stands in what a tool showed, and only when the yes
can mean nothing else. It is the user's word where they named the choice themselves, else the assistant's.
"""

import re
from collections.abc import Sequence

from retain.domain.conversation import Said, Speaker, ToolRun, Turn
from retain.domain.words import STOP_WORDS, query_terms, terms
from retain.engine.capture.by_rule.found import Found
from retain.engine.capture.by_rule.lasting import is_question
from retain.engine.capture.by_rule.orders import holds_orders
from retain.engine.capture.by_rule.typed import sentences
from retain.engine.capture.orders import weakens

YES_WORD = r"(?:yes|yeah|yep|yup|ok(?:ay)?|sure|agreed|right|perfect|great|good|exactly|ja|oui|s[ií]|👍|好的?|是的?)"
_YES = re.compile(
    rf"(?:{YES_WORD}[\s,]*){{0,3}}(?:{YES_WORD}|(?:please )?do (?:that|it|so)|go (?:ahead|for it|with (?:that|it))"
    r"|let'?s (?:do|go with) (?:that|it)|sounds (?:good|great)|please do|make it so|that works)"
    r"[\s,]*(?:please|pls|thanks|thx|then|go with (?:that|it)|do (?:that|it)|let'?s do (?:that|it))?[\s.!]*",
    re.I,
)
_NAMED_YES = re.compile(
    rf"(?:{YES_WORD}[\s,.!]*){{1,3}}(?:(?:please|pls|let'?s|we(?:'ll)?|i'?d|then)\b[\s,]*)*(?:(?:go|do|use|take"
    rf"|with|w|for|it"
    r"|the|switch to|move to|stick|keep|is|it's|make)\b[\s/,]*)*(?P<name>[\w@/.+#-]+(?: [\w@/.+#-]+)?)"
    r"(?: (?:it is|then|please|pls|sounds good|thanks))*[\s.!]*",
    re.I,
)
_BUT = re.compile(r"(?:but|except|however|instead|only|although|wait|no)\b", re.I)
_SUGGESTS = re.compile(
    r"(?:(?:so|here|personally|overall|in short),? )?(?:i|i'd|i would|my (?:suggestion|recommendation"
    r"|proposal))\b.{0,30}?\b(?P<verb>suggest|recommend|propose|advise|go with|go for|use|pick|choose|lean towards?"
    r"|stick with|keep|store|switch to|move to|is|would be)\b:? (?P<what>.+)",
    re.I,
)
_SAYING = frozenset({"suggest", "recommend", "propose", "advise", "is", "would be"})
_ASKS_CHOICE = re.compile(
    r"(?:should|shall) (?:i|we) (?P<verb>use|go with|switch to|move to|adopt|keep|store|stick with) (?P<what>.+)\?$",
    re.I,
)
_GO_AHEAD = re.compile(
    r"(?:(?:should|shall) (?:i|we)|(?:do you )?want me to|ok(?:ay)? (?:if i|to))\b.{0,20}?(?:do (?:that|it|so|this)"
    r"|go ahead|proceed|set (?:it|that) up|implement (?:it|that|this)|start)\b.{0,20}\?$"
    r"|(?:should i|shall i|shall we|ok(?:ay)?|sounds? good|agreed|does that work|what do you think)\?$",
    re.I,
)
_REASON = re.compile(r"\b(?:because|since|so that|as (?:it|we|you|they|the|this)|instead of|rather than|over)\b", re.I)
_QUOTES = re.compile(r"[\"“”]|\b(?:says?|according to|recommends that|the (?:page|readme|docs?|article|file))\b", re.I)
_SMALL = re.compile(
    r"(?:fixing|adding|removing|renaming|changing|it|this|that|to (?:fix|add|remove|rename|change|run|check|look"
    r"|first))\b",
    re.I,
)
_POINTS = re.compile(r"\b(?:it|them|this|that|these|those|they)\b", re.I)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_MOST_READ = 4_000
_MOST_SHOWN = 20_000
_LOOKED_BACK = 40  # turns; what was shown earlier is not what a proposal comes from
_COMMON = frozenset(
    terms("use keep keeping store storing go going with switch move stick pick choose put run running add adding")
)


def confirmed(turns: Sequence[Turn], place: int) -> Found | None:
    """The choice that the words at `place` confirm, with its reason; None unless they are a plain yes to a proposal."""
    said, asked = turns[place], _spoken_before(turns, place)
    if asked is None or not isinstance(said, Said):
        return None
    before = turns[asked]
    if not isinstance(before, Said) or before.speaker is not Speaker.ASSISTANT:
        return None
    proposal = _proposal(before.text[-_MOST_READ:])
    if proposal is None or not _is_yes(said.text, proposal) or _is_doubtful(proposal):
        return None
    choice = _choice(proposal)
    typed = _typed(turns, place)
    if not choice or _is_shown(choice - typed, turns[max(0, place - _LOOKED_BACK) : place]):
        return None
    speaker = Speaker.USER if choice <= typed else Speaker.ASSISTANT
    if not _POINTS.search(proposal.split(" because ")[0]):
        return Found(f"Decided: {proposal}", "decision", speaker=speaker)
    question = _question_before(turns, asked)
    return Found(f"Decided: {proposal} (asked: {question})", "decision", speaker=speaker) if question else None


def _is_doubtful(proposal: str) -> bool:
    return holds_orders(proposal) or weakens(proposal) or _QUOTES.search(proposal) is not None


def _choice(proposal: str) -> set[str]:
    """The words that tell what is to be used or done, without the reason for it."""
    return set(query_terms(_REASON.split(proposal, maxsplit=1)[0])) - _COMMON


def _typed(turns: Sequence[Turn], place: int) -> set[str]:
    mine = [turn for turn in turns[max(0, place - _LOOKED_BACK) : place + 1] if isinstance(turn, Said)]
    texts = (sentence.text for turn in mine if turn.speaker is Speaker.USER for sentence in sentences(turn.text))
    return {term for text in texts for term in terms(text)}


def _is_shown(words: set[str], turns: Sequence[Turn]) -> bool:
    """Whether one tool's output holds most of these words, which the user did not type: it may have put them there."""
    outputs = (turn.output[:_MOST_SHOWN] for turn in turns if isinstance(turn, ToolRun))
    return any(words and 2 * len(words & set(terms(output))) >= len(words) for output in outputs)


def _is_yes(text: str, proposal: str) -> bool:
    first, *rest = _SENTENCE.split(text.strip()[:500])
    if len(first) > 60 or any(_BUT.match(part) for part in rest):
        return False
    named = _NAMED_YES.fullmatch(first)
    if named is not None and set(terms(named["name"])) & _choice(proposal):
        return True
    return _YES.fullmatch(first) is not None


def _proposal(text: str) -> str | None:
    """The choice with which a message ends, and its reason: suggested, or asked for, or both."""
    spoken = [part.strip() for part in _SENTENCE.split(text) if part.strip()][-3:]
    suggested = next((found for part in reversed(spoken) if (found := _suggested(part))), None)
    last = spoken[-1] if spoken else ""
    if not last.endswith("?"):
        return suggested
    choice = _ASKS_CHOICE.match(last)
    if suggested is not None:
        return suggested if choice or _GO_AHEAD.match(last) or _share_a_name(last, suggested) else None
    is_weighed = choice is not None and _REASON.search(choice["what"]) and not _SMALL.match(choice["what"])
    return f"{choice['verb']} {choice['what']}" if choice is not None and is_weighed else None


def _suggested(sentence: str) -> str | None:
    match = _SUGGESTS.match(sentence)
    if match is None or not _REASON.search(sentence) or _SMALL.match(match["what"]) or sentence.endswith("?"):
        return None
    verb, what = match["verb"].lower(), match["what"].rstrip(".! ")
    return what if verb in _SAYING else f"{verb} {what}"


def _share_a_name(question: str, proposal: str) -> bool:
    asked, proposed = (set(re.findall(r"[\w-]{4,}", text.lower())) - STOP_WORDS for text in (question, proposal))
    return bool(asked & proposed)


def _spoken_before(turns: Sequence[Turn], place: int) -> int | None:
    return next((at for at in range(place - 1, -1, -1) if isinstance(turns[at], Said)), None)


def _question_before(turns: Sequence[Turn], place: int) -> str:
    """What the user had asked, in one short sentence, so that "them" in the answer has a meaning."""
    at = _spoken_before(turns, place)
    asked = turns[at] if at is not None else None
    if not isinstance(asked, Said) or asked.speaker is not Speaker.USER:
        return ""
    typed = [sentence.text.rstrip("?!. ") for sentence in sentences(asked.text)]
    return next((text for text in reversed(typed) if is_question(f"{text}?") and len(text) <= 120), "")
