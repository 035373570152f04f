"""The worker and the judge: what it logs, and what becomes of conversations while there is no judge."""

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from retain.domain.changes import Changes
from retain.stores.sqlite.store import SqliteStore
from surfaces.working import captured, cursor, hand_over, memories, texts, work
from talking import answer, append, prompt, write

SQL = "we decided to use Postgres for the invoices because finance needs SQL"
PNPM = "from now on we use pnpm in this repo, never npm"
BLUE = "Remember that the staging database is called blue."
OFF = {"RETAIN_JUDGE": "off"}
DAY = 86_400


@pytest.fixture
def transcript(client):
    path = client.folder / "projects" / "s1.jsonl"
    return write(path, prompt(SQL, 1), answer("Noted.", 2), prompt("thanks", 3), answer("You are welcome.", 4))


def waited(path, days):
    """The item as if it had been put there so many days ago."""
    since = f"{int((time.time() - days * DAY) * 1e6):016d}"
    item = Path(path)
    item.replace(item.with_name(f"{since}-{item.name.partition('-')[2]}"))


def test_the_log_has_numbers_and_of_what_was_said_only_what_was_judged_worth_it(client, transcript):
    captured(client, transcript)
    judged, entry = client.log()[-2:]
    assert (entry["event"], entry["lines"], entry["stored"], entry["by"]) == ("capture", 4, 1, "judge")
    assert (judged["event"], judged["text"], judged["kept"]) == ("judged", SQL, True)
    assert 0 < judged["threshold"] <= judged["score"] <= 1
    assert "welcome" not in (client.home / "logs" / "hooks.log").read_text()


PROPOSAL = "Should this repo be on npm or on pnpm?"


@pytest.mark.parametrize("is_written", [True, False], ids=["written down", "told by the hook only"])
def test_a_yes_is_understood_though_the_question_was_read_before(client, is_written):
    path = client.folder / "projects" / "s1.jsonl"
    asked = [prompt("Add a login page", 1), answer("Sure.", 2, message="m1"), prompt("and the packages?", 3)]
    write(path, *asked, *([answer(PROPOSAL, 4, message="m2")] if is_written else []))
    captured(client, path, message="" if is_written else PROPOSAL)
    assert texts(client) == []
    append(path, *([] if is_written else [answer(PROPOSAL, 4, message="m2")]), prompt(f"yes, {PNPM}", 5))
    append(path, answer("Done.", 6, message="m3"), prompt("thanks", 7), answer("Welcome.", 8, message="m4"))
    captured(client, path)
    (found,) = texts(client)
    assert found.startswith(f"{PROPOSAL} – ")


def test_without_a_judge_a_conversation_waits_and_is_read_when_there_is_one(client, transcript):
    hand_over(client, transcript)
    for _ in range(4):
        work(client, **OFF)
    assert (texts(client), cursor(client, transcript)) == ([], None)
    assert [item["session"] for item in client.spooled()] == ["s1"]
    told = client.log()[-1]
    assert (told["kept"], "switched off by the setting judge" in told["error"]) == ("in the spool", True)
    work(client)
    assert (len(texts(client)), client.spooled()) == (1, [])


def test_what_was_asked_for_does_not_wait_and_is_stored_once(client, transcript):
    append(transcript, prompt(BLUE, 5), answer("Ok.", 6))
    hand_over(client, transcript)
    for _ in range(3):
        work(client, **OFF)
    (memory,) = memories(client)
    assert (memory.text, memory.reinforced) == ("The staging database is called blue.", 0)
    work(client)
    assert texts(client).count(memory.text) == 1
    assert (len(texts(client)), client.spooled()) == (2, [])


@pytest.mark.parametrize(("days", "waits"), [(29, True), (31, False)])
def test_a_conversation_waits_for_thirty_days(client, transcript, days, waits):
    waited(hand_over(client, transcript), days)
    work(client, **OFF)
    assert (len(client.spooled()), "in the spool" in client.log()[-1]["kept"]) == (int(waits), waits)
    assert not list((client.home / "spool").glob("failed/*.json"))


def test_what_waited_for_longer_is_read_where_there_is_a_judge(client, transcript):
    waited(hand_over(client, transcript), 40)
    work(client)
    assert (len(texts(client)), client.spooled()) == (1, [])


def test_the_worker_compares_what_others_left(client, transcript):
    captured(client, transcript)
    with closing(SqliteStore(client.home / "retain.db")) as store:
        (kept,) = memories(client)
        left = replace(kept, compared=False)
        store.apply(Changes(at=kept.updated, memories=(left,)))
        assert store.uncompared(10)
    append(transcript, prompt("and again", 5), answer("Yes.", 6), prompt("thanks", 7), answer("Welcome.", 8))
    captured(client, transcript)
    assert all(memory.compared for memory in memories(client))
