"""Capturing by the judge: which sentences of a conversation are worth keeping, as statements that stand on their own.

The judge decides what is worth it. What a model should not decide is decided before and after it, by rule: whose words
they are (`by_rule.typed`), whether they are planted (`orders`), whether they were taken back (`by_rule.taken_back`).
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from retain.domain.answered import answered
from retain.domain.conversation import Conversation, Extracted, Judged, Said, Speaker, ToolRun, Turn
from retain.domain.judging import Verdict, questions
from retain.domain.languages import language_of
from retain.domain.memory import Scope
from retain.domain.sentences import Span, sentences
from retain.engine.capture.by_rule.asked import asked_to_keep
from retain.engine.capture.by_rule.fixes import fixes
from retain.engine.capture.by_rule.orders import holds_orders
from retain.engine.capture.by_rule.statement import (
    LONGEST,
    behind_reply,
    is_answer,
    is_reply,
    points,
    question_of,
    stated,
)
from retain.engine.capture.by_rule.taken_back import takes_back
from retain.engine.capture.by_rule.typed import foreign, is_foreign, not_to_keep
from retain.engine.capture.orders import is_hostile, needs_the_user, weakens
from retain.engine.capture.supersede import opposed, restates
from retain.ports import Judge

FOUND_BY, ASKED = "judge", "asked"
MOST = 20  # statements of a hundred turns; who says more than that is pasting a document
BEFORE = 40  # turns before a conversation that can matter to it: a question, a failure
# From which score on a sentence is kept. docs/measurements.md has what each costs and brings.
THRESHOLDS = {Speaker.USER: 0.6, Speaker.ASSISTANT: 0.9}
PREFERENCE = 0.94  # of the user: what people like is what small talk is made of
ABROAD = 0.2  # so much more where the language is not English: the encoder's vocabulary is
_SUREST = 0.95  # no judge is asked to be surer than that of anything but a taste
_ASKED_AT_LEAST = 0.04  # "remember that I'm always here for you" asks for nothing
_GROWS = 0.25  # from which score on a neighbour of what is kept is kept with it
_POINTING = 0.15  # the same, where it points to what is kept
_LISTED = frozenset({"progress", "context"})  # of which a list is one statement; rules are separate ones
_STEP = re.compile(r"\n\s*\(?\d{1,2}[.)]\s+$")
_ENDS_A_SENTENCE = tuple(".!?。！？:")
_PAUSE = re.compile(r"[,;:–—，、]\s*|\s-\s")
_TELLING_WORDS = 5  # what has fewer says little without what stood before it
_NEARLY = 0.35  # what missed its threshold by more is not worth a line in the log
_FILLER = 2  # words that say nothing by themselves: "hm. scratch that"
_LOOKED_BACK = 20  # statements of the conversation that a new one may correct
_LONGEST_MESSAGE = 20_000  # characters; nobody types more
_LONGEST_TURN = 200  # sentences; the rest of a longer turn is a document
_SURE = 0.7  # that something is about the person, so that it counts in every project
# What an agent may establish; what somebody wants, prefers or decided is theirs to say.
_FINDINGS = frozenset({"architecture", "gotcha", "progress", "context"})
_QUOTED_WORDS = 6  # in a row that a question shares with what a tool printed: then it is the tool's


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found, in the order in which it was said, and what was judged, for the log."""

    found: tuple[Extracted, ...]
    judged: tuple[Judged, ...] = ()


@dataclass(frozen=True, slots=True)
class _Heard:
    """A sentence and what the judge makes of it; no verdict where a rule forbids to ask."""

    span: Span
    text: str
    verdict: Verdict | None
    asked: str | None = None

    def is_kept(self, threshold: float) -> bool:
        return self.asked is not None or (self.verdict is not None and self.verdict.score >= threshold)

    def is_worth_it(self, needed: "_Needed") -> bool:
        """Whether it is kept for itself, and not only beside something else."""
        return self.is_kept(needed.of(self.verdict.category if self.verdict else ""))


@dataclass(frozen=True, slots=True)
class _Needed:
    """The score from which on a sentence of a turn is kept for itself."""

    score: float
    taste: float
    """The same for what somebody likes: more, unless the turn also says something about the work."""

    def of(self, category: str) -> float:
        return self.taste if category == "preference" else self.score


class _Hearing:
    """A conversation while it is read: what was found so far, by the place of the turn that says it."""

    def __init__(self, judge: Judge, turns: Sequence[Turn], begins: int) -> None:
        self._judge = judge
        self.turns = turns
        self.begins = begins
        self.found: dict[int, list[Extracted]] = {}
        self.judged: list[Judged] = []

    def listen(self, place: int) -> None:
        """Adds what a turn says to what was found; what it takes back, or says better, leaves."""
        turn = self.turns[place]
        assert isinstance(turn, Said)
        asked = _said_before(self.turns, place)
        heard = _heard(self._judge, turn, asked)
        needed = _needed(turn, heard)
        if turn.speaker is Speaker.USER:
            self._take_back(heard, place)
        kept: set[int] = set()
        # Within one turn nobody contradicts themselves, unless they take it back.
        earlier = [item for items in self.found.values() for item in items][-_LOOKED_BACK:]
        for group in _grouped(heard, needed, turn.text):
            item = _statement(group, heard, turn, asked, self.turns[:place])
            if item is not None:
                kept.update(group)
                self._add(replace(item, threshold=needed.of(item.category)), place, earlier)
        self.judged += _log(heard, needed, kept)

    def _add(self, new: Extracted, place: int, earlier: Sequence[Extracted]) -> None:
        for at, items in self.found.items():
            self.found[at] = [old for old in items if not _stands_for(self._judge, new, old, earlier)]
        self.found.setdefault(place, []).append(new)

    def _take_back(self, heard: list[_Heard], place: int) -> None:
        """Without what a turn takes back: the sentence just before, or else, where it begins so, the last sentence of
        the user's turn before."""
        for number, each in enumerate(heard):
            if each.verdict is None or not takes_back(each.text):
                continue
            before = next((at for at in reversed(range(number)) if _says_something(heard[at].text)), None)
            if before is None:
                self._take_back_turn(place)
            elif heard[before].is_kept(_GROWS):
                heard[before] = replace(heard[before], verdict=None, asked=None)

    def _take_back_turn(self, place: int) -> None:
        for at in reversed(range(place)):
            said = self.turns[at]
            if isinstance(said, Said) and said.speaker is Speaker.USER and _says_something(said.text):
                begins, items = _last_sentence(said.text), self.found.get(at, [])
                self.found[at] = [item for item in items if not item.spans or item.spans[-1][1] <= begins]
                return


def extract(judge: Judge, conversation: Conversation, before: Sequence[Turn] = ()) -> Reading:
    """What is worth remembering. In an aside only what tools showed counts: its "user" is an agent.

    `before` are the turns that came earlier and were read already: an answer is about what was asked in them, and a
    command that passes may have failed there. What was found in them is not found again. Raises JudgeAway.
    """
    earlier = tuple(before)[-BEFORE:]
    heard = _Hearing(judge, (*earlier, *conversation.turns), len(earlier))
    mended = {each.at: each.item for each in fixes(heard.turns)}
    for place in range(heard.begins, len(heard.turns)):
        turn = heard.turns[place]
        if isinstance(turn, Said) and not conversation.aside:
            heard.listen(place)
        elif place in mended:
            heard.found[place] = [mended[place]]
    found = [item for items in heard.found.values() for item in items]
    most = MOST * (1 + len(conversation.turns) // 100)
    return Reading(tuple(found[:most]), tuple(heard.judged))


def may_hold_something(read: Reading) -> bool:
    """Whether a language model should see it: something was found, or nearly."""
    return bool(read.found or read.judged)


def asked_for(conversation: Conversation) -> tuple[Extracted, ...]:
    """What the user asked to remember in so many words: all that can be kept while there is no judge."""
    found: list[Extracted] = []
    for turn in conversation.turns if not conversation.aside else ():
        if not isinstance(turn, Said) or turn.speaker is not Speaker.USER or not_to_keep(turn.text):
            continue
        barred = foreign(turn.text)
        for cut in sentences(turn.text):
            asked = asked_to_keep(turn.text[slice(*cut)])
            text = stated(asked) if asked and not is_foreign(cut, barred, turn.text) else ""
            if text and not is_hostile(text):
                found.append(Extracted(text, "architecture", Speaker.USER, ASKED, at=turn.at, spans=(cut,)))
    return tuple(found)


def _last_sentence(text: str) -> int:
    """Where the last sentence begins that says something; behind the end where none does."""
    begins = [start for start, end in sentences(text) if _says_something(text[start:end])]
    return begins[-1] if begins else len(text)


def _says_something(text: str) -> bool:
    """Whether it is more than "hm", "wait, no" or "thanks"."""
    return len(text.split()) > _FILLER


def _needed(turn: Said, heard: Sequence[_Heard]) -> _Needed:
    more = 0 if language_of(turn.text) == "en" else ABROAD
    score = round(min(THRESHOLDS[turn.speaker] + more, _SUREST), 2)
    of_work = (each for each in heard if each.verdict and each.verdict.category != "preference")
    return _Needed(score, score if any(each.is_kept(score) for each in of_work) else max(score, PREFERENCE))


def _said_before(turns: Sequence[Turn], place: int) -> Said | None:
    return next((turn for turn in reversed(turns[:place]) if isinstance(turn, Said)), None)


def _heard(judge: Judge, turn: Said, before: Said | None) -> list[_Heard]:
    text, is_user = turn.text[:_LONGEST_MESSAGE], turn.speaker is Speaker.USER
    cuts = sentences(text)[:_LONGEST_TURN]
    if is_user and not_to_keep(text):
        return []
    barred = foreign(text)
    heard = []
    for cut, (sentence, context) in zip(
        cuts, questions(text, cuts, turn.speaker.value, before.text if before else ""), strict=True
    ):
        if is_foreign(cut, barred, text):
            heard.append(_Heard(cut, sentence, None))
            continue
        verdict = judge.keep(sentence, context)
        asked = asked_to_keep(sentence) if is_user and verdict.score >= _ASKED_AT_LEAST else None
        heard.append(_Heard(cut, sentence, verdict, asked))
    return heard


def _grouped(heard: Sequence[_Heard], needed: _Needed, text: str) -> Iterator[list[int]]:
    """Places of sentences that are kept, those that belong together together."""
    group: list[int] = []
    for place, each in enumerate(heard):
        if group and _belong(heard[group[-1]], each, text, heard[group[0]].span[0], needed):
            group.append(place)
            continue
        yield from _worth_it(group, heard, needed)
        group = [place] if each.is_kept(_GROWS) else []
    yield from _worth_it(group, heard, needed)


def _worth_it(group: list[int], heard: Sequence[_Heard], needed: _Needed) -> Iterator[list[int]]:
    if any(heard[place].is_worth_it(needed) for place in group):
        yield group


def _belong(one: _Heard, two: _Heard, text: str, start: int, needed: _Needed) -> bool:
    """Whether the second of two neighbours goes on with what the first says: in one paragraph, or as the next step."""
    if one.verdict is None or two.verdict is None or two.span[1] - start > LONGEST:
        return False
    if points(two.text):
        return two.verdict.score >= _POINTING
    if two.verdict.score < _GROWS:
        return False
    between = text[one.span[1] : two.span[0]]
    if "\n" not in between:
        return not _are_two(one, two, needed)
    is_one_kind = one.verdict.category == two.verdict.category
    return is_one_kind and (two.verdict.category in _LISTED or _STEP.search(between) is not None)


def _are_two(one: _Heard, two: _Heard, needed: _Needed) -> bool:
    """Whether each would be kept for itself, one for the person and one for the project. Categories do not tell: they
    often differ within what is plainly one thing."""
    if one.verdict is None or two.verdict is None or one.verdict.scope == two.verdict.scope:
        return False
    is_sure = min(one.verdict.sure_of_scope, two.verdict.sure_of_scope) >= _SURE
    return is_sure and one.is_worth_it(needed) and two.is_worth_it(needed)


def _statement(
    group: Sequence[int], heard: Sequence[_Heard], turn: Said, asked: Said | None, shown: Sequence[Turn]
) -> Extracted | None:
    """One statement of these sentences; None where it does not stand on its own, or must not be kept."""
    parts = [heard[place] for place in group]
    best = max((part.verdict for part in parts if part.verdict), key=lambda verdict: verdict.score, default=None)
    if best is None:
        return None
    text, spans = _spelled_out(group, heard, turn, asked, shown)
    if not text or _is_barred(text, best.category, turn.speaker):
        return None
    scope = Scope.USER if best.scope == "user" and best.sure_of_scope >= _SURE else Scope.PROJECT
    found_by = ASKED if any(part.asked for part in parts) else FOUND_BY
    return Extracted(
        text, best.category, turn.speaker, found_by, scope=scope, at=turn.at, spans=spans, score=round(best.score, 3)
    )


def _spelled_out(
    group: Sequence[int], heard: Sequence[_Heard], turn: Said, asked: Said | None, shown: Sequence[Turn]
) -> tuple[str, tuple[Span, ...]]:
    """The words of a statement and where they stand. An answer takes its question along; what points to something
    takes the sentence before it."""
    question = _question(asked, shown) if turn.speaker is Speaker.USER else ""
    begins = _beginning_of_answer(group[0], heard) if question else group[0]
    parts = [heard[place] for place in (*range(begins, group[0]), *group)]
    spans = tuple(part.span for part in parts)
    said = _in_their_words(parts, turn.text)
    if question and begins == 0 and (is_answer(said) or points(said)):
        return answered(question, stated(said) or " ".join(said.split())), spans
    if turn.speaker is Speaker.ASSISTANT and is_reply(said):
        return stated(behind_reply(said)), spans  # the yes itself is about what the user asked
    if not points(said):
        return ("" if _is_scrap(said) else stated(said)), spans
    before = heard[group[0] - 1] if group[0] else None
    if before is None or before.verdict is None or points(before.text) or is_reply(before.text):
        return _without_what_points(parts, turn)
    return stated(_in_their_words([before, *parts], turn.text)), (before.span, *spans)


def _beginning_of_answer(place: int, heard: Sequence[_Heard]) -> int:
    """Where an answer begins that goes on at this place: the end of "a tab. all the scanners do" says nothing alone."""
    before = heard[:place]
    goes_on = before and is_answer(heard[place].text) and all(each.verdict and is_answer(each.text) for each in before)
    return 0 if goes_on else place


def _without_what_points(parts: Sequence[_Heard], turn: Said) -> tuple[str, tuple[Span, ...]]:
    """What remains behind words that point to what nobody can find: "that's legal there, hours run past 24"."""
    first, rest = parts[0], parts[1:]
    pause = _PAUSE.search(first.text)
    said = first.text[pause.end() :] if pause else ""
    if len(said.split()) >= _TELLING_WORDS and not points(said):
        rest = [replace(first, text=said, span=(first.span[1] - len(said), first.span[1])), *rest]
    elif not rest or points(rest[0].text) or not any(part.is_kept(THRESHOLDS[turn.speaker]) for part in rest):
        return "", ()
    return stated(_in_their_words(rest, turn.text)), tuple(part.span for part in rest)


def _in_their_words(parts: Sequence[_Heard], text: str) -> str:
    """Neighbouring sentences as they stand in the turn, where nothing but a comma or a space is between them."""
    said = parts[0].asked or parts[0].text
    for before, each in pairwise(parts):
        between = text[before.span[1] : each.span[0]]
        goes_on = not (before.asked or each.asked) and between.strip(" ,;") == "" and "\n" not in between
        said += between if goes_on and between.strip() else " " if said[-1:] in _ENDS_A_SENTENCE else ". "
        said += each.asked or each.text
    return said if said[-1:] in _ENDS_A_SENTENCE else f"{said}."


def _question(asked: Said | None, shown: Sequence[Turn]) -> str:
    """What the agent asked just before, in its words, unless those are a tool's or must not be kept."""
    if asked is None or asked.speaker is not Speaker.ASSISTANT:
        return ""
    question = question_of(asked.text)
    if not question or is_hostile(question) or weakens(question) or _is_shown(question, shown):
        return ""
    return question


def _is_shown(question: str, shown: Sequence[Turn]) -> bool:
    """Whether words of a question stand in what a tool printed: then they may have been planted there."""
    words = question.lower().split()
    printed = " ".join(" ".join(t.output.lower().split()) for t in shown[-BEFORE:] if isinstance(t, ToolRun))
    runs = (" ".join(words[at : at + _QUOTED_WORDS]) for at in range(len(words) - _QUOTED_WORDS + 1))
    return bool(printed) and any(run in printed for run in runs)


def _is_scrap(said: str) -> bool:
    """Whether it is too little to say anything without what stood around it."""
    return len(said.split()) < 3 and said.isascii()


def _is_barred(text: str, category: str, speaker: Speaker) -> bool:
    if is_hostile(text):
        return True
    return speaker is Speaker.ASSISTANT and (category not in _FINDINGS or needs_the_user(text) or holds_orders(text))


def _stands_for(judge: Judge, new: Extracted, old: Extracted, earlier: Sequence[Extracted]) -> bool:
    """Whether a later statement of the conversation takes an earlier one's place."""
    is_on_as_good_word = new.speaker in (old.speaker, Speaker.USER)
    if is_on_as_good_word and (new.text == old.text or _restates(judge, new, old)):
        return True
    if new.speaker is not Speaker.USER or old.speaker is Speaker.TOOL or old not in earlier:
        return False
    against = opposed(judge, old.text, new.text)
    return against is not None and against.ends


def _restates(judge: Judge, new: Extracted, old: Extracted) -> bool:
    return new.category == old.category and restates(judge, old.text, new.text)


def _log(heard: Sequence[_Heard], needed: _Needed, kept: Set[int]) -> Iterator[Judged]:
    for place, each in enumerate(heard):
        if each.verdict is not None and (place in kept or each.verdict.score >= needed.score - _NEARLY):
            score, category = round(each.verdict.score, 3), each.verdict.category
            yield Judged(each.text, category, score, needed.of(category), place in kept)
