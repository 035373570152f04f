"""Rules and preferences that a task calls for, though it does not speak of them."""

from dataclasses import replace

import pytest

from making import a_contradiction, a_memory, a_project, a_vector, an_embedding, at, save, wanted
from retain.domain.memory import Stored
from retain.domain.recall import Hit, Strategy
from retain.domain.session import Caller
from retain.domain.standing import Rival, Standing
from retain.embedding.hashed import HashedEmbedder
from retain.engine.parts import Parts
from retain.engine.recall.recall import Question, recall
from retain.engine.recall.standing_rules import is_task, nearest, with_rules


@pytest.mark.parametrize(
    "text",
    [
        "put in a calendar widget for the booking page",
        "could you write the release notes for 2.4?",
        "where the tide page loads slowly, please make it faster",
    ],
)
def test_a_task_is_something_to_be_done(text):
    assert is_task(text)


@pytest.mark.parametrize(
    "text", ["which widget does the booking page use?", "how do we ship", "is the cache on?", "pnpm lockfile", ""]
)
def test_a_question_or_a_few_words_are_none(text):
    assert not is_task(text)


def hits(count):
    return [Hit(Stored(a_memory(f"m{n}")), 1 - n / 100, 0.5) for n in range(count)]


def test_rules_have_the_last_places_and_say_so():
    shown = with_rules(hits(20), ["m15", "m3", "m18"], 10)
    assert [hit.id for hit in shown] == [*(f"m{n}" for n in range(8)), "m15", "m18"]
    assert [hit.terms.get("standing_rule") for hit in shown[7:]] == [None, 1.0, 1.0]
    assert [hit.score for hit in shown] == sorted((hit.score for hit in shown), reverse=True)


def test_a_rule_that_came_by_itself_gives_way_to_no_other():
    shown = with_rules(hits(20), ["m9", "m15", "m18"], 10)
    assert [hit.id for hit in shown] == [*(f"m{n}" for n in range(7)), "m9", "m15", "m18"]


def test_a_rule_is_called_for_as_what_leads_it_now():
    found = hits(20)
    chain = [(18, 16), (16, 15)]  # each led by the other, which was said later
    for below, leading in chain:
        newer = replace(found[leading].stored.memory, reinforced=1, reinforced_at=at(60 - leading))
        against = Rival(a_contradiction("c", f"m{below}", f"m{leading}"), newer)
        stored = replace(found[below].stored, standing=Standing((against,)))
        found[below] = replace(found[below], stored=stored)
    assert [hit.id for hit in with_rules(found, ["m18"], 10)] == [*(f"m{n}" for n in range(9)), "m15"]


def test_without_rules_the_best_are_shown():
    assert with_rules(hits(20), [], 10) == hits(10)


def test_of_the_rules_the_nearest_are_called_for_and_nothing_else(store, clock):
    parts = Parts(store, HashedEmbedder(), clock)
    told = {"near": ("pattern", 9), "nearer": ("preference", 12), "far": ("decision", 1), "fact": ("context", 30)}
    save(
        store,
        *(a_memory(id, id, category=category) for id, (category, _) in told.items()),
        embeddings=tuple(
            an_embedding(id, a_vector(part, 12), model=parts.embedder.model) for id, (_, part) in told.items()
        ),
    )
    assert nearest(parts, a_vector(1), wanted(), 10) == ("nearer", "near")
    assert nearest(parts, a_vector(1), wanted(), 4) == ("nearer",)
    assert nearest(parts, a_vector(1), wanted(), 3) == ()


@pytest.mark.parametrize("strategy", [Strategy.HYBRID, Strategy.VECTOR])
def test_a_task_is_answered_by_words_where_its_vector_cannot_be_compared(store, clock, strategy):
    parts = Parts(store, HashedEmbedder(), clock)
    rule = a_memory("rule", "We install with pnpm", category="pattern")
    save(store, rule, embeddings=(an_embedding("rule", a_vector(1), model=parts.embedder.model),))
    task = Question("install the date picker with pnpm now", strategy=strategy)
    answer = recall(parts, task, Caller(project=a_project("shop")))
    assert [hit.id for hit in answer.hits] == ["rule"]
    assert [warning.code for warning in answer.warnings] == ["partial_results"]
