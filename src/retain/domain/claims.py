"""What a statement asserts beyond its topic: the details in which two near-equal texts may not differ."""

import hashlib
import re
import unicodedata
from dataclasses import dataclass

from retain.domain.words import STOP_WORDS, bare, is_spaceless, spaceless_pairs

NUMBER_WORDS = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
                "nine": "9", "ten": "10", "eleven": "11", "twelve": "12"}  # fmt: skip
NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|neither|nor|nothing|nobody|nowhere|without|cannot|(?:do|does|did|is|are|was|ca|wo)nt)\b|n['’]t\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"`[^`\n]{1,200}`|[^\s`]+")
_EDGES = ".,;:!?()[]{}\"'“”‘’…"
_NUMBER = re.compile(r"[#$€v~]?([0-9][0-9,]*(?:[.:/-][0-9]+)*)([%a-z]{0,3})", re.IGNORECASE)
_COMPOUND = re.compile(r"[\w)][-./\\_:@=]+[\w(]|[a-z0-9][A-Z]|[A-Za-z][0-9]|^[-/~@]|\(\)|_")
_ABBREVIATIONS = frozenset({"e.g", "i.e", "a.m", "p.m", "and/or"})
_LONGEST = 200  # beyond this a token is a blob: compared whole, not looked into
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n]|[-*•])[\s\"'(`*]*$")
_CLOSING = " \t.!。！"


@dataclass(frozen=True, slots=True)
class Signature:
    """The details of a claim, in the order in which they are said: who reviews whom is not the same turned round."""

    negations: int
    numbers: tuple[str, ...]
    identifiers: tuple[str, ...]
    names: tuple[str, ...]


def signature(text: str) -> Signature:
    numbers, identifiers, prose = [], [], []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if not token.startswith("`"):
            token = token.rstrip(".,;:!?") if "()" in token else token.strip(_EDGES)
        number = NUMBER_WORDS.get(token.lower()) or _number(token)
        if number:
            numbers.append(number)
        elif _is_identifier(token):
            identifiers.append(token.strip("`").removesuffix("()").removeprefix("./"))
        else:
            prose.append(match.group())
    said = " ".join(prose)
    return Signature(len(NEGATIONS.findall(said)), tuple(numbers), tuple(identifiers), tuple(_names(said)))


def same_claim(a: str, b: str) -> bool:
    """Whether two texts that mean nearly the same also agree in negations, numbers, identifiers and names.

    A name may be written small in the other text ("redis"), but must be there.
    """
    first, second = signature(a), signature(b)
    if (first.negations, first.numbers, first.identifiers) != (second.negations, second.numbers, second.identifiers):
        return False
    names = {*first.names, *second.names}
    return [word for word in _words(a) if word in names] == [word for word in _words(b) if word in names]


def fingerprint(text: str) -> str:
    """Equal for texts that differ only in spacing, Unicode form or a closing full stop. Case matters: code has it."""
    folded = " ".join(unicodedata.normalize("NFC", text).split())
    folded = folded.rstrip(_CLOSING) or folded
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()


def jaccard(a: str, b: str) -> float:
    """How far two texts share their words: 0 when either has none worth comparing."""
    first, second = _tokens(a), _tokens(b)
    if not (first and second):
        return 0.0
    return len(first & second) / len(first | second)


def _number(token: str) -> str:
    """The number in "v3.11", "1,000" or "30s"; the unit stays with it. Empty when the token is something else."""
    match = _NUMBER.fullmatch(token) if len(token) <= _LONGEST else None
    return match[1].replace(",", "") + match[2].lower() if match else ""


def _is_identifier(token: str) -> bool:
    if token.startswith("`") or len(token) > _LONGEST:
        return True
    return _COMPOUND.search(token) is not None and token.casefold() not in _ABBREVIATIONS


def _names(prose: str) -> list[str]:
    """Capitalised words, folded. The first word of a sentence is one only when it is all capitals (API)."""
    names = []
    for match in _WORD.finditer(prose):
        word = match.group()
        is_acronym = len(word) > 1 and word.isupper()
        is_inside = not _SENTENCE_START.search(prose[max(0, match.start() - 8) : match.start()])
        if word[0].isupper() and (is_acronym or is_inside) and bare(word) not in STOP_WORDS | {"never"}:
            names.append(bare(word))
    return names


def _words(text: str) -> list[str]:
    return [bare(word) for word in _WORD.findall(text)]


def _tokens(text: str) -> frozenset[str]:
    tokens: set[str] = set()
    for word in _words(text):
        if is_spaceless(word):
            tokens.update(spaceless_pairs(word))
        elif len(word) > 2 and word not in STOP_WORDS:
            tokens.add(word)
    return frozenset(tokens)
