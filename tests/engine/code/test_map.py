"""The map of a project: what the rest leans on comes first, within a budget."""

from pathlib import Path

import pytest

from engine.code.trees import Tree, a_tree
from retain.domain.session import Caller
from retain.engine.code.finding.map import CodeMap, code_map
from retain.engine.context import tokens_in
from retain.errors import InvalidInput, Refused
from retain.ports import Store

MONEY = """
    class MoneyAmount:
        def add_up(self, other: "MoneyAmount") -> "MoneyAmount":
            return self

    def never_called():
        pass
"""


@pytest.fixture
def tree(store: Store, tmp_path: Path) -> Tree:
    made = a_tree(store, tmp_path).write(money=MONEY)
    for n in range(12):
        made.write(**{f"part{n}": f"from money import MoneyAmount\n\ndef make_part{n}():\n    return MoneyAmount()"})
    made.index()
    return made


def drawn(tree: Tree, **fields) -> CodeMap:
    return code_map(tree.parts, None, tree.caller, **fields)


def files(made: CodeMap) -> list[str]:
    return [line for line in made.text.splitlines() if not line.startswith((" ", "…"))]


def test_what_everyone_uses_comes_first(tree):
    assert drawn(tree).text.splitlines()[:2] == ["money.py", "    1  class MoneyAmount"]


def test_a_method_is_drawn_inside_of_its_class_with_its_line(tree):
    assert '    2    def add_up(self, other: "MoneyAmount") -> "MoneyAmount"' in drawn(tree).text.splitlines()


def test_everything_is_shown_when_it_fits(tree):
    made = drawn(tree)
    assert (made.symbols, made.files) == (made.total_symbols, made.total_files) == (15, 13)
    assert "…" not in made.text


@pytest.mark.parametrize("budget", [100, 117, 150])
def test_the_budget_holds_and_the_rest_is_counted(tree, budget):
    for n in range(40):
        tree.write(**{f"long_name_of_a_file_{n}": f"def a_function_with_a_long_name_{n}(first, second): ..."})
    tree.index()
    made = drawn(tree, budget=budget)
    assert made.tokens == tokens_in(made.text) <= budget
    assert made.tokens > budget - 50
    left = made.total_symbols - made.symbols
    assert f"… {left} more symbols, {made.total_files - made.files} files are not shown" in made.text


def test_a_larger_budget_shows_more(tree):
    assert drawn(tree, budget=100).symbols < drawn(tree, budget=200).symbols


def test_focus_raises_the_files_that_it_names_and_what_they_use(tree):
    tree.write(
        helper="def helping_hand(): ...",
        corner="from helper import helping_hand\n\nhelping_hand()\n\ndef my_corner(): ...",
    )
    tree.index()
    assert files(drawn(tree))[0] == "money.py"
    assert set(files(drawn(tree, focus=["corner.py"]))[:2]) == {"helper.py", "corner.py"}
    assert files(drawn(tree, focus=["helping_hand"]))[0] == "helper.py"


def test_an_unknown_focus_is_told(tree):
    made = drawn(tree, focus=["nowhere.py", "money.py"])
    assert [(warning.code, "nowhere.py" in warning.message) for warning in made.warnings] == [("focus_unknown", True)]


def test_a_name_that_many_define_counts_for_none_of_them(store, tmp_path):
    tree = a_tree(store, tmp_path)
    for n in range(8):
        tree.write(**{f"kind{n}": f"class Kind{n}:\n    def run_it(self): ..."})
        tree.write(
            **{f"user{n}": f"from rare import rare_thing\n\ndef use{n}(thing):\n    thing.run_it()\n    rare_thing()"}
        )
    tree.write(rare="def rare_thing(): ...")
    tree.index()
    assert files(drawn(tree))[0] == "rare.py"


def test_what_tests_and_examples_define_comes_after_the_product(store, tmp_path):
    tree = a_tree(store, tmp_path).write(till="def ring_up(): ...", shop="from till import ring_up\n\nring_up()")
    tree.write(tests__support="def make_shop(): ...", examples__support="def show_shop(): ...")
    for n in range(9):
        tree.write(**{f"tests__test_{n}": "from support import make_shop\n\ndef test_it():\n    make_shop()"})
        tree.write(**{f"examples__show_{n}": "from support import show_shop\n\nshow_shop()"})
    tree.index()
    assert files(drawn(tree))[0] == "till.py"


def test_the_product_never_uses_what_its_tests_define(store, tmp_path):
    tree = a_tree(store, tmp_path).write(tests__making="def join_up(): ...", other="def never_called(): ...")
    for n in range(9):
        tree.write(**{f"part{n}": "import elsewhere\n\nelsewhere.join_up()"})
    tree.index()
    assert files(drawn(tree)) == ["other.py", "tests/making.py"]


def test_a_word_that_is_also_a_builtin_means_the_symbol_only_where_its_module_is_named(store, tmp_path):
    tree = a_tree(store, tmp_path).write(lists="def join(first, second): ...", money="def digest(coins): ...")
    for n in range(3):
        tree.write(**{f"purse{n}": "from money import digest\n\ndigest([])"})
    for n in range(30):
        tree.write(**{f"text{n}": "print(', '.join('ab'))"})
    tree.index()
    assert files(drawn(tree)) == ["money.py", "lists.py"]


def test_of_several_with_one_name_the_one_is_meant_whose_module_is_named(store, tmp_path):
    tree = a_tree(store, tmp_path).write(alpha="class Basket: ...", omega="class Basket: ...")
    tree.write(**{f"user{n}": "from omega import Basket\n\nBasket()" for n in range(3)})
    tree.index()
    assert files(drawn(tree)) == ["omega.py", "alpha.py"]


def test_a_file_that_uses_next_to_nothing_has_next_to_no_say(store, tmp_path):
    tree = a_tree(store, tmp_path).write(
        alone="def _own_thing(): ...\n\n_own_thing()",
        shared="def shared_thing(): ...",
        user="from shared import shared_thing\n\nshared_thing()",
    )
    tree.index()
    assert files(drawn(tree))[0] == "shared.py"


def test_several_projects_are_told_apart(tree):
    tree.beside("bank").write(accounts="class AccountBook: ...").index()
    assert {"bank: accounts.py", "shop: money.py"} <= set(files(drawn(tree)))
    assert files(code_map(tree.parts, "bank", tree.caller)) == ["accounts.py"]


def test_prose_and_loose_lines_are_no_symbols(store, tmp_path):
    tree = a_tree(store, tmp_path).write(**{"README.md": "# Shop\n\nSells things.", "setup": "print('hello')"})
    tree.index()
    made = drawn(tree)
    assert (made.text, made.symbols, made.total_symbols) == ("", 0, 0)


@pytest.mark.parametrize("budget", [0, 99, 100_001])
def test_a_budget_out_of_range_is_refused(tree, budget):
    with pytest.raises(InvalidInput, match="budget: must be from 100 to 100,000 tokens"):
        drawn(tree, budget=budget)


def test_without_an_index_the_error_says_what_to_call(tree):
    with pytest.raises(Refused, match="call index_project"):
        code_map(tree.parts, None, Caller("eve"))
