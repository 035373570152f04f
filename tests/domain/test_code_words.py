"""Names in questions about code, and what is read of a chunk."""

import pytest

from retain.domain.code import Chunk, ChunkKind
from retain.domain.code_words import (
    code_terms,
    embedded_as,
    folded,
    headline,
    home_names,
    is_aside,
    is_called,
    is_test,
    names_asked,
    spellings,
)


def a_chunk(name: str = "apply", parent: str = "", text: str = "", doc: str = "") -> Chunk:
    return Chunk(ChunkKind.METHOD, name, 1, 2, text, parent=parent, doc=doc)


@pytest.mark.parametrize(
    ("question", "names", "plain"),
    [
        ("why does parse_moment fail on dates", {"parse_moment"}, {"fail", "dates"}),
        ("who calls Store.apply and parseMoment", {"parseMoment", "Store.apply"}, {"who", "apply"}),
        ("what does load() return for a missing file", {"load"}, {"return", "file"}),
        ("recall", {"recall"}, set()),
        ("parse moment", {"parse_moment"}, {"parse", "moment"}),
        ("where is recall defined", {"recall"}, {"where", "defined"}),
    ],
)
def test_names_are_what_is_written_as_one_or_all_there_is(question, names, plain):
    asked = set(names_asked(question))
    assert names <= asked and not plain & asked


def test_a_name_is_looked_up_in_the_spellings_of_other_languages():
    assert {"parsemoment", "parse_moment", "parse-moment"} <= {way.lower() for way in spellings("parseMoment")}
    assert "Store.parse_Moment" in spellings("Store.parseMoment")


def test_spelling_does_not_part_names():
    assert folded("parse_moment") == folded("parseMoment") == folded("ParseMoment()") == "parsemoment"
    assert folded("Store::apply") == folded("Store.apply") == folded("store#apply")


def test_a_qualified_name_may_leave_out_its_beginning_and_not_its_end():
    chunk = a_chunk("apply", "sqlite.Store")
    assert is_called(chunk, "apply") and is_called(chunk, "Store.apply") and is_called(chunk, "sqlite.Store.apply")
    assert not is_called(chunk, "Cart.apply") and not is_called(chunk, "Store") and not is_called(chunk, "reapply")


def test_a_question_about_code_is_searched_without_the_words_that_say_so():
    assert code_terms("where is the function that rounds cents defined?") == code_terms("rounds cents")
    assert code_terms("function") == ["function"]


def test_a_vector_is_made_of_path_name_doc_and_body_without_indentation():
    chunk = a_chunk("apply", "Store", "    def apply(self):\n        return 1", "Writes changes.")
    assert embedded_as("a/b.py", chunk) == "a/b.py Store.apply\nWrites changes.\ndef apply(self):\n    return 1"


def test_a_doc_comment_that_is_in_the_body_is_not_repeated():
    chunk = a_chunk("apply", text='def apply():\n    """Writes changes."""', doc="Writes changes.")
    assert embedded_as("b.py", chunk).count("Writes changes.") == 1


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.py",
        "src/test_a.py",
        "a/conftest.py",
        "pkg/a_test.go",
        "a.test.ts",
        "a.spec.js",
        "x/__tests__/a.js",
        "ATest.java",
    ],
)
def test_files_that_test_others_are_known_by_their_names(path):
    assert is_test(path)


@pytest.mark.parametrize("path", ["src/contest.py", "latest.py", "testament/a.py", "src/attest.go", "spectrum.py"])
def test_other_files_are_not(path):
    assert not is_test(path)


def test_a_headline_is_the_names_as_words_with_the_signature():
    chunk = Chunk(ChunkKind.METHOD, "parseMoment", 1, 2, "", parent="date_tools.Reader", signature="parseMoment(text)")
    assert headline(chunk) == "date tools reader parse moment: parseMoment(text)"


def test_without_a_signature_a_headline_has_the_first_sentence_of_the_doc():
    chunk = Chunk(ChunkKind.MODULE, "moments", 1, 2, "", doc="Dates and times. Nothing else.")
    assert headline(chunk) == "moments Dates and times."
    assert headline(Chunk(ChunkKind.TEXT, "notes.txt", 1, 2, "")) == "notes txt"


@pytest.mark.parametrize(
    "path", ["tests/a.py", "pkg/examples/a.ts", "benchmarks/a.py", "go/testdata/a.go", "a_test.go"]
)
def test_what_stands_beside_the_product_is_aside(path):
    assert is_aside(path)


@pytest.mark.parametrize("path", ["src/example.py", "src/benchmarking/a.py", "src/demonstration/a.py"])
def test_the_product_is_not_aside(path):
    assert not is_aside(path)


@pytest.mark.parametrize(
    ("path", "name", "parent", "homes"),
    [
        ("shop/prices.py", "join", "", ["prices"]),
        ("shop/prices.py", "of", "money.Price", ["Price"]),
        ("shop/__init__.py", "join", "", ["shop", "__init__"]),
        ("shop/depot/depot.go", "New", "", ["depot", "depot"]),
        ("shop/search.py", "search", "", ["shop"]),
        ("search.py", "search", "", []),
    ],
)
def test_a_symbol_is_at_home_in_its_class_module_or_package(path, name, parent, homes):
    assert home_names(path, a_chunk(name, parent)) == homes
