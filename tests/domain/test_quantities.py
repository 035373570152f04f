"""Numbers as people say them."""

import pytest

from retain.domain.quantities import quantities


def is_same(said, stated):
    wanted = quantities(stated)[0]
    return any(wanted.is_same(other) for other in quantities(said))


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("15 minutes expiry", "a 15-minute expiry"),
        ("500 rows at a time", "500-row batches"),
        ("keep it at 2 GB", "the limit is 2GB"),
        ("keep it at 2 GB", "two gigabytes"),
        ("8 hrs", "eight hours"),
        ("starts at 500 ms", "from half a second"),
        ("make it 15", "every 15 seconds"),
        ("make it 120", "after two minutes"),
        ("max.poll.interval.ms is 60000", "a limit of 60 s"),
        ("ah its v1.8.2", "version 1.8.2"),
        ("python 3.11.4", "Python 3.11"),
        ("thats 3,960", "of 3960"),
        ("2 million rows", "2,000,000 rows"),
        ("11k", "11,000"),
        ("1.2m rows", "1.2 million rows"),
        ("lr at 3e-4", "a learning rate of 0.0003"),
        ("monday 18:00", "Monday 6 pm"),
        ("noon", "12:00"),
        ("standup is 9:30", "9:30 am"),
        ("never merge after 3", "after 15:00"),
        ("for an hour", "one hour"),
        ("6.8 ms per frame", "6.8 ms/frame"),
        ("4%", "4 percent"),
        ("the 12th", "on the 12th"),
        ("心跳是200ms", "200 ms"),
    ],
)
def test_the_same_number_in_another_form(said, stated):
    assert is_same(said, stated)


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("15 minutes", "15 seconds"),
        ("2 GB", "2 TB"),
        ("speed 2.5 m/s", "2.5 seconds"),
        ("4 uA asleep", "4 mA"),
        ("version 1.8", "version 1.9"),
        ("6 am", "18:00"),
        ("9:30", "9:45"),
        ("last 1h", "for one day"),
        ("1,000,001 rows", "1,000,002 rows"),
    ],
)
def test_another_number_or_unit(said, stated):
    assert not is_same(said, stated)


def test_what_may_be_no_number_is_loose():
    assert [found.is_loose for found in quantities("half of the team, and one of the two")] == [True, True, False]
