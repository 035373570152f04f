"""One engine for many processes: its messages over WebSockets, each connection signed in for itself."""

import asyncio
import os
import re
import socket
import ssl
import uuid
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

import cbor2
from surrealdb_embedded import AsyncEmbeddedDB
from websockets.asyncio.server import Server, ServerConnection, serve, unix_serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from retain.errors import ConfigError, StoreDown
from retain.stores.surreal.link import holding
from retain.stores.surreal.link.embedded import folder_url, unopened

_AT_ONCE = 32
_LET_GO_SECONDS = 0.1
# What makes no sense through here is left out: sessions are ours, and nothing is sent that nobody asked for (live).
_METHODS = frozenset(
    (
        *("ping", "version", "info", "use", "signin", "authenticate", "invalidate", "reset", "let", "set", "unset"),
        *("query", "run", "begin", "commit", "cancel", "select", "create", "insert", "insert_relation", "relate"),
        *("update", "upsert", "merge", "patch", "delete"),
    )
)


class Serving:
    """An engine and the doors to it. Whoever comes in through one has no rights until they have signed in."""

    def __init__(self, engine: AsyncEmbeddedDB, folder: Path | None = None) -> None:
        self._engine, self._folder = engine, folder
        self._doors: list[Server] = []
        self._connections: set[ServerConnection] = set()
        self._sockets: list[Path] = []

    @classmethod
    async def opened(cls, folder: Path | None = None) -> "Serving":
        """The database in a folder, or without one a new one in memory."""
        url = folder_url(folder) if folder else "mem://"
        try:
            engine = AsyncEmbeddedDB(url)
            await engine.connect()
        except RuntimeError as error:
            raise unopened(folder or Path(url), error) from error
        if folder:
            holding.sign(folder)
        return cls(engine, folder)

    async def define_user(self, name: str, password: str) -> None:
        """Lets somebody in who may do everything. SurrealDB takes name and password as literals only."""
        if not re.fullmatch(r"[a-z]+", name) or not password.isprintable():
            raise ConfigError("a password for the database is one line of printable characters")
        literal = password.replace("\\", "\\\\").replace("'", "\\'")
        query = f"DEFINE USER OVERWRITE {name} ON ROOT PASSWORD '{literal}' ROLES OWNER"
        answer = await self._ask("query", params=[query])
        if answer.get("error") or answer["result"][0]["status"] != "OK":
            raise StoreDown("SurrealDB did not take the user and password")  # its own words might show the password

    async def listen(self, port: int = 0, context: ssl.SSLContext | None = None) -> int:
        """Opens a port of this machine, to nobody from outside; without a number a free one, which is returned."""
        try:
            door = await serve(self._handle, "127.0.0.1", port, ssl=context, **_MANNERS)
        except OSError as error:
            raise StoreDown(f"port {port} cannot be opened: {os.strerror(error.errno or 0)}; choose another") from error
        self._doors.append(door)
        return int(next(iter(door.sockets)).getsockname()[1])

    async def listen_at(self, path: Path) -> None:
        """Opens a socket file that only this user can use; what a server that crashed has left there is replaced."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            path.unlink(missing_ok=True)
            listener.bind(str(path))
            path.chmod(0o600)
        except OSError as error:
            listener.close()
            raise StoreDown(f"the socket {path} cannot be made: {error.strerror or error}; use --port") from error
        self._sockets.append(path)
        self._doors.append(await unix_serve(self._handle, sock=listener, **_MANNERS))

    async def cut(self) -> None:
        """Ends every connection without a word, as a cable does that is pulled out."""
        for connection in list(self._connections):
            connection.transport.abort()

    async def close(self) -> None:
        """Lets what is under way finish, says goodbye to all, and leaves nothing behind."""
        for door in self._doors:
            door.close()
        for path in self._sockets:
            path.unlink(missing_ok=True)
        for door in self._doors:
            await door.wait_closed()
        if self._folder:
            holding.unsign(self._folder)
        await self._engine.close()
        # The engine's threads still let go of what they had of the interpreter's. One that does so while the process
        # ends aborts it: two of eight runs did, and none of twelve with this pause.
        await asyncio.sleep(_LET_GO_SECONDS)

    async def _handle(self, connection: ServerConnection) -> None:
        session = str(uuid.uuid4())
        self._connections.add(connection)
        await self._ask("attach", session=session)
        try:
            await self._answer_all(connection, session)
        finally:
            self._connections.discard(connection)
            await self._ask("detach", session=session)

    async def _answer_all(self, connection: ServerConnection, session: str) -> None:
        places = asyncio.Semaphore(_AT_ONCE)
        async with asyncio.TaskGroup() as tasks:
            # When the connection breaks, what is under way is finished, and told to nobody.
            with suppress(ConnectionClosed):
                async for message in connection:
                    await places.acquire()
                    answering = tasks.create_task(self._answer(connection, message, session))
                    answering.add_done_callback(lambda _: places.release())

    async def _answer(self, connection: ServerConnection, message: str | bytes, session: str) -> None:
        answer = await self._answered(message, session)
        with suppress(ConnectionClosed):
            await connection.send(answer)

    async def _answered(self, message: str | bytes, session: str) -> bytes:
        request = _request_in(message)
        if request is None:
            return _refusal(None, -32700, "this is no CBOR message of SurrealDB's protocol")
        if request.get("method") not in _METHODS:
            return _refusal(request.get("id"), -32601, "this server does not have that method")
        # Whatever session a client names, it gets its own: without one it would have all rights.
        request["session"] = session
        try:
            return await self._engine.execute(cbor2.dumps(request))
        except (ValueError, RuntimeError) as error:
            return _refusal(request.get("id"), -32600, str(error))

    async def _ask(self, method: str, **fields: Any) -> Mapping[str, Any]:
        """A request of our own; without a session it has all rights."""
        message = cbor2.dumps({"id": 0, "method": method, "params": [], **fields})
        answer: Mapping[str, Any] = cbor2.loads(await self._engine.execute(message))
        return answer


def _request_in(message: str | bytes) -> dict[str, Any] | None:
    try:
        found = cbor2.loads(message) if isinstance(message, bytes) else None
    except (cbor2.CBORDecodeError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _refusal(id: Any, code: int, message: str) -> bytes:
    return cbor2.dumps({"id": id, "error": {"code": code, "message": message}})


def _routed(connection: ServerConnection, request: Request) -> Response | None:
    """Lets through what asks for /rpc; a browser that found the port is told what this is."""
    path = request.path.partition("?")[0]
    if path == "/rpc":
        return None
    if path == "/health":
        return connection.respond(HTTPStatus.OK, "")
    return connection.respond(HTTPStatus.NOT_FOUND, "A database of Retain. It answers WebSockets at /rpc.\n")


# Messages may be as long as a SurrealDB server takes them. No pages of the web: their scripts could guess passwords.
_MANNERS: dict[str, Any] = {
    "subprotocols": [Subprotocol("cbor")],
    "origins": [None],
    "compression": None,
    "max_size": 128 * 2**20,
    "process_request": _routed,
    "server_header": None,
    "close_timeout": 2,
}
