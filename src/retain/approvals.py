"""What a person decided about a project's settings file: once for each content of it, kept outside of the project.

`trust/<digest of path and content>.json` in RETAIN_HOME has one decision each, so that deciding needs no lock. Only
commands write there, when somebody was asked or said --yes; no tool and no hook does.
"""

import os
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from retain.quick_json import written
from retain.run_files import names_in, read_object, remove, write_private

FOLDER = "trust"


class Verdict(StrEnum):
    APPROVED = "approved"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Content:
    """A settings file with what stood in it: what a decision is about. One that is not there has no digest."""

    path: str
    """The real one, without links."""
    digest: str

    @classmethod
    def of(cls, path: Path, raw: bytes | None) -> "Content":
        return cls(os.path.realpath(path), "" if raw is None else sha256(raw).hexdigest())


@dataclass(frozen=True, slots=True)
class Decision:
    content: Content
    verdict: Verdict
    at: str
    """When, in ISO 8601."""


def decision_file(home: Path, content: Content) -> Path:
    """Where a decision about it is, or would be."""
    name = sha256("\0".join((content.path, content.digest)).encode("utf-8", "surrogateescape")).hexdigest()
    return home.expanduser().absolute() / FOLDER / f"{name}.json"


def verdict_on(home: Path, content: Content) -> Verdict | None:
    found = _read(str(decision_file(home, content)))
    return found.verdict if found and found.content == content else None


def decide(home: Path, decision: Decision) -> None:
    """Kept for the user alone; takes the place of an earlier decision about the same content."""
    content = decision.content
    told = {"path": content.path, "digest": content.digest, "verdict": decision.verdict.value, "at": decision.at}
    write_private(str(decision_file(home, content)), written(told))


def decisions(home: Path) -> list[Decision]:
    """All there are, the newest first."""
    folder = home.expanduser().absolute() / FOLDER
    found = [_read(str(folder / name)) for name in names_in(str(folder))]
    return sorted((one for one in found if one), key=lambda one: one.at, reverse=True)


def revoke(home: Path, path: str) -> int:
    """Takes back all decisions about a file, whatever stood in it; says how many there were."""
    ours = [one for one in decisions(home) if one.content.path == path]
    for one in ours:
        remove(str(decision_file(home, one.content)))
    return len(ours)


def _read(path: str) -> Decision | None:
    """None for what is no decision, or one that this version cannot read: then nothing was decided."""
    told = read_object(path)
    try:
        verdict = Verdict(str(told.get("verdict")))
    except ValueError:
        return None
    return Decision(Content(str(told.get("path")), str(told.get("digest"))), verdict, str(told.get("at")))
