"""`retain init` in a project, and `retain teardown --project`."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from retain import run_files
from retain.clients.planning import Step
from retain.surfaces.cli import drawn_setup
from surfaces.command import Command

STATE = {
    "memories": [
        {"id": "mem_1", "type": "decision", "content": "Invoices are numbered per customer", "tags": ["billing"]},
        {"id": "mem_2", "type": "gotcha", "content": "The tax service answers 200 with an error inside"},
    ]
}


@pytest.fixture
def shop(tmp_path):
    return Command.in_folder(tmp_path)


def files(shop):
    return {
        str(path.relative_to(shop.project)): path.read_bytes() for path in shop.project.rglob("*") if path.is_file()
    }


def settings(shop):
    return (shop.project / ".claude" / "retain.local.md").read_text()


def test_yes_keeps_a_summary_from_the_first_memory_on(shop):
    shop.stored("Deploys need two approvals")
    done = shop.process("init", "--yes", "--json")
    assert done.code == 0 and done.body["summaries"] == [str(shop.project / "CLAUDE.md")]
    assert "two approvals" in (shop.project / "CLAUDE.md").read_text()
    assert settings(shop) == "---\nclaude_md: true\n---\n"


def test_the_settings_file_is_private_and_git_passes_over_it(shop):
    subprocess.run(["git", "init", "-q"], cwd=shop.project, check=True)
    shop.process("init", "--yes")
    status = subprocess.check_output(["git", "status", "--porcelain", "-uall"], cwd=shop.project, text=True)
    assert "retain.local" not in status
    assert (shop.project / ".claude" / "retain.local.md").stat().st_mode & 0o777 == 0o600


def test_no_summary_is_kept_when_it_is_declined(shop):
    shop.stored("Deploys need two approvals")
    assert shop.process("init", "--yes", "--no-claude-md").code == 0
    assert not (shop.project / "CLAUDE.md").exists() and "claude_md: false" in settings(shop)


def test_agents_md_gets_a_summary_on_request(shop):
    shop.stored("Deploys need two approvals")
    shop.process("init", "--yes", "--no-claude-md", "--agents-md")
    assert "two approvals" in (shop.project / "AGENTS.md").read_text() and not (shop.project / "CLAUDE.md").exists()


def test_a_second_time_changes_nothing(shop):
    shop.stored("Deploys need two approvals")
    shop.process("init", "--yes", "--project-server")
    first = files(shop)
    again = shop.process("init", "--yes", "--project-server", "--json")
    assert {file["state"] for file in again.body["files"]} == {"as it was"}
    assert files(shop) == first


def test_what_an_earlier_memory_left_is_imported_once(shop):
    state = shop.project / ".memory" / "state.json"
    state.parent.mkdir()
    state.write_text(json.dumps(STATE))
    assert shop.process("init", "--yes", "--json").body["imported"] == {"added": 2, "known": 0, "skipped": []}
    assert shop.process("init", "--yes", "--json").body["imported"] == {"added": 0, "known": 2, "skipped": []}
    assert "per customer" in shop("recall", "invoices").out
    assert json.loads(state.read_text()) == STATE


def test_an_earlier_memory_that_cannot_be_read_is_said_before_anything_is_done(shop):
    state = shop.project / ".memory" / "state.json"
    state.parent.mkdir()
    state.write_text('{"memories": [\n  oops')
    before = files(shop)
    done = shop.process("init", "--yes")
    assert done.code == 2 and "line 2" in done.err and files(shop) == before


def test_the_server_is_listed_for_the_team_by_its_name(shop):
    (shop.project / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}}')
    shop.process("init", "--yes", "--project-server")
    servers = json.loads((shop.project / ".mcp.json").read_text())["mcpServers"]
    # By the name that no other program has: what a team shares is started wherever it is cloned.
    ours = {"type": "stdio", "command": "retain-mcp", "args": ["serve"]}
    assert servers == {"other": {"command": "x"}, "retain": ours}


def test_a_dry_run_writes_nothing_and_says_what_would_be_imported(shop):
    state = shop.project / ".memory" / "state.json"
    state.parent.mkdir()
    state.write_text(json.dumps(STATE))
    before = files(shop)
    done = shop.process("init", "--dry-run", "--json")
    assert done.body["would_import"] == 2 and "+claude_md: true" in done.body["files"][0]["diff"]
    assert files(shop) == before and not shop.home.exists()


def test_without_a_terminal_nothing_is_asked_and_nothing_is_done(shop):
    before = files(shop)
    done = shop.process("init")
    assert done.code == 5 and "--yes" in done.err and files(shop) == before


@pytest.mark.parametrize("folder", ["/", "home"])
def test_home_and_root_are_no_project(shop, folder):
    place = str(shop.folder / "user") if folder == "home" else "/"
    done = shop.process("init", "--yes", "--project", place)
    assert done.code == 5 and "no project" in done.err


def test_a_subfolder_belongs_to_its_project(shop):
    (shop.project / "src").mkdir()
    done = shop.process("init", "--yes", "--json", "--project", str(shop.project / "src"))
    assert done.body["project"] == str(shop.project)
    assert (shop.project / ".claude" / "retain.local.md").exists()


def test_broken_markers_are_said_and_the_file_is_left(shop):
    shop.stored("Deploys need two approvals")
    text = "# Shop\n<!-- MEMORY:START -->\nno end\n"
    (shop.project / "CLAUDE.md").write_text(text)
    done = shop.process("init", "--yes")
    assert done.code == 5 and "CLAUDE.md was not changed" in done.out
    assert (shop.project / "CLAUDE.md").read_text() == text


def test_teardown_of_a_project_gives_back_what_was_there(shop):
    shop.stored("Deploys need two approvals")
    (shop.project / "CLAUDE.md").write_text("# Shop\n")
    (shop.project / ".mcp.json").write_text('{"mcpServers": {}}\n')
    before = files(shop)
    shop.process("init", "--yes", "--project-server")
    assert files(shop) != before
    done = shop.process("teardown", "--project", "--claude-md", "--yes")
    assert done.code == 0 and files(shop) == before


def test_teardown_of_a_project_leaves_the_summary_unless_asked_and_says_so(shop):
    shop.stored("Deploys need two approvals")
    shop.process("init", "--yes")
    done = shop.process("teardown", "--project", "--yes")
    assert "--claude-md removes it" in done.out
    assert "two approvals" in (shop.project / "CLAUDE.md").read_text()
    assert not (shop.project / ".claude" / "retain.local.md").exists()


def test_teardown_of_a_project_keeps_other_settings(shop):
    shop.process("init", "--yes")
    file = shop.project / ".claude" / "retain.local.md"
    file.write_text(
        file.read_text().replace("claude_md: true\n", "claude_md: true\ninject: false # quiet\n") + "Notes\n"
    )
    shop.process("teardown", "--project", str(shop.project), "--yes")
    assert file.read_text() == "---\ninject: false # quiet\n---\nNotes\n"


def test_a_server_that_somebody_else_listed_for_the_team_stays(shop):
    shop.process("init", "--yes")
    servers = shop.project / ".mcp.json"
    servers.write_text('{"mcpServers": {"retain": {"command": "retain", "args": ["serve"]}}}')
    shop.process("teardown", "--project", "--yes")
    assert "retain" in servers.read_text()


@pytest.mark.parametrize("words", [("--claude-md",), ("--project", "--client", "cursor"), ("--project", "nowhere")])
def test_options_that_do_not_fit_are_refused(shop, words):
    assert shop.process("teardown", "--yes", *words).code == 2


def test_teardown_ends_the_process_that_captures(shop):
    lock = run_files.worker_lock(str(shop.home))
    holder = "import sys, time; from retain import run_files; lock = run_files.worker_lock(sys.argv[1]); lock.take();"
    code = holder + "lock.sign(); print('held', flush=True); time.sleep(60)"
    source = {"PYTHONPATH": str(Path(run_files.__file__).parents[1])}
    worker = subprocess.Popen([sys.executable, "-c", code, str(shop.home)], stdout=subprocess.PIPE, env=source)
    try:
        assert worker.stdout.readline() == b"held\n" and Path(lock.path).exists()
        assert "was ended" in shop.process("teardown", "--yes").out
        assert worker.wait(timeout=10) < 0
    finally:
        worker.kill()
        worker.wait()


def test_a_dry_run_shows_how_the_summary_would_change_its_file(shop):
    shop.stored("Deploys need two approvals")
    (shop.project / "CLAUDE.md").write_text("# Shop\n")
    before = files(shop)
    done = shop.process("init", "--dry-run")
    assert "+- Deploys need two approvals" in done.out and done.out.endswith("\nnothing was changed\n")
    assert files(shop) == before


def test_the_question_counts_and_shows_the_summary(shop):
    shop.stored("Deploys need two approvals")
    master, slave = pty.openpty()
    os.write(master, b"y\ny\n")
    out, err = shop.spawn("init", pipes={"stdin": slave}).communicate(timeout=60)
    assert "Change 3 files?" in err and "+- Deploys need two approvals" in out
    assert "two approvals" in (shop.project / "CLAUDE.md").read_text()


def test_a_copy_of_the_file_is_kept_before_a_summary_comes_into_it(shop):
    shop.stored("Deploys need two approvals")
    (shop.project / "CLAUDE.md").write_text("# Shop\n")
    shop.process("init", "--yes")
    (copy,) = (shop.home / "backups" / "clients").glob("*-CLAUDE.md.*")
    assert copy.read_text() == "# Shop\n" and copy.stat().st_mode & 0o777 == 0o600


def test_what_is_said_of_a_summary_is_true(shop):
    (shop.project / "CLAUDE.md").write_text("# Shop\n")
    first = shop.process("init", "--yes", "--json")
    assert first.body["summaries"] == []
    assert "gets a summary when there is something to say" in shop.process("init", "--yes").out
    shop.stored("Deploys need two approvals")
    assert "CLAUDE.md was written" in shop.process("init", "--yes").out
    assert "CLAUDE.md is up to date" in shop.process("init", "--yes").out


def test_a_summary_that_cannot_be_written_is_told_by_a_dry_run(shop):
    shop.stored("Deploys need two approvals")
    (shop.project / "CLAUDE.md").write_text("# Shop\n")
    (shop.project / "CLAUDE.md").chmod(0o444)
    done = shop.process("init", "--dry-run")
    assert done.code == 5 and "CLAUDE.md: it is read-only" in done.out


def test_teardown_shows_how_a_summary_would_go(shop):
    shop.stored("Deploys need two approvals")
    shop.process("init", "--yes")
    before = files(shop)
    done = shop.process("teardown", "--project", "--claude-md", "--dry-run")
    assert "-- Deploys need two approvals" in done.out and done.out.endswith("\nnothing was changed\n")
    assert files(shop) == before


def test_teardown_says_nothing_of_summaries_and_memories_that_are_not_there(shop):
    (shop.project / "CLAUDE.md").write_text("# Shop\n")
    done = shop.process("teardown", "--project", "--claude-md", "--yes")
    assert done.out == "there was nothing to take back in this project\n"


def test_teardown_of_a_project_leaves_no_empty_folder_that_init_made(shop):
    shop.process("init", "--yes")
    shop.process("teardown", "--project", "--yes")
    assert not (shop.project / ".claude").exists()


def test_teardown_of_a_project_leaves_a_folder_that_was_there(shop):
    (shop.project / ".claude").mkdir()
    shop.process("init", "--yes")
    shop.process("teardown", "--project", "--yes")
    assert (shop.project / ".claude").is_dir()


def test_a_dry_run_with_nothing_to_do_says_so(shop):
    shop.process("init", "--yes")
    assert shop.process("init", "--dry-run").out.endswith("\nnothing to do; nothing was changed\n")


@pytest.mark.parametrize(("folder", "lines"), [("/a", 1), ("/a-rather-long-name-for-a-folder/and-one-more", 2)])
def test_a_row_of_the_table_fits_in_eighty_columns_or_has_its_path_on_a_line_of_its_own(folder, lines):
    step = Step("settings", "kept out of git", Path(folder) / ".git" / "info" / "exclude")
    rows = [row.plain for row in drawn_setup.rows([step], 80, is_plan=True, removing=False)]
    assert len(rows) == lines and all(len(row) <= 80 for row in rows)
    assert rows[-1].endswith(f" {step.path}") and "kept out of git" in rows[0]


def test_a_path_in_this_folder_is_shortened_before_it_gets_a_line_of_its_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    step = Step("settings", "kept out of git", Path.cwd() / ("deep/" * 8) / "exclude")
    (row,) = drawn_setup.rows([step], 90, is_plan=True, removing=False)
    assert row.plain.endswith("  " + "deep/" * 8 + "exclude")
