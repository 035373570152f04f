"""Posting JSON to an HTTP endpoint that may want a key: what embedders and language models have in common."""

import http.client
import ipaddress
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from retain.errors import ConfigError, shorten

# Some providers quote the key that they refuse, in full or with stars in its middle.
_KEY = re.compile(r"\b(?:sk|pk|rk|key|gsk|xai)[-_][\w*.-]{4,}", re.IGNORECASE)
# Answers that may be another one a moment later.
_PASSING = frozenset({408, 409, 425, 429})


class NoAnswer(Exception):
    """What came in place of an answer; `status` is None when nobody answered."""

    def __init__(
        self, address: str, why: str, status: int | None = None, retry_after: float | None = None, *, late: bool = False
    ) -> None:
        said = f"answered {status} {why}" if status else f"cannot be reached: {why}. Is the server running?"
        super().__init__(f"{address} {said}")
        self.status, self.why, self.retry_after, self.late = status, why, retry_after, late

    @property
    def may_pass(self) -> bool:
        return self.status is None or may_pass(self.status)


def may_pass(status: int) -> bool:
    """Whether the same request can be answered well a little later."""
    return status in _PASSING or status >= 500


@contextmanager
def posted(address: str, body: object, key: str | None, timeout: float) -> Iterator[http.client.HTTPResponse]:
    """The reply to a request, to be read within the block; all that can go wrong on the way is NoAnswer."""
    data = json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    if key:
        # A redirect to another host must not carry the key along.
        request.add_unredirected_header("Authorization", f"Bearer {key}")
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            yield reply
    except urllib.error.HTTPError as error:
        why = f"{error.reason}: {_complaint(error)}"
        raise NoAnswer(address, why, error.code, seconds_to_wait(error.headers.get("retry-after"))) from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        late = isinstance(reason, TimeoutError) or isinstance(error, TimeoutError)
        raise NoAnswer(address, str(reason) or type(reason).__name__, late=late) from error


def versioned(url: str, resource: str) -> str:
    """Where a resource of an OpenAI-compatible API is, given its url as documentation has it, with or without `/v1`."""
    base = url.rstrip("/").removesuffix(f"/{resource}")
    # Some serve the same API under another version, such as /v1beta/openai.
    return f"{base}/{resource}" if re.search(r"/v\d\w*(/|$)", base) else f"{base}/v1/{resource}"


def check_url(url: str, setting: str) -> None:
    if not re.match(r"https?://[^/]", url):
        raise ConfigError(f"the {setting} must begin with http:// or https://, not {shorten(url)}")


def check_privacy(url: str, setting: str) -> None:
    """A key must not travel in the open."""
    if not url.lower().startswith("https://") and not is_local(url):
        raise ConfigError(
            f"{setting} {shorten(url)} would send the key over the network in plain text; use https://, "
            "or a server on this machine"
        )


def is_local(url: str) -> bool:
    """Whether a url leads to this machine."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").lower()
    except ValueError:
        return False
    if host in ("localhost", "host.docker.internal") or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def seconds_to_wait(retry_after: str | None) -> float | None:
    """What a Retry-After header asks for, in seconds or as a date."""
    if not retry_after:
        return None
    try:
        return max(float(retry_after), 0.0)
    except ValueError:
        pass
    try:
        then = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max((then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)


def without_keys(text: str) -> str:
    return _KEY.sub("[key]", text)


def _complaint(error: urllib.error.HTTPError) -> str:
    try:
        body = error.read(4096).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        body = ""
    return shorten(without_keys(_told(body)).strip() or "no reason given", 200)


def _told(body: str) -> str:
    """The message in an error's body, which most put at error.message; else the body as it is."""
    try:
        error = json.loads(body)["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError, RecursionError):
        return body
