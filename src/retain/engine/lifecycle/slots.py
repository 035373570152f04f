"""A statement taken apart: what it is about, and which values it puts into which slots."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from retain.domain.claims import NUMBER_WORDS
from retain.domain.stem import stem
from retain.domain.words import STOP_WORDS
from retain.engine.lifecycle.events import events
from retain.engine.lifecycle.openings import without_opening
from retain.engine.lifecycle.vocabulary import (
    ALIASES,
    ARTICLES,
    CONDITIONS,
    COPULAS,
    EVENTS,
    GENERIC,
    GROUP_OF,
    IDENTITY_NOUNS,
    LIGHT,
    MARKS,
    NEGATIVES,
    PARTICIPLE,
    PHRASES,
    POLAR,
    PREPOSITIONS,
    REWRITES,
    SCOPES,
    UNITS,
    VERBS,
)

NAMING = frozenset({"name", "path", "identifier"})  # kinds of which a statement may hold any number
_IN_LETTERS = frozenset(NUMBER_WORDS) | {"one"}
_LONGEST = 400  # characters of a sentence that are looked at: rules for prose have nothing to say about a dump
_MOST_SENTENCES = 8
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_PART = re.compile(r"(?<=;)\s+")
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*"
_TOKEN = re.compile(
    rf"{_MONTH}\.?\s[0-9]{{1,2}}\b|#?[0-9][0-9,]*(?:[.:/-][0-9]+)*(?:\s?(?:am|pm)\b|[a-z%]{{1,3}}\b)?"
    r"|v[0-9][0-9.]*|[.~/@]?[^\W_][\w./@+#-]*[\w+#/]|[^\W_]|\.{0,2}/[\w./-]+|,",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"v?([0-9][0-9,]*(?:\.[0-9]+)*)\s?([a-z%]*)", re.IGNORECASE)
_CLOCK = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?\s?(am|pm)?", re.IGNORECASE)
_DATE = re.compile(rf"{_MONTH}\.?\s[0-9]+|[0-9]{{4}}-[0-9]{{2}}(?:-[0-9]{{2}})?", re.IGNORECASE)
_PATH = re.compile(r".*/.*|\.[a-z].*|.*\w\.[a-z]{1,5}", re.IGNORECASE)
_IDENTIFIER = re.compile(r".*_.*|[a-z]+[A-Z].*|.*-[0-9].*|[A-Z][a-z]+[A-Z].*")
_VERSION = re.compile(r"v[0-9.]+")
_STATUS = re.compile(r"[1-5][0-9]{2}")
_LIST_NUMBER = re.compile(r"\s*(?:[-*•]\s*)?(?:\[[ x]\]\s*)?(?:\(?[0-9]+[.):]\s|v?[0-9]+(?:\.[0-9]+)+\s?[:—–-]\s)")


@dataclass(frozen=True, slots=True)
class Value:
    """Something that fills a slot. Equal keys are the same value; only values of one kind exclude one another."""

    kind: str
    key: str
    said: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, in stems without light words: `words` leave the values out, `content` has them.

    `slot` is what the verb opens ("store in"), `filler` what stands in it, `spoken` gives a stem's word back.
    """

    sentence: str
    subject: frozenset[str]
    words: frozenset[str]
    content: frozenset[str]
    scoped: frozenset[str]
    values: tuple[Value, ...]
    slot: str
    filler: Value | None
    verb: str
    negations: int
    marks: frozenset[str]
    spoken: Mapping[str, str]

    @property
    def frame(self) -> frozenset[str]:
        """The words around the slot."""
        return self.words - set(self.filler.key.split()) if self.filler else self.words


class _Token(NamedTuple):
    said: str
    key: str
    before: str
    after: str
    after_said: str


def statements(text: str) -> list[Statement]:
    return [parse(part, sentence) for sentence in _sentences(text) for part in _PART.split(sentence) if part.strip()]


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(text.strip())[:_MOST_SENTENCES]:
        if sentence.strip():
            yield without_opening(sentence.strip()[:_LONGEST])


@lru_cache(maxsize=2048)  # a new text is compared with its neighbours one by one
def parse(sentence: str, whole: str) -> Statement:
    """A sentence, or a part of one: "; 3 files touched" belongs to the event that the whole is about."""
    text = _rewritten(sentence)
    tokens = _tokens(text)
    at = _verb_at(tokens)
    role = _role(tokens, at)
    scope = _scope(tokens, at)
    slot, filler = (f"role {tokens[at].key}", role) if role else _slot(tokens, at)
    found = [_value(token) for token in tokens]
    values = [role] if role else [v for i, v in enumerate(found) if v and i >= at and i not in scope]
    if at < 0:
        values = [value for value in values if value.kind not in NAMING]
    keys = {value.key for value in values}
    start = max(at, 0)
    subject = frozenset() if role else _content(tokens[:start], found[:start])
    return Statement(
        sentence=sentence,
        subject=subject,
        words=subject | _content(tokens[start:], found[start:], keys),
        content=_content(tokens, found),
        scoped=frozenset(tokens[i].key for i in scope | _soft_scope(tokens)) - keys,
        values=tuple(dict.fromkeys(values)),
        slot=slot,
        filler=filler,
        verb=_main_verb(tokens, at),
        negations=sum(token.key in NEGATIVES for token in tokens),
        marks=_marks(sentence, text, tokens[: at + 2] if at >= 0 else tokens) | events(whole),
        spoken={token.key: token.said.lower() for token in tokens},
    )


def _marks(sentence: str, text: str, opening: list[_Token]) -> frozenset[str]:
    marks = {mark for mark, pattern in MARKS.items() if pattern.search(text)}
    if _LIST_NUMBER.match(sentence):
        marks.add("list")
    if any(token.said.lower() in EVENTS and token.before not in ("is", "are", "be") for token in opening):
        marks.add("event")
    return frozenset(marks)


def _rewritten(sentence: str) -> str:
    text = sentence.replace("’", "'").replace("`", "").replace('"', "")
    lowered = text.lower()
    for hints, pattern, plain in REWRITES:
        if any(hint in lowered for hint in hints):
            text = pattern.sub(plain, text)
            lowered = text.lower()
    return PHRASES.sub(lambda match: match.group().replace(" ", "-"), text)


def _tokens(text: str) -> list[_Token]:
    said = [token.rstrip(".") for token in _TOKEN.findall(text)]
    keys = [_key(token) for token in said]
    around = zip(said, keys, ["", *keys], [*keys[1:], ""], [*said[1:], ""], strict=False)
    return [_Token(*fields) for fields in around]


@lru_cache(maxsize=8192)
def _key(token: str) -> str:
    low = token.lower().removesuffix("'s")
    low = ALIASES.get(low, low)
    if low in GROUP_OF or low in STOP_WORDS or low in NUMBER_WORDS or low == "one":
        return low
    singular = low.removesuffix("s")
    if singular in GROUP_OF:
        return singular
    return ALIASES.get(stem(low), stem(low))


def _verb_at(tokens: list[_Token]) -> int:
    """Where the verb stands, -1 when there is none. "Deploys happen": a first word in -s is a noun, "run it" a verb."""
    for i, token in enumerate(tokens):
        if token.key in COPULAS:
            return i
        is_noun = token.before in ("the", "a", "an", "our", "this") or (i == 0 and token.said.lower().endswith("s"))
        # With "is" close behind it was no verb: "the project lead is", "the supported version is".
        if token.key in VERBS and not is_noun and not any(later.key in COPULAS for later in tokens[i + 1 : i + 4]):
            return i
    return -1


def _main_verb(tokens: list[_Token], at: int) -> str:
    if at < 0:
        return ""
    following = tokens[at + 1] if at + 1 < len(tokens) else tokens[at]
    is_participle = tokens[at].key in COPULAS and PARTICIPLE.fullmatch(following.said) is not None
    return following.key if is_participle else tokens[at].key


def _role(tokens: list[_Token], at: int) -> Value | None:
    """ "MySQL is our main database", "Alice owns billing": the value comes first, the slot after it."""
    value = _value(tokens[0], is_first=True) if at == 1 else None
    if value is None or value.kind.startswith("number"):
        return None
    if tokens[at].key in COPULAS:
        return value if tokens[at].after in ("the", "our", "my", "us", "respons", "on-call") else None
    return value if value.kind == "name" and tokens[at].key in ("own", "lead", "maintain") else None


def _value(token: _Token, *, is_first: bool = False) -> Value | None:
    if token.key in GROUP_OF:
        return Value(GROUP_OF[token.key], token.key, token.said)
    if token.key in NUMBER_WORDS or token.key == "one":
        return _number(token)
    if token.said.isalpha() and token.said.islower():
        return None  # a plain word, as most are: none of the shapes below
    if token.said[0].isdigit() or _DATE.fullmatch(token.said):
        return _number(token)
    if _VERSION.fullmatch(token.said):
        return Value("version:" + token.before, token.said[1:], token.said)
    if _PATH.fullmatch(token.said) and not token.said.endswith((".js", ".io", ".net")):
        return Value("path", token.said.strip("./"), token.said)
    if _IDENTIFIER.fullmatch(token.said):
        return Value("identifier", token.said, token.said)
    if token.said[0].isupper() and (token.before or is_first) and token.key not in STOP_WORDS:
        return Value("name", token.key, token.said)
    return None


def _number(token: _Token) -> Value | None:
    """A number with its unit as its kind, in base units: 60 seconds and 1 minute are one value."""
    if token.before in IDENTITY_NOUNS or _is_status(token):
        return None
    if _DATE.fullmatch(token.said):
        return Value("date", token.said.lower(), token.said)
    clock = _CLOCK.fullmatch(token.said)
    if clock and (clock[2] or clock[3]):
        hour = int(clock[1]) % 12 + 12 * (clock[3].lower() == "pm") if clock[3] else int(clock[1])
        return Value("time", f"{hour}:{clock[2] or '00'}", token.said)
    if token.key == "one" and (not token.after or token.after in STOP_WORDS):
        return None
    digits = _NUMBER.fullmatch("1" if token.key == "one" else NUMBER_WORDS.get(token.key, token.said))
    if digits is None:
        return Value("number", token.said, token.said)
    return _measured(digits[1].replace(",", ""), digits[2].lower() or token.after, token)


def _measured(digits: str, unit: str, token: _Token) -> Value:
    if unit in UNITS and digits.count(".") < 2:
        dimension, factor = UNITS[unit]
        return Value("number:" + dimension, f"{float(digits) * factor:g}", _with_unit(token))
    is_unit = unit == "%" or (unit.isalpha() and unit not in STOP_WORDS and unit not in PREPOSITIONS)
    follows_name = token.before.isalpha() and token.before not in STOP_WORDS and token.before not in LIGHT
    if GROUP_OF.get(token.before) or (follows_name and "." in digits and not is_unit):
        return Value("version:" + token.before, digits, f"{token.before} {token.said}")
    return Value("number:" + unit if is_unit else "number", digits, token.said)


def _with_unit(token: _Token) -> str:
    return f"{token.said} {token.after_said}" if token.said.isdigit() or token.key in _IN_LETTERS else token.said


def _content(
    tokens: Sequence[_Token], values: Sequence[Value | None], without: Set[str] = frozenset()
) -> frozenset[str]:
    """What tells something, and which one is meant; not the values with the keys in `without`."""
    telling = {
        token.key
        for token, value in zip(tokens, values, strict=True)
        if _is_telling(token) and token.key not in without and (value is None or value.key not in without)
    }
    return frozenset(telling.union(_identities(tokens)))


def _is_telling(token: _Token) -> bool:
    if token.key in POLAR:
        return True
    if token.key in UNITS and (token.before[:1].isdigit() or token.before in NUMBER_WORDS or token.before == "one"):
        return False
    return token.key not in LIGHT and token.key not in STOP_WORDS and token.said != ","


def _identities(tokens: Sequence[_Token]) -> Iterator[str]:
    """ "item 3", "#12", "service A": a number or letter that says which one, not how many."""
    for token in tokens:
        is_numbered = token.before in IDENTITY_NOUNS and token.said[0].isdigit()
        if token.said.startswith("#") or is_numbered or _is_status(token):
            yield "#" + token.said.lstrip("#")
        elif len(token.said) == 1 and token.said.isupper() and token.before:
            yield "#" + token.said


def _is_status(token: _Token) -> bool:
    """ "retries on 503", "HTTP 404": a code that one among many answers has."""
    return token.before in ("on", "http", "statu", "error") and _STATUS.fullmatch(token.said) is not None


def _scope(tokens: list[_Token], at: int) -> set[int]:
    """Where the words of "in production", "for uploads", "if it is cold" stand: when and where the statement holds.

    Right after the verb such a phrase is the slot itself: "is written in Go".
    """
    inside, found = False, set()
    for i, token in enumerate(tokens):
        if token.key in SCOPES:
            opens_slot = at >= 0 and i in (at + 1, at + 2 if tokens[at].key in COPULAS else -1)
            inside = token.key in CONDITIONS or not opens_slot
        elif token.said == "," or token.key in COPULAS or token.key in PREPOSITIONS:
            inside = False
        elif inside and _is_telling(token):
            found.add(i)
    return found


def _soft_scope(tokens: list[_Token]) -> set[int]:
    return {i for i, token in enumerate(tokens) if token.before in ("on", "at", "with", "until", "once")}


def _slot(tokens: list[_Token], at: int) -> tuple[str, Value | None]:
    """The slot that the verb opens and what fills it: "be" and "main", "store in" and a path, "use for" and a tool."""
    if at < 0:
        return "", None
    verb = _main_verb(tokens, at)
    rest = [t for t in tokens[at + 1 + (verb != tokens[at].key) :] if t.key not in ARTICLES]
    preposition = ""
    if rest and rest[0].key in PREPOSITIONS | {"against"}:
        preposition, rest = rest[0].key, rest[1:]
    phrase = list(
        takewhile(lambda t: t.said != "," and t.key not in STOP_WORDS and t.key not in PREPOSITIONS, rest[:4])
    )
    if not phrase:
        return "", None
    filler = _value(phrase[0])
    if filler is None or (filler.kind == "name" and len(phrase) > 1):
        filler = Value("name" if filler else "word", " ".join(t.key for t in phrase), " ".join(t.said for t in phrase))
    purpose = next((t.key for t in rest if t.key in ("for", "as")), "") if verb in GENERIC else ""
    return f"{'be' if verb in COPULAS else verb} {preposition or purpose}".strip(), filler
