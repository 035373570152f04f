"""Which times a question names, and how near a moment lies to them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retain.domain.periods import Period, periods

NOW = datetime(2023, 5, 30, 12, tzinfo=UTC)  # a Tuesday


def told(text):
    return [(str(p.begin)[:10], str(p.end)[:10]) for p in periods(text, NOW)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did Ada do on 13 October, 2022?", ("2022-10-13", "2022-10-14")),
        ("What broke on October 13th 2022?", ("2022-10-13", "2022-10-14")),
        ("what broke on 2022-10-13", ("2022-10-13", "2022-10-14")),
        ("the March 15th release", ("2023-03-15", "2023-03-16")),
        ("the June 15th release", ("2022-06-15", "2022-06-16")),
        ("which releases went out in February?", ("2023-02-01", "2023-03-01")),
        ("in July 2022", ("2022-07-01", "2022-08-01")),
        ("what did we plan during last summer", ("2022-06-01", "2022-09-01")),
        ("during 2022", ("2022-01-01", "2023-01-01")),
        ("two weeks ago", ("2023-05-13", "2023-05-20")),
        ("a couple of days ago", ("2023-05-28", "2023-05-29")),
        ("in the last 3 months", ("2023-02-28", "2023-05-30")),
        ("in the past month", ("2023-04-01", "2023-05-30")),
        ("this quarter", ("2023-04-01", "2023-05-30")),
        ("last Saturday", ("2023-05-27", "2023-05-28")),
        ("what failed on Tuesday?", ("2023-05-23", "2023-05-24")),
        ("over the weekend", ("2023-05-27", "2023-05-29")),
        ("yesterday's migration", ("2023-05-29", "2023-05-30")),
        ("since Monday", ("2023-05-29", "2023-05-30")),
        ("before March", ("0001-01-01", "2023-03-01")),
        ("after 7th May", ("2023-05-08", "2023-05-30")),
        ("on 3 May 2022", ("2022-05-03", "2022-05-04")),
        ("on the 3rd of May", ("2023-05-03", "2023-05-04")),
        ("since spring 2022", ("2022-03-01", "2023-05-30")),
        ("what was so in 2022 is gone", ("2022-01-01", "2023-01-01")),
        ("from march to june", ("2022-03-01", "2022-07-01")),
        ("what was done from the march release to April", ("2023-03-01", "2023-05-01")),
        ("between may and june 2021", ("2021-05-01", "2021-07-01")),
        ("from November to February", ("2022-11-01", "2023-03-01")),
        ("from Monday to Friday", ("2023-05-22", "2023-05-27")),
        ("moved from the shop between 2020 and 2021", ("2020-01-01", "2022-01-01")),
        ("from two weeks ago until yesterday", ("2023-05-13", "2023-05-30")),
        ("between March and April", ("2023-03-01", "2023-05-01")),
    ],
)
def test_a_time_is_read_as_it_is_meant(text, expected):
    assert told(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "may I see the march of the ants",
        "who runs the second shard",
        "the 2023 lines of main.py",
        "on the 31st of February",
        "port 2022, please",
        "a week is a long time",
        "which beans are made in Spring",
        "retry and fall back",
        "does this fall through to the default",
        "this may be a bug",
        "build and march on",
        "step 3 may need root",
        "which 2 may fail",
        "it is done in 2000 rows",
        "",
    ],
)
def test_what_names_no_time_has_none(text):
    assert told(text) == []


def test_two_times_are_both_meant():
    assert told("was it in March or in May?") == [("2023-03-01", "2023-04-01"), ("2023-05-01", "2023-06-01")]


def test_what_was_told_a_little_later_still_counts():
    month = Period(datetime(2023, 2, 1, tzinfo=UTC), datetime(2023, 3, 1, tzinfo=UTC))
    inside, week_later, year_later = (month.nearness(month.begin + timedelta(days=days)) for days in (3, 35, 400))
    assert inside == 1 and week_later == 0.5 and year_later < 0.01


def test_what_was_ruled_out_does_not():
    (before,) = periods("before March", NOW)
    assert before.nearness(datetime(2023, 2, 20, tzinfo=UTC)) == 1
    assert before.nearness(datetime(2023, 3, 10, tzinfo=UTC)) < 0.01


@given(st.text(max_size=80), st.datetimes(timezones=st.just(UTC)))
def test_whatever_is_asked_whenever_it_is_read(text, now):
    assert all(period.begin <= period.end for period in periods(text, now))


@given(st.sampled_from(["last year", "in december", "90 months ago", "since 1999", "past 3 years", "last night"]))
def test_at_the_ends_of_the_calendar_nothing_breaks(text):
    for now in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
        periods(text, now)
