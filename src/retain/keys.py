"""Where the key of a language model is found, and the one place where we keep one: only when we are told to."""

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from retain.config import Settings
from retain.endpoint import is_local
from retain.errors import invalid
from retain.run_files import make_folder

SHORTEST, LONGEST = 8, 500
_VARIABLE = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


@dataclass(frozen=True, slots=True)
class Found:
    """A key, and where it was."""

    key: str = field(repr=False)
    origin: str


def key_file(settings: Settings) -> Path:
    return settings.home.expanduser() / "key"


def find_key(settings: Settings, environment: Mapping[str, str], home: Path) -> Found | None:
    """The first key there is for the provider that was chosen; None when there is none, or nobody chose one.

    What cannot be read or cannot be a key is passed over. The `claude` command logs in by itself, and a server
    on this machine needs none: they get a key only from the setting.
    """
    for found in _all(settings, environment, home):
        if not _fault(found.key) and not _is_of_another(found.key, settings, found.origin):
            return found
    return None


def why_none(settings: Settings, environment: Mapping[str, str], home: Path) -> str | None:
    """What is wrong with the first key that was passed over because it can be none; None where there is none at all."""
    for found in _all(settings, environment, home):
        if fault := _fault(found.key):
            return f"{found.origin} has {len(found.key)} characters that are no key: it {fault}"
    return None


def _all(settings: Settings, environment: Mapping[str, str], home: Path) -> Iterator[Found]:
    if settings.llm == "none":
        return
    is_own = settings.llm not in _VARIABLE or is_local(settings.llm_url or "")
    for origin, raw in _set(settings) if is_own else _places(settings, environment, home):
        if key := (raw or "").strip():
            yield Found(key, origin)


def embedding_key(settings: Settings, environment: Mapping[str, str]) -> str | None:
    """The key for the embedding endpoint that was chosen: the one that is set, else at OpenAI itself its variable."""
    where = urlsplit(settings.embedding_url or "")
    key = environment.get(_VARIABLE["openai"], "").strip()
    is_openai = (where.scheme, where.hostname) == ("https", "api.openai.com")
    return settings.embedding_key or (key if is_openai and key and not _fault(key) else None)


def store_key(settings: Settings, key: str) -> Path:
    """Keeps a key for the user alone; whoever reads meanwhile sees the old one or the new one."""
    key = key.strip()
    fault = _fault(key)
    if fault:
        raise invalid("key", f"{len(key)} characters", fault)
    file = key_file(settings)
    make_folder(str(file.parent.absolute()))
    draft = file.with_name(f"key.{secrets.token_hex(6)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(key + "\n")
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    return file


def remove_key(settings: Settings) -> bool:
    """Removes the key that `store_key` kept; False when there was none."""
    try:
        key_file(settings).unlink()
    except FileNotFoundError:
        return False
    return True


def _places(settings: Settings, environment: Mapping[str, str], home: Path) -> Iterator[tuple[str, str | None]]:
    yield from _set(settings)
    variable = _VARIABLE[settings.llm]
    yield variable, environment.get(variable)
    yield from _from_files(key_file(settings))
    if settings.llm == "anthropic":
        config = home / ".memory-mcp" / "config.json"
        yield str(config), _api_key(config)
        yield from _from_files(home / ".config" / "anthropic" / "api_key", home / ".anthropic" / "api_key")


def _set(settings: Settings) -> Iterator[tuple[str, str | None]]:
    yield "the setting llm_key", settings.llm_key


def _from_files(*files: Path) -> Iterator[tuple[str, str | None]]:
    for file in files:
        yield str(file), _read(file)


def _read(file: Path) -> str | None:
    with suppress(OSError, UnicodeDecodeError), file.open(encoding="utf-8") as text:
        return text.read(10_000)
    return None


def _api_key(file: Path) -> str | None:
    with suppress(ValueError, RecursionError):
        config = json.loads(_read(file) or "null")
        key = config.get("apiKey") if isinstance(config, dict) else None
        return key if isinstance(key, str) else None
    return None


def _fault(key: str) -> str | None:
    """Why a text cannot be a key; keys of every provider are of one word in ASCII."""
    if not SHORTEST <= len(key) <= LONGEST:
        return f"must have {SHORTEST} to {LONGEST} characters; copy the whole key from the provider's console"
    if not key.isascii() or not key.isprintable() or any(character.isspace() for character in key):
        return "must be one word without spaces, line breaks or special letters; copy the whole key and nothing else"
    return None


def _is_of_another(key: str, settings: Settings, origin: str) -> bool:
    """Whether a kept key is plainly one of Anthropic's, which must not be sent to somebody else."""
    host = urlsplit(settings.llm_url or "").hostname or ""
    elsewhere = settings.llm == "openai" and not f".{host}".endswith(".anthropic.com")
    return elsewhere and key.startswith("sk-ant-") and origin == str(key_file(settings))
