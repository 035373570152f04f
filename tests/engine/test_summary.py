"""Summaries: what developers note, said again in a sentence or two."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retain.domain.words import query_terms
from retain.engine.lifecycle.summary import LONGEST, extended, is_preference, recurring, summary, themes

AUTH = (
    "The auth service uses JWT access tokens signed with RS256.",
    "Access tokens of the auth service expire after 15 minutes.",
    "The auth service stores refresh tokens in Redis for 30 days.",
    "JWT validation of the auth service lives in src/auth/verify.py.",
)
GRPC = (
    "User: we decided to use gRPC for inter-service communication",
    "Today we moved the orders service from REST to gRPC.",
    "We chose gRPC over REST because of streaming and typed contracts.",
    "The gRPC proto files live in proto/orders/v1.",
)
FLAKY = (
    "fixed flaky test test_login_timeout by freezing the clock",
    "test_login_timeout was flaky on CI because it slept for 2 seconds",
    "2026-03-02 14:05: flaky login test again on CI; rerun passed",
    "Marked test_login_timeout as stable after 50 green runs.",
)
DEPLOY = (
    "Deploy to staging with `make deploy ENV=staging`.",
    "Deploying to production needs approval from Dana.",
    "[10:32] Deploys to production run every Tuesday at 10:00 UTC via GitHub Actions.",
    "Assistant: The production deploy failed because the DATABASE_URL secret was missing.",
)
ERRORS = (
    "The user prefers Result types over exceptions for error handling.",
    "User asked to wrap all errors in AppError with a code.",
    "User wants error handling to log the request id.",
)
TIMEOUT = (
    "The API client timeout is 30 seconds.",
    "API client retries three times with exponential backoff.",
    "Raised the API client timeout to 60 seconds because uploads were cut off.",
    "The API client timeout is 60 seconds now.",
)
CLUSTERS = {
    "auth": (
        AUTH,
        (0.84, 0.83, 0.78, 0.78),
        "The auth service uses JWT access tokens signed with RS256 and stores refresh tokens in Redis for 30 days; "
        "access tokens of the auth service expire after 15 minutes. "
        "JWT validation of the auth service lives in src/auth/verify.py.",
    ),
    "grpc": (
        GRPC,
        (0.80, 0.77, 0.80, 0.67),
        "We chose gRPC over REST because of streaming and typed contracts, and decided to use gRPC for inter-service "
        "communication; the gRPC proto files live in proto/orders/v1.",
    ),
    "flaky": (
        FLAKY,
        (0.87, 0.89, 0.80, 0.85),
        "test_login_timeout was flaky on CI because it slept for 2 seconds. Fixed flaky test test_login_timeout by "
        "freezing the clock and marked test_login_timeout as stable after 50 green runs.",
    ),
    "deploy": (
        DEPLOY,
        (0.80, 0.83, 0.77, 0.70),
        "Deploying to production needs approval from Dana; deploys to production run every Tuesday at 10:00 UTC via "
        "GitHub Actions. The production deploy failed because the DATABASE_URL secret was missing. "
        "Deploy to staging with `make deploy ENV=staging`.",
    ),
    "errors": (
        ERRORS,
        (),
        "The user prefers Result types over exceptions for error handling, asked to wrap all errors in AppError with "
        "a code and wants error handling to log the request id.",
    ),
    "timeout": (
        TIMEOUT,
        (0.93, 0.70, 0.85, 0.94),
        "The API client timeout is 60 seconds now, because uploads were cut off; "
        "API client retries three times with exponential backoff.",
    ),
}
CONNECTIVES = {"and", "the", "recurring", "question", "preference"}


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_reads_like_a_note_that_a_person_wrote(name):
    texts, near, said = CLUSTERS[name]
    assert summary(texts, near) == said


@pytest.mark.parametrize("name", CLUSTERS)
def test_no_word_is_invented(name):
    texts, near, _ = CLUSTERS[name]
    said = set(re.findall(r"\w+", summary(texts, near).lower()))
    assert said <= set(re.findall(r"\w+", " ".join(texts).lower())) | CONNECTIVES


def test_paraphrases_are_said_once():
    texts = (
        "Debugged the login flow: the session cookie expires too early.",
        "The login flow breaks because the session cookie expires early.",
        "Login flow: the session cookie expires too early",
    )
    assert summary(texts) == "The login flow breaks because the session cookie expires early."


def test_the_reason_that_another_gives_joins_the_lead():
    texts = ("Run `make lint` before pushing.", "Run make lint before each push because CI rejects unformatted code")
    assert summary(texts, (0.9, 0.8)) == "Run `make lint` before pushing, because CI rejects unformatted code."


def test_notes_that_differ_in_a_number_are_counted_up():
    texts = ("Finished task 3 of the importer.", "Finished task 4 of the importer.", "Finished task 5 of the importer.")
    assert summary(texts) == "Finished task 3, 4 and 5 of the importer."


def test_what_was_done_is_told_in_order():
    texts = ("Added a cache for prices.", "Bumped the cache to 10 minutes.", "Removed the cache for stock levels.")
    told = "Added a cache for prices, bumped the cache to 10 minutes and removed the cache for stock levels."
    assert summary(texts, (0.7, 0.9, 0.8)) == told


def test_of_two_that_clash_the_newer_is_told():
    texts = ("The API port is 8080.", "The API port is 9090.", "The API port is 9090 on every host.")
    assert "8080" not in summary(texts, (0.99, 0.9, 0.9))


def test_a_sentence_that_points_back_stays_with_what_it_points_to():
    texts = (
        "The importer reads CSV files in chunks. It takes 40 seconds.",
        "The importer reads CSV files from s3://acme.",
    )
    assert "in chunks. It takes 40 seconds." in summary(texts)


def test_questions_are_said_to_be_questions():
    texts = ("How do we handle errors in the API client?", "How are errors handled by the API client?")
    assert summary(texts) == "Recurring question: how are errors handled by the API client?"


def test_long_texts_end_at_a_clause():
    long = "The importer reads every file, " + ", ".join(f"then checks column {n} of the table" for n in range(40))
    said = summary((long, long + ".", long))
    assert len(said) <= LONGEST
    assert said.endswith("of the table.")


def test_text_in_other_scripts_ends_as_it_should():
    assert summary(("数据库使用 PostgreSQL 16。", "数据库连接池上限是 20。")).endswith("。")


def test_an_earlier_summary_comes_first_and_gains_what_is_new():
    before = "CI fails because the runner has no Docker daemon."
    said = extended(before, ("CI fails on runner ci-7 without a Docker daemon.", before))
    assert said == "CI fails because the runner has no Docker daemon; CI fails on runner ci-7 without a Docker daemon."


def test_an_earlier_summary_that_is_corrected_gives_way():
    assert extended("The API port is 8080.", ("The API port is 9090.",)) == "The API port is 9090."


def test_what_recurs_is_said_after_a_colon():
    assert recurring(("The tests need Docker.", "The tests need Docker to run.")).startswith(
        "Recurring: the tests need"
    )
    assert recurring(ERRORS).startswith("Recurring preference: the user prefers")


def test_themes_are_words_that_a_reader_knows():
    assert themes(AUTH)[0] == "auth service"
    assert "test_login_timeout" in themes(FLAKY)
    assert themes(()) == ()


def test_wording_tells_preferences_from_facts():
    assert is_preference(ERRORS)
    assert not is_preference(AUTH)


@given(st.lists(st.text(max_size=600).filter(str.strip), min_size=1, max_size=8))
def test_any_texts_give_a_summary_of_bounded_length(texts):
    said = summary(texts)
    assert len(said) <= LONGEST
    assert not said or said[-1] in ".!?…。？"


@given(
    st.lists(st.sampled_from([text for texts, _, _ in CLUSTERS.values() for text in texts]), min_size=1, max_size=10)
)
def test_any_mix_of_notes_gives_only_words_of_the_notes(texts):
    said = summary(texts)
    assert len(said) <= LONGEST
    assert set(query_terms(said)) <= {term for text in texts for term in query_terms(text)} | {"recur", "prefer"}
