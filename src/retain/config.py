"""Settings: one frozen value, from arguments, the environment and two files; nothing else reads the environment."""

import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from retain.approvals import Content, Verdict, decision_file, verdict_on
from retain.domain.handing import safe
from retain.errors import ConfigError
from retain.setting_kinds import KINDS, Kind, is_free, is_place, may_need_approval
from retain.setting_values import MEANINGS, meaning, misspelt, surprises
from retain.settings import LLMS, READERS, SECRETS, STORES, TOOLSETS, VARIABLES, Settings
from retain.settings_files import CONFIG_PATH, Found, is_of_project, is_same, project_file, read, user_file
from retain.settings_yaml import named

__all__ = ["CONFIG_PATH", "LLMS", "STORES", "TOOLSETS", "VARIABLES", "Loaded", "Settings", "load", "settings_files"]
_PASSED_OVER = "; it is passed over"
_MOST_FAULTS = 5  # of one file that are told one by one


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A project's settings file as it was read, and what was decided about it. One that is not there says nothing."""

    path: Path
    content: Content
    asks: Mapping[str, Any]
    """The settings in it that take the user's approval here, and what they would be."""
    holds: Mapping[str, Any]
    """Those and the ones that would take it elsewhere: beside another environment, say."""
    kept_in: Path
    """The home in which decisions about it are kept: not one that the file itself names."""
    verdict: Verdict | None = None

    @property
    def is_undecided(self) -> bool:
        return bool(self.asks) and self.verdict is None

    @property
    def places(self) -> list[str]:
        """Those of its settings that say where memories are, or whose."""
        return [name for name in self.asks if is_place(name)]

    @property
    def decision(self) -> Path:
        return decision_file(self.kept_in, self.content)

    @property
    def remark(self) -> str:
        """What its user should know while nothing is decided."""
        told = f"{self.path} asks for {', '.join(self.asks)}. A file in a project's folder may be somebody else's, so"
        if not self.places:
            return f"{told} that is not used until you approve it with `retain trust`"
        return (
            f"{told} decide with `retain trust`. Until then what is stored waits on this machine, and no store is read"
        )


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
    project_file: ProjectFile | None = None
    base: Settings | None = None
    """What would hold without what of the project's file takes approval."""
    folder: Path | None = None
    """Where they were read for, if not in the working directory."""
    again: "Callable[[], Loaded] | None" = field(default=None, repr=False, compare=False)
    """Reads the same sources anew."""

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.problems + self.warnings

    @property
    def is_held(self) -> bool:
        """Whether nobody has decided yet where memories are, or whose: then nothing is written to any store."""
        file = self.project_file
        return file is not None and file.is_undecided and bool(file.places)


@dataclass(frozen=True, slots=True)
class _Told:
    """Gathers what is wrong while the sources are read."""

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    misread: dict[str, int] = field(default_factory=dict)
    """Faults in each file of which a part could not be understood: it may have said that nothing is to be captured."""

    def fault(self, path: str, told: Callable[[], str]) -> None:
        """A stranger's file may have any number of them, so the first few are told, and how many more there are."""
        self.misread[path] = self.misread.get(path, 0) + 1
        if self.misread[path] <= _MOST_FAULTS:
            self.problems.append(told())

    def count(self) -> None:
        """Ends the telling of faults."""
        more = [(path, count - _MOST_FAULTS) for path, count in self.misread.items() if count > _MOST_FAULTS]
        self.problems.extend(f"{path}: {count:,} more settings in it cannot be used" for path, count in more)


@dataclass(frozen=True, slots=True)
class _Values:
    """Gathers settings, and where each came from."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)

    def take(self, name: str, value: Any, origin: str) -> None:
        self.values[name] = value
        if value is not None:
            self.origins[name] = origin


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
    """Arguments, then environment, then the project's file, then the user's; bad values are told, not used.

    Of the project's file only what is harmless is used, unless its user has approved it.
    """
    env, told, found = os.environ if environment is None else environment, _Told(), _Values()
    _take_all(_given(given or {}, env, told), found, told)
    ahead = frozenset(found.values)
    of_project, of_user = settings_files(given, env, folder)
    _take_all(_own_file(of_user, env, told), found, told)
    base = Settings(**found.values)
    file = None if is_same(of_project, of_user) else _project_file(of_project, env, told)
    project = _take_project(file, ahead, _Base(base, user_home(env)), found, told) if file else None
    told.count()
    if faulty := _may_switch_off(told.misread, ahead, str(of_project), found):
        found.take("capture", False, f"{faulty}, which has a fault")
    notes = surprises(env, tuple(found.origins.values()))
    told_all = (tuple(told.problems), tuple(told.warnings), notes)
    again = partial(load, given, environment, folder)
    return Loaded(Settings(**found.values), found.origins, *told_all, project, base, folder, again)


def _may_switch_off(misread: Iterable[str], ahead: frozenset[str], of_project: str, found: _Values) -> str | None:
    """A file that may have said, where it cannot be understood, that nothing is to be captured; and would be heard."""
    if "capture" in ahead:
        return None
    said_in = found.origins.get("capture")
    return next((file for file in misread if said_in is None or file == of_project != said_in), None)


def strict(loaded: Loaded) -> Settings:
    """The settings, for a caller that would rather stop than go on with a default it did not ask for.

    Less than a project asks for, such as no summary in its CLAUDE.md, stops no program; replies still tell of it.
    """
    file = loaded.project_file
    passed = file.remark if file and all(KINDS[name].kind is Kind.LESS for name in file.asks) else None
    if problems := [problem for problem in loaded.problems if problem != passed]:
        raise ConfigError("; ".join(problem.removesuffix(_PASSED_OVER) for problem in problems))
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
    project = Path((given or {}).get("project_dir") or env.get("CLAUDE_PROJECT_DIR") or folder or Path.cwd())
    return project_file(project, user_home(env)), user_file(env, user_home(env))[0]


def files_with_passwords(given: Mapping[str, Any] | None = None) -> list[Path]:
    """Settings files that nobody else should read; one that came with a repository is open to all, and holds none."""
    return [path for path in settings_files(given) if _holds_password(read(path) if path.is_file() else None)]


def client_variables(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables that say where other programs are and keep their settings."""
    env = os.environ if environment is None else environment
    return {name: env[name] for name in CLIENT_PLACES if env.get(name)}


def apart(home: Path, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a process that keeps its memory in `home` and knows nothing of this user's settings."""
    own = {"RETAIN_HOME": str(home), "RETAIN_CONFIG_PATH": os.devnull}
    return with_settings_of(own, environment)


def with_settings_of(other: Mapping[str, str], environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment, in which all that concerns this memory is as in that of another process."""
    env = os.environ if environment is None else environment
    ours = {CLIENT_SESSION, CLIENT_PID, *CONFIG_PATH, *(variable for them in VARIABLES.values() for variable in them)}
    return {name: value for name, value in env.items() if name not in ours} | dict(other)


def _given(given: Mapping[str, Any], env: Mapping[str, str], told: _Told) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What goes before every file."""
    told.problems.extend(misspelt(env, {*CONFIG_PATH, *(name for them in VARIABLES.values() for name in them)}))
    yield "argument", {name: value for name, value in given.items() if value is not None}
    yield from _from_environment(env)
    yield from _in_other_words(env, given, told)


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


def _own_file(path: Path, env: Mapping[str, str], told: _Told) -> Iterator[tuple[str, Mapping[str, Any]]]:
    missing = user_file(env, user_home(env))[1]
    if missing:
        told.problems.append(missing)
    if found := _read(path, told):
        yield str(path), found.values


def _project_file(path: Path, env: Mapping[str, str], told: _Told) -> Found | None:
    """What a project's file says; one behind a link that leads out of the project is nobody's but its author's."""
    if path.exists() and not is_of_project(path, path, user_home(env)):
        where = f"{path} leads out of the project by a link"
        what = f"{where}, and is not read; put the settings into the project, or into your own file"
        told.fault(str(path), lambda: what)
        return None
    if path.exists() and not path.is_file():  # reading a pipe would wait for ever
        told.fault(str(path), lambda: f"{path} is no file; its settings are not used")
        return None
    return _read(path, told) or Found(path, content=Content.of(path, None))


def _read(path: Path, told: _Told) -> Found | None:
    found = read(path)
    for fault in found.faults if found else ():
        told.fault(str(path), partial(str, fault))
    if found and found.is_open and _holds_password(found):
        told.warnings.append(f"{path} holds a password and can be read by others; run `chmod 600 {path}`")
    return found


def _holds_password(found: Found | None) -> bool:
    return found is not None and not SECRETS.isdisjoint(found.values)


def _take_all(sources: Iterable[tuple[str, Mapping[str, Any]]], found: _Values, told: _Told) -> None:
    """Of several that name a setting, the first holds."""
    for origin, source in sources:
        for name, raw in source.items():
            if name not in found.values and (understood := _understood(name, raw, origin, told)):
                found.take(name, understood[0], origin)


@dataclass(frozen=True, slots=True)
class _Base:
    """What holds without the project's file, and where the user is at home."""

    settings: Settings
    user_home: Path


def _take_project(file: Found, ahead: frozenset[str], base: _Base, found: _Values, told: _Told) -> ProjectFile | None:
    """Takes what is harmless in any case, and the rest if its user said so."""
    if file.content is None:
        return None
    origin = str(file.path)
    said = {name: _understood(name, raw, origin, told) for name, raw in file.values.items()}
    everything = {name: understood[0] for name, understood in said.items() if understood}
    values = {name: value for name, value in everything.items() if name not in ahead}
    asks = {name: value for name, value in values.items() if not is_free(name, value, getattr(base.settings, name))}
    kept_in = _outside(base, file.path)
    holds = {name: value for name, value in everything.items() if may_need_approval(name, value)}
    project = ProjectFile(file.path, file.content, asks, holds, kept_in, verdict_on(kept_in, file.content))
    for name, value in values.items():
        if name not in asks or project.verdict is Verdict.APPROVED:
            found.take(name, value, origin)
    if project.is_undecided:
        told.problems.append(project.remark)
    return project


def _outside(base: _Base, file: Path) -> Path:
    """The home in which decisions are kept. One in the project came with it, perhaps, and its decisions too."""
    home = base.settings.home.expanduser().absolute()
    return base.user_home / ".retain" if is_of_project(home, file, base.user_home) else home


def _understood(name: str, raw: Any, origin: str, told: _Told) -> tuple[Any] | None:
    """A setting's value; None, and told, where it cannot be understood."""
    try:
        if name in VARIABLES:
            return (READERS.get(name, str)(raw),)
        why = partial(_unknown, name)
    except ValueError as error:
        why = partial("{} is {!r}: {}{}".format, name, safe(str(raw), 60), safe(str(error), 200), _PASSED_OVER)
    if os.sep in origin:
        told.fault(origin, lambda: f"{origin}: {why()}")
    else:
        told.problems.append(f"{origin}: {why()}")
    return None


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, VARIABLES, n=1)
    return f"unknown setting {named(name)}" + (f"; did you mean {near[0]}?" if near else "")
