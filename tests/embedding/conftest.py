"""The three embedders."""

import pytest

from embedding_server import EmbeddingServer
from retain.embedding.hashed import HashedEmbedder
from retain.embedding.onnx import OnnxEmbedder
from retain.embedding.remote import RemoteEmbedder


class Ticks:
    """A clock that moves when it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def ticks():
    return Ticks()


@pytest.fixture
def openai():
    with EmbeddingServer() as server:
        yield server


@pytest.fixture(scope="session")
def bundled_model():
    return OnnxEmbedder()


@pytest.fixture(params=["bundled", "remote", "hashed"])
def embedder(request):
    if request.param == "bundled":
        return request.getfixturevalue("bundled_model")
    if request.param == "remote":
        return RemoteEmbedder(request.getfixturevalue("openai").endpoint())
    return HashedEmbedder()
