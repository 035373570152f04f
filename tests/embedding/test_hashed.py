"""Vectors without a model."""

import struct
import subprocess
import sys

from retain.embedding.hashed import HashedEmbedder


def closeness(left, right):
    vectors = [struct.unpack("<384f", vector) for vector in HashedEmbedder().embed([left, right])]
    return sum(a * b for a, b in zip(*vectors, strict=True))


def test_texts_that_share_words_are_closer_than_texts_that_do_not():
    assert (
        closeness("deploy the server", "the server deploys") > 0.5 > abs(closeness("deploy the server", "cats sleep"))
    )


def test_forms_of_a_word_count_as_the_word():
    assert closeness("deploying servers", "deploy server") > 0.99


def test_texts_without_words_differ_from_one_another():
    assert closeness("???", "...") < 0.99


def test_vectors_are_the_same_in_every_process():
    # Python's own hash() differs from run to run; stored vectors must not.
    code = "from retain.embedding.hashed import HashedEmbedder as H; print(H().embed(['deploy on Mondays']))"
    assert len({subprocess.check_output([sys.executable, "-c", code]) for _ in range(2)}) == 1
