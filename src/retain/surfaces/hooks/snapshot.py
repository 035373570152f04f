"""Settings as hooks read them: a small file that says what `retain.config` found, good until its sources change.

Reading the settings themselves takes longer than a hook may. A snapshot belongs to a folder and an environment, and
names the settings files it was made from, each with its times, size and mode, and the decision about the project's;
when one differs, it is made anew.
Passwords and keys are neither in it nor in its name.
"""

import os

from retain.domain.ids import id_of
from retain.quick_json import written
from retain.run_files import names_in, read_object, remove, write_private
from retain.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from retain.config import Loaded

FIELDS = (
    "agent",
    "agents_md",
    "capture",
    "claude_md",
    "claude_md_lines",
    "database_file",
    "deployment_mode",
    "home",
    "inject",
    "inject_tokens",
    "llm",
    "log_level",
    "project_dir",
    "prompt_tokens",
    "session_id",
    "store",
    "user_id",
)
MOST_KEPT = 100
_UNSAID = ("_KEY", "_PASS", "_SESSION_ID", "_TOKEN", "_SECRET", "_PASSWORD")
# Somebody may have said that nothing is to be read or shown here, and nobody knows.
_UNKNOWN = {"capture": False, "inject": False, "inject_tokens": 1500, "prompt_tokens": 1000, "store": "sqlite"}


def first_home() -> str:
    """Where snapshots lie. A settings file may name another home; then the snapshot says so."""
    return os.path.abspath(os.path.expanduser(os.environ.get("RETAIN_HOME") or "~/.retain"))


def variables() -> dict[str, str]:
    """What the environment says about the settings, without passwords and keys."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("RETAIN_", "MEMORY_", "AUDREY_")) and not name.endswith(_UNSAID)
    }


def session_variables(database: str) -> dict[str, str]:
    """The same for a process in another folder: with the project that the client names, and no path from here."""
    found, project = variables(), os.environ.get("CLAUDE_PROJECT_DIR")
    if project:
        found["CLAUDE_PROJECT_DIR"] = project
    if any(name.endswith(("_DB_PATH", "_DATA_DIR")) for name in found):
        found["RETAIN_DB_PATH"] = database
    return found


def settings_for(folder: str) -> tuple[dict[str, object], tuple[str, ...]]:
    """The settings that hold in a folder, and what is wrong with their sources, told once for each change of them."""
    folder = _folder(folder)
    found = read_object(_file(folder))
    if found.get("version") == __version__ and _is_fresh(found.get("sources")):
        settings = found.get("settings")
        # Without this it is of a version that knew of no approval.
        if isinstance(settings, dict) and "is_held" in settings:
            return settings, ()
    return _read_anew(folder)


def keep(loaded: "Loaded", folder: str) -> dict[str, object]:
    """Writes the snapshot for hooks that run in this folder and environment."""
    from retain.config import settings_files

    folder = _folder(folder)
    sources = [_state(str(path)) for path in settings_files(folder=_as_path(folder))]
    if loaded.project_file:
        sources.append(_state(str(loaded.project_file.decision)))
    settings = _plain(loaded)
    snapshot = {"version": __version__, "sources": sources, "settings": settings}
    write_private(_file(folder), written(snapshot))
    _drop_oldest(os.path.dirname(_file(folder)))
    return settings


def _read_anew(folder: str) -> tuple[dict[str, object], tuple[str, ...]]:
    try:
        _with_installed_packages()
        from retain.config import load

        loaded = load(folder=_as_path(folder))
        plain = _plain(loaded)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the settings, a session goes on
        from retain.domain.handing import safe

        home = first_home()
        file = os.path.join(home, "retain.db")
        files = dict.fromkeys(("database_file", "readable_file", "store_name"), file)
        told = (
            f"settings cannot be read ({safe(f'{type(error).__name__}: {error}', 200)}); nothing is captured or shown"
        )
        return {**_UNKNOWN, "home": home, **files, "fault": told}, (told,)
    try:
        return keep(loaded, folder), loaded.problems
    except OSError as error:
        return plain, (*loaded.problems, f"settings cannot be kept for the next hook: {error}")


def _with_installed_packages() -> None:
    """A hook's interpreter starts without them (-S); settings files are YAML, which is one."""
    import sys

    if sys.flags.no_site:
        import site

        site.main()


def _plain(loaded: "Loaded") -> dict[str, object]:
    from retain.whereabouts import name_for, readable_for

    values = {name: getattr(loaded.settings, name) for name in FIELDS}
    values["home"] = os.path.abspath(os.path.expanduser(values["home"]))
    values["database_file"] = _absolute(str(values["database_file"]))
    values["store_name"], values["readable_file"] = name_for(loaded), readable_for(loaded)
    undecided = loaded.project_file if loaded.project_file and loaded.project_file.is_undecided else None
    values["is_held"], values["undecided"] = loaded.is_held, undecided and undecided.remark
    values["unused"] = "\n".join(" ".join(problem.split()) for problem in loaded.problems) or None
    values["fault"] = "; ".join(loaded.problems) if "fault" in loaded.origins.get("capture", "") else None
    return {name: value if isinstance(value, _JSON) else str(value) for name, value in values.items()}


_JSON = (str, int, float, type(None))


def _absolute(path: str) -> str:
    return path if path == ":memory:" else os.path.abspath(path)


def _as_path(folder: str) -> "Path":
    from pathlib import Path

    return Path(folder)


def _folder(given: str) -> str:
    return os.environ.get("CLAUDE_PROJECT_DIR") or given


def _file(folder: str) -> str:
    ours = sorted(f"{name}={value}" for name, value in variables().items())
    name = id_of("\0".join((folder, os.environ.get("HOME", ""), *ours)))
    return os.path.join(first_home(), "run", "settings", f"{name}.json")


def _is_fresh(sources: object) -> bool:
    return isinstance(sources, list) and all(
        isinstance(source, list) and source and _state(str(source[0])) == source for source in sources
    )


def _state(path: str) -> list[object]:
    try:
        found = os.stat(path)
    except OSError:
        return [path, 0, 0, 0, 0]
    # The last one nobody can set: who changes a file and sets its time back is noticed too.
    return [path, found.st_mtime_ns, found.st_size, found.st_mode, found.st_ctime_ns]


def _drop_oldest(folder: str) -> None:
    names = names_in(folder)
    if len(names) > MOST_KEPT:
        by_age = sorted((_state(os.path.join(folder, name))[1::-1] for name in names), key=str)
        for _, path in by_age[:-MOST_KEPT]:
            remove(str(path))
