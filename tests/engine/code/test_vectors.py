"""Vectors for chunks: what they are made of, and that threads change nothing about them."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.code.trees import Tree, a_tree
from retain.domain.code import CodeFilter
from retain.domain.memory import Vector
from retain.embedding.hashed import HashedEmbedder
from retain.embedding.off import NoEmbedder
from retain.engine.code.indexing.vectors import AT_ONCE, HEADLINE, SAVED, blended, embed_missing
from retain.ports import Embedder, Store

CHUNKS = 2 * SAVED + 5


class Model(HashedEmbedder):
    """Knows in which calls it was asked; the first ones wait for each other when so many are to run side by side."""

    def __init__(self, model: str = "first", meeting: int = 1) -> None:
        self.model = model
        self.calls: list[int] = []
        self._meeting, self._meet = meeting, threading.Barrier(meeting, timeout=20)

    def embed(self, texts):
        self.calls.append(len(texts))
        if len(self.calls) <= self._meeting:
            self._meet.wait()
        return super().embed(texts)


class Enough(Exception):
    pass


@pytest.fixture
def tree(store: Store, tmp_path: Path) -> Tree:
    functions = "\n\n".join(f"def voucher_{n}(cart):\n    return cart.redeem('code {n}')" for n in range(CHUNKS))
    made = a_tree(store, tmp_path, NoEmbedder("not yet")).write(vouchers=functions)
    assert made.index().total_chunks == CHUNKS
    return made


def key_of(tree: Tree) -> str:
    return tree.parts.store.indexes("")[0].key


def embed(tree: Tree, model: Embedder, threads: int, told=lambda count: None) -> None:
    embed_missing(replace(tree.parts, embedder=model), key_of(tree), told, threads)


def found(tree: Tree, model: Model, question: str) -> dict[str, float]:
    """All chunks that are near enough, with how near they are."""
    wanted = CodeFilter((key_of(tree),))
    return tree.parts.store.code_by_vector(model.embed([question])[0], model.model, wanted, CHUNKS)


def test_several_threads_embed_side_by_side_and_make_the_same(tree):
    alone, together, asked = Model("first"), Model("second", meeting=3), "def voucher(cart): return cart.redeem('code')"
    embed(tree, alone, 1)
    before = found(tree, alone, asked)
    embed(tree, together, 3)
    assert len(before) == CHUNKS and found(tree, together, asked) == before


def test_every_chunk_is_told_once_it_is_saved(tree):
    for threads in (1, 3):
        told: list[int] = []
        embed(tree, Model(f"by {threads}"), threads, told.append)
        assert sum(told) == CHUNKS and next(count for count in told if count) == min(SAVED * threads, CHUNKS)


def test_calls_are_small_so_that_a_run_can_end(tree):
    model = Model()
    with pytest.raises(Enough):
        embed(tree, model, 1, stop)
    assert model.calls == [AT_ONCE]


def test_a_run_with_several_threads_ends_too_and_saves_nothing_of_its_round(tree):
    model = Model(meeting=2)
    with pytest.raises(Enough):
        embed(tree, model, 2, stop)
    assert found(tree, model, "redeem") == {}
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("retain-embedding")]


def test_a_question_that_repeats_the_headline_is_nearer_than_one_that_repeats_the_body(tree):
    model = Model()
    embed(tree, model, 1)
    by_name = max(found(tree, model, "voucher 17 def voucher_17(cart)").values())
    assert by_name > max(found(tree, model, "return cart redeem code").values())


def test_a_blend_scores_the_mean_of_two_cosines_by_weight():
    body, head, asked = (np.array(numbers, "<f4") for numbers in ([1, 0, 0], [0, 1, 0], [0.6, 0.8, 0]))
    (mixed,) = blended([Vector(body.tobytes())], Vector(head.tobytes()))
    assert np.frombuffer(mixed, "<f4") @ asked == pytest.approx((1 - HEADLINE) * 0.6 + HEADLINE * 0.8)


def stop(count: int) -> None:
    raise Enough
