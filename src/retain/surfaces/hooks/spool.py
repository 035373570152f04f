"""The spool: what hooks hand over to be captured, and the one detached worker that captures it.

An item is {"v": 1, "event", "session", "transcript", "cwd", "project_dir", "store", "environment",
"last_assistant_message", "at", …}: one file, named so that names sort by age and tell the conversation. A later item
of the same conversation takes the place of one that still waits, so that the spool grows with the number of
conversations, not of turns.

The worker holds `run/worker.lock`. A hook takes it and hands it down to the worker that it starts, so there is never a
second one, not even for a moment.
"""

import os
import sys
import time

from retain.quick_json import parsed, written
from retain.run_files import Lock, is_held, make_folder, names_in, read_text, remove, worker_lock, write_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Item = dict[str, object]

__all__ = ["Lock", "done", "failed", "is_held", "put", "read", "start_worker", "waiting", "working"]

VERSION = 1
ATTEMPTS = 3
MOST_WAITING = 2000
MOST_FAILED = 50
LONGEST_MESSAGE = 100_000
_DRAFT_SECONDS = 3600.0
_BEGUN = "b"
# When items are merged, what asks for more is kept: before a compaction little is enough, at the end all is due.
_RANK = {"Stop": 0, "PreCompact": 1, "SessionEnd": 2}
# They speak of the session that happened to start the worker, and it works for others too.
_NOT_HANDED_DOWN = (
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PLUGIN_DATA",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PROJECT_DIR",
)
_STARTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start_worker.py")


class SpoolFull(Exception):
    """So much waits that a worker cannot have run for long."""


def put(home: str, item: "Item") -> str:
    """Adds an item and says where it lies; earlier items of the same conversation that still wait go into it."""
    folder = _folder(home)
    earlier = [name for name in names_in(folder) if _conversation(name) == _key(item)]
    if len(earlier) == 0 and len(names_in(folder)) >= MOST_WAITING:
        raise SpoolFull(f"{MOST_WAITING} conversations wait in {folder}")
    merged = {"v": VERSION, "at": time.time(), **item, "event": _strongest(item, folder, earlier)}
    message = merged.get("last_assistant_message")
    if isinstance(message, str):
        merged["last_assistant_message"] = message[-LONGEST_MESSAGE:]
    path = os.path.join(folder, _name(_key(item), _attempts_so_far(home, earlier)))
    write_private(path, written(merged))
    for name in earlier:  # only now: whatever happens, the conversation is in the spool
        remove(os.path.join(folder, name))
    return path


def waiting(home: str) -> list[str]:
    """Paths of what waits, oldest first."""
    folder = _folder(home)
    return [os.path.join(folder, name) for name in names_in(folder)]


def read(path: str) -> "Item | None":
    """The item; None when it is gone, because a later one has taken its place. ValueError when it is unreadable."""
    try:
        text = read_text(path)
    except FileNotFoundError:
        return None
    item = parsed(text)
    if not isinstance(item, dict) or item.get("v") != VERSION:
        raise ValueError(f"no item of version {VERSION}")
    return item


def is_older_than(path: str, days: float) -> bool:
    """Whether the item has waited for longer; its name tells since when."""
    since = os.path.basename(path).partition("-")[0]
    return since.isdecimal() and time.time() - int(since) / 1e6 > days * 86_400


def done(path: str) -> None:
    remove(path)


def failed(path: str, why: str) -> bool:
    """Says whether it was the last attempt, after which the item lies in `spool/failed`; else it goes on waiting."""
    attempts = _attempts(path) + 1
    if attempts >= ATTEMPTS:
        _give_up(path, why)
    else:
        _renamed(path, f"{attempts}")
    return attempts >= ATTEMPTS


def working(home: str, lock: "Lock | None" = None, seconds: float = 600.0) -> "Iterator[str]":
    """What there is to do, one path after another, for as long as this process is the one worker.

    Give each path to `done` or `failed`; what is given to neither goes on waiting, and that is no failure. Each is
    offered once: what is left is for the next worker. The lock is let go before the last look at the spool, so that
    what arrives as this worker leaves is seen by it or starts another.
    """
    until, seen = time.monotonic() + seconds, set[str]()
    while time.monotonic() < until and (lock is not None or _left(home, seen)):
        held, lock = lock or worker_lock(home), None
        if held.file < 0 and not held.take(attempts=5):
            return
        try:
            held.sign()
            _clear_drafts(_folder(home))
            while time.monotonic() < until and (left := _left(home, seen)):
                seen.add(_identity(left[0]))
                if path := _begun(left[0]):
                    try:
                        yield path
                    finally:
                        _renamed(path, f"{_attempts(path)}")
        finally:
            held.release()


def _clear_drafts(folder: str) -> None:
    """Removes what hooks have left that were ended in the middle of writing: it holds an answer, and no item."""
    for name in names_in(folder, ".tmp"):
        path = os.path.join(folder, name)
        try:
            is_old = time.time() - os.stat(path).st_mtime > _DRAFT_SECONDS
        except OSError:
            continue
        if is_old:
            remove(path)


def start_worker(home: str) -> bool:
    """Starts a worker in the background unless there is one; says whether it did."""
    lock = worker_lock(home)
    if not sys.executable or not lock.take(attempts=2):
        return False
    try:
        _start(home, lock)
    finally:
        lock.release()
    return True


def _start(home: str, lock: "Lock") -> None:
    env = {name: value for name, value in os.environ.items() if name not in _NOT_HANDED_DOWN}
    options = ["-I", "-S", *(["-B"] if sys.dont_write_bytecode else [])]
    command = [sys.executable, *options, _STARTER, home]
    if not hasattr(os, "posix_spawn"):
        lock.release()  # not handed down there: the worker takes it itself, or leaves
        _start_by_subprocess(command, env)
        return
    _keep_from_children()
    os.set_inheritable(lock.file, True)
    null = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    try:
        os.posix_spawn(command[0], [*command, str(lock.file)], env, file_actions=null, setsid=True)
    except NotImplementedError:  # a system without setsid in posix_spawn, such as an older macOS
        _start_by_subprocess([*command, str(lock.file)], env, lock.file)


def _start_by_subprocess(command: list[str], env: dict[str, str], *kept: int) -> None:
    import subprocess

    null = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    if os.name == "nt":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP  # type: ignore[attr-defined]
        subprocess.Popen(command, env=env, close_fds=True, creationflags=flags, **null)  # type: ignore[call-overload]
    else:
        subprocess.Popen(command, env=env, pass_fds=kept, start_new_session=True, **null)  # type: ignore[call-overload]


def _keep_from_children() -> None:
    """What the client left open for us is not for a process that outlives it."""
    for name in names_in("/dev/fd", ""):
        if name.isdecimal() and int(name) > 2:
            try:
                os.set_inheritable(int(name), False)
            except OSError:
                pass  # the folder itself, closed by now


def _folder(home: str) -> str:
    return os.path.join(home, "spool")


def _left(home: str, seen: set[str]) -> list[str]:
    return [path for path in waiting(home) if _identity(path) not in seen]


def _strongest(item: "Item", folder: str, earlier: list[str]) -> object:
    events = [item.get("event")]
    for name in earlier:
        try:
            events.append((read(os.path.join(folder, name)) or {}).get("event"))
        except (OSError, ValueError):
            pass  # it goes, and what it stood for is in the transcript that this one names
    return max(events, key=lambda event: _RANK.get(str(event), -1))


def _key(item: "Item") -> str:
    """Of a conversation: its session and its transcript, in letters that a file name may have."""
    from zlib import crc32

    name = f"{item.get('session')}\0{item.get('transcript')}\0{item.get('agent_transcript')}"
    whole = name.encode("utf-8", "surrogatepass")
    return f"{crc32(whole):08x}{crc32(whole[::-1]):08x}"


def _name(key: str, attempts: int) -> str:
    return f"{time.time_ns() // 1000:016d}-{key}-{os.urandom(3).hex()}~{attempts}.json"


def _conversation(name: str) -> str:
    return name.split("-")[1] if name.count("-") == 2 else ""


def _attempts(path: str) -> int:
    count = _mark(path).rstrip(_BEGUN)
    return int(count) if count.isdecimal() else 0


def _attempts_so_far(home: str, earlier: list[str]) -> int:
    """A worker that was ended in the middle of an item has failed at it; one that is still there has not."""
    ended = any(_mark(name).endswith(_BEGUN) for name in earlier) and not is_held(home)
    return max((_attempts(name) + (ended and _mark(name).endswith(_BEGUN)) for name in earlier), default=0)


def _mark(path: str) -> str:
    """What a name says after the tilde: how many attempts have failed, and whether one has begun."""
    return path.removesuffix(".json").rpartition("~")[2]


def _identity(path: str) -> str:
    """Of an item, whatever the number of attempts in its name."""
    return os.path.basename(path).removesuffix(".json").partition("~")[0]


def _begun(path: str) -> str | None:
    """Where the item lies now that work on it begins. The mark stays if the worker does not live to take it away."""
    failures = _attempts(path) + _mark(path).endswith(_BEGUN)
    if failures >= ATTEMPTS:
        _give_up(path, f"the worker did not come to an end, {ATTEMPTS} times")
        return None
    return _renamed(path, f"{failures}{_BEGUN}")


def _renamed(path: str, mark: str) -> str | None:
    renamed = f"{path.rpartition('~')[0] or path.removesuffix('.json')}~{mark}.json"
    return renamed if _moved(path, renamed) else None


def _moved(path: str, to: str) -> bool:
    try:
        os.replace(path, to)
    except FileNotFoundError:
        return False  # a later item of the conversation has taken its place
    return True


def _give_up(path: str, why: str) -> None:
    folder = os.path.join(os.path.dirname(path), "failed")
    make_folder(folder)
    kept = os.path.join(folder, f"{_identity(path)}~0.json")
    if not _moved(path, kept):
        return
    try:
        # Whoever tries again finds the last answer in the transcript, and it may hold what nobody should keep.
        write_private(kept, written({**(read(kept) or {}), "last_assistant_message": "", "why": why}))
    except (OSError, ValueError):
        pass  # the log has the reason too
    for name in names_in(folder)[:-MOST_FAILED]:
        remove(os.path.join(folder, name))
