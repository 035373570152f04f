"""search, ask, key and log at the terminal: what they print, what they refuse, and how they end."""

import json
import stat

import pytest

from fake_apis import FakeApis
from fake_apis import Turn as FakeTurn
from surfaces.command import Command

KEY = "sk-ant-" + "q7Rz" * 8


@pytest.fixture
def retain(tmp_path):
    return Command.in_folder(tmp_path)


@pytest.fixture
def model(retain):
    """A language model that was chosen, on this machine, and what to set to have it asked."""
    with FakeApis() as server:
        yield server, {"RETAIN_LLM": "openai", "RETAIN_LLM_URL": f"{server.url}/v1", "RETAIN_LLM_MODEL": "small"}


# search


def test_search_shows_the_type_and_the_dressed_id(retain):
    id = retain.stored("Stripe webhooks need the raw body")
    done = retain("search", "stripe", "webhooks")
    assert done.code == 0
    assert f"mem_{id.removeprefix('memory:')} · architecture" in done.out


def test_search_for_a_type_leaves_the_others_out(retain):
    retain.stored("Stripe webhooks need the raw body")
    retain.stored("Run stripe listen before testing payments", "--type", "procedural")
    assert [row["type"] for row in retain("search", "stripe", "--type", "pattern", "--json").body["results"]] == [
        "pattern"
    ]


def test_search_that_finds_nothing_says_so_and_ends_with_one(retain):
    done = retain("search", "anything")
    assert (done.code, "Nothing is remembered" in done.out) == (1, True)


def test_search_for_a_type_that_is_not_there_names_those_that_are(retain):
    done = retain("search", "x", "--type", "opinion")
    assert done.code == 2
    assert "architecture" in done.err


# ask


def test_ask_without_a_language_model_lists_passages_with_their_ids_and_says_why(retain):
    id = retain.stored("Stripe webhooks need the raw body")
    done = retain("ask", "how do webhooks work?")
    assert done.code == 0
    assert "no language model was chosen" in done.out
    assert id in done.out


def test_a_key_in_the_environment_is_no_consent(retain, model):
    server, _ = model
    retain.stored("Stripe webhooks need the raw body")
    there = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url, "OPENAI_API_KEY": KEY}
    retain("ask", "how do webhooks work?", **there)
    assert server.seen == []


def test_ask_shows_the_answer_and_its_sources(retain, model):
    server, chosen = model
    id = retain.stored("Stripe webhooks need the raw body")
    server.script(f"They need the raw body [{id}].")
    done = retain("ask", "how do webhooks work?", **chosen)
    assert done.out.startswith(f"They need the raw body [{id}].")
    assert done.out.count(id) == 2


def test_ask_streams_what_comes_before_the_answer_is_whole(retain, model):
    server, chosen = model
    retain.stored("Stripe webhooks need the raw body")
    server.turns = [FakeTurn(text="They need the raw body.", hangs=True)]
    running = retain.spawn("ask", "how do webhooks work?", env=chosen)
    assert running.stdout.read(4) == "They"
    running.kill()
    running.communicate()


def test_an_answer_cannot_take_over_the_terminal(retain, model):
    server, chosen = model
    retain.stored("Stripe webhooks need the raw body")
    server.script("red \x1b[31malert\x07")
    assert not {"\x1b", "\x07"} & set(retain("ask", "how do webhooks work?", **chosen).out)


def test_an_answer_hides_nothing_and_keeps_its_emoji_whole(retain, model):
    server, chosen = model
    retain.stored("Stripe webhooks need the raw body")
    server.script("Raw\u202e \U000e0041body 👨‍👩‍👧‍👦🏳️‍🌈 می‌خواهم")
    assert retain("ask", "how do webhooks work?", **chosen).out.startswith("Raw\ufffd \ufffdbody 👨‍👩‍👧‍👦🏳️‍🌈 می‌خواهم\n")


def test_ask_as_json_is_one_line(retain, model):
    server, chosen = model
    retain.stored("Stripe webhooks need the raw body")
    server.script("Raw.")
    assert retain("ask", "webhooks?", "--json", **chosen).body["answer"] == "Raw."


# key


def test_a_key_is_kept_for_the_user_alone_and_never_shown(retain):
    done = retain("key", "set", stdin=KEY + "\n")
    file = retain.home / "key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert KEY not in done.out + done.err + retain("key", "show", RETAIN_LLM="anthropic").out
    assert "chooses nothing" in done.out


def test_showing_says_where_the_key_was_found(retain):
    retain("key", "set", stdin=KEY)
    body = retain("key", "show", "--json", RETAIN_LLM="anthropic", ANTHROPIC_API_KEY="sk-ant-" + "0" * 30).body
    assert body == {"llm": "anthropic", "origin": "ANTHROPIC_API_KEY", "ends_in": "0000", "kept": True}


@pytest.mark.parametrize("given", ["", "short", "two words of a key", "x" * 501])
def test_what_is_no_key_is_refused_without_repeating_it(retain, given):
    done = retain("key", "set", stdin=given)
    assert done.code == 2
    assert not (retain.home / "key").exists()
    assert not given or given not in done.err


def test_removing_a_key_twice_is_an_error_the_second_time(retain):
    retain("key", "set", stdin=KEY)
    assert (retain("key", "remove").code, retain("key", "remove").code) == (0, 3)


# log


def logged(retain, *lines):
    (retain.home / "logs").mkdir(parents=True)
    (retain.home / "logs" / "hooks.log").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_a_log_with_nothing_in_it_says_how_to_get_one(retain):
    done = retain("log")
    assert (done.code, "retain setup" in done.out) == (1, True)


def test_the_log_shows_what_ran_and_what_failed(retain):
    ran = {"at": "2026-03-02T09:30:00+00:00", "event": "Stop", "ms": 12.0}
    failed = {"at": "2026-03-02T09:31:00+00:00", "event": "worker", "error": "No space left on device"}
    logged(retain, ran, failed)
    assert [row["event"] for row in retain("log", "--json").body["entries"]] == ["Stop", "worker"]
    assert "No space left" in retain("log", "--errors").out
    assert [row["event"] for row in retain("log", "--event", "stop", "--json").body["entries"]] == ["Stop"]


def test_the_log_shows_what_a_model_made_up_and_why_it_was_dropped(retain):
    line = {"why": "nobody said 9", "text": "The limit is 9 GB.\x1b[2J"}
    logged(retain, {"at": "2026-03-02T09:30:00+00:00", "event": "dropped", **line})
    assert retain("log", "--event", "dropped", "--json").body["entries"][0]["why"] == "nobody said 9"
    shown = retain("log").out
    assert "why nobody said 9" in shown
    assert "    The limit is 9 GB." in shown
    assert "\x1b[2J" not in shown


# list and key alone


def test_list_shows_the_newest_first_and_how_many_more_there_are(retain):
    for text in ("One thing is so", "Another thing is so", "A third thing is so"):
        retain.stored(text)
    done = retain("list", "--limit", "2")
    assert done.out.index("A third thing") < done.out.index("Another thing")
    assert "1 more" in done.out
    assert [row["content"] for row in retain("list", "--type", "decision", "--json").body["results"]] == []


def test_key_alone_says_which_one_is_used(retain):
    assert "no language model was chosen" in retain("key").out


def test_what_is_forgotten_leaves_the_summary_at_once(retain):
    id = retain.stored("Deploys happen on Mondays")
    chosen = {"RETAIN_CLAUDE_MD": "true"}
    retain("forget", retain.stored("Something else is so"), **chosen)
    assert "Deploys happen on Mondays" in (retain.project / "CLAUDE.md").read_text()
    retain("forget", id, **chosen)
    assert "Deploys happen on Mondays" not in (retain.project / "CLAUDE.md").read_text()
