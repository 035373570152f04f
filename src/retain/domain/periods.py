"""The time that a question speaks of: "in February", "two weeks ago", "on 13 October", "since Monday". In English."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

DAY = timedelta(days=1)
FADING = 0.25  # of its length; so far from a period it counts half

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # the month it begins with, in the north
_NUMBERS = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_COUNTS = {"an": 1, "couple": 2, "few": 3, "several": 4} | {word: max(n, 1) for n, word in enumerate(_NUMBERS)}
_LENGTHS = {"day": 1.0, "week": 7.0, "month": 30.4, "quarter": 91.3, "year": 365.25}

_COUNT = rf"(?:a\s+)?(?P<count>\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})(?:\s+of)?"
_UNIT = r"(?P<unit>day|week|month|quarter|year)"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
# Most months, and a number as a year, are a time only behind one of these; "this may fail" and "and march on" are none.
_LEAD = r"(?:in|of|by|last|from|late|early|since|until|till|before|after|during|between)(?: the)? "
_LEAD_OF_MONTH = rf"(?:{_LEAD}|(?:this|and) (?!(?:may|march)\b))"
_SEASON = rf"(?P<season>{'|'.join(_SEASONS)})"
_OTHER_SENSE = r"(?! (?:back|through|over|boot)\b)"  # "fall back", "Spring Boot"
_COUNTED = r"(?! (?!(?:was|is|does|has|as|this)\b)\w+s\b)"  # "2000 rows"
_VERB = r"\d+ may\b(?!,? (?:19|20)\d\d)"  # "step 3 may fail", and not "3rd May", "3 of May" or "3 May 2022"
# Of "from March to June" what stands between the two, and how far away the second may be.
_LINK = re.compile(r"\S+(?: \S+){0,3}? (?:and|to|until|till|through) (?:the )?")
_END = 60


@dataclass(frozen=True, slots=True)
class Period:
    """A time with a beginning and an end."""

    begin: datetime
    end: datetime
    is_sharp: bool = False
    """Whether what lies outside was ruled out, as by "before March"."""

    def nearness(self, moment: datetime) -> float:
        """1 within the period, and less the further from it: people tell of a thing a little later, or plan it."""
        away = max(self.begin - moment, moment - self.end, timedelta(0))
        fading = DAY if self.is_sharp else max(FADING * (self.end - self.begin), DAY)
        return float(2 ** -(away / fading))


Reading = Callable[[re.Match[str], datetime], Period]


def periods(text: str, now: datetime) -> tuple[Period, ...]:
    """The times that a text names, as seen from a moment; none if it names none."""
    text = text.casefold()
    for opening in re.finditer(r"(?<!\w)(?:between|from) (?:the )?", text):
        if span := _span(text[opening.end() :], now):
            return (span,)
    found = sorted(_named(text, now), key=lambda each: each[0])
    return tuple(_seen_from(text[:start].rstrip(), period, now) for start, period in found)


def _span(text: str, now: datetime) -> Period | None:
    """From the one to the other of two times that a text begins with: both the last that there were."""
    link = _LINK.match(text)
    second = _first(text[link.end() :][:_END], now) if link else None
    first = _first(text[: link.end()], now) if link else None
    if link is None or first is None or second is None:
        return None
    if first.begin > second.begin:
        first = _first(text[: link.end()], second.begin) or first
    return Period(first.begin, max(first.end, second.end))


def _first(text: str, now: datetime) -> Period | None:
    """The time that a text begins with."""
    lead = "from "
    return next((period for start, period in _named(lead + text, now) if start <= len(lead)), None)


def _named(text: str, now: datetime) -> Iterator[tuple[int, Period]]:
    """Each with where it stands; what an earlier pattern has read, no later one reads again."""
    for pattern, read in _PATTERNS:
        for match in pattern.finditer(text):
            try:
                yield match.start("named" if "named" in pattern.groupindex else 0), read(match, now)
            except (ValueError, OverflowError):  # the 31st of February
                continue
        text = pattern.sub(lambda match: "·" * len(match[0]), text)


def _seen_from(before: str, period: Period, now: datetime) -> Period:
    """What the word in front makes of it: all since then, or all before."""
    word = re.search(r"\b(since|after|before|until|till)(?: the)?$", before)
    if word is None:
        return period
    if word[1] == "since":
        return Period(period.begin, max(now, period.begin), is_sharp=True)
    if word[1] == "after":
        return Period(period.end, max(now, period.end), is_sharp=True)
    return Period(datetime.min.replace(tzinfo=UTC), period.begin, is_sharp=True)


def _on_date(match: re.Match[str], now: datetime) -> Period:
    month, year = _number_of(match["month"]), match["year"]
    begin = _latest(lambda year: datetime(year, month, int(match["day"]), tzinfo=UTC), year, now)
    return Period(begin, begin + DAY)


def _in_month(match: re.Match[str], now: datetime) -> Period:
    month, year = _number_of(match["month"]), match.groupdict().get("year")
    return _months(_latest(lambda year: datetime(year, month, 1, tzinfo=UTC), year, now), 1)


def _in_season(match: re.Match[str], now: datetime) -> Period:
    month = _SEASONS[match["season"]]
    year = match.groupdict().get("year")
    return _months(_latest(lambda year: datetime(year, month, 1, tzinfo=UTC), year, now), 3)


def _in_year(match: re.Match[str], now: datetime) -> Period:
    return _months(datetime(int(match["year"]), 1, 1, tzinfo=UTC), 12)


def _ago(match: re.Match[str], now: datetime) -> Period:
    unit = timedelta(days=_LENGTHS[match["unit"]])
    middle = now - _count(match["count"]) * unit
    return Period(middle - unit / 2, middle + unit / 2)


def _in_the_last(match: re.Match[str], now: datetime) -> Period:
    return Period(now - _count(match["count"]) * timedelta(days=_LENGTHS[match["unit"]]), now)


def _last(match: re.Match[str], now: datetime) -> Period:
    """From the beginning of the one before this: "last month" is said of both."""
    return Period(_begin(match["unit"], _begin(match["unit"], now) - DAY), now)


def _this(match: re.Match[str], now: datetime) -> Period:
    return Period(_begin(match["unit"], now), now)


def _on_weekday(match: re.Match[str], now: datetime) -> Period:
    today = _begin("day", now)
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"][:3])) % 7 or 7
    return Period(today - back * DAY, today - (back - 1) * DAY)


def _at_weekend(match: re.Match[str], now: datetime) -> Period:
    monday = _begin("week", now)
    return Period(monday - 2 * DAY, monday)


def _yesterday(match: re.Match[str], now: datetime) -> Period:
    return Period(_begin("day", now) - DAY, _begin("day", now))


def _today(match: re.Match[str], now: datetime) -> Period:
    return Period(_begin("day", now), now)


def _begin(unit: str, moment: datetime) -> datetime:
    day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        return day - day.weekday() * DAY
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return day.replace(day=1, month=(day.month - 1) // 3 * 3 + 1)
    return day.replace(day=1, month=1) if unit == "year" else day


def _months(begin: datetime, count: int) -> Period:
    after = begin.month - 1 + count
    return Period(begin, begin.replace(year=begin.year + after // 12, month=after % 12 + 1))


def _latest(in_year: Callable[[int], datetime], year: str | None, now: datetime) -> datetime:
    """In the year that is named, else the last time it was."""
    if year:
        return in_year(int(year))
    return in_year(now.year) if in_year(now.year) <= now else in_year(now.year - 1)


def _number_of(month: str) -> int:
    return int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _COUNTS[word]


_READINGS: tuple[tuple[str, Reading], ...] = (
    (rf"{_MONTH}\.? {_DAY}(?:,? {_YEAR})?", _on_date),
    (rf"(?!{_VERB}){_DAY}(?: of)? {_MONTH}\.?(?:,? {_YEAR})?", _on_date),
    (r"(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-3]\d)", _on_date),
    (rf"{_MONTH},? {_YEAR}", _in_month),
    (rf"{_LEAD_OF_MONTH}(?P<named>{_MONTH})", _in_month),
    (rf"{_SEASON}(?: of)? {_YEAR}{_COUNTED}", _in_season),
    (rf"(?:last|this|early|late) (?P<named>{_SEASON}){_OTHER_SENSE}", _in_season),
    (rf"{_LEAD}(?P<named>{_YEAR}){_COUNTED}", _in_year),
    (rf"{_COUNT} {_UNIT}s? ago", _ago),
    (rf"(?:last|past|previous) {_COUNT} {_UNIT}s?", _in_the_last),
    (rf"(?:last|past|previous) {_UNIT}", _last),
    (rf"this {_UNIT}", _this),
    (r"(?:last|past|this|on the|over the) weekend", _at_weekend),
    (rf"(?:on|last|this|since|until|till|before|after|by|from) (?P<named>{_WEEKDAY})", _on_weekday),
    (r"yesterday|last night", _yesterday),
    (r"today|this (?:morning|afternoon|evening)|tonight", _today),
)
_PATTERNS = tuple((re.compile(rf"(?<!\w)(?:{pattern})(?!\w)"), read) for pattern, read in _READINGS)
