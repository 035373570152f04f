"""Pausing capture: what is said meanwhile is never captured, what was said before and after is."""

import json
import stat
import time
from datetime import UTC, datetime

import pytest

from fake_apis import FakeApis, Turn
from retain import pauses
from retain.domain.time import iso
from surfaces.command import Command
from surfaces.hooking import Client
from surfaces.reviewed_by import captured_by
from surfaces.working import captured, cursor, hand_over, texts, work
from talking import answer, append, call, prompt, result, write

BLUE = "Remember that the staging database is called blue."
RED = "Remember that the production database is called red."
GREEN = "Remember that the test database is called green."


@pytest.fixture
def client(tmp_path):
    return Client.in_folder(tmp_path)


@pytest.fixture
def retain(client):
    """The command of the same person, on the same memory."""
    return Command(client.folder)


def stamped(line, at):
    return line | {"timestamp": iso(datetime.fromtimestamp(at, UTC))}


def said(text, at):
    return stamped(prompt(text), at)


def talk(*texts_and_times):
    """A prompt and its answer for each."""
    for text, at in texts_and_times:
        yield said(text, at)
        yield stamped(answer("Noted."), at + 0.1)


@pytest.fixture
def transcript(client):
    return client.folder / "projects" / "s1.jsonl"


def stop(client, transcript, **changed):
    return client("Stop", client.sample("Stop", transcript_path=str(transcript), session_id="s1", **changed))


def names(client):
    return {color for color in ("blue", "red", "green") for text in texts(client) if color in text}


class TestTheCommands:
    def test_pause_and_resume_say_what_they_did(self, retain, client):
        done = retain("pause")
        assert (done.code, str(client.shop) in done.out, "never captured" in done.out) == (0, True, True)
        assert retain("resume").out == f"capture goes on for {client.shop}\n"

    def test_a_second_time_changes_nothing(self, retain):
        first, again = retain("pause", "--json").body, retain("pause", "--json").body
        assert first == again | {"since": first["since"]} and first["paused"] is True
        retain("resume")
        assert retain("resume").out == "capture was not paused here\n"

    def test_it_is_kept_in_the_home_and_for_its_owner_alone(self, retain, client):
        retain("pause")
        assert stat.S_IMODE((client.home / "paused.json").stat().st_mode) == 0o600
        assert [path.name for path in client.shop.iterdir()] == [".git"]

    def test_every_project_at_once(self, retain, client, tmp_path):
        (tmp_path / "blog").mkdir()
        retain("pause")
        retain("pause", "--all")
        done = retain("resume")
        assert (done.code, "retain resume --all" in done.err) == (5, True)
        assert retain("resume", "--all", "--project", str(tmp_path / "blog")).code == 0
        assert pauses.paused_since(str(client.home), None) is None

    def test_where_there_is_no_project_it_says_what_to_do(self, retain, client):
        done = retain("pause", "--project", str(client.folder / "user"))
        assert (done.code, "--all" in done.err) == (5, True)

    def test_status_and_doctor_tell(self, retain, client):
        assert retain("status", "--json").body["capture_paused_since"] is None
        retain("pause")
        assert "paused since" in retain("status").out
        assert retain("status", "--json").body["capture_paused_since"]
        told = [check for check in retain("doctor", "--json").body["checks"] if "paused" in check["note"]]
        assert [(check["state"], str(client.shop) in check["note"]) for check in told] == [("warn", True)]

    def test_a_file_that_nobody_can_read_is_told_and_pauses_everything(self, retain, client):
        for broken in (
            "",
            "[]",
            '{"pauses": [{"project": "x"}]}',
            '{"pauses": [{"project":"x","path":"","from":{},"to":1}]}',
        ):
            client.home.mkdir(exist_ok=True)
            (client.home / "paused.json").write_text(broken)
            assert retain("pause").code == retain("resume").code == 5
            assert pauses.paused_since(str(client.home), None) is not None
        assert any("cannot be read" in check["note"] for check in retain("doctor", "--json").body["checks"])


class TestHooks:
    def test_nothing_is_spooled_and_no_worker_starts(self, client, retain, transcript):
        retain("pause")
        write(transcript, *talk((BLUE, time.time()), ("thanks", time.time())))
        for event in ("Stop", "PreCompact", "SessionEnd"):
            client(event, client.sample("Stop", hook_event_name=event, transcript_path=str(transcript)))
        assert (client.spooled(), client.is_quiet(), texts(client)) == ([], True, [])

    def test_another_project_goes_on(self, client, retain, transcript, tmp_path):
        (tmp_path / "blog").mkdir()
        retain("pause", "--project", str(tmp_path / "blog"))
        write(transcript, *talk((BLUE, time.time()), ("thanks", time.time())))
        stop(client, transcript)
        client.settle()
        assert names(client) == {"blue"}

    def test_what_is_remembered_is_still_shown(self, client, retain):
        captured_by(client, "the staging database is called blue")
        retain("pause")
        answered = client("SessionStart", client.sample("SessionStart.startup")).answer
        assert "called blue" in answered["hookSpecificOutput"]["additionalContext"]

    def test_the_first_line_of_a_session_says_so(self, client, retain):
        retain("pause")
        answered = client("SessionStart", client.sample("SessionStart.startup")).answer
        assert "capture is paused here" in answered["systemMessage"]
        retain("resume")
        assert "systemMessage" not in client("SessionStart", client.sample("SessionStart.startup")).answer

    def test_with_capture_off_it_says_nothing(self, client, retain):
        retain("pause")
        started = client("SessionStart", client.sample("SessionStart.startup"), env={"RETAIN_CAPTURE": "false"})
        assert "systemMessage" not in started.answer

    def test_the_conversation_of_a_client_that_died_in_a_pause_is_not_picked_up(self, client, retain, transcript):
        write(transcript, *talk((BLUE, time.time())))
        gone = {
            "session": "s0",
            "transcript": str(transcript),
            "project_dir": str(client.shop),
            "cwd": str(client.shop),
        }
        (client.home / "run" / "clients").mkdir(parents=True)
        (client.home / "run" / "clients" / "999999999.json").write_text(json.dumps(gone))
        retain("pause")
        elsewhere = client.folder / "blog"
        elsewhere.mkdir()
        started = client.sample("SessionStart.startup", cwd=str(elsewhere))
        client("SessionStart", started, env={"CLAUDE_PROJECT_DIR": str(elsewhere)})
        client.settle()
        assert (client.spooled(), texts(client)) == ([], [])


class TestWhatIsSaidMeanwhile:
    def test_it_is_not_captured_after_the_pause_either(self, client, retain, transcript):
        now = time.time()
        pauses.begin(str(client.home), "x", "elsewhere", now - 500)
        write(transcript, *talk((BLUE, now - 100)))
        retain("pause")
        append(transcript, *talk((RED, time.time()), ("it has the password", time.time())))
        stop(client, transcript)
        retain("resume")
        append(transcript, *talk((GREEN, time.time() + 1), ("thanks", time.time() + 1)))
        stop(client, transcript)
        client.settle()
        assert names(client) == {"blue", "green"}

    def test_a_conversation_that_was_all_in_a_pause_is_passed_by_for_good(self, client, retain, transcript):
        retain("pause")
        write(transcript, *talk((RED, time.time()), ("thanks", time.time())))
        retain("resume")
        assert captured(client, transcript, "SessionEnd") == []
        assert cursor(client, transcript).offset == transcript.stat().st_size
        (client.home / "paused.json").unlink()
        assert captured(client, transcript, "SessionEnd") == []

    def test_what_was_handed_over_before_waits_until_the_pause_is_over(self, client, retain, transcript):
        write(transcript, *talk((BLUE, time.time() - 5), ("thanks", time.time() - 5)))
        hand_over(client, transcript, "SessionEnd")
        retain("pause")
        append(transcript, *talk((RED, time.time())))
        for _ in range(5):
            work(client)
        assert (texts(client), len(client.spooled())) == ([], 1)
        retain("resume")
        work(client)
        assert (names(client), client.spooled()) == ({"blue"}, [])

    @pytest.mark.parametrize("paused", [True, False])
    def test_an_answer_that_the_client_had_not_written_down_is_left_out_too(self, client, retain, transcript, paused):
        write(transcript, *talk((BLUE, time.time() - 5)), said("And production?", time.time() - 4))
        spoken_at = time.time() - 3
        if paused:
            pauses.begin(str(client.home), pauses.EVERYWHERE, "", spoken_at - 0.5)
            pauses.end(str(client.home), pauses.EVERYWHERE, spoken_at + 0.5)
        hand_over(client, transcript, message="That one is called red.", at=spoken_at)
        with FakeApis(Turn("[]"), Turn("[]")) as apis:
            chosen = {"RETAIN_LLM": "openai", "RETAIN_LLM_URL": f"{apis.url}/v1", "RETAIN_LLM_MODEL": "toy"}
            work(client, **chosen, RETAIN_LLM_KEY="k")
            asked = json.dumps(apis.bodies())
        assert ("called blue" in asked, "called red" in asked) == (True, not paused)

    def test_what_was_said_in_it_is_no_ground_for_what_is_said_later(self, client, retain, transcript):
        retain("pause")
        asked = "Should we keep sessions in Redis or in Postgres? I suggest Redis, because sessions expire there."
        write(transcript, said("Where do sessions go?", time.time()), stamped(answer(asked, message="m1"), time.time()))
        retain("resume")
        later = time.time() + 1
        append(transcript, *talk(("yes, do that", later), ("thanks", later), ("bye", later)))
        found = captured(client, transcript, "SessionEnd")
        assert [text for text in found if "Redis" in text] == []

    def test_a_line_without_a_time_is_as_old_as_the_one_before(self, client, retain, transcript):
        write(transcript, *talk((BLUE, time.time() - 60)))
        retain("pause")
        append(transcript, said("hello", time.time()), prompt(RED) | {"timestamp": None})
        retain("resume")
        append(transcript, *talk((GREEN, time.time() + 1)), prompt("thanks") | {"timestamp": "soon"})
        assert (len(captured(client, transcript, "SessionEnd")), names(client)) == (2, {"blue", "green"})

    def test_without_any_time_nothing_is_captured_where_there_was_a_pause(self, client, retain, transcript):
        retain("pause"), retain("resume")
        write(transcript, prompt(RED) | {"timestamp": None}, answer("Ok.") | {"timestamp": None})
        assert captured(client, transcript, "SessionEnd") == []

    @pytest.mark.parametrize("paused", [True, False])
    def test_subagents_are_not_read_either(self, client, retain, transcript, paused):
        if paused:
            retain("pause")
        write(transcript, *talk(("hello", time.time())))
        fails = "Exit code 1\nError: Cannot find module 'left-pad'"
        work_aside = (
            call("t1", "Bash", {"command": "npm test"}, isSidechain=True),
            result("t1", fails, failed=True, isSidechain=True),
            call("t2", "Bash", {"command": "npm install left-pad"}, isSidechain=True),
            result("t2", "added 1 package", isSidechain=True),
            call("t3", "Bash", {"command": "npm test"}, isSidechain=True),
            result("t3", "12 passing", isSidechain=True),
        )
        aside = transcript.with_suffix("") / "subagents" / "agent-a1.jsonl"
        write(aside, *(stamped(line, time.time()) for line in work_aside))
        retain("resume")
        assert bool(captured(client, transcript, "SessionEnd")) is not paused
