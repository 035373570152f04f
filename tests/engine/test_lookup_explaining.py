"""Why a match ranks where it does: parts that add up, and reasons that are true of it."""

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import START
from making import a_memory
from retain.domain.listing import Card
from retain.domain.memory import Kind, Source
from retain.domain.words import query_terms, terms
from retain.engine.lookup.explaining import (
    CONTENT,
    RECENCY,
    TAGS,
    TITLE,
    Likeness,
    asking,
    breakdown,
    explain,
    relevance,
)
from retain.ports import Corpus

CLOSE = Likeness(0.62)


def asked(question, documents=1000, **holding):
    wanted = query_terms(question)
    return asking(question, Corpus(documents, 20.0, {term: holding.get(term, 5) for term in wanted}))


def a_card(title="Notes", tags=(), age=0.0, kind=Kind.SEMANTIC):
    when = START - timedelta(days=age)
    return Card("m1", title, "opening", 100, kind, None, tags, when, when)


def parts(question, card, likeness=CLOSE, spoken=0.0):
    return breakdown(asked(question), card, likeness, spoken, START)


def reasons(question, memory, likeness=CLOSE, now=START + timedelta(days=400)):
    return explain(asked(question), memory, {}, likeness, now).reasons


def test_a_title_that_holds_the_question_gives_all_that_a_title_can():
    assert parts("jwt token", a_card("A token, by JWT"))["title_match"] == TITLE
    assert parts("jwt token", a_card("Other things"))["title_match"] == 0


def test_the_text_weighs_more_than_the_title_and_that_more_than_the_tags():
    same = parts("jwt token", a_card("JWT token", ("jwt token",)), Likeness(1.0), 1.0)
    assert same["content_similarity"] > same["title_match"] > same["tag_alignment"] > same["recency_boost"] > 0
    about = parts("jwt token", a_card("Notes"), Likeness(0.9), 0.9)
    named = parts("jwt token", a_card("JWT token"), Likeness(0.3), 0.0)
    assert relevance(about) > relevance(named)


def test_a_rare_word_in_the_title_gives_more_than_a_common_one():
    question = asked("jwt service", jwt=2, servic=900)
    rare, common = (breakdown(question, a_card(title), CLOSE, 0.0, START) for title in ("JWT", "Service"))
    assert rare["title_match"] > common["title_match"] > 0


def test_a_word_that_stands_everywhere_still_counts():
    assert asked("the service", documents=60, servic=900).share({"servic"}) == 1


def test_a_memory_without_a_title_is_compared_by_its_opening():
    card = Card("m1", None, "JWT tokens expire", 17, Kind.SEMANTIC, None, (), START, START)
    assert parts("jwt token", card)["title_match"] == TITLE


def test_tags_are_compared_as_titles_are():
    assert parts("jwt token", a_card(tags=("JWT", "auth-tokens")))["tag_alignment"] == TAGS


def test_recency_halves_with_the_half_life_of_the_kind():
    assert parts("x", a_card())["recency_boost"] == RECENCY
    assert parts("x", a_card(age=30))["recency_boost"] == RECENCY / 2
    assert parts("x", a_card(age=7, kind=Kind.EPISODIC))["recency_boost"] == RECENCY / 2


def test_words_add_to_what_meaning_gives():
    assert parts("x", a_card(), Likeness(1.0), 1.0)["content_similarity"] == CONTENT
    less, more = (parts("x", a_card(), CLOSE, spoken)["content_similarity"] for spoken in (0.0, 0.5))
    assert 0 < less < more


titles = st.lists(st.sampled_from(["jwt", "token", "Cache", "service", "認証"]), max_size=5).map(" ".join)


@given(titles, titles, st.floats(0, 1), st.floats(0, 1), st.floats(0, 4000))
def test_the_parts_of_a_score_add_up_to_it(title, tags, similarity, spoken, age):
    scored = parts("jwt token cache 認証", a_card(title, tuple(tags.split()), age), Likeness(similarity), spoken)
    total = relevance(scored)
    whole = [round(part * 10_000) for part in scored.values()]
    assert sum(whole) == round(total * 10_000)
    assert 0 <= total <= 1
    assert [part * 10_000 for part in scored.values()] == pytest.approx(whole)


def test_reasons_name_the_words_of_the_question_as_it_writes_them():
    memory = a_memory("m1", "We are validating tokens in a middleware", title="JWT Middleware")
    found = reasons("JWT token Validation for middleware", memory)
    assert found[0] == "Title matches 'JWT' and 'middleware'"
    assert found[1] == "Close in meaning (0.62)"
    assert found[2] == "Text matches 'token', 'Validation' and 'middleware'"


def test_a_part_of_a_name_is_called_a_part():
    assert (
        reasons("webhookSecret", a_memory("m1", "Keep the secret"))[0] == "First line matches part of 'webhookSecret'"
    )


def test_what_stands_in_the_first_line_only_is_said_once():
    assert reasons("secret", a_memory("m1", "Keep the secret"), Likeness(0.3)) == (
        "First line matches 'secret'",
        "Loosely related in meaning (0.30)",
    )


def test_tags_and_the_file_are_named_when_they_match():
    memory = a_memory("m1", "x", tags=("Auth", "billing", "api-keys"), source=Source(file="src/auth/login.py"))
    found = reasons("auth keys login", memory)
    assert "Tags 'Auth' and 'api-keys' match" in found
    assert "Its file matches 'auth' and 'login'" in found
    assert "Tag 'billing' matches" in reasons("billing", memory)


def test_age_is_a_reason_only_while_it_is_young():
    memory = a_memory("m1", "x")
    assert "Stored 3 days ago" in reasons("x", memory, now=START + timedelta(days=3))
    assert not any("ago" in reason for reason in reasons("x", memory, now=START + timedelta(days=31)))


def test_an_edited_memory_is_called_updated():
    memory = a_memory("m1", "x", updated=START + timedelta(days=2))
    assert "Updated a day ago" in reasons("x", memory, now=START + timedelta(days=3))


def test_by_words_the_share_of_words_is_the_reason():
    assert any(
        "Has 75% of the question's words" in reason for reason in reasons("a b", a_memory(), Likeness(0.75, True))
    )


def test_a_long_question_is_not_repeated_whole():
    words = "alpha beta gamma delta epsilon zeta eta theta"
    assert reasons(words, a_memory("m1", words))[0].endswith("'epsilon' and 3 more")


def test_a_question_of_stop_words_alone_is_compared_all_the_same():
    assert reasons("to be or not", a_memory("m1", "To be, or not to be"))[0] == "First line matches 'to be or not'"


lines = st.lists(st.sampled_from(["token", "tokens", "cache", "WebhookSecret", "deploy", "the"]), max_size=8).map(
    " ".join
)


@given(lines, lines, lines.filter(query_terms))
def test_every_word_that_a_reason_names_is_there(title, text, question):
    memory = a_memory("m1", text, title=title or None)
    places = {"Title": title, "First line": text, "Text": text}
    found = reasons(question, memory)
    for reason in found:
        place = next((place for place in places if reason.startswith(place)), None)
        for word in re.findall(r"'(\w+)'", reason) if place else ():
            assert set(terms(word)) & set(terms(places[place]))
    assert found
