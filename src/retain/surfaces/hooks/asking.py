"""Asking a living server what fits a prompt: over a local socket, one line of JSON each way, or not at all.

A server has its model loaded, which no hook could do in time. One that does not answer at once is not waited for.
"""

import os
import time

from retain.quick_json import parsed, written
from retain.run_files import names_in, read_object, remove

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Server = Mapping[str, object]

SECONDS = 0.05  # in all, however many servers there are
MOST_REPLY = 1_000_000


def folder(home: str) -> str:
    return os.path.join(home, "run", "servers")


def ask(
    home: str, client: int, request: "Mapping[str, object]", seconds: float = SECONDS
) -> "dict[str, object] | None":
    """The first good answer of a server on `request["store"]`, the client's own server first; None when there is none.

    A server that has ended without a trace is forgotten.
    """
    late = time.monotonic() + seconds
    for path, server in _servers(home, client, request.get("store")):
        try:
            answer = _exchange(server, request, late)
        except (ConnectionRefusedError, FileNotFoundError):
            _forget(path, server)
            continue
        except (OSError, ValueError):
            answer = None
        if isinstance(answer, dict) and "notes" in answer:
            return answer
        if time.monotonic() >= late:
            break
    return None


def _servers(home: str, client: int, store: object) -> "list[tuple[str, Server]]":
    """Those that say they serve this store: of this client, then the one that came last."""
    where = folder(home)
    paths = [os.path.join(where, name) for name in names_in(where)]
    known = [(path, server) for path in paths if (server := read_object(path)).get("store") == store]
    return sorted(known, key=lambda each: (each[1].get("parent") == client, str(each[1].get("at"))), reverse=True)


def _exchange(server: "Server", request: "Mapping[str, object]", late: float) -> object:
    connection = _connected(server, late)
    try:
        line = written({**request, "token": server.get("token")}) + "\n"
        _wait_until(connection, late)
        connection.sendall(line.encode("utf-8", "replace"))
        reply = b""
        while not reply.endswith(b"\n"):
            _wait_until(connection, late)
            chunk = connection.recv(65_536)
            reply += chunk
            if not chunk or len(reply) > MOST_REPLY:
                return None
        return parsed(reply.decode("utf-8", "replace"))
    finally:
        connection.close()


def _connected(server: "Server", late: float) -> "Any":  # Any: a socket of the C module, which has no type
    # `socket` takes 8 ms to import, and all of it that is needed is in its C part.
    import _socket

    path, port = server.get("socket"), server.get("port")
    is_unix = isinstance(path, str) and hasattr(_socket, "AF_UNIX")
    connection: Any = _socket.socket(_socket.AF_UNIX if is_unix else _socket.AF_INET, _socket.SOCK_STREAM)
    try:
        _wait_until(connection, late)
        connection.connect(path if is_unix else ("127.0.0.1", int(str(port))))
    except BaseException:
        connection.close()
        raise
    return connection


def _wait_until(connection: "Any", late: float) -> None:
    left = late - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)


def _forget(path: str, server: "Server") -> None:
    """Removes what is left of a server; one on another machine that shares the folder cannot be reached from here."""
    if server.get("host") == host():
        remove(path)
        if isinstance(server.get("socket"), str):
            remove(str(server["socket"]))


def host() -> str:
    import _socket

    return str(_socket.gethostname())
