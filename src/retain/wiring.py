"""The wiring: settings become a store, an embedder, a judge and a language model; nothing else knows which."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from retain.config import Loaded, Settings, user_home, whole_environment
from retain.domain.connection import Queued
from retain.errors import ConfigError, MissingExtra, RetainError
from retain.ports import LLM, Embedder, Judge, Store
from retain.setting_values import BUNDLED
from retain.settings_files import content_of
from retain.standing import SETTINGS, Notice
from retain.whereabouts import beside_server, held_queue, shown

if TYPE_CHECKING:
    from retain.llm.provider import Provider
    from retain.stores.queue import Queue

PATIENT_SECONDS = 120.0
_SURREALDB = ("surrealdb_embedded", "cbor2", "websockets")


def make_store(settings: Settings) -> Store:
    store = _named_store(settings)
    if settings.embedding_dimensions:
        _check_dimensions(store, settings.embedding_dimensions)
    return store


def make_store_for(loaded: Loaded) -> Store:
    """The store that the settings name. What waited until that was decided is sent to it first.

    While it is undecided, one in which everything waits.
    """
    file = loaded.project_file
    if not (loaded.is_held or (file and file.verdict)):
        return make_store(loaded.settings)
    from retain import held

    if loaded.is_held:
        return held.make_waiting_store(loaded)
    store = make_store(loaded.settings)
    if held.count(loaded).waiting:
        held.send_on(loaded, store)
    return store


def of_changed_file(loaded: Loaded) -> list[Notice]:
    """Whether the project's settings file is another than the one that was read: it may name another store by now."""
    file = loaded.project_file
    if file is None or content_of(file.path) in (file.content, None):
        return []
    told = f"{file.path} was changed since this process read it. What it says now counts when the process is restarted"
    return [Notice(SETTINGS, told, "The project's settings were changed; they count when this process is restarted.")]


def of_held(loaded: Loaded) -> list[Notice]:
    """Whether writes still wait that were made while the project's settings file was undecided, and it is no longer."""
    if loaded.is_held or loaded.project_file is None or not held_queue(loaded).exists():
        return []
    from retain import held

    waiting = held.count(loaded)
    count = waiting.waiting + waiting.refused
    told = f"{count} earlier writes wait for a decision about {loaded.project_file.path}, and are not found"
    way = "`retain trust` stores them where that file says, `retain trust --refuse` where they would be without it"
    return ([Notice("writes_wait", f"{told}: {way}")] if count else []) + held.damaged(loaded)


def make_bare_store(settings: Settings) -> Store:
    """As `make_store`; of a server the database itself, which has to be there: a copy must not wait in a queue.

    Whoever asks for it reads or writes all that there is, and is patient.
    """
    if not settings.is_on_server:
        return make_store(settings)
    check_surrealdb(settings)
    from retain.db_server import address_of
    from retain.stores.surreal.link import connection
    from retain.stores.surreal.link.database import Database
    from retain.stores.surreal.store import SurrealStore

    link = connection.on_server(lambda: address_of(settings), lambda: datetime.now(UTC))
    try:
        return SurrealStore(
            Database(link, max(settings.query_timeout, PATIENT_SECONDS)), max_bytes=_most_bytes(settings)
        )
    except RetainError:
        link.close()
        raise


def make_queue(settings: Settings) -> "Queue":
    """The writes of this user that wait on this machine for a database on a server."""
    from retain.stores.queue import Queue

    return Queue(beside_server(settings, "queue"), shown(settings))


@contextmanager
def queues_elsewhere(settings: Settings) -> Iterator[list["Queue"]]:
    """Those in which something waits on this machine for another database, or was refused by it.

    An address that was mended leaves one behind, and so does a change of mode.
    """
    from retain.stores.queue import Queue

    own = beside_server(settings, "queue")
    with ExitStack() as opened:
        files = sorted(file for file in own.parent.glob("*.db") if file != own or not settings.is_on_server)
        queues = [opened.enter_context(closing(Queue(file))) for file in files]
        yield [queue for queue in queues if queue.state() != Queued()]


def check_surrealdb(settings: Settings) -> None:
    """Says what to install when SurrealDB was asked for without what it takes."""
    if any(find_spec(package) is None for package in _SURREALDB):
        mode = f"deployment_mode {settings.deployment_mode}"
        what = mode if settings.is_on_server else "store surrealdb" if settings.uses_surrealdb else "this"
        raise MissingExtra(
            f"{what} needs SurrealDB, which is not installed: pip install 'retain-mcp[surrealdb]'; without it, "
            "memories are kept with store sqlite in deployment_mode embedded-file"
        )


def _sqlite_store(settings: Settings) -> Store:
    from retain.stores.sqlite.store import SqliteStore

    return SqliteStore(
        settings.database_file,
        query_seconds=settings.query_timeout,
        max_bytes=_most_bytes(settings),
        watched=True,
    )


def _named_store(settings: Settings) -> Store:
    if not settings.uses_surrealdb:
        return _sqlite_store(settings)
    check_surrealdb(settings)
    return _server_store(settings) if settings.is_on_server else _surreal_store(settings)


def _server_store(settings: Settings) -> Store:
    """One that goes on while the server is away; what will never work as it is set is raised."""
    from retain.db_server import address_of
    from retain.stores.mirror import Mirror
    from retain.stores.sheltered import Away, sheltered
    from retain.stores.surreal.link import connection
    from retain.stores.surreal.link.database import Database
    from retain.stores.surreal.store import SurrealStore
    from retain.stores.surreal.vectors.hnsw import When

    def now() -> datetime:
        return datetime.now(UTC)

    link = connection.on_server(lambda: address_of(settings), now, may_be_away=True)
    db = Database(link, settings.query_timeout)
    away = Away(link, lambda: SurrealStore(db, max_bytes=_most_bytes(settings), hnsw=When()), now)
    try:
        mirror = Mirror(beside_server(settings, "cache"), settings.user_id)
        return sheltered(away, mirror, make_queue(settings))
    except RetainError:
        link.close()
        raise


def _surreal_store(settings: Settings) -> Store:
    from retain.stores.surreal.link import connection
    from retain.stores.surreal.store import SurrealStore
    from retain.stores.watching import look_for_loss

    folder = None
    if settings.deployment_mode == "embedded-memory":
        db = connection.in_memory(settings.query_timeout)
    else:
        folder = settings.database_file
        look_for_loss(folder)
        db = connection.in_folder(folder, settings.query_timeout, settings.namespace, settings.database)
    try:
        return SurrealStore(db, folder=folder, max_bytes=_most_bytes(settings))
    except RetainError:
        db.close()
        raise


def _most_bytes(settings: Settings) -> int | None:
    return settings.max_storage_mb * 1_000_000 if settings.max_storage_mb else None


def make_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name, not loaded yet; refused when it cannot make vectors of the wanted size."""
    embedder, wanted = _named_embedder(settings), settings.embedding_dimensions
    if wanted and embedder.dimensions and embedder.dimensions != wanted:
        raise ConfigError(
            f"embedding_dimensions is {wanted}, and {embedder.model} makes {embedder.dimensions}; "
            f"set it to {embedder.dimensions}, or leave it out (RETAIN_ or AUDREY_EMBEDDING_DIMENSIONS)"
        )
    return embedder


def _check_dimensions(store: Store, wanted: int) -> None:
    """Refuses dimensions that are not those of the vectors in the store, and closes it."""
    there = store.counts("", "").dimensions
    if there and there != wanted:
        store.close()
        raise ConfigError(
            f"embedding_dimensions is {wanted}, and the memories here have vectors of {there}; leave it out "
            "(RETAIN_ or AUDREY_EMBEDDING_DIMENSIONS), and after a change of the model run `retain reembed`"
        )


def _named_embedder(settings: Settings) -> Embedder:
    from retain.embedding.hashed import HashedEmbedder
    from retain.embedding.off import NoEmbedder
    from retain.embedding.onnx import OnnxEmbedder
    from retain.embedding.remote import Endpoint, RemoteEmbedder
    from retain.keys import embedding_key

    name = settings.embedding_model
    if settings.embedding_url and name in BUNDLED:
        raise ConfigError("embedding_url is set, and embedding_model does not say which model to ask for there")
    if settings.embedding_url:
        key = embedding_key(settings, whole_environment())
        return RemoteEmbedder(Endpoint(settings.embedding_url, name, key, settings.embedding_dimensions))
    if name in BUNDLED:
        return OnnxEmbedder()
    if name == "hashed":
        return HashedEmbedder()
    if name == "off":
        return NoEmbedder("switched off by the setting embedding_model")
    return OnnxEmbedder.in_folder(Path(name).expanduser())


def make_judge(settings: Settings) -> Judge:
    """The judge in the package, not loaded yet."""
    from retain.judge.off import NoJudge
    from retain.judge.onnx import OnnxJudge

    return OnnxJudge() if settings.judge else NoJudge("switched off by the setting judge")


def why_no_judge(settings: Settings) -> str:
    """Why nothing can be judged, as far as a glance tells; empty where the judge's file is there."""
    from retain.judge.onnx import JudgeFiles

    if not settings.judge:
        return "the setting judge is off"
    return "" if JudgeFiles().onnx.is_file() else f"{JudgeFiles().onnx} is missing"


def make_llm(settings: Settings, environment: Mapping[str, str] | None = None) -> LLM | None:
    """The language model that somebody chose; None when nobody did: a key that lies about is no consent.

    One that the settings spoil is there and says why it cannot be asked: memory does not wait for it.
    """
    if settings.llm == "none":
        return None
    from retain.llm.metered import Ledger, Metered, Unusable
    from retain.llm.retrying import Retrying

    try:
        provider = _named_provider(settings, whole_environment() if environment is None else environment)
    except ConfigError as error:
        return Unusable(settings.llm, error.message)
    ledger = Ledger(settings.home.expanduser() / "usage", lambda: datetime.now(UTC))
    return Metered(Retrying(provider), ledger, settings.llm_daily_usd)


def _named_provider(settings: Settings, environment: Mapping[str, str]) -> "Provider":
    from retain.keys import find_key
    from retain.llm import anthropic, claude_cli, openai

    found = find_key(settings, environment, user_home(environment))
    key, model = found.key if found else None, settings.llm_model
    if settings.llm == "claude-cli":
        return claude_cli.ClaudeCommand(environment, model or claude_cli.MODEL, key)
    if settings.llm == "anthropic":
        _check_key(key, settings, environment)
        url = settings.llm_url or environment.get("ANTHROPIC_BASE_URL") or anthropic.URL
        return anthropic.Anthropic(key, model or anthropic.MODEL, url)
    url = settings.llm_url or environment.get("OPENAI_BASE_URL") or openai.URL
    own = openai.MODEL if url == openai.URL else ""
    endpoint = openai.ChatEndpoint(url, model or own, key)
    if endpoint.is_openai:
        _check_key(key, settings, environment)
    return openai.OpenAICompatible(endpoint)


def _check_key(key: str | None, settings: Settings, environment: Mapping[str, str]) -> None:
    """Says of a key that can be none what is wrong with it, rather than that there is none."""
    from retain.keys import why_none

    if key is None and (fault := why_none(settings, environment, user_home(environment))):
        raise ConfigError(fault)
