"""The three embedders."""

import pytest

from embedding_server import EmbeddingServer
from fakes import Ticks
from retain.embedding.hashed import HashedEmbedder
from retain.embedding.onnx import OnnxEmbedder
from retain.embedding.remote import RemoteEmbedder


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
