"""On whose word a statement rests: which part of a conversation says what it says, in whatever words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from retain.domain.conversation import Conversation, Said, Speaker, ToolRun, Turn
from retain.domain.echo import without_echo
from retain.domain.memory import Json
from retain.domain.short_forms import plain
from retain.domain.words import query_terms, terms
from retain.engine.capture.by_rule.typed import typed_sentences
from retain.engine.capture.invention import ENOUGH, invention, is_about
from retain.engine.capture.meaning import meaning_of
from retain.engine.capture.orders import is_hostile, is_wish, needs_the_user, needs_their_words
from retain.engine.capture.specifics import Heard, own_words, share_said, unsaid, words_unsaid
from retain.engine.lifecycle.redact import MARK
from retain.ports import Embedder

YES_WORD = r"(?:yes|yeah|yep|yup|ok(?:ay)?|sure|agreed|right|perfect|great|good|exactly|ja|oui|s[ií]|👍|好的?|是的?)"
_INPUT = 2000  # characters of what a tool was given
_THEIRS = 2  # words of a demand that the user typed, unless the assistant asked for it
_TYPED = 0.8  # of the letters of a message: it holds nothing pasted that is worth the name
# What the user says that others say is not the user's word.
_REPORTS = re.compile(
    r"\baccording to\b|\b(?:wiki|docs?|documentation|readme|manual|vendor|guide|page|site|article|blog|post|answer|file"
    r"|comment|issue|ticket|e?mail|message|linter|compiler|log|output|error|tool|bot|stackoverflow|chatgpt|he|she"
    r"|they|it|someone|somebody|reporter|reviewer|customer|client)"
    r"\s+(?:\w+\s+){0,2}?(?:says?|said|prints?|printed|tells?|told|claims?|recommends?|suggests?|wants?|reads?"
    r"|states?|insists?|writes?|wrote)\b"
    r"|^\W*tell (?:the|our|my) \w+ to\b",
    re.IGNORECASE,
)
_REQUESTED = re.compile(r"\W*(?:(?:and|so|ok|please|also)\W+)*(?:can|could|would|will) (?:you|u|we)\b", re.IGNORECASE)
# With these words somebody answers a proposal with no.
_NO = re.compile(
    r"\W*(?:(?:hm+|oh|ok|well|uh|um|yeah)\W+)*(?:no|nah|nope|not|never|don'?t|do not|can'?t|cannot|won'?t|rather not"
    r"|let'?s not|we (?:don'?t|can'?t|won'?t)|stop|wait|leave (?:it|that)|nein|non)\b",
    re.IGNORECASE,
)
# "From now on we always …" and an ok is no agreement: nobody was asked.
_PROPOSES = re.compile(
    r"\?|\b(?:would|could|should|shall|suggest|recommend|propose|advise|i['’](?:d|ll)|let me|want me|try|either"
    r"|options?)\b",
    re.IGNORECASE,
)
# A yes, or a word that points at what was said before: "do it", "both", "go with that one".
_TAKES_UP = re.compile(
    rf"^\W*(?:{YES_WORD}|k|yep|nice|cool|fine|fair|thanks|thx|go|agreed|correct|done)\b"
    r"|\b(?:it|that|this|them|these|those|both|one|same|so|either|option)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one turn says, and on whose word."""

    speaker: Speaker
    heard: Heard
    at: datetime | None
    is_answered: bool = False
    """Whether the assistant spoke, and the user's next words take it up."""
    is_shown: bool = False
    """Whether it is not anybody's own word: a tool printed it, or the user pasted it."""
    is_given: bool = False
    """Whether a tool was given it: a file that is written may hold anything."""


@dataclass(frozen=True, slots=True)
class Grounded:
    speaker: Speaker
    at: datetime | None
    doubt: str | None = None
    """What speaks against it by letters and meaning, which a language model that is asked again may know better."""


@dataclass(frozen=True, slots=True)
class Unfounded:
    """Not to be remembered, and why."""

    why: str


@dataclass(frozen=True)
class Hearing:
    """What was said in a piece of a conversation, by whom, ready to be asked for many statements."""

    parts: tuple[Evidence, ...]
    embedder: Embedder | None = None

    @cached_property
    def everything(self) -> Heard:
        """All of it; the meaning is that of what was spoken, since tools print too much to embed."""
        return Heard(_text(self.parts), meaning_of(_text(self._spoken), self.embedder))

    @cached_property
    def told(self) -> Heard:
        """What was spoken, by whomever, with what the user asked or handed on."""
        return self._heard(self._spoken)

    @cached_property
    def typed(self) -> Heard:
        """What the user said for themselves."""
        return self._heard(self.by_user)

    @cached_property
    def agreed(self) -> Heard:
        """What the user said, and what the assistant said that they took up."""
        return self._heard(part for part in self.parts if part.speaker is Speaker.USER or part.is_answered)

    @cached_property
    def proposed(self) -> Heard:
        """As `agreed`, with nothing that the assistant said without asking."""
        taken = (part for part in self.parts if part.is_answered and _PROPOSES.search(part.heard.text))
        return self._heard([*self.by_user, *taken])

    @cached_property
    def by_user(self) -> list[Evidence]:
        return [part for part in self.parts if part.speaker is Speaker.USER and part.heard.text]

    @cached_property
    def latest(self) -> datetime | None:
        return max((part.at for part in self._spoken if part.at), default=None)

    @property
    def _spoken(self) -> list[Evidence]:
        return [part for part in self.parts if not part.is_shown]

    def _heard(self, parts: Iterable[Evidence]) -> Heard:
        text = _text(parts)
        return Heard(text, meaning_of(text, self.embedder))


def hearing(conversation: Conversation, embedder: Embedder | None = None) -> Hearing:
    """Every turn as evidence. Of what a user sent only what they typed is theirs; what they pasted is as good as the
    output of a tool. In an aside nobody is the user."""
    turns = conversation.turns
    parts = (
        part
        for place, turn in enumerate(turns)
        for part in _evidence(turn, is_aside=conversation.aside, is_answered=_is_answered(turns, place))
    )
    return Hearing(tuple(parts), embedder)


def grounded(statement: str, said: Hearing) -> Grounded | Unfounded:
    """On whose word a statement rests, or why it rests on nobody's, or on that of one who may not say such a thing."""
    if is_hostile(statement):
        return Unfounded("it speaks to an agent or hides something")
    if MARK.search(statement):
        return Unfounded("a secret was taken out of it")
    doubt = invention(statement, said.everything)
    ground = _ground(statement, said, is_doubted=doubt is not None)
    if doubt is None:
        return ground
    return replace(ground, doubt=doubt) if isinstance(ground, Grounded) else Unfounded(doubt)


def _ground(statement: str, said: Hearing, *, is_doubted: bool) -> Grounded | Unfounded:
    """A demand that is doubted is looked at as if the user had not said it, though most of its words be theirs."""
    saying = [part for part in said.by_user if _says(statement, part.heard)]
    is_demand = needs_the_user(statement)
    if (saying or _says(statement, said.typed)) and not (is_demand and is_doubted):
        return Grounded(Speaker.USER, (saying or said.by_user)[-1].at)
    if is_demand:
        return _wished(statement, said)
    is_told = _is_in(statement, said.told) or _is_all_told(statement, said)
    return Grounded(Speaker.ASSISTANT if is_told else Speaker.TOOL, said.latest)


def is_said_in(statement: str, text: str, embedder: Embedder | None = None) -> bool:
    """Whether a text says what a statement does, and has every name and number of it."""
    return invention(statement, Heard(text, meaning_of(text, embedder))) is None


def _says(statement: str, heard: Heard) -> bool:
    """Whether the words of a statement, with its names and numbers, stand there. Meaning is not enough to put a
    statement in the user's mouth: whoever plants one need only write near what the user speaks of."""
    return share_said(statement, heard) >= ENOUGH and not unsaid(statement, heard)


def _is_in(statement: str, heard: Heard) -> bool:
    return not unsaid(statement, heard) and is_about(statement, heard)


def _is_all_told(statement: str, said: Hearing) -> bool:
    """Whether as much of a statement was spoken as stands anywhere: what was shown has no word to add."""
    return all(
        set(missing(statement, said.told)) <= set(missing(statement, said.everything))
        for missing in (unsaid, words_unsaid)
    )


def _wished(statement: str, said: Hearing) -> Grounded | Unfounded:
    """A demand, or a claim about what somebody wants, that the user made in other words, or agreed to when the
    assistant proposed it: then it is the assistant's word, as the words are. What a tool showed may have put them
    there; and what is to be run, or makes the work less safe, wants the user's own words."""
    untyped = words_unsaid(statement, said.typed)
    is_planted = needs_their_words(statement) or _is_shown(untyped, said.parts)
    is_theirs = len(own_words(statement)) - len(untyped) >= _THEIRS or not is_wish(statement)
    agreed = said.agreed if is_theirs else said.proposed
    if is_planted or not said.by_user or unsaid(statement, said.told) or not is_about(statement, agreed):
        return Unfounded("it asks for something that the user did not ask for")
    return Grounded(Speaker.USER if _is_in(statement, said.typed) else Speaker.ASSISTANT, said.latest)


def _is_shown(words: Sequence[str], parts: Iterable[Evidence]) -> bool:
    """Whether a tool, or what the user pasted, holds one of the words that the user did not type."""
    shown = (part.heard for part in parts if part.is_shown or part.is_given)
    return any(any(map(heard.has_word, words)) for heard in shown)


def _text(parts: Iterable[Evidence]) -> str:
    return "\n".join(part.heard.text for part in parts)


def _is_answered(turns: Sequence[Turn], place: int) -> bool:
    """Whether the assistant spoke here, and the user took it up in their next words, without a no."""
    turn = turns[place]
    if not isinstance(turn, Said) or turn.speaker is not Speaker.ASSISTANT:
        return False
    after = next((next_ for next_ in turns[place + 1 :] if isinstance(next_, Said)), None)
    if after is None or after.speaker is not Speaker.USER or _NO.match(after.text):
        return False
    return _TAKES_UP.search(after.text) is not None or not set(query_terms(after.text)).isdisjoint(terms(turn.text))


def _evidence(turn: Turn, *, is_aside: bool, is_answered: bool) -> Iterator[Evidence]:
    match turn:
        case Said(speaker=Speaker.USER) if not is_aside:
            yield from _of_user(turn)
        case Said(speaker=Speaker.TOOL):
            yield _shown(turn.text, turn)
        case Said():
            yield replace(_part(Speaker.ASSISTANT, turn.text, turn), is_answered=is_answered and not is_aside)
        case ToolRun():
            given = " ".join(_strings(list(turn.input.values())))
            yield replace(_part(Speaker.ASSISTANT, given, turn), is_given=True)
            yield _shown(turn.output, turn)


def _of_user(turn: Said) -> Iterator[Evidence]:
    """What the user says for themselves; what they ask or hand on, which is nobody's word; and what they pasted."""
    typed = typed_sentences(turn.text)
    own = [one for one in typed if not (_is_question(one) or _REPORTS.search(one))]
    yield _part(Speaker.USER, "\n".join(own), turn)
    yield _part(Speaker.TOOL, "\n".join(one for one in typed if one not in own), turn)
    is_typed = len(plain(" ".join(typed))) >= _TYPED * len(plain(turn.text))
    yield replace(_shown(turn.text, turn), is_shown=not is_typed)


def _is_question(sentence: str) -> bool:
    """Whether the user asks; "could you use tabs?" is a wish."""
    return sentence.endswith(("?", "？")) and not _REQUESTED.match(sentence)


def _part(speaker: Speaker, text: str, turn: Turn) -> Evidence:
    return Evidence(speaker, Heard(without_echo(text)), turn.at)


def _shown(text: str, turn: Turn) -> Evidence:
    return replace(_part(Speaker.TOOL, text, turn), is_shown=True)


def _strings(values: Iterable[Json]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value[:_INPUT]
        elif isinstance(value, list):
            yield from _strings(value)
        elif isinstance(value, dict):
            yield from _strings(value.values())
