"""What every embedder promises."""

import math
import struct
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ODD = [
    "",
    "   \n\t ",
    "\x00",
    "\ud800 alone",
    "🙂" * 50,
    "שלום עולם",
    "日本語の文章。",
    "e\u0301" * 300,
    "a" * 100_000,
    "word " * 20_000,
    '"foo" OR NEAR( *',
]


def numbers(vector):
    return struct.unpack(f"<{len(vector) // 4}f", vector)


@pytest.mark.parametrize("text", ODD, ids=lambda text: repr(text[:12]))
def test_any_text_has_a_vector_of_unit_length(embedder, text):
    [vector] = embedder.embed([text])
    assert len(vector) == embedder.dimensions * 4
    assert math.hypot(*numbers(vector)) == pytest.approx(1, abs=1e-5)


def test_the_same_text_has_the_same_vector_in_any_company(embedder):
    alone = embedder.embed(["we use tabs"])
    assert embedder.embed(["something else", "we use tabs", "we use tabs"])[1:] == alone * 2


def test_a_text_is_nearest_to_itself(embedder):
    texts = ["deploy on Mondays", "the cat sleeps", "SQLite holds the memories"]
    question, *vectors = (numbers(vector) for vector in embedder.embed([texts[1], *texts]))
    assert max(range(3), key=lambda place: _dot(question, vectors[place])) == 1


def test_no_texts_give_no_vectors(embedder):
    assert embedder.embed([]) == []


def test_many_texts_keep_their_order(embedder):
    texts = [f"memory number {number} " + "and more " * (number % 40) for number in range(150)]
    vectors = embedder.embed(texts)
    for place in (0, 75, 149):
        assert _dot(numbers(vectors[place]), numbers(embedder.embed([texts[place]])[0])) > 0.97


def test_it_is_ready_after_waiting(embedder):
    assert embedder.wait(30)
    assert embedder.state().name == "ready"


def test_its_model_has_a_name_that_stays(embedder):
    assert embedder.wait(10)
    before = embedder.model
    embedder.embed(["x"])
    assert embedder.model == before != ""


def test_a_short_text_is_one_chunk(embedder):
    assert embedder.chunks("Deploy on Mondays.\n\nNever on Fridays.") == ["Deploy on Mondays.\n\nNever on Fridays."]


@pytest.mark.parametrize("text", ODD, ids=lambda text: repr(text[:12]))
def test_chunks_of_odd_texts_cover_them(embedder, text):
    assert covers(embedder.chunks(text), text)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=60), max_size=12), st.integers(1, 60))
def test_chunks_cover_every_character_in_order(embedder, parts, times):
    text = " ".join(parts * times)
    assert covers(embedder.chunks(text), text)


def test_chunks_end_where_a_sentence_ends(embedder):
    chunks = embedder.chunks("The server keeps one connection for each thread. " * 200)
    assert all(chunk.rstrip().endswith("thread.") and chunk.startswith("The server") for chunk in chunks)
    assert len(chunks) > 5


def test_threads_may_embed_side_by_side(embedder):
    vectors = {}
    threads = [
        threading.Thread(target=lambda name=name: vectors.update({name: embedder.embed([f"text {name % 2}"])[0]}))
        for name in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(vectors) == 8
    assert len(set(vectors.values())) == 2


def covers(chunks, text):
    """Each chunk is a slice that begins at or before the end of those before it, and the last ends the text."""
    end = 0
    for chunk in chunks:
        place = text.rfind(chunk, 0, end + len(chunk))
        if place < 0:
            return False
        end = max(end, place + len(chunk))
    return end == len(text)


def _dot(left, right):
    return sum(a * b for a, b in zip(left, right, strict=True))
