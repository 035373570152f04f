"""`retain db`: one process opens the database, the others of this machine share it; and another client reads it."""

import json
import os
import signal
import socket
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from surrealdb import NotAllowedError, Surreal

from surfaces.command import Command

SERVED = {"RETAIN_DEPLOYMENT_MODE": "local-server"}
IN_FOLDER = {"RETAIN_STORE": "surrealdb"}


@pytest.fixture
def retain(tmp_path):
    return Command.in_folder(tmp_path)


@pytest.fixture
def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextmanager
def serving(retain, *options):
    """A running server and what it said of itself; it is told to end as a service manager does."""
    running = retain.spawn("db", "serve", "--json", *options)
    try:
        line = running.stdout.readline()
        assert line, running.stderr.read()
        yield running, json.loads(line)
    finally:
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=30)


def sdk(body, **other):
    """The official client, signed in."""
    password = Path(body["password_file"]).read_text().strip()
    client = Surreal(f"ws://127.0.0.1:{body['port']}")
    client.signin({"username": "retain", "password": password, **other})
    return client


def test_other_processes_share_what_one_serves_without_further_settings(retain):
    with serving(retain):
        stored = retain.process("remember", "we deploy on Mondays", "--json", **SERVED).body["memory_id"]
        found = retain("recall", "when do we deploy?", "--json", **SERVED)
        assert [hit["id"] for hit in found.body["memories"]] == [stored]
    there = retain("show", stored, "--json", **IN_FOLDER)
    assert there.code == 0


def test_it_ends_when_it_is_told_to_and_leaves_nothing_behind(retain):
    with serving(retain) as (running, body):
        door, note = retain.home / "run" / "db.sock", retain.home / "run" / "db.json"
        assert [stat.S_IMODE(path.stat().st_mode) for path in (door, note)] == [0o600, 0o600]
        assert body["socket"] == str(door)
    assert running.returncode == 0
    assert not door.exists()
    assert not note.exists()
    assert not (retain.home / "retain.surrealkv" / "holder.json").exists()


def test_ctrl_c_ends_it_too(retain):
    with serving(retain) as (running, _):
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 0


def test_nobody_else_can_open_the_folder_meanwhile_and_they_are_told_who_has_it(retain):
    with serving(retain) as (running, _):
        again, other = retain("db", "serve"), retain("remember", "something", **IN_FOLDER)
        assert (again.code, other.code) == (4, 4)
        assert f"is running already, process {running.pid}" in again.err
        assert "deployment_mode: local-server" in again.err
        assert f"process {running.pid} (`retain db serve`" in other.err
        assert "deployment_mode to local-server" in other.err


def test_one_that_was_killed_is_followed_by_the_next_with_the_same_password(retain):
    with serving(retain) as (running, first):
        stored = retain("remember", "we deploy on Mondays", "--json", **SERVED).body["memory_id"]
        running.kill()
        running.wait(30)
        assert (retain.home / "run" / "db.sock").exists()
    assert "no `retain db serve` is running" in retain("db", "status", **SERVED).out
    with serving(retain) as (_, second):
        assert second["password_file"] == first["password_file"]
        assert retain("show", stored, **SERVED).code == 0


def test_the_password_is_for_the_user_alone_and_is_never_told(retain):
    with serving(retain) as (_, body):
        file = retain.home / "db.password"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert body["password_file"] == str(file)
        assert file.read_text().strip() not in json.dumps(body)


def test_a_password_of_ones_own_is_taken_from_a_file(retain, tmp_path):
    file = tmp_path / "secret"
    file.write_text("it's a \\ secret\n")
    with serving(retain, "--password-file", str(file)):
        assert retain("db", "status", **SERVED).code == 0
    assert not (retain.home / "db.password").exists()


@pytest.mark.parametrize(("content", "told"), [("", "is empty"), ("two\nlines", "one line")])
def test_a_password_file_without_a_password_is_refused(retain, tmp_path, content, told):
    (tmp_path / "secret").write_text(content)
    ended = retain.process("db", "serve", "--password-file", str(tmp_path / "secret"))
    assert ended.code == 2
    assert told in ended.err


def test_status_says_whether_the_database_answers(retain):
    before = retain("db", "status", "--json", **SERVED)
    assert (before.code, before.body["server"]) == (4, None)
    assert "retain db serve" in before.body["error"]
    with serving(retain) as (running, body):
        now = retain("db", "status", "--json", **SERVED)
        assert (now.code, now.body["server"]["pid"], now.body["error"]) == (0, running.pid, None)
        assert now.body["version"].startswith("surrealdb-3.")
        assert body["socket"] in retain("db", **SERVED).out
    assert "retain.db" in retain("db").out


def test_where_a_path_is_too_long_for_a_socket_a_port_does(tmp_path):
    retain = Command.in_folder(tmp_path / ("long" * 25))
    with serving(retain) as (_, body):
        assert body["socket"] is None
        assert retain("db", "status", **SERVED).code == 0


def test_a_port_that_is_taken_is_told(retain, free_port):
    with socket.create_server(("127.0.0.1", free_port)):
        ended = retain.process("db", "serve", "--port", str(free_port))
    assert ended.code == 4
    assert f"port {free_port} cannot be opened" in ended.err
    assert not (retain.home / "run" / "db.sock").exists()


def test_the_official_client_reads_what_retain_wrote(retain, free_port):
    with serving(retain, "--port", str(free_port)) as (_, body):
        stored = retain("remember", "we deploy on Mondays", "--tag", "ops", "--json", **SERVED).body["memory_id"]
        with sdk(body) as client:
            client.use("memory", "default")
            (row,) = client.query("SELECT * FROM memory")
            assert (row["id"].table_name, row["id"].id) == ("memory", stored.removeprefix("memory:"))
            assert (row["content"], row["tags"], row["type"]) == ("we deploy on Mondays", ["ops"], "semantic")


def test_the_official_client_is_refused_without_the_password(retain, free_port):
    with serving(retain, "--port", str(free_port)) as (_, body):
        with pytest.raises(NotAllowedError):
            sdk(body, password="wrong")
        with Surreal(f"ws://127.0.0.1:{body['port']}") as stranger, pytest.raises(NotAllowedError):
            list(stranger.query("SELECT * FROM memory"))


@pytest.mark.parametrize("settings", [SERVED, IN_FOLDER, {"RETAIN_DEPLOYMENT_MODE": "remote"}])
def test_without_the_extra_one_is_told_what_to_install(retain, monkeypatch, settings):
    monkeypatch.setitem(sys.modules, "surrealdb_embedded", None)
    ended = retain("recall", "anything", **settings)
    assert ended.code == 4
    assert "pip install 'retain-mcp[surrealdb]'" in ended.err


def test_a_remote_database_without_an_address_is_told(retain):
    ended = retain("recall", "anything", RETAIN_DEPLOYMENT_MODE="remote")
    assert ended.code == 2
    assert "remote_url does not say where" in ended.err


def strangers(port, number):
    """So many connections that say what no client of the database says, or leave without a word."""
    for one in range(number):
        with socket.create_connection(("127.0.0.1", port), 20) as stranger:
            stranger.sendall(
                (b"", b"\0\1\2\r\n\r\n", b"GET /rpc HTTP/1.1\r\nHost: x\r\n\r\n", b"EHLO you\r\n")[one % 4]
            )
            stranger.shutdown(socket.SHUT_WR)
            while stranger.recv(4096):
                pass


def test_strangers_at_the_port_cost_a_line_each_ten_times_as_many(retain, free_port):
    with serving(retain, "--port", str(free_port)) as (running, _):
        strangers(free_port, 120)
        running.send_signal(signal.SIGTERM)
        said = running.communicate(timeout=30)[1]
    assert "Traceback" not in said
    lines = [
        line for line in said.splitlines() if line.startswith("a connection did not begin as a client of the database")
    ]
    assert 1 <= len(lines) <= 3 and len(said.splitlines()) <= 5


def test_a_server_whose_output_nobody_reads_goes_on_answering(retain, free_port):
    """Standard error is a pipe that is full from the beginning, so that the first line waits for ever if one waits."""
    unread, full = os.pipe()
    os.set_blocking(full, False)
    with suppress(BlockingIOError):
        while os.write(full, b"x" * 4096):
            pass
    os.set_blocking(full, True)
    running = retain.spawn("db", "serve", "--json", "--port", str(free_port), pipes={"stderr": full})
    try:
        assert json.loads(running.stdout.readline())["port"] == free_port
        strangers(free_port, 40)
        assert retain("db", "status", **SERVED).code == 0
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0
    finally:
        running.kill()
        running.communicate()
        os.close(full)
        os.close(unread)
