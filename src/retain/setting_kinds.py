"""What each setting can do in the wrong hands: which of them a file that came with a repository may set.

A project's folder may be a clone, so its settings file may be a stranger's. What could send something, read elsewhere,
loosen a fence, starve its user or change whose memory is meant waits for the user's approval (`retain.approvals`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    FREE = "free"
    """Any value may come with a repository."""
    LESS = "less"
    """Free where it does no more than would be done without the file; more needs approval."""
    OWN = "own"
    """Needs approval, whatever the value."""
    PLACE = "place"
    """The same, and it says where memories are or whose: until it is decided, nothing is written anywhere else."""


@dataclass(frozen=True, slots=True)
class Entry:
    kind: Kind
    does: str
    """What it would do, for the person who is asked."""


KINDS: Mapping[str, Entry] = {
    "home": Entry(Kind.PLACE, "keeps data, backups and logs in this folder"),
    "toolset": Entry(Kind.OWN, "gives the agent these tools, among them perhaps some that destroy"),
    "store": Entry(Kind.PLACE, "keeps memories in this kind of store"),
    "deployment_mode": Entry(Kind.PLACE, "keeps memories in a file, in the process alone, or on a server"),
    "db_path": Entry(Kind.PLACE, "keeps memories in this file or folder"),
    "remote_url": Entry(Kind.PLACE, "sends memories to the database at this address"),
    "remote_user": Entry(Kind.PLACE, "signs in to that database as this user"),
    "remote_pass": Entry(Kind.PLACE, "signs in to that database with this password"),
    "namespace": Entry(Kind.PLACE, "keeps memories in this namespace"),
    "database": Entry(Kind.PLACE, "keeps memories in this database"),
    "project_dir": Entry(Kind.PLACE, "reads and writes the memories of the project in this folder"),
    "session_id": Entry(Kind.OWN, "reads and writes the memories of this session"),
    "user_id": Entry(Kind.PLACE, "reads and writes the memories of this user"),
    "agent": Entry(Kind.OWN, "reads and writes what this agent keeps to itself"),
    "embedding_model": Entry(Kind.OWN, "finds memories with this model, or loads the model in this folder"),
    "embedding_dimensions": Entry(Kind.OWN, "refuses vectors of any other size, and with them the memory"),
    "embedding_url": Entry(Kind.OWN, "sends the text of memories, questions and code to this address"),
    "embedding_key": Entry(Kind.OWN, "sends this key to that address"),
    "index_roots": Entry(Kind.OWN, "lets code in and below these folders be read"),
    "llm": Entry(Kind.LESS, "sends conversations and memories to this language model"),
    "llm_model": Entry(Kind.OWN, "asks this model, at its price"),
    "llm_url": Entry(Kind.OWN, "sends conversations, memories and your key to this address"),
    "llm_key": Entry(Kind.OWN, "sends this key instead of yours"),
    "llm_daily_usd": Entry(Kind.LESS, "spends up to so much a day"),
    "judge": Entry(Kind.LESS, "lets the bundled judge say what is worth keeping"),
    "second_look": Entry(Kind.LESS, "spends up to 60 ms a recall on reading its best candidates with the question"),
    "capture": Entry(Kind.LESS, "has hooks read conversations"),
    "inject": Entry(Kind.LESS, "has hooks put memories before the agent"),
    "inject_tokens": Entry(Kind.LESS, "puts so much before the agent when a session begins"),
    "prompt_tokens": Entry(Kind.LESS, "puts so much before the agent with its prompts"),
    "claude_md": Entry(Kind.LESS, "writes memories into CLAUDE.md, which others may read"),
    "agents_md": Entry(Kind.LESS, "writes memories into AGENTS.md, which others may read"),
    "claude_md_lines": Entry(Kind.LESS, "writes so many lines there"),
    "max_memories_per_session": Entry(Kind.FREE, "says from how many memories on consolidation is due"),
    "consolidation_on_shutdown": Entry(Kind.LESS, "has the next server consolidate sessions that ended"),
    "max_storage_mb": Entry(Kind.OWN, "refuses writes above this size, also those that you make"),
    "query_timeout": Entry(Kind.OWN, "gives up a query after so many seconds"),
    "log_level": Entry(Kind.FREE, "says how much is logged"),
}
# Of settings of the kind LESS that are neither numbers nor yes or no: the values that do the least.
_LEAST: Mapping[str, tuple[str, ...]] = {"llm": ("none",)}


def is_free(name: str, value: Any, otherwise: Any) -> bool:  # Any: the values of a setting, of whatever type
    """Whether a file that nobody approved may set this; `otherwise` is what holds without the file."""
    kind = KINDS[name].kind
    if kind is Kind.FREE or value == otherwise:
        return True
    if kind is not Kind.LESS:
        return False
    return value in _LEAST[name] if name in _LEAST else bool(value <= otherwise)


def may_need_approval(name: str, value: Any) -> bool:
    """Whether there are settings of a user's own beside which this one would not be free."""
    kind = KINDS[name].kind
    return kind is not Kind.FREE and (kind is not Kind.LESS or (bool(value) and value not in _LEAST.get(name, ())))


def is_place(name: str) -> bool:
    return KINDS[name].kind is Kind.PLACE
