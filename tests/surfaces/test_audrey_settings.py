"""The variables of the audrey contract: what they come to in our settings, and a server that is started with them."""

import json
from pathlib import Path

import pytest

from fake_apis import FakeApis, Turn
from retain import open as open_memory
from retain.config import load, strict, with_settings_of
from retain.errors import ConfigError
from retain.keys import embedding_key
from retain.surfaces.hooks import snapshot
from retain.surfaces.mcp.instructions import instructions
from retain.wiring import make_embedder, make_llm
from surfaces.episodes import OTHER_PORT, PORT
from surfaces.wire import AUDREY, Wire, serve_command

OPENAI = ("text-embedding-3-small", "https://api.openai.com/v1")
KEY = "sk-proj-0123456789"


def loaded(tmp_path, given=None, **environment):
    return load(given, {"HOME": str(tmp_path), **environment}, folder=tmp_path / "nowhere")


def settings(tmp_path, given=None, **environment):
    return strict(loaded(tmp_path, given, **environment))


def embedding(tmp_path, given=None, **environment):
    found = settings(tmp_path, given, **environment)
    return found.embedding_model, found.embedding_url


def settings_file(tmp_path, text):
    file = tmp_path / ".claude" / "retain.local.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"---\n{text}\n---\n")
    file.chmod(0o600)


# Where memories lie, and whose they are


@pytest.mark.parametrize("folder", ["data", "data.v2"])
def test_the_data_folder_is_a_folder_whatever_its_name(tmp_path, folder):
    found = settings(tmp_path, AUDREY_DATA_DIR=str(tmp_path / folder))
    assert found.database_file == tmp_path / folder / "retain.db"


def test_a_tilde_in_the_data_folder_is_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    found = settings(tmp_path, AUDREY_DATA_DIR="~/.audrey/data")
    assert found.database_file == tmp_path / ".audrey" / "data" / "retain.db"


def test_our_own_variables_go_before_those_of_the_contract(tmp_path):
    both = {"AUDREY_DATA_DIR": "/theirs", "AUDREY_AGENT": "theirs", "AUDREY_LLM_PROVIDER": "openai"}
    found = settings(tmp_path, RETAIN_DB_PATH="/ours.db", RETAIN_AGENT="ours", RETAIN_LLM="none", **both)
    assert (found.db_path, found.agent, found.llm) == (Path("/ours.db"), "ours", "none")


def test_an_agent_is_named(tmp_path):
    found = loaded(tmp_path, AUDREY_AGENT="reviewer")
    assert (found.settings.agent, found.origins["agent"]) == ("reviewer", "AUDREY_AGENT")


# Embeddings


def test_mock_is_the_bundled_model_and_the_log_says_so(tmp_path):
    found = loaded(tmp_path, AUDREY_EMBEDDING_PROVIDER="mock")
    assert (found.settings.embedding_model, found.settings.embedding_url) == ("bundled", None)
    assert found.notes[0].startswith("AUDREY_EMBEDDING_PROVIDER=mock means the bundled model")
    assert found.remarks == ()


def test_openai_is_its_small_model_at_its_own_address(tmp_path):
    assert embedding(tmp_path, AUDREY_EMBEDDING_PROVIDER="openai") == OPENAI
    assert embedding(tmp_path, RETAIN_EMBEDDING_MODEL="text-embedding-3-large", AUDREY_EMBEDDING_PROVIDER="openai") == (
        "text-embedding-3-large",
        OPENAI[1],
    )


@pytest.mark.parametrize("model", ["bundled", "hashed", "off", "/models/minilm"])
@pytest.mark.parametrize("provider", ["mock", "openai"])
def test_a_provider_has_no_say_beside_a_model_of_this_machine(tmp_path, provider, model):
    assert embedding(tmp_path, RETAIN_EMBEDDING_MODEL=model, AUDREY_EMBEDDING_PROVIDER=provider) == (model, None)
    assert embedding(tmp_path, {"embedding_model": model}, AUDREY_EMBEDDING_PROVIDER=provider) == (model, None)


def test_a_provider_that_has_no_say_leaves_no_note(tmp_path):
    assert loaded(tmp_path, RETAIN_EMBEDDING_MODEL="hashed", AUDREY_EMBEDDING_PROVIDER="mock").notes == ()


@pytest.mark.parametrize(("provider", "expected"), [("mock", ("bundled", None)), ("openai", OPENAI)])
def test_what_a_file_says_of_another_endpoint_does_not_mix_with_a_provider(tmp_path, provider, expected):
    settings_file(tmp_path, "embedding_model: nomic\nembedding_url: http://localhost:11434\nembedding_key: of-another")
    found = settings(tmp_path, AUDREY_EMBEDDING_PROVIDER=provider)
    assert (found.embedding_model, found.embedding_url, found.embedding_key) == (*expected, None)


@pytest.mark.parametrize(
    ("variable", "said"),
    [("AUDREY_EMBEDDING_PROVIDER", "allowed are mock, openai"), ("AUDREY_LLM_PROVIDER", "mock, anthropic, openai")],
)
def test_an_unknown_provider_is_told_once_and_passed_over(tmp_path, variable, said):
    found = loaded(tmp_path, **{variable: "gemini"})
    (problem,) = found.problems
    assert problem.startswith(f"{variable} is 'gemini'") and said in problem
    assert (found.settings.embedding_model, found.settings.llm) == ("bundled", "none")


def test_the_openai_key_goes_to_openai_alone(tmp_path):
    keys = {"OPENAI_API_KEY": KEY}
    assert embedding_key(settings(tmp_path, AUDREY_EMBEDDING_PROVIDER="openai"), keys) == KEY
    for url in ("http://localhost:11434", "http://api.openai.com/v1", "https://api.openai.com.example/v1"):
        other = settings(tmp_path, RETAIN_EMBEDDING_URL=url, AUDREY_EMBEDDING_PROVIDER="openai")
        assert embedding_key(other, keys) is None
    ours = settings(tmp_path, AUDREY_EMBEDDING_PROVIDER="openai", RETAIN_EMBEDDING_KEY="our-own-key")
    assert embedding_key(ours, keys) == "our-own-key"


# Dimensions


def test_dimensions_that_the_model_does_not_make_are_refused(tmp_path):
    right = settings(tmp_path, AUDREY_EMBEDDING_PROVIDER="mock", AUDREY_EMBEDDING_DIMENSIONS="384")
    assert make_embedder(right).dimensions == 384
    wrong = settings(tmp_path, AUDREY_EMBEDDING_PROVIDER="mock", AUDREY_EMBEDDING_DIMENSIONS="8")
    with pytest.raises(ConfigError, match=r"embedding_dimensions is 8, and .* makes 384; set it to 384, or leave"):
        make_embedder(wrong)


def test_dimensions_that_the_store_does_not_have_are_refused(tmp_path):
    with open_memory(tmp_path / "data.db", home=tmp_path, embedding_model="hashed") as memory:
        memory.remember("We deploy on Mondays.")
        there = memory.engine.parts.embedder.dimensions
    remote = {"embedding_url": "http://127.0.0.1:9", "embedding_model": "m", "home": tmp_path}
    with (
        open_memory(tmp_path / "data.db", embedding_dimensions=there + 1, **remote) as memory,
        pytest.raises(ConfigError, match=f"is {there + 1}, and the memories here have vectors of {there}"),
    ):
        memory.recall("deploy")
    with open_memory(tmp_path / "data.db", embedding_dimensions=there, **remote) as memory:
        assert memory.recall("deploy Mondays")


# Language models


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_naming_a_provider_of_language_models_chooses_it(tmp_path, provider):
    found = settings(tmp_path, AUDREY_LLM_PROVIDER=provider)
    keys = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
    assert found.llm == provider
    assert make_llm(found, {**keys, "HOME": str(tmp_path)}).why_not() is None
    assert "key" in make_llm(found, {"HOME": str(tmp_path)}).why_not()


def test_a_key_alone_chooses_no_language_model(tmp_path):
    assert settings(tmp_path, ANTHROPIC_API_KEY=KEY, OPENAI_API_KEY=KEY).llm == "none"


def test_a_mock_language_model_is_none_and_the_log_says_so(tmp_path):
    found = loaded(tmp_path, AUDREY_LLM_PROVIDER="mock")
    assert found.settings.llm == "none"
    assert found.notes == ("AUDREY_LLM_PROVIDER=mock means that no language model is asked; rules do its work",)


def test_hooks_see_the_same_variables_without_keys(monkeypatch):
    monkeypatch.setenv("AUDREY_DATA_DIR", "/data")
    monkeypatch.setenv("AUDREY_API_KEY", "hush")
    assert snapshot.variables()["AUDREY_DATA_DIR"] == "/data"
    assert "AUDREY_API_KEY" not in snapshot.variables()


# The registration commands of the contract


@pytest.fixture
def registered(tmp_path):
    """Starts a server with these variables and nothing else that concerns a memory."""
    project = tmp_path / "shop"
    project.mkdir()
    started = []

    def start(**environment):
        env = {**with_settings_of({}), "HOME": str(tmp_path), **environment}
        started.append(Wire(*serve_command("audrey"), env=env, cwd=project))
        started[-1].hello()
        return started[-1]

    yield start
    for wire in started:
        wire.end()


def test_the_first_registration_command_gives_a_memory_in_its_folder(registered, tmp_path):
    wire = registered(AUDREY_DATA_DIR="~/.audrey/data", AUDREY_EMBEDDING_PROVIDER="mock")
    encoded = wire.body("memory_encode", content=PORT, source="told-by-user")
    (found,) = wire.body("memory_recall", query="Where does the API listen?")["results"]
    assert (found["id"], found["content"]) == (encoded["id"], PORT)
    assert (tmp_path / ".audrey" / "data" / "retain.db").exists()
    assert "AUDREY_EMBEDDING_PROVIDER=mock means the bundled model" in wire.leave()[1]


def test_the_second_has_a_language_model_that_judges_and_decides(registered):
    why, verdict = "port 8080 against 9090", {"resolution": "newer", "conditions": None, "explanation": "It was moved."}
    with FakeApis(Turn(json.dumps([{"number": 1, "why": why}])), Turn(json.dumps(verdict))) as apis:
        chosen = {"AUDREY_LLM_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": apis.url}
        wire = registered(AUDREY_DATA_DIR="~/.audrey/data", AUDREY_EMBEDDING_PROVIDER="mock", **chosen)
        wire.body("memory_encode", content=PORT, source="told-by-user")
        (found,) = wire.body("memory_encode", content=OTHER_PORT, source="tool-result")["contradicts"]
        done = wire.body("memory_resolve_truth", contradiction_id=found["contradiction_id"])
    assert (found["why"], done["resolution"], done["explanation"]) == (why, "newer", "It was moved.")
    assert done["by"] == "llm"


def test_two_agents_of_one_project_keep_their_episodes_apart(registered):
    one, other = (registered(AUDREY_DATA_DIR="~/.audrey/data", AUDREY_AGENT=name) for name in ("a", "b"))
    one.body("memory_encode", content=PORT, source="told-by-user")
    assert one.body("memory_recall", query="API port")["count"] == 1
    assert other.body("memory_recall", query="API port")["count"] == 0


def test_dimensions_that_do_not_fit_are_the_answer_to_every_call(registered):
    wire = registered(AUDREY_EMBEDDING_PROVIDER="mock", AUDREY_EMBEDDING_DIMENSIONS="8")
    for tool, given in (("memory_encode", {"content": PORT, "source": "inference"}), ("memory_introspect", {})):
        result = wire.call(tool, **given)
        assert result["isError"] and result["structuredContent"]["error"] == "config_error"
        assert "embedding_dimensions is 8" in result["structuredContent"]["message"]


def test_a_client_is_told_of_the_five_tools_and_when_to_call_them(registered):
    told = instructions(["audrey"])
    wire = registered()
    assert [tool["name"] for tool in wire.ask("tools/list")["result"]["tools"]] == list(AUDREY)
    assert len(told) < 2000 and all(tool in told for tool in AUDREY)
    assert all(tool.title and 20 < len(tool.description) < 400 for tool in AUDREY.values())


def test_every_tool_says_whether_it_only_reads():
    reading = {name for name, tool in AUDREY.items() if tool.hints.get("read_only")}
    assert reading == {"memory_recall", "memory_introspect"}
    assert not any(tool.hints.get("destructive") for tool in AUDREY.values())


def test_the_list_is_cheap_to_carry():
    told = [{"name": tool.name, "d": tool.description, "s": tool.input_schema} for tool in AUDREY.values()]
    assert len(json.dumps(told)) / 4 < 1500


def test_among_all_sets_a_name_that_capture_has_gets_the_set_in_front(servers):
    wire = servers("all")
    wire.hello()
    names = {tool["name"] for tool in wire.ask("tools/list")["result"]["tools"]}
    assert {"memory_encode", "audrey_memory_recall", "audrey_memory_consolidate", "memory_introspect"} <= names


def test_a_refused_call_has_the_envelope_of_the_default_set(registered):
    result = registered().call("memory_resolve_truth", contradiction_id="0" * 20, resolution="newer")
    assert result["isError"]
    assert {"error", "message", "degraded", "retry_possible"} <= set(result["structuredContent"])
