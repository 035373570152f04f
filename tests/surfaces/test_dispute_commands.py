"""contradictions at the terminal: what it lists, how it decides, what it refuses, and how it ends."""

from dataclasses import replace

import pytest
from rich.text import Text

from making import START, a_contradiction, a_memory
from retain.domain.changes import ContradictionState
from retain.engine.trust.disputes import Dispute
from retain.surfaces import trust_reports
from retain.surfaces.cli.drawn_disputes import dispute
from surfaces.command import Command

TERMINAL = {"FORCE_COLOR": "1", "COLUMNS": "80"}
NOBODY = "0" * 20


@pytest.fixture
def retain(tmp_path):
    return Command.in_folder(tmp_path)


@pytest.fixture
def port(retain):
    """The id of a contradiction about a port."""
    retain.stored("The API listens on port 8080")
    retain.stored("The API listens on port 9090")
    return one(retain)["contradiction_id"]


def one(retain, *options):
    (found,) = retain("contradictions", "--json", *options).body["contradictions"]
    return found


def shown(ended):
    """What a terminal shows, line by line."""
    return Text.from_ansi(ended.out).plain.splitlines()


def recalled(retain):
    return [each["content"] for each in retain("recall", "port of the API", "--json").body["memories"]]


# Listing


def test_what_is_open_is_listed_with_both_texts_and_why(retain, port):
    done = retain("contradictions", **TERMINAL)
    lines = shown(done)
    assert done.code == 0
    assert lines[0] == f"{port}  open · found just now by rule"
    assert "8080 against 9090" in lines[1]
    assert lines[2] == "  older    The API listens on port 8080"
    assert lines[4] == "  newer    The API listens on port 9090"
    assert "--keep older" in lines[-2]
    assert all(len(line) <= 80 for line in lines)


def test_a_program_reads_the_same(retain, port):
    body = retain("contradictions", "--json").body
    assert body["total"] == 1
    (found,) = body["contradictions"]
    assert (found["state"], found["found_by"], found["resolution"]) == ("open", "rule", None)
    assert [found[side]["content"][-4:] for side in ("older", "newer")] == ["8080", "9090"]
    assert found["older"]["id"].startswith("memory:") and found["older"]["state"] == "active"
    assert "winner" not in found


@pytest.mark.parametrize(
    ("kind", "by_rule", "found_by", "told"),
    [
        ("value", True, "rule", "by rule"),
        ("meaning", True, "judge", "by the judge"),
        ("meaning", False, "llm", "by the language model"),
    ],
)
def test_it_is_told_who_found_it(kind, by_rule, found_by, told):
    found = replace(a_contradiction("c1", "m1", "m2", by_rule=by_rule), kind=kind)
    one = Dispute(found, a_memory("m1"), a_memory("m2"))
    head = next(iter(dispute(one, START)))
    assert (trust_reports.dispute(one)["found_by"], head.plain.endswith(told)) == (found_by, True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "No contradiction is open here."),
        (("--state", "all"), "Nothing that is remembered here contradicts itself."),
        (("--state", "reopened"), "No contradiction here is reopened."),
    ],
)
def test_without_any_it_says_so_and_ends_with_nothing_found(retain, options, told):
    done = retain("contradictions", *options)
    assert (done.code, done.out.strip()) == (1, told)
    assert retain("contradictions", "--json", *options).body == {"contradictions": [], "total": 0}


def test_pages_go_on(retain, port):
    retain.stored("We deploy with Docker")
    retain.stored("We do not deploy with Docker")
    assert "1 contradiction more; --offset 1 goes on." in retain("contradictions", "--limit", "1").out
    assert one(retain, "--offset", "1")["contradiction_id"] == port
    past = retain("contradictions", "--offset", "5")
    assert (past.code, past.out) == (1, "2 contradictions in all; --offset 5 is past the last.\n")


def test_states_are_listed_apart(retain, port):
    retain("contradictions", port, "--keep", "newer")
    assert retain("contradictions").code == 1
    assert one(retain, "--state", "resolved") == one(retain, "--state", "all")


def test_a_long_text_is_cut_in_the_list_and_whole_when_it_is_shown(retain, port):
    newer = one(retain)["newer"]["id"]
    assert retain("edit", newer, f"The API listens on port 9090. {'That took a while. ' * 40}").code == 0
    id = one(retain)["contradiction_id"]
    assert " …\n" in retain("contradictions").out
    assert ("That took a while. " * 40).strip() in retain("contradictions", id).out


# Deciding


def test_one_is_shown_by_id(retain, port):
    done = retain("contradictions", port)
    assert done.code == 0
    assert f"`retain contradictions {port}` decides" in done.out
    assert retain("contradictions", port, "--json").body == one(retain)


def test_keeping_the_newer_supersedes_the_older(retain, port):
    done = retain("contradictions", port, "--keep", "newer", "--because", "moved behind the proxy")
    assert done.code == 0
    assert done.out.startswith(f"decided the newer one holds  {port}")
    assert "superseded by memory:" in done.out
    assert "  because  moved behind the proxy" in done.out
    assert recalled(retain) == ["The API listens on port 9090"]


def test_a_decision_is_told_to_programs(retain, port):
    sides = one(retain)
    body = retain("contradictions", port, "--keep", "older", "--json").body
    assert (body["resolution"], body["by"], body["contradiction_id"]) == ("older", "caller", port)
    assert (body["winner"], body["loser"]) == (sides["older"]["id"], sides["newer"]["id"])


def test_keeping_both_shows_the_conditions_ever_after(retain, port):
    retain("contradictions", port, "--keep", "both", "--when", "8080 on laptops, 9090 in production")
    lines = shown(retain("contradictions", "--state", "context_dependent", **TERMINAL))
    assert lines[0].startswith(f"{port}  context dependent")
    assert "  decided  both hold · just now by hand" in lines
    assert "  when     8080 on laptops, 9090 in production" in lines
    assert len(recalled(retain)) == 2


def test_a_decision_is_shown_with_how_to_take_it_back(retain, port):
    retain("contradictions", port, "--keep", "newer", "--because", "moved")
    out = retain("contradictions", port).out
    assert "  decided  the newer one holds · just now by hand\n  because  moved" in out
    assert f"`retain contradictions {port} --reopen` takes the decision back." in out


def test_one_that_ended_by_an_edit_is_shown_without_a_winner():
    found = a_contradiction("c1", "m1", "m2", state=ContradictionState.RESOLVED, resolved=START, resolved_by="edit")
    ended = Dispute(replace(found, explanation="its text was changed"), a_memory("m1"), a_memory("m2"))
    drawn = [row.plain if isinstance(row, Text) else str(getattr(row, "text", row)) for row in dispute(ended, START)]
    assert "just now by an edit" in drawn and "its text was changed" in drawn
    assert drawn[-1] == "`retain contradictions c1 --reopen` opens it again."
    assert (trust_reports.dispute(ended)["resolution"], "holds" in " ".join(drawn)) == (None, False)


def test_what_was_decided_is_not_decided_by_accident(retain, port):
    retain("contradictions", port, "--keep", "newer")
    done = retain("contradictions", port, "--keep", "older")
    assert (done.code, done.out) == (5, "")
    assert "--reopen" in done.err
    assert recalled(retain) == ["The API listens on port 9090"]


def test_reopening_takes_a_decision_back(retain, port):
    retain("contradictions", port, "--keep", "newer")
    done = retain("contradictions", port, "--reopen")
    assert (done.code, done.out.splitlines()[0]) == (0, f"open again {port}")
    assert one(retain)["state"] == "reopened"
    assert "  before   decided just now by hand" in retain("contradictions").out
    assert len(recalled(retain)) == 2


def test_reopening_and_deciding_go_together(retain, port):
    retain("contradictions", port, "--keep", "newer")
    done = retain("contradictions", port, "--reopen", "--keep", "older")
    assert (done.code, recalled(retain)) == (0, ["The API listens on port 8080"])


def test_without_a_language_model_asking_is_refused_with_a_way_out(retain, port):
    done = retain("contradictions", port, "--ask")
    assert done.code == 5
    assert "retain setup --llm" in done.err and "--keep older" in done.err
    assert one(retain)["state"] == "open"


def test_the_summary_in_claude_md_shows_what_holds(retain, port):
    page = retain.project / "CLAUDE.md"
    retain("contradictions", port, "--keep", "older", RETAIN_CLAUDE_MD="true")
    assert "8080" in page.read_text() and "9090" not in page.read_text()


# Refusing


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--keep", "older"), "name the contradiction"),
        (("--ask",), "name the contradiction"),
        (("--reopen",), "name the contradiction"),
        ((NOBODY, "--state", "all"), "--state is for the list"),
        ((NOBODY, "--keep", "older", "--ask"), "exclude each other"),
        ((NOBODY, "--keep", "both"), "needs --when"),
        ((NOBODY, "--keep", "newer", "--when", "on Mondays"), "--when goes with --keep both"),
        ((NOBODY, "--because", "so"), "go with --keep"),
        (("--because", "so"), "name the contradiction"),
        (("--state", "closed"), "closed"),
        (("--limit", "0"), "limit"),
        (("nix", "--keep", "older"), "contradiction_id: not an id"),
    ],
)
def test_options_that_do_not_fit_are_bad_input(retain, words, told):
    done = retain("contradictions", *words)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_an_unknown_id_is_not_found(retain):
    done = retain("contradictions", NOBODY, "--json")
    assert (done.code, done.body["error"], done.body["contradiction_id"]) == (3, "not_found", NOBODY)


def test_another_persons_contradiction_is_not_found(retain, port):
    assert retain("contradictions", port, "--user", "eve").code == 3
    assert retain("contradictions", "--user", "eve").code == 1
