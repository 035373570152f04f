"""Filing: what was stored without a type gets a category, and nothing else about it changes."""

from dataclasses import replace

import pytest

from fakes import EagerJudge, FixedClock, Rival
from making import a_memory, a_project, a_vector, an_embedding, in_state, save
from retain.domain.memory import State
from retain.domain.session import Caller
from retain.embedding.hashed import HashedEmbedder
from retain.engine.lifecycle.filing import file
from retain.engine.parts import Parts
from retain.engine.revise import Edit, update

ID = "0mwi0000000000000000"
HERE = Caller(project=a_project("shop"), session="now")
SQUASH = a_memory(ID, "Always squash commits", tags=("git",), metadata={"said_by": "user"})


@pytest.fixture
def parts(store):
    return Parts(store, HashedEmbedder(), FixedClock())


def filed(parts, *ids, **judge):
    file(parts, EagerJudge(**judge), ids or [ID])
    return parts.store.memories(ids or [ID])


def test_a_memory_gets_the_category_that_the_judge_names_and_nothing_else_changes(parts):
    save(parts.store, SQUASH, embeddings=(an_embedding(ID, a_vector(1)),))
    before = parts.store.memories([ID])[ID]
    assert filed(parts)[ID] == replace(before, memory=replace(SQUASH, category="pattern"))
    assert parts.store.history(ID) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"category": "decision"},
        {"title": "Squashing"},
        {"metadata": {"entry": "issue"}},
        {"status": in_state(State.FORGOTTEN)},
    ],
)
def test_what_has_a_category_a_title_a_log_or_an_end_is_left_alone(parts, fields):
    memory = replace(SQUASH, **fields)
    save(parts.store, memory)
    assert filed(parts)[ID].memory == memory


@pytest.mark.parametrize("category", ["progress", "context"])
def test_what_would_fade_under_its_category_stays_without(parts, category):
    save(parts.store, SQUASH)
    assert filed(parts, category=category)[ID].memory.category is None


def test_a_text_of_which_the_judge_knows_nothing_stays_without(parts):
    save(parts.store, SQUASH)
    assert filed(parts, told={SQUASH.text: 0.2})[ID].memory.category is None


def test_who_edits_it_at_the_same_moment_goes_first(parts):
    save(parts.store, SQUASH)
    edit = Edit("Never squash commits", category="decision")
    rival = Rival(parts.store, lambda: update(parts, ID, edit, HERE))
    file(replace(parts, store=rival), EagerJudge(), [ID])
    memory = parts.store.memories([ID])[ID].memory
    assert (memory.text, memory.category, memory.version) == ("Never squash commits", "decision", 2)


def test_an_edit_that_leaves_the_category_open_is_judged_as_it_reads_now(parts):
    save(parts.store, SQUASH)
    rival = Rival(parts.store, lambda: update(parts, ID, Edit("Never squash commits"), HERE))
    judge = EagerJudge()
    file(replace(parts, store=rival), judge, [ID])
    memory = parts.store.memories([ID])[ID].memory
    assert (memory.text, memory.category, memory.version) == ("Never squash commits", "pattern", 2)
    assert [text for text, _ in judge.asked] == ["Always squash commits", "Never squash commits"]


def test_one_that_is_gone_is_passed_over(parts):
    assert file(parts, EagerJudge(), ["gone"]) == 0
