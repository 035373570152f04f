"""Commands about code on a terminal: progress, interrupts, eighty columns, and text that would take it over."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess

import pytest
from rich.text import Text

from embedding_server import EmbeddingServer
from indexing import FORMAT, PARSE, a_tree, write
from surfaces.waiting import until

FILES, FUNCTIONS = 20, 25
PACE = re.compile(r"shop  indexing · .*\n.*\n  [\d.]+ %, about \d+ s to go · 0 of 505 chunks embedded\n")
TERMINAL = {"FORCE_COLOR": "1", "COLUMNS": "80"}


def shown(ended):
    """What a terminal shows, line by line."""
    return Text.from_ansi(ended.out).plain.splitlines()


def test_a_progress_bar_is_for_a_terminal_only(retain):
    assert "indexing shop" in retain("index", **TERMINAL).err
    assert "indexing" not in retain("index").err
    assert retain("index", "--json", **TERMINAL).err == ""


def test_a_progress_bar_is_drawn_on_a_real_terminal(retain):
    ours, theirs = pty.openpty()
    running = retain.spawn("index", pipes={"stderr": theirs})
    os.close(theirs)
    drawn = b""
    with contextlib.suppress(OSError):  # how a terminal ends on Linux
        while chunk := os.read(ours, 65536):
            drawn += chunk
    os.close(ours)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    assert b"indexing shop" in drawn
    assert out.startswith("indexed shop") and "\x1b" not in out


# Interrupts


def interruptible(retain, *words, **options):
    """A command in a group of its own: an interrupt meets all of its processes, as from a keyboard."""

    def ready():
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a runner in the background ignores it, and children inherit that

    return retain.spawn(*words, preexec_fn=ready, **options)


def interrupted(running):
    """As a person would, again if nothing happens: Python misses a signal between two reads."""
    for _ in range(10):
        os.killpg(running.pid, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return running.wait(2)  # what is interrupted takes twice as long
    raise AssertionError("it went on regardless")


def test_an_interrupted_index_goes_on_where_it_was(retain):
    a_tree(retain.project, FILES, FUNCTIONS)
    with EmbeddingServer() as endless:
        endless.gate.clear()
        model = {"RETAIN_EMBEDDING_URL": endless.url, "RETAIN_EMBEDDING_MODEL": "counting"}
        running = interruptible(retain, "index", env=model)
        until(lambda: any(len(body["input"]) > 1 for _, _, body in endless.seen))
        assert PACE.match(retain("projects").out)
        assert interrupted(running) == 130
        assert "Traceback" not in running.stderr.read() and running.stdout.read() == ""
        left = retain("projects", "--json").body["projects"][0]
        assert left["status"] == "pending" and left["total_chunks"] > 0
        said = retain("code", "number_0_0").out.splitlines()
        assert said[-1].startswith("note: shop is not wholly indexed; run `retain")
        endless.gate.set()
        done = retain("index", "--json", **model).body
    assert done["files"]["unchanged"] > 0
    assert done["files"]["unchanged"] + done["files"]["added"] == FILES + 4
    # What was read when the interrupt came was cut by its grammar like the rest.
    assert done["total_chunks"] == FILES * FUNCTIONS + 5


@pytest.mark.parametrize("form", ["text", "json"])
def test_watching_says_what_was_indexed_and_ends_with_an_interrupt(retain, form):
    running = interruptible(retain, "index", "--watch", *(["--json"] if form == "json" else []))
    first = running.stdout.readline()
    if form == "text":
        lines = [first, running.stdout.readline()]
        assert lines == ["indexed shop · 4 files, 5 chunks\n", "  4 added\n"]
    assert running.stderr.readline() == f"watching {retain.project}; Ctrl-C ends it\n"
    write(retain.project, "src/new.py", FORMAT)
    line = running.stdout.readline()
    if form == "json":
        assert json.loads(first)["watching"] is True
        assert (json.loads(line)["total_files"], json.loads(line)["status"]) == (5, "completed")
    else:
        assert re.fullmatch(r"\d\d:\d\d:\d\d indexed shop · 5 files, 6 chunks\n", line)
    assert interrupted(running) == 130
    assert "Traceback" not in running.stderr.read()


# What is shown


@pytest.mark.parametrize(
    "words",
    [
        ("index",),
        ("projects",),
        ("code", "parse_moment"),
        ("code", "parse_moment", "--definition"),
        ("code", "parse_moment", "--references"),
        ("map",),
    ],
)
def test_lines_fit_a_terminal_of_80_columns_and_are_whole_in_a_pipe(known, words):
    long = "src/a_folder_with_a_long_name/and_another_one_in_it/which_holds_a_file_that_has_a_long_name_too.py"
    write(
        known.project,
        long,
        f"from src.parse import parse_moment\n\n\ndef caller():\n    return parse_moment({'1' * 90})\n",
    )
    known("index")
    lines = shown(known(*words, **TERMINAL))
    assert lines and max(map(len, lines)) <= 80
    assert words[0] in ("index", "projects") or long in known(*words).out or "--definition" in words


def test_what_is_indexed_cannot_take_over_the_terminal(known):
    write(known.project, "src/odd\nname\x1b]0;owned\x07.py", 'def odd():\n    return "\x1b[2J\x9b31m\r"\n')
    known("index")
    for words in (("code", "odd"), ("code", "odd", "--definition"), ("map",), ("code", "odd", "--references")):
        for settings in ({}, TERMINAL):
            out = known(*words, **settings).out
            assert "\x1b]" not in out and "\x1b[2J" not in out and "\x07" not in out and "\x9b" not in out
            assert "src/odd\n" not in out and "src/odd" in out


def test_a_folder_with_an_odd_name_cannot_take_over_the_terminal(retain, tmp_path):
    folder = tmp_path / "user" / "[bold]odd\x1b[2J"
    write(folder, "a.py", PARSE)
    done = retain("index", str(folder), **TERMINAL)
    assert "indexing [bold]odd\\x1b[2J" in Text.from_ansi(done.err).plain
    listed = retain("projects", **TERMINAL)
    for text in (done.out, done.err, listed.out):
        assert "\x1b[2J" not in text
    assert any(line.startswith("[bold]odd\ufffd  completed") for line in shown(listed))
