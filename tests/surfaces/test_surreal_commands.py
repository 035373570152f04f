"""Commands on SurrealDB in a folder of this machine: what they say of it, and what they say without the extra."""

import os
import stat
import sys

import pytest

from retain.app import Retain
from retain.config import apart, load
from retain.surfaces.hooks import injected
from surfaces.command import Command

DEPLOY = "Deploys go through the staging cluster first."
HERE = {"RETAIN_STORE": "sqlite", "RETAIN_DEPLOYMENT_MODE": "embedded-file"}
IN_FOLDER = {"RETAIN_STORE": "surrealdb", "RETAIN_DEPLOYMENT_MODE": "embedded-file"}


@pytest.fixture
def command(tmp_path):
    return Command.in_folder(tmp_path)


@pytest.fixture
def retain(command):
    return lambda *words, **env: command(*words, **IN_FOLDER, **env)


@pytest.fixture
def folder(command):
    return command.home / "retain.surrealkv"


@pytest.fixture
def held(command):
    """The folder, open in another place."""
    settings = {"home": command.home, "project_dir": command.project, "store": "surrealdb", "embedding_model": "off"}
    with Retain(load(settings, apart(command.home))) as app:
        app.remember(DEPLOY)
        yield app


def checks(done, area):
    return [check for check in done.body["checks"] if check["area"] == area]


def test_doctor_finds_nothing_wrong_with_a_sound_folder(retain, folder):
    assert "is made when something is first remembered" in checks(retain("doctor", "--json"), "store")[0]["note"]
    assert not folder.exists()
    retain("remember", DEPLOY)
    retain("backup")
    done = retain("doctor", "--json")
    assert (done.code, {check["state"] for check in checks(done, "store")}) == (0, {"ok"})
    assert str(folder) in checks(done, "store")[0]["note"]


def test_doctor_closes_up_the_folder_and_its_owner_can_still_enter_it(retain, folder):
    retain("remember", DEPLOY)
    folder.chmod(0o755)
    assert retain("doctor").code == 6
    assert retain("doctor", "--repair", "--json").body["repaired"] == [f"{folder} is private now"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert retain("recall", "deploy").code == 0


@pytest.mark.usefixtures("held")
def test_a_folder_that_another_process_has_open_is_no_fault(command):
    done = command.process("doctor", "--json", **IN_FOLDER)
    (check,) = checks(done, "store")
    assert (done.code, check["state"]) == (0, "warn")
    assert "retain db serve" in check["note"]


def test_why_reads_what_was_shown_from_the_folder(retain, command):
    id = retain("remember", DEPLOY, "--json").body["memory_id"]
    entry = {"at": 1.0, "event": "UserPromptSubmit", "memory": id.partition(":")[2], "tokens": 9, "path": "words"}
    injected.record(str(command.home), "one", [entry])
    (shown,) = retain("why", "--json").body["injected"]
    assert (shown["text"], shown["state"]) == (DEPLOY, "active")


def test_restore_says_how_a_backup_gets_into_surrealdb_and_asks_nothing(retain, tmp_path):
    retain("remember", DEPLOY)
    file = tmp_path / "copy.db"
    retain("backup", str(file))
    done = retain("restore", str(file))
    assert done.code == 5
    assert f"retain copy --from sqlite:{file} --to current" in done.err


def test_what_would_be_summed_up_is_not_looked_for_in_a_store_that_is_not_there(retain, folder):
    retain("init", "--dry-run")
    assert not folder.exists()


def test_status_and_config_name_the_database_on_a_server_and_show_no_key(command):
    away = {"RETAIN_DEPLOYMENT_MODE": "remote", "RETAIN_REMOTE_URL": "ws://localhost:9", "RETAIN_DATABASE": "d"}
    assert "ws://localhost:9, database d in namespace memory" in command("status", **away).out
    settings = command("config", "--json", **away, RETAIN_LLM_KEY="quiet")
    assert settings.body["settings"]["store"]["value"] == "surrealdb"
    assert "quiet" not in settings.out


def test_what_retain_db_serve_serves_is_backed_up_every_day_by_those_who_use_it(command):
    serving = command.spawn("db", "serve", "--json", env=HERE)
    assert serving.stdout.readline()
    served = {"home": command.home, "project_dir": command.project, "deployment_mode": "local-server"}
    with Retain(load({**served, "embedding_model": "off"}, apart(command.home))) as app:
        app.remember(DEPLOY)
        app.look_after()
        assert app.engine.settle(20)
        assert len(list(app.settings.backups.glob("retain-*.db"))) == 1
    serving.terminate()
    serving.communicate(timeout=30)


@pytest.mark.usefixtures("held")
def test_db_status_says_when_another_process_has_the_folder(command):
    done = command.process("db", "status", "--json", **IN_FOLDER)
    assert done.code == 4
    assert "is open in" in done.body["error"]


def test_in_memory_a_command_says_that_nothing_lasts(command):
    done = command("remember", DEPLOY, RETAIN_DEPLOYMENT_MODE="embedded-memory")
    assert "ends with this command" in done.err


def test_a_variable_that_was_misspelt_is_told(command):
    done = command("status", RETAIN_STROE="surrealdb")
    assert "RETAIN_STROE is no variable of Retain; did you mean RETAIN_STORE?" in done.err


def test_a_home_that_a_server_mode_has_made_is_private(command):
    command("status", RETAIN_DEPLOYMENT_MODE="remote", RETAIN_REMOTE_URL="ws://localhost:9")
    assert stat.S_IMODE(command.home.stat().st_mode) == 0o700


def test_db_alone_ends_as_its_status_does(command):
    away = {"RETAIN_DEPLOYMENT_MODE": "remote", "RETAIN_REMOTE_URL": "ws://localhost:9"}
    assert command("db", **away).code == command("db", "status", **away).code == 4


@pytest.mark.parametrize(
    ("words", "env"),
    [
        (["remember", "something"], IN_FOLDER),
        (["remember", "something"], {"RETAIN_DEPLOYMENT_MODE": "remote", "RETAIN_REMOTE_URL": "ws://localhost:9"}),
        (["db", "serve"], {}),
        (["copy", "--to", "ws://localhost:9"], {}),
        (["copy", "--to", "surrealkv:there"], {}),
    ],
)
def test_without_the_extra_every_command_says_what_to_install(command, monkeypatch, words, env):
    command("remember", "there is something to copy", **HERE)
    monkeypatch.setitem(sys.modules, "surrealdb_embedded", None)  # as if it were not installed
    done = command(*words, **(HERE | env))
    assert done.code == 4
    assert "pip install 'retain-mcp[surrealdb]'" in done.err


@pytest.mark.parametrize("closed", [(1,), (2,), (1, 2)])
def test_closed_streams_are_no_fault(command, closed):
    def close():
        for stream in closed:
            os.close(stream)

    running = command.spawn("remember", DEPLOY, preexec_fn=close)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, "Traceback" in err) == (0, False)
