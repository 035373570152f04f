"""What is said in one session is before the model in the next, and only where it belongs."""

import json
from uuid import uuid4

import pytest

from e2e.client import until
from e2e.messages_api import calls, tool
from retain.domain.handing import FRAME
from surreal_server import shared

pytestmark = pytest.mark.e2e

DECISION = "We decided to use Postgres for the ledger because entries and balances must change in one transaction."
HASHING = "We decided to hash passwords with argon2id because bcrypt cuts them at 72 bytes."


def noted(request, words):
    """The lines about something that memory has put before the model."""
    return [line for note in request.notes for line in note.lines if words in line]


def test_a_decision_is_before_the_model_in_the_next_session_framed_as_a_note(ada, api):
    ada.ask(api, DECISION)
    second = ada.ask(api, "Where do the refunds go?")
    (line,) = noted(second.requests[0], "Postgres")
    assert "transaction" in line
    assert all(note.text.startswith(FRAME) for note in second.requests[0].notes)


@pytest.mark.slow
def test_so_it_is_when_memory_is_on_a_server(homes, api):
    database = shared()
    login = {
        "RETAIN_REMOTE_URL": database.url,
        "RETAIN_REMOTE_USER": database.user,
        "RETAIN_REMOTE_PASS": database.password,
    }
    ada = homes(RETAIN_DEPLOYMENT_MODE="remote", RETAIN_DATABASE=f"e2e-{uuid4()}", **login).connect()
    ada.ask(api, DECISION)
    second = ada.ask(api, "Where do the refunds go?")
    assert noted(second.requests[0], "Postgres")
    assert not ada.database.exists()


@pytest.mark.slow
def test_the_first_session_is_shown_nothing(ada, api):
    first = ada.ask(api, DECISION, "And now?")
    assert all(not request.notes for request in first.requests)


def test_another_project_is_not_shown_it(ada, api):
    ada.ask(api, DECISION, project="shop")
    other = ada.ask(api, "Which database do we use for the ledger?", project="garden")
    assert "Postgres" not in other.requests[0].whole


@pytest.mark.slow
def test_a_preference_goes_with_its_user_into_another_project(ada, api):
    ada.ask(api, "I prefer British spelling in all my projects, please remember that.", project="shop")
    other = ada.ask(api, "Write the README.", project="garden")
    assert noted(other.requests[0], "British")


@pytest.mark.slow
def test_a_quiet_session_leaves_nothing(ada, api):
    ada.ask(api, "hello", "what is a mutex?", "thanks")
    assert ada.memories() == []


def test_a_prompt_brings_what_it_means_while_a_server_lives(homes, api):
    ada = homes(RETAIN_INJECT_TOKENS="1").connect()
    ada.ask(api, HASHING)
    with ada.session(api) as session:
        until(lambda: ada.servers, "the server listens")
        # The first prompts may come while the model is still being loaded.
        notes = until(lambda: session.say("How do we keep people's secret codes safe at sign-up?").notes, "it is found")
    assert [note.event for note in notes] == ["UserPromptSubmit"]
    assert noted(session.requests[-1], "argon2id")


@pytest.mark.slow
def test_a_prompt_brings_what_its_words_say_without_a_server(homes, api):
    ada = homes(RETAIN_INJECT_TOKENS="1").connect()
    ada.ask(api, HASHING)
    session = ada.ask(api, "how do we hash passwords?", arguments=("--strict-mcp-config",))
    assert not any("serve" in process.command for process in ada.processes())
    assert noted(session.requests[0], "argon2id")


@pytest.mark.slow
def test_nothing_is_shown_twice_in_a_session(ada, api):
    ada.ask(api, HASHING)
    session = ada.ask(api, "how do we hash passwords?", "and how do we hash passwords for admins?", "hash passwords!")
    assert len(noted(session.requests[-1], "argon2id")) == 1


@pytest.mark.slow
def test_an_off_topic_prompt_brings_nothing(homes, api):
    ada = homes(RETAIN_INJECT_TOKENS="1").connect()
    ada.ask(api, HASHING)
    session = ada.ask(api, "what is the capital of France?", "lol thanks")
    assert session.requests[-1].notes == []


def test_a_tool_stores_and_another_session_recalls_it(ada, api):
    fact = {"content": "The tax rounds half to even", "type": "semantic", "scope": "project"}
    api.answering(calls(tool("mcp__retain__store_memory", **fact)), "Stored.")
    first = ada.ask(api, "store it")
    assert '"memory_id":"memory:' in first.requests[-1].last_result
    asked = {"query": "How is the tax rounded?", "scope": ["project"]}
    api.answering(calls(tool("mcp__retain__recall_memories", **asked)), "Half to even.")
    second = ada.ask(api, "recall it")
    assert "half to even" in second.requests[-1].last_result


@pytest.mark.slow
def test_the_session_costs_little_more_than_without_memory(ada, bare, api, measured):
    ada.ask(api, DECISION)
    without = bare.ask(api, "one", "two", "three")
    with_memory = ada.ask(api, "one", "two", "three")
    slow = {f"{hook.name} {hook.milliseconds:.0f} ms" for hook in with_memory.hooks}
    measured(f"{with_memory.seconds:.2f} s with memory, {without.seconds:.2f} s without; {', '.join(sorted(slow))}")
    assert len(with_memory.hooks) == 7, "one at the start, and two for each prompt"
    assert all(hook.outcome == "success" for hook in with_memory.hooks)


@pytest.mark.slow
def test_every_line_that_was_shown_can_be_explained(ada, api):
    ada.ask(api, HASHING)
    session = ada.ask(api, "how do we hash passwords?")
    (line,) = noted(session.requests[0], "argon2id")
    (shown,) = json.loads(ada.retain("why", "--json"))["injected"]
    assert shown["memory"] in line


@pytest.mark.slow
def test_an_error_that_was_cured_before_is_recognised_where_tools_have_hooks(homes, api):
    ada = homes()
    ada.retain("setup", "--yes", "--tool-hooks")
    project = ada.project()
    missing = "echo 'ld: cannot find -lpq: No such file or directory'"
    (project / "Makefile").write_text(f"app:\n\t@test -e libpq || {{ {missing}; false; }}\ndeps:\n\ttouch libpq\n")
    run = calls(tool("Bash", command="make app", description="Build"))
    cure = calls(tool("Bash", command="make deps", description="Cure"))
    api.answering(run, cure, run, "It builds now.")
    ada.ask(api, "build it")
    (project / "libpq").unlink()
    ada.settings["RETAIN_INJECT_TOKENS"] = "1"
    api.answering(run, "I know this one.")
    again = ada.ask(api, "once more")
    assert "PostToolUseFailure" in [note.event for note in again.requests[-1].notes]


@pytest.mark.slow
def test_a_healthy_home_is_told_so_after_some_sessions(ada, api):
    ada.ask(api, HASHING, "go on")
    told = json.loads(ada.retain("doctor", "--json"))
    assert told["ok"] is True, told
