"""Claims: which details make two near-equal texts different, and when texts are the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retain.domain.claims import Signature, fingerprint, jaccard, same_claim, signature

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def test_a_signature_holds_what_a_paraphrase_must_keep():
    text = "We do not run Redis v7.2 on port 6379 with get_user() from src/auth/token.py"
    assert signature(text) == Signature(1, ("7.2", "6379"), ("get_user", "src/auth/token.py"), ("redis",))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("We use Redis", "we use redis."),
        ("always use tabs", "Use tabs, always"),
        ("don't commit secrets", "Do not commit secrets"),
        ("runs on Python v3.11", "runs on Python 3.11"),
        ("the API has two workers", "The API has 2 workers"),
        ("costs 1,000 credits", "costs 1000 credits"),
        ("call `get_user`", "call get_user"),
    ],
)
def test_the_same_claim(a, b):
    assert same_claim(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("we use tabs", "we do not use tabs"),
        ("we can't deploy", "we can deploy"),
        ("item 3", "item 4"),
        ("released on 2024-05-01", "released on 2024-06-01"),
        ("the API listens on 8080", "the API listens on 9090"),
        ("waits 30s", "waits 30ms"),
        ("see auth/token.py", "see auth/user.py"),
        ("getUser is slow", "getOrder is slow"),
        ("deploy to Oslo", "deploy to Bergen"),
        ("Alice reviews Bob", "Bob reviews Alice"),
        ("run with --force", "run with --dry-run"),
    ],
)
def test_another_claim(a, b):
    assert not same_claim(a, b)


@pytest.mark.parametrize("other", ["  use   tabs ", "use tabs.", "use\ntabs!"])
def test_spacing_and_a_closing_stop_leave_the_fingerprint(other):
    assert fingerprint(other) == fingerprint("use tabs")


@pytest.mark.parametrize("other", ["Use tabs", "use tabs?", "use spaces", ""])
def test_case_and_words_change_the_fingerprint(other):
    assert fingerprint(other) != fingerprint("use tabs")


def test_unicode_forms_share_a_fingerprint():
    assert fingerprint("caf\u00e9") == fingerprint("cafe\u0301")


def test_jaccard_of_the_documents_example_is_exactly_point_six():
    assert jaccard("Using Next.js app router", "Project uses Next.js app router") == 0.6


def test_texts_without_tokens_are_not_alike():
    assert jaccard("", "") == jaccard("it is", "it is") == 0.0


def test_scripts_without_spaces_are_compared_by_pairs_of_characters():
    assert jaccard("東京都", "東京") == 0.5


@given(ANY_TEXT, ANY_TEXT)
def test_no_text_is_refused_and_every_text_agrees_with_itself(a, b):
    assert same_claim(a, a)
    assert same_claim(a, b) == same_claim(b, a)
    assert len(fingerprint(a)) == 64
    assert 0 <= jaccard(a, b) <= 1
