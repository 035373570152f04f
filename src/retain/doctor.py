"""A check of everything that must be right for Retain to work, each fault with the way to put it right."""

import re
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path

from retain import db_server, held, hook_health, installed, maintenance, model_health
from retain.checks import Check, State
from retain.clients.known import Machine
from retain.clients.state import findings
from retain.config import Loaded, Settings
from retain.domain.connection import Queued
from retain.domain.model import BUNDLED
from retain.errors import MissingExtra, RetainError, StoreBusy, StoreDown
from retain.ports import Store
from retain.setting_values import BUNDLED as BUNDLED_NAMES
from retain.whereabouts import shown
from retain.wiring import (
    check_surrealdb,
    make_bare_store,
    make_queue,
    make_store,
    queues_elsewhere,
    why_no_judge,
)

OLDEST_PYTHON = (3, 11)
OLDEST_SQLITE = (3, 35, 0)  # `returning`
_ANOTHER_HOME = "set RETAIN_HOME to another folder"
LITTLE_SPACE, NO_SPACE = 500_000_000, 50_000_000
LONG_LOG = 200_000_000
MOST_LACKING = 100  # memories without vectors that are looked past
OLD_BACKUP = timedelta(days=7)
IN_SURREALDB = "retain backup FILE, set another db_path, and there retain copy --from sqlite:FILE --to current"
IN_SERVER = "retain backup FILE, set another database, and there retain copy --from sqlite:FILE --to current"
IN_A_CLONE = ". in a clone of Retain"
REINSTALL = f"pip install --force-reinstall {installed.NAME}"


def examine(loaded: Loaded, settings_files: Sequence[Path], now: datetime) -> list[Check]:
    """All checks, in the order in which one thing depends on another."""
    settings = loaded.settings
    return [
        *_install(settings),
        *_settings(loaded),
        *_permissions(settings, settings_files),
        *(_server(settings) if settings.is_on_server else _store(settings)),
        *_elsewhere(settings),
        *_held(loaded),
        *model_health.look(settings),
        *_backups(settings, now),
        *_hooks(settings, now),
        *_clients(),
    ]


def _clients() -> Iterator[Check]:
    for found in findings(Machine.here()):
        yield Check("clients", found.state, found.note, found.repair)


def is_sound(checks: Sequence[Check]) -> bool:
    return all(check.state != "fail" for check in checks)


def _install(settings: Settings) -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    state: State = "ok" if sys.version_info >= OLDEST_PYTHON else "fail"
    yield Check("install", state, f"Python {version}", "install Python 3.11 or newer")
    yield _packages()
    yield from _namesakes()
    yield _sqlite()
    home = settings.home.expanduser().absolute()
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    state = "ok" if free >= LITTLE_SPACE else "warn" if free >= NO_SPACE else "fail"
    yield Check("install", state, f"{free / 1e9:.1f} GB free for {home}", "free some space on that disk")


def _packages() -> Check:
    found = installed.current()
    if found is None:
        return Check("install", "warn", "runs from source: packages were not checked", f"pip install {IN_A_CLONE}")
    needs = [line for line in found.requires or () if "extra ==" not in line]
    bounds = [re.match(r"([\w.-]+)\s*([^;]*)", line) for line in needs]
    wrong = [said for bound in bounds if bound and (said := _outside(bound[1], bound[2]))]
    if wrong:
        return Check("install", "fail", "; ".join(wrong), REINSTALL)
    return Check("install", "ok", f"{len(bounds)} packages, all within their bounds")


def _namesakes() -> Iterator[Check]:
    """What else goes by the name of the command: an older install of ours, or the program that deletes files."""
    for found, ours in installed.namesakes():
        if ours:
            note = f"an install of Retain by its earlier name, {installed.OLD_NAME} {found.version}"
            yield Check("install", "warn", note, f"pip uninstall {installed.OLD_NAME}, then {REINSTALL}")
        else:
            note = f"{installed.OLD_NAME} {found.version} is another program, which deletes files, in the same folder"
            repair = f"do not run `retain` here; pip uninstall {installed.OLD_NAME}, then {REINSTALL}"
            yield Check("install", "fail", note, repair)
    command = shutil.which("retain")
    if command and not installed.starts_retain(Path(command)):
        note = f"{command} is another program, which deletes files: `retain` in this shell starts that one"
        yield Check("install", "warn", note, f"call this one {installed.NAME}, or put it before that on the PATH")


def _outside(name: str, bounds: str) -> str | None:
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        return f"{name} is not installed"
    fits = {">=": lambda a, b: a >= b, "<": lambda a, b: a < b}
    for sign, bound in re.findall(r"(>=|<)\s*([\d.]+)", bounds):
        if not fits[sign](_numbers(found), _numbers(bound)):
            return f"{name} {found} is outside {bounds.strip()}"
    return None


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _sqlite() -> Check:
    with closing(sqlite3.connect(":memory:")) as db:
        try:
            db.execute("create virtual table words using fts5(text)")
        except sqlite3.OperationalError:
            return Check(
                "install", "fail", f"SQLite {sqlite3.sqlite_version} has no FTS5", "use a Python whose SQLite has it"
            )
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return Check(
            "install", "fail", f"SQLite {sqlite3.sqlite_version} is too old", "use a Python with SQLite 3.35 or newer"
        )
    return Check("install", "ok", f"SQLite {sqlite3.sqlite_version} with full text")


def _settings(loaded: Loaded) -> Iterator[Check]:
    file = loaded.project_file
    if file and file.is_undecided:
        yield Check("settings", "fail" if loaded.is_held else "warn", file.remark, "retain trust, in that project")
    elif file and file.asks:
        yield Check("settings", "ok", f"{file.path} is {file.verdict}: {', '.join(file.asks)}")
    others = [remark for remark in loaded.remarks if not file or remark != file.remark]
    for problem in others:
        yield Check("settings", "fail", problem, "put it right there; `retain config` shows what is in force")
    if not others:
        yield Check("settings", "ok", f"{len(loaded.origins)} set, the rest as they come")


def _permissions(settings: Settings, settings_files: Sequence[Path]) -> Iterator[Check]:
    found = maintenance.too_open(settings, settings_files)
    for path, mode in found:
        repair = f"retain doctor --repair, or chmod {mode:o} {path}"
        yield Check("permissions", "fail", f"{path} can be read by others", repair)
    closed = maintenance.not_writable(settings)
    for path in closed:
        repair = f"chmod u+w {path}" if maintenance.may_be_opened(path) else f"mount its disk so, or {_ANOTHER_HOME}"
        yield Check("permissions", "fail", f"{path} cannot be written to", repair)
    if not found and not closed:
        yield Check("permissions", "ok", "nobody else can read the store, the backups and the settings")


def _server(settings: Settings) -> Iterator[Check]:
    """A database on a server, and what waits here for it."""
    try:
        check_surrealdb(settings)
        reached = db_server.reach(settings)
        with closing(make_queue(settings)) as queue:
            queued = queue.state()
    except RetainError as error:
        yield Check("store", "fail", error.message)
        return
    if reached.error:
        away = isinstance(reached.error, StoreDown) and reached.error.retry_possible
        repair = "start it; until then memories are read from the copy on this machine, and writes wait"
        yield Check("store", "warn" if away else "fail", reached.error.message, repair if away else "")
    else:
        yield Check("store", "ok", f"{reached.url} answers, {reached.version}")
        yield from _served(settings)
    if queued.waiting:
        since = f" since {queued.oldest:%Y-%m-%d %H:%M} UTC" if queued.oldest else ""
        repair = "they are sent when the database answers and something is remembered; `retain db queue` lists them"
        yield Check("queue", "warn", f"{_waiting(queued.waiting)}{since}", repair)
    if queued.refused:
        repair = "`retain db queue` says why; --retry N sends one again, --drop N gives it up"
        yield Check("queue", "fail", f"{queued.refused} writes were refused by the database", repair)
    if not queued.waiting and not queued.refused:
        yield Check("queue", "ok", "no write waits for the database")


def _waiting(number: int) -> str:
    return f"{number} writes wait" if number != 1 else "1 write waits"


def _elsewhere(settings: Settings) -> Iterator[Check]:
    """Writes that wait for a database which the settings no longer name."""
    with queues_elsewhere(settings) as queues:
        for queue in queues:
            state = queue.state()
            send = ", or send them to this database: `retain db queue --adopt`" if settings.is_on_server else ""
            note = f"{_waiting(state.waiting + state.refused)} for {queue.of}"
            yield Check("queue", "warn", note, f"set deployment_mode and address back to it{send}")


def _held(loaded: Loaded) -> Iterator[Check]:
    """Writes that wait for a decision about a project's settings file, of whichever project."""
    home = loaded.project_file.kept_in if loaded.project_file else loaded.settings.home
    with held.everywhere(home) as queues:
        for queue in queues:
            for lost in queue.standing():
                yield Check("queue", "fail", lost.message, "retain doctor --settle")
            state = queue.state()
            if state == Queued():
                continue
            note = f"{_waiting(state.waiting + state.refused)} for {queue.of}"
            refused = next((f"; one could not be stored: {entry.why}" for entry in queue.entries() if entry.why), "")
            yield Check("queue", "warn", note + refused, "retain trust, or retain trust --refuse, in that project")


def _served(settings: Settings) -> Iterator[Check]:
    try:
        with closing(make_bare_store(settings)) as store:
            yield from _opened(store, settings, IN_SERVER)
    except RetainError as error:
        yield Check("store", "fail", error.message)


def _store(settings: Settings) -> Iterator[Check]:
    path, repair = settings.database_file, IN_SURREALDB if settings.uses_surrealdb else "retain doctor --repair"
    try:
        if settings.uses_surrealdb:
            check_surrealdb(settings)
        if not path.exists() and not maintenance.is_known(settings):
            yield Check("store", "ok", f"{path} is made when something is first remembered")
            return
        with closing(make_store(settings)) as store:
            yield from _opened(store, settings, repair)
    except StoreBusy as error:
        yield Check("store", "warn", error.message, "it was not looked at; run this again when that process has ended")
    except MissingExtra as error:
        yield Check("store", "fail", error.message, "install it, or set another store")
    except RetainError as error:
        yield Check("store", "fail", error.message, repair)


def _opened(store: Store, settings: Settings, repair: str) -> Iterator[Check]:
    counts = store.counts(settings.user_id, "")
    total = sum(counts.by_state.values())
    yield Check("store", "ok", f"{shown(settings)} opens: {total} memories, {store.size() / 1e6:.1f} MB")
    if schema := maintenance.schema(store):
        found, known = schema
        state: State = "ok" if found <= known else "fail"
        yield Check(
            *("store", state, f"schema {found}, and this Retain knows {known}"),
            f"update this Retain: pip install -U {installed.NAME}",
        )
    faults = store.faults()
    for fault in faults:
        yield Check("store", "fail", fault, repair)
    if not faults:
        yield Check("store", "ok", "what it holds is sound: nothing is damaged, and nothing belongs to nothing")
    yield from _earlier(store, settings)
    yield from _uncompared(counts.uncompared, settings)
    yield from _noticed(store, settings, repair)


def _earlier(store: Store, settings: Settings) -> Iterator[Check]:
    """Vectors that the model's earlier file has made: good enough until they are made anew."""
    if settings.embedding_model in BUNDLED_NAMES and not settings.embedding_url:
        without, or_earlier = (
            len(store.unembedded(BUNDLED, MOST_LACKING, by_others=False, earlier=earlier)) for earlier in (False, True)
        )
        if or_earlier > without:
            note = "some vectors are by an earlier file of the model; servers make them anew in the background"
            yield Check("model", "ok", f"{note}, `retain reembed` does so at once")


def _uncompared(waiting: int, settings: Settings) -> Iterator[Check]:
    """What is stored and was not yet held against what is near it, so that a contradiction may be unknown."""
    if not waiting:
        return
    memories = "1 memory waits" if waiting == 1 else f"{waiting} memories wait"
    if why := why_no_judge(settings):
        yield Check("judge", "warn", f"{memories} to be compared: {why}", "set judge to on, or reinstall")
    else:
        yield Check("judge", "ok", f"{memories} to be compared; servers, commands and the hook worker do it")


def _noticed(store: Store, settings: Settings, repair: str) -> Iterator[Check]:
    if (log := maintenance.log_bytes(settings)) > LONG_LOG:
        yield Check("store", "warn", f"its log holds {log / 1e6:.0f} MB", "close windows that have been open for long")
    stands = store.standing()
    for standing in stands:
        yield Check("store", "fail", standing.message, _way_out(standing.code, settings, repair))
    for notice in store.notices():
        if notice not in {standing.message for standing in stands}:
            yield Check("store", "warn", notice)


def _way_out(code: str, settings: Settings, repair: str) -> str:
    """What ends a notice. Where a repair has nothing to read it is not advised again."""
    if code == "store_damaged":
        return repair
    if code == "read_only":
        return f"make its folder writable, or {_ANOTHER_HOME}"
    newest = maintenance.backup_from_before(settings)
    if newest is None or code not in ("store_unreadable", "store_gone"):
        return "retain doctor --settle" if code != "writes_refused" else "retain db queue"
    if settings.uses_surrealdb:
        return f"retain copy --from sqlite:{newest} --to current, or retain doctor --settle"
    return f"retain restore {newest}, or retain doctor --settle"


def _backups(settings: Settings, now: datetime) -> Iterator[Check]:
    found = maintenance.all_backups(settings)
    if settings.is_on_server and not settings.is_served_here and not found:
        yield Check("backups", "ok", "whoever runs the server makes them; `retain backup` makes a copy of your own")
        return
    if not found:
        state: State = "warn" if settings.database_file.exists() else "ok"
        yield Check("backups", state, "there is none yet", "retain backup")
        return
    age = now - datetime.fromtimestamp(found[0].stat().st_mtime, UTC)
    state = "ok" if age < OLD_BACKUP else "warn"
    yield Check("backups", state, f"{len(found)}, the newest from {age.days} days ago", "retain backup")


def _hooks(settings: Settings, now: datetime) -> Iterator[Check]:
    for remark in hook_health.look(settings.home.expanduser(), now):
        yield Check("hooks", remark.state, remark.note, remark.repair)
