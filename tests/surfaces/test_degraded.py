"""A database that is away, as clients and people see it: what replies say, and what status, doctor and queue show."""

import json
import time
from contextlib import closing

import pytest

from retain.domain.connection import Connection, Met, Queued, Reach
from retain.stores.surreal.link.connection import Address, signed_in
from retain.stores.surreal.link.database import Database
from retain.surfaces.degraded import marked
from surfaces.command import Command
from surfaces.waiting import until
from surfaces.wire import Wire, environment, serve_command
from surreal_server import SurrealServer

FACT = {"type": "semantic", "scope": "project"}
QUICK = 2.0  # seconds for one call in a busy test run; the benchmark measures it


@pytest.fixture
def database(tmp_path):
    with SurrealServer(tmp_path / "database") as running:
        yield running


def login(database):
    return {
        "deployment_mode": "remote",
        "remote_url": database.url,
        "remote_user": database.user,
        "remote_pass": database.password,
    }


@pytest.fixture
def wire(tmp_path, database):
    """A server process at its database, with its model loaded: vectors that are made later are writes of their own."""
    opened = Wire(*serve_command("scoped"), env=environment(tmp_path / "home", **login(database)))
    opened.hello()
    assert opened.body("get_memory_status")["connection"]["status"] == "connected"
    until(lambda: opened.body("get_memory_status")["storage"]["embedding_state"] not in ("idle", "loading"))
    yield opened
    opened.end()


@pytest.fixture
def retain(tmp_path, database):
    """The command, on a database that is on a server."""
    command = Command.in_folder(tmp_path / "machine")
    env = {f"RETAIN_{name.upper()}": str(value) for name, value in login(database).items()}
    return lambda *words: command(*words, **env)


def codes(body):
    return [warning["code"] for warning in body["warnings"]]


def test_while_the_database_is_away_writes_wait_and_reads_come_from_the_copy(wire, database):
    before = wire.body("store_memory", content="We deploy on Mondays", **FACT)
    assert "degraded" not in before
    database.stop()
    began = time.monotonic()
    stored = wire.body("store_memory", content="Backups run at midnight", **FACT)
    assert time.monotonic() - began < QUICK
    assert (stored["status"], stored["degraded"], stored["queued"]) == ("stored", True, True)
    assert stored["memory_id"].startswith("memory:")
    found = wire.body("recall_memories", query="when do backups run")
    assert (found["degraded"], "queued" in found) == (True, False)
    assert found["memories"][0]["content"] == "Backups run at midnight"
    (warning,) = [warning for warning in found["warnings"] if warning["code"] == "degraded"]
    assert "1 write waits" in warning["message"]
    assert {memory["content"] for memory in wire.body("recall_memories", query="deploy Mondays")["memories"]} >= {
        "We deploy on Mondays"
    }


def test_status_says_since_when_and_how_much_waits(wire, database):
    database.stop()
    wire.body("store_memory", content="We deploy on Mondays", **FACT)
    connection = wire.body("get_memory_status")["connection"]
    assert connection["status"] in ("reconnecting", "degraded")
    assert connection["since"] and connection["reason"]
    assert connection["queue"]["waiting"] == 1
    assert json.loads(wire.read("memory://status"))["connection"]["queue"]["waiting"] == 1


def test_when_the_database_is_back_everything_is_as_before(wire, database):
    database.stop()
    stored = wire.body("store_memory", content="We deploy on Mondays", **FACT)
    database.start()
    until(lambda: wire.body("get_memory_status")["connection"]["status"] == "connected")
    until(lambda: wire.body("get_memory_status")["connection"]["queue"]["waiting"] == 0)
    found = wire.body("recall_memories", query="deploy")
    assert "degraded" not in found
    assert "degraded" not in codes(found)
    assert [memory["id"] for memory in found["memories"]] == [stored["memory_id"]]


def test_a_command_says_it_on_standard_error_and_the_queue_can_be_looked_at(retain, database):
    database.stop()
    done = retain("remember", "We deploy on Mondays", "--json")
    assert done.code == 0
    assert done.body["memory_id"]
    assert (done.body["degraded"], done.body["queued"]) == (True, True)
    assert "the database is away" in done.body["warnings"][-1]["message"]
    assert "the database is away" in done.err
    assert retain("recall", "deploy", "--json").body["degraded"]
    (row,) = retain("db", "queue", "--json").body["queue"]
    assert row["state"] == "waiting"
    assert "We deploy on Mondays" in row["writes"][0]
    checks = [(check["area"], check["state"]) for check in retain("doctor", "--json").body["checks"]]
    assert ("store", "warn") in checks
    assert ("queue", "warn") in checks
    database.start()
    found = retain("recall", "deploy", "--json")
    assert found.body["memories"][0]["content"] == "We deploy on Mondays"
    assert "away" not in found.err
    assert "degraded" not in found.body
    assert retain("db", "queue", "--json").body == {"queue": [], "elsewhere": []}
    assert ("queue", "ok") in [(check["area"], check["state"]) for check in retain("doctor", "--json").body["checks"]]


def test_what_waits_for_an_address_that_was_wrong_is_shown_and_can_be_sent_to_the_right_one(tmp_path, database):
    command = Command.in_folder(tmp_path / "machine")
    right = {f"RETAIN_{name.upper()}": str(value) for name, value in login(database).items()}
    wrong = right | {"RETAIN_REMOTE_URL": "ws://localhost:9"}
    stored = command("remember", "We deploy on Mondays", "--json", **wrong)
    assert "check the address" in command("status", "--json", **wrong).body["connection"]["reason"]
    (told,) = [
        check for check in command("doctor", "--json", **right).body["checks"] if "ws://localhost:9" in check["note"]
    ]
    assert (told["area"], told["state"]) == ("queue", "warn")
    (other,) = command("db", "queue", "--json", **right).body["elsewhere"]
    assert (other["writes"], "ws://localhost:9" in other["of"]) == (1, True)
    assert "waiting for ws://localhost:9" in command("db", "queue").err
    assert command("db", "queue", "--adopt", "--json", **right).body == {"queue": [], "elsewhere": []}
    (found,) = command("recall", "deploy", "--json", **right).body["memories"]
    assert found["id"] == stored.body["memory_id"]


def test_doctor_looks_into_a_database_on_a_server(retain, database):
    retain("remember", "We deploy on Mondays")
    assert "what it holds is sound" in notes(retain("doctor", "--json"), "ok")
    there = Address(database.url, database.user, database.password)
    with closing(Database(signed_in(there))) as db:
        db.run("DELETE term")
    done = retain("doctor", "--json")
    assert done.code == 6
    assert "the counts of terms and the texts of memories disagree" in notes(done, "fail")


def notes(done, state):
    return " ".join(
        check["note"] for check in done.body["checks"] if (check["area"], check["state"]) == ("store", state)
    )


def test_a_write_that_waits_can_be_given_up(retain, database):
    database.stop()
    retain("remember", "We deploy on Mondays")
    (row,) = retain("db", "queue", "--json").body["queue"]
    assert retain("db", "queue", "--drop", str(row["number"]), "--json").body["queue"] == []
    assert retain("db", "queue", "--drop", "99").code != 0
    assert "the database has all of them" in retain("db", "queue").out


def test_there_is_no_queue_where_the_database_is_in_the_process(tmp_path):
    done = Command.in_folder(tmp_path)("db", "queue")
    assert done.code != 0
    assert "nothing is ever queued" in done.err


def test_a_reply_that_is_only_text_says_it_at_its_end():
    met = Met(read=True, connection=lambda: Connection(Reach.DEGRADED, queued=Queued(2)))
    told = marked("Two memories.", met)
    assert told.startswith("Two memories.\n\n(the database is away")
    assert "2 writes wait" in told


def test_a_reply_of_a_call_that_met_nothing_is_left_as_it_is():
    body = {"warnings": []}
    assert marked(body, Met()) is body
