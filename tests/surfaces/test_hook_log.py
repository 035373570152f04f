"""The log of the hooks, and what the doctor makes of it."""

import json
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from retain import hook_health
from retain.hook_log import entries
from retain.run_files import worker_lock
from retain.surfaces.hooks import log, spool

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def wrote(home, event, ago=timedelta(minutes=5), **facts):
    path = home / "logs" / "hooks.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps({"at": (NOW - ago).strftime("%Y-%m-%dT%H:%M:%SZ"), "event": event, **facts}) + "\n")


def told(home, state=None):
    return [f"{one.note} → {one.repair}" for one in hook_health.look(home, NOW) if state is None or one.state == state]


def raised(error):
    try:
        raise error
    except type(error) as caught:
        return caught


def test_a_line_says_what_ran_and_what_went_wrong(home):
    log.note(str(home), "Stop", raised(OSError(28, "No space left on device", "/d/x")), ms=12.5)
    (entry,) = entries(home)
    assert (entry.event, entry.ms) == ("Stop", 12.5)
    assert entry.error.startswith("OSError: [Errno 28] No space left on device: '/d/x' (test_hook_log.py:")


def test_what_an_error_quotes_is_left_out(home):
    log.note(str(home), "UserPromptSubmit", raised(ValueError('fts5: syntax error near "my secret plan" and "more"')))
    assert "secret" not in (home / "logs" / "hooks.log").read_text()


@pytest.mark.parametrize("name", ["UserPromptSubmit", "Stop", "SessionStart.startup"])
def test_no_prompt_and_no_message_gets_into_the_log(client, name):
    (client.home).mkdir()
    (client.home / "retain.db").write_bytes(b"broken" * 1000)
    payload = client.sample(name, prompt='say "zebra" AND (zebra', last_assistant_message="zebra")
    client(payload["hook_event_name"], payload)
    client("Stop", b'{"prompt": "zebra"')
    assert "zebra" not in (client.home / "logs" / "hooks.log").read_text()


def test_it_is_private(home):
    log.note(str(home), "Stop")
    assert (home / "logs" / "hooks.log").stat().st_mode & 0o777 == 0o600


def test_it_never_grows_beyond_three_files(home, monkeypatch):
    monkeypatch.setattr(log, "MOST_BYTES", 1000)
    for number in range(200):
        log.note(str(home), "Stop", number=number)
    files = sorted((home / "logs").glob("hooks.log*"))
    assert [file.name for file in files] == ["hooks.log", "hooks.log.1", "hooks.log.2", "hooks.log.lock"]
    assert all(file.stat().st_size < 1200 for file in files)
    numbers = [entry.facts["number"] for entry in entries(home)]
    assert numbers == sorted(numbers)
    assert numbers[-1] == 199


def test_lines_of_many_processes_do_not_mix(home):
    script = "import sys; sys.path.insert(0, sys.argv[1]); from retain.surfaces.hooks import log\n"
    script += "for n in range(50): log.note(sys.argv[2], 'Stop', number=n)"
    command = [sys.executable, "-I", "-S", "-c", script, str(Path(log.__file__).parents[3]), str(home)]
    running = [subprocess.Popen(command) for _ in range(8)]
    assert [one.wait(timeout=60) for one in running] == [0] * 8
    assert len(entries(home)) == 400


def test_a_log_that_cannot_be_written_is_no_failure(home):
    home.write_text("in the way")
    log.note(str(home), "Stop")
    assert home.read_text() == "in the way"


def test_strange_lines_are_passed_over(home):
    wrote(home, "Stop")
    with (home / "logs" / "hooks.log").open("ab") as file:
        file.write(b'{"at": "yesterday", "event": "Stop"}\n[]\n{"at": "2026-\n\xff\xfe\n{"event": "x"}\n')
    assert [entry.event for entry in entries(home)] == ["Stop"]


def test_the_doctor_says_when_none_has_run(home):
    assert told(home) == ["none has run yet; `retain setup` registers them → "]


def test_the_doctor_says_when_each_last_ran(home):
    wrote(home, "SessionStart", timedelta(hours=3))
    wrote(home, "Stop", timedelta(days=3))
    wrote(home, "Stop", timedelta(minutes=10))
    assert "last runs: Stop 10 minutes ago, SessionStart 3 hours ago" in told(home)[0]


def test_the_doctor_says_what_was_captured_and_calls_that_not_slow(home):
    wrote(home, "Stop", ms=12)
    for stored in (2, 0, 1):
        wrote(home, "capture", ms=900, stored=stored)
    assert "last capture 5 minutes ago; in a day 3, with 3 memories stored" in told(home, "ok")[1]
    assert told(home, "warn") == []


def test_the_doctor_counts_failures_of_a_day_and_says_what_to_do(home):
    for minutes in (7, 6, 5):
        wrote(home, "Stop", timedelta(minutes=minutes), error="OSError: [Errno 28] No space left on device")
    wrote(home, "Stop", timedelta(days=2), error="OSError: old")
    (fault,) = told(home, "warn")
    assert fault.startswith("Stop failed 3 times in a day, last 5 minutes ago: OSError")
    assert fault.endswith("→ free some space on that disk")


def test_the_doctor_notices_hooks_that_are_slow_as_a_rule(home):
    for ms in (10, 900, 950):
        wrote(home, "UserPromptSubmit", ms=ms)
        wrote(home, "Stop", ms=12)
    (slow,) = told(home, "warn")
    assert slow.startswith("UserPromptSubmit takes 900 ms")


def test_the_doctor_tells_what_waits_and_for_how_long(home):
    path = Path(spool.put(str(home), {"event": "Stop", "session": "s", "transcript": "/t"}))
    moment = int((NOW - timedelta(hours=5)).timestamp() * 1e6)
    path.rename(path.with_name(f"{moment}-{path.name.partition('-')[2]}"))
    (stuck,) = told(home, "warn")
    assert stuck.startswith("1 conversation waits to be captured, for 5 hours")


def test_the_doctor_tells_what_was_given_up_and_brings_it_back(home):
    spool.put(str(home), {"event": "Stop", "session": "s", "transcript": "/t"})
    for _ in range(3):
        for path in spool.working(str(home)):
            spool.failed(path, "the store is damaged")
    (given_up,) = told(home, "warn")
    assert "1 conversation could not be captured; the last time because: the store is damaged" in given_up
    assert hook_health.try_again(home) == 1
    assert len(spool.waiting(str(home))) == 1


def test_the_doctor_tells_of_a_worker_that_does_not_end(home):
    lock = worker_lock(str(home))
    assert lock.take()
    Path(lock.path).write_text(json.dumps({"pid": 77, "at": (NOW - timedelta(hours=2)).timestamp()}))
    assert told(home, "warn") == ["the worker (process 77) is at work for 2 hours → end that process"]
    lock.release()


def test_two_that_find_the_log_too_long_rotate_it_once(home, monkeypatch):
    monkeypatch.setattr(log, "MOST_BYTES", 2000)
    threads = [threading.Thread(target=lambda: [log.note(str(home), "Stop") for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(entries(home)) == 80
