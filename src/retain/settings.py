"""What can be set: every setting with its default, the variables that name it, and how its value is read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from retain.setting_values import folder as a_folder
from retain.setting_values import (
    folders,
    model,
    not_negative,
    one_of,
    positive,
    text_or_none,
    toolsets,
    yes_or_no,
)

MODES = ("embedded-memory", "embedded-file", "local-server", "remote")
SERVER_MODES = ("local-server", "remote")
STORES = ("sqlite", "surrealdb")
LOG_LEVELS = ("debug", "info", "warn", "error")
TOOLSETS = ("default", "scoped", "graph", "capture", "bank", "audrey", "all")
SECRETS = frozenset({"remote_pass", "embedding_key", "llm_key"})
LLMS = ("none", "anthropic", "openai", "claude-cli")


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
    """What it may cost in a day, by the provider's prices; then the judge does its work until midnight UTC."""
    judge: bool = True
    """Whether the bundled judge says what is worth keeping and what contradicts; off, conversations wait."""
    second_look: bool = True
    """Whether the judge reads the best candidates of a recall with the question before their order is final."""
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
    "judge": ("RETAIN_JUDGE",),
    "second_look": ("RETAIN_SECOND_LOOK",),
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

READERS: dict[str, Callable[[Any], Any]] = {
    "home": a_folder,
    "toolset": toolsets(TOOLSETS),
    "store": one_of(*STORES),
    "deployment_mode": one_of(*MODES),
    "db_path": a_folder,
    "project_dir": a_folder,
    "embedding_model": model,
    "embedding_dimensions": positive(int),
    "embedding_url": text_or_none,
    "embedding_key": text_or_none,
    "index_roots": folders,
    "llm": one_of(*LLMS),
    "llm_daily_usd": not_negative(float),
    "judge": yes_or_no,
    "second_look": yes_or_no,
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
