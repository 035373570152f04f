"""What the user said of one subject on several days: newest first, with days; nothing else moves."""

from retain.domain.digest import Row, within_tokens
from retain.domain.retold import LOOKED_AT, Statement, retold

DAY = 86_400.0
PROBE = "I flash with openocd over the stlink"
CHANGE = "had to switch to the jlink because the stlink let its magic smoke out"


def said(*texts, apart=DAY):
    """Each so much later than the one before it."""
    return [Statement(text, text, place * apart) for place, text in enumerate(texts)]


def test_the_newest_of_one_subject_comes_first_and_each_has_its_day():
    told = retold(said(PROBE, "Deploys go to Fly", CHANGE))
    assert list(told) == [CHANGE, PROBE, "Deploys go to Fly"]
    assert told == {CHANGE: "1970-01-03", PROBE: "1970-01-01", "Deploys go to Fly": ""}


def test_what_was_said_on_one_day_needs_no_day_and_at_one_moment_no_order():
    assert retold(said(PROBE, CHANGE, apart=60.0)) == {CHANGE: "", PROBE: ""}
    assert list(retold(said(PROBE, CHANGE, apart=0.0))) == [PROBE, CHANGE]


def test_a_word_that_many_say_is_no_subject():
    many = said(*(f"the stlink has {thing}" for thing in ("a cable", "a button", "two screws", "no lamp")))
    assert list(retold(many)) == [each.id for each in many] and not any(retold(many).values())


def test_what_others_said_keeps_its_place():
    shown = [Statement("a", PROBE, 0.0), Statement("b", "", DAY)]
    assert retold(shown) == {"a": "", "b": ""}


def test_only_the_best_are_looked_at():
    others = [Statement(f"m{n}", f"word{n}", n * DAY) for n in range(LOOKED_AT)]
    last = Statement("last", "word0", DAY * 99)
    assert next(iter(retold([*others, last]))) == "m0"


def test_the_notes_at_the_start_of_a_session_have_it():
    told = [(PROBE, "user"), (CHANGE, "user"), (f"{PROBE} here", "tool")]
    rows = [
        Row(text, text, category="decision", updated=9 * DAY, said=n * DAY, accesses=9 - n, said_by=whose)
        for n, (text, whose) in enumerate(told)
    ]
    lines = within_tokens(rows, 400, 10 * DAY, lambda row: f" ({row.day})")
    assert [(id, text[-12:]) for text, id in lines if id][:2] == [(CHANGE, "(1970-01-02)"), (PROBE, "(1970-01-01)")]
