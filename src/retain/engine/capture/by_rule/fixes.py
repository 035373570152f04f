"""Errors and what mended them: a command that failed, something that was changed, the same command passing.

The statement quotes a tool, so it says so, and it is made only where one change plainly made the difference. Mended
tests are daily work and no knowledge; a missing package, a service that was not running or a setting is.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from retain.domain.conversation import Extracted, Speaker, ToolRun, Turn
from retain.engine.capture.by_rule import commands
from retain.engine.capture.by_rule.orders import holds_orders, speaks_to_agents

_WINDOW = 40  # turns between a failure and its mending; beyond that nobody can say what helped
_MOST_CHANGES = 3
_LOOKED_AT = 20_000  # characters of an output, from its end: errors come last
_LINE = 200
_TELLING = 3  # weight of a line that names a cause; that it says "error" is not enough
_SHELLS = frozenset({"Bash", "bash", "shell", "PowerShell"})
_EDITORS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})

_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_CAUSE = re.compile(
    r"cannot find|can't find|could not find|couldn't find|not found|no such|no module named|refused|denied|missing"
    r"|unable to|unsupported|is not set|not set\b|not defined in|requires?\b|not installed|in use|undefined symbol"
    r"|incompatible|unknown (?:option|command|target|feature|variant)|could not (?:connect|resolve|locate|open)"
    r"|failed to (?:load|connect|resolve|open|find)|cannot (?:open|load|connect|resolve|locate)|does not exist"
    r"|out of (?:memory|space)|EADDRINUSE|EACCES|ENOENT|ECONNREFUSED|ConnectionBad|expired|version mismatch"
    r"|must be (?:set|at least)|unresolved|no version|mismatch(?:ed)? version",
    re.I,
)
_ERROR = re.compile(r"\b(?:error|fatal|exception|failed|failure|panic|errno)\b|Error\b|ERR!", re.I)
_NOISE = re.compile(
    r"^\s*(?:exit code \d+|at \S+|File \"|Traceback|> |\d+ (?:passed|failed|tests?|errors?)"
    r"|npm ERR! (?:code|errno|A complete log)|hint:|note: run with)|exit status",
    re.I,
)
# The daily red of a session: expectations, and slips in code that is being written.
_DAILY = re.compile(
    r"assert|expected\b.{0,80}\b(?:got|received|to (?:be|equal|have))|SyntaxError|TypeError|NameError|AttributeError"
    r"|ReferenceError|IndentationError|cannot import name|in this scope|mismatched types|E0\d{3}\b|is not assignable"
    r"|unexpected token|undefined method|undefined: |undeclared|cannot find (?:symbol|name|value|function|type)"
    r"|has no (?:member|attribute)|is not a function",
    re.I,
)
_CONFIGURATION = re.compile(
    r"(?:^|/)(?:package\.json|tsconfig[\w.]*\.json|\.?\w+\.config\.[cm]?[jt]s|pyproject\.toml|setup\.(?:py|cfg)"
    r"|tox\.ini|pytest\.ini|conftest\.py|requirements[\w-]*\.txt|Cargo\.toml|go\.mod|Gemfile|composer\.json|mix\.exs"
    r"|pom\.xml|build\.gradle(?:\.kts)?|settings\.gradle(?:\.kts)?|gradle\.properties|libs\.versions\.toml"
    r"|CMakeLists\.txt|Makefile|Dockerfile|(?:docker-)?compose[\w.-]*\.ya?ml|\.env[\w.]*|\.\w+rc(?:\.\w+)?|\.npmrc"
    r"|\.nvmrc|\.tool-versions|\.python-version|rust-toolchain(?:\.toml)?|application[\w-]*\.(?:ya?ml|properties)"
    r"|Podfile|Package\.swift|pubspec\.yaml|[\w.-]+\.csproj|Directory\.Build\.props|deno\.jsonc?|vcpkg\.json"
    r"|\.?eslintrc[\w.]*|babel\.config\.\w+|config/[\w/.-]+\.(?:ya?ml|toml|json|php|exs))$"
)


@dataclass(frozen=True, slots=True)
class Placed:
    """Something extracted, and the number of the turn that completed it."""

    at: int
    item: Extracted


def fixes(turns: Sequence[Turn]) -> list[Placed]:
    """One statement for each failure whose mending is plain, in the order in which they were mended."""
    found: list[Placed] = []
    edited: set[str] = set()
    for place, turn in enumerate(turns):
        if not isinstance(turn, ToolRun):
            continue
        if turn.name in _EDITORS:
            edited.add(_file(turn))
        elif turn.failed and commands.is_work(_command(turn)):
            fix = _mended(turn, turns[place + 1 : place + _WINDOW], edited)
            found += [replace(fix, at=place + 1 + fix.at)] if fix is not None else []
    return found


def _mended(failed: ToolRun, after: Sequence[Turn], edited_before: Set[str]) -> Placed | None:
    command = _command(failed)
    changes: list[ToolRun] = []
    for place, turn in enumerate(after):
        if not isinstance(turn, ToolRun):
            continue
        again = _command(turn)
        if again and (commands.same_work(command, again) or commands.extends(command, again)):
            told = None if turn.failed else _told(failed, changes, turn, edited_before)
            return Placed(place, told) if told else None
        if not turn.failed and (turn.name in _EDITORS or commands.mends(again)):
            changes.append(turn)
    return None


def _told(failed: ToolRun, changes: list[ToolRun], passed: ToolRun, edited_before: Set[str]) -> Extracted | None:
    line = telling_line(failed.output)
    how = _how(failed, changes, passed, edited_before)
    if not (line and how):
        return None
    command = commands.told(_command(failed))
    text = f"`{command}` failed with “{line}”; {how}."
    if not commands.is_safe(command) or holds_orders(command) or len(text) > 400:
        return None
    return Extracted(text, "error_solution", Speaker.TOOL, "fix", (commands.program(command),), at=passed.at)


def _how(failed: ToolRun, changes: list[ToolRun], passed: ToolRun, edited_before: Set[str]) -> str | None:
    """In what way the failure was mended; None where that is not plain or nothing to hand on."""
    again = commands.told(_command(passed))
    if not changes:
        is_other = commands.extends(_command(failed), again)
        return f"`{again}` works" if is_other and commands.is_safe(again) and not holds_orders(again) else None
    if len(changes) > _MOST_CHANGES:
        return None
    ran = [commands.told(_command(change)) for change in changes if change.name in _SHELLS]
    files = list(dict.fromkeys(_file(change) for change in changes if change.name in _EDITORS))
    if ran:
        plain = all(commands.is_safe(command) and not holds_orders(command) for command in ran)
        return "fixed by " + " and ".join(f"`{command}`" for command in dict.fromkeys(ran)) if plain else None
    # A file that was already being worked on was mended after a slip.
    plain = all(_CONFIGURATION.search(file) and file not in edited_before for file in files)
    return "fixed by editing " + " and ".join(_shown(file) for file in files) if plain else None


def telling_line(output: str) -> str:
    """The line of an output that says what was wrong; empty when none does, or it is about the code at hand, reads like
    an order, or stands in an output that speaks to agents."""
    text = _ANSI.sub("", output[-_LOOKED_AT:])
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = max(lines, key=_weight, default="")
    if _weight(line) < _TELLING or _DAILY.search(line) or holds_orders(line) or speaks_to_agents(text):
        return ""
    return _neutral(line)


def _weight(line: str) -> int:
    if len(line) > 1_000 or _NOISE.search(line):
        return 0
    return _TELLING * bool(_CAUSE.search(line)) + bool(_ERROR.search(line)) + bool(re.search(r"[`'\"]\S", line))


def _neutral(line: str) -> str:
    line = re.sub(r"^(?:E\s{2,}|\S+\(\d+,\d+\): |error:? )", "", line)
    line = line.replace("“", "'").replace("”", "'").replace("`", "'")
    return line if len(line) <= _LINE else line[: _LINE - 1].rstrip() + "…"


def _command(run: ToolRun) -> str:
    value = run.input.get("command", "") if run.name in _SHELLS else ""
    return value if isinstance(value, str) else ""


def _file(run: ToolRun) -> str:
    value = run.input.get("file_path") or run.input.get("notebook_path") or ""
    return value.replace("\\", "/") if isinstance(value, str) else ""


def _shown(file: str) -> str:
    path = PurePosixPath(file)
    return f"`{'/'.join(path.parts[-3:]) if path.is_absolute() else path}`"
