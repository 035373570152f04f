"""Marks of code files: a file that says what it said only gets a new one."""

from making import a_code_file, a_code_index, at
from retain.domain.code import Mark


def test_a_new_mark_changes_nothing_else_and_unknown_paths_are_passed_over(store):
    index = a_code_index()
    assert store.claim_index(index, at(-60))
    store.save_code(index.key, [a_code_file("a.py"), a_code_file("b.py")], (), ())
    before, chunks = store.marks(index.key), store.symbols(index.key)
    new = Mark(before["a.py"].digest, 7, 12345)
    store.mark_code(index.key, {"a.py": new, "gone.py": new})
    assert store.marks(index.key) == {"a.py": new, "b.py": before["b.py"]}
    assert [stored.id for stored in store.symbols(index.key)] == [stored.id for stored in chunks]
