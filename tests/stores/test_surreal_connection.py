"""Reaching a SurrealDB: signing in, what goes wrong with an address, lost connections, and who has a folder open."""

import http.server
import json
import os
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from websockets.sync.server import serve

from retain.domain.connection import Reach
from retain.errors import ConfigError, QueryTimeout, Refused, SchemaNewer, StoreBusy, StoreDown
from retain.stores.surreal.link import connection, holding
from retain.stores.surreal.link.cbor import decode, encode
from retain.stores.surreal.link.connection import Address, check_server, on_server, signed_in
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.link.failures import Expired, Forbidden, LinkLost
from retain.stores.surreal.link.reconnecting import EVERY, Reconnecting
from retain.stores.surreal.link.socket import SocketLink, address
from surreal_server import SurrealServer


@pytest.fixture(scope="module")
def server():
    with SurrealServer() as running:
        yield running


@pytest.fixture
def own_server():
    with SurrealServer() as running:
        yield running


def now():
    return datetime.now(UTC)


def at(server, **other):
    return replace(Address(server.url, server.user, server.password), **other)


@contextmanager
def opened(address):
    with closing(Database(signed_in(address))) as db:
        yield db


@contextmanager
def reconnecting(server, *, pauses=(0.02,) * 500, **other):
    with closing(Reconnecting(lambda: signed_in(at(server, **other)), now=now, pauses=pauses)) as link:
        yield link


def until(is_so, seconds=20):
    """Waits for another thread."""
    late = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < late, "it did not come to that"
        time.sleep(0.005)


def why(address, error=ConfigError):
    """What is said when it cannot be opened."""
    with pytest.raises(error) as raised:
        signed_in(address)
    assert type(raised.value) is error
    return raised.value.message


def test_whoever_signs_in_finds_a_database_that_is_ready(server):
    with opened(at(server)) as db:
        assert db.run("RETURN 1 + 1") == [2]
        assert db.rows("SELECT VALUE number FROM migration") != []


def test_a_wrong_password_is_told_without_showing_it(server):
    told = why(at(server, password="hunter2"))
    assert "'root'" in told
    assert "check remote_user and remote_pass" in told
    assert "hunter2" not in told + repr(at(server, password="hunter2"))


@pytest.mark.parametrize("level", ["NAMESPACE", "DATABASE"])
def test_a_user_of_a_namespace_or_of_a_database_signs_in_as_one(server, level):
    with opened(at(server)) as db:
        db.run(f"DEFINE USER OVERWRITE ada ON {level} PASSWORD 'lovelace' ROLES EDITOR")
    with opened(at(server, user="ada", password="lovelace")) as db:
        assert db.run("RETURN 1") == [1]


def test_a_user_who_may_only_read_is_told_which_role_it_takes(server):
    with opened(at(server)) as db:
        db.run("DEFINE USER OVERWRITE eve ON DATABASE PASSWORD 'reads' ROLES VIEWER")
    assert "'eve' may not write" in why(at(server, user="eve", password="reads"))


def test_without_a_user_one_is_told_to_name_one(server):
    assert "set remote_user and remote_pass" in why(at(server, user=None, password=None))
    assert "remote_pass is not" in why(at(server, password=None))


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "mysql://localhost/x",
        "ws://",
        "",
        "wss://:8000",
        "ws://a:99999",
        "ws://a:b",
        "ws://[a",
        "ws://a..b",
    ],
)
def test_what_is_no_address_is_told(url):
    assert "remote_url" in why(Address(url))


def test_a_password_in_the_address_is_refused_and_not_repeated():
    assert "hunter2" not in why(Address("ws://ada:hunter2@localhost:8000"))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("ws://host:8000", "ws://host:8000/rpc"),
        ("wss://host/", "wss://host/rpc"),
        ("http://host:8000", "ws://host:8000/rpc"),
        ("https://host/team/rpc", "wss://host/team/rpc"),
    ],
)
def test_an_address_is_completed(given, meant):
    assert address(given) == meant


def test_a_host_that_is_not_known_may_be_known_later():
    assert "no-such-host.invalid" in why(Address("ws://no-such-host.invalid:8000"), LinkLost)


def test_a_closed_port_may_be_open_later(own_server):
    url = own_server.url
    own_server.stop()
    told = why(Address(url), LinkLost)
    assert url in told
    assert "is the database running?" in told


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    status = 404

    def do_GET(self):
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.mark.parametrize(
    ("status", "error"), [(404, ConfigError), (400, ConfigError), (200, ConfigError), (503, LinkLost)]
)
def test_a_web_server_is_no_database_and_one_behind_a_proxy_may_come_up(status, error):
    page = type("Page", (Page,), {"status": status})
    with http.server.ThreadingHTTPServer(("localhost", 0), page) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        assert f"HTTP {status}" in why(Address(f"ws://localhost:{web.server_port}"), error)
        web.shutdown()


def test_a_wrong_path_is_told(server):
    assert "HTTP 404" in why(at(server, url=server.url.replace("/rpc", "/sql")))


@contextmanager
def a_port(answer):
    """Something that takes connections, says something or nothing, and hangs up."""
    with socket.create_server(("localhost", 0)) as listener:

        def accept():
            with listener.accept()[0] as caller:
                caller.recv(1000)
                caller.sendall(answer)

        threading.Thread(target=accept, daemon=True).start()
        yield f"ws://localhost:{listener.getsockname()[1]}"


def test_what_does_not_speak_http_is_no_database():
    with a_port(b"SSH-2.0-OpenSSH_9.7\r\n" * 3) as url:
        assert "no SurrealDB" in why(Address(url))


def test_one_that_hangs_up_may_be_starting():
    with a_port(b"") as url:
        assert "closed it" in why(Address(url), LinkLost)


def test_one_that_says_nothing_is_not_waited_for():
    with socket.create_server(("localhost", 0)) as silent, pytest.raises(LinkLost, match="did not answer within"):
        SocketLink(f"ws://localhost:{silent.getsockname()[1]}", seconds=0.1)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for localhost that only its own context trusts."""
    folder = tmp_path_factory.mktemp("tls")
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", *subject]
    subprocess.run([*made, "-keyout", folder / "key", "-out", folder / "cert"], check=True, capture_output=True)
    return folder


@pytest.fixture
def secure_server(certificate):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate / "cert", certificate / "key")
    with SurrealServer(context=context) as running:
        yield running


def test_a_connection_by_tls_trusts_only_whom_it_knows(secure_server, certificate):
    assert "certificate" in why(at(secure_server))
    trusting = ssl.create_default_context(cafile=certificate / "cert")
    with opened(at(secure_server, context=trusting)) as db:
        assert db.run("RETURN 1") == [1]


def test_tls_to_a_server_without_it_is_told(server):
    assert "ws://" in why(at(server, url=server.url.replace("ws:", "wss:")))


def test_an_old_server_is_noticed_before_anything_is_asked_of_it():
    def answer(socket):
        for message in socket:
            socket.send(encode({"id": decode(message)["id"], "result": "surrealdb-2.3.1"}))

    with serve(answer, "localhost", 0, subprotocols=["cbor"]) as old:
        threading.Thread(target=old.serve_forever, daemon=True).start()
        told = why(Address(f"ws://localhost:{old.socket.getsockname()[1]}", "root", "secret"))
    assert "is SurrealDB 2.3.1, and Retain needs 3.0 or later" in told


@pytest.mark.parametrize("said", ["surrealdb-2.3.1", "surrealdb-1.5.4+20240926"])
def test_an_old_server_is_told_with_the_version_that_is_needed(said):
    with pytest.raises(
        ConfigError, match=r"SurrealDB [12]\.[35]\.\S+, and Retain needs 3\.0 or later; update the server"
    ):
        check_server(said, "ws://localhost:8000")


def test_what_has_no_version_is_no_surrealdb():
    with pytest.raises(ConfigError, match="no SurrealDB"):
        check_server("something", "ws://localhost:8000")


def test_a_database_of_a_newer_retain_is_told(server):
    newer = at(server, database="newer")
    with opened(newer) as db:
        db.run("CREATE migration:999 SET number = 999, name = 'm999'")
    assert "update this one" in why(newer, SchemaNewer)


def test_answers_find_those_who_asked(server):
    answers = {}
    with opened(at(server)) as db:

        def ask(n):
            answers[n] = db.run(f"SLEEP {20 - n}ms; RETURN $n", n=n)[-1]

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == {n: n for n in range(20)}


def test_a_long_message_goes_both_ways(server):
    with opened(at(server)) as db:
        assert db.run("RETURN $it", it=b"x" * 5_000_000) == [b"x" * 5_000_000]


def test_an_answer_that_comes_too_late_is_no_answer_to_the_next_question(server):
    with opened(at(server)) as db:
        with pytest.raises(QueryTimeout):
            db.call("query", "SLEEP 200ms; RETURN 'late'", seconds=0.05)
        assert db.run("SLEEP 300ms; RETURN 'next'")[-1] == "next"


def test_what_is_under_way_when_the_connection_breaks_is_lost_at_once(own_server):
    with opened(at(own_server)) as db:
        threading.Timer(0.1, own_server.cut).start()
        with pytest.raises(LinkLost):  # and not QueryTimeout, which is what waiting for the answer comes to
            db.run("SLEEP 1s")


class Relay:
    """A way to a server that can fall silent: nothing is closed, and nothing arrives."""

    def __init__(self, port):
        self._listener = socket.create_server(("localhost", 0))
        self.url = f"ws://localhost:{self._listener.getsockname()[1]}/rpc"
        self.silent, self.moving = False, threading.Event()
        self.moving.set()
        threading.Thread(target=self._accept, args=(port,), daemon=True).start()

    def _accept(self, port):
        near, far = self._listener.accept()[0], socket.create_connection(("localhost", port))
        for source, target in ((near, far), (far, near)):
            threading.Thread(target=self._pass, args=(source, target), daemon=True).start()

    def _pass(self, source, target):
        with suppress(OSError):  # it was given up meanwhile
            while data := source.recv(65536):
                self.moving.wait()
                if not self.silent:
                    target.sendall(data)


def test_a_cable_that_was_cut_is_noticed_by_the_first_who_waits(server):
    relay = Relay(server.port)
    db = Database(signed_in(at(server, url=relay.url)))
    relay.silent = True
    with pytest.raises(LinkLost, match="no sign of life"):
        db.call("query", "RETURN 1", seconds=0.05)
    with pytest.raises(LinkLost):
        db.run("RETURN 1")


@contextmanager
def answering(handler, **limits):
    """Something that speaks as a server of SurrealDB does, and does this with a connection."""
    with serve(handler, "localhost", 0, subprotocols=["cbor"], **limits) as listener:
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        with closing(SocketLink(f"ws://localhost:{listener.socket.getsockname()[1]}/rpc")) as link:
            yield link
        listener.shutdown()


def test_one_that_takes_nothing_more_is_not_waited_for(server):
    """Neither by a long message, nor by a short one behind it."""
    relay = Relay(server.port)
    with closing(SocketLink(relay.url)) as link:
        relay.moving.clear()
        told = []

        def ask():
            with pytest.raises(LinkLost) as raised:
                link.request(b"x" * 50_000_000, 1, 0.5)
            told.append(raised.value)

        threading.Thread(target=ask, daemon=True).start()
        with pytest.raises(LinkLost):
            link.request(b"x", 2, 1.0)
        until(lambda: told)
        relay.moving.set()


@pytest.mark.parametrize("said", [b"", b"\xa2\x62id", b"\xa1\x62id\xff"])
def test_an_answer_that_is_none_does_not_leave_a_connection_that_nobody_listens_to(said):
    def answer(connection):
        for _ in connection:
            connection.send(said)

    with answering(answer) as link:
        for number in (1, 2):
            with pytest.raises((LinkLost, QueryTimeout)):
                link.request(b"x", number, 0.2)
        listening = [thread for thread in threading.enumerate() if getattr(thread, "_target", None) == link._read]
        assert link.is_lost or listening


def echo(connection):
    for message in connection:
        connection.send(encode({"id": 1, "result": len(message)}))


def test_a_message_longer_than_a_server_takes_is_refused_and_not_sent_again():
    """As one that cannot be sent it would wait, and all others behind it."""
    with answering(echo, max_size=100_000) as link, pytest.raises(Refused, match="MB is more than"):
        link.request(b"x" * 200_000, 1, 5)
    with answering(echo) as link:
        with pytest.raises(Refused, match="more than"):
            link.request(bytes(128 * 2**20 + 1), 1, 5)
        assert decode(link.request(b"x", 1, 5))["result"] == 1


def test_a_long_message_goes_in_frames_that_a_server_takes():
    with answering(echo, max_size=(128 * 2**20, 16 * 2**20)) as link:
        assert decode(link.request(b"x" * 30_000_000, 1, 20))["result"] == 30_000_000


def is_expired(db):
    with suppress(Expired):
        db.run("RETURN 1")
        return False
    return True


def test_whose_session_expires_is_signed_in_again_unnoticed(server):
    with opened(at(server)) as db:
        db.run("DEFINE USER OVERWRITE brief ON ROOT PASSWORD 'brief' ROLES OWNER DURATION FOR SESSION 1s")
    with reconnecting(server, user="brief", password="brief") as link:
        link.open()
        with opened(at(server, user="brief", password="brief")) as later:
            until(lambda: is_expired(later))
        assert Database(link).run("RETURN 1 + 1") == [2]


def test_a_text_about_expired_sessions_is_none(server):
    with opened(at(server)) as db:
        assert db.run("RETURN $it", it="The session has expired") == ["The session has expired"]


def test_after_a_break_one_is_signed_in_again_before_anything_is_sent(own_server):
    with reconnecting(own_server) as link:
        link.open()
        db = Database(link)
        db.run("CREATE thing:1")
        own_server.cut()
        with suppress(LinkLost):  # on a busy machine signing in takes longer than a caller waits
            db.run("RETURN 1")
        until(lambda: link.state().status == Reach.CONNECTED)
        assert db.run("SELECT VALUE id FROM thing") == [[1]]


def test_a_break_under_a_request_is_told_and_the_next_one_is_answered(own_server):
    with reconnecting(own_server) as link:
        link.open()
        db = Database(link)
        threading.Timer(0.1, own_server.cut).start()
        with pytest.raises(LinkLost):
            db.run("SLEEP 1s")
        until(lambda: link.state().status == Reach.CONNECTED)
        assert db.run("RETURN 1") == [1]


def test_while_the_database_is_away_nobody_waits_and_when_it_is_back_all_are_told(tmp_path):
    told = []
    with SurrealServer(tmp_path / "data") as server, reconnecting(server) as link:
        link.on_back(lambda: told.append("back"))
        link.open()
        db = Database(link)
        db.run("CREATE thing:1")
        server.stop()
        with pytest.raises(LinkLost):
            db.run("RETURN 1")
        began = time.monotonic()
        for _ in range(100):
            with pytest.raises(LinkLost, match="away since"):
                db.run("RETURN 1")
        assert time.monotonic() - began < 60
        assert (link.state().status, told) == (Reach.RECONNECTING, [])
        server.start()
        until(lambda: told == ["back"])
        assert (link.state().status, link.state().error) == (Reach.CONNECTED, None)
        assert db.run("SELECT VALUE id FROM thing") == [[1]]


def test_when_quick_tries_have_failed_it_is_degraded_with_a_try_every_half_minute(own_server):
    with reconnecting(own_server, pauses=(0.01,)) as link:
        link.open()
        own_server.stop()
        with pytest.raises(LinkLost):
            Database(link).run("RETURN 1")
        until(lambda: link.state().status == Reach.DEGRADED)
        state = link.state()
        assert "cannot be reached" in state.error
        assert EVERY - 5 < (state.next_try - now()).total_seconds() <= EVERY


def test_a_database_that_may_be_away_at_first_is_found_when_it_is_there(own_server):
    own_server.stop()
    with reconnecting(own_server) as link:
        link.open(may_be_away=True)
        with pytest.raises(LinkLost):
            Database(link).run("RETURN 1")
        own_server.start()
        until(lambda: link.state().status == Reach.CONNECTED)
        assert Database(link).run("RETURN 1") == [1]


def test_one_that_must_be_there_is_not_waited_for(own_server):
    own_server.stop()
    with pytest.raises(LinkLost):
        on_server(at(own_server), now)


def test_what_will_never_work_is_raised_even_when_it_may_be_away(server):
    with pytest.raises(ConfigError, match="password"):
        on_server(at(server, password="wrong"), now, may_be_away=True)


def test_a_password_that_was_changed_meanwhile_is_the_reason_that_is_told(own_server):
    with reconnecting(own_server, password="secret") as link:
        link.open()
        own_server.stop()
        own_server.password = "another"
        own_server.start()
        with pytest.raises(LinkLost):
            Database(link).run("RETURN 1")
        until(lambda: "this password" in (link.state().error or ""))


def test_a_machine_that_is_short_of_threads_for_a_moment_is_not_the_end_of_trying(own_server):
    tries = []

    def opening():
        tries.append(now())
        if len(tries) == 2:
            raise RuntimeError("can't start new thread")
        return signed_in(at(own_server))

    with closing(Reconnecting(opening, now=now, pauses=(0.02,) * 500)) as link:
        link.open()
        own_server.cut()
        until(lambda: answers(link) and len(tries) > 2)


def answers(link):
    with suppress(LinkLost):
        return Database(link).run("RETURN 1") == [1]
    return False


def test_after_it_was_closed_nothing_is_tried(own_server):
    link = on_server(at(own_server), now)
    link.close()
    with pytest.raises(StoreDown, match="closed"):
        Database(link).run("RETURN 1")
    assert "surreal-reconnect" not in {thread.name for thread in threading.enumerate()}


def test_a_connection_has_no_rights_but_those_of_its_user(server):
    with closing(Database(SocketLink(server.url))) as stranger, opened(at(server)) as db:
        with pytest.raises(Forbidden):
            stranger.run("RETURN 1")
        with pytest.raises(Forbidden):
            stranger.call("query", "SELECT * FROM memory", {}, seconds=5)
        assert db.run("RETURN 1") == [1]


@pytest.mark.parametrize("method", ["attach", "detach", "sessions", "live", "export", "nonsense"])
def test_methods_that_make_no_sense_over_the_bridge_are_refused(server, method):
    with opened(at(server)) as db, pytest.raises(StoreDown, match="does not have that method"):
        db.call(method)


def test_a_session_that_a_client_names_is_not_taken(server):
    with closing(SocketLink(server.url)) as link:
        for session in (None, "", "8fcdc1a6-26e5-47ce-ac81-c48683a04128"):
            asked = encode({"id": 1, "method": "query", "params": ["INFO FOR ROOT"], "session": session})
            assert decode(link.request(asked, 1, 5))["error"]["kind"] == "NotAllowed"


def test_a_folder_is_private_and_says_who_has_it_open(tmp_path):
    folder = tmp_path / "home" / "retain.surrealkv"
    with closing(connection.in_folder(folder)):
        note = folder / holding.NOTE
        assert json.loads(note.read_text())["pid"] == os.getpid()
        assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder.parent, note)] == [0o700, 0o700, 0o600]
        with pytest.raises(StoreBusy) as raised:
            connection.in_folder(folder)
    assert f"process {os.getpid()} (`" in raised.value.message
    assert "set store to sqlite" in raised.value.message
    assert "`retain db serve`" in raised.value.message
    assert not note.exists()
    with closing(connection.in_folder(folder)) as db:
        assert db.run("RETURN 1") == [1]


HOLD = """
import sys
from pathlib import Path
from retain.stores.surreal.link.connection import in_folder
db = in_folder(Path(sys.argv[1]))
db.run("CREATE thing:1")
print("open", flush=True)
sys.stdin.read()
"""


def test_the_note_of_a_process_that_was_killed_means_nothing(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path / "data")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(StoreBusy, match=f"process {other.pid} "):
            connection.in_folder(tmp_path / "data")
        other.kill()
    assert holding.holder(tmp_path / "data") == "another process"
    with closing(connection.in_folder(tmp_path / "data")) as db:
        assert db.run("SELECT VALUE id FROM thing") == [[1]]


def test_a_path_that_cannot_be_a_folder_is_told(tmp_path):
    (tmp_path / "file").write_text("text")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(StoreDown, match=r"cannot be written: .* Set RETAIN_HOME or db_path"):
            connection.in_folder(folder)


def test_a_question_mark_in_a_path_would_lead_elsewhere_and_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="question mark"):
        connection.in_folder(tmp_path / "what?" / "data")
    assert list(tmp_path.iterdir()) == []


FILL = """
import resource, sys
from pathlib import Path
from retain.errors import RetainError, StorageFull
from retain.stores.surreal.link.connection import in_folder
def limited(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
limited(int(sys.argv[2]))
try:
    db = in_folder(Path(sys.argv[1]))
    for n in range(300):
        db.run("CREATE thing CONTENT { text: $text }", text="word " * 2000)
except StorageFull as error:
    print("full:", error.message)
"""


@pytest.mark.parametrize("size", [100, 300_000])
def test_a_full_disk_is_told_when_it_is_opened_and_when_it_is_written(tmp_path, size):
    command = [sys.executable, "-c", FILL, str(tmp_path / "data"), str(size)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
    )
    assert done.stdout.startswith("full: the disk "), done
