"""memory_encode: an episode is kept with whose word it is, and speaks for and against what is known."""

import re
from pathlib import Path

import pytest

from surfaces.banking import by_other_tools
from surfaces.episodes import (
    OTHER_PORT,
    PORT,
    asleep,
    codes,
    contents,
    disputed,
    encode,
    faults,
    introspect,
    recall,
    resolve,
)
from surfaces.wire import AUDREY, TOOLS

SOURCES = ("direct-observation", "told-by-user", "tool-result", "inference", "model-generated")


def counted(audrey):
    return introspect(audrey)["episodic"]


# The reply


def test_encoding_answers_with_a_bare_id_the_content_and_its_source(audrey):
    body = encode(audrey)
    assert re.fullmatch("[0-9a-z]{20}", body["id"])
    assert body == {"id": body["id"], "content": PORT, "source": "told-by-user", "warnings": []}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_is_kept(audrey, source):
    assert encode(audrey, source=source)["source"] == source
    assert recall(audrey)[0]["source"] == source


def test_it_is_an_episode_of_the_project_that_other_tools_see(audrey):
    id = encode(audrey, tags=["api"], salience=0.9)["id"]
    seen = by_other_tools(audrey, TOOLS, "get_memory", id=f"memory:{id}")
    assert (seen["type"], seen["scope"], seen["tags"], seen["importance"]) == ("episodic", "project", ["api"], 0.9)


def test_without_salience_it_matters_as_much_as_others(audrey):
    id = encode(audrey)["id"]
    assert by_other_tools(audrey, TOOLS, "get_memory", id=id)["importance"] == 0.5


def test_outside_of_any_project_it_is_the_users_and_says_so(desks):
    audrey = desks(tools=AUDREY, project_dir=Path.home())
    assert codes(encode(audrey)) == ["no_project"]


def test_secrets_are_not_stored_and_the_content_shows_it(audrey):
    body = encode(audrey, "The database is postgres://shop:hunter2-staging@db.internal/shop")
    assert "hunter2" not in body["content"] and body["content"] == recall(audrey, "database")[0]["content"]
    assert codes(body) == ["redacted"]


def test_a_very_long_content_is_kept_whole_and_shown_in_part(audrey):
    long = "The import log says: " + "row after row " * 5000
    body = encode(audrey, long)
    assert (body["truncated"], body["characters"]) == (True, len(long.strip()))
    assert len(body["content"]) < 41_000
    assert by_other_tools(audrey, TOOLS, "get_memory", id=body["id"])["content"] == long.strip()


# What it does to what is known


def test_saying_it_again_reinforces_it(audrey):
    first = encode(audrey, tags=["api"])
    again = encode(audrey, tags=["port"])
    assert (again["id"], again["reinforced"], counted(audrey)) == (first["id"], True, 1)
    assert recall(audrey, explain=True)[0]["explanation"]["reinforcement"] > 0


def test_what_wakes_is_recalled_again(audrey):
    id = encode(audrey)["id"]
    asleep(audrey, id)
    body = encode(audrey)
    assert (body["id"], body["reinforced"]) == (id, True)
    assert "state" not in recall(audrey)[0]


def test_what_it_contradicts_is_named_with_the_contradiction_and_why(audrey):
    older = encode(audrey)["id"]
    (found,) = encode(audrey, OTHER_PORT)["contradicts"]
    assert set(found) == {"id", "contradiction_id", "why"}
    assert found["id"] == older and "8080" in found["why"] and "9090" in found["why"]
    assert introspect(audrey)["contradictions"]["open"] == 1


def test_what_it_speaks_for_is_named_and_reinforced(knowing_audrey):
    older = encode(knowing_audrey, "We always run the linter before we push a branch.")["id"]
    body = encode(knowing_audrey, "We always run the linter before pushing any branch.", "direct-observation")
    assert body["id"] != older and body["supports"] == [older]
    found = {row["id"]: row["explanation"] for row in recall(knowing_audrey, "linter before pushing", explain=True)}
    assert found[older]["supporting"] > 0


def test_what_was_decided_is_opened_again_by_new_evidence(audrey):
    older, newer, contradiction = disputed(audrey)
    resolve(audrey, contradiction, resolution="newer")
    body = encode(audrey, PORT, "direct-observation")
    (found,) = body["reopened"]
    assert (found["contradiction_id"], found["older"], found["newer"]) == (contradiction, older, newer)
    assert introspect(audrey)["contradictions"]["reopened"] == 1


# Causes


@pytest.mark.parametrize("dress", ["{}", "memory:{}", "mem_{}"])
@pytest.mark.parametrize("relation", ["caused", "fixed", "led_to"])
def test_causes_tie_it_to_other_memories(audrey, relation, dress):
    outage = encode(audrey, "The checkout was down on Monday.")["id"]
    cause = {"memory_id": dress.format(outage), "relation": relation}
    encode(audrey, "The certificate had run out and was renewed.", causes=[cause])
    assert introspect(audrey)["causalLinks"] == 1


def test_a_cause_that_is_not_there_is_refused_and_nothing_is_written(audrey):
    body = audrey.refused(
        "memory_encode", content=PORT, source="inference", causes=[{"memory_id": "0" * 20, "relation": "fixed"}]
    )
    assert body["error"] == "not_found" and "0" * 20 in body["message"]
    assert counted(audrey) == 0


@pytest.mark.parametrize(
    ("cause", "field"),
    [
        ({"memory_id": "nonsense!", "relation": "fixed"}, "causes"),
        ({"memory_id": "0" * 20, "relation": "broke"}, "causes[0].relation"),
        ({"relation": "fixed"}, "causes[0].memory_id"),
    ],
)
def test_a_bad_cause_is_named_and_nothing_is_written(audrey, cause, field):
    assert field in faults(audrey.refused("memory_encode", content=PORT, source="inference", causes=[cause]))
    assert counted(audrey) == 0


# Bad input


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"content": " "}, "content", "must not be empty"),
        ({"content": "x" * 100_001}, "content", "at most 100000"),
        ({"source": "told_by_user"}, "source", "did you mean told-by-user?"),
        ({"source": "hearsay"}, "source", "direct-observation, told-by-user"),
        ({"salience": 1.5}, "salience", "between 0 and 1"),
        ({"tags": "api"}, "tags", "an array"),
        ({"tags": ["x" * 101]}, "tags[0]", "at most 100"),
        ({"importance": 1}, "importance", "unknown argument"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(audrey, given, field, said):
    body = audrey.refused("memory_encode", **{"content": PORT, "source": "inference", **given})
    assert said in faults(body)[field]
    assert counted(audrey) == 0


def test_a_text_of_secrets_alone_is_refused(audrey):
    body = audrey.refused("memory_encode", content="<private>all of it</private>", source="inference")
    assert "nothing is left" in faults(body)["content"]


# Agents


@pytest.fixture
def agents(desks):
    return desks(tools=AUDREY, agent="builder"), desks(tools=AUDREY, agent="reviewer")


def test_an_agent_does_not_see_the_episodes_of_another(agents):
    builder, reviewer = agents
    encode(builder)
    assert contents(recall(builder)) == [PORT]
    assert (recall(reviewer), counted(reviewer)) == ([], 0)


def test_two_agents_may_each_know_the_same(agents):
    one, other = (encode(agent) for agent in agents)
    assert one["id"] != other["id"] and "reinforced" not in other


def test_what_one_agent_says_is_no_contradiction_to_what_another_keeps_to_itself(agents):
    builder, reviewer = agents
    encode(builder)
    assert "contradicts" not in encode(reviewer, OTHER_PORT)


@pytest.mark.parametrize("scope", ["project", "user"])
def test_agents_share_what_other_tools_stored_for_the_project_and_the_user(agents, scope):
    for agent in agents:
        by_other_tools(agent, TOOLS, "store_memory", content=PORT, type="semantic", scope=scope)
        assert contents(recall(agent)) == [PORT]


def test_without_a_name_episodes_are_the_projects_and_every_agent_sees_them(desks, agents):
    encode(desks(tools=AUDREY))
    assert [contents(recall(agent)) for agent in agents] == [[PORT], [PORT]]
