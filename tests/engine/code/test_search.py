"""Searching code that was written to disk, indexed and sometimes changed."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from engine.code.trees import Tree, a_tree
from making import a_memory, a_place, a_project, save
from retain.domain.code import IndexStatus
from retain.domain.session import Caller
from retain.embedding.off import NoEmbedder
from retain.embedding.onnx import OnnxEmbedder
from retain.engine.code.finding.search import LANE, CodeHit
from retain.errors import InvalidInput, NotFound, Refused
from retain.ports import Store

MOMENTS = """
    def parse_moment(text):
        '''Read a date with an optional time.'''
        return text.split("T")

    def show(moment):
        return f"{moment} o'clock"
"""
CARTS = """
    class Cart:
        def apply(self, voucher):
            self.total -= voucher.amount

    class Store:
        def apply(self, changes):
            for change in changes:
                self.rows.append(change)

    def parse(words):
        '''Parse words, and a moment later parse them again.'''
        return [word.strip() for word in words]
"""

TOTALS = """
    class Cart:
        @property
        def total(self):
            return 1

        @total.setter
        def total(self, value):
            self.rest = value
"""


@pytest.fixture
def tree(store: Store, tmp_path: Path) -> Tree:
    made = a_tree(store, tmp_path).write(moments=MOMENTS, carts=CARTS)
    made.index()
    return made


def codes(answer) -> list[str]:
    return [warning.code for warning in answer.warnings]


def test_code_is_found_by_the_words_of_its_doc_comment(tree):
    assert tree.found("read a date with an optional time")[0] == "parse_moment"


def test_a_hit_says_where_it_is_and_why_it_was_found(tree):
    hit = tree.ask("read a date with an optional time").hits[0]
    assert (hit.project, hit.stored.path, hit.stored.chunk.start_line) == ("shop", "moments.py", 1)
    assert hit.score == pytest.approx(0.8 * hit.vector + 0.2 * hit.words)
    assert 0 < hit.vector < 1 and 0 < hit.words < 1 and not hit.symbol


@pytest.mark.parametrize(
    "asked", ["parse_moment", "parseMoment", "ParseMoment", "parse moment", "parsemoment", "parse_moment()"]
)
def test_a_name_is_found_first_in_any_spelling(tree, asked):
    hit = tree.ask(asked).hits[0]
    assert (hit.stored.chunk.name, hit.symbol) == ("parse_moment", True)


@pytest.mark.parametrize("asked", ["Store.apply", "Store::apply", "store.apply", "where is Store.apply defined?"])
def test_a_qualified_name_means_one_of_several_methods(tree, asked):
    hits = tree.ask(asked).hits
    assert hits[0].stored.chunk.qualified == "Store.apply"
    assert not next(hit for hit in hits if hit.stored.chunk.qualified == "Cart.apply").symbol


def test_all_symbols_of_an_ambiguous_name_are_found(tree):
    assert {hit.stored.chunk.qualified for hit in tree.ask("apply").hits if hit.symbol} == {"Cart.apply", "Store.apply"}


def test_a_plain_word_within_a_question_lifts_nothing(tree):
    assert not any(hit.symbol for hit in tree.ask("how do we show the total of a voucher").hits)


def test_camel_case_in_a_question_finds_words_that_are_written_apart(store, tmp_path):
    tree = a_tree(store, tmp_path).write(
        a="def load():\n    user_name = ask()\n    return user_name", b="def save(): ..."
    )
    tree.index()
    hit = tree.ask("where do we set userName").hits[0]
    assert hit.stored.chunk.name == "load" and hit.words > 0


def test_languages_filter_by_name_alias_and_ending(tree):
    tree.write(**{"moments.js": "function parseMoment(text) {\n  return text.split('T')\n}"}).index()
    for language in ("javascript", "js", ".JS", "node"):
        hits = tree.ask("parse moment", languages=(language,)).hits
        assert {hit.stored.path for hit in hits} == {"moments.js"}
    assert {hit.stored.language for hit in tree.ask("parse moment", languages=("py", "js")).hits} == {
        "python",
        "javascript",
    }


def test_an_unknown_language_is_an_error_that_lists_the_known_ones(tree):
    with pytest.raises(InvalidInput, match=r"language: is no language that Retain knows; use one of .*python.*klingon"):
        tree.ask("parse", languages=("klingon",))


@pytest.mark.parametrize(
    ("text", "limit", "field"), [("  ", 5, "query"), ("x" * 10_001, 5, "query"), ("parse", 0, "limit")]
)
def test_a_question_is_checked_like_any_other(tree, text, limit, field):
    with pytest.raises(InvalidInput, match=f"{field}: "):
        tree.ask(text, limit=limit)


def test_a_project_is_named_by_id_slug_or_folder(tree):
    other = tree.beside("bank").write(accounts="def parse_moment(account): ...")
    other.index()
    for name in (
        tree.project.id,
        f"proj_{tree.project.id}",
        "shop",
        "SHOP",
        str(tree.root.resolve()),
        f"{tree.root.resolve()}/",
    ):
        answer = tree.ask("parse_moment", project=name)
        assert answer.searched == ("shop",) and {hit.project for hit in answer.hits} == {"shop"}


def test_an_unknown_project_is_an_error_that_names_the_known_ones(tree):
    with pytest.raises(NotFound, match="there is no project bank; indexed are shop"):
        tree.ask("parse", project="bank")


def test_a_known_project_without_an_index_is_refused_with_the_call_to_make(tree):
    bank = a_project("p1", "bank", "/home/ada/bank")
    save(tree.parts.store, a_memory("m1", place=a_place("p1")), projects=(bank,))
    with pytest.raises(Refused, match="bank is not indexed; call index_project with path /home/ada/bank"):
        tree.ask("parse", project="bank")


def test_a_project_of_somebody_else_is_not_there(tree):
    bank = a_project("p1", "bank", "/home/eve/bank")
    save(tree.parts.store, a_memory("m1", place=a_place("p1", user="eve")), projects=(bank,))
    with pytest.raises(NotFound) as refused:
        tree.ask("parse", project="bank")
    assert "/home/eve" not in refused.value.message


def test_without_a_project_the_current_one_is_searched_and_all_from_anywhere_else(tree):
    other = tree.beside("bank").write(accounts="def parse_moment(account): ...")
    other.index()
    elsewhere = Caller(project=a_project("p1", "tools", "/home/ada/tools"))
    assert tree.ask("parse_moment", tree.inside).searched == ("shop",)
    assert tree.ask("parse_moment", elsewhere).searched == ("bank", "shop")
    assert tree.ask("parse_moment").searched == ("bank", "shop")


def test_the_index_of_a_folder_inside_the_current_project_is_its_own(tree):
    inner = tree.beside("shop/till").write(till="def ring(): ...")
    inner.index()
    assert tree.ask("ring", inner.inside).searched == ("till",)


def test_the_indexes_of_other_people_are_not_there(tree):
    answer = tree.ask("parse_moment", Caller("eve"))
    assert not answer.hits and codes(answer) == ["not_indexed"]


def test_without_any_index_the_answer_is_empty_and_says_what_to_call(store, tmp_path):
    answer = a_tree(store, tmp_path).ask("parse")
    assert (answer.hits, codes(answer)) == ((), ["not_indexed"])
    assert "index_project" in answer.warnings[0].message


def test_without_a_model_words_find_it_and_a_warning_says_so(tree):
    blind = replace(tree, parts=replace(tree.parts, embedder=NoEmbedder("switched off")))
    answer = blind.ask("read a date with an optional time")
    assert answer.hits[0].stored.chunk.name == "parse_moment"
    assert answer.hits[0].score == answer.hits[0].words > 0 and answer.hits[0].vector == 0
    assert codes(answer) == ["partial_results"]


def test_what_has_no_vectors_yet_is_found_by_its_words(store, tmp_path):
    tree = a_tree(store, tmp_path, NoEmbedder("switched off")).write(moments=MOMENTS)
    tree.index()
    sighted = replace(tree, parts=a_tree(store, tmp_path, name="empty").parts)
    assert sighted.found("read a date with an optional time")[0] == "parse_moment"


def test_an_index_that_is_still_being_made_is_searched_with_a_warning(tree):
    index = tree.parts.store.indexes("")[0]
    now = tree.parts.clock.now()
    working = replace(index, status=IndexStatus.INDEXING, total_files=40, holder="elsewhere:1:x", beat=now)
    assert tree.parts.store.claim_index(working, now) is not None
    answer = tree.ask("parse_moment")
    assert answer.hits and codes(answer) == ["indexing"]


def test_a_file_that_changed_is_left_out_and_the_next_best_fills_up(tree):
    assert tree.found("parse_moment", limit=1) == ["parse_moment"]
    (tree.root / "moments.py").write_text("def parse_moment(): return 'another'\n")
    answer = tree.ask("parse_moment", limit=1)
    assert [hit.stored.path for hit in answer.hits] == ["carts.py"]
    assert codes(answer) == ["stale_files"] and "1 file was left out" in answer.warnings[0].message
    assert answer.stale == (tree.parts.store.indexes("")[0].key,)


def test_a_file_that_is_gone_is_left_out(tree):
    (tree.root / "moments.py").unlink()
    assert "parse_moment" not in tree.found("parse_moment")


def test_a_file_that_was_only_touched_is_still_found(tree):
    os.utime(tree.root / "moments.py", ns=(1, 1))
    answer = tree.ask("parse_moment", limit=1)
    assert [hit.stored.chunk.name for hit in answer.hits] == ["parse_moment"] and not answer.warnings


def test_a_symbol_in_several_parts_is_one_hit(store, tmp_path):
    lines = "\n".join(f"    voucher_{n} = redeem_voucher(cart, {n})\n    check(voucher_{n})" for n in range(200))
    tree = a_tree(store, tmp_path).write(vouchers=f"def redeem_all(cart):\n{lines}")
    index = tree.index()
    assert index.total_chunks > 1
    assert tree.found("redeem the vouchers of a cart").count("redeem_all") == 1


def test_two_symbols_of_one_name_in_a_file_are_two_hits(store, tmp_path):
    tree = a_tree(store, tmp_path).write(cart=TOTALS)
    tree.index()
    assert tree.found("Cart.total").count("Cart.total") == 2


def test_tests_come_after_what_they_test_unless_they_are_asked_for(store, tmp_path):
    body = "(cart):\n    return cart.redeem(voucher_of(cart))"
    tree = a_tree(store, tmp_path).write(a_tests__tests__cart=f"def check_it{body}", shop__cart=f"def check_it{body}")
    tree.index()

    def paths(question: str) -> list[str]:
        return [hit.stored.path for hit in tree.ask(question).hits]

    assert paths("redeem the voucher of a cart") == ["shop/cart.py", "a_tests/tests/cart.py"]
    assert paths("test to redeem the voucher of a cart")[0] == "a_tests/tests/cart.py"


def test_no_more_hits_than_asked_for(store, tmp_path):
    functions = "\n\n".join(f"def voucher_{n}(cart):\n    return cart.redeem({n})" for n in range(LANE + 20))
    tree = a_tree(store, tmp_path).write(vouchers=functions)
    tree.index()
    assert len(tree.found("redeem a voucher of the cart", limit=7)) == 7
    assert len(tree.found("redeem a voucher of the cart", limit=50)) == 50


def test_meaning_finds_what_shares_no_word(store, tmp_path):
    tree = a_tree(store, tmp_path, OnnxEmbedder()).write(
        files="def erase(folder):\n    for entry in folder.iterdir():\n        entry.unlink()",
        sums="def total(prices):\n    return sum(prices)",
    )
    tree.index()
    hit: CodeHit = tree.ask("delete all documents from a directory").hits[0]
    assert hit.stored.chunk.name == "erase" and hit.words == 0


def test_of_indexes_in_one_another_the_nearest_is_searched(tree):
    inner = tree.beside("shop/parts").write(bolt="def fasten(bolt): ...")
    tree.index()
    inner.index()
    assert tree.ask("fasten", tree.inside).searched == ("shop",)
    assert tree.ask("fasten", inner.inside).searched == ("parts",)
    outside = Caller("", tree.beside("").project)
    assert tree.ask("fasten", outside).searched == ("shop",)
