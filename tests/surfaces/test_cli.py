"""The command line: every command in both of its forms, every exit code, pipes and wrong input."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys

import click
import pytest
from rich.text import Text

from retain.surfaces.cli.exits import MEANINGS
from retain.surfaces.cli.main import cli
from surfaces.command import Command

COMMANDS = (
    *("serve", "demo", "remember", "recall", "show", "forget", "context", "graph", "history", "consolidate", "undo"),
    *("status", "config", "doctor", "reembed", "backup", "restore"),
)
DEPLOY = "Deploys go through the staging cluster first."


@pytest.fixture
def retain(tmp_path):
    return Command.in_folder(tmp_path)


def test_remember_says_where_it_stored_something(retain):
    done = retain("remember", DEPLOY, "--tag", "deploy")
    assert done.code == 0
    assert done.out.startswith("stored memory:")
    assert "semantic, project" in done.out


def test_remember_answers_json_as_the_tool_does(retain):
    body = retain("remember", DEPLOY, "--type", "procedural", "--scope", "user", "--json").body
    assert (body["status"], body["type"], body["scope"]) == ("stored", "procedural", "user")


def test_words_need_no_quotes(retain):
    retain("remember", "Deploys", "go", "through", "staging")
    assert "Deploys go through staging" in retain("recall", "deploys", "staging").out


def test_saying_it_twice_reinforces(retain):
    retain("remember", DEPLOY)
    assert retain("remember", DEPLOY).out.startswith("reinforced")


@pytest.mark.parametrize("words", [("remember", "-"), ("remember",)])
def test_text_may_come_from_a_pipe(retain, words):
    assert retain(*words, stdin=f"{DEPLOY}\n").code == 0
    assert DEPLOY in retain("recall", "staging").out


def test_each_line_of_a_pipe_may_be_a_memory(retain):
    body = retain("remember", "--lines", "--json", stdin=f"{DEPLOY}\n\nThe cache is Redis.\n").body
    assert [one["status"] for one in body["memories"]] == ["stored", "stored"]


def test_a_pipe_that_is_not_text_is_refused(retain):
    done = retain("remember", "-", stdin=b"\xff\xfe\x00binary")
    assert done.code == 2
    assert "not UTF-8" in done.err


def test_secrets_are_removed_and_said_so(retain):
    done = retain("remember", "The database is postgres://shop:hunter2-staging@db.internal/shop")
    assert "removed before storing" in done.out
    assert "hunter2" not in retain("recall", "database").out


def test_recall_lists_the_best_first_with_ids(retain):
    id = retain.stored(DEPLOY)
    retain.stored("The cache is Redis.")
    first = retain("recall", "staging cluster deploys").out.splitlines()
    assert id in first[0]
    assert first[1].strip() == DEPLOY


def test_recall_explains_every_term_of_a_score_in_a_table(retain):
    retain("remember", DEPLOY)
    done = retain("recall", "staging", "--explain")
    header = next(line for line in done.out.splitlines() if "relevance" in line and "score =" not in line)
    assert header.split()[-4:] == ["scope", "importance", "recency", "score"]
    assert "explanation" in retain("recall", "staging", "--explain", "--json").body["memories"][0]


def test_recall_filters_by_scope_type_tag_and_time(retain):
    retain("remember", DEPLOY, "--tag", "deploy")
    assert retain("recall", "staging", "--scope", "project", "--type", "semantic", "--tag", "deploy").code == 0
    for narrower in (("--scope", "user"), ("--type", "episodic"), ("--tag", "other"), ("--before", "2020-01-01")):
        assert retain("recall", "staging", *narrower).code == 1


def test_recall_with_nothing_found_exits_1_and_says_so(retain):
    done = retain("recall", "zeppelins")
    assert done.code == 1
    assert "Nothing is remembered" in done.out
    assert retain("recall", "zeppelins", "--json").body["memories"] == []


def test_show_gives_the_whole_text_and_every_field(retain):
    long = "Staging first. " * 100
    id = retain.stored(long, "--tag", "deploy")
    assert retain("show", id).out.count("Staging first.") == 100
    assert retain("show", id, "--json").body["tags"] == ["deploy"]


def test_forget_hides_and_restore_brings_back(retain):
    id = retain.stored(DEPLOY)
    assert retain("forget", id, "--reason", "moved", "--json").body["status"] == "forgotten"
    assert retain("recall", "staging").code == 1
    assert "brought back" in retain("forget", "--restore", id).out
    assert retain("recall", "staging").code == 0


def test_purge_destroys_and_names_the_backups_that_still_hold_it(retain):
    id = retain.stored(DEPLOY)
    file = retain("backup", "--json").body["file"]
    body = retain("forget", id, "--purge", "--yes", "--json").body
    assert body["backups_holding_it"] == [file]
    assert retain("show", id).code == 3


def test_purge_without_a_yes_is_refused_where_nobody_can_be_asked(retain):
    id = retain.stored(DEPLOY)
    assert retain("forget", id, "--purge").code == 5
    assert retain("show", id).code == 0


def test_status_counts_what_there_is(retain):
    retain("remember", DEPLOY)
    assert retain("status").out.startswith("1 memory")
    assert retain("status", "--json").body["counts"]["total"] == 1


def test_config_shows_values_origins_and_no_password(retain):
    done = retain("config", RETAIN_REMOTE_PASS="hunter2", RETAIN_REMOTE_URL="https://ada:hunter2@db.example")
    assert "from RETAIN_REMOTE_PASS" in done.out
    assert "hunter2" not in done.out
    settings = retain("config", "--json", RETAIN_REMOTE_PASS="hunter2").body["settings"]
    assert settings["remote_pass"] == {"value": "••••", "origin": "RETAIN_REMOTE_PASS"}


def test_config_names_the_files_it_looks_at(retain):
    files = retain("config", "--path", RETAIN_CONFIG_PATH="/etc/retain.md").out.splitlines()
    assert files[1] == "/etc/retain.md"
    assert files == retain("config", "--path", "--json", RETAIN_CONFIG_PATH="/etc/retain.md").body["files"]


def test_config_with_a_bad_setting_exits_2_and_other_commands_only_warn(retain):
    assert retain("config", RETAIN_LOG_LEVEL="loud").code == 2
    done = retain("status", RETAIN_LOG_LEVEL="loud")
    assert done.code == 0
    assert "allowed are debug, info, warn, error" in done.err


def test_history_tells_what_happened_to_a_memory(retain):
    id = retain.stored(DEPLOY)
    retain("remember", DEPLOY)
    assert [entry["event"] for entry in retain("history", id, "--json").body["history"]] == ["created", "reinforced"]
    assert "v1 created" in retain("history", id).out


def test_consolidation_is_shown_done_listed_and_undone(retain):
    _a_tiresome_monday(retain)
    dry = retain("consolidate", "--session", "monday", "--dry-run", "--json").body
    assert dry["consolidated_memories"] and "run_id" not in dry
    run = retain("consolidate", "--session", "monday", "--json").body["run_id"]
    assert run in retain("history", "--runs").out
    assert retain("history", "--runs", "--json").body["runs"][0]["run_id"] == run
    assert retain("undo", run).out.startswith("undone")
    assert retain("undo", run).code == 5


def test_undoing_says_what_was_destroyed_since_and_which_copies_may_hold_it(retain):
    _a_tiresome_monday(retain)
    run = retain("consolidate", "--session", "monday", "--json").body["run_id"]
    source = retain("history", "--runs", "--json").body["runs"][0]["sources"][0]
    retain("backup")
    retain("forget", source, "--purge", "--yes")
    told = retain("undo", run).out
    assert "1 memory of this run had been destroyed since" in told
    assert "retain restore" in told


def test_consolidate_tells_how_to_undo_it(retain):
    _a_tiresome_monday(retain)
    assert "Undo it with: retain undo" in retain("consolidate", "--session", "monday").out
    assert "nothing new" in retain("consolidate", "--session", "monday").out


def test_undo_answers_json(retain):
    _a_tiresome_monday(retain)
    run = retain("consolidate", "--session", "monday", "--json").body["run_id"]
    assert len(retain("undo", run, "--json").body["forgotten"]) == 1


def test_reembed_makes_the_vectors_of_another_model(retain):
    retain("remember", DEPLOY, RETAIN_EMBEDDING_MODEL="off")
    assert retain("status", "--json").body["storage"]["keyword_only"] == 1
    assert retain("reembed", "--json").body["embedded"] == 1
    assert retain("reembed").out.startswith("0 memories embedded")


def test_a_backup_can_be_restored(retain):
    id = retain.stored(DEPLOY)
    file = retain.folder / "copy.db"
    assert str(file) in retain("backup", str(file)).out
    retain("forget", id, "--purge", "--yes")
    assert retain("restore", str(file)).code == 5
    assert retain("restore", str(file), "--yes").code == 0
    assert retain("show", id).code == 0


def test_a_backup_without_a_name_goes_to_the_backups_folder(retain):
    retain("remember", DEPLOY)
    body = retain("backup", "--json").body
    assert body["file"].startswith(str(retain.home / "backups" / "retain-"))
    assert body["bytes"] > 0


def test_restore_answers_json_and_keeps_what_was_there(retain):
    retain("remember", DEPLOY)
    file = retain("backup", "--json").body["file"]
    kept = retain("restore", file, "--yes", "--json").body["replaced_store_kept_as"]
    assert sqlite3.connect(kept).execute("select count(*) from memory").fetchone() == (1,)


def test_a_backup_never_overwrites_a_file(retain):
    retain("remember", DEPLOY)
    taken = retain.folder / "taken"
    taken.write_text("mine")
    assert retain("backup", str(taken)).code == 5
    assert retain("backup", str(retain.folder / "no" / "folder")).code == 2
    assert taken.read_text() == "mine"


def test_context_prints_the_block_an_agent_is_given(retain):
    retain("remember", DEPLOY)
    done = retain("context", "staging deploys")
    assert done.out.startswith("## Memory Context")
    assert DEPLOY in done.out
    assert retain("context", "staging deploys", "--json").body["memories_used"] == 1


def test_context_with_nothing_to_say_exits_1(retain):
    assert retain("context", "anything").code == 1


def test_graph_shows_an_entity_and_its_neighbours(retain):
    retain("remember", "PaymentWorker depends on Redis for its locks.")
    done = retain("graph", "PaymentWorker")
    assert "Redis" in done.out
    names = {entity["name"] for entity in retain("graph", "--json").body["entities"]}
    assert {"PaymentWorker", "Redis"} <= names


def test_graph_of_something_unknown_exits_1(retain):
    done = retain("graph", "Zeppelin")
    assert (done.code, "knows no Zeppelin" in done.out) == (1, True)


def test_alone_it_says_how_to_begin_and_makes_no_store(retain):
    done = retain()
    assert "claude mcp add retain -- " in done.out
    assert json.loads(done.out.splitlines()[-1])["mcpServers"]["retain"]["args"][-1] == "serve"
    assert not retain.home.exists()
    assert retain("--json").body["memories"] == 0


def test_alone_it_says_where_one_stands(retain):
    retain("remember", DEPLOY)
    assert "1 memory" in retain().out
    assert retain("--json").body["counts"]["total"] == 1


def test_json_may_be_asked_for_before_the_command(retain):
    retain("remember", DEPLOY)
    assert retain("--json", "recall", "staging").body["total_matched"] == 1


def test_help_names_every_command_and_every_exit_code(retain):
    out = retain("--help").out
    for word in [
        "serve",
        "demo",
        "remember",
        "recall",
        "show",
        "forget",
        "status",
        "doctor",
        "config",
        "history",
        "undo",
        "reembed",
        "backup",
    ]:
        assert f"  {word} " in out
    assert all(f"{code}  {meaning}" in out for code, meaning in MEANINGS.items())


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("recall",), 2),
        (("recall", " "), 2),
        (("recall", "x", "--limit", "0"), 2),
        (("recall", "x", "--after", "yesterday-ish"), 2),
        (("recall", "x", "--limt", "3"), 2),
        (("remember", "x", "--importance", "2"), 2),
        (("remember", "x", "--scope", "session"), 2),
        (("remember", "x", "--project", "/no/such/folder"), 2),
        (("remember", "x" * 100_001), 2),
        (("remember", "nul \0 here"), 2),
        (("show", "nonsense"), 2),
        (("history",), 2),
        (("dance",), 2),
        (("show", "memory:0mwi0000000000000000"), 3),
        (("forget", "memory:0mwi0000000000000000"), 3),
        (("undo", "0mwi0000000000000000"), 3),
        (("restore", "no-such-file.db"), 3),
    ],
)
def test_wrong_input_is_one_line_on_stderr_and_an_envelope_in_json(retain, words, code):
    done = retain(*words)
    assert done.code == code
    assert done.err.startswith("retain: ")
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    as_json = retain(*words, "--json")
    assert as_json.code == code
    assert {"error", "message"} <= as_json.body.keys()


def test_a_misspelt_option_is_answered_with_the_right_one(retain):
    assert "--limit" in retain("recall", "x", "--limt", "3").err


def test_a_store_that_cannot_be_opened_exits_4(retain):
    retain.home.write_text("a file, not a folder")
    done = retain("recall", "x")
    assert done.code == 4
    assert "RETAIN_HOME" in done.err
    assert retain("recall", "x", "--json").body["error"] == "memory_unavailable"


def test_a_model_that_is_off_exits_4_when_vectors_are_asked_for(retain):
    retain("remember", DEPLOY)
    assert retain("reembed", RETAIN_EMBEDDING_MODEL="off").code == 4


def test_another_user_sees_nothing_of_it(retain):
    id = retain.stored(DEPLOY)
    assert retain("show", id, "--user", "bob").code == 3
    assert retain("recall", "staging", "--user", "bob").code == 1


def test_the_project_can_be_chosen(retain):
    (retain.folder / "other").mkdir()
    retain("remember", DEPLOY, "--project", str(retain.folder / "other"))
    assert retain("recall", "staging").code == 1
    assert retain("recall", "staging", "--project", str(retain.folder / "other")).code == 0


def test_commands_leave_no_sessions_behind(retain):
    retain("remember", DEPLOY)
    retain("recall", "staging")
    with sqlite3.connect(retain.home / "retain.db") as db:
        assert db.execute("select count(*) from session").fetchone() == (0,)


def test_a_command_does_not_end_the_session_of_the_client_that_runs_it(retain):
    retain("remember", DEPLOY, CLAUDE_CODE_SESSION_ID="abc")
    with sqlite3.connect(retain.home / "retain.db") as db:
        assert db.execute("select id, ended from session").fetchall() == [("abc", None)]


def test_a_text_cannot_take_over_the_terminal(retain):
    retain("remember", "staging \x1b[2J\x1b]0;owned\x07 cleared")
    assert "\x1b" not in retain("recall", "staging").out


def test_brackets_are_text_and_no_markup(retain):
    retain("remember", "staging needs [bold]care[/bold] :boom:")
    assert "[bold]care[/bold] :boom:" in retain("recall", "staging").out


def test_a_pipe_gets_every_memory_on_one_line_and_no_colour(retain):
    text = "Staging " + "is a long story " * 20
    retain("remember", text)
    done = retain.process("recall", "staging")
    assert text.strip() in done.out
    assert "\x1b" not in done.out


def test_a_terminal_gets_lines_that_fit_80_columns(retain):
    retain("remember", "Staging " + "is a long story " * 20, "--tag", "deploy")
    for words in (("recall", "staging", "--explain"), ("status",), ("doctor",)):
        done = retain(*words, FORCE_COLOR="1", COLUMNS="80")
        assert max(len(line) for line in Text.from_ansi(done.out).plain.splitlines()) <= 80


def test_a_line_to_be_copied_is_never_cut(retain):
    lines = Text.from_ansi(retain(FORCE_COLOR="1", COLUMNS="40").out).plain.splitlines()
    assert any(line.startswith("claude mcp add retain -- ") and line.endswith(" serve") for line in lines)


def test_a_reader_that_leaves_early_is_no_error(retain):
    retain("remember", "--lines", stdin="".join(f"Staging note {n}: {'x' * 300}\n" for n in range(60)))
    running = retain.spawn("recall", "staging", "--limit", "50")
    running.stdout.close()
    assert running.wait(60) in (0, 141)
    assert running.stderr.read() == ""


def test_an_interrupt_is_quiet(retain):
    # A test runner in the background ignores the signal, and its children inherit that.
    running = retain.spawn("remember", "-", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    # More than a pipe holds: once it is written, the command is past its imports, and reading.
    running.stdin.write("x" * 200_000)
    running.stdin.flush()
    assert _interrupted(running) == 130
    assert "Traceback" not in running.stderr.read()


def test_json_is_one_line_even_for_letters_the_terminal_cannot_show(retain):
    retain("remember", "Der Schlüssel heißt 鍵 🔑")
    done = retain.process("recall", "Schlüssel", "--json", PYTHONIOENCODING="latin-1")
    assert done.body["memories"][0]["content"] == "Der Schlüssel heißt 鍵 🔑"


def test_serve_refuses_an_unknown_toolset_with_the_names_there_are(retain):
    done = retain.process("serve", "--toolset", "nonsense")
    assert done.code == 2
    assert done.err == "retain: no toolset nonsense; there are default, scoped, graph, capture, bank, audrey, all\n"


@pytest.mark.parametrize("words", [("--toolset",), ("--tolset", "all"), ("all",)])
def test_serve_refuses_what_it_does_not_know(retain, words):
    assert retain.process("serve", *words).code == 2


def test_every_command_is_found_under_its_name():
    context = click.Context(cli)
    assert [cli.get_command(context, name).name for name in cli.list_commands(context)] == cli.list_commands(context)


def test_the_command_line_comes_up_without_the_engine():
    began = "import sys, retain.surfaces.cli.main; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", began], capture_output=True, text=True, check=True)
    assert not [name for name in done.stdout.split() if name.startswith(("retain.engine", "retain.stores", "numpy"))]


@pytest.mark.parametrize(("stream", "name"), [(0, "input"), (1, "output")])
def test_serve_says_when_there_is_nobody_to_speak_with(retain, stream, name):
    serving = retain.spawn("serve", preexec_fn=lambda: os.close(stream))
    _, err = serving.communicate(timeout=60)
    assert serving.returncode == 2
    assert err == f"retain: standard {name} is closed, and serve speaks with its client over it; leave it open\n"


def test_serve_explains_itself_without_importing_the_command_line(retain):
    done = retain.process("serve", "--help", PYTHONVERBOSE="1")
    assert "--toolset NAMES" in done.out
    assert "import 'click" not in done.err and "import 'rich" not in done.err and "import 'mcp" not in done.err


def test_other_commands_import_neither_the_protocol_nor_the_model(retain):
    done = retain.process("--help", PYTHONVERBOSE="1")
    for heavy in ("mcp", "onnxruntime", "numpy", "tokenizers", "pydantic"):
        assert f"import '{heavy}" not in done.err


def _a_tiresome_monday(retain: Command) -> None:
    for build in (101, 102, 103):
        text = f"The checkout test of build {build} failed because the Stripe sandbox timed out."
        retain("remember", text, "--type", "episodic", "--session", "monday")


def _interrupted(running: "subprocess.Popen[str]") -> int:
    """As a person would: Python misses a signal that arrives between two reads, so again if nothing happens."""
    for _ in range(10):
        running.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return running.wait(3)
    raise AssertionError("it went on regardless")
