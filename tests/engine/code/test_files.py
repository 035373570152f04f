"""Which files of a folder are worth indexing, and what they say."""

import os
import threading

import pytest

from retain.engine.code.reading.files import MAX_BYTES, Skipped, Text, decoded, read, walk


def write(root, path, content="x = 1\n"):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def walked(root):
    """The paths that a walk finds, and what it left out and why."""
    skipped = Skipped()
    return [seen.path for seen in walk(root, skipped)], dict(skipped)


def test_files_come_in_a_fixed_order_with_their_size_and_time(tmp_path):
    for path in ("b.py", "a.py", "z/b.py", "z/a.py", "c/d/e.py", "c.py"):
        write(tmp_path, path)
    assert walked(tmp_path)[0] == ["a.py", "b.py", "c.py", "c/d/e.py", "z/a.py", "z/b.py"]
    first = next(walk(tmp_path, Skipped()))
    assert (first.size, first.modified) == (6, (tmp_path / "a.py").stat().st_mtime_ns)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("node_modules/x/index.js", "vendored"),
        ("vendor/lib.go", "vendored"),
        ("third_party/lib.c", "vendored"),
        ("lib/python3.11/site-packages/x.py", "vendored"),
        ("venv/x.py", "vendored"),
        ("dist/x.py", "vendored"),
        ("build/x.py", "vendored"),
        ("target/x.rs", "vendored"),
        ("__pycache__/x.py", "vendored"),
        ("pkg.egg-info/PKG-INFO", "vendored"),
        (".idea/x.xml", "hidden"),
        ("package-lock.json", "lock_file"),
        ("Cargo.lock", "lock_file"),
        ("logo.PNG", "binary"),
        ("table.csv", "data"),
        ("app.min.js", "minified"),
        ("app.js.map", "generated"),
        ("schema_pb2.py", "generated"),
        (".env", "secret"),
        (".env.local", "secret"),
        ("server.pem", "secret"),
        ("id_rsa", "secret"),
        ("tls.key", "secret"),
    ],
)
def test_a_name_can_be_reason_enough(tmp_path, path, reason):
    write(tmp_path, path)
    assert walked(tmp_path) == ([], {reason: 1})


@pytest.mark.parametrize(
    "path", [".github/workflows/ci.yml", ".env.example", "environment.py", "keyboard.py", "key.py"]
)
def test_names_that_only_look_like_it_are_kept(tmp_path, path):
    write(tmp_path, path)
    assert walked(tmp_path) == ([path], {})


def test_the_history_of_a_repository_is_left_out_without_a_word(tmp_path):
    write(tmp_path, ".git/config")
    write(tmp_path, "submodule/.git")
    assert walked(tmp_path) == ([], {})


def test_in_a_repository_its_gitignore_tells_what_is_built(tmp_path):
    (tmp_path / ".git").mkdir()
    write(tmp_path, "build/script.py")
    assert walked(tmp_path)[0] == ["build/script.py"]


def test_an_ignore_file_can_bring_a_vendored_folder_back_but_no_secret(tmp_path):
    write(tmp_path, "vendor/patched.go")
    write(tmp_path, "vendor/.env")
    write(tmp_path, "node_modules/x.js")
    write(tmp_path, ".memoryignore", "!vendor/\n!.env\n!node_modules\n")
    assert walked(tmp_path) == ([".memoryignore", "vendor/patched.go"], {"vendored": 1, "secret": 1})


def test_nested_ignore_files_are_obeyed(tmp_path):
    write(tmp_path, ".gitignore", "*.gen\n/out/\n")
    write(tmp_path, "a/.gitignore", "!keep.gen\nlocal/\n")
    for path in ("x.gen", "out/x.py", "a/keep.gen", "a/x.gen", "a/local/x.py", "local/x.py"):
        write(tmp_path, path)
    found, skipped = walked(tmp_path)
    assert found == [".gitignore", "a/.gitignore", "a/keep.gen", "local/x.py"]
    assert skipped == {"ignored": 4}


def test_a_virtual_environment_is_known_by_what_is_in_it(tmp_path):
    write(tmp_path, "my-env/pyvenv.cfg")
    write(tmp_path, "my-env/lib/x.py")
    assert walked(tmp_path) == ([], {"vendored": 1})


def test_links_are_not_followed_so_that_a_loop_ends_and_nothing_outside_is_read(tmp_path):
    root = tmp_path / "root"
    write(root, "a/x.py")
    write(tmp_path, "outside/y.py")
    (root / "a" / "loop").symlink_to(root)
    (root / "away").symlink_to(tmp_path / "outside")
    (root / "y.py").symlink_to(tmp_path / "outside" / "y.py")
    (root / "again.py").symlink_to(root / "a" / "x.py")
    (root / "broken.py").symlink_to(root / "nowhere")
    assert walked(root) == (["a/x.py"], {"link": 5})


def test_a_file_that_became_a_link_is_not_read(tmp_path):
    write(tmp_path, "outside", "secret")
    (tmp_path / "x.py").symlink_to(tmp_path / "outside")
    assert read(tmp_path, "x.py") == "unreadable"


def test_what_is_no_file_is_left_out_without_waiting_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    assert walked(tmp_path) == ([], {"unreadable": 1})
    assert read(tmp_path, "pipe.py") == "unreadable"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is readable to root")
def test_what_may_not_be_read_is_counted(tmp_path):
    write(tmp_path, "closed/x.py").parent.chmod(0)
    assert walked(tmp_path) == ([], {"unreadable": 1})
    (tmp_path / "closed").chmod(0o700)


def test_a_folder_that_vanishes_during_the_walk_is_counted(tmp_path):
    write(tmp_path, "a.py")
    write(tmp_path, "gone/b.py")
    skipped = Skipped()
    found = walk(tmp_path, skipped)
    next(found)
    (tmp_path / "gone" / "b.py").unlink()
    (tmp_path / "gone").rmdir()
    assert (list(found), skipped) == ([], {"vanished": 1})


def test_a_name_that_is_no_text_is_left_out(tmp_path):
    with open(os.fsencode(tmp_path) + b"/caf\xe9.py", "w"):  # noqa: PTH123 (pathlib takes no bytes)
        pass
    write(tmp_path, "café.py")
    assert walked(tmp_path) == (["café.py"], {"unreadable": 1})


def test_large_files_are_not_even_opened(tmp_path):
    write(tmp_path, "big.py", b"x" * (MAX_BYTES + 1))
    write(tmp_path, "rows.json", b"[" + b"1,\n" * 60_000 + b"1]")
    write(tmp_path, "small.json", "{}")
    assert walked(tmp_path) == (["small.json"], {"too_large": 1, "data": 1})


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("x.py", b"abc\0def", "binary"),
        ("x.py", bytes(range(1, 32)) * 20, "binary"),
        ("x.py", b"x = 1\n" * 4000 + b"\0", "binary"),
        ("x.go", b"// Code generated by mockgen. DO NOT EDIT.\npackage x\n", "generated"),
        ("x.py", b"# @generated by a tool\nx = 1\n", "generated"),
        ("x.js", b"var a=1;" * 500, "minified"),
        ("x.py", b"x" * (MAX_BYTES + 1), "too_large"),
    ],
)
def test_what_a_file_holds_can_be_the_reason(tmp_path, path, content, reason):
    write(tmp_path, path, content)
    assert read(tmp_path, path) == reason


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("x.py", b'HEADER = "# Generated by us. DO NOT EDIT"\n'),
        ("x.py", b"\n" * 30 + b"# this one is generated by hand, DO NOT EDIT\n"),
        ("x.md", b"A paragraph on one line. " * 200),
        ("x.py", b""),
    ],
)
def test_what_only_speaks_of_it_is_read(tmp_path, path, content):
    write(tmp_path, path, content)
    assert isinstance(read(tmp_path, path), Text)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("naïve".encode(), "naïve"),
        (b"\xef\xbb\xbfx = 1", "x = 1"),
        ("naïve".encode("utf-16"), "naïve"),
        ("naïve".encode("utf-16-be").join([b"\xfe\xff", b""]), "naïve"),
        ("naïve".encode("utf-32"), "naïve"),
        ("# -*- coding: koi8-r -*-\n# привет".encode("koi8-r"), "# -*- coding: koi8-r -*-\n# привет"),
        (
            "/* vim: set fileencoding=shift_jis : */ 日本".encode("shift_jis"),
            "/* vim: set fileencoding=shift_jis : */ 日本",
        ),
        ("na\xefve – “so”".encode("cp1252"), "naïve – “so”"),
        (b"\x81\xff", "\x81ÿ"),
        (b"# coding: nonsense\n\xe9", "# coding: nonsense\né"),
        (b"# coding: rot13\n\xe9", "# coding: rot13\né"),
        (b"# coding: utf-7\n\xe9", "# coding: utf-7\né"),
        (b"a\r\nb\rc\n", "a\nb\nc\n"),
        (b"\xff\xfe\x00\xd8", "\ufffd"),
    ],
)
def test_every_encoding_becomes_text(data, text):
    assert decoded(data) == text


def test_a_file_is_read_with_its_mark(tmp_path):
    file = write(tmp_path, "x.py", "é = 1\n")
    first = read(tmp_path, "x.py")
    assert (first.text, first.mark.size, first.mark.modified) == ("é = 1\n", 7, file.stat().st_mtime_ns)
    os.utime(file, ns=(0, 5))
    again = read(tmp_path, "x.py")
    assert (again.mark.digest, again.mark.modified) == (first.mark.digest, 5)
    file.write_text("é = 2\n")
    assert read(tmp_path, "x.py").mark.digest != first.mark.digest


def test_a_file_that_vanished_is_told_as_such(tmp_path):
    assert read(tmp_path, "gone.py") == "vanished"


def test_a_file_that_grows_while_it_is_read_is_never_half_read(tmp_path):
    """However the two meet, the answer is a whole version or the word that it was changing."""
    file = write(tmp_path, "x.py", "")
    stop = threading.Event()

    def grow():
        while not stop.is_set():
            with file.open("ab") as end:
                end.write(b"x = 1\n" * 2000)
            if file.stat().st_size > 500_000:
                file.write_bytes(b"")

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        answers = [read(tmp_path, "x.py") for _ in range(300)]
    finally:
        stop.set()
        writer.join()
    texts = [answer for answer in answers if isinstance(answer, Text)]
    assert all(len(one.text) == one.mark.size for one in texts)
    assert {answer for answer in answers if isinstance(answer, str)} <= {"changing"}


def test_a_walk_that_finds_nothing_can_be_ended_too(tmp_path):
    for name in "abc":
        write(tmp_path, f"{name}/.gitignore", "*")
    beats = []
    assert list(walk(tmp_path, Skipped(), lambda: beats.append(1))) == []
    assert len(beats) == 4
