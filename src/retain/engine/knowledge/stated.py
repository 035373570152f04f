"""Relations by rule: what a sentence says of two things that it names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from retain.domain.graph import fold


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing that a text names, under its usual spelling, and where it first does."""

    name: str
    kind: str
    start: int
    written: str = ""  # as the text has it, where that is not the usual spelling

    @property
    def end(self) -> int:
        return self.start + len(self.written or self.name)


@dataclass(frozen=True, slots=True)
class Stated:
    """Two names, and what the text says the first is to the second."""

    source: str
    relation: str
    target: str


def stated(text: str, mentions: Sequence[Mention]) -> list[Stated]:
    """What `text` says in so many words: "X depends on Y", "Y is used by X and Z".

    Sentences that deny, ask or suppose give nothing.
    """
    found: dict[Stated, None] = {}
    last: tuple[str, str, bool] | None = None  # the subject so far, what was said of it, and whether turned around
    places = _occurrences(text, mentions)
    for a, b in pairwise(places):
        between = text[a.end : b.start]
        if last and LIST.fullmatch(between):
            subject, relation, is_inverse = last
        elif match := SAYS.fullmatch(between):
            _, relation, is_inverse = VERBS[int((match.lastgroup or "_0")[1:])]
            subject = last[0] if last and match["and"] else a.name
        else:
            last = None
            continue
        last = subject, relation, is_inverse
        if fold(subject) != fold(b.name) and not UNSAID.search(text, *_sentence(text, a.start, b.end)):
            found[Stated(b.name, relation, subject) if is_inverse else Stated(subject, relation, b.name)] = None
    return list(found)


def labelled(text: str, given: Sequence[tuple[str, str]], mentions: Sequence[Mention]) -> list[Stated]:
    """Relations from (name, label) pairs that a caller linked to the text: "AuthService … TokenValidator" with
    `depends_on` for TokenValidator.

    The label is taken for a verb whose subject is the one other thing named earlier in the same sentence, or, of
    several, the one that the sentence begins with.
    """
    others = [Mention(name, "concept", 0) for name, _ in given]
    places = _occurrences(text, [*mentions, *others])
    found: dict[Stated, None] = {}
    for name, label in given:
        relation = "_".join(label.casefold().replace("-", " ").replace("_", " ").split())
        target = next((place for place in places if fold(place.name) == fold(name)), None)
        if target and VERB_LIKE.fullmatch(relation) and relation not in NOT_VERBS:
            subject = _subject(text, places, target)
            if subject:
                found[Stated(subject, relation, target.name)] = None
    return list(found)


def _subject(text: str, places: Sequence[Mention], target: Mention) -> str | None:
    begin, end = _sentence(text, target.start, target.end)
    earlier = [p for p in places if begin <= p.start < target.start and fold(p.name) != fold(target.name)]
    if not earlier or UNSAID.search(text, begin, end):
        return None
    is_alone = len({fold(place.name) for place in earlier}) == 1
    is_first = LEAD_IN.fullmatch(text[begin : earlier[0].start]) is not None
    return earlier[0].name if is_alone or is_first else None


def _occurrences(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Every place where the text names one of these, in order; of overlapping names the longer."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow when lowered, and every place after them would be off
        lowered = text
    found: dict[int, Mention] = {}
    for mention in mentions:
        written = mention.written or mention.name
        wanted = written if lowered is text else written.lower()
        start = lowered.find(wanted)
        while start >= 0:
            end = start + len(wanted)
            if (start == mention.start or _stands_alone(text, start, end)) and (
                start not in found or found[start].end < end
            ):
                found[start] = Mention(mention.name, mention.kind, start, text[start:end])
            start = lowered.find(wanted, end)
    places = [found[start] for start in sorted(found)]
    return [p for n, p in enumerate(places) if n == 0 or p.start >= places[n - 1].end]


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return before not in IN_NAMES and (after not in IN_NAMES or after == ".")


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence around a span begins and ends."""
    furthest = max(0, start - LONGEST_SENTENCE)
    begin = max((match.end() for match in SENTENCE_END.finditer(text, furthest, start)), default=furthest)
    closing = SENTENCE_END.search(text, end, end + LONGEST_SENTENCE)
    return begin, closing.end() if closing else min(len(text), end + LONGEST_SENTENCE)


LONGEST_SENTENCE = 500
# Verb, relation, and whether the sentence says it the other way around.
VERBS = (
    ("depends? on|relies on|rely on", "depends_on", False),
    ("(?:(?:is|are) )?using|uses?", "uses", False),
    ("calls?|invokes?", "calls", False),
    ("imports?", "imports", False),
    ("extends?|inherits? from|subclasses", "extends", False),
    ("implements?", "implements", False),
    ("replaces|replaced|supersedes?", "replaces", False),
    ("requires?|needs?", "requires", False),
    ("(?:is|are|was) (?:a )?part of", "part_of", False),
    ("belongs? to", "belongs_to", False),
    ("owns?", "owns", False),
    ("talks? to|connects? to|communicates? with", "talks_to", False),
    (r"stores?(?: [\w-]+){0,4}? in|persists?(?: [\w-]+){0,4}? (?:in|to)", "stores_in", False),
    ("runs? (?:on|in)", "runs_on", False),
    ("(?:(?:is|are|was) )?(?:written|implemented|coded) in", "written_in", False),
    ("(?:(?:is|are|was) )?(?:written|authored) by", "authored_by", False),
    ("maintains?", "maintains", False),
    ("wrote|authored", "authored_by", True),
    ("(?:is|are|was) used by|used by", "uses", True),
    ("(?:is|are) called by", "calls", True),
    ("(?:is|are) required by", "requires", True),
    ("(?:is|are) imported by", "imports", True),
    ("(?:is|are) implemented by", "implements", True),
    ("(?:(?:is|are|was|were|has been|got) )?(?:replaced|superseded) (?:by|with)", "replaces", True),
    ("(?:is|are) owned by", "owns", True),
    ("(?:is|are) maintained by", "maintains", True),
)
# What may stand around the verb without changing who does what to whom.
_NOUNS = r"(?:service|module|class|component|layer|package|library|function|method|file|table|server|client|app|team)"
_ADVERBS = r"(?:also|now|currently|directly|internally|heavily|mostly|still|always|only|mainly|both|must|will)"
_MARKS = r"[`\"'*()]*"
SAYS = re.compile(
    rf"{_MARKS}(?: {_NOUNS})?,?(?P<and> and| but|)(?: which| that)?(?: {_ADVERBS})* "
    rf"(?:{'|'.join(f'(?P<v{n}>{verb})' for n, (verb, _, _) in enumerate(VERBS))})"
    rf"(?: {_ADVERBS})*(?: (?:the|a|an|our|its|their|my|your))?"
    rf"(?: (?!(?:and|or|but|of|for|in|from|with|to|by)\b)[a-z-]+)? {_MARKS}"
)
LIST = re.compile(rf"{_MARKS}(?:,|,? and|,? or|,? as well as)(?: the| a| an| our)? {_MARKS}")
SENTENCE_END = re.compile(r"[.!?;]\s+|\n\s*")
UNSAID = re.compile(
    r"\b(?:not|no longer|never|cannot|without|stopped|neither|nor|instead of|used to|if|whether|unless|maybe|perhaps|"
    r"might|may|could|would|should|avoid)\b|n[’']t\b|\?",
    re.I,
)
# A set, not a string: the empty text at either end is in every string.
IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")
LEAD_IN = re.compile(r"[\s`\"'*(>-]*(?:(?:the|our|a|an) )?[`\"'*(]*", re.I)
VERB_LIKE = re.compile(r"[a-z]{3,}_(?:on|by|to|in|from|with|of|for|at|via)|[a-z]{3,}s|wrote|runs_on")
NOT_VERBS = frozenset(
    (
        "mentions",
        "mentioned_in",
        "mentioned_by",
        "related_to",
        "relates_to",
        "describes",
        "described_by",
        "described_in",
    )
    + (
        "references",
        "referenced_by",
        "referenced_in",
        "refers_to",
        "concerns",
        "involves",
        "linked_to",
        "associated_with",
    )
    + (
        "applies_to",
        "documents",
        "documented_in",
        "discusses",
        "covers",
        "tags",
        "belongs_with",
        "similar_to",
        "discussed_in",
    )
)
