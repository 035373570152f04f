"""get_memory_status says what is true."""

import re
from datetime import datetime

import pytest

from retain.version import __version__
from surfaces.wire import ON_SURREALDB, where_kept


def test_an_empty_memory_is_told_as_it_is(desk, tmp_path):
    body, kept = desk("get_memory_status"), {"mode": "embedded-file", "path": str(tmp_path / "retain.db")}
    if ON_SURREALDB:
        waits = {"waiting": 0, "refused": 0, "oldest": None}
        kept = {"mode": "remote", "path": where_kept(tmp_path)["remote_url"], "queue": waits}
        assert datetime.fromisoformat(body["connection"].pop("since"))
    assert re.fullmatch(r"3\.\d+\.\d+\S*", body["connection"].pop("version"))
    assert body["connection"].pop("uptime_seconds") < 60
    assert body["connection"] == {"status": "connected", "retain_version": __version__, **kept}
    assert body["counts"] == {
        "total": 0,
        "by_scope": {"session": 0, "project": 0, "user": 0},
        "by_type": {"episodic": 0, "semantic": 0, "procedural": 0},
        "forgotten": 0,
        "entities": 0,
        "relationships": 0,
        "code_chunks": 0,
    }
    assert (body["current_session"]["session_id"], body["current_session"]["memories_this_session"]) == ("s1", 0)
    assert (body["project"], body["warnings"]) == (str(tmp_path / "shop"), [])


def test_counts_are_those_of_what_was_stored(desk):
    for scope, kind in (
        ("session", "episodic"),
        ("project", "episodic"),
        ("project", "semantic"),
        ("user", "procedural"),
    ):
        desk.stored(f"A note, {scope} and {kind}", scope=scope, type=kind)
    desk("forget_memory", memory_id=desk.stored("This one is forgotten"))
    counts = desk("get_memory_status")["counts"]
    assert counts["total"] == 4
    assert counts["by_scope"] == {"session": 1, "project": 2, "user": 1}
    assert counts["by_type"] == {"episodic": 2, "semantic": 1, "procedural": 1}
    assert counts["forgotten"] == 1


def test_the_graph_is_counted(desk):
    desk.stored("AlphaService depends on BetaService")
    counts, graph = desk("get_memory_status")["counts"], desk("search_knowledge_graph")["graph_stats"]
    assert (
        (counts["entities"], counts["relationships"])
        == (graph["entities_traversed"], graph["relationships_found"])
        == (2, 1)
    )


@pytest.mark.sqlite
def test_the_size_is_that_of_the_files(desk, tmp_path):
    desk.stored("A note")
    told = desk("get_memory_status")["storage"]["database_size_bytes"]
    assert told == sum(file.stat().st_size for file in tmp_path.glob("retain.db*") if not file.name.endswith(".lock"))


def test_the_model_goes_from_idle_to_ready(desks):
    desk = desks(embedding_model="bundled")
    assert desk("get_memory_status")["storage"]["embedding_state"] == "idle"
    desk.stored("A note")
    storage = desk("get_memory_status")["storage"]
    assert (storage["embedding_state"], storage["embedding_dimensions"], storage["keyword_only"]) == ("ready", 384, 0)
    assert storage["embedding_model"].startswith("retain-minilm-l6")


def test_a_model_that_is_off_says_why(desks):
    storage = desks(embedding_model="off")("get_memory_status")["storage"]
    assert (storage["embedding_state"], "embedding_model" in storage["embedding_reason"]) == ("off", True)


def test_the_session_counts_its_own_memories(desks):
    one, other = desks(session_id="s1"), desks(session_id="s2")
    one.stored("A note of the first")
    for text in ("One", "Two"):
        other.stored(f"{text} of the second", scope="session")
    assert one("get_memory_status")["current_session"]["memories_this_session"] == 1
    session = other("get_memory_status")["current_session"]
    assert (session["session_id"], session["memories_this_session"]) == ("s2", 2)
    assert datetime.fromisoformat(session["started_at"]) <= datetime.now().astimezone()


def test_what_is_wrong_with_the_settings_is_a_warning(tmp_path, desks):
    body = desks(query_timeout="soon")("get_memory_status")
    assert [warning["code"] for warning in body["warnings"]] == ["settings_not_used"]
    assert "query_timeout" in body["warnings"][0]["message"]


def test_a_memory_without_a_file_says_so(desks):
    desk = desks(deployment_mode="embedded-memory")
    desk.stored("A note")
    body = desk("get_memory_status")
    assert (body["connection"]["mode"], body["connection"]["path"]) == ("embedded-memory", ":memory:")
    assert body["storage"]["database_size_bytes"] > 0
