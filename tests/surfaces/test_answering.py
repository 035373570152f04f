"""A server answers hooks over its socket; one that is hung, gone or not ours costs a prompt next to nothing."""

import json
import os
import signal
import socket
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from retain.surfaces.hooks import asking
from retain.surfaces.hooks.answering import MOST_REQUEST, Answering
from surfaces.waiting import until
from surfaces.wire import Desk

WEBHOOK = "The Stripe webhook route needs the raw body"
PROMPT = "the stripe webhook gets the wrong body"


@pytest.fixture
def told(tmp_path):
    """A memory with one note from yesterday, in this process."""
    desk = Desk(tmp_path, session_id="yesterday")
    desk.stored(WEBHOOK)
    yield desk.settled().app
    desk.app.close()


@pytest.fixture(params=["path", "port"])
def answering(told, request):
    """Its socket, in each of the two ways."""
    answers = Answering(told, unix=request.param == "path")
    answers.start()
    yield answers
    answers.close()


def request(app, **changed):
    """What a hook asks."""
    asked = {"store": str(app.settings.database_file), "prompt": PROMPT, "session": "today", "user": "", "seen": []}
    return asked | {"project_dir": str(app.settings.project_dir), "lost": None} | changed


def ask(app, client=0, seconds=20.0, **changed):
    return asking.ask(str(app.settings.home), client, request(app, **changed), seconds)


def sent(answering, line):
    """What the server says to a line as it is."""
    about = json.loads(answering.file.read_text())
    connection = socket.socket(socket.AF_UNIX if "socket" in about else socket.AF_INET)
    connection.settimeout(20)
    connection.connect(about.get("socket") or ("127.0.0.1", about["port"]))
    with connection, connection.makefile("rwb") as wire:
        wire.write(line)
        wire.flush()
        return json.loads(wire.readline())


def test_a_hook_is_told_what_fits_its_prompt_and_what_may_be_written_down_of_it(told, answering):
    answer = ask(told, prompt=f"{PROMPT}, password=hunter2-Xq9-zz81")
    (note,) = answer["notes"]
    assert (note["text"], note["scope"]) == (WEBHOOK, "project")
    assert answer["prompt"].startswith(PROMPT)
    assert "hunter2" not in answer["prompt"]


def test_private_words_are_not_looked_for(told, answering):
    assert ask(told, prompt=f"look at this <private>{PROMPT}</private>")["notes"] == []


def test_what_was_seen_and_what_fits_nothing_is_not_told(told, answering):
    (note,) = ask(told)["notes"]
    assert ask(told, seen=[note["id"]])["notes"] == []
    assert ask(told, prompt="thanks a lot")["notes"] == []


def test_the_project_the_session_and_the_person_are_those_that_the_hook_names(told, answering, tmp_path):
    (tmp_path / "blog").mkdir()
    assert ask(told, project_dir=str(tmp_path / "blog"))["notes"] == []
    assert ask(told, session="yesterday")["notes"] == []  # it was said there
    assert ask(told, user="ada")["notes"] == []


def test_only_this_user_can_open_the_socket(told, answering):
    about = json.loads(answering.file.read_text())
    private = [answering.file, *([Path(about["socket"])] if "socket" in about else [])]
    assert [stat.S_IMODE(path.stat().st_mode) for path in private] == [0o600] * len(private)
    assert stat.S_IMODE(answering.file.parent.stat().st_mode) == 0o700


def test_without_the_token_nothing_is_told(told, answering):
    answer = sent(answering, json.dumps({**request(told), "token": "guessed"}).encode() + b"\n")
    assert answer["error"] == "invalid_input"
    assert "token" in answer["message"]


@pytest.mark.parametrize(
    "line", [b"\n", b"what?\n", b"[]\n", b"null\n", b"\xff\xfe\n", b"[" * 100_000 + b"\n", b'{"token": 3}\n']
)
def test_a_wrong_request_is_answered_with_what_is_wrong(told, answering, line):
    assert sent(answering, line)["error"] == "invalid_input"
    assert ask(told)["notes"]


@pytest.mark.parametrize("changed", [{"prompt": 7}, {"seen": "m1"}, {"session": None}, {"user": "a\nb"}])
def test_a_wrong_field_is_named(told, answering, changed):
    token = json.loads(answering.file.read_text())["token"]
    answer = sent(answering, json.dumps({**request(told, **changed), "token": token}).encode() + b"\n")
    assert answer["error"] == "invalid_input"
    assert next(iter(changed)) in answer["message"]


def test_a_request_that_is_too_long_is_refused(told, answering):
    answer = sent(answering, b"x" * (MOST_REQUEST + 1) + b"\n")
    assert "longer than" in answer["message"]


def test_two_hundred_prompts_at_once_are_answered_or_turned_away_and_none_hangs(told, answering):
    with ThreadPoolExecutor(50) as many:
        answers = list(many.map(lambda _: ask(told), range(200)))
    assert any(answers)
    assert all(answer is None or answer["notes"] for answer in answers)
    assert ask(told)["notes"]


def test_once_closed_it_has_left_nothing_and_nobody_is_asked(told, answering):
    folder = answering.file.parent
    answering.close()
    assert list(folder.iterdir()) == []
    assert ask(told) is None


def test_a_path_too_long_for_a_socket_gets_a_short_one_that_is_found_and_taken_away(tmp_path):
    home = tmp_path / ("deep" * 25)
    home.mkdir()
    desk = Desk(home, session_id="yesterday")
    desk.stored(WEBHOOK)
    answers = Answering(desk.app, unix=True)
    answers.start()
    path = Path(json.loads(answers.file.read_text())["socket"])
    assert len(str(path)) < 100
    assert ask(desk.app)["notes"]
    answers.close()
    assert not path.parent.exists()
    desk.app.close()


class Deaf:
    """Takes connections, and never says anything."""

    def __init__(self, home, store, parent=0):
        self.folder = home / "run" / "servers"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.socket = socket.socket(socket.AF_UNIX)
        path = self.folder / "1.sock"
        self.socket.bind(str(path))
        self.socket.listen(8)
        about = {"socket": str(path), "store": str(store), "parent": parent, "at": 1.0, "host": asking.host()}
        (self.folder / "1.json").write_text(json.dumps(about))


def test_a_server_that_hangs_is_given_up_in_the_time_there_is(told, tmp_path):
    deaf = Deaf(tmp_path, told.settings.database_file)
    given_up = threading.Event()
    threading.Thread(target=lambda: (ask(told, seconds=0.05), given_up.set()), daemon=True).start()
    assert given_up.wait(10)
    assert (deaf.folder / "1.json").exists()  # it may be well again
    deaf.socket.close()


def test_what_a_dead_server_left_is_passed_over_and_cleared_away(told, tmp_path):
    deaf = Deaf(tmp_path, told.settings.database_file)
    deaf.socket.close()
    answers = Answering(told)
    answers.start()
    assert ask(told, client=0)["notes"]
    assert {path.stem for path in deaf.folder.iterdir()} == {str(os.getpid())}
    answers.close()


def test_a_dead_server_of_another_machine_is_left_alone(told, tmp_path):
    deaf = Deaf(tmp_path, told.settings.database_file)
    deaf.socket.close()
    file = deaf.folder / "1.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"host": "elsewhere"}))
    assert ask(told) is None
    assert file.exists()


def test_a_server_on_another_store_is_not_asked(told, answering, tmp_path):
    assert ask(told, store=str(tmp_path / "other.db")) is None


def test_a_broken_note_about_a_server_is_passed_over(told, answering):
    (answering.file.parent / "7.json").write_text("{ not json")
    (answering.file.parent / "8.json").write_text('{"store": 3, "socket": []}')
    assert ask(told)["notes"]


def listening(home, *, servers):
    files = list((home / "run" / "servers").glob("*.json"))
    return files if len(files) == servers else None


def test_a_real_server_answers_and_takes_its_socket_away_when_it_is_told_to_end(servers, tmp_path):
    wire = servers(session_id="yesterday")
    wire.hello()
    wire.call("store_memory", content=WEBHOOK, type="semantic", scope="project")
    (file,) = until(lambda: listening(tmp_path, servers=1))
    about = json.loads(file.read_text())
    assert (about["pid"], about["parent"]) == (wire.process.pid, os.getpid())
    asked = {"prompt": PROMPT, "session": "today", "user": "", "seen": [], "lost": None}
    place = {"store": str(tmp_path / "retain.db"), "project_dir": str(tmp_path / "shop")}
    answer = until(lambda: asking.ask(str(tmp_path), os.getpid(), asked | place, 10))
    assert [note["text"] for note in answer["notes"]] == [WEBHOOK]
    wire.process.send_signal(signal.SIGTERM)
    assert wire.process.wait(20) == 0
    assert list(file.parent.iterdir()) == []


def test_of_two_servers_that_of_the_client_is_asked_and_the_other_stands_in(servers, tmp_path):
    first, second = servers(), servers()
    for wire in (first, second):
        wire.hello()
    files = until(lambda: listening(tmp_path, servers=2))
    store = json.loads(files[0].read_text())["store"]
    older = min(files, key=lambda file: json.loads(file.read_text())["at"])
    about = json.loads(older.read_text())
    older.write_text(json.dumps(about | {"parent": 4242}))
    assert asking._servers(str(tmp_path), 4242, store)[0][0] == str(older)
    assert asking._servers(str(tmp_path), 4243, store)[0][0] != str(older)
    first.end()
    second.end()


def test_a_server_that_is_killed_leaves_files_that_the_next_hook_clears_away(servers, tmp_path):
    wire = servers()
    wire.hello()
    (file,) = until(lambda: listening(tmp_path, servers=1))
    store = json.loads(file.read_text())["store"]
    wire.end()
    assert asking.ask(str(tmp_path), 0, {"store": store, "prompt": PROMPT}, 10) is None
    assert list(file.parent.iterdir()) == []
