"""Ignore rules: git itself is the judge."""

import os
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retain.engine.code.reading.ignore import LARGEST, LONGEST, WILDCARDS, Lookup, Rules, TooMuch, around

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
    "**/**/x.txt",
    "**/deep/**/x.txt",
    "**/src/**/x.txt",
    "**\\/x.txt",
    "src/**\\/x.txt",
    "a/**\\/**/b",
    "**/x/**/*b",
    "**/*/**/b",
    "[!-\xff]b",
    "b**/**",
    "sr**/x.txt",
    "?r**/x.txt",
    "d**\\/x.txt",
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


STEPS = st.sampled_from(["**/", r"**\/", "*/", "a/", "src/", "x/", "*", "a*", "**", "x.txt", "b", "?/", "[a-x]/"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(STEPS, min_size=1, max_size=6).map("".join), min_size=1, max_size=2))
def test_any_steps_mean_what_they_mean_to_git(tree, lines):
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


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (b"**/" * 20 + b"x", "d/" * 20 + "y"),
        (b"**/d/" * 12 + b"x", "d/" * 30 + "y"),
        (b"**/" * 330 + b"x", "d/" * 2000 + "y"),
        (b"**\\/" * 200 + b"x", "d/" * 2000 + "y"),
        (b"**/*d*/" * 140 + b"x", "ddd/" * 1000 + "y"),
        (b"**/" + b"d/" * 490 + b"x", "d/" * 2000 + "y"),
    ],
)
def test_a_pattern_of_many_folders_is_answered_at_once(pattern, path):
    rules = Rules(pattern)
    assert rules.verdict(path, "y", is_folder=False) is None
    assert rules.verdict(path[:-1] + "x", "x", is_folder=False) is True


def test_a_long_list_of_names_is_no_burden():
    rules = Rules(b"\n".join(b"some/file/name%d" % number for number in range(40_000)))
    assert rules.verdict("some/file/name39999", "name39999", is_folder=False) is True
    assert rules.verdict("some/file/name40000", "name40000", is_folder=False) is None


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\n".join(b"a*" * 40 + b"%d" % number for number in range(20_000)), f"is larger than {LARGEST:,} bytes"),
        (b"a" * (LONGEST + 1), f"has a pattern of more than {LONGEST:,} bytes"),
        (b"a*b\n" * (WILDCARDS // 3 + 1), f"has more than {WILDCARDS:,} bytes of patterns with wildcards"),
    ],
)
def test_an_ignore_file_has_bounds(tmp_path, data, why):
    with pytest.raises(TooMuch, match=why):
        Rules(data)
    planted(tmp_path, ["x.py", "in/y.py", "in/deep/z.py"])
    (tmp_path / "in" / ".memoryignore").write_bytes(data)
    # What it wants left out is unknown, so all of its folder is.
    assert ignored_by_us(tmp_path, ["in/deep/z.py", "in/y.py", "x.py"]) == ["in/deep/z.py", "in/y.py"]


def test_excludes_over_the_bounds_leave_out_the_whole_checkout(tmp_path):
    git(tmp_path, "init")
    planted(tmp_path, ["pkg/x.py"])
    (tmp_path / ".git" / "info" / "exclude").write_bytes(b"a" * (LONGEST + 1))
    assert around(tmp_path / "pkg").refused.startswith(f"{tmp_path}/.git/info/exclude has a pattern of")
    assert ignored_by_us(tmp_path / "pkg", ["x.py"]) == ["x.py"]


def test_an_ignore_file_is_not_read_through_a_link(tmp_path):
    git(tmp_path, "init")
    planted(tmp_path, ["x.py"])
    (tmp_path / "elsewhere").write_text("*.py")
    (tmp_path / ".gitignore").symlink_to("elsewhere")
    assert ignored_by_us(tmp_path, ["x.py"]) == ignored_by_git(tmp_path, ["x.py"]) == []


def test_an_ignore_file_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / ".gitignore")
    planted(tmp_path, ["x.py"])
    assert ignored_by_us(tmp_path, ["x.py"]) == []


def test_an_unreadable_ignore_file_says_nothing(tmp_path):
    (tmp_path / ".gitignore").mkdir()
    planted(tmp_path, ["x.py"])
    assert ignored_by_us(tmp_path, ["x.py"]) == []
