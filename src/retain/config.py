"""Settings: one frozen value, from arguments, the environment and two files; nothing else reads the environment."""

import difflib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from retain.errors import ConfigError
from retain.folders import root_of
from retain.setting_values import (
    MEANINGS,
    folders,
    meaning,
    misspelt,
    one_of,
    positive,
    surprises,
    text_or_none,
    toolsets,
    yaml_in,
    yes_or_no,
)
from retain.setting_values import folder as a_folder

MODES = ("embedded-memory", "embedded-file", "local-server", "remote")
SERVER_MODES = ("local-server", "remote")
STORES = ("sqlite", "surrealdb")
LOG_LEVELS = ("debug", "info", "warn", "error")
TOOLSETS = ("default", "scoped", "graph", "capture", "bank", "audrey", "all")
LLMS = ("none", "anthropic", "openai", "claude-cli")
_PASSED_OVER = "; it is passed over"


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set. Each field says where it matters; docs/configuration.md lists them with their variables."""

    home: Path = Path("~/.retain")
    """Data, logs, backups."""
    toolset: str = "default"
    store: str = "sqlite"
    deployment_mode: str = "embedded-file"
    db_path: Path | None = None
    """The database file; a folder gets `retain.db` in it. Default: in `home`. For SurrealDB, see `database_file`."""
    remote_url: str | None = None
    remote_user: str | None = None
    remote_pass: str | None = field(default=None, repr=False)
    namespace: str = "memory"
    database: str = "default"
    project_dir: Path | None = None
    """The folder whose project this is; default: CLAUDE_PROJECT_DIR, else the working directory."""
    session_id: str | None = None
    user_id: str = ""
    agent: str | None = None
    embedding_model: str = "bundled"
    """`bundled`, `hashed`, `off`, a folder with an ONNX export, or a model's name at `embedding_url`."""
    embedding_dimensions: int | None = None
    embedding_url: str | None = None
    embedding_key: str | None = field(default=None, repr=False)
    index_roots: tuple[Path, ...] = ()
    """Folders in and below which code may be indexed; default: the home folder and the current project."""
    llm: str = "none"
    """Which language model may be asked: `none`, `anthropic`, `openai` (or what speaks like it) or `claude-cli`."""
    llm_model: str | None = None
    llm_url: str | None = None
    llm_key: str | None = field(default=None, repr=False)
    llm_daily_usd: float = 1.0
    """What it may cost in a day, by the provider's prices; then rules do its work until midnight UTC."""
    capture: bool = True
    """Whether hooks read conversations."""
    inject: bool = True
    """Whether hooks put memories in front of the agent."""
    inject_tokens: int = 1500
    """At most so many when a session begins."""
    prompt_tokens: int = 1000
    """At most so many for all prompts of a session together."""
    claude_md: bool = False
    """Whether a summary is kept in the project's CLAUDE.md."""
    agents_md: bool = False
    """The same in its AGENTS.md."""
    claude_md_lines: int = 150
    max_memories_per_session: int = 100
    """Soft: above it consolidation is due, and no write is refused."""
    consolidation_on_shutdown: bool = True
    max_storage_mb: int | None = None
    query_timeout: float = 5.0
    log_level: str = "info"

    @property
    def database_file(self) -> Path:
        """Where memories lie on this machine: the file of SQLite, or beside where that would be SurrealDB's folder."""
        if self.deployment_mode == "embedded-memory":
            return Path(":memory:")
        path = (self.db_path or self.home / "retain.db").expanduser()
        file = path if path.suffix else path / "retain.db"
        return file.with_suffix(".surrealkv") if self.uses_surrealdb else file

    @property
    def uses_surrealdb(self) -> bool:
        """Whether memories are in SurrealDB: because that was chosen, or on a server, which always is one."""
        return self.store == "surrealdb" or self.is_on_server

    @property
    def is_on_server(self) -> bool:
        return self.deployment_mode in SERVER_MODES

    @property
    def is_served_here(self) -> bool:
        """Whether the server is `retain db serve`, which finds its own way and password."""
        return self.deployment_mode == "local-server" and not self.remote_url and not self.remote_user

    @property
    def backups(self) -> Path:
        return self.home.expanduser() / "backups"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings with where each one came from, and what is wrong with the sources."""

    settings: Settings
    origins: Mapping[str, str]
    problems: tuple[str, ...] = ()
    """What could not be used."""
    warnings: tuple[str, ...] = ()
    """What was used, and should be looked at."""
    notes: tuple[str, ...] = ()
    """What a value was taken to mean, where that may surprise."""

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.problems + self.warnings


@dataclass(frozen=True, slots=True)
class _Told:
    """Gathers what is wrong while the sources are read."""

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    misread: list[str] = field(default_factory=list)
    """Files of which a part could not be understood: it may have said that nothing is to be captured."""


# Every variable that is read, by setting, first one that is set wins. The aliases are names from the contracts.
VARIABLES: dict[str, tuple[str, ...]] = {
    "home": ("RETAIN_HOME",),
    "toolset": ("RETAIN_TOOLSET",),
    "store": ("RETAIN_STORE",),
    "deployment_mode": ("RETAIN_DEPLOYMENT_MODE", "MEMORY_DEPLOYMENT_MODE"),
    "db_path": ("RETAIN_DB_PATH", "MEMORY_DB_PATH", "AUDREY_DATA_DIR"),
    "remote_url": ("RETAIN_REMOTE_URL", "MEMORY_REMOTE_URL"),
    "remote_user": ("RETAIN_REMOTE_USER",),
    "remote_pass": ("RETAIN_REMOTE_PASS",),
    "namespace": ("RETAIN_NAMESPACE",),
    "database": ("RETAIN_DATABASE",),
    "project_dir": ("RETAIN_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    "session_id": ("RETAIN_SESSION_ID", "MEMORY_SESSION_ID"),
    "user_id": ("RETAIN_USER_ID",),
    "agent": ("RETAIN_AGENT", "AUDREY_AGENT"),
    "embedding_model": ("RETAIN_EMBEDDING_MODEL", "AUDREY_EMBEDDING_PROVIDER"),
    "embedding_dimensions": ("RETAIN_EMBEDDING_DIMENSIONS", "AUDREY_EMBEDDING_DIMENSIONS"),
    "embedding_url": ("RETAIN_EMBEDDING_URL", "AUDREY_EMBEDDING_PROVIDER"),
    "embedding_key": ("RETAIN_EMBEDDING_KEY",),
    "index_roots": ("RETAIN_INDEX_ROOTS",),
    "llm": ("RETAIN_LLM", "AUDREY_LLM_PROVIDER"),
    "llm_model": ("RETAIN_LLM_MODEL",),
    "llm_url": ("RETAIN_LLM_URL",),
    "llm_key": ("RETAIN_LLM_KEY",),
    "llm_daily_usd": ("RETAIN_LLM_DAILY_USD",),
    "capture": ("RETAIN_CAPTURE",),
    "inject": ("RETAIN_INJECT",),
    "inject_tokens": ("RETAIN_INJECT_TOKENS",),
    "prompt_tokens": ("RETAIN_PROMPT_TOKENS",),
    "claude_md": ("RETAIN_CLAUDE_MD",),
    "agents_md": ("RETAIN_AGENTS_MD",),
    "claude_md_lines": ("RETAIN_CLAUDE_MD_LINES",),
    "max_memories_per_session": ("RETAIN_MAX_MEMORIES_PER_SESSION",),
    "consolidation_on_shutdown": ("RETAIN_CONSOLIDATION_ON_SHUTDOWN",),
    "max_storage_mb": ("RETAIN_MAX_STORAGE_MB",),
    "query_timeout": ("RETAIN_QUERY_TIMEOUT",),
    "log_level": ("RETAIN_LOG_LEVEL", "MEMORY_LOG_LEVEL"),
}
# Settings that decide where memories are kept or sent, and what that may cost.
_WHERE = ("home", "store", "deployment_mode", "db_path", "namespace", "database")
OUTWARD = frozenset(name for name in VARIABLES if name in _WHERE or name.startswith(("llm", "embedding_", "remote_")))
FILE = "retain.local.md"
CONFIG_PATH = ("RETAIN_CONFIG_PATH", "MEMORY_CONFIG_PATH")
CLIENT_PLACES = (
    "PATH",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "XDG_CONFIG_HOME",
    "APPDATA",
    "RETAIN_HOME",
    "RETAIN_COMMAND",
)
CLIENT_SESSION = "CLAUDE_CODE_SESSION_ID"
CLIENT_PID = "CLAUDE_PID"


def load(
    given: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> Loaded:
    """Arguments, then environment, then the project's file, then the user's; bad values are told, not used."""
    env = os.environ if environment is None else environment
    told = _Told()
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, source in _sources(given or {}, env, folder, told):
        for name, raw in source.items():
            if name not in values:
                understood = _take(name, raw, origin, values, origins, told.problems)
                told.misread.extend([] if understood or os.sep not in origin else [origin])
    if told.misread and "capture" not in values:
        values["capture"], origins["capture"] = False, f"{told.misread[0]}, which has a fault"
    notes = surprises(env, tuple(origins.values()))
    return Loaded(Settings(**values), origins, tuple(told.problems), tuple(told.warnings), notes)


def strict(loaded: Loaded) -> Settings:
    """The settings, for a caller that would rather stop than go on with a default it did not ask for."""
    if loaded.problems:
        raise ConfigError("; ".join(problem.removesuffix(_PASSED_OVER) for problem in loaded.problems))
    return loaded.settings


def client_session(environment: Mapping[str, str] | None = None) -> str | None:
    """The session that the client named when it started this process; stale after it was cleared."""
    return (os.environ if environment is None else environment).get(CLIENT_SESSION) or None


def client_process(environment: Mapping[str, str] | None = None) -> int:
    """The client that this process belongs to: the one that is named, else the one that started it."""
    named = (os.environ if environment is None else environment).get(CLIENT_PID, "")
    return int(named) if named.isdecimal() else os.getppid()


def whole_environment() -> dict[str, str]:
    """The environment as it is, for those who look up a key in it or pass it on to a child."""
    return dict(os.environ)


def user_home(environment: Mapping[str, str] | None = None) -> Path:
    return Path((os.environ if environment is None else environment).get("HOME") or Path.home())


def settings_files(
    given: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> tuple[Path, Path]:
    """The project's file and the user's: where settings are looked for, whether or not there are any."""
    env = os.environ if environment is None else environment
    chosen = next((env[name] for name in CONFIG_PATH if env.get(name)), None)
    user_file = Path(chosen) if chosen else user_home(env) / ".claude" / FILE
    project = Path((given or {}).get("project_dir") or env.get("CLAUDE_PROJECT_DIR") or folder or Path.cwd())
    return _project_file(project, user_home(env)), user_file.expanduser()


def _project_file(folder: Path, home: Path) -> Path:
    """In the folder itself, else in the root of its project: a session may begin anywhere in one."""
    here, root = folder / ".claude" / FILE, root_of(str(folder), str(home))
    return here if root is None or here.exists() else Path(root) / ".claude" / FILE


def settings_in(text: str) -> tuple[dict[str, Any], list[str]]:
    """What the text of a settings file sets, unchecked, and what of it is not YAML."""
    problems: list[str] = []
    return yaml_in(text, Path("it"), problems), problems


def client_variables(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables that say where other programs are and keep their settings."""
    env = os.environ if environment is None else environment
    return {name: env[name] for name in CLIENT_PLACES if env.get(name)}


def apart(home: Path, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a process that keeps its memory in `home` and knows nothing of this user's settings."""
    own = {"RETAIN_HOME": str(home), "RETAIN_CONFIG_PATH": str(home / "retain.local.md")}
    return with_settings_of(own, environment)


def with_settings_of(other: Mapping[str, str], environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment, in which all that concerns this memory is as in that of another process."""
    env = os.environ if environment is None else environment
    ours = {CLIENT_SESSION, CLIENT_PID, *CONFIG_PATH, *(variable for them in VARIABLES.values() for variable in them)}
    return {name: value for name, value in env.items() if name not in ours} | dict(other)


def _sources(
    given: Mapping[str, Any], env: Mapping[str, str], folder: Path | None, told: _Told
) -> list[tuple[str, Mapping[str, Any]]]:
    project_file, user_file = settings_files(given, env, folder)
    told.problems.extend(misspelt(env, {*CONFIG_PATH, *(name for them in VARIABLES.values() for name in them)}))
    return [
        ("argument", {name: value for name, value in given.items() if value is not None}),
        *_from_environment(env),
        *_in_other_words(env, given, told),
        *_from_file(project_file, told, is_own=False),
        *_from_file(user_file, told, is_own=True),
    ]


def _from_environment(env: Mapping[str, str]) -> list[tuple[str, Mapping[str, Any]]]:
    named = [(name, variable) for name, them in VARIABLES.items() for variable in them]
    ours = [(name, variable) for name, variable in named if variable not in MEANINGS]
    return [(variable, {name: env[variable]}) for name, variable in ours if env.get(variable)]


def _in_other_words(
    env: Mapping[str, str], given: Mapping[str, Any], told: _Told
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What variables of a contract say in values of their own, in ours."""
    model = given.get("embedding_model") or env.get("RETAIN_EMBEDDING_MODEL")
    for variable in filter(env.get, MEANINGS):
        try:
            yield variable, meaning(variable, env[variable], model)
        except ValueError as error:
            told.problems.append(f"{variable} is {env[variable]!r}: {error}{_PASSED_OVER}")


def _from_file(path: Path, told: _Told, *, is_own: bool) -> list[tuple[str, Mapping[str, Any]]]:
    """The front matter and the YAML blocks of a settings file; nothing when there is no such file.

    A project's file may have come with a clone, and then others can read it. From such a one nothing is taken
    that would send memories elsewhere, or bring others in. On Windows nobody can tell, so there it is from none.
    """
    try:
        text = path.read_text(encoding="utf-8")
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        told.problems.append(f"{path} cannot be read ({error}); its settings are not used")
        told.misread.append(str(path))
        return []
    is_open = os.name == "posix" and bool(mode & 0o077)
    if is_open:
        told.warnings.append(f"{path} may hold a password and can be read by others; run `chmod 600 {path}`")
    faults: list[str] = []
    found = yaml_in(text, path, faults)
    told.problems.extend(faults)
    told.misread.extend(str(path) for _ in faults)
    may_be_others = not is_own and (is_open or os.name != "posix")
    for name in OUTWARD.intersection(found) if may_be_others else ():
        del found[name]
        only = "only when that is private (chmod 600)" if os.name == "posix" else "only on other systems"
        told.problems.append(f"{path}: {name} is taken from a project's file {only}; set it in your own")
    return [(str(path), found)]


def _take(
    name: str, raw: Any, origin: str, values: dict[str, Any], origins: dict[str, str], problems: list[str]
) -> bool:
    """Says whether a setting was understood."""
    known = [f.name for f in fields(Settings)]
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        problems.append(f"{origin}: unknown setting {name}" + (f"; did you mean {near[0]}?" if near else ""))
        return False
    try:
        values[name] = _READERS.get(name, str)(raw)
        if values[name] is not None:
            origins[name] = origin
    except ValueError as error:
        problems.append(f"{origin}: {name} is {str(raw)!r}: {error}{_PASSED_OVER}")
        return False
    return True


_READERS: dict[str, Callable[[Any], Any]] = {
    "home": a_folder,
    "toolset": toolsets(TOOLSETS),
    "store": one_of(*STORES),
    "deployment_mode": one_of(*MODES),
    "db_path": a_folder,
    "project_dir": a_folder,
    "embedding_dimensions": positive(int),
    "embedding_url": text_or_none,
    "embedding_key": text_or_none,
    "index_roots": folders,
    "llm": one_of(*LLMS),
    "llm_daily_usd": positive(float),
    "capture": yes_or_no,
    "inject": yes_or_no,
    "inject_tokens": positive(int),
    "prompt_tokens": positive(int),
    "claude_md": yes_or_no,
    "agents_md": yes_or_no,
    "claude_md_lines": positive(int),
    "max_memories_per_session": positive(int),
    "consolidation_on_shutdown": yes_or_no,
    "max_storage_mb": positive(int),
    "query_timeout": positive(float),
    "log_level": one_of(*LOG_LEVELS),
}
