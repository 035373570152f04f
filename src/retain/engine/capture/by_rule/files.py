"""Files that were made for a purpose, and the purpose as the assistant told it."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from retain.domain.conversation import Extracted, Said, Speaker, ToolRun, Turn
from retain.engine.capture.by_rule.found import Placed
from retain.engine.capture.by_rule.orders import holds_orders
from retain.engine.capture.by_rule.statement import stated

_SOURCE_WORDS = """
    py pyi js jsx ts tsx mjs cjs vue svelte rs go java kt kts scala c h cc cpp hpp cs rb php swift ex exs erl
    clj lua dart sql graphql proto tf sh r jl toml yaml yml json pl pm f f90 f95 hs lhs ml mli zig nix gd cr nim
    d fs fsx vb groovy gradle ps1 psm1 bat bash zsh fish el lisp rkt scm m mm cu glsl wgsl sol vhd vhdl v sv asm
    adb ads pas cob cbl tcl awk elm purs res hcl bicep rego cue astro cfg ini rake gleam odin hx feature cmake
    bzl
"""
_SOURCE = frozenset(_SOURCE_WORDS.split())
_PASSING = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|fixtures?|examples?|playground|node_modules|\.git|dist|build|migrations?)/"
    r"|(?:^|/)(?:test_|try|tmp|temp|scratch|debug|repro)[^/]*$|[._-](?:test|spec|stories)\.[^/]*$|_test\.[^/]*$",
    re.I,
)
_SCRATCH = re.compile(r"(?:^|/)(?:te?mp|scratch)/", re.I)
# A project may itself lie in a folder with such a name, so only the end of a path is looked at.
_INSIDE, _NEAR = 6, 3
_PURPOSE = re.compile(
    r"(?:\s*(?::|–|—|-|→)\s+|,\s+(?:which|that)\s+|,\s+(?=an?\s)"
    r"|\s+(?=(?:holds|contains|provides|handles|implements|wraps|exposes|defines|keeps|parses|loads|manages|serves"
    r"|reads|stores|maps|replays|syncs|checks|builds|runs|sends|fetches|generates|converts|imports|exports|renders"
    r"|computes"
    r"|tracks|watches|collects|cleans|rotates|seeds|migrates|validates|polls|writes|copies|creates|downloads|uploads"
    r"|calculates"
    r"|registers|schedules|talks to|is an?)\b)|\s+(?:for|to)\s+(?=\w+ ))(?P<purpose>[^\n]{8,240})"
)
_REPORT = re.compile(
    r"\b(?:done|fixed|created|updated|added|changed|now|removed|renamed|ready|passes|passing|registers the|you can"
    r"|let me|i'll|i will|i've|throwaway|temporary|placeholder|test script)\b|\?",
    re.I,
)
_REMOVES = re.compile(r"\b(?:rm|unlink|del|mv)\b")
_MOST_READ = 8_000
_NEARBY = 60  # turns after the writing in which its purpose is still being told


def made_files(turns: Sequence[Turn]) -> list[Placed]:
    removals = [(place, command) for place, turn in enumerate(turns) if (command := _removal(turn))]
    found = []
    for place, turn in enumerate(turns):
        path = _made(turn)
        if path is None or any(at > place and PurePosixPath(path).name in command for at, command in removals):
            continue
        told = _told(turns, place, path)
        found += [told] if told is not None else []
    return found


def _made(turn: Turn) -> str | None:
    """The path of a file that is worth a word and was not there before."""
    if not isinstance(turn, ToolRun) or turn.name != "Write" or turn.failed or "updated" in turn.output[:200]:
        return None
    path = turn.input.get("file_path")
    return path.replace("\\", "/") if isinstance(path, str) and _is_notable(path) else None


def _removal(turn: Turn) -> str:
    command = turn.input.get("command") if isinstance(turn, ToolRun) else None
    return command if isinstance(command, str) and _REMOVES.search(command) else ""


def _told(turns: Sequence[Turn], place: int, path: str) -> Placed | None:
    turn = turns[place]
    for at, said in _told_nearby(turns, place):
        purpose = _purpose(said[:_MOST_READ], path)
        text = stated(purpose) if purpose else ""
        if text:
            return Placed(at, Extracted(text, "architecture", Speaker.ASSISTANT, "file", at=turn.at, file=path))
    return None


def _is_notable(path: str) -> bool:
    plain = path.replace("\\", "/")
    suffix = PurePosixPath(plain).suffix.removeprefix(".").lower()
    return (
        suffix in _SOURCE
        and len(plain) <= 200
        and not _PASSING.search(_end(plain, _INSIDE))
        and not _SCRATCH.search(_end(plain, _NEAR))
        and re.fullmatch(r"[\w@./+\[\]() -]+", plain) is not None
    )


def _end(path: str, parts: int) -> str:
    return "/".join(PurePosixPath(path).parts[-parts:])


def _told_nearby(turns: Sequence[Turn], place: int) -> Iterator[tuple[int, str]]:
    """What the assistant said, and where: until the user spoke again, and right before it wrote."""
    for at in range(place + 1, min(place + _NEARBY, len(turns))):
        turn = turns[at]
        if isinstance(turn, Said):
            if turn.speaker is not Speaker.ASSISTANT:
                break
            yield at, turn.text
    before = turns[place - 1] if place else None
    if isinstance(before, Said) and before.speaker is Speaker.ASSISTANT:
        yield place, before.text


def _purpose(said: str, path: str) -> str | None:
    """`path: purpose`, from the line that names the file by its path or the end of it."""
    for line in said.splitlines():
        name = next((name for name in _names(path) if name in line), None)
        if name is None or len(line) > 600:
            continue
        rest = line[line.index(name) + len(name) :].lstrip("`*\"'")
        match = _PURPOSE.match(rest)
        if match is None:
            continue
        purpose = re.split(r"(?<=[a-z)])[.;!](?:\s|$)", match["purpose"])[0].strip(" .`*")
        if len(purpose.split()) >= 3 and not _REPORT.search(purpose) and not holds_orders(purpose):
            return f"{_spelled(path, name)}: {purpose}"
    return None


def _names(path: str) -> list[str]:
    """The ways to name a file, longest first; the bare name only where it is not one that every folder has."""
    parts = PurePosixPath(path).parts
    tails = ["/".join(parts[-count:]).replace("//", "/") for count in range(min(len(parts), 6), 0, -1)]
    common = {"index", "main", "mod", "lib", "__init__", "config", "utils", "types"}
    return [tail for tail in tails if "/" in tail or PurePosixPath(tail).stem not in common]


def _spelled(path: str, name: str) -> str:
    """The name as the assistant wrote it, where it says in which folder; else the end of the path."""
    return name if "/" in name else "/".join(PurePosixPath(path).parts[-3:])
