"""Code without the packages that read it."""

import subprocess
import sys
from pathlib import Path

import pytest

from retain.engine.code.parsing.parse import missing_grammar

_BLOCKED = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == sys.argv[1]:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Absent())
from retain.engine.code.parsing.parse import missing_grammar, parse

parsed = parse("a.py", "import os\\n\\n\\ndef f():\\n    return os\\n")
print(parsed.language, *((chunk.kind.value, chunk.name, chunk.start_line, chunk.end_line) for chunk in parsed.chunks))
print(len(parsed.references), missing_grammar("python"), missing_grammar("go"), missing_grammar("toml"))
print(parse("a.md", "# A").chunks[0].name)
"""


def without(package):
    source = str(Path(__file__).parents[3] / "src")
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r})\n{_BLOCKED}", package]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_without_tree_sitter_code_is_cut_by_paragraphs_and_says_so():
    assert without("tree_sitter") == [
        "python ('text', 'a.py', 1, 5)",
        "0 True True False",
        "A",
    ]


def test_one_missing_grammar_leaves_the_others():
    assert without("tree_sitter_python") == ["python ('text', 'a.py', 1, 5)", "0 True False False", "A"]


@pytest.mark.parametrize("language", ["python", "typescript", "markdown", "toml", "text", "unheard of"])
def test_nothing_is_missing_where_all_is_installed_or_nothing_is_needed(language):
    assert not missing_grammar(language)


def test_reading_the_module_does_not_load_tree_sitter():
    code = (
        "import sys, retain.engine.code.parsing.parse; print([name for name in sys.modules if 'tree_sitter' in name])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
