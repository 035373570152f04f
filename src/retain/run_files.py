"""Files in RETAIN_HOME through which short-lived processes and servers tell each other things. Imports next to nothing.

run/clients/<pid>.json   the session that a client process is in
run/untyped/*            ids of memories that were stored without a type
run/worker.lock          held by the one process that captures
spool/*.json             what is to be captured; spool/failed/ what could not be
logs/hooks.log           what hooks and the worker have to tell
"""

import errno
import os
import time

from retain.quick_json import parsed, written

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
_FAR = 1 << 30  # Windows locks bytes against reading too, so the locked one is far behind the text
_OLD_CLIENT_SECONDS = 86_400.0


def make_folder(path: str) -> None:
    """Makes it and what is above it, for this user alone."""
    if not os.path.isdir(path):
        make_folder(os.path.dirname(path))
        try:
            os.mkdir(path, PRIVATE_FOLDER)
        except FileExistsError:
            pass


def write_private(path: str, text: str) -> None:
    """Puts a whole file in place, or leaves what was there; readers see the old or the new one, never a half."""
    draft = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    make_folder(os.path.dirname(path))
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), PRIVATE_FILE)
    try:
        try:
            rest = text.encode("utf-8", "surrogatepass")
            while rest:
                rest = rest[os.write(file, rest) :]
        finally:
            os.close(file)
        os.replace(draft, path)
    except OSError:
        remove(draft)
        raise


def read_text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def read_object(path: str) -> dict[str, object]:
    """The JSON object in a file; empty when there is no such file or it holds something else."""
    try:
        found = parsed(read_text(path))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def names_in(folder: str, ending: str = ".json") -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(ending))
    except OSError:
        return []


class Lock:
    """Held by one process at a time and let go when that ends, however it ends. The file says who holds it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.file = -1

    def take(self, attempts: int = 1) -> bool:
        """Whether it is ours now; somebody who only looks holds it for a moment, so a second attempt may help."""
        make_folder(os.path.dirname(self.path))
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), PRIVATE_FILE)
        try:
            for attempt in range(attempts):
                if attempt:
                    time.sleep(0.002)
                if _locked(self.file):
                    return True
        except OSError:
            self.release()
            raise
        self.release()
        return False

    def adopt(self, file: int) -> None:
        """Goes on holding what the process that started this one has taken."""
        os.set_inheritable(file, False)
        self.file = file

    def sign(self) -> None:
        """Writes into it who holds it, and since when."""
        text = written({"pid": os.getpid(), "at": time.time()}).encode()
        os.ftruncate(self.file, 0)
        os.lseek(self.file, 0, os.SEEK_SET)
        os.write(self.file, text)

    def release(self) -> None:
        if self.file >= 0:
            os.close(self.file)
            self.file = -1


def worker_lock(home: str) -> Lock:
    return Lock(os.path.join(home, "run", "worker.lock"))


def is_held(home: str) -> bool:
    """Whether a worker is at work on this home."""
    lock = worker_lock(home)
    if not os.path.exists(lock.path):
        return False
    try:
        is_free = lock.take(attempts=2)
    except OSError:
        return False
    lock.release()
    return not is_free


def _locked(file: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return _locked_on_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    return True


def _locked_on_windows(file: int) -> bool:
    import msvcrt

    os.lseek(file, _FAR, os.SEEK_SET)
    try:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # there on Windows
    except OSError:
        return False
    return True


def is_alive(pid: int) -> bool:
    """Whether there is such a process; where that cannot be asked without harm, it is taken to be there."""
    if os.name != "posix":
        return True  # os.kill would end it there
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def client_file(home: str, pid: int) -> str:
    return os.path.join(home, "run", "clients", f"{pid}.json")


def record_client(home: str, pid: int, told: dict[str, object]) -> list[dict[str, object]]:
    """Notes which session a client process is in now, and where that is written down.

    Gives what was noted of processes that have ended without saying so, and drops it.
    """
    own = client_file(home, pid)
    write_private(own, written({"at": time.time(), **told}))
    folder = os.path.dirname(own)
    others = [name for name in names_in(folder, "") if name != os.path.basename(own)]
    ended = [os.path.join(folder, name) for name in others if not _may_stay(folder, name)]
    left = [found for path in ended if path.endswith(".json") and (found := read_object(path))]
    for path in ended:
        remove(path)
    return left


def forget_client(home: str, pid: int, session: str) -> None:
    """For a session that has ended as it should."""
    if session_of_client(home, pid) == session:
        remove(client_file(home, pid))


def session_of_client(home: str, pid: int) -> str | None:
    """The session that a client process was last seen in."""
    session = read_object(client_file(home, pid)).get("session")
    return session if isinstance(session, str) and session else None


class ClientSession:
    """The session that one client process is in; the file is read again only when it has changed."""

    def __init__(self, home: str, pid: int) -> None:
        self._home, self._pid = home, pid
        self._known: tuple[tuple[int, int], str | None] = ((0, 0), None)

    def current(self) -> str | None:
        try:
            found = os.stat(client_file(self._home, self._pid))
        except OSError:
            return None
        state = (found.st_mtime_ns, found.st_ino)
        if state != self._known[0]:
            self._known = (state, session_of_client(self._home, self._pid))
        return self._known[1]


def _may_stay(folder: str, name: str) -> bool:
    pid = name.partition(".")[0]
    if not pid.isdecimal() or not is_alive(int(pid)):
        return False
    if name.endswith(".json"):
        return True
    try:
        return time.time() - os.stat(os.path.join(folder, name)).st_mtime < _OLD_CLIENT_SECONDS
    except OSError:
        return True


def log_file(home: str) -> str:
    return os.path.join(home, "logs", "hooks.log")
