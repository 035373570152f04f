"""Indexes of code: one process at a time, nothing made twice, and what has gone stays gone."""

import threading
from dataclasses import replace

import pytest

from making import MODEL, a_chunk, a_code_file, a_code_index, a_memory, a_vector, at, ids, in_code, save, wanted
from retain.domain.code import IndexStatus, Mark
from retain.domain.code import index_key as key_of
from retain.domain.model import BUNDLED, earlier
from retain.errors import EmbeddingFailed, NotFound


def indexed(store, *files, project="shop", user=""):
    """An index that holds these files; returns its key."""
    index = a_code_index(project, user)
    assert store.claim_index(index, at(-60))
    store.save_code(index.key, files, (), ())
    return index.key


def embed(store, *names, along=(1,), model=MODEL):
    """Gives the chunks of these names vectors."""
    chunks = store.code_named(names, in_code(), 100)
    store.save_code_vectors(model, {stored.id: [a_vector(*along)] for stored in chunks})


def nearest(store, *numbers, model=MODEL, **conditions):
    """Names of the chunks that a vector finds, best first."""
    found = store.code_by_vector(a_vector(*numbers), model, in_code(**conditions), 10)
    return [stored.chunk.name for stored in store.code_chunks(list(found)).values()]


def by_name(store, name):
    (stored,) = store.code_named([name], in_code(), 5)
    return stored


# Indexes


def test_a_claimed_index_is_listed_with_its_project(store):
    claimed = store.claim_index(a_code_index(skipped={"binary": 2}), at(-60))
    assert store.indexes("") == [claimed]
    assert (claimed.status, claimed.holder, claimed.skipped) == (IndexStatus.INDEXING, "me", {"binary": 2})
    assert store.project("shop") == claimed.project


def test_indexes_come_by_name_and_are_those_of_one_user(store):
    for project, user in (("web", ""), ("api", ""), ("secret", "ada")):
        store.claim_index(a_code_index(project, user), at(-60))
    assert [index.project.slug for index in store.indexes("")] == ["api", "web"]
    assert [index.key for index in store.indexes("ada")] == [key_of("secret", "ada")]


def test_a_project_whose_name_is_taken_is_listed_under_another(store):
    store.claim_index(a_code_index("shop"), at(-60))
    other = a_code_index("other")
    claimed = store.claim_index(replace(other, project=replace(other.project, slug="shop")), at(-60))
    assert claimed.project.slug == "shop-2"
    assert [index.project.slug for index in store.indexes("")] == ["shop", "shop-2"]


def test_an_index_is_not_taken_from_a_holder_who_is_alive(two_stores):
    mine, theirs = two_stores
    assert mine.claim_index(a_code_index(beat=at(100)), at(40))
    assert theirs.claim_index(a_code_index(holder="you", beat=at(110)), at(50)) is None
    assert theirs.indexes("")[0].holder == "me"


def test_an_index_whose_holder_died_is_taken_over(two_stores):
    mine, theirs = two_stores
    mine.claim_index(a_code_index(beat=at(100)), at(40))
    assert theirs.claim_index(a_code_index(holder="you", beat=at(300)), at(100)).holder == "you"
    assert mine.report_index(a_code_index(beat=at(301), indexed_files=7)) is False
    assert mine.indexes("")[0].indexed_files == 0


def test_the_holder_may_claim_again_and_anyone_may_once_it_is_done(store):
    store.claim_index(a_code_index(beat=at(100)), at(40))
    assert store.claim_index(a_code_index(beat=at(101)), at(41))
    assert store.report_index(a_code_index(beat=at(102), status=IndexStatus.COMPLETED))
    assert store.claim_index(a_code_index(holder="you", beat=at(103)), at(43))


def test_of_many_who_claim_at_once_one_gets_it(two_stores):
    got, ready = [], threading.Barrier(6)

    def claim(number):
        ready.wait()
        if two_stores[number % 2].claim_index(a_code_index(holder=f"p{number}", beat=at(100)), at(40)):
            got.append(f"p{number}")

    threads = [threading.Thread(target=claim, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [two_stores[0].indexes("")[0].holder] == got


def test_a_claim_answers_with_what_is_there_already(store):
    key = indexed(store, a_code_file("a.py", a_chunk("one"), a_chunk("two", line=9)), a_code_file("empty.py"))
    embed(store, "one")
    again = store.claim_index(a_code_index(beat=at(5)), at(0))
    assert (again.key, again.total_files, again.indexed_files) == (key, 2, 2)
    assert (again.total_chunks, again.embedded_chunks) == (2, 1)


def test_a_report_comes_back_as_it_was_made(store):
    claimed = store.claim_index(a_code_index(), at(-60))
    reported = replace(
        claimed,
        status=IndexStatus.FAILED,
        total_files=9,
        indexed_files=4,
        total_chunks=40,
        embedded_chunks=3,
        skipped={"huge": 1, "größer": 2},
        completed=at(9),
        beat=at(9),
        error="the disk is full",
    )
    assert store.report_index(reported) is True
    assert store.indexes("") == [reported]
    assert store.report_index(a_code_index("nowhere")) is False


# Files


def test_marks_are_those_of_the_files_as_they_were_saved(store):
    key = indexed(store, a_code_file("a.py", mark=Mark("x", 10, 2**62)), a_code_file("b/c.py", a_chunk()))
    assert store.marks(key) == {"a.py": Mark("x", 10, 2**62), "b/c.py": Mark("digest of b/c.py", 100, 1)}
    assert store.marks("nowhere") == {}


def test_a_chunk_comes_back_as_it_was_saved(store):
    chunk = a_chunk("größe", "def größe(): 'so groß'", 7, parent="Shop", signature="def größe()", doc="so groß")
    key = indexed(store, a_code_file("src/a.py", chunk, language="python"))
    (stored,) = store.code_named(["größe"], in_code(), 5)
    assert (stored.chunk, stored.index, stored.path, stored.language) == (chunk, key, "src/a.py", "python")
    assert stored.mark == store.marks(key)["src/a.py"]
    assert store.code_chunks([stored.id, "nobody"]) == {stored.id: stored}


def test_a_file_that_is_saved_again_is_replaced(store):
    key = indexed(store, a_code_file("a.py", a_chunk("old"), a_chunk("both", line=9), uses={"print": [3]}))
    store.save_code(key, [a_code_file("a.py", a_chunk("both"), a_chunk("new", line=9), mark=Mark("y", 1, 1))], (), ())
    assert [stored.chunk.name for stored in store.symbols(key)] == ["both", "new"]
    assert (store.marks(key), store.uses(key)) == ({"a.py": Mark("y", 1, 1)}, [])
    assert store.code_by_words(["old"], in_code(), 5) == {}
    assert store.faults() == []


def test_a_chunk_that_only_moved_down_keeps_its_id_and_its_vectors(store):
    key = indexed(store, a_code_file("a.py", a_chunk("connect", line=1)))
    embed(store, "connect")
    before = by_name(store, "connect")
    store.save_code(key, [a_code_file("a.py", a_chunk("first"), a_chunk("connect", line=40))], (), ())
    after = by_name(store, "connect")
    assert (after.id, after.chunk.start_line, after.chunk.end_line) == (before.id, 40, 42)
    assert nearest(store, 1) == ["connect"]
    assert [stored.chunk.name for stored in store.code_unembedded(key, MODEL, 9)] == ["first"]


def test_a_chunk_that_changed_keeps_its_id_and_loses_its_vectors(store):
    key = indexed(store, a_code_file("a.py", a_chunk("connect")))
    embed(store, "connect")
    before = by_name(store, "connect")
    store.save_code(key, [a_code_file("a.py", a_chunk("connect", "def connect(): return None"))], (), ())
    assert by_name(store, "connect").id == before.id
    assert nearest(store, 1) == []
    assert [stored.id for stored in store.code_unembedded(key, MODEL, 9)] == [before.id]


def test_chunks_of_one_name_have_different_ids_and_keep_their_vectors_when_they_swap(store):
    one, two = a_chunk("add", "add(int)", 1), a_chunk("add", "add(str)", 9)
    key = indexed(store, a_code_file("a.java", one, two))
    first, second = store.code_named(["add"], in_code(), 5)
    store.save_code_vectors(MODEL, {first.id: [a_vector(1)], second.id: [a_vector(0, 1)]})
    swapped = replace(two, start_line=1, end_line=3), replace(one, start_line=9, end_line=11)
    store.save_code(key, [a_code_file("a.java", *swapped)], (), ())
    found = store.code_chunks(list(store.code_by_vector(a_vector(1), MODEL, in_code(), 1)))
    assert [stored.chunk.text for stored in found.values()] == ["add(int)"]
    assert {stored.id for stored in store.code_named(["add"], in_code(), 5)} == {first.id, second.id}
    assert (store.code_unembedded(key, MODEL, 9), store.faults()) == ([], [])


def test_the_pieces_of_a_long_chunk_are_told_apart(store):
    parts = [a_chunk("long", f"piece {part}", 1 + 10 * part, part=part) for part in range(3)]
    key = indexed(store, a_code_file("a.py", *parts))
    assert len({stored.id for stored in store.code_named(["long"], in_code(), 9)}) == 3
    assert [stored.chunk.part for stored in store.symbols(key)] == [0]


def test_a_moved_file_keeps_its_vectors_and_is_found_by_its_new_path(store):
    key = indexed(store, a_code_file("old/a.py", a_chunk("connect"), uses={"pool": [2]}))
    embed(store, "connect")
    store.save_code(key, (), [("old/a.py", "fresh/b.py")], ())
    assert by_name(store, "connect").path == "fresh/b.py"
    assert (nearest(store, 1), store.code_unembedded(key, MODEL, 9)) == (["connect"], [])
    assert (len(store.code_by_words(["fresh"], in_code(), 5)), store.code_by_words(["old"], in_code(), 5)) == (1, {})
    assert store.uses(key) == [("fresh/b.py", "pool", 1)]
    assert list(store.marks(key)) == ["fresh/b.py"]
    assert store.faults() == []


def test_a_moved_file_has_the_ids_it_would_have_had_there_from_the_start(store):
    key = indexed(store, a_code_file("a.py", a_chunk("connect"), a_chunk("connect", "another", 9)))
    store.save_code(key, (), [("a.py", "b.py")], ())
    moved = {stored.id for stored in store.symbols(key)}
    store.save_code(key, [a_code_file("b.py", a_chunk("connect"), a_chunk("connect", "another", 9))], (), ())
    assert {stored.id for stored in store.symbols(key)} == moved


def test_files_may_swap_their_paths(store):
    key = indexed(store, a_code_file("a.py", a_chunk("one")), a_code_file("b.py", a_chunk("two")))
    store.save_code(key, (), [("a.py", "b.py"), ("b.py", "a.py")], ())
    assert [(stored.path, stored.chunk.name) for stored in store.symbols(key)] == [("a.py", "two"), ("b.py", "one")]
    assert store.faults() == []


def test_a_file_that_moves_over_another_takes_its_place(store):
    key = indexed(store, a_code_file("a.py", a_chunk("one")), a_code_file("b.py", a_chunk("two")))
    store.save_code(key, [a_code_file("a.py", a_chunk("three"))], [("a.py", "b.py")], ["b.py"])
    assert [(stored.path, stored.chunk.name) for stored in store.symbols(key)] == [("a.py", "three"), ("b.py", "one")]


def test_a_file_that_has_gone_leaves_nothing(store):
    key = indexed(store, a_code_file("a.py", a_chunk("one"), uses={"x": [1]}), a_code_file("b.py", a_chunk("two")))
    embed(store, "one", "two")
    store.save_code(key, (), (), ["a.py", "nowhere.py"])
    assert (list(store.marks(key)), nearest(store, 1), store.uses(key)) == (["b.py"], ["two"], [])
    assert (store.code_named(["one"], in_code(), 5), store.occurrences("x", in_code(), 5)) == ([], [])
    assert store.faults() == []


def test_many_files_at_once_are_all_saved(store):
    files = [a_code_file(f"f{n}.py", *(a_chunk(f"f{n}_{m}", line=1 + 5 * m) for m in range(30))) for n in range(120)]
    key = indexed(store, *files)
    moved = [(f"f{n}.py", f"f{n + 1}.py") for n in range(110)]
    store.save_code(key, [a_code_file("late.py", a_chunk("late"))], moved, [f"f{n}.py" for n in range(111, 120)])
    assert set(store.marks(key)) == {f"f{n}.py" for n in range(1, 111)} | {"late.py"}
    assert by_name(store, "f7_3").path == "f8.py"
    assert store.counts("", MODEL).code_chunks == 110 * 30 + 1
    assert store.faults() == []


def test_nothing_is_saved_to_an_index_that_nobody_claimed(store):
    with pytest.raises(NotFound, match="index it again"):
        store.save_code("nowhere", [a_code_file("a.py", a_chunk())], (), ())
    assert store.marks("nowhere") == {}


# Vectors


def test_unembedded_chunks_come_in_the_order_of_indexing_with_those_of_other_models(store):
    key = indexed(store, a_code_file("a.py", *(a_chunk(name, line=9 * n) for n, name in enumerate("abc", start=1))))
    embed(store, "b", model="another")
    assert [stored.chunk.name for stored in store.code_unembedded(key, MODEL, 9)] == ["a", "b", "c"]
    assert len(store.code_unembedded(key, MODEL, 2)) == 2
    embed(store, "a", "b", "c")
    assert (store.code_unembedded(key, MODEL, 9), nearest(store, 1, model="another")) == ([], [])


def test_vectors_of_an_earlier_file_of_a_model_are_found_until_they_are_made_anew(store):
    key = indexed(store, a_code_file("a.py", a_chunk("old"), a_chunk("new", line=9), a_chunk("other", line=19)))
    (earlier_file,) = earlier(BUNDLED)
    embed(store, "old", model=earlier_file)
    embed(store, "new", along=(1, 0.1), model=BUNDLED)
    embed(store, "other")
    assert nearest(store, 1, model=BUNDLED) == ["old", "new"]
    assert (store.code_outdated("", BUNDLED), store.code_outdated("eve", BUNDLED)) == ([key], [])
    assert store.code_outdated("", MODEL) == store.code_outdated("", earlier_file) == []
    assert [stored.chunk.name for stored in store.code_unembedded(key, BUNDLED, 9)] == ["old", "other"]
    embed(store, "old", along=(0, 1), model=BUNDLED)
    assert (nearest(store, 1, model=BUNDLED), store.code_outdated("", BUNDLED)) == (["new"], [])


def test_the_best_part_of_a_chunk_counts(store):
    indexed(store, a_code_file("a.py", a_chunk("long"), a_chunk("short", line=9)))
    long, short = by_name(store, "long").id, by_name(store, "short").id
    store.save_code_vectors(MODEL, {long: [a_vector(0, 1), a_vector(1, 0)], short: [a_vector(1, 0.5)]})
    found = store.code_by_vector(a_vector(1), MODEL, in_code(), 5)
    assert list(found) == [long, short]
    assert found[long] == pytest.approx(1.0, abs=1e-3)


def test_vectors_of_a_chunk_that_has_gone_are_passed_over(store):
    key = indexed(store, a_code_file("a.py", a_chunk("one"), a_chunk("two", line=9)))
    one, two = by_name(store, "one").id, by_name(store, "two").id
    store.save_code(key, [a_code_file("a.py", a_chunk("two"))], (), ())
    store.save_code_vectors(MODEL, {one: [a_vector(1)], two: [a_vector(1)]})
    assert (nearest(store, 1), store.faults()) == (["two"], [])


def test_a_vector_of_another_length_is_refused_and_nothing_is_written(store):
    key = indexed(store, a_code_file("a.py", a_chunk("one"), a_chunk("two", line=9)))
    embed(store, "one")
    with pytest.raises(EmbeddingFailed, match="64 numbers here"):
        store.save_code_vectors(MODEL, {by_name(store, "two").id: [a_vector(1)[:8]]})
    assert [stored.chunk.name for stored in store.code_unembedded(key, MODEL, 9)] == ["two"]


# Dropping, and what other processes see


def test_a_dropped_index_leaves_nothing_and_others_stay(store):
    kept = indexed(store, a_code_file("a.py", a_chunk("left"), uses={"x": [1]}), project="other")
    key = indexed(store, a_code_file("a.py", a_chunk("left"), a_chunk("right", line=9), uses={"x": [1]}))
    embed(store, "left", "right")
    assert store.drop_index(key) == 2
    assert [index.key for index in store.indexes("")] == [kept]
    assert (store.marks(key), store.symbols(key), store.uses(key), nearest(store, 1)) == ({}, [], [], [])
    assert store.code_by_words(["left"], in_code(), 5) == {}
    assert len(store.code_by_words(["left"], in_code("other"), 5)) == 1
    assert (store.drop_index(key), store.faults()) == (0, [])


def test_who_was_indexing_a_dropped_index_is_told_so(two_stores):
    mine, theirs = two_stores
    key = indexed(mine, a_code_file("a.py", a_chunk()))
    theirs.drop_index(key)
    assert mine.report_index(a_code_index(beat=at(1))) is False
    with pytest.raises(NotFound):
        mine.save_code(key, [a_code_file("b.py", a_chunk())], (), ())


def test_what_one_process_indexes_another_finds(two_stores):
    mine, theirs = two_stores
    key = indexed(mine, a_code_file("a.py", a_chunk("one")))
    assert nearest(theirs, 1) == []
    embed(mine, "one")
    assert nearest(theirs, 1) == ["one"]
    mine.save_code(key, [a_code_file("b.py", a_chunk("two"))], (), ())
    embed(mine, "two", along=(1, 0.5))
    assert nearest(theirs, 1) == ["one", "two"]
    assert len(theirs.code_by_words(["two"], in_code(), 5)) == 1


def test_what_one_process_drops_another_does_not_find_under_a_number_that_was_used_again(two_stores):
    mine, theirs = two_stores
    key = indexed(mine, a_code_file("a.py", a_chunk("one")))
    embed(mine, "one")
    assert nearest(theirs, 1) == ["one"]
    mine.save_code(key, [a_code_file("b.py", a_chunk("two"))], (), ["a.py"])
    assert nearest(theirs, 1) == []
    embed(mine, "two", along=(0, 1))
    assert (nearest(theirs, 1), nearest(theirs, 0, 1)) == ([], ["two"])
    mine.drop_index(key)
    assert (nearest(theirs, 1), nearest(theirs, 0, 1)) == ([], [])
    indexed(mine, a_code_file("c.py", a_chunk("three")))
    embed(mine, "three", along=(0, 1))
    assert nearest(theirs, 0, 1) == ["three"]


def test_indexing_does_not_count_as_a_change_of_memories(store):
    save(store, a_memory())
    before = store.change()
    indexed(store, a_code_file("a.py", a_chunk("one")))
    embed(store, "one")
    assert store.change() == before
    assert ids(store.listed(wanted(), 5)) == ["m1"]


def test_code_is_counted_for_its_user(store):
    indexed(store, a_code_file("a.py", a_chunk("one"), a_chunk("two", line=9)))
    indexed(store, a_code_file("a.py", a_chunk("one")), user="ada")
    assert [store.counts(user, MODEL).code_chunks for user in ("", "ada", "eve")] == [2, 1, 0]


def test_what_was_dropped_is_claimed_only_as_a_new_one(store):
    assert store.claim_index(a_code_index(), at(-60), new=False) is None
    assert store.indexes("") == []
    assert store.claim_index(a_code_index(), at(-60))
    assert store.claim_index(a_code_index(), at(-60), new=False)


def test_only_the_holder_counts_anew(store):
    index = store.claim_index(a_code_index(), at(-60))
    store.save_code(index.key, [a_code_file("a.py", a_chunk("f"), a_chunk("g", line=9))], (), ())
    assert store.recount_index(index).total_chunks == 2
    assert store.recount_index(replace(index, holder="you")) is None
    store.drop_index(index.key)
    assert store.recount_index(index) is None and store.indexes("") == []


def test_dropping_ends_while_another_index_is_being_written(two_stores):
    one, two = two_stores
    gone, kept = (one.claim_index(a_code_index(name), at(-60)).key for name in ("shop", "bank"))
    one.save_code(gone, [a_code_file(f"{n}.py", a_chunk(f"f{n}")) for n in range(200)], (), ())
    stop = threading.Event()

    def write():
        number = 0
        while not stop.is_set():
            two.save_code(kept, [a_code_file(f"{number}.py", a_chunk(f"g{number}"))], (), ())
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    dropping = threading.Thread(target=one.drop_index, args=(gone,))
    dropping.start()
    dropping.join(30)
    ended = not dropping.is_alive()
    stop.set()
    writer.join()
    assert ended
