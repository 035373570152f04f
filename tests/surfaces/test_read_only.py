"""A disk that cannot be written to: memories are still read, and whoever stores one is told why that fails."""

import json
import shutil
import subprocess
import sys

import pytest

from surfaces.command import SOURCES, Command

DEPLOY = "We deploy on Mondays"
MOUNT = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
WAY = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNT)
GLANCE = """
import sys
from retain.stores.sqlite.glance import opened
print(opened(sys.argv[1], 5.0).execute("select text from memory").fetchone()[0])
"""
pytestmark = pytest.mark.sqlite


def can_mount(folder):
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*WAY, str(folder), "true"], capture_output=True, check=False).returncode == 0


@pytest.fixture
def command(tmp_path):
    """One whose home has one memory."""
    if not can_mount(tmp_path):
        pytest.skip("this machine lets nobody mount a folder read-only")
    command = Command.in_folder(tmp_path)
    assert command("remember", DEPLOY).code == 0
    return command


@pytest.fixture
def python(command):
    """Runs Python where the home is mounted read-only."""

    def run(*words):
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONPATH": str(SOURCES), **command._env}
        own = [*WAY, str(command.home), sys.executable, *words]
        return subprocess.run(own, env=env, cwd=command.project, capture_output=True, text=True, check=False)

    return run


def test_memories_are_read_and_every_answer_says_that_nothing_can_be_stored(python):
    body = json.loads(python("-m", "retain", "recall", "deploy", "--json").stdout)
    assert [memory["content"] for memory in body["memories"]] == [DEPLOY]
    assert [warning["code"] for warning in body["warnings"]] == ["read_only"]
    stored = python("-m", "retain", "remember", "We deploy on Fridays")
    assert stored.returncode == 4
    assert "cannot be written to" in stored.stderr and "RETAIN_HOME" in stored.stderr


def test_doctor_advises_no_repair_where_the_disk_is_read_only(python):
    checks = json.loads(python("-m", "retain", "doctor", "--json").stdout)["checks"]
    advised = {check["repair"] for check in checks if check["state"] == "fail"}
    assert advised and not [each for each in advised if "doctor --repair" in each or "chmod" in each]


def test_hooks_read_there_too(python, command):
    assert python("-c", GLANCE, str(command.home / "retain.db")).stdout.strip() == DEPLOY


def test_a_repair_there_says_what_it_cannot_write(python, command):
    command.home.chmod(0o755)
    done = python("-m", "retain", "doctor", "--repair")
    assert done.returncode == 4, done.stderr
    assert str(command.home) in done.stderr and "cannot be written to" in done.stderr
