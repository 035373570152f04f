"""reflect_and_consolidate: the plan, the run, and the way back."""

import pytest

DOCKER = (
    "CI fails because the runner has no Docker daemon.",
    "The CI run failed again: no Docker daemon on the runner.",
    "CI integration tests fail when the Docker daemon is not running on runner ci-2.",
)
OTHERS = ("Lunch was moved to noon.", "Ada rotated the signing keys.")


def said(desk, *texts, **given):
    return [desk.stored(text, **{"type": "episodic", "scope": "session", **given}) for text in texts]


@pytest.fixture
def session(knowing):
    knowing.sources = said(knowing, *DOCKER)
    said(knowing, *OTHERS)
    return knowing


def test_a_run_reports_what_it_made_as_the_contract_says(session):
    body = session("reflect_and_consolidate")
    (made,) = body["consolidated_memories"]
    assert set(made) == {"id", "content", "type", "derived_from", "scope"}
    assert (made["type"], set(made["derived_from"])) == ("semantic", set(session.sources))
    assert "Docker daemon" in made["content"]
    assert body["session_stats"] == {"memories_analyzed": 5, "consolidated_into": 1, "patterns_found": 0}
    assert (body["dry_run"], body["patterns_detected"], body["warnings"]) == (False, [], [])


def test_what_was_made_is_kept_and_ranks_above_its_sources(session):
    (made,) = session("reflect_and_consolidate")["consolidated_memories"]
    hits = session("recall_memories", query="Why does CI fail without Docker?")["memories"]
    assert hits[0]["id"] == made["id"]
    assert {hit["id"] for hit in hits if hit.get("consolidated")} == set(session.sources)
    assert session("get_memory", id=made["id"])["derived_from"] == made["derived_from"]


def test_a_dry_run_shows_the_plan_and_writes_nothing(session):
    before = session("get_memory_status")["counts"], session.store.change()
    planned = session("reflect_and_consolidate", dry_run=True)
    assert (session("get_memory_status")["counts"], session.store.change()) == before
    assert planned["dry_run"] is True and "run_id" not in planned
    assert {m["id"] for m in planned["consolidated_memories"]} == {None}
    done = session("reflect_and_consolidate")
    assert [m["content"] for m in done["consolidated_memories"]] == [
        m["content"] for m in planned["consolidated_memories"]
    ]
    assert done["session_stats"] == planned["session_stats"]


def test_a_second_run_finds_nothing_new(session):
    session("reflect_and_consolidate")
    again = session("reflect_and_consolidate")
    assert (again["consolidated_memories"], again["patterns_detected"]) == ([], [])
    assert "run_id" not in again


def test_a_run_can_be_undone(session):
    before = session("get_memory_status")["counts"]["total"]
    run = session("reflect_and_consolidate")["run_id"]
    session.app.engine.undo(run, session.app.caller())
    assert session("get_memory_status")["counts"]["total"] == before
    assert not any("consolidated" in hit for hit in session("recall_memories", query="Docker daemon")["memories"])


def test_another_session_is_consolidated_by_its_name(desks):
    one, other = desks(session_id="s1", embedding_model="bundled"), desks(session_id="s2", embedding_model="bundled")
    said(one, *DOCKER)
    assert other("reflect_and_consolidate", strategy="summarize")["session_stats"]["memories_analyzed"] == 0
    assert len(other("reflect_and_consolidate", session_id="s1")["consolidated_memories"]) == 1


def test_an_unknown_session_has_nothing_to_consolidate(session):
    body = session("reflect_and_consolidate", session_id="never heard of", strategy="summarize")
    assert body["session_stats"]["memories_analyzed"] == 0


def test_what_recurs_across_sessions_becomes_a_pattern_with_its_frequency(knowing):
    for number, text in enumerate(DOCKER):
        said(knowing, text, scope="project", session_id=f"day-{number}")
    body = knowing("reflect_and_consolidate", strategy="extract_patterns")
    (pattern,) = body["patterns_detected"]
    assert set(pattern) == {"pattern", "frequency", "suggested_scope", "memory_id"}
    assert (pattern["frequency"], pattern["suggested_scope"]) == (3, "project")
    assert body["session_stats"]["patterns_found"] == 1
    assert knowing("get_memory_status")["counts"]["by_type"]["procedural"] == 1


def test_what_sessions_kept_to_themselves_shows_a_pattern_too(knowing):
    for number, text in enumerate(DOCKER):
        said(knowing, text, scope="session", session_id=f"day-{number}")
    shown = knowing("reflect_and_consolidate", strategy="extract_patterns", dry_run=True)
    assert [set(pattern) for pattern in shown["patterns_detected"]] == [{"pattern", "frequency", "suggested_scope"}]
    (pattern,) = knowing("reflect_and_consolidate", strategy="extract_patterns")["patterns_detected"]
    assert (pattern["frequency"], pattern["suggested_scope"]) == (3, "project")
    assert knowing("update_memory", memory_id=pattern["memory_id"], content="Start Docker first")["updated_fields"]
    assert knowing("forget_memory", memory_id=pattern["memory_id"])["memory_id"] == pattern["memory_id"]


@pytest.mark.parametrize("strategy", ["summarize", "full"])
def test_a_session_is_summarised_by_these_strategies(session, strategy):
    assert len(session("reflect_and_consolidate", strategy=strategy)["consolidated_memories"]) == 1


def test_extracting_patterns_summarises_nothing(session):
    assert session("reflect_and_consolidate", strategy="extract_patterns")["consolidated_memories"] == []


def test_an_unknown_strategy_is_refused(desk):
    assert desk.refused("reflect_and_consolidate", strategy="both")["faults"][0]["field"] == "strategy"


def test_an_empty_session_is_no_error(desk):
    body = desk("reflect_and_consolidate")
    assert body["session_stats"] == {"memories_analyzed": 0, "consolidated_into": 0, "patterns_found": 0}
