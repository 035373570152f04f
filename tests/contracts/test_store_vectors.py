"""The vector lane: exact where it can be, filtered before anything is cut off, and never older than the store."""

import struct
from random import Random

import pytest

from making import MODEL, START, a_memory, a_place, a_vector, an_embedding, at, ids, in_state, save, wanted
from retain.domain.changes import Changes
from retain.domain.memory import State
from retain.domain.model import BUNDLED, earlier
from retain.errors import EmbeddingFailed


def nearest(store, *numbers, limit=10, model=MODEL, **conditions):
    return store.by_vector(a_vector(*numbers), model, wanted(**conditions), limit)


def random_vector(random, towards=()):
    numbers = [random.gauss(0, 1) for _ in range(64)]
    return a_vector(*(number + (towards[n] if n < len(towards) else 0) for n, number in enumerate(numbers)))


def cosine(one, other):
    return sum(a * b for a, b in zip(struct.unpack("<64f", one), struct.unpack("<64f", other), strict=True))


def test_the_nearest_come_first_with_their_cosine(store):
    save(
        store,
        a_memory("near", "a"),
        a_memory("nearer", "b"),
        a_memory("far", "c"),
        embeddings=(
            an_embedding("near", a_vector(1, 1)),
            an_embedding("nearer", a_vector(1, 0.1)),
            an_embedding("far", a_vector(-1, 0)),
        ),
    )
    found = nearest(store, 1)
    assert list(found.scores) == ["nearer", "near"]
    assert found.scores["near"] == pytest.approx(0.5**0.5, abs=1e-3)
    assert found.matched == 2


def test_small_sets_are_ranked_exactly(store):
    random = Random(7)
    vectors = {f"m{n}": random_vector(random, (2,)) for n in range(200)}
    save(
        store,
        *(a_memory(id, f"text {id}") for id in vectors),
        embeddings=tuple(an_embedding(id, vector) for id, vector in vectors.items()),
    )
    question = random_vector(random, (2,))
    best = sorted(vectors, key=lambda id: -cosine(question, vectors[id]))[:5]
    found = store.by_vector(question, MODEL, wanted(), 5)
    assert [round(score, 2) for score in found.scores.values()] == [
        round(cosine(question, vectors[id]), 2) for id in best
    ]


def test_the_best_chunk_of_a_long_text_counts_once(store):
    save(
        store,
        a_memory("long", "a"),
        a_memory("short", "b"),
        embeddings=(
            an_embedding("long", a_vector(0, 1), a_vector(1, 0), a_vector(1, 0.5)),
            an_embedding("short", a_vector(1, 0.3)),
        ),
    )
    found = nearest(store, 1)
    assert list(found.scores) == ["long", "short"]
    assert (found.scores["long"], found.matched) == (pytest.approx(1.0, abs=1e-3), 2)


def test_a_filter_is_applied_before_the_best_are_chosen(store):
    crowd = [a_memory(f"c{n}", f"crowd {n}", place=a_place("crowded")) for n in range(1500)]
    save(
        store,
        *crowd,
        a_memory("only", "the only one here"),
        embeddings=(
            *(an_embedding(m.id, a_vector(1, n / 1e4)) for n, m in enumerate(crowd)),
            an_embedding("only", a_vector(1, 1)),
        ),
    )
    assert ids(nearest(store, 1, limit=3)) == ["only"]
    assert ids(nearest(store, 1, limit=3, places=(a_place("crowded"), a_place())))[0] != "only"


def test_a_large_set_finds_the_nearest_among_many(store):
    random = Random(3)
    vectors = {f"m{n}": random_vector(random) for n in range(1200)}
    question = vectors["m777"]
    save(
        store,
        *(a_memory(id, f"text {id}") for id in vectors),
        embeddings=tuple(an_embedding(id, vector) for id, vector in vectors.items()),
    )
    assert ids(store.by_vector(question, MODEL, wanted(), 1)) == ["m777"]


def test_a_changed_text_loses_its_vectors_until_it_has_new_ones(store):
    save(store, a_memory("m1", "one"), embeddings=(an_embedding("m1", a_vector(1)),))
    save(store, a_memory("m1", "two", version=2))
    assert (ids(nearest(store, 1)), store.vectors(["m1"], MODEL)) == ([], {})
    assert store.memories(["m1"])["m1"].model is None
    save(store, embeddings=(an_embedding("m1", a_vector(0, 1)),))
    assert (ids(nearest(store, 1)), ids(nearest(store, 0, 1))) == ([], ["m1"])


def test_a_change_that_leaves_the_text_keeps_the_vectors(store):
    save(store, a_memory("m1", "one"), embeddings=(an_embedding("m1", a_vector(1)),))
    save(store, a_memory("m1", "one", importance=0.9, version=2))
    assert ids(nearest(store, 1)) == ["m1"]
    assert store.memories(["m1"])["m1"].model == MODEL


def test_vectors_come_back_chunk_by_chunk(store):
    vectors = a_vector(1, 0.5), a_vector(0, 1)
    save(store, a_memory("m1"), embeddings=(an_embedding("m1", *vectors),))
    kept = store.vectors(["m1", "nobody"], MODEL)["m1"]
    assert [cosine(a, b) for a, b in zip(kept, vectors, strict=True)] == [pytest.approx(1, abs=1e-3)] * 2
    assert store.vectors(["m1"], "another model") == {}


def test_models_do_not_meet(store):
    save(store, a_memory("m1"), embeddings=(an_embedding("m1", a_vector(1)),))
    assert ids(nearest(store, 1, model="another")) == []
    save(store, embeddings=(an_embedding("m1", a_vector(0, 1), model="another"),))
    assert ids(nearest(store, 1)) == []
    assert ids(nearest(store, 0, 1, model="another")) == ["m1"]
    assert store.memories(["m1"])["m1"].model == "another"


def test_a_vector_of_another_length_is_refused_and_breaks_nothing(store):
    save(store, a_memory("m1"), a_memory("m2", "b"), embeddings=(an_embedding("m1", a_vector(1)),))
    with pytest.raises(EmbeddingFailed, match="64 numbers here, and this one has 2"):
        store.apply(Changes(at=START, embeddings=(an_embedding("m2", struct.pack("<2f", 1, 0)),)))
    with pytest.raises(EmbeddingFailed):
        store.by_vector(struct.pack("<2f", 1, 0), MODEL, wanted(), 5)
    assert ids(nearest(store, 1)) == ["m1"]


def test_what_has_no_vectors_yet_is_named_with_the_chunks_it_has(store):
    save(
        store,
        a_memory("none", "a"),
        a_memory("part", "b"),
        a_memory("whole", "c"),
        a_memory("gone", "d", status=in_state(State.FORGOTTEN)),
        embeddings=(an_embedding("part", a_vector(1), missing=2), an_embedding("whole", a_vector(1))),
    )
    lacking = store.unembedded(MODEL, 9, by_others=True)
    assert [(memory.id, made) for memory, made in lacking] == [("none", 0), ("part", 1)]
    assert [memory.id for memory, _ in store.unembedded("another", 2, by_others=True)] == ["none", "part"]
    assert [memory.id for memory, _ in store.unembedded("another", 9, by_others=False)] == ["none"]


def test_missing_chunks_follow_later(store):
    save(store, a_memory("m1"), embeddings=(an_embedding("m1", a_vector(1), missing=2),))
    save(store, embeddings=(an_embedding("m1", a_vector(0, 1), a_vector(0, 0, 1), first=1),))
    assert (len(store.vectors(["m1"], MODEL)["m1"]), store.unembedded(MODEL, 9, by_others=True)) == (3, [])
    assert ids(nearest(store, 0, 0, 1)) == ["m1"]


def test_an_embedding_without_vectors_or_without_a_memory_changes_nothing(store):
    save(store, a_memory("m1"), embeddings=(an_embedding("m1", missing=3), an_embedding("nobody", a_vector(1))))
    assert [memory.id for memory, _ in store.unembedded(MODEL, 9, by_others=True)] == ["m1"]
    assert ids(nearest(store, 1)) == []


def test_another_process_sees_new_vectors_at_once(two_stores):
    one, other = two_stores
    for n in range(5):
        save(one, a_memory(f"m{n}", f"text {n}", when=at(n)), embeddings=(an_embedding(f"m{n}", a_vector(1)),))
        assert len(nearest(other, 1)) == n + 1


def test_many_updates_leave_each_memory_findable_once(two_stores):
    one, other = two_stores
    for round in range(30):
        many = [a_memory(f"m{n}", f"text {n} {round}", version=round + 1) for n in range(200)]
        save(one, *many, embeddings=tuple(an_embedding(m.id, a_vector(1, round / 100)) for m in many))
        found = nearest(other, 1, limit=500)
        assert (len(found), found.matched) == (200, 200)


NEW, (OLD,) = BUNDLED, earlier(BUNDLED)


def test_vectors_of_an_earlier_file_of_a_model_are_found_and_wait_to_be_made_anew(store):
    save(
        store,
        *(a_memory(id, f"text {id}", when=at(number)) for number, id in enumerate(("old", "new", "part", "other"))),
        embeddings=(
            an_embedding("old", a_vector(1), model=OLD),
            an_embedding("new", a_vector(1, 0.1), model=NEW),
            an_embedding("part", a_vector(0, 1), model=OLD, missing=1),
            an_embedding("other", a_vector(1)),
        ),
    )
    assert ids(nearest(store, 1, model=NEW)) == ["old", "new"]
    assert set(store.near(a_vector(1), NEW, wanted(), 0.5)) == {"old", "new"}
    assert store.crowding(["old"], NEW, wanted(), 0.5) == {"old": ["new"]}
    assert set(store.vectors(["old", "new", "other"], NEW)) == {"old", "new"}
    assert [(memory.id, have) for memory, have in store.unembedded(NEW, 9, by_others=False)] == [("part", 0)]
    again = store.unembedded(NEW, 9, by_others=False, earlier=True)
    assert [(memory.id, have) for memory, have in again] == [("old", 0), ("part", 0)]
    assert [memory.id for memory, _ in store.unembedded(NEW, 9, by_others=True)] == ["part", "other"]
    assert store.counts("", NEW).unembedded == 2
    # The earlier file does not know of the later one.
    assert ids(nearest(store, 1, model=OLD)) == ["old"]


def test_what_was_made_anew_carries_the_new_name_alone(store):
    save(store, a_memory("m1"), embeddings=(an_embedding("m1", a_vector(1), model=OLD),))
    assert ids(nearest(store, 1, model=NEW)) == ["m1"]
    save(store, embeddings=(an_embedding("m1", a_vector(0, 1), model=NEW),))
    assert ids(nearest(store, 0, 1, model=NEW)) == ["m1"] and ids(nearest(store, 1, model=NEW)) == []
    assert store.unembedded(NEW, 9, by_others=True, earlier=True) == []
    assert (len(store.vectors(["m1"], NEW)["m1"]), store.vectors(["m1"], OLD), store.faults()) == (1, {}, [])
