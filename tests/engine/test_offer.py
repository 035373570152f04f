"""What is offered for a prompt: what it needs and nothing else, of two that disagree the newer, and each once."""

from dataclasses import replace
from datetime import timedelta

import pytest

from fakes import START, FixedClock
from making import (
    EVERYWHERE,
    a_contradiction,
    a_memory,
    a_place,
    a_project,
    a_session_place,
    an_embedding,
    at,
    in_state,
    save,
)
from retain.domain.changes import ContradictionState
from retain.domain.memory import State
from retain.domain.session import Caller
from retain.embedding.hashed import HashedEmbedder
from retain.embedding.off import NoEmbedder
from retain.embedding.onnx import OnnxEmbedder
from retain.engine.engine import Engine
from retain.engine.offer import Prompted, offer
from retain.engine.parts import Parts
from retain.errors import QueryTimeout

HERE = Caller(project=a_project("shop"), session="now")
WEBHOOK = "The Stripe webhook route needs the raw body"
PROMPT = "the stripe webhook gets the wrong body"
CHIT_CHAT = [
    "thanks",
    "yes do it",
    "fix the typo",
    "ok, go on",
    "/compact",
    "",
    "   ",
    "try again please",
    "1 2 3",
    "👍",
]


@pytest.fixture
def parts(sqlite_file, clock):
    return Parts(sqlite_file, NoEmbedder("off in this test"), clock)


def offered(parts, prompt=PROMPT, caller=HERE, seen=(), **given):
    return [note.memory.id for note in offer(parts, Prompted(prompt, **given), caller, seen).notes]


def test_what_a_prompt_is_about_is_offered_with_how_well_it_fits(parts):
    save(parts.store, a_memory("webhook", WEBHOOK), a_memory("deploys", "Deploys go to Fly.io"))
    (note,) = offer(parts, Prompted(PROMPT), HERE).notes
    assert note.memory.id == "webhook"
    assert 0.3 < note.terms["words"] <= 1
    assert note.score == 0.8 * note.terms["words"]


def test_a_memory_without_vectors_is_offered_by_its_words_while_others_have_them(sqlite_file, clock):
    embedder = HashedEmbedder()
    other = an_embedding("m2", *embedder.embed(["Deploys go to Fly.io"]), model=embedder.model)
    save(sqlite_file, a_memory("m1", WEBHOOK), a_memory("m2", "Deploys go to Fly.io"), embeddings=(other,))
    assert offered(Parts(sqlite_file, embedder, clock)) == ["m1"]


@pytest.mark.parametrize("prompt", CHIT_CHAT)
def test_chit_chat_and_orders_without_a_subject_are_offered_nothing(parts, prompt):
    save(parts.store, a_memory(text=f"{prompt} thanks yes fix typo try again go on compact 1 2 3"))
    assert offered(parts, prompt) == []


def test_one_common_word_that_both_have_is_not_enough(parts):
    save(parts.store, *(a_memory(f"m{n}", f"The server number {n} is called planet-{n}") for n in range(20)))
    assert offered(parts, "does the server in Berlin have a printer and a scanner") == []


@pytest.mark.parametrize("state", [state for state in State if state is not State.ACTIVE])
def test_only_what_is_active_is_offered(parts, state):
    save(parts.store, a_memory(text=WEBHOOK, status=in_state(state)))
    assert offered(parts) == []


def test_what_holds_no_longer_or_not_yet_is_not_offered(parts):
    save(
        parts.store,
        a_memory("ended", WEBHOOK, valid_until=at(-1)),
        a_memory("coming", f"{WEBHOOK}, from April on", valid_from=at(60)),
    )
    assert offered(parts) == []


def test_progress_that_has_faded_is_not_offered_and_lasting_knowledge_is(parts):
    old = START - timedelta(days=6)
    save(parts.store, a_memory("progress", f"{WEBHOOK}: half done", category="progress", when=old))
    assert offered(parts) == []
    save(parts.store, a_memory("decision", WEBHOOK, category="decision", when=old))
    assert offered(parts) == ["decision"]


def test_of_two_that_contradict_each_other_only_the_newer_is_offered(parts):
    older, newer = a_memory("m1", WEBHOOK), a_memory("m2", f"{WEBHOOK} no more")
    save(parts.store, older, newer, contradictions=(a_contradiction("c", "m1", "m2"),))
    assert offered(parts) == ["m2"]


def test_the_newer_takes_the_place_of_the_older_though_it_uses_other_words(parts):
    older, newer = a_memory("m1", WEBHOOK), a_memory("m2", "Parsed JSON is fine since Stripe moved to v2")
    save(parts.store, older, newer, contradictions=(a_contradiction("c", "m1", "m2"),))
    (note,) = offer(parts, Prompted("the webhook route needs which body"), HERE).notes
    assert (note.memory.id, note.replaces, note.before.id) == ("m2", "m1", "m1")


def test_what_was_superseded_is_not_told_as_said_before(parts):
    older, newer = a_memory("m1", WEBHOOK, status=in_state(State.SUPERSEDED)), a_memory("m2", f"{WEBHOOK} no more")
    save(parts.store, older, newer, contradictions=(a_contradiction("c", "m1", "m2"),))
    (note,) = offer(parts, Prompted(PROMPT), HERE).notes
    assert (note.memory.id, note.before) == ("m2", None)


def test_nothing_is_offered_where_nobody_can_say_what_is_disputed(parts):
    class Late:
        def __getattr__(self, name):
            return getattr(parts.store, name)

        def contradictions(self, ids):
            raise QueryTimeout("too late")

    save(parts.store, a_memory("m1", WEBHOOK))
    with pytest.raises(QueryTimeout):
        offer(replace(parts, store=Late()), Prompted(PROMPT), HERE)


def test_two_that_were_found_to_be_both_right_are_both_offered(parts):
    settled = a_contradiction("c", "m1", "m2", state=ContradictionState.CONTEXT_DEPENDENT)
    staging = a_memory("m2", "In staging the Stripe webhook route takes a parsed body")
    save(parts.store, a_memory("m1", WEBHOOK), staging, contradictions=(settled,))
    assert sorted(offered(parts)) == ["m1", "m2"]


def test_of_near_duplicates_one_is_offered(parts):
    save(parts.store, a_memory("m1", WEBHOOK), a_memory("m2", f"{WEBHOOK}!", place=EVERYWHERE))
    assert len(offered(parts)) == 1


def test_two_facts_that_differ_in_a_number_are_both_offered(parts):
    save(parts.store, a_memory("m1", "Redis listens on port 6379"), a_memory("m2", "Redis listens on port 6380"))
    assert sorted(offered(parts, "on which port does redis listen")) == ["m1", "m2"]


def test_sessions_of_others_projects_of_others_and_people_are_not_looked_into(parts):
    save(
        parts.store,
        a_memory("session", WEBHOOK, place=a_session_place("yesterday"), session="yesterday"),
        a_memory("project", WEBHOOK, place=a_place("blog")),
        a_memory("person", WEBHOOK, place=a_place("shop", user="ada")),
    )
    assert offered(parts) == []


def test_what_was_said_in_this_conversation_comes_back_only_once_it_was_cut(parts):
    save(parts.store, a_memory("m1", WEBHOOK, session="now", when=at(-60)))
    assert offered(parts) == []
    assert offered(parts, lost=at(-120)) == []
    assert offered(parts, lost=at(-30)) == ["m1"]


def test_what_was_seen_is_left_out_and_does_not_make_room_for_what_fits_less(parts):
    save(parts.store, a_memory("m1", WEBHOOK), a_memory("m2", "The Stripe logo is in assets/"))
    assert offered(parts) == ["m1"]
    assert offered(parts, seen=["m1"]) == []


def test_a_summary_speaks_for_what_it_was_made_from(parts):
    summary = a_memory("m2", "Routes of the Stripe webhook: raw body, and 5 s", derived_from=("m1",))
    save(parts.store, a_memory("m1", WEBHOOK, consolidated=True), summary)
    assert offered(parts) == ["m2"]


def test_at_most_five_are_offered(parts):
    names = ["alpha", "bravo", "carol", "delta", "early", "fable", "grape", "hotel"]
    save(parts.store, *(a_memory(name, f"Stripe webhook {name} {name}s secret") for name in names))
    assert len(offered(parts, "rotate the stripe webhook secret")) == 5


def test_a_prompt_of_a_million_letters_is_looked_at_by_its_beginning_and_its_end(parts):
    save(parts.store, a_memory("m1", WEBHOOK))
    assert offered(parts, "x " * 500_000 + PROMPT) == ["m1"]
    assert offered(parts, PROMPT + " x" * 500_000) == ["m1"]


def test_what_is_offered_counts_as_used(sqlite_file):
    engine = Engine(Parts(sqlite_file, HashedEmbedder(), FixedClock()))
    save(sqlite_file, a_memory("m1", WEBHOOK))
    engine.offer(Prompted(PROMPT), HERE)
    assert engine.settle(10)
    assert sqlite_file.memories(["m1"])["m1"].accesses == 1


@pytest.fixture(scope="module")
def bundled():
    embedder = OnnxEmbedder()
    embedder.warm()
    assert embedder.wait(60)
    return embedder


def test_with_the_model_a_prompt_finds_what_says_it_in_other_words(sqlite_file, clock, bundled):
    texts = {"m1": "Deploys go to Fly.io with `fly deploy`, never on Fridays", "m2": "Prices are integers in cents"}
    vectors = bundled.embed(list(texts.values()))
    memories = [a_memory(id, text) for id, text in texts.items()]
    made = [an_embedding(id, vector, model=bundled.model) for id, vector in zip(texts, vectors, strict=True)]
    save(sqlite_file, *memories, embeddings=tuple(made))
    parts = Parts(sqlite_file, bundled, clock)
    assert offered(parts, "how do we ship this to production?") == ["m1"]
    assert offered(parts, "what is the capital of Australia") == []


@pytest.mark.parametrize(("prompt", "found"), [("Where do tests live?", ["m1"]), ("what now?", []), ("test it", [])])
def test_a_question_in_common_words_has_meaning_for_the_model(sqlite_file, clock, bundled, prompt, found):
    texts = {"m1": "Tests live in tests/all now", "m2": "Prices are integers in cents"}
    vectors = bundled.embed(list(texts.values()))
    made = [an_embedding(id, vector, model=bundled.model) for id, vector in zip(texts, vectors, strict=True)]
    save(sqlite_file, *(a_memory(id, text) for id, text in texts.items()), embeddings=tuple(made))
    assert offered(Parts(sqlite_file, bundled, clock), prompt) == found
