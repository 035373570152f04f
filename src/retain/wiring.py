"""The wiring: settings become a store, an embedder and a language model; nothing else knows which there are."""

from pathlib import Path

from retain.config import BUNDLED, Settings
from retain.errors import ConfigError, MissingExtra
from retain.ports import LLM, Embedder, Store


def make_store(settings: Settings) -> Store:
    from retain.stores.sqlite.store import SqliteStore

    if settings.store != "sqlite" or settings.deployment_mode in ("local-server", "remote"):
        raise MissingExtra(
            f"store {settings.store} in mode {settings.deployment_mode} needs SurrealDB, "
            "which this version does not have; set deployment_mode to embedded-file or embedded-memory"
        )
    limit = settings.max_storage_mb * 1_000_000 if settings.max_storage_mb else None
    return SqliteStore(settings.database_file, query_seconds=settings.query_timeout, max_bytes=limit)


def make_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name, not loaded yet; refused when it cannot make vectors of the wanted size."""
    embedder, wanted = _named_embedder(settings), settings.embedding_dimensions
    if wanted and embedder.dimensions and embedder.dimensions != wanted:
        raise ConfigError(f"embedding_dimensions is {wanted}, and {embedder.model} makes {embedder.dimensions}")
    return embedder


def _named_embedder(settings: Settings) -> Embedder:
    from retain.embedding.hashed import HashedEmbedder
    from retain.embedding.off import NoEmbedder
    from retain.embedding.onnx import OnnxEmbedder
    from retain.embedding.remote import Endpoint, RemoteEmbedder

    name = settings.embedding_model
    if settings.embedding_url and name in BUNDLED:
        raise ConfigError("embedding_url is set, and embedding_model does not say which model to ask for there")
    if settings.embedding_url:
        return RemoteEmbedder(Endpoint(settings.embedding_url, name, settings.embedding_key))
    if name in BUNDLED:
        return OnnxEmbedder()
    if name == "hashed":
        return HashedEmbedder()
    if name == "off":
        return NoEmbedder("switched off by the setting embedding_model")
    return OnnxEmbedder.in_folder(Path(name).expanduser())


def make_llm(settings: Settings) -> LLM | None:
    """The language model that somebody chose; None when nobody did."""
    return None
