"""A disputed memory says so wherever it is handed out: in every toolset, in its dress, and on the terminal."""

from dataclasses import dataclass, replace

import pytest

from retain.domain.changes import Changes, ContradictionState
from retain.domain.time import iso
from surfaces.command import Command
from surfaces.wire import BANK, CAPTURE, GRAPH, TOOLS, Desk

OLD, NEW = "The billing API listens on port 8080.", "The billing API listens on port 9090."
ASKED = "Which port does the billing API listen on?"
ABOUT = {"tags": ["billing"], "related_entities": [{"name": "billing", "type": "service", "relationship": "describes"}]}
PORT = {"query": "billing API port"}
RECALLS = [
    (TOOLS, "recall_memories", PORT, "memory:"),
    (TOOLS, "search_knowledge_graph", {"entity": "billing"}, "memory:"),
    (GRAPH, "recall", PORT, ""),
    (GRAPH, "search", PORT, ""),
    (GRAPH, "search_text", PORT, ""),
    (GRAPH, "list_memories", {}, ""),
    (CAPTURE, "memory_search", PORT, "mem_"),
    (CAPTURE, "memory_recall", {}, "mem_"),
    (CAPTURE, "memory_related", {"tags": ["billing"]}, "mem_"),
    (CAPTURE, "memory_ask", {"question": ASKED}, "mem_"),
    (BANK, "memory_search", {**PORT, "threshold": 0.1}, "mem_"),
    (BANK, "memory_faceted-search", {**PORT, "threshold": 0.1}, "mem_"),
    (BANK, "memory_enhanced-search", {**PORT, "threshold": 0.1}, "mem_"),
]
ONE = [
    (TOOLS, "get_memory", "memory:"),
    (GRAPH, "get_memory", ""),
    (BANK, "memory_get", "mem_"),
]


@dataclass(frozen=True)
class Told:
    """A memory with two entries that a rule has found to contradict each other, by their bare ids."""

    desk: Desk
    old: str
    new: str

    def __call__(self, tools, name, **given):
        """What a tool of any set says."""
        self.desk.tools = tools
        return self.desk(name, **given)

    def settle(self, **decided):
        """Somebody decides what the contradiction comes to."""
        (found,) = self.desk.store.contradictions([self.old])
        self.desk.store.apply(Changes(at=found.found, contradictions=(replace(found, **decided),)))


@pytest.fixture
def told(desk):
    """The two, and one that nothing disputes."""
    third = "The billing API is written in Go, and its port is in a file."
    ids = [desk.stored(text, **ABOUT).removeprefix("memory:") for text in (OLD, NEW, third)]
    return Told(desk, *ids[:2])


def rows(body):
    return next(body[name] for name in ("memories", "results", "sources") if name in body)


def disputes(body):
    """The rows that are disputed, by id, each with what disputes it."""
    return {row["id"]: row["disputed"] for row in rows(body) if "disputed" in row}


def rival(told, id, text, why, *, newer):
    """What disputes a memory, as the other one says so."""
    (found,) = told.desk.store.contradictions([told.old])
    (other,) = told.desk.store.memories([told.new if newer else told.old]).values()
    said = {"content": text, "said": iso(other.memory.last_said), "newer": newer}
    return [{"id": id, "contradiction_id": found.id, "why": why, **said}]


@pytest.mark.parametrize(("tools", "name", "given", "dress"), RECALLS)
def test_every_answer_names_the_rival_in_the_sets_dress(told, tools, name, given, dress):
    body = told(tools, name, **given)
    assert len(rows(body)) == 3
    old, new = (dress + told.old, dress + told.new)
    why = disputes(body)[old][0]["why"]
    assert disputes(body) == {
        old: rival(told, new, NEW, why, newer=True),
        new: rival(told, old, OLD, why, newer=False),
    }


@pytest.mark.parametrize(("tools", "name", "dress"), ONE)
def test_one_memory_by_id_names_its_rival(told, tools, name, dress):
    body = told(tools, name, id=told.old)
    assert [(rival["id"], rival["content"]) for rival in body["disputed"]] == [(dress + told.new, NEW)]


@pytest.mark.parametrize(("tools", "name", "given", "dress"), RECALLS)
def test_nothing_is_disputed_any_more_once_it_is_resolved(told, tools, name, given, dress):
    told.settle(state=ContradictionState.RESOLVED, winner=told.new)
    assert disputes(told(tools, name, **given)) == {}


@pytest.mark.parametrize(("tools", "name", "given", "dress"), RECALLS)
def test_conditions_stand_beside_what_holds_under_them(told, tools, name, given, dress):
    told.settle(state=ContradictionState.CONTEXT_DEPENDENT, conditions="8080 in tests, 9090 elsewhere")
    body = told(tools, name, **given)
    assert [row.get("conditions") for row in rows(body)].count("8080 in tests, 9090 elsewhere") == 2
    assert disputes(body) == {}


def test_a_rival_that_is_forgotten_disputes_nothing(told):
    told(TOOLS, "forget_memory", memory_id=told.new, reason="wrong")
    assert disputes(told(TOOLS, "recall_memories", **PORT)) == {}


def test_a_long_rival_is_cut_to_one_line(told):
    told(TOOLS, "update_memory", memory_id=told.new, content=NEW + "\n\nSee the file.\n" + "word " * 200)
    (rival,) = told(TOOLS, "get_memory", id=told.old)["disputed"]
    assert rival["content"].startswith(NEW + " See the file. word")
    assert len(rival["content"]) <= 201


def test_the_context_block_shows_the_newer_with_what_was_noted_before(told):
    block = told(TOOLS, "get_memory_context", task_description=ASKED)["context_block"]
    assert f"- {NEW} (noted by the agent) (On " in block
    assert f" it was noted: {OLD})" in block
    assert f"- {OLD}" not in block


# The terminal


@pytest.fixture
def typed(tmp_path):
    """The command, and the ids of the two."""
    retain = Command.in_folder(tmp_path)
    return retain, [retain.stored(text) for text in (OLD, NEW)]


@pytest.mark.parametrize(
    ("words", "dress"),
    [
        (("recall", ASKED), "memory:"),
        (("search", ASKED), "mem_"),
        (("search", ASKED, "--explain"), "mem_"),
        (("list",), "mem_"),
        (("ask", ASKED), "memory:"),
    ],
)
def test_commands_say_by_what_a_memory_is_disputed(typed, words, dress):
    retain, ids = typed
    shown = retain(*words).out
    for id, text in zip(ids, (OLD, NEW), strict=True):
        assert f"disputed by {id.replace('memory:', dress)}: {text} (" in shown


def test_show_names_the_rival_and_says_the_same_to_programs(typed):
    retain, (old, new) = typed
    assert f"disputed by {new}: {NEW}" in retain("show", old).out
    assert retain("show", old, "--json").body["disputed"][0]["id"] == new
