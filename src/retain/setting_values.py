"""How the value of a setting is read: a ValueError says what is allowed."""

import difflib
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from retain.errors import shorten

# Names of the model that ships in the package, among them the one it was tuned from.
BUNDLED = ("bundled", "retain-minilm-l6", "all-MiniLM-L6-v2")
Meaning = Mapping[str, str]


def misspelt(given: Iterable[str], known: Collection[str]) -> list[str]:
    """Names of variables that look like ours and are none, each with the one that was meant."""
    strange = [name for name in given if name.startswith("RETAIN_") and name not in known]
    near = {name: difflib.get_close_matches(name, known, n=1, cutoff=0.85) for name in strange}
    return [f"{name} is no variable of Retain; did you mean {meant[0]}?" for name, meant in near.items() if meant]


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
            raise ValueError(f"no toolset {shorten(', '.join(unknown)) or '(empty)'}; there are {', '.join(known)}")
        return ",".join(names)

    return read


def folder(raw: Any) -> Path:
    try:
        return Path(str(raw)).expanduser()
    except RuntimeError:
        raise ValueError("there is no such user, or no home folder of theirs") from None


def folders(raw: Any) -> tuple[Path, ...]:
    """Several in one text, as in PATH, or a list."""
    named = raw if isinstance(raw, list | tuple) else str(raw).split(os.pathsep)
    found = tuple(folder(one) for one in named if str(one).strip())
    if relative := [str(each) for each in found if not each.is_absolute()]:
        raise ValueError(f"must be absolute paths, and {shorten(', '.join(relative))} is not")
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
        except (TypeError, ValueError, OverflowError):
            raise ValueError("must be a number") from None
        if not 0 < number < 1e12:
            raise ValueError("must be above 0")
        return number

    return read


def not_negative(kind: type) -> Callable[[Any], Any]:
    """As `positive`, and 0 for none at all."""

    def read(raw: Any) -> Any:
        return kind(0) if str(raw).strip() in ("0", "0.0", "0.00") else positive(kind)(raw)

    return read


def model(raw: Any) -> str:
    """A name; `off` without quotes is a no in YAML."""
    return "off" if raw is False else str(raw)


def text_or_none(raw: Any) -> str | None:
    return str(raw) or None


def _in_folder(value: str) -> Meaning:
    """A contract's data folder is one whatever its name; the database in it has ours."""
    return {"db_path": str(Path(value) / "retain.db")}


def _one_meaning(of: Mapping[str, Meaning]) -> Callable[[str], Meaning]:
    def read(value: str) -> Meaning:
        if value not in of:
            raise ValueError(f"allowed are {', '.join(of)}")
        return of[value]

    return read


# Variables of a contract whose values are not ours: the settings that they come to. An empty one is set to nothing,
# since what a file has there belongs to another model.
MEANINGS: dict[str, Callable[[str], Meaning]] = {
    "AUDREY_DATA_DIR": _in_folder,
    "AUDREY_EMBEDDING_PROVIDER": _one_meaning(
        {
            "mock": {"embedding_model": "bundled", "embedding_url": "", "embedding_key": ""},
            "openai": {
                "embedding_model": "text-embedding-3-small",
                "embedding_url": "https://api.openai.com/v1",
                "embedding_key": "",
            },
        }
    ),
    "AUDREY_LLM_PROVIDER": _one_meaning(
        {"mock": {"llm": "none"}, "anthropic": {"llm": "anthropic"}, "openai": {"llm": "openai"}}
    ),
}
# What whoever set such a value would otherwise not expect.
_SURPRISING = {
    ("AUDREY_EMBEDDING_PROVIDER", "mock"): "means the bundled model here, which makes vectors of 384 dimensions",
    ("AUDREY_LLM_PROVIDER", "mock"): "means that no language model is asked; rules do its work",
}


def meaning(variable: str, value: str, model: str | None) -> Meaning:
    """The settings that a contract's variable comes to; `model` is the embedding model that ours name already.

    A provider of embeddings has no say beside a model that it does not serve.
    """
    found = MEANINGS[variable](value)
    if variable == "AUDREY_EMBEDDING_PROVIDER" and model and (value == "mock" or _is_of_this_machine(model)):
        return {}
    return found


def surprises(environment: Mapping[str, str], used: Sequence[str]) -> tuple[str, ...]:
    """Of the variables that were used: those that mean something else here than their value says."""
    found = [(name, value) for name, value in _SURPRISING if name in used and environment.get(name) == value]
    return tuple(f"{name}={value} {_SURPRISING[name, value]}" for name, value in found)


def _is_of_this_machine(model: str) -> bool:
    return model in (*BUNDLED, "hashed", "off") or "/" in model or os.sep in model
