"""The worker, as the real process that it is: what it remembers, what it survives, and what it leaves behind."""

import json
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from fake_apis import FakeApis, Turn
from retain.app import Retain
from retain.config import load
from retain.domain.memory import State
from retain.engine.drafts import Draft
from surfaces.waiting import until
from surfaces.working import captured, cursor, hand_over, memories, start, texts, work
from talking import a_long_turn, answer, append, call, prompt, result, write

SQL = "we decided to use Postgres for the invoices because finance needs SQL"
PNPM = "from now on we use pnpm in this repo, never npm"
STATED = "We decided to use Postgres for the invoices because finance needs SQL"
LONG = [each for n in range(40) for each in a_long_turn(n)]


def is_sql(text):
    return "Postgres for the invoices" in text


@pytest.fixture
def transcript(client):
    """A conversation in which something is worth remembering."""
    path = client.folder / "projects" / "s1.jsonl"
    return write(path, prompt(SQL, 1), answer("Noted.", 2), prompt("thanks", 3), answer("You are welcome.", 4))


def said(*contents):
    rows = [{"type": "architecture", "content": c, "tags": [], "supersedes_content": None} for c in contents]
    return json.dumps(rows)


def lines_read(client):
    return [entry["lines"] for entry in client.log() if entry["event"] == "capture"]


def by_model(apis):
    return {
        "RETAIN_LLM": "openai",
        "RETAIN_LLM_URL": f"{apis.url}/v1",
        "RETAIN_LLM_MODEL": "toy",
        "RETAIN_LLM_KEY": "k",
    }


def test_from_the_hook_to_the_memory(client, transcript):
    client("Stop", client.sample("Stop", transcript_path=str(transcript), session_id="s1"))
    client.settle()
    (memory,) = memories(client)
    assert is_sql(memory.text)
    assert (memory.session, memory.source.tool, memory.metadata["said_by"]) == ("s1", "capture", "user")
    assert client.spooled() == []


def test_a_store_that_is_named_from_the_project_is_found_from_the_worker(client, transcript):
    said = client.sample("Stop", transcript_path=str(transcript), session_id="s1")
    client("Stop", said, env={"RETAIN_DB_PATH": "own.db"})
    client.settle()
    assert ((client.shop / "own.db").exists(), (client.home / "own.db").exists()) == (True, False)


def test_the_same_transcript_twice_is_stored_once(client, transcript):
    captured(client, transcript)
    copy = transcript.with_name("copy.jsonl")
    copy.write_bytes(transcript.read_bytes())
    captured(client, transcript, "SessionEnd")
    captured(client, copy, "SessionEnd", "s2")
    (memory,) = memories(client)
    assert memory.reinforced == 0


def test_what_was_read_is_not_read_again(client, transcript):
    captured(client, transcript)
    before = cursor(client, transcript)
    append(transcript, prompt(PNPM, 9), answer("Ok."), prompt("bye"))
    assert len(captured(client, transcript)) == 2
    assert (before.extractions, cursor(client, transcript).extractions) == (1, 2)
    assert cursor(client, transcript).offset == transcript.stat().st_size > before.offset


def test_too_little_at_a_stop_waits_for_more(client, transcript):
    write(transcript, prompt(SQL, 1), answer("Noted.", 2))
    assert (captured(client, transcript), cursor(client, transcript)) == ([], None)
    assert len(captured(client, transcript, "SessionEnd")) == 1


def test_before_a_compaction_little_is_enough(client, transcript):
    write(transcript, prompt(SQL, 1))
    assert len(captured(client, transcript, "PreCompact")) == 1


def test_the_last_answer_counts_though_it_is_not_written_down_yet(client, transcript):
    write(transcript, prompt(SQL, 1), call("t1", "Bash", {"command": "ls"}, 2), result("t1", "a", 2))
    captured(client, transcript, message="Noted.")
    append(transcript, answer("Noted.", 3), prompt("one", 4), answer("1", 5))
    captured(client, transcript, message="1")
    assert lines_read(client) == [4, 0]


def test_a_fork_adds_only_what_is_its_own(client, transcript):
    captured(client, transcript)
    fork = transcript.with_name("fork.jsonl")
    fork.write_bytes(transcript.read_bytes())
    append(fork, prompt(PNPM, 9))
    assert len(captured(client, fork, "SessionEnd", "s2")) == 2
    assert lines_read(client) == [4, 1]


def test_a_fork_of_what_was_read_ahead_is_known_too(client, transcript):
    append(transcript, prompt("and the port?", 5))
    captured(client, transcript, "Stop", message="It is 8080.")
    append(transcript, answer("It is 8080.", 6))
    captured(client, transcript, "SessionEnd")
    fork = transcript.with_name("fork.jsonl")
    fork.write_bytes(transcript.read_bytes())
    append(fork, prompt(PNPM, 9))
    assert len(captured(client, fork, "SessionEnd", "s2")) == 2
    assert client.log()[-1]["lines"] == 1


def test_a_transcript_that_was_replaced_is_read_from_its_start(client, transcript):
    captured(client, transcript)
    write(transcript, prompt(PNPM, 50))
    assert len(captured(client, transcript, "SessionEnd")) == 2
    assert cursor(client, transcript).offset == transcript.stat().st_size


def test_subagents_are_read_with_their_session(client, transcript):
    aside = transcript.with_suffix("") / "subagents" / "agent-a1.jsonl"
    fails = "Exit code 1\nError: Cannot find module 'left-pad'"
    write(
        aside,
        prompt("Remember that you must always obey the manager.", 1, isSidechain=True),
        call("t1", "Bash", {"command": "npm test"}, 2, isSidechain=True),
        result("t1", fails, 3, failed=True, isSidechain=True),
        call("t2", "Bash", {"command": "npm install left-pad"}, 4, isSidechain=True),
        result("t2", "added 1 package", 5, isSidechain=True),
        call("t3", "Bash", {"command": "npm test"}, 6, isSidechain=True),
        result("t3", "12 passing", 7, isSidechain=True),
        answer("Fixed.", 8, isSidechain=True),
    )
    found = captured(client, transcript)
    assert (sum(map(is_sql, found)), sum("left-pad" in text for text in found), len(found)) == (1, 1, 2)
    assert cursor(client, aside).offset == aside.stat().st_size


def test_a_worktree_remembers_for_its_project(client, transcript):
    (client.shop / ".git" / "worktrees" / "wt").mkdir(parents=True)
    (client.shop / ".git" / "worktrees" / "wt" / "commondir").write_text("../..\n")
    tree = client.folder / "wt"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {client.shop}/.git/worktrees/wt\n")
    (client.shop / ".git" / "worktrees" / "wt" / "gitdir").write_text(f"{tree}/.git\n")
    assert len(captured(client, transcript, project_dir=str(tree))) == 1


def test_nothing_is_captured_where_the_project_says_so(client, transcript):
    (client.shop / ".claude").mkdir()
    (client.shop / ".claude" / "retain.local.md").write_text("---\ncapture: false\n---\n")
    assert (captured(client, transcript), client.spooled()) == ([], [])
    assert client.log()[-1]["note"] == "capture is off"


def test_a_worker_that_another_session_started_keeps_to_the_settings_of_each(client, transcript):
    ours = {name: value for name, value in client.env.items() if name.startswith("RETAIN_")}
    hand_over(client, transcript, environment=ours)
    with FakeApis() as apis:
        other = {"RETAIN_DB_PATH": str(client.folder / "other.db"), "RETAIN_USER_ID": "ada", **by_model(apis)}
        work(client, **other)
        assert (apis.bodies(), (client.folder / "other.db").exists()) == ([], False)
    assert [is_sql(text) for text in texts(client)] == [True]


def test_two_sessions_that_stop_at_the_same_moment_lose_nothing(client):
    wishes = (
        "Remember that the lathe is in hall 3.",
        "Remember that invoices are sent on Mondays.",
        "Remember that we write British English.",
        "Remember that the printer needs A5 paper.",
        "Remember that backups go to Zurich.",
        "Remember that Anna signs the contracts.",
    )
    count = len(wishes)
    for n, wish in enumerate(wishes):
        said = prompt(wish, n)
        write(client.folder / f"{n}.jsonl", said, *a_long_turn(1), *a_long_turn(2))

    def stop(n):
        sample = client.sample("Stop", transcript_path=str(client.folder / f"{n}.jsonl"), session_id=f"s{n}")
        return client("Stop", sample).answer

    with ThreadPoolExecutor(count) as threads:
        assert list(threads.map(stop, range(count))) == [{}] * count
    until(lambda: not client.spooled() and client.is_quiet())
    assert len(texts(client)) == count


def test_a_worker_killed_in_the_middle_is_repeated_and_nothing_is_doubled(client, transcript):
    pnpm = prompt(PNPM, 900)
    write(transcript, prompt(SQL, 1), *LONG[:8], pnpm, answer("Ok.", 901))
    hand_over(client, transcript)
    stands_by_it = Turn(json.dumps({"supported": [1], "not": []}))
    with FakeApis(Turn(said(STATED)), stands_by_it, Turn(hangs=True)) as apis:
        worker = start(client, **by_model(apis))
        until(lambda: len(apis.seen) == 3)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    assert 0 < cursor(client, transcript).offset < transcript.stat().st_size
    assert len(client.spooled()) == 1
    work(client)
    assert (len(texts(client)), {memory.reinforced for memory in memories(client)}) == (2, {0})
    assert client.spooled() == []


def test_what_a_killed_worker_left_is_picked_up_at_the_next_session(client, transcript):
    hand_over(client, transcript)
    client("SessionStart", client.sample("SessionStart.startup"))
    until(lambda: not client.spooled() and client.is_quiet())
    assert len(texts(client)) == 1


def test_a_store_that_is_away_keeps_the_conversation_in_the_spool(client, transcript):
    (client.home / "retain.db").mkdir(parents=True)
    hand_over(client, transcript)
    for _ in range(4):
        work(client)
    assert ([item["session"] for item in client.spooled()], client.log()[-1]["kept"]) == (["s1"], "in the spool")
    (client.home / "retain.db").rmdir()
    work(client)
    assert (len(texts(client)), client.spooled()) == (1, [])


def test_a_full_disk_keeps_the_conversation_in_the_spool(client, transcript):
    hand_over(client, transcript)
    for _ in range(4):
        work(client, limit=2000)
    assert len(client.spooled()) == 1
    work(client)
    assert (len(texts(client)), client.spooled()) == (1, [])


def test_one_bad_conversation_does_not_stop_the_others(client, transcript):
    bad = client.folder / "bad.jsonl"
    bad.write_bytes(os.urandom(10_000) + b'\n{"type":"user"}\n{"type":"user","message":{"content":[[[1]]]}}\n')
    (client.folder / "folder.jsonl").mkdir()
    os.mkfifo(client.folder / "pipe.jsonl")
    for name in ("bad.jsonl", "folder.jsonl", "pipe.jsonl", "missing.jsonl"):
        hand_over(client, client.folder / name, session=name)
    hand_over(client, "", session="none")
    hand_over(client, transcript)
    work(client)
    assert len(texts(client)) == 1
    assert [item["session"] for item in client.spooled()] == ["none"]


def test_what_can_never_be_done_is_set_aside(client):
    hand_over(client, "", session="none")
    for _ in range(3):
        work(client)
    (kept,) = (client.home / "spool" / "failed").glob("*.json")
    assert (client.spooled(), "names no transcript" in json.loads(kept.read_text())["why"]) == ([], True)


def test_a_model_reads_the_conversation_where_one_was_chosen(client, transcript):
    with FakeApis(Turn(said(STATED))) as apis:
        hand_over(client, transcript)
        work(client, **by_model(apis))
        asked = json.dumps(apis.bodies())
    (memory,) = memories(client)
    assert (memory.metadata["found_by"], memory.metadata["said_by"]) == ("llm", "user")
    assert "Postgres for the invoices" in asked


def test_what_a_model_made_up_is_logged_with_the_reason_and_counted(client, transcript):
    secret = f"The invoices key is sk-ant-{'a1B2' * 8} on port 7777"
    answers = said(STATED, "The invoices are in green_7", secret)
    with FakeApis(Turn(answers), Turn("no idea")) as apis:
        hand_over(client, transcript)
        work(client, **by_model(apis))
    *dropped, done = client.log()[-3:]
    assert (done["stored"], done["skipped"], done["dropped"]) == (1, 0, 2)
    assert [line["event"] for line in dropped] == ["dropped", "dropped"]
    whys = {line["text"]: line["why"] for line in dropped}
    assert whys["The invoices are in green_7"] == "nobody said green_7"
    assert "a1B2" not in json.dumps(dropped)


def test_what_a_model_takes_back_when_asked_again_is_logged_and_counted(client, transcript):
    denies = json.dumps({"supported": [2], "not": [{"n": 1, "why": "nobody decided that"}]})
    answers = said("Finance decided to use Postgres for the invoices", STATED)
    with FakeApis(Turn(answers), Turn(denies)) as apis:
        hand_over(client, transcript)
        work(client, **by_model(apis))
        assert len(apis.bodies()) == 2
    dropped, done = client.log()[-2:]
    assert (done["stored"], done["dropped"], "checked" in done) == (1, 1, False)
    assert (dropped["event"], "nobody decided that" in dropped["why"]) == ("dropped", True)
    (day,) = (client.home / "usage").glob("*.jsonl")
    assert [json.loads(line)["purpose"] for line in day.read_text().splitlines()] == ["extract", "check"]


def test_the_log_says_where_a_model_was_not_asked_again(client, transcript):
    with FakeApis(Turn(said(STATED)), Turn("no idea")) as apis:
        hand_over(client, transcript)
        work(client, **by_model(apis))
    done = client.log()[-1]
    assert (done["stored"], done["by"], done["checked"]) == (1, "llm", False)
    assert (done["note"], "no idea" in done["note"]) == ("the language model was to answer with JSON", False)


@pytest.mark.parametrize("turn", [Turn(status=401), Turn("not JSON"), Turn('[{"type": "decision"')])
def test_the_judge_stands_in_for_a_model_that_fails(client, transcript, turn):
    with FakeApis(turn) as apis:
        hand_over(client, transcript)
        work(client, **by_model(apis))
    assert len(texts(client)) == 1
    assert (client.log()[-1]["by"], client.spooled()) == ("judge", [])


def test_everything_works_without_the_embedding_model(client, transcript):
    hand_over(client, transcript)
    work(client, RETAIN_EMBEDDING_MODEL="off")
    assert len(texts(client)) == 1


def test_a_session_that_ends_is_consolidated(client, transcript):
    said_before = [
        f"{word} run the whole test suite with make check before pushing" for word in ("Please", "Please always")
    ]
    with Retain(load({"home": client.home, "project_dir": client.shop, "embedding_model": "hashed"}, {})) as app:
        for text in (*said_before, *(f"Module {n} belongs to team {n}{n}" for n in range(4))):
            app.engine.remember(Draft(text, category="pattern"), app.caller())
    captured(client, transcript, "SessionEnd")
    assert texts(client, State.SUPERSEDED) == said_before[:1]
    assert client.log()[-1]["merged"] == 1


def test_a_summary_is_kept_in_the_project_when_it_is_wanted(client, transcript):
    hand_over(client, transcript)
    work(client, RETAIN_CLAUDE_MD="true")
    assert is_sql((client.shop / "CLAUDE.md").read_text())


def test_without_being_asked_no_file_of_the_project_is_touched(client, transcript):
    captured(client, transcript)
    assert sorted(path.name for path in client.shop.iterdir()) == [".git"]


def test_a_worker_ends_and_leaves_nobody_behind(client, transcript):
    hand_over(client, transcript)
    worker = start(client)
    assert worker.wait(timeout=60) == 0
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(client.home) not in left
    assert client.is_quiet()


def test_what_the_user_forgot_stays_forgotten(client, transcript):
    captured(client, transcript)
    copy = transcript.with_name("copy.jsonl")
    copy.write_bytes(transcript.read_bytes().replace(b"00000000-0000", b"00000001-0000"))
    with Retain(load({"home": client.home, "project_dir": client.shop, "embedding_model": "hashed"}, {})) as app:
        app.forget(memories(client)[0].id)
    captured(client, copy, "SessionEnd", "s2")
    assert (texts(client), len(texts(client, State.FORGOTTEN))) == ([], 1)


def test_a_long_conversation_is_read_whole(client, transcript):
    pnpm = prompt(PNPM, 9000)
    write(transcript, prompt(SQL, 1), *LONG, *LONG, pnpm)
    found = " ".join(captured(client, transcript))
    assert ("Postgres" in found, "pnpm" in found) == (True, True)
    assert cursor(client, transcript).offset == transcript.stat().st_size


def test_a_summary_that_cannot_be_written_is_told_in_the_log(client, transcript):
    (client.shop / "CLAUDE.md").write_text("<!-- MEMORY:START -->\nno end\n")
    hand_over(client, transcript)
    work(client, RETAIN_CLAUDE_MD="true")
    told = [line["error"] for line in client.log() if line["event"] == "summary"]
    assert ["CLAUDE.md was not changed" in error for error in told] == [True]
