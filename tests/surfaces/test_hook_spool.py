"""The spool and its one worker: nothing is lost, nothing grows without end, and there are never two."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from retain.run_files import Lock, is_held, worker_lock
from retain.surfaces.hooks import spool
from surfaces.waiting import until

ROOT = Path(spool.__file__).parents[3]
# A worker for tests: says when it begins and ends an item, and takes its time, so that a second one would be seen.
WORKING = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from retain.surfaces.hooks import spool
told = os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for path in spool.working(sys.argv[2]):
    item = spool.read(path)
    os.write(told, f"begin {item['session']} {os.getpid()}\\n".encode())
    time.sleep(0.02)
    os.write(told, f"end {item['session']} {os.getpid()}\\n".encode())
    spool.done(path)
"""
DYING = """
import os, sys
sys.path.insert(0, sys.argv[1])
from retain.surfaces.hooks import spool
for path in spool.working(sys.argv[2]):
    os._exit(9)
"""


STARTING = """
import sys
sys.path.insert(0, sys.argv[1])
from retain.surfaces.hooks import spool
spool._STARTER = sys.argv[3]
assert spool.start_worker(sys.argv[2])
"""
# In the place of a worker: tells what it has been given, and stays until it is told to go.
LINGERING = """
import json, os, time
here = os.path.dirname(os.path.abspath(__file__))
names = ["/proc/self/fd/" + name for name in os.listdir("/proc/self/fd")]
files = [os.readlink(name) for name in names if os.path.exists(name)]
facts = {"pid": os.getpid(), "session": os.getsid(0), "env": [*os.environ], "files": files}
with open(here + "/draft", "w") as file:
    json.dump(facts, file)
os.rename(here + "/draft", here + "/facts.json")
until = time.monotonic() + 60
while not os.path.exists(here + "/go") and time.monotonic() < until:
    time.sleep(0.02)
"""


@pytest.fixture
def home(tmp_path):
    return str(tmp_path / "home")


def item(session="s1", event="Stop", **more):
    return {"event": event, "session": session, "transcript": f"/t/{session}.jsonl", "cwd": "/c", **more}


def put(home, *them):
    return [spool.put(home, one) for one in them]


def items(home):
    return [spool.read(path) for path in spool.waiting(home)]


def worked(home):
    """One whole life of a worker that does all there is."""
    found = []
    for path in spool.working(home):
        found.append(spool.read(path))
        spool.done(path)
    return found


def run(script, home, *more, **options):
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", script, str(ROOT), home, *map(str, more)], **options)


def test_what_is_put_waits_oldest_first_and_is_private(home):
    paths = put(home, item("s1"), item("s2"), item("s3"))
    assert spool.waiting(home) == paths
    assert [one["session"] for one in items(home)] == ["s1", "s2", "s3"]
    assert {Path(path).stat().st_mode & 0o777 for path in paths} == {0o600}
    assert Path(paths[0]).parent.stat().st_mode & 0o777 == 0o700


def test_a_later_turn_takes_the_place_of_one_that_still_waits(home):
    put(home, item(last_assistant_message="one"), item("s2"), item(last_assistant_message="two"))
    assert [(one["session"], one.get("last_assistant_message")) for one in items(home)] == [("s2", None), ("s1", "two")]


@pytest.mark.parametrize(
    ("events", "kept"),
    [
        (("Stop", "Stop"), "Stop"),
        (("PreCompact", "Stop"), "PreCompact"),
        (("Stop", "SessionEnd"), "SessionEnd"),
        (("SessionEnd", "Stop"), "SessionEnd"),
        (("PreCompact", "SessionEnd"), "SessionEnd"),
    ],
)
def test_of_merged_events_the_one_that_asks_for_most_is_kept(home, events, kept):
    put(home, *(item(event=event) for event in events))
    assert [one["event"] for one in items(home)] == [kept]


def test_a_very_long_message_is_kept_from_its_end(home):
    put(home, item(last_assistant_message="a" * 200_000 + "the end"))
    message = items(home)[0]["last_assistant_message"]
    assert (len(message), message[-7:]) == (spool.LONGEST_MESSAGE, "the end")


def test_a_spool_that_nobody_empties_stops_growing(home):
    folder = Path(home) / "spool"
    folder.mkdir(parents=True)
    for number in range(spool.MOST_WAITING):
        (folder / f"{number:016d}-{number:016d}-aaaaaa~0.json").touch()
    with pytest.raises(spool.SpoolFull):
        spool.put(home, item())


def test_a_half_written_item_is_not_seen(home):
    put(home, item())
    (Path(home) / "spool" / "x.json.17.ab.tmp").write_text('{"v": 1')
    assert len(spool.waiting(home)) == 1


def test_a_worker_does_what_waits_and_what_comes_meanwhile(home):
    put(home, item("s1"))
    seen = []
    for path in spool.working(home):
        seen.append(spool.read(path)["session"])
        if seen == ["s1"]:
            put(home, item("s2"))
        spool.done(path)
    assert (seen, spool.waiting(home), is_held(home)) == (["s1", "s2"], [], False)


def test_an_item_that_arrives_while_its_predecessor_is_worked_on_is_done_too(home):
    put(home, item(last_assistant_message="one"))
    seen = []
    for path in spool.working(home):
        seen.append(spool.read(path)["last_assistant_message"])
        if len(seen) == 1:
            put(home, item(last_assistant_message="two"))
        spool.done(path)
    assert seen == ["one", "two"]


class LeavingLock(Lock):
    """A lock that is let go just as the next item arrives."""

    def release(self):
        super().release()
        put(self.path.removesuffix("/run/worker.lock"), item("late"))


def test_what_arrives_as_a_worker_leaves_is_seen_by_it(home):
    put(home, item("s1"))
    seen = []
    for path in spool.working(home, LeavingLock(worker_lock(home).path)):
        seen.append(spool.read(path)["session"])
        spool.done(path)
    assert (seen, is_held(home)) == (["s1", "late"], False)


def test_an_item_whose_successor_came_before_it_was_read_is_gone(home):
    path = put(home, item())[0]
    put(home, item())
    assert spool.read(path) is None


def test_what_failed_waits_for_the_next_worker_and_is_given_up_after_three(home):
    put(home, item(last_assistant_message="the password is hunter2"))
    tried = [[spool.failed(path, "no luck") for path in spool.working(home)] for _ in range(4)]
    assert tried == [[False], [False], [True], []]
    (given_up,) = (Path(home) / "spool" / "failed").glob("*.json")
    kept = json.loads(given_up.read_text())
    assert (kept["why"], kept["last_assistant_message"]) == ("no luck", "")


def test_what_is_neither_done_nor_failed_goes_on_waiting_for_ever(home):
    put(home, item())
    assert [len(list(spool.working(home))) for _ in range(5)] == [1] * 5
    assert len(spool.waiting(home)) == 1


def test_a_busy_conversation_whose_turns_arrive_during_the_work_is_not_given_up(home):
    put(home, item("s1"))
    for _ in range(6):
        for path in spool.working(home):
            put(home, item("s1"))
            spool.done(path)
            break
    assert len(spool.waiting(home)) == 1
    assert not (Path(home) / "spool" / "failed").exists()


def test_a_new_turn_does_not_make_a_deadly_conversation_eternal(home):
    for _ in range(4):
        put(home, item("deadly"))
        run(DYING, home).wait(timeout=30)
    assert len(list((Path(home) / "spool" / "failed").glob("*.json"))) == 1


def test_a_new_turn_does_not_make_a_failing_conversation_eternal(home):
    given_up = []
    for _ in range(3):
        put(home, item())
        given_up += [spool.failed(path, "no luck") for path in spool.working(home)]
    assert given_up == [False, False, True]


def test_an_item_that_kills_its_worker_is_given_up_too(home):
    put(home, item("deadly"))
    assert [run(DYING, home).wait(timeout=30) for _ in range(4)] == [9, 9, 9, 0]
    assert spool.waiting(home) == []
    assert "did not come to an end" in next((Path(home) / "spool" / "failed").glob("*.json")).read_text()


def test_an_unreadable_item_says_so(home):
    path = put(home, item())[0]
    Path(path).write_text("[]")
    with pytest.raises(ValueError, match="no item of version 1"):
        spool.read(path)


def test_a_worker_that_was_killed_leaves_the_lock_free_and_the_item_waiting(home):
    put(home, item())
    assert run(DYING, home).wait(timeout=30) == 9
    assert not is_held(home)
    assert [one["session"] for one in worked(home)] == ["s1"]


def test_while_one_works_another_leaves_at_once(home):
    put(home, item())
    lock = worker_lock(home)
    assert lock.take()
    assert worked(home) == []
    assert not spool.start_worker(home)
    lock.release()
    assert len(worked(home)) == 1


def test_the_lock_says_who_holds_it(home):
    put(home, item())
    for path in spool.working(home):
        assert json.loads(Path(worker_lock(home).path).read_text())["pid"] == os.getpid()
        spool.done(path)


def test_a_worker_stops_when_its_time_is_up_and_leaves_the_rest(home):
    put(home, item("s1"), item("s2"))
    assert list(spool.working(home, seconds=0)) == []
    assert len(spool.waiting(home)) == 2


def test_thirty_workers_at_once_work_one_after_another_and_do_each_item_once(home, tmp_path):
    put(home, *(item(f"s{number}") for number in range(10)))
    running = [run(WORKING, home, tmp_path / "told") for _ in range(30)]
    assert [one.wait(timeout=60) for one in running] == [0] * 30
    lines = [line.split() for line in (tmp_path / "told").read_text().splitlines()]
    pairs = list(zip(lines[::2], lines[1::2], strict=True))
    assert all((begin[0], end[0], begin[1:]) == ("begin", "end", end[1:]) for begin, end in pairs)
    assert sorted(begin[1] for begin, _ in pairs) == sorted(f"s{number}" for number in range(10))


def test_items_that_come_while_workers_come_and_go_are_all_done(home, tmp_path):
    told = tmp_path / "told"
    told.touch()
    running = []
    for number in range(30):
        put(home, item(f"s{number}"))
        if not is_held(home):
            running.append(run(WORKING, home, told))
    assert all(one.wait(timeout=60) == 0 for one in running)
    assert (spool.waiting(home), told.read_text().count("end ")) == ([], 30)


def workers(home, *, holding=False):
    """The processes that are workers of this home; with `holding`, those that have the lock open."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if home.encode() in words and any(word.endswith(b"start_worker.py") for word in words):
                files = [str(file.readlink()) for file in (process / "fd").iterdir()] if holding else []
                found += [process.name] if not holding or worker_lock(home).path in files else []
        except OSError:
            continue  # it has ended
    return found


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are looked up in /proc")
def test_thirty_stops_at_once_start_one_worker_at_a_time_and_none_is_left(client):
    home = str(client.home)
    running = []
    for number in range(30):
        said = client.folder / f"said-{number}"
        said.write_text(json.dumps(client.sample("Stop", session_id=f"s{number}")))
        with said.open() as file:
            running.append(client.start("Stop", pipes={"stdin": file}))
    most = 0
    while not client.is_quiet() or any(one.poll() is None for one in running):
        most = max(most, len(workers(home, holding=True)))
    assert [one.returncode for one in running] == [0] * 30
    until(lambda: not workers(home))
    assert most == 1


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are looked up in /proc")
def test_a_worker_lives_on_with_the_lock_and_without_anything_of_the_client(home, tmp_path):
    """A hook's standard output must end with the hook, or the client would wait for the worker."""
    (tmp_path / "starter.py").write_text(LINGERING)
    ours, theirs = os.pipe()
    env = {"CLAUDE_PROJECT_DIR": "/p", "CLAUDE_PID": "1", "CLAUDECODE": "1", "ANTHROPIC_API_KEY": "k", "HOME": "/h"}
    run(STARTING, home, tmp_path / "starter.py", stdout=theirs, env=env, pass_fds=[theirs]).wait(timeout=30)
    os.close(theirs)
    assert os.read(ours, 10) == b""
    told = json.loads(until((tmp_path / "facts.json").exists) and (tmp_path / "facts.json").read_text())
    assert is_held(home)
    assert (told["pid"], set(told["env"]) & set(env)) == (told["session"], {"ANTHROPIC_API_KEY", "HOME"})
    assert set(told["files"]) <= {"/dev/null", worker_lock(home).path}
    (tmp_path / "go").touch()
    until(lambda: not is_held(home))


def test_stop_hands_the_turn_over_with_all_that_the_worker_needs(client):
    client("Stop", client.sample("Stop.again"), env={"RETAIN_LLM_KEY": "hush"})
    (found,) = client.spooled()
    assert found.pop("at") > 1e9
    assert found == {
        "v": 1,
        "event": "Stop",
        "session": client.sample("Stop")["session_id"],
        "transcript": str(client.folder / "transcript.jsonl"),
        "cwd": str(client.shop),
        "project_dir": str(client.shop),
        "store": str(client.home / "retain.db"),
        "environment": {"RETAIN_HOME": str(client.home), "RETAIN_EMBEDDING_MODEL": "hashed"},
        "last_assistant_message": "The changelog has it too.",
    }


def test_a_turn_that_another_hook_keeps_going_starts_no_worker(client):
    client("Stop", client.sample("Stop.again"))
    assert not (client.home / "run" / "worker.lock").exists()


def test_nothing_is_handed_over_when_capture_is_off(client):
    client("Stop", client.sample("Stop"), env={"RETAIN_CAPTURE": "off"})
    assert client.spooled() == []
    assert not (client.home / "run" / "worker.lock").exists()


def test_the_next_session_takes_up_what_was_left(client):
    client("Stop", client.sample("Stop.again"))
    client("SessionStart", client.sample("SessionStart.startup"))
    assert (client.home / "run" / "worker.lock").exists()


def test_what_a_hook_left_half_written_goes_after_an_hour(tmp_path):
    folder = Path(spool.put(str(tmp_path), {"event": "Stop", "session": "s1", "transcript": "t"})).parent
    old, new = folder / "a.json.1.00.tmp", folder / "b.json.1.00.tmp"
    for path in (old, new):
        path.write_text("{")
    os.utime(old, (0, 0))
    for path in spool.working(str(tmp_path)):
        spool.done(path)
    assert (old.exists(), new.exists()) == (False, True)
