"""One call of a hook: what the client said, whose project and session it is, and how much time is left."""

import os
import time

from retain.standing import of_settings, of_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    Payload = Mapping[str, object]


SERVERS = ("local-server", "remote")  # modes in which the store is not on this machine


class Call:
    """What a handler gets. The project is looked up when it is first asked for, since not every event needs it.

    `settings` is the snapshot of `snapshot.FIELDS`: names as in `retain.config.Settings`, paths as text.
    """

    __slots__ = ("_project", "client_pid", "cwd", "deadline", "event", "payload", "settings", "standing", "store")

    def __init__(self, event: str, payload: "Payload", settings: "Mapping[str, object]", deadline: float) -> None:
        self.event = event
        self.payload = payload
        self.settings = settings
        self.deadline = deadline
        self.cwd = self.text("cwd") or os.getcwd()
        pid = os.environ.get("CLAUDE_PID", "")
        self.client_pid = int(pid) if pid.isdecimal() else os.getppid()
        self._project: tuple[str | None, str | None] | None = None
        self.store: sqlite3.Connection | None = None
        """The store once it was opened, to be read (`reading.opened_for`)."""
        unused = settings.get("unused")
        here = "" if settings.get("deployment_mode") in SERVERS else self.database
        self.standing = of_store(here) + of_settings(str(unused).splitlines() if unused else ())
        """What every answer says until a person has dealt with it."""

    def left(self) -> float:
        """Seconds until the answer must be out; never below zero."""
        return max(0.0, self.deadline - time.monotonic())

    def text(self, name: str) -> str:
        """A field of the payload; empty when it is missing or no text. Halves of letters become question marks."""
        value = self.payload.get(name)
        return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        """A setting that is a number; 0 when it is not."""
        value = self.settings.get(name)
        return int(value) if isinstance(value, int | float) else 0

    @property
    def session(self) -> str:
        """The client's session; empty when it did not say."""
        return self.text("session_id")[:200]

    @property
    def home(self) -> str:
        return str(self.settings["home"])

    @property
    def user(self) -> str:
        return str(self.settings.get("user_id") or "")

    @property
    def database(self) -> str:
        """The store's file or folder; `:memory:` when it has none."""
        return str(self.settings["database_file"])

    @property
    def readable(self) -> str | None:
        """The file that a hook can read itself: the store's, or the copy of one on a server; None where none can."""
        file = self.settings.get("readable_file")
        return file if isinstance(file, str) else None

    @property
    def paused(self) -> "float | None":
        """Since when nothing is captured in this project; None when it is."""
        from retain.pauses import has_any, paused_since

        return paused_since(self.home, self.project_id) if has_any(self.home) else None

    @property
    def remark(self) -> str:
        """What stands, in one line; empty for nothing."""
        return " ".join(dict.fromkeys(notice.brief for notice in self.standing))

    @property
    def project_dir(self) -> str:
        """The folder that the client works in, as it or the settings name it."""
        named = self.settings.get("project_dir") or os.environ.get("CLAUDE_PROJECT_DIR")
        return str(named or self.cwd)

    @property
    def project_root(self) -> str | None:
        """The git root around it, the main checkout of a worktree, else the folder; None in the home folder."""
        return self._found()[0]

    @property
    def project_id(self) -> str | None:
        return self._found()[1]

    def _found(self) -> tuple[str | None, str | None]:
        if self._project is None:
            from retain.domain.ids import id_of
            from retain.folders import root_of

            root = root_of(self.project_dir, os.path.expanduser("~"))
            self._project = (root, id_of(root) if root else None)
        return self._project
