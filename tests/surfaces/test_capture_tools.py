"""The ten capture tools: what they store, replace, list, answer and destroy, and what they refuse."""

import json
import re
from dataclasses import replace
from datetime import timedelta

import pytest

from fakes import ScriptedLLM
from retain.domain.category import CAPTURED
from retain.domain.changes import Changes
from retain.domain.memory import State, Status
from retain.errors import LLMFailed
from retain.maintenance import backups_holding
from surfaces.wire import CAPTURE, GRAPH, TOOLS

FIELDS = {"id", "type", "content", "tags", "created", "updated", "confidence", "accessCount"}
STRIPE = "Stripe integration lives in src/lib/stripe.ts"


def save(notebook, content, type="decision", **given):
    return notebook("memory_save", type=type, content=content, **given)


def contents(body):
    return [row["content"] for row in body["results"]]


def asking(notebook, *answers, **said):
    """The notebook, once a language model was chosen."""
    engine = notebook.app.engine
    engine.parts = replace(engine.parts, llm=ScriptedLLM(*answers, **said))
    return engine.parts.llm


def aged(notebook, id, days):
    """Makes a memory look as if it had last been touched so long ago."""
    store = notebook.store
    memory = store.memories([id.removeprefix("mem_")])[id.removeprefix("mem_")].memory
    older = replace(memory, updated=memory.updated - timedelta(days=days), version=memory.version + 1)
    store.apply(Changes(older.updated, memories=(older,)))


# Saving


def test_saving_answers_with_a_dressed_id_and_the_type(notebook):
    body = save(notebook, STRIPE, "architecture", tags=["billing"])
    assert re.fullmatch(r"mem_[0-9a-z]{20}", body["id"])
    assert (body["status"], body["type"], body["superseded"], body["warnings"]) == ("saved", "architecture", [], [])


@pytest.mark.parametrize(
    ("type", "kind"),
    [("architecture", "semantic"), ("decision", "semantic"), ("pattern", "procedural"), ("gotcha", "semantic"),
     ("progress", "episodic"), ("context", "episodic")],
)  # fmt: skip
def test_a_type_fills_in_the_kind_that_other_tools_know(notebook, type, kind):
    id = save(notebook, STRIPE, type)["id"]
    assert TOOLS["get_memory"].function(notebook.app, id)["type"] == kind


def test_the_same_text_twice_is_one_memory(notebook):
    first, second = save(notebook, STRIPE), save(notebook, STRIPE, tags=["pay"])
    assert (second["id"], second["status"]) == (first["id"], "reinforced")
    assert notebook("memory_recall")["results"][0]["tags"] == ["pay"]


def test_what_says_nearly_the_same_in_the_same_type_takes_its_place(notebook):
    old = save(notebook, "The billing page uses Stripe Checkout forms hosted by Stripe")
    new = save(notebook, "The billing page uses Stripe Checkout forms")
    assert new["superseded"] == [old["id"]]
    assert contents(notebook("memory_recall")) == ["The billing page uses Stripe Checkout forms"]


def test_likeness_of_exactly_sixty_percent_replaces_nothing(notebook):
    save(notebook, "Using Next.js app router", "pattern")
    assert save(notebook, "Project uses Next.js app router", "pattern")["superseded"] == []


def test_the_same_words_under_another_type_replace_nothing(notebook):
    save(notebook, "The billing page uses Stripe Checkout forms hosted by Stripe")
    assert save(notebook, "The billing page uses Stripe Checkout forms", "progress")["superseded"] == []


def test_a_named_memory_is_superseded_whatever_it_says(notebook):
    old = save(notebook, "We deploy with Jenkins", "gotcha")["id"]
    assert save(notebook, "GitHub Actions ships releases", supersedes=old)["superseded"] == [old]
    assert notebook.store.memories([old[4:]])[old[4:]].memory.status.state == "superseded"


def test_a_memory_names_the_one_that_it_replaced_until_that_is_brought_back(notebook):
    old = save(notebook, STRIPE)["id"]
    new = save(notebook, "Payments go through Adyen now", supersedes=old)["id"]
    (listed,) = notebook("memory_recall")["results"]
    found = notebook("memory_search", query="Adyen payments")["results"][0]
    assert (listed["id"], listed["supersedes"], found["supersedes"]) == (new, old, old)
    notebook.app.engine.bring_back(old, notebook.app.caller())
    assert not any("supersedes" in row for row in notebook("memory_recall")["results"])


@pytest.mark.parametrize("dress", ["{}", "memory:{}", "mem_{}"])
def test_supersedes_takes_an_id_in_any_dress(notebook, dress):
    bare = save(notebook, "We deploy with Jenkins")["id"][4:]
    assert save(notebook, "GitHub Actions ships releases", supersedes=dress.format(bare))["superseded"] == [
        f"mem_{bare}"
    ]


@pytest.mark.parametrize(("given", "said"), [("nonsense", "supersedes"), ("mem_" + "0" * 20, "no memory")])
def test_superseding_what_is_not_there_stores_nothing(notebook, given, said):
    body = notebook.refused("memory_save", type="decision", content=STRIPE, supersedes=given)
    assert said in body["message"]
    assert notebook("memory_stats")["total"] == 0


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"type": "decision"}, "content"),
        ({"content": STRIPE}, "type"),
        ({"type": "opinion", "content": STRIPE}, "type"),
        ({"type": "decision", "content": "  "}, "content"),
        ({"type": "decision", "content": STRIPE, "tags": "billing"}, "tags"),
        ({"type": "decision", "content": STRIPE, "tag": ["billing"]}, "tag"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_stored(notebook, given, field):
    body = notebook.refused("memory_save", **given)
    assert field in {fault["field"] for fault in body["faults"]}
    assert notebook("memory_stats")["total"] == 0


def test_a_secret_never_reaches_the_store(notebook):
    body = save(notebook, "The webhook secret is whsec_" + "a1B2c3D4e5F6g7H8", "gotcha")
    assert [w["code"] for w in body["warnings"]] == ["redacted"]
    assert "whsec_a1" not in json.dumps(notebook("memory_recall"))


# Finding


def test_search_brings_rows_of_the_contract_best_first(notebook):
    save(notebook, STRIPE, "architecture", tags=["billing"])
    save(notebook, "The logo is blue", "context")
    row, *_ = notebook("memory_search", query="where is the stripe integration?")["results"]
    assert FIELDS | {"score"} == set(row)
    assert (row["content"], row["type"], row["tags"], row["confidence"]) == (STRIPE, "architecture", ["billing"], 1.0)


def test_a_hit_counts_as_an_access(notebook):
    save(notebook, STRIPE)
    notebook("memory_search", query="stripe")
    assert notebook.settled()("memory_recall")["results"][0]["accessCount"] == 1


def test_search_sees_what_other_toolsets_stored_for_the_project_and_the_user(notebook):
    GRAPH["store_memory"].function(notebook.app, "Stripe keys rotate monthly")
    TOOLS["store_memory"].function(notebook.app, "I like Stripe docs", "semantic", "user")
    TOOLS["store_memory"].function(notebook.app, "Stripe note of the moment", "episodic", "session")
    found = set(contents(notebook("memory_search", query="stripe")))
    assert found == {"Stripe keys rotate monthly", "I like Stripe docs"}


@pytest.mark.parametrize("limit", [0, 101, "many"])
def test_a_limit_out_of_bounds_is_refused_by_name(notebook, limit):
    assert notebook.refused("memory_search", query="x", limit=limit)["faults"][0]["field"] == "limit"


def test_related_lists_what_carries_any_of_the_tags_newest_first(notebook):
    for text, tag in [("One", "billing"), ("Two", "stripe"), ("Three", "logo")]:
        save(notebook, f"{text} thing is so", tags=[tag])
    assert contents(notebook("memory_related", tags=["Billing", "stripe"])) == ["Two thing is so", "One thing is so"]


def test_related_without_tags_is_refused(notebook):
    assert notebook.refused("memory_related", tags=[])["faults"][0]["field"] == "tags"


def test_recall_lists_by_type_whoever_stored_it(notebook):
    save(notebook, "Deploys happen on Mondays", "pattern")
    GRAPH["store_memory"].function(notebook.app, "Run make release to ship", "procedural")
    save(notebook, STRIPE, "architecture")
    assert contents(notebook("memory_recall", type="pattern")) == [
        "Run make release to ship",
        "Deploys happen on Mondays",
    ]


def test_recall_by_type_and_tags_wants_both(notebook):
    save(notebook, "Deploys happen on Mondays", "pattern", tags=["deploy"])
    save(notebook, "Deploys go through staging", "decision", tags=["deploy"])
    assert contents(notebook("memory_recall", type="decision", tags=["deploy"])) == ["Deploys go through staging"]


def test_a_list_that_is_cut_says_how_much_is_missing(notebook):
    for number in range(103):
        save(notebook, f"module{number:03} imports library{number * 7:03}", "architecture")
    body = notebook("memory_recall", type="architecture")
    assert (body["count"], body["total"]) == (100, 103)
    assert body["warnings"][0]["message"].startswith("3 more; call again with offset: 100")
    rest = notebook("memory_recall", type="architecture", offset=100)
    assert (rest["count"], rest["total"], rest["warnings"]) == (3, 103, [])
    ids = [row["id"] for part in (body, rest) for row in part["results"]]
    assert len(set(ids)) == 103
    assert notebook("memory_recall", offset=101)["count"] == 2


@pytest.mark.parametrize(
    ("type", "days", "confidence"),
    [("progress", 3, 0.57), ("progress", 8, 0.0), ("context", 15, 0.5), ("gotcha", 900, 1.0)],
)
def test_confidence_fades_in_a_straight_line_from_the_last_change(notebook, type, days, confidence):
    aged(notebook, save(notebook, STRIPE, type)["id"], days)
    assert notebook("memory_recall")["results"][0]["confidence"] == pytest.approx(confidence, abs=0.01)


# Asking


def test_without_a_language_model_the_best_passages_answer_and_it_says_why(notebook):
    save(notebook, STRIPE)
    body = notebook("memory_ask", question="How does stripe work here?")
    assert (body["answer"], body["answered_by"]) == (None, None)
    assert "no language model was chosen" in body["why_no_answer"]
    assert [row["content"] for row in body["sources"]] == [STRIPE]


def test_with_one_its_answer_comes_with_the_memories_that_it_names(notebook):
    id = save(notebook, STRIPE)["id"][4:]
    save(notebook, "Stripe test cards are in the wiki", "gotcha")
    llm = asking(notebook, f"In src/lib/stripe.ts [memory:{id}].")
    body = notebook("memory_ask", question="Where is stripe?")
    assert body["answer"] == f"In src/lib/stripe.ts [mem_{id}]."
    assert (body["answered_by"], [row["content"] for row in body["sources"]]) == (llm.name, [STRIPE])


def test_one_that_fails_leaves_the_passages(notebook):
    save(notebook, STRIPE)
    asking(notebook, LLMFailed("the model is overloaded"))
    body = notebook("memory_ask", question="Where is stripe?")
    assert "overloaded" in body["why_no_answer"]
    assert len(body["sources"]) == 1


def test_the_default_set_asks_with_the_same_tool():
    assert TOOLS["memory_ask"].function is CAPTURE["memory_ask"].function


# The project, the summary, the numbers


def test_describing_the_project_again_replaces_what_was_said(notebook):
    first = notebook("memory_init", name="Shop", description="An online shop for tea")
    second = notebook("memory_init", name="Tea shop", description="An online shop for tea")
    assert second["superseded"] == [first["id"]]
    assert contents(notebook("memory_recall", tags=["project"])) == ["Tea shop: An online shop for tea"]


def test_the_summary_begins_with_the_name_and_has_what_is_known(notebook):
    notebook("memory_init", name="Tea shop", description="An online shop for tea")
    save(notebook, STRIPE, "gotcha")
    body = notebook("memory_consciousness")
    assert body["document"].startswith("# Tea shop")
    assert f"- {STRIPE}" in body["document"]
    assert (body["shown"], body["more"], body["hidden"]) == (2, 0, 0)


def test_what_has_faded_is_hidden_in_the_summary_and_still_found(notebook):
    aged(notebook, save(notebook, "Half of the checkout form is done", "progress")["id"], 6)
    assert "checkout" not in notebook("memory_consciousness")["document"]
    assert contents(notebook("memory_search", query="checkout form")) == ["Half of the checkout form is done"]


def test_statistics_count_every_type_and_say_whether_a_model_helps(notebook):
    save(notebook, STRIPE, "architecture", tags=["billing"])
    body = notebook("memory_stats")
    assert body["by_type"] == dict.fromkeys(CAPTURED, 0) | {"architecture": 1}
    assert (body["total"], body["faded"], body["top_tags"]) == (1, 0, [{"tag": "billing", "count": 1}])
    assert body["llm"]["ready"] is False
    asking(notebook)
    assert notebook("memory_stats")["llm"] == {"name": "scripted (fake)", "ready": True, "why_not": None}


# Deleting and merging


def test_deleting_destroys_and_a_second_time_is_an_error(notebook):
    id = save(notebook, STRIPE)["id"]
    assert notebook("memory_delete", id=id) == {"id": id, "deleted": True}
    assert notebook("memory_stats")["total"] == 0
    assert "no memory" in notebook.refused("memory_delete", id=id)["message"]


@pytest.mark.parametrize("given", ["nothing", "mem_" + "0" * 20])
def test_what_is_wrong_with_an_id_is_said_in_the_words_of_this_contract(notebook, given):
    body = notebook.refused("memory_delete", id=given)
    assert "memory_id" not in json.dumps(body) and "memory:" not in json.dumps(body)
    assert body.get("id", given) == given and [f["field"] for f in body.get("faults", ())] in ([], ["id"])


def test_a_refused_read_does_not_speak_of_writing(notebook):
    message = notebook.refused("memory_search", query="")["message"]
    assert message.endswith("Nothing was done.") and "written" not in message


def test_merging_by_hand_needs_three_of_a_type_and_can_be_undone(notebook):
    ids = [
        save(notebook, text, "gotcha")["id"] for text in ("Redis must run", "Ports clash with Docker", "Tests need UTC")
    ]
    merge = {
        "keep": [ids[0][4:]],
        "merge": [{"ids": [i[4:] for i in ids[1:]], "content": "Docker and UTC", "tags": []}],
    }
    asking(notebook, json.dumps(merge | {"drop": []}))
    body = notebook("memory_consolidate")
    assert [sorted(one["from"]) for one in body["merged"]] == [sorted(ids[1:])]
    assert sorted(contents(notebook("memory_recall"))) == ["Docker and UTC", "Redis must run"]
    notebook.app.engine.undo(body["run"], notebook.app.caller())
    assert notebook("memory_stats")["total"] == 3


@pytest.mark.sqlite  # a database on a server is backed up by whoever runs it
def test_a_copy_is_made_before_what_was_pruned_is_destroyed(notebook):
    ids = [save(notebook, text, "gotcha")["id"][4:] for text in ("Redis must run", "Ports clash", "Tests need UTC")]
    memory = notebook.store.memories(ids[:1])[ids[0]].memory
    since = memory.updated - timedelta(days=31)
    pruned = replace(memory, status=Status(State.PRUNED, "out of date", since), version=2)
    notebook.store.apply(Changes(memory.updated, memories=(pruned,)))
    body = notebook("memory_consolidate")
    assert (body["pruned"], body["destroyed"], notebook.store.memories(ids[:1])) == (0, 1, {})
    assert len(backups_holding(notebook.app.settings, ids[0])) == 1


def test_an_answer_that_loses_a_memory_changes_nothing(notebook):
    ids = [
        save(notebook, text, "gotcha")["id"] for text in ("Redis must run", "Ports clash with Docker", "Tests need UTC")
    ]
    asking(notebook, json.dumps({"keep": [ids[0][4:]], "merge": [], "drop": []}))
    body = notebook("memory_consolidate")
    assert (body["merged"], body["dropped"], body["by"]) == ([], [], "rules")
    assert notebook("memory_stats")["total"] == 3
