"""Plain JSON-RPC 2.0 over a toolset: a line with requests comes in, a line with answers goes out.

A request may also be printed over several lines that begin with a bracket alone.
"""

import difflib
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

from retain import strict_json
from retain.domain.connection import noticing
from retain.domain.visible import visible_in
from retain.errors import InvalidInput, RetainError, invalid, shorten
from retain.standing import Notice
from retain.surfaces import degraded
from retain.surfaces.mcp import arguments
from retain.surfaces.mcp.tools import Tool, Toolset
from retain.surfaces.rpc_codes import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, SERVER_ERROR
from retain.surfaces.rpc_ids import NO_ID, as_written, id_in

logger = logging.getLogger(__name__)

# Bytes in a line: room for a batch with a hundred of the longest memories.
LONGEST = 10_000_000

_OPENING, _CLOSING = (b"{", b"["), (b"}", b"]")
_ONE_LINE = "write each request, or a batch of them, as JSON on one line, without comments"


def serve(methods: "Methods", requests: BinaryIO, write: Callable[[bytes], None]) -> int:
    """Answers line by line, each before the next is read, until the requests end; says how many lines there were."""
    count = 0
    for line in lines(requests, methods.longest):
        count += 1
        for piece in methods.answers(line):
            # File names may bring in lone surrogates, which have no bytes.
            write(piece.encode("utf-8", "replace"))
    return count


def lines(stream: BinaryIO, longest: int) -> Iterator[bytes]:
    """Lines as they come; of one that is too long, no more than shows that it is.

    A bracket alone begins a request that was printed over several lines, as documents print them.
    """
    held = b""
    while line := held or _line(stream, longest):
        held = b""
        if line.strip() in _OPENING:
            line, held = _printed(line, stream, longest)
        yield line


def _line(stream: BinaryIO, longest: int) -> bytes:
    line = rest = stream.readline(longest + 1)
    while rest and len(line) > longest and not rest.endswith(b"\n"):
        rest = stream.readline(65_536)
    return line


def _printed(first: bytes, stream: BinaryIO, longest: int) -> tuple[bytes, bytes]:
    """All lines of a request, and the one after it where that begins another before this was whole."""
    text, margin = first, len(first) - len(first.lstrip())
    while len(text) <= longest and (more := _line(stream, longest)):
        outermost = len(more) - len(more.lstrip()) == margin
        if outermost and more.lstrip().startswith(_OPENING):
            return text, more
        text += more
        if outermost and more.strip() in _CLOSING and _is_whole(text):
            break
    return text, b""


def _is_whole(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Sent:
    """What a line says, read twice: `written` has its numbers as text, since an id goes back exactly as it came."""

    value: Any  # JSON of any shape
    written: Any


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    params: Mapping[str, object] | list[object]
    id: str | None
    """In JSON; None asks for no answer."""


class _Wrong(Exception):
    """Why there is no result: the error object of the answer."""

    def __init__(self, code: int, message: str, data: object) -> None:
        super().__init__(message)
        self.body = {"code": code, "message": message, "data": data}

    def noted(self, standing: Sequence[Notice]) -> "_Wrong":
        """What was not found may be in what is missing."""
        if isinstance(data := self.body["data"], Mapping | str):
            self.body["data"] = degraded.noted(data, standing)
        return self


class Application(Protocol):
    """What is needed here of the application that the tools are given."""

    @property
    def notices(self) -> Callable[[], Sequence[Notice]]: ...


class Methods:
    """The tools of a set, as methods on one application."""

    def __init__(self, toolset: Toolset, app: Application, longest: int = LONGEST) -> None:
        self.longest = longest
        self._tools = {tool.name: tool for tool in toolset.tools}
        self._toolset = toolset.name
        self._app = app

    def answers(self, line: bytes) -> Iterator[str]:
        """The line that answers a line, in pieces, each as soon as it is known; nothing where nothing was asked.

        What was lenient in the document stays so: a request without `jsonrpc` is answered, and
        without an id too; only with `jsonrpc` and without an id it is a notification.
        """
        if not line.strip():
            return
        try:
            sent = _parsed(line, self.longest)
        except _Wrong as wrong:
            yield _failure(NO_ID, wrong) + "\n"
            return
        if isinstance(sent.value, list) and sent.value:
            yield from self._batch(map(_Sent, sent.value, sent.written))
        elif answer := self._answer(sent):
            yield answer + "\n"

    def _batch(self, requests: Iterator[_Sent]) -> Iterator[str]:
        before = "["
        for answer in filter(None, map(self._answer, requests)):
            yield before + answer
            before = ","
        if before == ",":
            yield "]\n"

    def _answer(self, sent: _Sent) -> str | None:
        try:
            request = _request(sent)
        except _Wrong as wrong:
            return _failure(id_in(sent.written) or NO_ID, wrong)
        try:
            result = self._result(request)
        except _Wrong as wrong:
            if request.id is None:
                logger.warning("the notification %s failed: %s", shorten(request.method), wrong)
            return request.id and _failure(request.id, wrong)
        return request.id and f'{{"jsonrpc":"2.0","id":{request.id},"result":{result}}}'

    def _result(self, request: _Request) -> str:
        tool = self._tools.get(request.method)
        if tool is None:
            raise self._unknown(request.method)
        try:
            values = arguments.read(tool, _by_name(tool, request.params))
            with noticing() as met:
                body = tool.function(self._app, **values)
            return _dumped(degraded.marked(body, met, self._app.notices()))
        except RetainError as error:
            raise _refused(tool, error).noted(self._app.notices()) from error
        except Exception as error:
            logger.exception("%s failed", tool.name)
            why = f"{tool.name} failed inside Retain ({type(error).__name__}); its log has the details"
            raise _refused(tool, RetainError(why)).noted(self._app.notices()) from error

    def _unknown(self, method: str) -> _Wrong:
        close = difflib.get_close_matches(method[:100].lower(), self._tools, n=3, cutoff=0.6)
        hint = f"the methods are {', '.join(self._tools)}"
        if method == "initialize" or "/" in method:
            hint = f"MCP is spoken by `retain serve --toolset {self._toolset}`; here {hint}"
        return _Wrong(METHOD_NOT_FOUND, "Method not found", {"method": shorten(method), "close": close, "hint": hint})


def _parsed(line: bytes, longest: int) -> _Sent:
    if len(line.rstrip(b"\r\n")) > longest:
        raise _unreadable(f"the line has more than {longest} bytes", "send less in one line")
    try:
        text = line.decode("utf-8-sig")
        return _Sent(strict_json.loads(text, _whole), as_written(text))
    except UnicodeDecodeError as error:
        raise _unreadable(f"byte {error.start + 1} of the line is not UTF-8", "send UTF-8") from None
    except json.JSONDecodeError as error:
        raise _unreadable(f"not JSON at character {error.pos + 1}: {error.msg}", _ONE_LINE) from None
    except ValueError as error:
        raise _unreadable(str(error), _ONE_LINE) from None
    except RecursionError:
        raise _unreadable("the line is nested too deeply", "send flatter JSON") from None


def _unreadable(error: str, hint: str) -> _Wrong:
    return _Wrong(PARSE_ERROR, "Parse error", {"error": error, "hint": hint})


def _whole(digits: str) -> int | float:
    """Python refuses to read thousands of digits; as a float they are infinite, which no parameter takes."""
    return int(digits) if len(digits) < 1000 else float(digits)


def _request(sent: _Sent) -> _Request:
    given = sent.value
    if not isinstance(given, dict):
        wrong = "a batch must hold at least one request" if given == [] else "a request must be an object"
        raise _Wrong(INVALID_REQUEST, "Invalid Request", {"error": wrong, "hint": _ONE_LINE})
    if faults := list(_faults(sent)):
        raise _Wrong(INVALID_REQUEST, "Invalid Request", {"error": "; ".join(faults)})
    silent = "jsonrpc" in given and "id" not in given
    return _Request(given["method"], given.get("params") or {}, None if silent else id_in(sent.written))


def _faults(sent: _Sent) -> Iterator[str]:
    given = sent.value
    if given.get("jsonrpc", "2.0") != "2.0":
        yield 'jsonrpc must be "2.0" or left out'
    if not isinstance(given.get("method"), str):
        yield "method is required, a string"
    if not isinstance(given.get("params"), dict | list | None):
        yield "params must be an object"
    if id_in(sent.written) is None:
        yield "id must be a string, a number or null"


def _by_name(tool: Tool, params: Mapping[str, object] | list[object]) -> Mapping[str, object]:
    if isinstance(params, Mapping):
        return params
    names = ", ".join(tool.input_schema["properties"])
    raise invalid("params", params, f"must be an object with parameters by name: {names}")


def _refused(tool: Tool, error: RetainError) -> _Wrong:
    """The error as the toolset words it; an envelope that is not of this protocol becomes the data of one."""
    match tool.envelope(error):
        case {"error": {"code": int(code), "message": str(message), "data": data}}:
            return _Wrong(code, message, data)
        case body:
            code = INVALID_PARAMS if isinstance(error, InvalidInput) else SERVER_ERROR
            return _Wrong(code, error.message, body)


def _failure(id: str, wrong: _Wrong) -> str:
    return f'{{"jsonrpc":"2.0","id":{id},"error":{_dumped(wrong.body)}}}'


def _dumped(body: object) -> str:
    # No text is left in it that a reader of lines would take for the end of one.
    return json.dumps(visible_in(body), ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=str)
