"""The way to an engine behind a WebSocket: over the network, or through a socket file of this machine."""

import ssl
import threading
from contextlib import suppress
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import cbor2
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage, InvalidStatus, InvalidURI
from websockets.sync.client import ClientConnection, connect, unix_connect
from websockets.typing import Subprotocol

from retain.errors import ConfigError, QueryTimeout
from retain.stores.surreal.failures import LinkLost

OPEN_SECONDS = 5.0
UNIX = "unix:"
_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}
_PROTOCOL = Subprotocol("cbor")
_PONG_SECONDS = 2.0


class SocketLink:
    """Safe to use from any thread: several requests can be under way, and each caller gets its own answer."""

    def __init__(self, url: str, *, seconds: float = OPEN_SECONDS, context: ssl.SSLContext | None = None) -> None:
        self.url = url
        self._socket = _connected(url, seconds, context)
        self._waiting: dict[int, _Waiter] = {}
        self._lock = threading.Lock()
        self._lost: str | None = None
        threading.Thread(target=self._read, name="surreal-answers", daemon=True).start()

    @property
    def is_lost(self) -> bool:
        return self._lost is not None

    def request(self, message: bytes, id: int, seconds: float) -> bytes:
        waiter = self._waiter(id)
        try:
            self._socket.send(message)
        except (ConnectionClosed, OSError) as error:
            self._end(str(error))
        answered = waiter.done.wait(seconds)
        with self._lock:
            self._waiting.pop(id, None)
        if waiter.answer is not None:
            return waiter.answer
        if answered or not self._is_alive():
            raise self._gone()
        raise QueryTimeout(f"the database at {self.url} did not answer within {seconds:g} s; ask for less")

    def close(self) -> None:
        self._end("closed here")
        self._socket.close()

    def _waiter(self, id: int) -> "_Waiter":
        with self._lock:
            if self._lost is not None:
                raise self._gone()
            waiter = self._waiting[id] = _Waiter()
        return waiter

    def _read(self) -> None:
        """Hands each answer to the one who waits for it; nobody does when it came too late."""
        try:
            for message in self._socket:
                with self._lock:
                    waiter = self._waiting.get(_id_in(message))
                if waiter is not None and isinstance(message, bytes):
                    waiter.answer = message
                    waiter.done.set()
            self._end("the server has closed the connection")
        except (ConnectionClosed, OSError, ValueError) as error:
            self._end(str(error))

    def _end(self, why: str) -> None:
        """Nothing comes any more; those who wait are told so."""
        with self._lock:
            self._lost = self._lost or why
            waiting, self._waiting = self._waiting, {}
        for waiter in waiting.values():
            waiter.done.set()

    def _is_alive(self) -> bool:
        """Asks the other end for a sign of life: a cable that was cut says nothing, a busy database answers."""
        with suppress(ConnectionClosed, OSError):
            if self._socket.ping().wait(_PONG_SECONDS):
                return True
        self._end("no sign of life")
        # In the background: saying goodbye to one who does not listen takes seconds.
        threading.Thread(target=self._socket.close, name="surreal-goodbye", daemon=True).start()
        return False

    def _gone(self) -> LinkLost:
        return LinkLost(f"the connection to {self.url} is lost ({self._lost})")


class _Waiter:
    __slots__ = ("answer", "done")

    def __init__(self) -> None:
        self.done = threading.Event()
        self.answer: bytes | None = None


def _id_in(answer: str | bytes) -> Any:
    """The number of the request that a message answers, found without decoding all of it."""
    if not isinstance(answer, bytes) or not 0xA0 <= answer[0] <= 0xB7:
        return None  # not an object of a few fields, as every answer is
    decoder = cbor2.CBORDecoder(BytesIO(answer))
    decoder.read(1)
    for _ in range(answer[0] & 0x1F):
        name, value = decoder.decode(), decoder.decode()
        if name == "id":
            return value
    return None


def address(url: str) -> str:
    """The URL to connect to: `http` may stand for `ws`, and the path is /rpc unless another one is named."""
    if "@" in url:
        raise ConfigError("remote_url has a user or a password in it; give them as remote_user and remote_pass")
    try:
        parts = urlsplit(url.strip())
        scheme = _SCHEMES.get(parts.scheme.lower()) if parts.hostname and parts.port != 0 else None
    except ValueError:  # a port or a bracket that is none
        scheme = None
    if scheme is None:
        raise ConfigError(
            f"remote_url is {url!r}, which is no address of a database; ws://HOST:8000 is one, or wss://…"
        )
    path = parts.path if parts.path.strip("/") else "/rpc"
    return f"{scheme}://{parts.netloc}{path}"


def _connected(url: str, seconds: float, context: ssl.SSLContext | None) -> ClientConnection:
    try:
        socket = _opened(url, seconds, context)
    except (InvalidURI, UnicodeError) as error:  # a host may have letters and lengths that none can have
        raise ConfigError(f"remote_url is {url!r}, which is no address of a database: {error}") from None
    except ssl.SSLCertVerificationError as error:
        raise ConfigError(
            f"{url} shows a certificate that this machine does not trust ({error.verify_message}); "
            "check the host in remote_url, or add the certificate to those of the system (SSL_CERT_FILE)"
        ) from None
    except ssl.SSLError as error:
        raise ConfigError(f"{url} does not speak TLS ({error.reason}); if it is meant to be plain, use ws://") from None
    except InvalidHandshake as error:
        raise _no_database(url, error) from None
    except ConnectionClosed as error:
        raise LinkLost(f"{url} took the connection and closed it ({error}); is the database starting?") from None
    except TimeoutError:
        raise LinkLost(f"{url} did not answer within {seconds:g} s; is the database running?") from None
    except OSError as error:
        raise LinkLost(f"{url} cannot be reached ({error.strerror or error}); is the database running?") from None
    if socket.subprotocol != _PROTOCOL:
        socket.close()
        raise ConfigError(f"{url} is no SurrealDB (it does not speak {_PROTOCOL}); check remote_url")
    return socket


def _opened(url: str, seconds: float, context: ssl.SSLContext | None) -> ClientConnection:
    # Without compression: vectors do not get smaller by it. Without a limit: an answer is as long as what was asked.
    if url.startswith(UNIX):
        path, uri = url.removeprefix(UNIX), "ws://localhost/rpc"
        return unix_connect(
            path, uri, subprotocols=[_PROTOCOL], compression=None, open_timeout=seconds, close_timeout=1, max_size=None
        )
    return connect(
        address(url),
        ssl=context,
        subprotocols=[_PROTOCOL],
        compression=None,
        proxy=None,
        open_timeout=seconds,
        close_timeout=1,
        max_size=None,
    )


def _no_database(url: str, error: InvalidHandshake) -> ConfigError | LinkLost:
    """Something answers at the address, and not as SurrealDB does."""
    status = error.response.status_code if isinstance(error, InvalidStatus) else None
    if status is not None and status >= 500:
        return LinkLost(f"{url} answers HTTP {status}: the database behind it is not up")
    if isinstance(error, InvalidMessage) and isinstance(error.__cause__, (EOFError, OSError)):
        return LinkLost(f"{url} took the connection and closed it; is the database starting?")
    said = f"HTTP {status}" if status is not None else str(error)
    return ConfigError(f"something answers at {url}, but no SurrealDB ({said}); check remote_url: host, port, path")
