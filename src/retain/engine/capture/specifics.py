"""The names, numbers and identifiers of a statement, and whether somebody said them, be it in another form."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from retain.domain.quantities import Quantity, digits, is_unit, month, quantities
from retain.domain.short_forms import is_acronym, is_form, kin, plain
from retain.domain.stem import stem
from retain.domain.words import STOP_WORDS, bare, telling_words, terms
from retain.engine.capture.meaning import Meaning

_TOKEN = re.compile(r"`[^`\n]{1,200}`|[^\s`]+")
_EDGES = ".,;:!?()[]{}<>\"'“”‘’…*"
_JOINT = re.compile(r"[-–—/+&]+")
_NUMBER = re.compile(r"[^\w]*[vV]?[0-9][0-9.,:'’-]*(?:st|nd|rd|th|x|k)?%?")
_CODE = re.compile(r"[\w)][.\\_:@=]+[\w(]|^[~@/-]+\w|\(\)|_|#|\w/\w+[./]|[a-z][A-Z]|[A-Za-z][0-9]|[0-9][A-Za-z]")
_FOLDER = re.compile(r"[/\\]")
_OF_PARTS = re.compile(r"[\w-]+(?:[/\\][\w-]+)+|\w+\.\w{5,}")  # staging/production, orders.status
_SENTENCE_END = re.compile(r"[.!?:;\n]\W*$")
_PLAIN_WORDS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_PIECES = re.compile(r"[_.+-]+|(?<=[A-Za-z]{2})(?=[0-9])")  # of an identifier, or of "win10"
_TITLE = re.compile(r"[A-Z][A-Za-z]*(?:[ -][A-Z][A-Za-z0-9]*){1,4}")
_RUNS = re.compile(r"[\w.@#+'’-]+", re.ASCII)
_OTHERS = frozenset({"e.g", "i.e", "a.m", "p.m", "vs", "etc"})
_ENDING = 4  # letters of a product's name that people leave out
_SHORT = 4  # letters below which a word is found as a word, not as a part of another
_ENGLISH = 0.15  # of the words, at least: in German every noun has a capital
# Every project has them: a model that writes "the API" has made nothing up.
_TRADE = frozenset(
    {"api", "apis", "ui", "ci", "id", "ids", "url", "urls", "db", "dbs", "os", "app", "ok", "ram", "cpu"}
)
# Words with which a summary is framed; they tell nothing about where it came from.
_FRAME = """
    user prefer project use decide decision team want like repo repository code codebase instead rather now current
    chose choose chosen adopt implement app application should must always never because due caus reason need require
    set keep make made work handle call new still already currently moment longer
"""
FRAME = frozenset(map(stem, _FRAME.split()))


@dataclass(frozen=True)
class Heard:
    """What was said, ready to be asked for a word, or for what comes near in meaning."""

    text: str
    meaning: Meaning | None = None

    def nearness(self, statement: str) -> float | None:
        """The cosine to what comes nearest; None where there is no model to ask."""
        return self.meaning.nearness(statement) if self.meaning else None

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(terms(self.text))

    @cached_property
    def letters(self) -> str:
        return plain(self.text)

    @cached_property
    def line(self) -> str:
        """All of it in small letters and one line."""
        return " ".join(self.text.casefold().split())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """In their order, with their repeats; an identifier whole and in parts."""
        found = (part for run in _RUNS.findall(self.text) for part in dict.fromkeys((run, *_PIECES.split(run))))
        return tuple(word for word in map(plain, found) if word)

    @cached_property
    def initials(self) -> str:
        return "".join(word[0] for word in self.words)

    @cached_property
    def kin(self) -> frozenset[int]:
        return frozenset(found for word in set(self.words) if (found := kin(word)) is not None)

    @cached_property
    def by_letter(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, dict[str, None]] = {}
        for word in self.words:
            found.setdefault(word[0], {})[word] = None
        return {letter: tuple(words) for letter, words in found.items()}

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        return quantities(self.text)

    def has_word(self, word: str) -> bool:
        """Whether a word, or a form of it, was said."""
        if any(term in self.terms for term in terms(word)):
            return True
        letters = plain(word)
        if len(letters) >= _SHORT and letters in self.letters:
            return True
        if any(is_form(letters, other) for other in self._words_on(letters[:1])):
            return True
        return kin(letters) in self.kin

    def has_name(self, name: str) -> bool:
        parts = _JOINT.split(name)
        if len(parts) > 1 and plain(name) not in self.letters:
            return all(map(self.has_name, filter(None, parts)))
        at = month(name)
        if at and str(at) in self.digits:
            return True
        return self.has_word(name) or is_acronym(name, self.initials)

    def has_identifier(self, identifier: str) -> bool:
        """Whether an identifier was said: as it is, without its folder, or, where it has no dot, in its parts."""
        letters = plain(identifier)
        if not letters or (letters in self.letters if len(letters) >= _SHORT else self._has_short(letters)):
            return True
        if _FOLDER.search(identifier) and "." in identifier:
            file = plain(_FOLDER.split(identifier)[-1])
            return len(file) > _SHORT and file in self.letters
        if _OF_PARTS.fullmatch(identifier):
            return all(plain(part) in self.words for part in re.split(r"[./\\]", identifier) if part)
        if "." not in identifier:
            parts = terms(" ".join(re.findall(r"[A-Za-z]+|[0-9]+", _spread(identifier))))
            if parts and all(part in self.terms for part in parts):
                return True
        if "_" in identifier:
            return False
        # "Fly.io" is Fly, and "PostgreSQL" Postgres; a host is no longer form of its first word.
        near = (word for word in self._words_on(letters[0]) if len(letters) - len(word) <= _ENDING)
        return any(is_form(letters, word) for word in near) or kin(letters) in self.kin

    def has_quantity(self, quantity: Quantity) -> bool:
        if any(quantity.is_same(other) for other in self.quantities):
            return True
        return not quantity.kind and quantity.text in self.digits

    @cached_property
    def digits(self) -> frozenset[str]:
        return digits(self.text)

    def _words_on(self, letter: str) -> tuple[str, ...]:
        return self.by_letter.get(letter, ())

    def _has_short(self, letters: str) -> bool:
        return any(word in (letters, f"{letters}s") for word in self._words_on(letters[0]))


def unsaid(statement: str, heard: Heard) -> list[str]:
    """The names, numbers and identifiers of a statement that nobody said in any form."""
    prose = re.sub(r"`[^`\n]{1,200}`", " ", statement)
    missing = [
        quantity.written
        for quantity in quantities(prose)
        if not quantity.is_loose and (quantity.kind or quantity.text != "1") and not heard.has_quantity(quantity)
    ]
    for token, is_name in _specifics(statement):
        if not (heard.has_name(token) if is_name else heard.has_identifier(token)):
            missing.append(token)
    spelled = _spelled_out(prose, heard) if missing else frozenset[str]()
    return [token for token in dict.fromkeys(missing) if token not in spelled]


def _spelled_out(prose: str, heard: Heard) -> frozenset[str]:
    """The words of names that were said in short: "React Native" as RN, "VS Code" as vscode, "Amazon S3" as S3."""
    found: set[str] = set()
    for name in _TITLE.finditer(prose):
        words, joined = re.split("[ -]", name.group()), plain(name.group())
        initials = "".join(word[0] for word in words).casefold()
        is_short = joined in heard.letters or initials in heard.words or kin(joined) in heard.kin
        if is_short or heard.has_name(words[-1]):
            found.update(words)
    return frozenset(found)


def specifics(statement: str) -> list[str]:
    """The names and identifiers of a statement."""
    return [token for token, _ in _specifics(statement)]


def share_said(statement: str, heard: Heard) -> float:
    """Which part of a statement's telling words was said, in any form."""
    words = own_words(statement) or list(telling_words(statement)) or [statement]
    spelled = _spelled_out(statement, heard)
    return sum(word in spelled or heard.has_word(word) for word in words) / len(words)


def words_unsaid(statement: str, heard: Heard) -> list[str]:
    """The telling words of a statement that were not said in any form."""
    return [word for word in own_words(statement) if not heard.has_word(word)]


def own_words(statement: str) -> list[str]:
    """The words of a statement without those that every statement may have."""
    return [word for word, found in telling_words(statement).items() if not FRAME.intersection(found)]


def _specifics(statement: str) -> Iterator[tuple[str, bool]]:
    """Identifiers and names, with whether it is a name."""
    has_names = _is_english(statement)
    for found in _TOKEN.finditer(statement):
        token = found.group()
        if token.startswith("`"):
            parts = (part.strip(_EDGES) for part in re.split(r"[\s:=,]+", token.strip("`")))
            yield from ((part, False) for part in parts if any(letter.isalnum() for letter in part))
            continue
        token = re.sub(r"['’]s$", "", token.strip(_EDGES))
        if not token.isascii():
            yield from ((run, False) for run in _RUNS.findall(token) if _is_code(run))
            continue
        if _is_code(token):
            yield token, False
            continue
        is_first = not statement[: found.start()].strip() or bool(_SENTENCE_END.search(statement[: found.start()]))
        if has_names and any(_is_name(part, is_first=is_first) for part in _JOINT.split(token)):
            yield token, True


def _is_code(token: str) -> bool:
    return bool(_CODE.search(token)) and not _is_number(token) and not is_unit(token) and token.lower() not in _OTHERS


def _is_number(token: str) -> bool:
    """Whether a token is a number with what belongs to it: "15-minute", "2GB", "500-row"."""
    number = _NUMBER.match(token)
    if number is None:
        return False
    rest = token[number.end() :].strip("-")
    return not rest or is_unit(rest) or ("-" in token and rest.isalpha())


def _is_name(word: str, *, is_first: bool) -> bool:
    if len(word) < 2 or not word[0].isupper() or bare(word) in STOP_WORDS or bare(word) in _TRADE or is_unit(word):
        return False
    return not is_first or word.isupper()


def _is_english(text: str) -> bool:
    words = _PLAIN_WORDS.findall(text)
    return sum(bare(word) in STOP_WORDS for word in words) >= _ENGLISH * len(words)


def _spread(identifier: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", identifier)
