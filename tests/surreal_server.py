"""A real SurrealDB server for tests: the engine behind a WebSocket on a port of this machine, in a thread."""

import asyncio
import atexit
import ssl
import threading
from collections.abc import Coroutine
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from retain.stores.surreal.link.serving import Serving

T = TypeVar("T")


class SurrealServer:
    """Starts, stops and starts again on the same port; what is in a folder stays, what is in memory does not.

    `with SurrealServer() as server:` starts and stops it; `server.url` is its address.
    """

    def __init__(
        self,
        url: str | Path = "mem://",
        port: int = 0,
        user: str = "root",
        password: str = "secret",
        context: ssl.SSLContext | None = None,
    ) -> None:
        """The engine is in memory, or in a folder that `url` names."""
        self.folder = None if url == "mem://" else Path(url)
        self.port, self.user, self.password, self._context = port, user, password, context
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"{'wss' if self._context else 'ws'}://localhost:{self.port}/rpc"

    def start(self) -> "SurrealServer":
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="surreal-server", daemon=True)
        self._thread.start()
        self._do(self._open())
        return self

    def stop(self) -> None:
        """Cuts all connections and closes the port; a second time does nothing."""
        if self._thread:
            self.cut()
            self._do(self._serving.close())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._thread = None

    def cut(self) -> None:
        """Ends every connection without a word; whoever connects again is served."""
        self._do(self._serving.cut())

    def __enter__(self) -> "SurrealServer":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _do(self, work: Coroutine[None, None, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _open(self) -> None:
        self._serving = await Serving.opened(self.folder)
        await self._serving.define_user(self.user, self.password)
        self.port = await self._serving.listen(self.port, self._context)


@cache
def shared() -> SurrealServer:
    """One for all tests of this process, which take databases of their own in it and never stop it.

    In a folder: the engine in memory lets two transactions that meet commit the same record now and then (2 of 1,800
    under contention; the one in a folder none of 12,000).
    """
    folder = TemporaryDirectory(prefix="retain-surreal-")
    server = SurrealServer(folder.name).start()
    atexit.register(folder.cleanup)
    atexit.register(server.stop)
    return server
