"""Whatever is wrong with the memory, the session goes on, the answer comes, and it comes in time."""

import os
import shutil
import signal
import socket
import subprocess

import pytest

from e2e.client import until

pytestmark = pytest.mark.e2e

DECISION = "We decided to use Postgres for the ledger because entries and balances must change in one transaction."
PROMPTS = ("which database do we use for the ledger?", "and why?", "thanks")


@pytest.fixture
def goes_on(bare, api, measured):
    """Says that a session in some trouble is answered like one without memory, and by how much later.

    A hook that hangs is ended by the client, and that is no success.
    """

    def check(session):
        without = bare.ask(api, *PROMPTS)
        slowest = max(session.hooks, key=lambda hook: hook.milliseconds)
        measured(
            f"{session.seconds:.2f} s, {without.seconds:.2f} s without memory; "
            f"slowest hook {slowest.name} {slowest.milliseconds:.0f} ms"
        )
        assert len(session.hooks) >= 2 * len(PROMPTS)
        for hook in session.hooks:
            assert hook.outcome == "success", hook

    return check


def asked(home, api, **options):
    """The prompts, each with its answer."""
    api.answering(*(f"Answer {number}." for number in range(len(PROMPTS))))
    with home.session(api, **options) as session:
        answers = [session.say(prompt) for prompt in PROMPTS]
    assert [answer.text for answer in answers] == [f"Answer {number}." for number in range(len(PROMPTS))]
    return session


@pytest.fixture
def knowing(ada, api):
    ada.ask(api, DECISION)
    return ada


def test_a_database_full_of_rubbish(knowing, api, goes_on):
    for file in knowing.retain_home.glob("retain.db*"):
        file.unlink()
    knowing.database.write_bytes(os.urandom(200_000))
    goes_on(asked(knowing, api))


@pytest.mark.slow
def test_a_database_that_breaks_off_in_the_middle(knowing, api, goes_on):
    for file in knowing.retain_home.glob("retain.db-*"):
        file.unlink()
    os.truncate(knowing.database, knowing.database.stat().st_size // 2)
    goes_on(asked(knowing, api))


@pytest.mark.slow
def test_a_file_where_the_folder_should_be(knowing, api, goes_on):
    shutil.rmtree(knowing.retain_home)
    knowing.retain_home.write_text("not a folder")
    goes_on(asked(knowing, api))


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read(knowing, api, goes_on):
    knowing.retain_home.chmod(0)
    try:
        goes_on(asked(knowing, api))
    finally:
        knowing.retain_home.chmod(0o700)


@pytest.mark.slow
def test_a_folder_that_leads_round_in_a_circle(knowing, api, goes_on):
    shutil.rmtree(knowing.retain_home)
    knowing.retain_home.symlink_to(knowing.retain_home)
    goes_on(asked(knowing, api))


@pytest.mark.slow
def test_a_database_that_another_process_keeps_locked(knowing, api, goes_on):
    import sqlite3

    holder = sqlite3.connect(knowing.database, isolation_level=None)
    holder.execute("begin exclusive")
    try:
        session = asked(knowing, api)
    finally:
        holder.close()
    goes_on(session)
    knowing.settle()


def on_a_full_disk(home):
    """A command that starts another with the memory on a small disk without room; None where that is not permitted."""
    kept = shutil.copytree(home.retain_home, home.folder / "kept")
    script = (
        f"mount -t tmpfs -o size=3m tmpfs {home.retain_home} && cp -a {kept}/. {home.retain_home}"
        f' && (cat /dev/zero > {home.retain_home}/filling 2>/dev/null; exec "$@")'
    )
    under = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    probe = [*under, "sh", "-c", f"! echo x > {home.retain_home}/probe"]
    if shutil.which("unshare") and not subprocess.run(probe, check=False, capture_output=True).returncode:
        return under
    return None


def test_a_full_disk(knowing, api, goes_on):
    under = on_a_full_disk(knowing)
    if under is None:
        pytest.skip("this machine does not let a user mount a disk of their own")
    goes_on(asked(knowing, api, under=under))


@pytest.fixture
def in_trouble(knowing, api, goes_on):
    """Says that prompts are answered, with what their words say, though something was done to the living server."""
    knowing.settings["RETAIN_INJECT_TOKENS"] = "1"
    api.answering(*(f"Answer {number}." for number in range(len(PROMPTS))))

    def check(befall):
        with knowing.session(api) as session:
            until(lambda: knowing.servers, "the server listens")
            befall()
            answers = [session.say(prompt) for prompt in PROMPTS]
        assert not any(answer.failed for answer in answers)
        assert any("Postgres" in note.text for note in session.requests[-1].notes)
        goes_on(session)

    return check


def signalled(home, number):
    servers = [process.pid for process in home.processes() if " serve" in process.command]
    assert servers
    for pid in servers:
        os.kill(pid, number)


def test_a_server_that_hangs(knowing, in_trouble):
    in_trouble(lambda: signalled(knowing, signal.SIGSTOP))


@pytest.mark.slow
def test_a_server_that_was_killed(knowing, in_trouble):
    in_trouble(lambda: signalled(knowing, signal.SIGKILL))


@pytest.mark.slow
def test_a_socket_that_accepts_and_never_answers(knowing, in_trouble):
    with socket.socket(socket.AF_UNIX) as deaf:

        def take_its_place():
            (place,) = knowing.servers
            place.unlink()
            deaf.bind(str(place))
            place.chmod(0o600)
            deaf.listen()

        in_trouble(take_its_place)
        deaf.setblocking(False)
        assert deaf.accept(), "somebody came"


@pytest.mark.slow
def test_a_home_whose_path_is_too_long_for_a_socket(homes, api, goes_on):
    far = homes("/".join(["a-folder-with-quite-a-long-name"] * 4)).connect()
    far.ask(api, DECISION)
    session = asked(far, api)
    assert any("Postgres" in note.text for note in session.requests[0].notes)
    goes_on(session)


@pytest.mark.slow
def test_a_client_that_is_killed_leaves_nobody_behind_and_nothing_is_lost(ada, api):
    with ada.session(api) as session:
        session.say(DECISION)
        session.say("go on")
        session.process.kill()
        session.process.wait(timeout=10)
        session.end = lambda: None
    ada.settle()
    assert any("Postgres" in memory for memory in ada.memories())
