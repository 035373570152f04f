"""Numbers as people say them: "15-minute" is "15 minutes", and "2GB" is "2 gigabytes"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000, "half": 0.5, "quarter": 0.25, "dozen": 12,
    "once": 1, "twice": 2, "thrice": 3, "double": 2, "triple": 3, "both": 2, "single": 1,
    "noon": 12, "midnight": 0,
}  # fmt: skip
_NAMED = "january february march april may june july august september october november december"
_MONTHS = {name: number for number, name in enumerate(_NAMED.split(), 1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()}
_MONTHS.pop("may")  # mostly the verb
# Of a kind, in one measure. Letters that mean several things (m, d, b, v) are no units.
_SCALES: dict[str, dict[str, float]] = {
    "time": {
        "ms": 1e-3, "msec": 1e-3, "millis": 1e-3, "millisecond": 1e-3, "µs": 1e-6, "us": 1e-6, "microsecond": 1e-6,
        "ns": 1e-9, "nanosecond": 1e-9, "s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hr": 3600,
        "hour": 3600, "day": 86_400, "week": 604_800, "wk": 604_800, "month": 2_592_000, "year": 31_536_000,
        "yr": 31_536_000,
    },
    "size": {
        "byte": 1, "kb": 1e3, "kib": 1e3, "kilobyte": 1e3, "mb": 1e6, "mib": 1e6, "meg": 1e6, "megabyte": 1e6,
        "gb": 1e9, "gib": 1e9, "gig": 1e9, "gigabyte": 1e9, "tb": 1e12, "tib": 1e12, "terabyte": 1e12,
    },
    "share": {"%": 1, "percent": 1, "pct": 1},
    "rate": {"hz": 1, "hertz": 1, "khz": 1e3, "kilohertz": 1e3, "mhz": 1e6, "megahertz": 1e6, "ghz": 1e9},
    "money": {"$": 1, "usd": 1, "dollar": 1, "buck": 1},
    "current": {"ampere": 1, "amp": 1, "ma": 1e-3, "ua": 1e-6, "µa": 1e-6},
    "voltage": {"volt": 1, "mv": 1e-3, "kv": 1e3},
    "mass": {"mg": 1e-6, "gram": 1e-3, "kg": 1, "kilo": 1, "kilogram": 1},
    "length": {"mm": 1e-3, "cm": 1e-2, "metre": 1, "meter": 1, "km": 1e3, "kilometre": 1e3, "kilometer": 1e3},
}  # fmt: skip
CLOCK = "clock"
_UNITS = {unit: (kind, scale) for kind, scales in _SCALES.items() for unit, scale in scales.items()}
_TIMES = {"k": 1e3, "thousand": 1e3, "mio": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
_DIGITS = re.compile(
    r"(?<![A-Za-z0-9_])(?<![0-9][.:])(?P<sign>\$?)v?(?P<number>[0-9]+(?:[,'][0-9]{3})*(?:[.:][0-9]+)*(?:e-?[0-9]{1,3})?)(?![0-9])"
    r"(?:st|nd|rd|th)?(?:[-\s]?(?P<unit>%|[A-Za-zµ]+))?(?P<rate>/[A-Za-z])?",
    re.IGNORECASE,
)
_WORD = re.compile(r"(?<![A-Za-z])(?P<word>[A-Za-z]+)(?=(?:[-\s]+(?:an?\s+)?(?P<unit>[A-Za-zµ]+))?)")
_DATE = re.compile(
    r"(?<![0-9.])(?:[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[./][0-9]{1,2}[./](?:[0-9]{4}|[0-9]{2})?)(?![0-9])"
)
_RUN = re.compile(r"[0-9]+(?:\.[0-9]+)*")
# What is said of one thing or of a part is hardly ever meant as a number: "one of them", "half of the team", "both".
_ONE = frozenset({"a", "an", "per", "each", "every"})  # an hour
_LOOSE = frozenset(
    {"one", "once", "single", "half", "quarter", "both", "double", "triple", "dozen", "hundred", "noon", "midnight"}
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, in the measure of its kind where it has one; a version or a time of day only has its text."""

    text: str
    value: float | None
    kind: str
    written: str
    """As it stands in the text."""
    is_loose: bool = False
    """Whether the word may mean no number at all."""

    def is_same(self, other: "Quantity") -> bool:
        """Whether both may be one number. Without a unit it may be any number's: "make it 15" is 15 seconds."""
        if self.kind and other.kind:
            return self.kind == other.kind and self._measures(other)
        if CLOCK in (self.kind, other.kind):
            return self._is_same_hour(other)
        if self.text == other.text or other.text.startswith(f"{self.text}."):  # 3.11 is what 3.11.4 is
            return True
        return _is_close(self.value, other.value) or self._is_in_thousandths(other)

    def _measures(self, other: "Quantity") -> bool:
        return self.text == other.text if self.value is None else _is_close(self.value, other.value)

    def _is_same_hour(self, other: "Quantity") -> bool:
        """Whether one is a time of day and the other its hour, be it by twelve: "after 3" is 15:00."""
        timed, bare = (self, other) if self.kind else (other, self)
        return timed.text == bare.text or (timed.value is not None and bare.value in (timed.value, timed.value - 12))

    def _is_in_thousandths(self, other: "Quantity") -> bool:
        """Whether the other counts without a unit, as settings do, in milliseconds: 60 s and 60000."""
        is_time = "time" in (self.kind, other.kind)
        longer, shorter = (self, other) if self.kind else (other, self)
        return is_time and longer.value is not None and _is_close(1000 * longer.value, shorter.value)


def quantities(text: str) -> tuple[Quantity, ...]:
    """Every number in a text, in digits or in words; a month by its number too."""
    return (*_in_digits(text), *_in_words(text))


def digits(text: str) -> frozenset[str]:
    """What may be a number in a text, be it a part of a word or of a date: 15 in "iOS15", 20 and 12 in "20.12."."""
    dates = " ".join(_DATE.findall(text))
    return frozenset(run.lstrip("0") or "0" for run in (*_RUN.findall(text), *re.findall("[0-9]+", dates)))


def is_unit(word: str) -> bool:
    return _unit(word) is not None


def month(word: str) -> int | None:
    """The number of a month by its name or the first three letters of it."""
    return _MONTHS.get(word.casefold().strip("."))


def _in_digits(text: str) -> Iterator[Quantity]:
    for found in _DIGITS.finditer(text):
        number, unit = re.sub("[,']", "", found["number"]), (found["unit"] or "").casefold()
        if unit in ("am", "pm"):
            number, unit = _by_the_clock(number, is_after_noon=unit == "pm"), ""
        if hour := re.fullmatch(r"0?([0-9]{1,2}):([0-9]{2})", number):
            value = float(hour[1]) if hour[2] == "00" else None
            yield Quantity(f"{hour[1]}:{hour[2]}", value, CLOCK, found["number"])
            continue
        number = number.removesuffix(":1")  # a ratio
        if number.count(".") > 1 or ":" in number:
            yield Quantity(number.lstrip("0") or "0", None, "", found["number"])
            continue
        value = float(number)
        value *= _TIMES.get(unit, 1)
        kind, scale = _unit("$" if found["sign"] else unit) or ("", 1.0)
        if unit == "m" and found["rate"]:  # 2.5 m/s is no time
            kind = "speed"
        yield Quantity(_text(value), value * scale, kind, found["number"])
        if unit == "m":  # minutes, metres, or millions
            yield Quantity(_text(1e6 * value), 1e6 * value, "", found["number"], is_loose=True)


def _in_words(text: str) -> Iterator[Quantity]:
    for found in _WORD.finditer(text):
        word = found["word"].casefold()
        if word in _WORDS:
            kind, scale = _unit(found["unit"] or "") or ("", 1.0)
            value = float(_WORDS[word])
            is_loose = word in _LOOSE and (word, kind) != ("one", "time")
            yield Quantity(_text(value), value * scale, kind, found["word"], is_loose)
        elif word in _ONE and (of := _unit(found["unit"] or "")):
            yield Quantity("1", of[1], of[0], found["word"], is_loose=True)
        elif at := month(word):
            yield Quantity(str(at), float(at), "", found["word"], is_loose=True)


def _by_the_clock(number: str, *, is_after_noon: bool) -> str:
    """A time of twelve hours in twenty-four: 6 pm is 18:00."""
    hour, _, minutes = number.partition(":")
    if not hour.isdecimal() or len(hour) > 2:
        return number
    return f"{int(hour) % 12 + 12 * is_after_noon}:{minutes or '00'}"


def _text(value: float) -> str:
    return f"{value:.12g}"


def _unit(word: str) -> tuple[str, float] | None:
    plain = word.casefold()
    return _UNITS.get(plain) or (_UNITS.get(plain[:-1]) if plain.endswith("s") and len(plain) > 2 else None)


def _is_close(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and abs(a - b) <= 1e-9 * max(abs(a), abs(b))
