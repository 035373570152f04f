"""Which language a file is in."""

import pytest

from retain.engine.code.parsing.languages import LANGUAGES, language_of


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"),
        ("a.pyi", "python"),
        ("View.jsx", "javascript"),
        ("a.mts", "typescript"),
        ("View.tsx", "typescript"),
        ("a.h", "c"),
        ("a.hpp", "cpp"),
        ("A.CS", "csharp"),
        ("Rakefile", "ruby"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"),
        ("deploy/Makefile", "makefile"),
        ("CMakeLists.txt", "cmake"),
        ("README.md", "markdown"),
        ("pyproject.toml", "toml"),
        (".bashrc", "bash"),
        ("notes", "text"),
        ("a.unknown", "text"),
        ("", "text"),
    ],
)
def test_the_name_of_a_file_says_its_language(path, language):
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("first_line", "language"),
    [
        ("#!/bin/sh", "bash"),
        ("#!/usr/bin/env python3.12", "python"),
        ("#! /usr/bin/env -S node --harmony", "javascript"),
        ("#!/usr/local/bin/ruby2.7", "ruby"),
        ("#!/usr/bin/unheard-of", "text"),
        ("# no such line", "text"),
    ],
)
def test_a_file_without_extension_may_say_it_in_its_first_line(first_line, language):
    assert language_of("bin/tool", first_line) == language


def test_an_extension_is_stronger_than_the_first_line():
    assert language_of("a.rb", "#!/bin/sh") == "ruby"


def test_no_file_belongs_to_two_languages():
    names = [name for language in LANGUAGES for name in language.files.split()]
    assert len(names) == len(set(names))
