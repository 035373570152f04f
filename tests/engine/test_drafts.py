"""What may be stored: every field is checked before anything is written, and secrets are in none of them."""

from datetime import UTC, datetime

import pytest

from retain.domain.memory import Source
from retain.engine.drafts import Draft, GivenEntity, checked, cleaned_text, draft_faults
from retain.errors import InvalidInput

SECRET = "ghp_" + "a1B2" * 9


def nested(depth):
    value = "leaf"
    for _ in range(depth):
        value = [value]
    return value


def test_a_draft_with_everything_is_kept():
    moment = datetime(2020, 5, 1, tzinfo=UTC)
    given = {"title": "Deploys", "category": "decision", "metadata": {"a": [1, {"b": None}]}, "event_time": moment}
    draft = Draft("We deploy", **given)
    assert checked(draft) == (draft, ())


def test_secrets_are_in_no_field():
    draft = Draft(
        "We deploy",
        title=f"Deploys with {SECRET}",
        category=f"ops {SECRET}",
        metadata={f"key {SECRET}": {"deep": [f"also {SECRET}"]}},
    )
    assert SECRET not in repr(checked(draft)[0])


@pytest.mark.parametrize(
    "given",
    [
        {"title": SECRET},
        {"tags": ("ops", SECRET)},
        {"category": SECRET},
        {"metadata": {"deep": [{SECRET: 1}]}},
        {"metadata": {"deep": [SECRET]}},
        {"source": Source(file=f"/home/{SECRET}")},
        {"entities": (GivenEntity(SECRET, "key", "names"),)},
    ],
    ids=lambda given: next(iter(given)),
)
def test_a_secret_is_reported_whichever_field_it_was_in(given):
    assert checked(Draft("We deploy", **given))[1] == ("github_token",)


def test_a_session_that_is_named_by_a_secret_is_refused_without_repeating_it():
    with pytest.raises(InvalidInput, match=r"session_id: holds a secret \(github_token\)") as bad:
        checked(Draft("We deploy", session=SECRET))
    assert SECRET not in bad.value.message


@pytest.mark.parametrize("text", ["\u200b", " \u2060\ufeff\n", "\u200d"])
def test_what_has_no_width_is_empty(text):
    faults = draft_faults(Draft(text, title=text, tags=(text,)))
    assert [fault.field for fault in faults] == ["content", "tags[0]", "title"]


def test_joiners_inside_of_words_stay():
    assert checked(Draft("x", title="می\u200cخواهم"))[0].title == "می\u200cخواهم"


def test_all_that_is_wrong_is_told_with_what_only_shows_after_cleaning():
    faults = draft_faults(Draft("<private>all</private>", title=""))
    assert [fault.field for fault in faults] == ["title", "content"]


def test_a_title_is_one_line():
    assert checked(Draft("We deploy", title=" Deploys\n and\x07 more "))[0].title == "Deploys and more"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", "x" * 201),
        ("title", " \x07 "),
        ("title", "\ud800"),
        ("category", "x" * 101),
        ("category", " "),
        ("metadata", {"text": "x" * 100_001}),
        ("metadata", {"number": float("nan")}),
        ("metadata", {"half": "\ud800"}),
        ("metadata", {"thing": object()}),
        ("metadata", {"deep": nested(60)}),
        ("metadata", {"deep": nested(100_000)}),
        ("event_time", datetime(2020, 5, 1)),
        ("event_time", datetime(1, 1, 1, tzinfo=UTC)),
        ("event_time", datetime(9999, 12, 31, tzinfo=UTC)),
    ],
)
def test_a_field_that_cannot_be_kept_is_named(field, value):
    with pytest.raises(InvalidInput, match=rf"^{field}"):
        checked(Draft("We deploy", **{field: value}))


def test_metadata_may_be_deep_but_not_without_end():
    assert checked(Draft("We deploy", metadata={"deep": nested(49)}))[0].metadata == {"deep": nested(49)}


def test_what_nobody_sees_is_not_kept_and_hides_no_secret():
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    draft = Draft(
        f"Deploys{tags} go\u202e through\u200b staging",
        title=f"Deploys{tags}",
        tags=("de\u200bploy",),
        metadata={f"no{tags}te": ["x\u2066y"]},
        source=Source(file="src/\u202emain.py"),
        entities=(GivenEntity("Sta\u200bging", "ser\u2060vice", "us\u00ades"),),
    )
    clean, removed = checked(draft)
    assert clean.text == "Deploys go through staging"
    assert (clean.title, clean.tags, clean.source.file) == ("Deploys", ("deploy",), "src/main.py")
    assert clean.metadata == {"note": ["xy"]}
    assert clean.entities == (GivenEntity("Staging", "service", "uses"),)
    assert removed == ("hidden_characters",)
    hidden, removed = checked(Draft("the token is ghp_\u200b" + "a1B2" * 9))
    assert "a1B2" not in hidden.text and "github_token" in removed


@pytest.mark.parametrize("text", ["👨‍👩‍👧 joined", "می‌خواهم", "क्‍ष", "❤️", "שלום", "one\r\ntwo\n\tthree", "🏴󠁧󠁢󠁥󠁮󠁧󠁿 won"])
def test_what_people_write_is_kept_as_it_is(text):
    assert checked(Draft(text)) == (Draft(text), ())


@pytest.mark.parametrize("text", ["\u3164", "\u200b\u2060 ", "\U000e0041\U000e0042", "\u202e\u202c"])
def test_a_text_in_which_nothing_is_seen_is_empty(text):
    with pytest.raises(InvalidInput, match="content: is empty"):
        checked(Draft(text))


def test_a_session_is_not_named_in_what_nobody_sees():
    with pytest.raises(InvalidInput, match="session_id: holds characters that nobody sees"):
        checked(Draft("x", session="mon\u200bday"))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("\n\n  We deploy on Mondays \n", "We deploy on Mondays"),
        ("\n \n    if done:\n        stop()\n\n", "    if done:\n        stop()"),
        ("\tone\n\ttwo", "\tone\n\ttwo"),
        ("one\r\ntwo\r\n", "one\r\ntwo"),
        ("\n<private>x</private>\n  a\n  b", "[redacted:private_span]\n  a\n  b"),
    ],
)
def test_blank_lines_around_a_text_go_and_the_indentation_of_its_lines_stays(given, kept):
    assert cleaned_text(given)[0] == kept
