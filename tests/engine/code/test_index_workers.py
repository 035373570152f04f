"""Files that are parsed by other processes come out as if they were parsed here."""

import os
import subprocess
import sys
import threading

import pytest

from retain.domain.code import ChunkKind, Mark
from retain.engine.code.indexing import workers
from retain.engine.code.indexing.clean import parsed_file
from retain.engine.code.reading.files import Text
from retain.engine.code.reading.secrets import without_secrets

TEXTS = [Text(f"part/file{n}.py", Mark(str(n), n, n), f"def number_{n}():\n    return {n}\n") for n in range(100)]
HERE = [parsed_file(text) for text in TEXTS]


def test_every_file_comes_once_and_in_order():
    assert list(workers.parsed_files(TEXTS)) == HERE


def test_more_processes_are_started_as_more_files_come():
    crew = workers.Crew(2)
    many = TEXTS * 4
    assert list(crew.parse(many)) == HERE * 4
    assert len(crew._parsers) == 2
    crew.end()


def test_texts_are_asked_for_only_as_they_are_needed():
    asked = []
    files = workers.parsed_files(asked.append(text) or text for text in TEXTS)
    next(files)
    files.close()
    assert len(asked) < len(TEXTS)


def test_when_a_process_dies_another_takes_its_place():
    crew = workers.Crew(1)
    parsed = crew.parse(TEXTS)
    first = next(parsed)
    crew._parsers[0].process.kill()
    assert [first, *parsed] == HERE
    crew.end()


def test_a_file_that_its_grammar_never_gets_done_with_is_cut_by_paragraphs_and_the_others_are_not():
    stubborn = Text("deep.py", Mark("n", 1, 1), "(" * 400_000)
    files = list(workers.parsed_files([*TEXTS[:3], stubborn, *TEXTS[3:5]], seconds=2.0))
    assert [*files[:3], *files[4:]] == HERE[:5]
    assert files[3] == parsed_file(stubborn, plainly=True)
    assert {chunk.kind for chunk in files[3].parsed.chunks} == {ChunkKind.TEXT}


def test_a_fault_in_a_parsing_thread_is_told_to_who_waits():
    class Faulty(workers.Parser):
        def parse(self, batch):
            raise RecursionError("too deep")

    crew = workers.Crew(1)
    crew._hire = lambda: crew._parsers or crew._parsers.append(_working(crew, Faulty(1.0)))
    with pytest.raises(RecursionError):
        list(crew.parse(TEXTS))
    crew.end()


def _working(crew, parser):
    threading.Thread(target=crew._work, args=(parser,), daemon=True).start()
    return parser


def test_no_process_is_left_behind():
    crew = workers.Crew(2)
    parsed = crew.parse(TEXTS)
    next(parsed)
    crew.end()
    assert all(parser.process.poll() is not None for parser in crew._parsers)


def test_a_script_without_a_guard_may_index_and_nothing_is_imported_from_where_it_runs(tmp_path):
    """The folder has modules with the names of ours, and the script would begin again if it were imported."""
    for name in ("retain", "tree_sitter", "pickle"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the working folder')")
    scripts = tmp_path / "elsewhere"
    scripts.mkdir()
    script = scripts / "script.py"
    script.write_text(
        "from retain.domain.code import Mark\n"
        "from retain.engine.code.indexing import workers\n"
        "from retain.engine.code.reading.files import Text\n"
        "crew = workers.Crew(1)\n"
        "(file,) = crew.parse([Text('x.py', Mark('d', 1, 1), 'def x(): pass')])\n"
        "print(file.parsed.language, [parser.process.poll() for parser in crew._parsers])\n"
        "crew.end()\n"
    )
    ran = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == (f"python [None]{os.linesep}", "")


def test_a_secret_of_many_lines_leaves_as_many_lines():
    body = "MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aozN3tihPmljnnudb9G3HE\n" * 3
    key = f"-----BEGIN PRIVATE KEY-----\n{body}-----END PRIVATE KEY-----"
    text = f"first\n{key}\nmiddle\n{key}\nlast"
    cleaned = without_secrets(text)
    assert "MIIE" not in cleaned
    lines = cleaned.split("\n")
    assert len(lines) == len(text.split("\n"))
    assert [lines.index(word) for word in ("first", "middle", "last")] == [0, 6, 12]
