"""Definitions and references of symbols in files on disk."""

from pathlib import Path

import pytest

from engine.code.trees import Tree, a_tree
from retain.domain.session import Caller
from retain.engine.code.finding.symbols import definitions, references
from retain.errors import InvalidInput, NotFound, Refused
from retain.ports import Store

STORES = """
    class Store:
        def apply(self, changes):
            return self.check(changes)

        def check(self, changes):
            return bool(changes)


    class Cart:
        def apply(self, voucher):
            return voucher
"""
SHOP = """
    from stores import Cart, Store

    store = Store()


    def sell(goods):
        cart = Cart()
        cart.apply(goods)
        return store.apply([goods, goods])
"""


@pytest.fixture
def tree(store: Store, tmp_path: Path) -> Tree:
    made = a_tree(store, tmp_path).write(stores=STORES, web__shop=SHOP)
    made.index()
    return made


def defined(tree: Tree, name: str, **fields) -> list[str]:
    found = definitions(tree.parts, name, None, tree.caller, **fields).found
    return [f"{one.stored.path}:{one.stored.chunk.start_line} {one.stored.chunk.qualified}" for one in found]


def used(tree: Tree, name: str, **fields) -> list[str]:
    files = references(tree.parts, name, None, tree.caller, **fields).files
    return [f"{file.path}:{use.line} {use.text}" for file in files for use in file.uses]


def codes(answer) -> list[str]:
    return [warning.code for warning in answer.warnings]


def test_an_ambiguous_name_lists_all_definitions(tree):
    assert defined(tree, "apply") == ["stores.py:2 Store.apply", "stores.py:10 Cart.apply"]


def test_a_qualified_name_has_one_definition(tree):
    assert defined(tree, "Store.apply") == ["stores.py:2 Store.apply"]
    assert defined(tree, "Cart::apply") == ["stores.py:10 Cart.apply"]


def test_a_name_is_found_in_another_spelling_when_nothing_has_it_as_written(tree):
    tree.write(more="def parse_moment(): ...\n\ndef store(): ...").index()
    assert defined(tree, "parseMoment") == ["more.py:1 parse_moment"]
    assert defined(tree, "store") == ["more.py:3 store"]
    assert defined(tree, "STORE") == ["more.py:3 store", "stores.py:1 Store"]


def test_more_definitions_than_asked_for_are_counted(tree):
    answer = definitions(tree.parts, "apply", None, tree.caller, limit=1)
    assert (len(answer.found), answer.total) == (1, 2)


def test_references_show_the_lines_by_file_and_what_is_around_them(tree):
    answer = references(tree.parts, "Store", None, tree.caller)
    assert [(file.project, file.path) for file in answer.files] == [("shop", "web/shop.py")]
    assert [(use.line, use.text) for use in answer.files[0].uses] == [
        (1, "from stores import Cart, Store"),
        (3, "store = Store()"),
    ]
    assert answer.count == 2 and [one.stored.chunk.name for one in answer.definitions] == ["Store"]


def test_a_use_names_the_symbol_around_it(tree):
    use = references(tree.parts, "Cart", None, tree.caller).files[0].uses[-1]
    assert (use.line, use.within, use.text) == (7, "sell", "cart = Cart()")


def test_lines_that_define_a_name_are_no_references(tree):
    assert used(tree, "apply") == [
        "web/shop.py:8 cart.apply(goods)",
        "web/shop.py:9 return store.apply([goods, goods])",
    ]


def test_references_of_an_ambiguous_name_say_that_they_may_mean_another(tree):
    assert codes(references(tree.parts, "Store.apply", None, tree.caller)) == ["several_definitions"]
    assert not codes(references(tree.parts, "sell", None, tree.caller))


def test_what_is_used_and_defined_elsewhere_has_references(tree):
    tree.write(more="from json import dumps\n\nprint(dumps({}))").index()
    assert used(tree, "dumps") == ["more.py:1 from json import dumps", "more.py:3 print(dumps({}))"]


def test_what_nobody_uses_has_a_definition_and_no_references(tree):
    answer = references(tree.parts, "sell", None, tree.caller)
    assert len(answer.definitions) == 1 and not answer.files and not answer.more


def test_references_beyond_the_limit_are_announced(tree):
    answer = references(tree.parts, "apply", None, tree.caller, limit=1)
    assert (answer.count, answer.more) == (1, True)
    assert not references(tree.parts, "apply", None, tree.caller, limit=2).more


def test_a_changed_file_shows_no_lines_and_a_warning(tree):
    (tree.root / "web/shop.py").write_text("\n\n\nfrom stores import Store\n")
    answer = references(tree.parts, "Store", None, tree.caller)
    assert {use.text for use in answer.files[0].uses} == {None}
    assert codes(answer) == ["stale_files"] and "web/shop.py" in answer.warnings[0].message


def test_a_definition_in_a_changed_file_is_marked(tree):
    (tree.root / "stores.py").write_text("# empty\n")
    answer = definitions(tree.parts, "Store", None, tree.caller)
    assert answer.found[0].changed and codes(answer) == ["stale_files"]


@pytest.mark.parametrize("look", [definitions, references])
def test_an_unknown_name_is_an_error_with_close_names(tree, look):
    with pytest.raises(NotFound, match="nothing is called Stor in shop; close names: Store"):
        look(tree.parts, "Stor", None, tree.caller)


@pytest.mark.parametrize("look", [definitions, references])
def test_what_is_no_name_is_refused(tree, look):
    for name in ("", "  ", "__", "x" * 501, "a\0b"):
        with pytest.raises(InvalidInput, match="query: "):
            look(tree.parts, name, None, tree.caller)
    with pytest.raises(InvalidInput, match="limit: must be at least 1"):
        look(tree.parts, "Store", None, tree.caller, 0)


@pytest.mark.parametrize("look", [definitions, references])
def test_without_an_index_the_error_says_what_to_call(tree, look):
    with pytest.raises(Refused, match="call index_project"):
        look(tree.parts, "Store", None, Caller("eve"))


def test_symbols_are_looked_up_in_the_named_project_only(tree):
    other = tree.beside("bank").write(stores="class Store: ...")
    other.index()
    assert len(defined(tree, "Store")) == 2
    only = definitions(tree.parts, "Store", "bank", tree.caller)
    assert [(one.project, one.stored.path) for one in only.found] == [("bank", "stores.py")]


def test_references_show_no_secret(tree):
    tree.write(keys='def sign():\n    return connect(API_KEY, password="Hunter2-x9!k-Zebra")\n')
    tree.index()
    (line,) = [use.text for file in references(tree.parts, "connect", None, tree.caller).files for use in file.uses]
    assert "Hunter2" not in line and "connect(API_KEY" in line
