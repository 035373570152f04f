"""Both stores answer alike: the same texts in the same places come back in the same order, with the same scores."""

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from making import EVERYWHERE, MODEL, a_memory, a_place, a_vector, an_embedding, at, in_state, save, wanted
from retain.domain.memory import Kind, Source, State
from retain.domain.words import query_terms
from retain.stores.sqlite.store import MEMORY, SqliteStore
from retain.stores.surreal.link.connection import in_memory
from retain.stores.surreal.store import SurrealStore

DOCS = Path(__file__).parents[2] / "docs"
AT_ONCE = 50
FILTERS = [
    wanted(),
    wanted(places=(a_place(),)),
    wanted(places=(a_place("blog"), EVERYWHERE), states=()),
    wanted(kinds=(Kind.EPISODIC, Kind.SEMANTIC)),
    wanted(tags=("OPS",), states=(State.ACTIVE, State.ARCHIVED)),
    wanted(after=at(40), before=at(90.5)),
    wanted(min_importance=0.5, min_length=60),
    wanted(session="s1", valid_at=at(60)),
]


def sentences():
    """Of different lengths, as people write them."""
    text = " ".join(page.read_text() for page in sorted(DOCS.glob("*.md")))
    prose = re.sub(r"[|`#*>\[\]]+", " ", re.sub(r"```.*?```", " ", text, flags=re.DOTALL))
    found = dict.fromkeys(" ".join(one.split()) for one in re.split(r"(?<=[.:;])\s+", prose))
    return [one for one in found if 3 <= len(one.split()) <= 60]


def made(number, text, pick):
    """One of many memories, that differs from the others in all that a filter looks at."""
    memory = a_memory(
        f"m{pick.randrange(10**9):09}",
        text,
        place=pick.choice([a_place(), a_place(), EVERYWHERE, a_place("blog")]),
        kind=pick.choice(list(Kind)),
        title=text[:20] if number % 7 == 0 else None,
        tags=pick.choice([(), ("Ops",), ("ops", "deploy")]),
        importance=pick.choice([0.2, 0.5, 0.9]),
        session=pick.choice([None, "s1", "s2"]),
        source=Source(file="src/app.py" if number % 11 == 0 else None),
        when=at(number // 3 / 2),  # three at each moment, half of them on whole seconds
    )
    return replace(memory, status=in_state(State.ARCHIVED)) if number % 9 == 0 else memory


@pytest.fixture(scope="module")
def both():
    """The same few hundred memories in both stores, some of them changed and destroyed since."""
    pick = random.Random(7)
    memories = [made(number, text, pick) for number, text in enumerate(sentences()[:420])]
    stores = SqliteStore(MEMORY), SurrealStore(in_memory())
    changed = [replace(memory, text=f"{memory.text} Deploy twice.", version=2) for memory in memories[::25]]
    for store in stores:
        for start in range(0, len(memories), AT_ONCE):
            some = memories[start : start + AT_ONCE]
            save(store, *some, embeddings=tuple(embedded(memory) for memory in some))
        save(store, *changed, purged=tuple(memory.id for memory in memories[1::40]))
    yield (*stores, memories)
    for store in stores:
        store.close()


def embedded(memory):
    pick = random.Random(memory.id)
    return an_embedding(memory.id, a_vector(*(pick.uniform(-1, 1) for _ in range(8))))


def questions(memories):
    """Rare words, common ones, and what nobody said."""
    pick = random.Random(11)
    asked = [" ".join(pick.sample(memory.text.split(), min(6, len(memory.text.split())))) for memory in memories[::14]]
    return [*asked, "memory", "memory store", "the store of a memory is used by every project", "deploy", "zanzibar"]


@pytest.mark.parametrize("filter", FILTERS)
def test_words_are_ranked_alike(both, filter):
    here, there, memories = both
    for question in questions(memories):
        terms = query_terms(question)
        one, other = (store.by_words(terms, filter, 30, counted=True) for store in (here, there))
        assert list(other.scores) == list(one.scores)
        assert list(other.scores.values()) == pytest.approx(list(one.scores.values()), abs=1e-6)
        assert (other.matched, other.exact) == (one.matched, one.exact)
        assert other.corpus == there.corpus(terms)


def test_all_texts_are_counted_alike(both):
    here, there, memories = both
    terms = list(dict.fromkeys(term for question in questions(memories) for term in query_terms(question)))
    one, other = here.corpus(terms), there.corpus(terms)
    assert (other.documents, dict(other.holding)) == (one.documents, dict(one.holding))
    assert other.average_length == pytest.approx(one.average_length)
    assert there.counts("", MODEL) == here.counts("", MODEL)


@pytest.mark.parametrize("filter", FILTERS)
def test_lists_and_pages_come_in_the_same_order(both, filter):
    here, there, _ = both
    assert there.listed(filter, 40, 7) == here.listed(filter, 40, 7)
    assert there.total(filter) == here.total(filter)
    last = None
    while (page := here.page(filter, 37, 1, last)).items:
        assert there.page(filter, 37, 1, last) == page
        last = page.last
    assert there.page(filter, 37, 1, last) == page


@pytest.mark.parametrize("filter", FILTERS)
def test_titles_tags_and_whoever_holds_a_term_are_the_same(both, filter):
    here, there, memories = both
    assert there.titles(filter) == here.titles(filter)
    assert {tag.casefold(): n for tag, n in there.tags(filter).items()} == {
        tag.casefold(): n for tag, n in here.tags(filter).items()
    }
    for question in questions(memories)[::5]:
        assert there.holding(query_terms(question), filter) == here.holding(query_terms(question), filter)


@pytest.mark.parametrize("filter", FILTERS)
def test_contexts_are_the_same(both, filter):
    here, there, memories = both
    ids = [memory.id for memory in memories[::4]]
    for reach, beside in ((0, ()), (2, ()), (2, ids[::3])):
        one, other = (store.contexts(ids, filter, reach, beside) for store in (here, there))
        assert [in_order(context) for context in other] == [in_order(context) for context in one]


def in_order(context):
    return replace(context, neighbours=sorted(context.neighbours))


@pytest.mark.parametrize("filter", FILTERS)
def test_vectors_are_ranked_alike(both, filter):
    here, there, memories = both
    for memory in memories[::30]:
        vector = embedded(memory).vectors[0]
        one, other = (store.by_vector(vector, MODEL, filter, 20) for store in (here, there))
        assert list(other.scores) == list(one.scores)
        assert list(other.scores.values()) == pytest.approx(list(one.scores.values()), abs=1e-6)
