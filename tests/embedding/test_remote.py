"""An OpenAI-compatible endpoint, over real HTTP."""

import pytest

from retain.embedding.remote import Endpoint, RemoteEmbedder
from retain.errors import ConfigError, EmbeddingFailed


@pytest.fixture
def remote(openai, ticks):
    return RemoteEmbedder(openai.endpoint(), ticks)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1/embeddings"),
        ("http://localhost:11434/", "http://localhost:11434/v1/embeddings"),
        ("https://api.openai.com/v1", "https://api.openai.com/v1/embeddings"),
        ("https://api.openai.com/v1/embeddings", "https://api.openai.com/v1/embeddings"),
        ("https://host/v1beta/openai", "https://host/v1beta/openai/embeddings"),
        ("http://vault/v1", "http://vault/v1/embeddings"),
    ],
)
def test_an_address_is_found_from_any_way_to_write_the_url(url, address):
    assert Endpoint(url, "m").address == address


@pytest.mark.parametrize("url", ["file:///etc/passwd", "localhost:11434", "http://", ""])
def test_only_web_addresses_are_taken(url):
    with pytest.raises(ConfigError, match="must begin with http"):
        Endpoint(url, "m")


def test_the_key_travels_as_a_bearer_token_and_nowhere_else(openai):
    openai.troubles = [401, 401]
    with pytest.raises(EmbeddingFailed) as failure:
        RemoteEmbedder(openai.endpoint(key="secret-key")).embed(["x"])
    assert openai.seen[0][1] == "Bearer secret-key"
    assert "secret-key" not in failure.value.message


def test_many_texts_travel_in_batches_of_64(openai, remote):
    remote.embed([f"text {number}" for number in range(150)])
    assert [len(body["input"]) for _, _, body in openai.seen] == [1, 64, 64, 22]


def test_a_text_seen_before_is_not_sent_again(openai, remote):
    remote.embed(["same", "same"])
    remote.embed(["same"])
    assert [body["input"] for _, _, body in openai.seen] == [["dimensions"], ["same"]]
    assert (remote.stats().hits, remote.stats().misses, remote.stats().size) == (1, 2, 1)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_twice(openai, remote, status):
    openai.troubles = [status]
    assert len(remote.embed(["x"])) == 1


def test_a_refusal_is_not_repeated_and_says_what_the_server_said(openai, remote):
    openai.troubles = [404]
    with pytest.raises(EmbeddingFailed, match=r"answered 404 Not Found: .*no luck today"):
        remote.embed(["x"])
    assert len(openai.seen) == 1


def test_one_refused_text_does_not_switch_the_model_off(openai, remote):
    remote.embed(["x"])
    openai.troubles = [400]
    with pytest.raises(EmbeddingFailed, match="answered 400"):
        remote.embed(["y"])
    assert remote.state().name == "ready"


def test_a_server_that_goes_away_is_left_alone_for_a_minute(openai, remote, ticks):
    remote.embed(["x"])
    openai.troubles = [503, 503]
    for _ in range(3):
        with pytest.raises(EmbeddingFailed, match="answered 503"):
            remote.embed(["y"])
    assert remote.state().name == "off"
    assert len(openai.seen) == 4
    ticks.now += 61
    assert len(remote.embed(["y"])) == 1


def test_a_server_that_is_not_there_is_named():
    remote = RemoteEmbedder(Endpoint("http://127.0.0.1:9", "m", pause=0.0))
    assert not remote.wait(10)
    assert "127.0.0.1:9/v1/embeddings cannot be reached" in remote.state().why
    assert remote.dimensions == 0


def test_a_model_that_makes_other_dimensions_than_were_asked_for_is_not_used(openai):
    remote = RemoteEmbedder(openai.endpoint(dimensions=1536))
    with pytest.raises(EmbeddingFailed, match="is 1536, and counting makes 8; set it to 8, or leave it out"):
        remote.embed(["x"])
    assert [body["input"] for _, _, body in openai.seen] == [["dimensions"]]


def test_dimensions_are_learned_and_then_held_to(openai, remote):
    remote.embed(["x"])
    assert remote.dimensions == 8
    openai.dimensions = 9
    with pytest.raises(EmbeddingFailed, match="gave 9 dimensions, 8 before"):
        remote.embed(["y"])


@pytest.mark.parametrize(
    "raw",
    [b"", b"<html>", b"[]", b"{}", b'{"data": 7}', b'{"data": [{"index": 0}]}', b'{"data": []}',
     b'{"data": [{"index": 0, "embedding": "AAAA"}]}', b'{"data": [{"index": 0, "embedding": [0, 0]}]}',
     b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}', b'{"data": [{"index": 0, "embedding": []}]}'],
)  # fmt: skip
def test_an_answer_without_embeddings_is_an_error_that_names_the_server(openai, remote, raw):
    openai.raw = raw
    with pytest.raises(EmbeddingFailed, match=r"127\.0\.0\.1|direction"):
        remote.embed(["x"])
