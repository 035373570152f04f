"""Starting the server: which toolsets, what the model is told first, and the way to the wire.

A client waits for the handshake, so only the protocol is imported before it is answered.
"""

import gc
import logging
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from retain.config import Loaded
from retain.domain.visible import marked
from retain.errors import Closed, RetainError
from retain.surfaces.mcp.instructions import expanded, instructions
from retain.surfaces.mcp.server import Offer, RetainServer
from retain.surfaces.mcp.stdio import serve
from retain.version import __version__

if TYPE_CHECKING:
    from retain.app import Retain
    from retain.surfaces.mcp.subscriptions import ResourceSpec
    from retain.surfaces.mcp.tools import Toolset

logger = logging.getLogger(__name__)

WITH_RESOURCES = ("default", "scoped")
MODEL_SECONDS = 60.0  # an endpoint is asked three times


def run(loaded: Loaded) -> NoReturn:
    """Serves on standard input and output until the client leaves."""
    _log_to_stderr(loaded.settings.log_level)
    for problem in loaded.remarks:
        logger.warning("%s", problem)
    for note in loaded.notes:
        logger.info("%s", note)
    names = expanded(loaded.settings.toolset)
    resources = _resources if set(names) & set(WITH_RESOURCES) else None
    offer = Offer(__version__, instructions(names), partial(_toolsets, names), resources)
    server = RetainServer(partial(_app, loaded), offer)
    _keep_modules()
    serve(server, on_ready=lambda: _ready(server))


def _app(loaded: Loaded) -> "Retain":
    from retain.app import Retain

    return Retain(loaded)


def _toolsets(names: Sequence[str]) -> "list[Toolset]":
    return [import_module(f"retain.surfaces.mcp.toolsets.{name}").tools for name in names]


def _resources() -> "Sequence[ResourceSpec[Retain]]":
    from retain.surfaces.mcp.resources import RESOURCES

    return RESOURCES


def _ready(server: "RetainServer[Retain]") -> None:
    """After the first answer: opens the store, records the session, loads the model."""
    _answer_hooks(server)
    try:
        server.prepare()
        server.app.look_after()
    except Closed:
        return  # the client left before all was ready
    except RetainError as error:
        logger.error("the memory is unavailable: %s", error.message)
    _keep_for_hooks(server.app.loaded)
    _keep_modules()
    _try_model(server.app)


def _keep_modules() -> None:
    """Modules stay until the end: looking among them for garbage takes 60 ms each time, in which no call goes on."""
    gc.freeze()


def _try_model(app: "Retain") -> None:
    """Says at the start that an endpoint does not answer, and not with the first memory that is stored."""
    if app.settings.embedding_model == "off":
        return
    try:
        embedder = app.engine.parts.embedder
    except RetainError:
        return  # said above
    if not embedder.wait(MODEL_SECONDS) and embedder.state().name == "off":
        why = embedder.state().why
        logger.warning("there is no embedding model, so memories are found by their words alone: %s", why)


def _answer_hooks(server: "RetainServer[Retain]") -> None:
    """Without it, hooks find memories by their words alone."""
    from retain.surfaces.hooks.answering import Answering

    answering = Answering(server.app)
    try:
        answering.start()
        server.at_close(answering.close)
    except OSError as error:
        answering.close()
        logger.warning("hooks cannot be answered: %s", error)


def _keep_for_hooks(loaded: Loaded) -> None:
    """Hooks read what the settings are from a file; the first one need not make it then.

    They are read anew: their files may have changed since this server began.
    """
    from retain.surfaces.hooks.snapshot import keep

    try:
        keep(loaded.again() if loaded.again else loaded, str(Path.cwd()))
    except OSError as error:
        logger.warning("settings cannot be kept for hooks: %s", error)


class _Shown(logging.Formatter):
    """Without what a terminal obeys: messages name folders, and whoever made those chose their names."""

    def format(self, record: logging.LogRecord) -> str:
        return marked(super().format(record))


def _log_to_stderr(level: str) -> None:
    names = {"warn": "WARNING"}
    shown = logging.StreamHandler(sys.stderr)
    shown.setFormatter(_Shown("retain %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[shown], level=names.get(level, level.upper()))
    # The protocol library is chatty at info.
    logging.getLogger("mcp").setLevel(logging.WARNING)
