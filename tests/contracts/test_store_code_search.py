"""Finding code: by words, by name, by what uses it; filtered before anything is cut off."""

import pytest

from making import MODEL, a_chunk, a_code_file, a_code_index, a_vector, at, in_code
from retain.domain.code import ChunkKind, Occurrence
from retain.domain.words import query_terms


def indexed(store, *files, project="shop"):
    index = a_code_index(project)
    store.claim_index(index, at(-60))
    store.save_code(index.key, files, (), ())
    return index.key


def by_words(store, question, *projects, limit=10, **conditions):
    """Names of the chunks that the words of a question find, best first."""
    found = store.code_by_words(query_terms(question), in_code(*projects, **conditions), limit)
    return [stored.chunk.name for stored in store.code_chunks(list(found)).values()]


def named(store, *names, limit=10, **conditions):
    return [stored.chunk.qualified for stored in store.code_named(names, in_code(**conditions), limit)]


def test_a_word_counts_most_in_a_name_then_in_a_doc_comment_then_in_a_body(store):
    indexed(
        store,
        a_code_file(
            "a.py",
            a_chunk("one", "send the invoice to the printer", 1),
            a_chunk("two", "send it to the printer again", 9, doc="Prints an invoice."),
            a_chunk("invoice", "send it to the printer again", 19),
        ),
    )
    assert by_words(store, "invoice") == ["invoice", "two", "one"]


def test_scores_are_positive_and_best_first(store):
    indexed(store, a_code_file("a.py", *(a_chunk(f"f{n}", "retry " * n + "x " * 20, 9 * n) for n in range(1, 6))))
    scores = list(store.code_by_words(["retri"], in_code(), 3).values())
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


def test_an_identifier_is_found_whole_and_by_its_parts(store):
    indexed(store, a_code_file("a.py", a_chunk("parseHTTPResponse"), a_chunk("other", line=9)))
    for question in ("parseHTTPResponse", "parsehttpresponse", "parse a response"):
        assert by_words(store, question)[0] == "parseHTTPResponse"


def test_a_path_is_searched_too(store):
    indexed(store, a_code_file("billing/tax.py", a_chunk("one")), a_code_file("b.py", a_chunk("two")))
    assert by_words(store, "tax") == ["one"]


def test_what_holds_more_of_the_words_comes_first_however_common_they_are(store):
    files = [a_code_file(f"f{n}.py", a_chunk(f"f{n}", "open the pool")) for n in range(40)]
    indexed(store, *files, a_code_file("z.py", a_chunk("best", "open the pool of connections")))
    assert by_words(store, "open pool connections", limit=2)[0] == "best"
    assert by_words(store, "nothing like it") == []
    assert by_words(store, "") == []


def test_words_are_searched_in_the_indexes_and_languages_that_are_wanted(store):
    indexed(store, *(a_code_file(f"{n}.py", a_chunk("crowd", f"invoice invoice {n}")) for n in range(50)))
    indexed(store, a_code_file("a.go", a_chunk("only", "an invoice and more"), language="go"), project="other")
    assert by_words(store, "invoice", "other", limit=3) == ["only"]
    assert by_words(store, "invoice", "shop", "other", limit=3, languages=("go",)) == ["only"]
    assert by_words(store, "invoice", "shop", languages=("go", "rust")) == []
    assert len(by_words(store, "invoice", "shop", "other", limit=99)) == 51


def test_vectors_are_searched_in_the_indexes_and_languages_that_are_wanted(store):
    indexed(store, *(a_code_file(f"{n}.py", a_chunk("crowd", f"text {n}")) for n in range(300)))
    indexed(store, a_code_file("a.go", a_chunk("only"), language="go"), project="other")
    for stored in store.code_named(["crowd", "only"], in_code("shop", "other"), 400):
        store.save_code_vectors(MODEL, {stored.id: [a_vector(1, stored.chunk.name == "only")]})
    (only,) = store.code_named(["only"], in_code("other"), 2)
    question = a_vector(1)
    assert list(store.code_by_vector(question, MODEL, in_code("other"), 5)) == [only.id]
    assert list(store.code_by_vector(question, MODEL, in_code("shop", "other", languages=("go",)), 5)) == [only.id]
    assert only.id not in store.code_by_vector(question, MODEL, in_code("shop"), 500)
    assert store.code_by_vector(question, "unknown model", in_code("other"), 5) == {}


@pytest.mark.parametrize(
    "name", ["Pool.connect", "pool.CONNECT", "Pool::connect", "Pool#connect", "Pool->connect", "db.Pool.connect"]
)
def test_a_qualified_name_is_found_however_it_is_spelled(store, name):
    indexed(store, a_code_file("a.py", a_chunk("connect", parent="db.Pool"), a_chunk("connect", "x", 9, parent="Car")))
    assert named(store, name) == ["db.Pool.connect"]


def test_a_name_is_found_in_every_parent_and_one_that_is_whole_comes_first(store):
    file = a_code_file("a.py", a_chunk("connect", parent="Pool"), a_chunk("connect", line=9), a_chunk("connection"))
    indexed(store, file)
    assert named(store, "connect") == ["connect", "Pool.connect"]
    assert named(store, "connect", limit=1) == ["connect"]
    assert named(store, "ool.connect", "") == []


def test_names_are_looked_up_in_the_indexes_and_languages_that_are_wanted(store):
    indexed(store, a_code_file("a.py", a_chunk("run")), a_code_file("a.go", a_chunk("run", "x"), language="go"))
    assert [stored.language for stored in store.code_named(["run"], in_code(languages=("go",)), 5)] == ["go"]
    assert store.code_named(["run"], in_code("other"), 5) == []


def test_occurrences_come_by_file_and_line_with_what_is_around_them(store):
    inner = a_chunk("connect", line=10, end=20, parent="Pool", kind=ChunkKind.METHOD)
    outer = a_chunk("Pool", line=5, end=30, kind=ChunkKind.CLASS)
    key = indexed(
        store,
        a_code_file("b.py", outer, inner, uses={"retry": [12, 25, 3, 12]}),
        a_code_file("a.py", uses={"retry": [1]}),
    )
    assert store.occurrences("retry", in_code(), 9) == [
        Occurrence(key, "a.py", 1, ""),
        Occurrence(key, "b.py", 3, ""),
        Occurrence(key, "b.py", 12, "Pool.connect"),
        Occurrence(key, "b.py", 25, "Pool"),
    ]
    assert len(store.occurrences("retry", in_code(), 2)) == 2


def test_an_occurrence_has_the_case_that_was_asked_for_if_any_has(store):
    indexed(store, a_code_file("a.py", uses={"Retry": [1], "retry": [2]}))
    assert [found.line for found in store.occurrences("retry", in_code(), 9)] == [2]
    assert [found.line for found in store.occurrences("RETRY", in_code(), 9)] == [1, 2]


def test_occurrences_are_those_of_the_indexes_and_languages_that_are_wanted(store):
    indexed(store, a_code_file("a.py", uses={"run": [1]}), a_code_file("a.go", uses={"run": [2]}, language="go"))
    indexed(store, a_code_file("b.py", uses={"run": [3]}), project="other")
    assert [found.line for found in store.occurrences("run", in_code("other"), 9)] == [3]
    assert [found.line for found in store.occurrences("run", in_code("shop", "other", languages=("go",)), 9)] == [2]


def test_symbols_are_what_has_a_name_in_one_index_without_its_text(store):
    top = a_chunk("", "import os", kind=ChunkKind.MODULE)
    key = indexed(
        store, a_code_file("b.py", top, a_chunk("two", signature="def two()")), a_code_file("a.py", a_chunk())
    )
    indexed(store, a_code_file("c.py", a_chunk("elsewhere")), project="other")
    found = store.symbols(key)
    assert [(one.path, one.chunk.name, one.chunk.text) for one in found] == [
        ("a.py", "connect", ""),
        ("b.py", "two", ""),
    ]
    assert found[1].chunk.signature == "def two()"


def test_uses_count_lines_by_file_and_name(store):
    key = indexed(
        store, a_code_file("b.py", uses={"run": [1, 2, 2], "open": [3]}), a_code_file("a.py", uses={"run": [5]})
    )
    indexed(store, a_code_file("c.py", uses={"run": [5]}), project="other")
    assert store.uses(key) == [("a.py", "run", 1), ("b.py", "open", 1), ("b.py", "run", 2)]
