"""The way to an engine behind a WebSocket: over the network, or through a socket file of this machine."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from socket import SHUT_RDWR
from typing import Any
from urllib.parse import urlsplit

import cbor2
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage, InvalidStatus, InvalidURI
from websockets.sync.client import ClientConnection, connect, unix_connect
from websockets.typing import Subprotocol

from retain.errors import ConfigError, Refused
from retain.stores.surreal.link.cbor import decode
from retain.stores.surreal.link.failures import Expired, LinkLost, Unanswered

OPEN_SECONDS = 5.0
UNIX = "unix:"
_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}
_PROTOCOL = Subprotocol("cbor")
_PONG_SECONDS = 2.0
# What a SurrealDB takes unless it is told otherwise: of a message, and of each of its frames.
_MOST_BYTES, _FRAME_BYTES = 128 * 2**20, 8 * 2**20
# What is shorter never waits for the other end to read; it is not worth a watch.
_LONG_BYTES = 2**16
_TOO_LONG = 1009
_EXPIRED = b"session has expired"


class SocketLink:
    """Safe to use from any thread: several requests can be under way, and each caller gets its own answer."""

    def __init__(self, url: str, *, seconds: float = OPEN_SECONDS, context: ssl.SSLContext | None = None) -> None:
        self.url = url
        self._socket = _connected(url, seconds, context)
        self._waiting: dict[int, _Waiter] = {}
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._lost: str | None = None
        threading.Thread(target=self._read, name="surreal-answers", daemon=True).start()

    @property
    def is_lost(self) -> bool:
        return self._lost is not None

    def request(self, message: bytes, id: int, seconds: float) -> bytes:
        """Refused when the message is longer than the server takes; Expired when it asks to sign in again."""
        if len(message) > _MOST_BYTES:
            raise self._too_much(message)
        waiter = self._waiter(id, len(message))
        self._send(message, seconds)
        answered = waiter.done.wait(seconds)
        with self._lock:
            self._waiting.pop(id, None)
        if waiter.answer is not None:
            return self._checked(waiter.answer)
        if waiter.is_too_long:
            raise self._too_much(message)
        if answered or not self._is_alive():
            raise self._gone()
        raise Unanswered(f"the database at {self.url} did not answer within {seconds:g} s; ask for less")

    def close(self) -> None:
        self._end("closed here")
        self._socket.close()

    def _waiter(self, id: int, length: int) -> "_Waiter":
        with self._lock:
            if self._lost is not None:
                raise self._gone()
            waiter = self._waiting[id] = _Waiter(length)
        return waiter

    def _send(self, message: bytes, seconds: float) -> None:
        """Gives up on one who is there and does not read: a long message would wait for that for ever."""
        if not self._sending.acquire(timeout=seconds):
            self._cut("nothing is read at the other end")
            return
        try:
            with self._watched(message, seconds):
                self._socket.send(_frames(message) if len(message) > _FRAME_BYTES else message)
        except (ConnectionClosed, OSError) as error:
            self._end(str(error), is_too_long=_is_too_long(error))
        finally:
            self._sending.release()

    @contextmanager
    def _watched(self, message: bytes, seconds: float) -> Iterator[None]:
        if len(message) <= _LONG_BYTES:
            yield
            return
        watch = threading.Timer(seconds, self._cut, ["a long message is not read at the other end"])
        watch.daemon = True
        watch.start()
        try:
            yield
        finally:
            watch.cancel()

    def _cut(self, why: str) -> None:
        self._end(why)
        with suppress(OSError):
            self._socket.socket.shutdown(SHUT_RDWR)

    def _checked(self, answer: bytes) -> bytes:
        if len(answer) < _LONG_BYTES and _EXPIRED in answer and _EXPIRED.decode() in str(decode(answer).get("error")):
            self._end("the session has expired")
            self._say_goodbye()
            raise Expired(f"the session at {self.url} has expired")
        return answer

    def _read(self) -> None:
        """Hands each answer to the one who waits for it; nobody does when it came too late."""
        try:
            for message in self._socket:
                with self._lock:
                    waiter = self._waiting.get(_id_in(message))
                if waiter is not None and isinstance(message, bytes):
                    waiter.answer = message
                    waiter.done.set()
        except (ConnectionClosed, OSError, ValueError, cbor2.CBORError) as error:
            self._end(str(error), is_too_long=_is_too_long(error))
        finally:
            # Whatever ends this thread: without it nobody would hear anything, and it would look alive.
            self._end("the server has closed the connection")

    def _end(self, why: str, *, is_too_long: bool = False) -> None:
        """Nothing comes any more; those who wait are told so, and of a message too long whoever sent the longest."""
        with self._lock:
            self._lost = self._lost or why
            waiting, self._waiting = list(self._waiting.values()), {}
        if is_too_long and waiting:
            max(waiting, key=lambda waiter: waiter.length).is_too_long = True
        for waiter in waiting:
            waiter.done.set()

    def _is_alive(self) -> bool:
        """Asks the other end for a sign of life: a cable that was cut says nothing, a busy database answers."""
        # Whoever sends holds what a ping waits for.
        if not self._sending.acquire(timeout=_PONG_SECONDS):
            self._cut("nothing is read at the other end")
            return False
        self._sending.release()
        with suppress(ConnectionClosed, OSError):
            if self._socket.ping().wait(_PONG_SECONDS):
                return True
        self._end("no sign of life")
        self._say_goodbye()
        return False

    def _say_goodbye(self) -> None:
        """In the background: with one who does not listen it takes seconds."""
        threading.Thread(target=self._socket.close, name="surreal-goodbye", daemon=True).start()

    def _too_much(self, message: bytes) -> Refused:
        size = f"{len(message) / 1e6:.1f} MB"
        return Refused(f"a message of {size} is more than the database at {self.url} takes; write less at once")

    def _gone(self) -> LinkLost:
        return LinkLost(f"the connection to {self.url} is lost ({self._lost})")


class _Waiter:
    __slots__ = ("answer", "done", "is_too_long", "length")

    def __init__(self, length: int) -> None:
        self.done = threading.Event()
        self.answer: bytes | None = None
        self.length, self.is_too_long = length, False


def _is_too_long(error: Exception) -> bool:
    said = error.rcvd if isinstance(error, ConnectionClosed) else None
    return said is not None and said.code == _TOO_LONG


def _frames(message: bytes) -> Iterator[bytes]:
    for start in range(0, len(message), _FRAME_BYTES):
        yield message[start : start + _FRAME_BYTES]


def _id_in(answer: str | bytes) -> Any:
    """The number of the request that a message answers, found without decoding all of it."""
    if not isinstance(answer, bytes) or not 0xA0 <= next(iter(answer), 0) <= 0xB7:
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
