"""The clients that can be set up: how each is found, where its file is, and what an entry looks like there."""

import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from retain.config import client_variables

Format = Literal["json", "jsonc", "toml"]


@dataclass(frozen=True, slots=True)
class Machine:
    """Whose files these are and on which system; `variables` are those that move a client's folder."""

    home: Path
    system: str
    """As `sys.platform` has it."""
    variables: Mapping[str, str]

    @classmethod
    def here(cls) -> "Machine":
        return cls(Path.home(), sys.platform, client_variables())

    def folder(self, variable: str, otherwise: Path) -> Path:
        named = self.variables.get(variable)
        return Path(named).expanduser() if named else otherwise

    @property
    def application_data(self) -> Path:
        """Where programs with a window keep their settings."""
        if self.system == "win32":
            return self.folder("APPDATA", self.home / "AppData" / "Roaming")
        if self.system == "darwin":
            return self.home / "Library" / "Application Support"
        return self.folder("XDG_CONFIG_HOME", self.home / ".config")

    def finds(self, command: str) -> bool:
        return shutil.which(command, path=self.variables.get("PATH") or None) is not None


@dataclass(frozen=True, slots=True)
class Client:
    """One row of the table: a client, and where in which of its files a server is listed."""

    name: str
    """As it is given to --client."""
    title: str
    commands: tuple[str, ...]
    folder: Callable[[Machine], Path]
    """Its own folder: the client was used here if that is there."""
    inside: str
    """Its file, seen from that folder."""
    format: Format = "jsonc"
    path: tuple[str, ...] = ("mcpServers", "retain")
    extra: Mapping[str, object] = field(default_factory=dict)
    """What an entry has beside its command and arguments."""

    def is_found(self, machine: Machine) -> bool:
        return self.folder(machine).is_dir() or any(map(machine.finds, self.commands))

    def file(self, machine: Machine) -> Path:
        return self.folder(machine) / self.inside

    def entry(self, command: list[str]) -> dict[str, object]:
        return {**self.extra, "command": command[0], "args": command[1:]}


@dataclass(frozen=True, slots=True)
class _ClaudeCode(Client):
    def is_found(self, machine: Machine) -> bool:
        """Our own settings file is in that folder too, and makes no client of it."""
        folder = self.folder(machine)
        used = folder.is_dir() and [path.name for path in folder.iterdir()] != ["retain.local.md"]
        return used or any(map(machine.finds, self.commands))

    def file(self, machine: Machine) -> Path:
        """Beside its folder, unless that was moved: then in it."""
        return machine.folder("CLAUDE_CONFIG_DIR", machine.home) / self.inside


def claude_folder(machine: Machine) -> Path:
    return machine.folder("CLAUDE_CONFIG_DIR", machine.home / ".claude")


def claude_settings(machine: Machine) -> Path:
    return claude_folder(machine) / "settings.json"


def _cursor(machine: Machine) -> Path:
    return machine.home / ".cursor"


def _codex(machine: Machine) -> Path:
    return machine.folder("CODEX_HOME", machine.home / ".codex")


def _code(machine: Machine) -> Path:
    return machine.application_data / "Code"


def _insiders(machine: Machine) -> Path:
    return machine.application_data / "Code - Insiders"


def _gemini(machine: Machine) -> Path:
    return machine.home / ".gemini"


def _windsurf(machine: Machine) -> Path:
    return machine.home / ".codeium" / "windsurf"


def _zed(machine: Machine) -> Path:
    """On macOS as on Linux, in the folder for settings of commands."""
    if machine.system == "win32":
        return machine.application_data / "Zed"
    return machine.folder("XDG_CONFIG_HOME", machine.home / ".config") / "zed"


_STDIO = {"type": "stdio"}
_SERVERS = ("servers", "retain")
_VSCODE = "User/mcp.json"

CLAUDE_CODE: Client = _ClaudeCode(
    "claude-code", "Claude Code", ("claude",), claude_folder, ".claude.json", format="json", extra=_STDIO
)
CLIENTS = (
    CLAUDE_CODE,
    Client("cursor", "Cursor", ("cursor", "cursor-agent"), _cursor, "mcp.json"),
    Client("codex", "Codex", ("codex",), _codex, "config.toml", "toml", ("mcp_servers", "retain")),
    Client("vscode", "VS Code", ("code",), _code, _VSCODE, path=_SERVERS, extra=_STDIO),
    Client("vscode-insiders", "VS Code Insiders", ("code-insiders",), _insiders, _VSCODE, path=_SERVERS, extra=_STDIO),
    Client("gemini", "Gemini CLI", ("gemini",), _gemini, "settings.json"),
    Client("windsurf", "Windsurf", ("windsurf",), _windsurf, "mcp_config.json"),
    Client("zed", "Zed", ("zed", "zeditor"), _zed, "settings.json", path=("context_servers", "retain")),
)
NAMES = tuple(client.name for client in CLIENTS)


def named(name: str) -> Client:
    return next(client for client in CLIENTS if client.name == name)
