"""Ignore rules: git itself is the judge."""

import os
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retain.engine.code.reading.ignore import Lookup, Rules, around

PATHS = """
    a.log b.log keep.log README.md build/out.o build/keep/x.txt src/a.py src/build/b.py src/a.log src/deep/er/x.txt
    src/deep/x.txt doc/x.txt doc/sub/x.txt bar/foo foo.d/x abc/x abc/d/e/x x/abc/y a/b a/x/b a/x/y/b a1 a9 ab a]b a-b
    a^b a!b [x] #hash !bang t\\est tail  café.txt CAFE.txt .hidden/x .env nested/.x/y nested/keep.log nested/sub/a.log
    star*name q?name foo/bar/baz.c lib/foo/bar/baz.c aXb aaab vendor/x/y.go
"""
# Each is the whole of one .gitignore file at the root.
FILES = [
    "*.log",
    "*.log\n!keep.log",
    "!keep.log\n*.log",
    "/a.log",
    "src/*.log",
    "build",
    "build/",
    "/build/",
    "foo",
    "foo/",
    "/foo",
    "bar/foo",
    "doc/*.txt",
    "doc/**",
    "doc/**/x.txt",
    "**/x.txt",
    "**/deep/x.txt",
    "**/build",
    "abc/**",
    "a/**/b",
    "a/**b",
    "a**b",
    "a/***/b",
    "**",
    "/**",
    "*",
    "*\n!src/\n!src/**",
    "/*\n!/src\n/src/*\n!/src/deep",
    "build/\n!build/keep/x.txt",
    "a[0-9]",
    "a[!0-9]",
    "a[^0-9]",
    "a[]]b",
    "a[]-]b",
    "a[a-zA-Z]b",
    "a[[:digit:]]",
    "a[[:alpha:][:digit:]]",
    "a[[:nonsense:]]",
    "a[",
    "a[a/]b",
    "a?b",
    "a?/x",
    "\\#hash",
    "#hash",
    "\\!bang",
    "!bang",
    "\\[x\\]",
    "t\\\\est",
    "t\\est",
    "star\\*name",
    "q[?]name",
    "tail\\ ",
    "tail ",
    "tail",
    "a.log   ",
    "a.log\t",
    "a.log\r\nb.log\r",
    "\ufeffa.log",
    "foo\\",
    "caf?.txt",
    "caf??.txt",
    "café.txt",
    "CAF*",
    ".*",
    "foo/*/baz.c",
    "foo/**/baz.c",
    "*/foo",
    "/*/foo",
    "foo//",
    "/",
    "//foo",
    " ",
    "!",
    "*a*b",
    "*.*",
    "sr[b-t]",
    "nested/*\n!nested/keep.log",
    "**/sub/**",
    "lib/foo/bar/",
    "deep/er",
    "src/**/er/",
]


def git(folder, *arguments, **options):
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "LC_ALL": "C.UTF-8"}
    return subprocess.run(["git", *arguments], cwd=folder, env=env, capture_output=True, check=False, **options)


def planted(root, paths):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")


def everything(root):
    """All files and folders of a tree, as paths from its root."""
    found = [path for path in root.rglob("*") if ".git" not in path.relative_to(root).parts]
    return sorted(path.relative_to(root).as_posix() for path in found)


def ignored_by_git(root, paths):
    asked = "\0".join(paths).encode()
    told = git(root, "check-ignore", "--no-index", "-z", "--stdin", input=asked)
    assert told.returncode in (0, 1), told.stderr
    return sorted(path for path in told.stdout.decode().split("\0") if path)


def ignored_by_us(root, paths):
    lookup = Lookup(root)
    return sorted(path for path in paths if lookup.ignored(path, is_folder=(root / path).is_dir()))


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("tree")
    assert git(root, "init").returncode == 0
    planted(root, [*PATHS.split(), "tail "])
    return root


@pytest.mark.parametrize("text", FILES)
def test_a_gitignore_means_what_it_means_to_git(tree, text):
    (tree / ".gitignore").write_bytes(text.encode())
    paths = everything(tree)
    assert ignored_by_us(tree, paths) == ignored_by_git(tree, paths)


GLOBS = st.text(alphabet=st.sampled_from(list("ab./*?[]!^-\\ #1x")), min_size=1, max_size=9)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(GLOBS, min_size=1, max_size=4))
def test_any_lines_mean_what_they_mean_to_git(tree, lines):
    (tree / ".gitignore").write_text("\n".join(lines))
    paths = everything(tree)
    assert ignored_by_us(tree, paths) == ignored_by_git(tree, paths)


def test_nested_files_count_first_and_for_their_folder_only(tmp_path):
    git(tmp_path, "init")
    planted(tmp_path, ["x.log", "a/x.log", "a/b/x.log", "a/b/y.txt", "c/y.txt", "a/out/z"])
    (tmp_path / ".gitignore").write_text("*.log\nout\n")
    (tmp_path / "a" / ".gitignore").write_text("!x.log\n/b/y.txt\n!out/\n")
    (tmp_path / "a" / "b" / ".gitignore").write_text("x.log\n!y.txt")
    (tmp_path / ".git" / "info" / "exclude").write_text("c\n!x.log\n")
    paths = everything(tmp_path)
    assert ignored_by_us(tmp_path, paths) == ignored_by_git(tmp_path, paths)
    assert ignored_by_us(tmp_path, paths) == ["a/b/x.log", "c", "c/y.txt", "x.log"]


def test_what_stands_above_a_folder_of_a_repository_holds_in_it(tmp_path):
    git(tmp_path, "init")
    planted(tmp_path, ["pkg/one/x.log", "pkg/one/deep/y.tmp", "pkg/one/z.py", "pkg/one/only.here"])
    (tmp_path / ".gitignore").write_text("*.log\n/pkg/one/only.here\n")
    (tmp_path / "pkg" / ".gitignore").write_text("one/**/y.tmp\n")
    (tmp_path / ".git" / "info" / "exclude").write_text("pkg/*/z.py\n")
    root = tmp_path / "pkg" / "one"
    files = ["deep/y.tmp", "only.here", "x.log", "z.py"]
    assert ignored_by_us(root, files) == ignored_by_git(root, files) == files


def test_a_worktree_shares_the_excludes_of_its_repository(tmp_path):
    main, tree = tmp_path / "main", tmp_path / "tree"
    main.mkdir()
    git(main, "init")
    name = ("-c", "user.name=t", "-c", "user.email=t@t")
    git(main, *name, "commit", "--allow-empty", "-m", "x")
    assert git(main, "worktree", "add", str(tree)).returncode == 0
    (main / ".git" / "info" / "exclude").write_text("secret.txt\n")
    planted(tree, ["secret.txt", "open.txt"])
    assert ignored_by_us(tree, ["open.txt", "secret.txt"]) == ["secret.txt"]


def test_memoryignore_has_the_last_word(tmp_path):
    git(tmp_path, "init")
    planted(tmp_path, ["gen/a.py", "docs/b.md", "docs/deep/c.md", "keep.log"])
    (tmp_path / ".gitignore").write_text("gen/\n*.log\n")
    (tmp_path / "docs" / ".gitignore").write_text("!c.md\n")
    (tmp_path / ".memoryignore").write_text("!gen/\ndocs/**/*.md\n!keep.log\n")
    assert ignored_by_us(tmp_path, everything(tmp_path)) == ["docs/b.md", "docs/deep/c.md"]


def test_a_folder_without_a_repository_obeys_its_files_too(tmp_path):
    planted(tmp_path, ["x.log", "x.py"])
    (tmp_path / ".gitignore").write_text("*.log")
    assert around(tmp_path).git == ()
    assert ignored_by_us(tmp_path, ["x.log", "x.py"]) == ["x.log"]


def test_a_pattern_of_many_stars_is_answered_at_once():
    rules = Rules(b"*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\n")
    assert rules.verdict("a" * 200, "a" * 200, is_folder=False) is None
    assert rules.verdict("a" * 200 + "b", "a" * 200 + "b", is_folder=False) is True


def test_an_unreadable_ignore_file_says_nothing(tmp_path):
    (tmp_path / ".gitignore").mkdir()
    planted(tmp_path, ["x.py"])
    assert ignored_by_us(tmp_path, ["x.py"]) == []
