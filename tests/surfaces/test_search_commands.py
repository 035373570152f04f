"""search at the terminal with counts, reasons, thresholds and orders of one's choice."""

import re

import pytest
from rich.text import Text

from surfaces.command import Command

TERMINAL = {"FORCE_COLOR": "1", "COLUMNS": "80"}


@pytest.fixture
def retain(tmp_path):
    return Command.in_folder(tmp_path)


@pytest.fixture
def library(retain):
    """Three memories about tokens, one about something else."""
    retain.stored("Tokens are signed with RS256 and checked by the gateway", "--tag", "auth", "--tag", "security")
    retain.stored("Rotate tokens every night with the rotation job", "--type", "procedural", "--tag", "auth")
    retain.stored("Tokens of the mobile app last a week. " + "The app asks again. " * 20, "--tag", "mobile")
    retain.stored("The cache is Redis")
    return retain


def test_facets_count_all_that_matched_not_what_is_shown(library):
    done = library("search", "tokens", "--facets", "--limit", "1")
    assert done.code == 0
    assert "3 matched in all" in done.out
    assert "2 documentation, 1 pattern" in done.out
    assert "2 #auth, 1 #mobile, 1 #security" in done.out
    assert "2 short (under 200 characters), 1 medium (up to 1,000)" in done.out


def test_facets_as_json_add_up_to_the_total(library):
    body = library("search", "tokens", "--facets", "--json").body
    assert sum(body["facets"]["types"].values()) == sum(body["facets"]["content_length"].values()) == body["total"] == 3


def test_an_explained_hit_shows_terms_that_add_up_reasons_and_the_passage(library):
    done = library("search", "tokens", "--explain", "--limit", "1")
    score, terms = re.search(r"^    (\d\.\d\d) = (.*)$", done.out, re.MULTILINE).groups()
    assert float(score) == pytest.approx(sum(map(float, re.findall(r"\d\.\d\d", terms))), abs=0.02)
    assert "\n    - " in done.out
    assert re.search(r"\*\*[Tt]okens\*\*", done.out)


def test_what_matched_is_bold_on_a_terminal(library):
    out = library("search", "tokens", "--explain", **TERMINAL).out
    assert re.search(r"\x1b\[1m[Tt]okens\x1b\[0m", out)
    assert "**" not in out


def test_asterisks_that_were_written_are_shown_on_a_terminal_too(retain):
    retain.stored("Call connect(**options, **secrets) with tokens, as **strictly required** there")
    out = Text.from_ansi(retain("search", "tokens", "--explain", **TERMINAL).out).plain
    assert "connect(**options, **secrets) with tokens" in out and "**strictly required**" in out


def test_explained_and_counted_go_together_as_json(library):
    body = library("search", "tokens", "--explain", "--facets", "--json").body
    first = body["results"][0]
    assert sum(first["score_breakdown"].values()) == pytest.approx(first["relevance_score"], abs=0.001)
    assert first["match_reasons"] and "**" in first["highlighted_content"]
    assert body["facets"]["tags"]["auth"] == 2


def test_a_search_can_be_sorted_by_age_or_type(library):
    rows = library("search", "tokens", "--sort", "created_at", "--json").body["results"]
    times = [row["created_at"] for row in rows]
    assert times == sorted(times, reverse=True) and len(times) == 3
    types = [row["type"] for row in library("search", "tokens", "--sort", "type", "--json").body["results"]]
    assert types == ["documentation", "documentation", "pattern"]


def test_a_threshold_leaves_out_what_is_less_alike(library):
    assert library("search", "tokens", "--threshold", "1").code == 1
    assert library("search", "tokens", "--threshold", "0").code == 0


@pytest.mark.parametrize("value", ["1.1", "-0.1", "nan", "high"])
def test_a_threshold_outside_its_bounds_is_refused(library, value):
    assert library("search", "tokens", "--threshold", value).code == 2


def test_an_explained_search_takes_every_type(library):
    rows = library("search", "tokens", "--type", "documentation", "--sort", "relevance", "--json").body["results"]
    assert {row["type"] for row in rows} == {"documentation"} and len(rows) == 2
    plain = library("search", "tokens", "--type", "documentation")
    assert plain.code == 2 and "--explain" in plain.err and "--threshold" in plain.err


def test_a_search_that_matches_nothing_says_so_and_ends_with_one(library):
    done = library("search", "xylophone", "--facets", "--threshold", "0.9")
    assert (done.code, done.out.count("\n")) == (1, 1)


def test_a_search_without_the_flags_answers_as_before(library):
    assert set(library("search", "tokens", "--json").body) == {"results", "count", "total_matched", "warnings"}


def test_without_a_model_words_are_compared_and_the_reader_is_told(library):
    done = library("search", "tokens", "--explain", RETAIN_EMBEDDING_MODEL="off")
    assert done.code == 0
    assert "**" in done.out and "\nnote: " in done.out
