"""How the value of a setting is read: a ValueError says what is allowed."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def one_of(*allowed: str) -> Callable[[Any], str]:
    def read(raw: Any) -> str:
        if str(raw) not in allowed:
            raise ValueError(f"allowed are {', '.join(allowed)}")
        return str(raw)

    return read


def toolsets(known: Sequence[str]) -> Callable[[Any], str]:
    """Several of them in one text, with commas."""

    def read(raw: Any) -> str:
        names = [part.strip() for part in str(raw).split(",") if part.strip()]
        unknown = [name for name in names if name not in known]
        if unknown or not names:
            raise ValueError(f"no toolset {', '.join(unknown) or '(empty)'}; there are {', '.join(known)}")
        return ",".join(names)

    return read


def folder(raw: Any) -> Path:
    return Path(str(raw)).expanduser()


def folders(raw: Any) -> tuple[Path, ...]:
    """Several in one text, as in PATH, or a list."""
    named = raw if isinstance(raw, list | tuple) else str(raw).split(os.pathsep)
    found = tuple(folder(one) for one in named if str(one).strip())
    if relative := [str(each) for each in found if not each.is_absolute()]:
        raise ValueError(f"must be absolute paths, and {', '.join(relative)} is not")
    return found


def yes_or_no(raw: Any) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if str(raw).lower() not in words:
        raise ValueError("allowed are true and false")
    return words[str(raw).lower()]


def positive(kind: type) -> Callable[[Any], Any]:
    def read(raw: Any) -> Any:
        try:
            number = kind(raw)
        except (TypeError, ValueError):
            raise ValueError("must be a number") from None
        if not 0 < number < 1e12:
            raise ValueError("must be above 0")
        return number

    return read
