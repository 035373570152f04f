"""Words and typed values of a sentence: a port, a version, a date, a path, a tool, a person."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from retain.domain.claims import NUMBER_WORDS
from retain.domain.stem import stem
from retain.domain.words import STOP_WORDS
from retain.engine.lifecycle.vocabulary import ALIASES, GROUP_OF, IDENTITY_NOUNS, UNITS
from retain.engine.lifecycle.wording import (
    COMPOUNDS,
    COUNTS,
    DIMENSIONS,
    EVERY,
    GROUP_WORDS,
    MEASURES,
    MONTH,
    OFFICES,
    POLAR,
    SAME,
    TIES,
    WIDE,
)

_TOKEN = re.compile(
    rf"(?P<code>`[^`]+`)|(?P<url>https?://[^\s,;)]+)|(?P<email>[\w.+-]+@[\w-]+\.[\w.-]*\w)"
    rf"|(?P<date>\b[0-9]{{4}}-[0-9]{{2}}(?:-[0-9]{{2}})?\b|\b{MONTH}\.?\s[0-9]{{1,2}}(?:st|nd|rd|th)?\b"
    rf"|\b[0-9]{{1,2}}(?:st|nd|rd|th)?\s{MONTH}\b|\bQ[1-4]\b)"
    r"|(?P<range>(?<![\w.-])[0-9]{1,2}(?::[0-9]{2})?\s?(?:am|pm)?\s?(?:-|–|to|until|till)\s?[0-9]{1,2}(?::[0-9]{2})?"
    r"(?:\s?(?:am|pm|o'clock)\b)?(?![\w.-]*[0-9]))"
    r"|(?P<clock>\b[0-9]{1,2}:[0-9]{2}(?:\s?[ap]m\b)?|\b[0-9]{1,2}\s?[ap]m\b)"
    r"|(?P<money>[$€£]\s?[0-9][0-9,]*(?:\.[0-9]+)?)"
    r"|(?P<exponent>(?<![\w-])[0-9]+(?:\.[0-9]+)?e[+-]?[0-9]+\b)|(?P<number>(?<![\w-])[#:v]?[0-9][0-9,]*(?:[./][0-9]+)*(?:\s?%|[a-z]{1,5}\b(?!-))?)"
    r"|(?P<word>(?:--|#(?=[a-z])|[.~]?/|[.~@]|\.\./)?[^\W_](?:[\w./+#=@'-]*[\w+#/])?(?:\(\))?)|(?P<stop>[,;:()])",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"([0-9][0-9,]*(?:\.[0-9]+)*)\s?([a-z%]*)", re.IGNORECASE)
_CLOCK = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?\s?(am|pm)?", re.IGNORECASE)
_FILE = re.compile(
    r".*\.(?:py|js|ts|tsx|jsx|json|ya?ml|toml|md|rst|txt|cfg|ini|lock|sh|go|rs|c|h|cpp|java|kt|html|css|sql|xml|csv|tf|env"
    r"|proto|log|conf|db)|\.[a-z]\w+(?:\.\w+)*|.*/|[.~]*/.*|\w[\w.-]*/\w[\w.-]*/.*|[a-z][\w-]*/[a-z][\w.-]*",
)
_HOST = re.compile(r"[a-z][\w-]*(?:\.[\w-]+)*\.[a-z]{2,8}(?::[0-9]+)?")
_MONTH = re.compile("January|February|March|April|May|June|July|August|September|October|November|December")
_UNDONE = re.compile(r"[Uu]n(?!der|ite|ifi|cover)[a-z]{3,}(?:ed|able|safe)|(?:state|password|loss|cookie|key)less")
_PRODUCT = re.compile(r"[A-Z][a-z]+[A-Z][A-Za-z]*")  # MkDocs, OneSignal
_ACRONYM = re.compile(r"[A-Z]{2,}[0-9]*")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_IS = ("is", "are", "was", "were", "must", "can", "should", "will", "has", "have", "need")
_ORDINALS = ("st", "nd", "rd", "th")
_REGION = re.compile(r"[a-z]{2}-[a-z]+-[0-9]")
_ZONE = re.compile(r"(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)/[A-Z]\w+")
_LOCALE = re.compile(r"[a-z]{2}[-_][A-Z]{2}")
_IDENTIFIER = re.compile(r".*_.*|[a-z]+[A-Z].*|[A-Z][a-z]+[A-Z].*|(?=.*[0-9])(?=.*[a-zA-Z]).*|.*=.*|.*\(\)|--.*|#.*")
# Tools that are also words: only with a capital letter, or as code, are they meant.
_WORDS_TOO = frozenset(
    ("go", "rest", "express", "spring", "swift", "solid", "render", "black", "linear", "parcel", "nose", "ember",
     "meson", "rust")
)  # fmt: skip
NAMES = frozenset({"name", "identifier", "code", "path", "host", "url", "email", "acronym"})


@dataclass(frozen=True, slots=True)
class Token:
    said: str
    key: str
    shape: str  # which part of the pattern it is: "word", "number", "code", "stop" …


@dataclass(frozen=True, slots=True)
class Typed:
    """A value with its type; `is_sure` is false for a word that only its place at the start may have made a name."""

    kind: str
    key: str
    said: str
    at: int = 0
    is_sure: bool = True

    @property
    def is_name(self) -> bool:
        return self.kind in NAMES or self.kind.startswith("group ")


@lru_cache(maxsize=8192)
def key_of(word: str) -> str:
    """The concept that a word stands for: its stem, or that of a word that says the same."""
    low = word.lower().removesuffix("'s").removesuffix("'")
    low = ALIASES.get(low, low)
    if low in SAME:
        return SAME[low]
    if low in GROUP_OF or low in STOP_WORDS or low in NUMBER_WORDS:
        return low
    if low.removesuffix("s") in GROUP_OF:
        return low.removesuffix("s")
    short = stem(low)
    if len(short) < 3 or short in STOP_WORDS:
        return low  # "Ines" is no "in"
    return SAME.get(short, ALIASES.get(short, short))


def tokens(text: str) -> list[Token]:
    found = []
    for match in _TOKEN.finditer(text):
        shape, said = match.lastgroup or "word", match.group()
        if shape == "word" and _UNDONE.fullmatch(said):
            base = said[2:] if said[1] == "n" else said.removesuffix("less")
            found += [Token("not", "not", shape), Token(base, key_of(base), shape)]
        elif shape == "word" and _splits(said):
            found += [Token(part, key_of(part), "word") for part in re.split(r"[-/]", said) if part]
        elif shape == "code":
            found.append(Token(said.strip("`"), said.strip("`").removesuffix("()").lower(), "code"))
        elif shape == "word" and found and _continues(found, said, text[match.start() - 1 : match.start()]):
            whole = f"{found[-1].said} {said}"
            found[-1] = Token(whole, whole.lower().replace(" ", "-"), "word")
        elif shape == "word" and said.isupper() and said.lower() in STOP_WORDS and len(said) > 1:
            found.append(Token(said, said, shape))  # the US, IT
        else:
            found.append(Token(said, key_of(said) if shape == "word" else said.lower(), shape))
    return found


def _continues(found: Sequence[Token], said: str, gap: str) -> bool:
    """Whether a word goes on with a name of several: "Secrets Manager", "GitHub Actions"."""
    last = found[-1]
    is_inside = len(found) > 1 and found[-2].shape != "stop"
    is_name = said[0].isupper() and last.shape == "word" and last.said[0].isupper() and last.key not in STOP_WORDS
    whole = f"{last.said}-{said}".lower()
    return gap == " " and is_name and last.key not in UNITS and (is_inside or whole in GROUP_OF)


def _splits(said: str) -> bool:
    """ "gateway-to-auth" is three words; "auto-increment", "eu-west-1" and "src/app" are one."""
    if said.startswith("#") or _ZONE.fullmatch(said):
        return False  # a channel, Europe/Berlin
    if "-" in said and said.replace("-", "").isalpha() and not said[said.index("-") + 1].isupper():
        low = said.lower()
        return not (
            low in GROUP_OF
            or low in SAME
            or low in COMPOUNDS
            or low.startswith(("non-", "opt-", "multi-", "single-", "case-"))
        )
    return "/" in said and said.replace("/", "").isalpha() and said.count("/") == 1 and not said.islower()


def typed_row(row: Sequence[Token]) -> list[Typed | None]:
    """The values where they stand; the unit after a number is part of it."""
    found: list[Typed | None] = []
    for i, token in enumerate(row):
        before = found[-1] if found else None
        is_measure = token.key in UNITS or token.key in DIMENSIONS or token.said.lower() in UNITS
        is_unit = is_measure and before is not None and before.said.endswith(" " + token.said)
        found.append(before if is_unit else typed(row, i))
    return found


def typed(row: Sequence[Token], at: int) -> Typed | None:
    """The value that a token is, if it is one."""
    token = row[at]
    if token.shape in ("number", "clock", "date", "money") or token.key in NUMBER_WORDS or _is_one(row, at):
        return _quantity(row, at)
    if token.shape == "exponent":
        return Typed("n", f"{float(token.key):g}", token.said, at)
    if token.shape == "range":
        return Typed("range", "-".join(re.findall(r"[0-9]+", token.key)), token.said, at)
    if token.shape in ("url", "email"):
        return Typed(token.shape, token.key.rstrip("./"), token.said, at)
    if token.shape == "stop":
        return None
    return _named(row, at)


def _is_one(row: Sequence[Token], at: int) -> bool:
    """ "One", and "a single approval"."""
    if row[at].key == "one":
        return True
    return row[at].said.lower() == "single" and at + 1 < len(row) and bool({row[at + 1].key, row[at + 1].said} & COUNTS)


def _named(row: Sequence[Token], at: int) -> Typed | None:
    token = row[at]
    low = token.said.lower()
    if token.shape == "word" and (low in POLAR or token.key in POLAR):
        return None
    known = _known(row, at, low)
    if known or (token.shape != "code" and token.said.isalpha() and token.said.islower()):
        return known
    if "=" in token.said and token.shape == "word":
        name, _, value = token.key.partition("=")
        return Typed("set " + name, value, token.said, at)
    kind = _shape_of(token)
    if kind:
        return Typed(kind, token.key.removeprefix("./").rstrip("/") if kind == "path" else token.key, token.said, at)
    return _capitalised(row, at)


def _known(row: Sequence[Token], at: int, low: str) -> Typed | None:
    """A value by the word itself: a month, a day, a unit, a tool."""
    token = row[at]
    if _MONTH.fullmatch(token.said):
        return Typed("date", low[:3], token.said, at)
    if low in EVERY:
        return Typed("frequency", f"{EVERY[low]:g}", token.said, at)
    if _ZONE.fullmatch(token.said):
        return Typed("group time zone", low, token.said, at)
    if token.shape == "code" and GROUP_OF.get(low.partition(":")[0]) == "operating system":
        return Typed("group operating system", low.partition(":")[0], token.said, at)  # an image: debian:bookworm
    group = _group(row, token, low)
    if group == "day":
        return Typed(group, token.key, token.said, at)
    if group:
        return Typed("group " + group, token.key if token.key in GROUP_OF else low.removesuffix("s"), token.said, at)
    measure = MEASURES.get(low)
    is_unit = at > 0 and (_is_count(row[at - 1]) or row[at - 1].key in ("per", "every", "each", "a"))
    return Typed(measure, stem(low), token.said, at) if measure and not is_unit else None


def _group(row: Sequence[Token], token: Token, low: str) -> str | None:
    group = GROUP_WORDS.get(low) or GROUP_OF.get(token.key)
    if group == "level" and not token.said.isupper() and all(other.key != "level" for other in row):
        return None
    return None if low in _WORDS_TOO and token.said.islower() and token.shape == "word" else group


def _capitalised(row: Sequence[Token], at: int) -> Typed | None:
    token = row[at]
    is_start = at == 0 or (row[at - 1].shape == "stop" and row[at - 1].said != ":")
    if token.said[0].isupper() and not token.said.isupper() and token.key not in STOP_WORDS:
        is_named = not is_start or _does_or_is(row, at)
        return Typed("name", token.key, token.said, at, is_sure=not is_start) if is_named else None
    return Typed("acronym", token.key, token.said, at) if _ACRONYM.fullmatch(token.said) and not is_start else None


def _does_or_is(row: Sequence[Token], at: int) -> bool:
    """Whether the first word, which has a capital anyway, may be a name: "Ada leads", "Ada is the", "Ada left"."""
    token, after = row[at], row[at + 1] if at + 1 < len(row) else None
    if after is None or token.key in TIES or token.key in WIDE or token.said.endswith("ing"):
        return False
    if after.key in ("is", "was"):
        return at + 2 < len(row) and row[at + 2].key in ("the", "our", "my", "on", "own", "not")
    follows = row[at + 2].key if at + 2 < len(row) else ""
    is_active = follows not in _IS and after.said.endswith("s") and (after.key in OFFICES or after.key in TIES)
    return is_active or after.said in ("has", "does", "took", "left", "not", "replaced")


def _shape_of(token: Token) -> str:
    said = token.said
    if _REGION.fullmatch(said):
        return "region"
    if _LOCALE.fullmatch(said):
        return "locale"
    if " " not in said and _FILE.fullmatch(said) and not (said[0].isupper() and said.endswith((".js", ".io"))):
        return "path"
    if _HOST.fullmatch(said):
        return "host"
    if token.shape == "code":
        return "code"
    if _PRODUCT.fullmatch(said):
        return "name"
    return "identifier" if _IDENTIFIER.fullmatch(said) else ""


def _is_count(token: Token) -> bool:
    return token.shape in ("number", "money") or token.key in NUMBER_WORDS or token.key == "one"


def _quantity(row: Sequence[Token], at: int) -> Typed | None:
    token = row[at]
    if token.shape == "date":
        return Typed("date", _date(token.key), token.said, at)
    if token.shape == "clock":
        return _clock(token, at)
    before = row[at - 1].key if at else ""
    is_verb = at > 1 and row[at - 2].key in ("we", "they", "i", "you", "to")
    if (before in IDENTITY_NOUNS and not is_verb) or token.said.startswith("#"):
        return None
    if token.shape == "money":
        return Typed("money", re.sub(r"[^0-9.]", "", token.said), token.said, at)
    following = row[at + 1] if at + 1 < len(row) else None
    if token.key == "one" and (following is None or following.key in STOP_WORDS or following.shape == "stop"):
        return None
    return _number(token, row[at - 1] if at else None, following, at)


def _date(said: str) -> str:
    """Its parts in one order, so that "March 3" is a part of 2025-03-03."""
    year, _, rest = said.partition("-")
    if len(year) == 4 and rest:
        month, _, day = rest.partition("-")
        return " ".join(sorted({year, _MONTHS[(int(month) - 1) % 12], str(int(day or 0))}))
    return " ".join(sorted(part.lstrip("0") for part in re.findall(r"[a-z]{3}|[0-9]+", said) if part not in _ORDINALS))


def _clock(token: Token, at: int) -> Typed:
    clock = _CLOCK.fullmatch(token.said)
    if clock is None:
        return Typed("time", token.key, token.said, at)
    hour = int(clock[1]) % 12 + 12 * (clock[3].lower() == "pm") if clock[3] else int(clock[1])
    return Typed("time", f"{hour}:{clock[2] or '00'}", token.said, at)


def _number(token: Token, before: Token | None, after: Token | None, at: int) -> Typed:
    digits = "1" if token.said.lower() in ("one", "single") else NUMBER_WORDS.get(token.key, token.key)
    parts = _NUMBER.fullmatch(digits.lstrip(":v"))
    if parts is None:
        return Typed("n", digits, token.said, at)
    number, unit = parts[1].replace(",", ""), parts[2]
    said = token.said
    if not unit and after is not None and after.shape == "word" and after.key not in STOP_WORDS:
        unit = after.said.lower() if after.said.lower() in UNITS else after.key
        said = f"{token.said} {after.said}"
    elif not unit and after is not None and after.said == "%":
        unit = "%"
    dimension = DIMENSIONS.get(unit) or UNITS.get(unit)
    if dimension and number.count(".") < 2:
        kind = (
            "frequency"
            if dimension[0] == "time" and before and before.key in ("every", "each")
            else "n " + dimension[0]
        )
        return Typed(kind, f"{float(number) * dimension[1]:g}", said, at)
    if _is_port(token, before, number, unit):
        return Typed("port", number, token.said, at)
    if token.said.startswith("v") or (before and _is_versioned(before, at)) or (number.count(".") and number[0] != "0"):
        return Typed("version", number, f"{before.said} {token.said}" if before and at else token.said, at)
    return Typed("n" if not unit or unit in COUNTS else f"n {unit}", number, said, at)


def _is_port(token: Token, before: Token | None, number: str, unit: str) -> bool:
    if token.said.startswith(":") or (before and before.key == "port"):
        return True
    is_high = number.isdigit() and 1024 < int(number) < 65536 and not (1990 <= int(number) <= 2099)
    return bool(is_high and before and before.key in ("on", "at", "to") and not unit)


def _is_versioned(before: Token, at: int) -> bool:
    if before.key in ("error", "port", "pin", "code"):
        return False
    if before.key in GROUP_OF or before.key in ("version", "gcc", "node"):
        return GROUP_OF.get(before.key) != "day"
    return before.shape == "word" and before.said[0].isupper() and before.key not in STOP_WORDS and at > 1
