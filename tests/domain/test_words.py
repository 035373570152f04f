"""Index terms: folded, split and stemmed the same way for a text and for a question about it."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retain.domain.words import STOP_WORDS, query_terms, terms

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The deployments were failing", "the deploy were fail"),
        ("getUserName", "getusernam get user name"),
        ("user_id", "userid user id"),
        ("HTTPServer2", "httpserver2 http server 2"),
        ("kebab-case", "kebabcas kebab case"),
        ("pkg.module.func", "pkgmodulefunc pkg modul func"),
        ("src/auth/user_token.py", "srcauthusertokenpi usertokenpi usertoken src auth user token py"),
        ("URLs of iOS", "url of io os"),
        ("3.11", "3d11 3 11"),
        ("v3.11", "3d11 v3 3 11"),
        ("2024-05-01", "2024d05d01 2024 05 01"),
        ("commit 3f2a9bc", "commit 3f2a9bc"),
        ("C++ or C#", "cpp or csharp"),
        ("don't ask the user's cat", "dont ask the user cat"),
        ("Ünïcode straße l'eau", "unicod strass eau"),
        ("東京都 猫", "東京 京都 猫"),
        ("Python入門", "python 入門"),
        ("한국어", "한국 국어"),
        ("ไทย", "ไท ทย"),
        ("Привет, мир", "привет мир"),
        ("हिन्दी", "हिन्दी"),
        ("שָׁלוֹם", "שלום"),
        ("ok 👍🏽 🇫🇷", "ok 👍 🇫🇷"),
        ("ﬁle １２", "file 12"),
        ("a\ud800b \x00", "a b"),
        ("...", ""),
    ],
)
def test_terms_of(text, expected):
    assert terms(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "question"),
    [("getUserName", "getusername"), ("utf-8", "utf8"), ("token.py", "TOKEN.PY"), ("Running v3.11", "runs 3.11")],
)
def test_a_question_meets_the_text_however_it_is_written(text, question):
    assert query_terms(question)[0] in terms(text)


def test_terms_keep_repeats_and_order():
    assert terms("tabs and tabs") == ["tab", "and", "tab"]


def test_a_question_loses_its_stop_words_and_repeats():
    question = "What's the port of the API, and why don't we use port 80?"
    assert query_terms(question) == ["port", "api", "us", "80"]


def test_a_question_of_stop_words_keeps_them():
    assert query_terms("what is it") == ["what", "is", "it"]


def test_using_is_a_stop_word_and_uses_is_not():
    assert "using" in STOP_WORDS
    assert "uses" not in STOP_WORDS


def test_a_blob_does_not_become_a_huge_term():
    assert max(map(len, terms("Ab3/" * 20_000 + " " + "x" * 100_000))) <= 64


@given(ANY_TEXT)
def test_terms_are_free_of_spaces_and_ascii_punctuation_for_any_text(text):
    for term in terms(text) + query_terms(text):
        assert term
        for letter in term:
            assert letter.isalnum() or unicodedata.category(letter) in {"Mn", "Mc", "Me", "So", "Cn"}, term


@given(ANY_TEXT)
def test_terms_joined_by_spaces_are_the_same_terms_again_for_a_plain_tokenizer(text):
    found = terms(text)
    assert " ".join(found).split(" ") == (found or [""])
    " ".join(found).encode()
