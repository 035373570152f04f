"""Plans as text: everything that a plan can hold comes back as it was."""

import json
from dataclasses import fields
from datetime import UTC
from typing import get_type_hints

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fakes import START
from making import a_memory, a_vector, an_embedding, an_entity, an_entry
from retain.domain.changes import Changes, Expectation, Run
from retain.domain.memory import Event, HistoryEntry, Kind, Memory, Rest, State, Status
from retain.stores.plans import plan_of, text_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
METADATA = st.dictionaries(st.text(), JSON, max_size=3)
MOMENTS = st.datetimes(timezones=st.just(UTC))


def some(kind):
    return st.lists(kind, max_size=2).map(tuple)


MEMORIES = st.builds(Memory, metadata=METADATA)
HISTORY = st.builds(HistoryEntry, rest=st.none() | st.builds(Rest, metadata=METADATA))
# The others are worked out from their types; these have JSON in them, which a type does not tell.
WITH_JSON = {
    "memories": some(MEMORIES),
    "history": some(HISTORY),
    "runs": some(st.builds(Run, metrics=METADATA)),
}


def some_of(name):
    return WITH_JSON[name] if name in WITH_JSON else st.from_type(get_type_hints(Changes)[name])


@st.composite
def plans(draw):
    """A plan in which a few fields hold something, whatever they are."""
    names = [field.name for field in fields(Changes) if field.name != "at"]
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True))
    return Changes(at=draw(MOMENTS), **{name: draw(some_of(name)) for name in chosen})


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(plans())
def test_any_plan_comes_back_as_it_was(plan):
    text = text_of(plan)
    assume("NaN" not in text)  # which is not equal to itself
    assert plan_of(text) == plan


@given(st.from_type(Expectation))
def test_every_expectation_comes_back_as_the_one_it_was(expected):
    (back,) = plan_of(text_of(Changes(at=START, expects=(expected,)))).expects
    assert back == expected
    assert type(back) is type(expected)


@given(METADATA, MOMENTS)
def test_metadata_and_moments_come_back_exactly(metadata, moment):
    rest = Rest(Kind.SEMANTIC, Status(State.FORGOTTEN, "old", moment), metadata, called=(None, "fact"))
    memory = a_memory(when=moment, metadata=metadata)
    plan = Changes(at=moment, memories=(memory,), history=(an_entry(memory, Event.UPDATED, rest=rest),))
    back = plan_of(text_of(plan))
    assert back == plan
    assert list(back.memories[0].metadata) == list(metadata)


def test_vectors_come_back_bit_by_bit():
    plan = Changes(at=START, embeddings=(an_embedding("m1", a_vector(1, 2, 3), first=2, missing=1),))
    assert plan_of(text_of(plan)).embeddings == plan.embeddings


def test_half_a_surrogate_pair_is_no_reason_to_lose_a_plan():
    plan = Changes(at=START, memories=(a_memory(text="broken \ud83d name"),))
    text = text_of(plan)
    assert text.isascii()
    assert plan_of(text) == plan


def test_a_plan_of_a_newer_version_is_read_as_far_as_it_is_known():
    told = json.loads(text_of(Changes(at=START, entities=(an_entity("Shop"),))))
    told["moods"] = ["calm"]
    told["entities"][0]["colour"] = "green"
    assert plan_of(json.dumps(told)) == Changes(at=START, entities=(an_entity("Shop"),))


def test_a_plan_says_little_beyond_what_it_holds():
    assert len(text_of(Changes(at=START))) < 60
