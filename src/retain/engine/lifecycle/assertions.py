"""What a text asserts, read loosely: its topics in stems, yes or no, and its values by type, in any order of words."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from retain.domain.words import STOP_WORDS
from retain.engine.lifecycle import bearings, grammar
from retain.engine.lifecycle.grammar import Row
from retain.engine.lifecycle.leaving import without_left
from retain.engine.lifecycle.openings import without_opening
from retain.engine.lifecycle.phrasing import marks, plain
from retain.engine.lifecycle.typed import Token, Typed, tokens, typed, typed_row
from retain.engine.lifecycle.vocabulary import PARTICIPLE
from retain.engine.lifecycle.wording import CONDITIONS, MAY, MUST, NO, NOT, OPEN, TIES

_LONGEST = 400  # characters of a sentence that are looked at
_MOST_SENTENCES = 8
_HAVE = frozenset({"has", "have"})
_WAS = frozenset({"was", "were", "had"})
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Frame:
    """What the clauses of one sentence have in common: its marks, and what it says has been left behind."""

    marks: frozenset[str]
    behind: tuple[frozenset[str], ...]
    context: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Assertion:
    """One clause. `nouns` are its topics with the names in it, `subject` those before the verb.

    `ties` are verbs that say little and `acts` those that say what is done; `scoped` is when and where it holds,
    `context` what else its sentence speaks of. `roles` tells what each value hangs on, `slots` what stands behind
    each preposition, `heads` which word follows which; by their `beginnings` alone one sees that two have no word in
    common. `is_denied` counts "not", "off" and "fails" alike; `is_open` where there may be several values.
    """

    nouns: frozenset[str]
    subject: frozenset[str]
    ties: frozenset[str]
    acts: frozenset[str]
    scoped: frozenset[str]
    context: frozenset[str]
    values: tuple[Typed, ...]
    roles: Mapping[str, str]
    slots: Mapping[str, frozenset[str]]
    is_denied: bool
    has_not: bool
    is_must: bool
    is_order: bool
    is_open: bool
    behind: tuple[frozenset[str], ...]
    identities: frozenset[str]
    contrasts: frozenset[str]
    marks: frozenset[str]
    said: Mapping[str, str]
    beginnings: frozenset[str]
    heads: Mapping[str, str]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(value.key for value in self.values if value.is_name)


def assertions(text: str) -> Iterator[Assertion]:
    for sentence in _SENTENCE.split(text.strip())[:_MOST_SENTENCES]:
        if sentence.strip():
            yield from read(without_opening(sentence.strip()))


@lru_cache(maxsize=2048)  # a new text is compared with its neighbours one by one
def read(sentence: str) -> tuple[Assertion, ...]:
    """The clauses of a sentence; one with "without" also stands for what holds apart from that."""
    sentence = sentence[:_LONGEST].replace("’", "'").replace('"', "").strip()
    left = without_left(plain(sentence))
    behind = tuple(frozenset(_telling(each)) for each in left.behind)
    found = marks(sentence) - ({"past"} if behind else set())
    clauses = list(grammar.clauses(tokens(left.text)))
    topics = [grammar.nouns(clause, typed_row(clause)) for clause in clauses]
    read: list[Assertion] = []
    for i, clause in enumerate(clauses):
        if len(clauses) > 1 and clause and (clause[0].key in CONDITIONS or _is_over(clause, clauses)):
            continue  # "when it is unreachable," says nothing by itself
        context: frozenset[str] = frozenset().union(*topics[:i], *topics[i + 1 :], *behind)
        read.append(_assertion(clause, Frame(found, behind, context)))
        main = _without_without(clause)
        if main:
            read.append(_assertion(main, Frame(found, (), context)))
    return tuple(read)


def _is_over(clause: Row, clauses: list[list[Token]]) -> bool:
    """ "It was on, and is off now"."""
    said = {token.said.lower() for token in clause}
    is_past = bool(said & _WAS) and "now" not in said
    return is_past and any(token.said.lower() == "now" for other in clauses for token in other)


def _telling(phrase: str) -> Iterator[str]:
    row = tokens("of " + phrase)[1:]  # so that a name of two words is one, as it is within a sentence
    for i, token in enumerate(row):
        value = typed(row, i)
        if token.key not in STOP_WORDS and token.key not in TIES:
            yield value.key if value else token.key


def _without_without(row: Row) -> Row:
    """ "Guests can read it" of "guests can read it without logging in"; nothing of what is denied already."""
    at = next((i for i, token in enumerate(row) if token.key == "without"), 0)
    return () if any(token.said.lower() in NOT | NO for token in row[:at]) else row[:at]


def _assertion(row: Row, frame: Frame) -> Assertion:
    values = typed_row(row)
    verb = grammar.verb_at(row)
    acts = grammar.acts(row)
    behind = frozenset(word[:4] for words in (*frame.behind, frame.context) for word in words)
    main = _main_part(row)
    nots = sum(token.shape == "word" and token.said.lower() in NOT for token in main)
    own = tuple(value for i, value in enumerate(values) if value and value.at == i)
    return Assertion(
        nouns=grammar.nouns(row, values),
        subject=grammar.nouns(row[:verb], values[:verb]) if verb > 0 else frozenset(),
        ties=grammar.ties(row) | acts,
        acts=acts,
        scoped=bearings.scoped(row),
        context=frame.context,
        values=own,
        roles={value.key: bearings.role(row, value.at) for value in own},
        slots=bearings.slots(row, values, verb),
        is_denied=(nots + sum(grammar.denies(main, i) for i in range(len(main)))) % 2 == 1,
        has_not=nots > 0,
        is_must=any(token.key in MUST or token.said.lower() in MAY for token in row),
        is_order=bool(row) and grammar.is_order(row),
        is_open=_is_open(row[verb : verb + 3] if verb >= 0 else row),
        behind=frame.behind,
        identities=frozenset(bearings.identities(row, verb)),
        contrasts=frozenset(bearings.contrasts(row)),
        marks=frame.marks,
        heads={a.key: b.key for a, b in pairwise(row) if b.shape == "word"},
        said={token.key: token.said for token in row},
        beginnings=frozenset(token.key[:4] for token in row if token.key not in STOP_WORDS) | behind,
    )


def _is_open(row: Row) -> bool:
    """Whether a verb of several objects is among the words; "have" is none in "have moved"."""
    return any(
        {token.key, token.said.lower()} & OPEN and not (token.key in _HAVE and _is_perfect(row[i + 1 : i + 3]))
        for i, token in enumerate(row)
    )


def _is_perfect(following: Row) -> bool:
    return any(token.key == "been" or PARTICIPLE.fullmatch(token.said) for token in following[:2])


def _main_part(row: Row) -> Row:
    """Up to "if", "when" or "unless": what is denied behind it is not denied."""
    ends = (i for i, token in enumerate(row) if i and token.key in CONDITIONS)
    return row[: next(ends, len(row))]
