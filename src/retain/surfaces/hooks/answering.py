"""The server's side: it tells hooks what fits a prompt, over a socket that only this user can open.

Beside the socket lies `<pid>.json`, which says where it is, whose server it is and which store it serves.
"""

import contextlib
import json
import logging
import os
import queue
import secrets
import socket
import tempfile
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retain.domain.memory import Memory
from retain.engine.lifecycle.redact import MARK, redact
from retain.engine.offer import Note, Offered, Prompted
from retain.errors import RetainError, invalid
from retain.run_files import make_folder, remove, write_private
from retain.surfaces.hooks.asking import SECONDS, folder, host
from retain.surfaces.hooks.injected import PROMPT
from retain.whereabouts import name_for

if TYPE_CHECKING:
    from retain.app import Retain

logger = logging.getLogger(__name__)

WORKERS = 4
WAITING = 64  # connections that may wait for a worker; more are turned away, and answer from keywords
MOST_REQUEST = 200_000
PATIENCE = 0.25  # seconds for the rest of a request
LONGEST_PATH = 100  # bytes; systems differ, and the least is 104 with the final zero
TEXT = 1_000  # characters of a memory that go to a hook


class Answering:
    """Listens from `start` to `close`, in threads that never keep a process alive."""

    def __init__(self, app: "Retain", *, unix: bool | None = None) -> None:
        """`unix`: whether by a Unix socket, which is the way where there is one."""
        self._app = app
        self._home = os.path.abspath(app.settings.home.expanduser())
        self._unix = hasattr(socket, "AF_UNIX") if unix is None else unix
        self._token = secrets.token_hex(16)
        self._waiting: queue.Queue[tuple[socket.socket, float]] = queue.Queue(WAITING)
        self._listener: socket.socket | None = None
        self._made: list[Path] = []

    @property
    def file(self) -> Path:
        return Path(folder(self._home)) / f"{os.getpid()}.json"

    def start(self) -> None:
        """Raises OSError where nothing can be listened on; then hooks go without."""
        make_folder(folder(self._home))
        self._listener, address = self._listen_on_path() if self._unix else self._listen_on_port()
        self._listener.listen(128)
        for work in (self._accept, *[self._work] * WORKERS):
            threading.Thread(target=work, daemon=True, name="retain-hooks").start()
        about = {
            "pid": os.getpid(),
            "parent": os.getppid(),
            "host": host(),
            "at": time.time(),
            "store": name_for(self._app.loaded),
            "token": self._token,
        }
        write_private(str(self.file), json.dumps(about | address))
        self._made.append(self.file)

    def close(self) -> None:
        """Takes its files away first, so that nobody asks a server that is leaving."""
        made, self._made = self._made, []
        for path in reversed(made):
            if path.is_dir():
                with contextlib.suppress(OSError):
                    path.rmdir()
            else:
                remove(str(path))
        if self._listener:
            self._listener.close()

    def _listen_on_path(self) -> tuple[socket.socket, dict[str, object]]:
        path = Path(folder(self._home)) / f"{os.getpid()}.sock"
        if len(os.fsencode(path)) > LONGEST_PATH:
            # Made for this user alone, under a name that nobody can guess.
            path = Path(tempfile.mkdtemp(prefix="retain-")) / "s"
            self._made.append(path.parent)
        remove(str(path))  # of an earlier process that had the same number
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        self._made.append(path)
        path.chmod(0o600)
        return listener, {"socket": str(path)}

    def _listen_on_port(self) -> tuple[socket.socket, dict[str, object]]:
        """Anybody on this machine can reach a port, so whoever asks has to know the token."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.bind(("127.0.0.1", 0))
        return listener, {"port": listener.getsockname()[1]}

    def _accept(self) -> None:
        listener = self._listener
        while listener is not None:
            try:
                connection, _ = listener.accept()
            except OSError:
                if not self._made:
                    return  # closed
                time.sleep(0.05)  # out of file handles, for the moment
                continue
            try:
                self._waiting.put_nowait((connection, time.monotonic()))
            except queue.Full:
                connection.close()

    def _work(self) -> None:
        while True:
            connection, since = self._waiting.get()
            with contextlib.suppress(OSError), connection:
                # Who asked has given up by now.
                if time.monotonic() - since < SECONDS:
                    connection.settimeout(PATIENCE)
                    connection.sendall(self._reply(_line(connection)) + b"\n")

    def _reply(self, line: bytes) -> bytes:
        try:
            body = self.answer(line)
        except RetainError as error:
            body = {"error": error.code, "message": error.message}
        except Exception as error:
            logger.exception("a hook's question failed")
            body = {"error": "internal_error", "message": f"{type(error).__name__}; the server's log has the details"}
        return json.dumps(body, separators=(",", ":")).encode()

    def answer(self, line: bytes) -> dict[str, object]:
        """What a hook is told. Raises InvalidInput for a request that makes no sense."""
        request = _request(line)
        if not secrets.compare_digest(str(request.get("token")), self._token):
            raise invalid("token", "…", "is not that of this server")
        # The embedder may be a stranger's endpoint, and a hook has no time to look for secrets.
        prompt, seen = MARK.sub(" ", redact(_text(request, "prompt")).text), request.get("seen")
        if not isinstance(seen, list):
            raise invalid("seen", seen, "must be a list of ids")
        lost = request.get("lost")
        prompted = Prompted(prompt, datetime.fromtimestamp(lost, UTC) if isinstance(lost, int | float) else None)
        place = Path(_text(request, "project_dir"))
        caller = self._app.caller(_text(request, "session") or None, user=_text(request, "user"), folder=place)
        offered = self._app.engine.offer(prompted, caller, frozenset(map(str, seen)))
        return _told(offered, prompt)


def _line(connection: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n") and len(data) <= MOST_REQUEST:
        chunk = connection.recv(65_536)
        if not chunk:
            break
        data += chunk
    return data


def _request(line: bytes) -> Mapping[str, Any]:  # Any: JSON from outside
    if len(line) > MOST_REQUEST:
        raise invalid("request", f"{len(line):,} bytes", f"longer than {MOST_REQUEST:,} bytes")
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise invalid("request", line[:50].decode("utf-8", "replace"), "must be one line with a JSON object")
    return found


def _text(request: Mapping[str, Any], name: str) -> str:
    value = request.get(name)
    if not isinstance(value, str):
        raise invalid(name, value, "must be a text")
    return value.encode("utf-8", "replace").decode()


def _told(offered: Offered, prompt: str) -> dict[str, object]:
    """With the prompt as it may be written down."""
    kept = " ".join(prompt.split())[:PROMPT] if offered.notes else ""
    return {"notes": [_note(note) for note in offered.notes], "by_meaning": offered.by_meaning, "prompt": kept}


def _note(note: Note) -> dict[str, object]:
    memory = note.memory
    return {
        "id": memory.id,
        "title": memory.title,
        "text": memory.text[:TEXT],
        "kind": memory.kind.value,
        "category": memory.category,
        "scope": memory.scope.value,
        "said_by": memory.metadata.get("said_by"),
        "updated": memory.updated.timestamp(),
        "said": memory.last_said.timestamp(),
        "score": round(note.score, 3),
        "terms": {name: round(value, 3) for name, value in note.terms.items()},
        "replaces": note.replaces,
        "earlier": _earlier(note.before) if note.before else None,
    }


def _earlier(before: Memory) -> dict[str, object]:
    said_by, said = before.metadata.get("said_by"), before.last_said.timestamp()
    return {"title": before.title, "text": before.text[:TEXT], "said_by": said_by, "said": said}
