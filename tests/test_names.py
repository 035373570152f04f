"""The package index has a stranger's `retain`, which deletes files: nobody is sent there, and it is never started."""

import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from retain.installed import is_ours, namesakes, starts_retain
from surfaces.command import Command

ROOT = Path(__file__).parents[1]
FOLDERS = (".ci", ".claude-plugin", "benchmarks", "docs", "plugin", "src", "tests")
TEXT = {".json", ".md", ".py", ".sh", ".toml", ".txt", ".yml", ".yaml", ""}
# An installer or a runner, its options, and the bare name behind them, in one line or broken over two.
_OPTIONS = r"(?:\s+--?[\w-]+(?:[= ](?=\S*[./~])\S+)?)*"
_NAME = r"""\s+['"`]?retain(?![\w./@-])"""
SENDING = re.compile(
    rf"""\b(?:pip3?|pipx|uv\ pip|uv\ tool|uv|poetry|pdm|conda)\s+
    (?:install|upgrade|reinstall|add|run|inject){_OPTIONS}{_NAME}
    |\buvx{_OPTIONS}{_NAME}|--from[= ]['"]?retain(?![\w./@-])|(?<![\w.-])retain\[(?:code|surrealdb|anthropic|all)""",
    re.VERBOSE,
)


def pages():
    files = [
        file for folder in FOLDERS for file in (ROOT / folder).rglob("*") if file.suffix in TEXT and file.is_file()
    ]
    found = [*files, *(file for file in ROOT.iterdir() if file.suffix in TEXT and file.is_file())]
    return [file for file in found if file.stat().st_size < 400_000 and "__pycache__" not in file.parts]


def test_nothing_sends_anybody_to_a_strangers_package():
    sent = {str(file.relative_to(ROOT)): SENDING.findall(file.read_text(errors="replace")) for file in pages()}
    assert {file: found for file, found in sent.items() if found} == {}


@pytest.mark.parametrize(
    "words",
    [
        "pip install {}",
        "pip\ninstall --force-reinstall {}`",
        "pip install -U '{}[surrealdb]'",
        "pipx run {} serve",
        "uvx --quiet {} serve",
        "uv tool install {}",
        "--from {} retain-mcp",
        "the extra `{}[code]`",
    ],
)
def test_every_way_to_do_so_is_known(words):
    assert SENDING.search(words.format("retain"))
    assert not SENDING.search(words.format("retain-mcp"))


def a_distribution(folder, name, version, main, *modules):
    """What an installer leaves of a package."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[console_scripts]\nretain = {main}:main\n")
    (info / "RECORD").write_text("".join(f"{module},,\n" for module in (*modules, f"{info.name}/METADATA")))
    return PathDistribution(info)


def a_stranger(folder):
    return a_distribution(folder, "retain", "1.3.0", "retain", "retain/__init__.py")


def a_command(folder, module):
    folder.mkdir(parents=True, exist_ok=True)
    command = folder / "retain"
    command.write_text(f"#!{sys.executable}\nimport sys\nfrom {module} import main\nsys.exit(main())\n")
    command.chmod(0o755)
    return command


def test_an_older_install_of_ours_is_told_from_a_stranger_by_its_files(tmp_path):
    editable = a_distribution(tmp_path / "a", "retain", "0.1.0", "retain.__main__")
    copied = a_distribution(tmp_path / "b", "retain", "0.1.0", "elsewhere", "retain/domain/memory.py")
    assert (is_ours(editable), is_ours(copied), is_ours(a_stranger(tmp_path / "c"))) == (True, True, False)
    assert [ours for _, ours in namesakes([str(tmp_path / "c"), str(tmp_path / "a")])] == [False, True]


def test_a_command_is_known_by_what_it_starts(tmp_path):
    ours, stranger = a_command(tmp_path / "a", "retain.__main__"), a_command(tmp_path / "b", "retain")
    windows = tmp_path / "retain.exe"
    with zipfile.ZipFile(windows, "w", zipfile.ZIP_DEFLATED) as launcher:
        launcher.writestr("__main__.py", ours.read_text() + "#" * 200)
    assert [starts_retain(one) for one in (ours, stranger, windows, tmp_path / "gone")] == [True, False, True, False]


class TestTheDoctor:
    @pytest.fixture
    def retain(self, tmp_path):
        return Command.in_folder(tmp_path)

    def install(self, retain, **env):
        checks = retain.process("doctor", "--json", **env).body["checks"]
        return {check["note"]: check for check in checks if check["area"] == "install"}

    def test_warns_of_a_program_that_deletes_files(self, retain, tmp_path):
        a_stranger(tmp_path / "site")
        folders = os.pathsep.join([str(tmp_path / "site"), str(ROOT / "src")])
        (found,) = [c for note, c in self.install(retain, PYTHONPATH=folders).items() if "1.3.0" in note]
        assert found["state"] == "fail" and "deletes files" in found["note"]
        assert "do not run" in found["repair"] and "retain-mcp" in found["repair"]

    def test_tells_of_an_older_install_without_alarm(self, retain, tmp_path):
        a_distribution(tmp_path / "site", "retain", "0.0.9", "retain.__main__")
        folders = os.pathsep.join([str(tmp_path / "site"), str(ROOT / "src")])
        (found,) = [c for note, c in self.install(retain, PYTHONPATH=folders).items() if "0.0.9" in note]
        assert found["state"] == "warn" and "deletes" not in found["note"]

    def test_says_which_command_the_shell_would_start(self, retain, tmp_path):
        stranger = a_command(tmp_path / "bin", "retain")
        notes = self.install(retain, PATH=str(stranger.parent))
        assert [c["state"] for note, c in notes.items() if note.startswith(str(stranger))] == ["warn"]
        a_command(tmp_path / "bin", "retain.__main__")
        assert not any(note.startswith(str(stranger)) for note in self.install(retain, PATH=str(stranger.parent)))


def test_a_strangers_environment_is_left_as_it_is(tmp_path):
    a_stranger(tmp_path)
    command = [sys.executable, str(ROOT / ".ci" / "one_install.py")]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "deletes files" in done.stderr
    assert (tmp_path / "retain-1.3.0.dist-info" / "METADATA").exists()
