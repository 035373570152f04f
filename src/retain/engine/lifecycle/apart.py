"""Whether two statements speak of two things, so that neither can deny the other.

Another environment, another component, another entry of a list: the judge hears that the values differ, and not that
they are the values of two things. Small rules see that, for English.
"""

import re
from collections.abc import Mapping

from retain.domain.answered import parted
from retain.domain.words import STOP_WORDS
from retain.engine.lifecycle.aligned import Alignment, Difference, aligned, is_name, words
from retain.engine.lifecycle.vocabulary import group_of

_ENVIRONMENTS: Mapping[str, str] = {
    word: name
    for name, said in {
        "production": "production prod",
        "staging": "staging preprod pre-production",
        "development": "development dev locally local localhost",
        "test": "test tests testing ci",
        "preview": "preview previews",
    }.items()
    for word in said.split()
}
# What is said before the name of one of several.
_ONE_OF_SEVERAL = frozenset(
    ("project", "repo", "repository", "service", "module", "component", "package", "app", "application", "team",
     "customer", "client", "tenant", "page", "screen", "table", "queue", "topic", "endpoint", "step", "item", "phase",
     "part", "chapter", "task", "issue", "ticket", "section", "row", "question", "option", "milestone", "sprint",
     "example", "note", "build", "exercise", "appendix", "helper", "snippet", "number", "no", "nr")
)  # fmt: skip
# What has a number and is not told apart by it.
_MEASURED = frozenset(["port", "version", "phone", "account", "total", "maximum", "minimum", "limit", "timeout"])
_BUILT_ALIKE = 0.5  # share of words; with two differences each then speaks of its own
_SHORT = 1 / 3  # the same where names of code differ: they are one word, whatever they are made of
_SPEAKER = re.compile(r"^(?:user|assistant|human|system|[A-Z]\w+ \([\w ]+\)):\s+", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_ASKS_OR_WISHES = re.compile(
    r"\?\s*$|^(?:sure|absolutely|certainly|congratulations|here (?:are|is))\b"
    r"|\bI(?:['’]m| am|['’]ve been| was)? (?:\w+ )?(?:look(?:ing)? for|try(?:ing)?|think(?:ing)?|consider(?:ing)?"
    r"|plan(?:ning)?|hop(?:e|ing)|wonder(?:ing)?|interested|curious|excited|glad|concerned|worried|need help|might)\b"
    r"|\bI['’](?:d|ll)\b|\bthanks?\b|\b(?:can|could) you\b",
    re.IGNORECASE,
)
LONGEST = 200  # characters of what is asserted; what is longer is a story, of which the judge knows nothing


def asserted(text: str) -> str | None:
    """What a text asserts: without who says it, and what is asked, wished or thanked for, but with a question that it
    answers; None where that is too much for one statement."""
    asked, said = parted(_SPEAKER.sub("", text.strip()))
    sentences = _SENTENCE.split(said)
    # "Sure" and "I'd say 8080" assert something where they answer.
    answer, rest = (sentences[:1], sentences[1:]) if asked else ([], sentences)
    told = asked + " ".join([*answer, *(each for each in rest if not _ASKS_OR_WISHES.search(each))])
    return told if len(told) <= LONGEST else None


def apart(old: str, new: str) -> bool:
    """Whether two texts speak of two things of a kind."""
    here, there = _environments(old), _environments(new)
    if here and there and not here & there:
        return True
    found = aligned(old, new)
    return _are_two(found) or any(_tells_apart(each, found) for each in found.differences)


def _environments(text: str) -> set[str]:
    return {_ENVIRONMENTS[word] for word in map(str.lower, words(text)) if word in _ENVIRONMENTS}


def _are_two(found: Alignment) -> bool:
    """Built alike, and another value of another thing: a contradiction differs in the value alone."""
    counted = sum(1 + _holds_a_name_and_more(each) for each in found.differences)
    is_named = any(_holds_a_name_and_more(each) for each in found.differences)
    return counted > 1 and found.share >= (_SHORT if is_named else _BUILT_ALIKE)


def _holds_a_name_and_more(each: Difference) -> bool:
    return all(
        any(map(is_name, side)) and any(not is_name(word) and word.lower() not in STOP_WORDS for word in side)
        for side in (each.old, each.new)
    )


def _tells_apart(each: Difference, found: Alignment) -> bool:
    """Whether the only difference is which one of several is meant: "item 3", "project Atlas"."""
    if found.share < _BUILT_ALIKE or len(each.old) != 1 or len(each.new) != 1:
        return False
    before = each.before[-1].lower().removesuffix("s") if each.before else ""
    if before in _ONE_OF_SEVERAL and not _MEASURED & {word.lower() for word in each.before[-2:]}:
        return True
    is_followed = any(word.lower() not in STOP_WORDS for word in each.after)
    return is_followed and is_name(each.old[0]) and is_name(each.new[0]) and not _are_a_choice(each)


def _are_a_choice(each: Difference) -> bool:
    """Whether two names are tools of which one takes one: "MongoDB for analytics"; "the GitHub token" names a token."""
    group = group_of(each.old[0])
    return group is not None and group == group_of(each.new[0]) and each.after[0].lower() in STOP_WORDS
