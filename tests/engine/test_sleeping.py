"""What sleeps, in recall: it is found, behind what is awake, and hides nothing of it."""

import pytest

from making import a_contradiction, a_link, a_memory, a_project, a_relation, an_embedding, an_entity, at, in_state, save
from retain.domain.memory import State
from retain.domain.recall import Strategy
from retain.domain.session import Caller
from retain.embedding.hashed import HashedEmbedder
from retain.engine.parts import Parts
from retain.engine.recall.channels import ChannelQuestion, recall_by_channels, search_by_meaning, search_by_words
from retain.engine.recall.recall import Question, recall

HERE = Caller(project=a_project("shop"))
ASKED = "Which backup of Falcon failed?"
AWAKE = a_memory("awake", "Falcon has no failed backup any more, since somebody replaced its disk")
DORMANT = in_state(State.DORMANT)


@pytest.fixture
def parts(store, clock):
    return Parts(store, HashedEmbedder(), clock)


def tell(parts, *memories, **fields):
    vectors = (an_embedding(m.id, *parts.embedder.embed([m.text]), model=parts.embedder.model) for m in memories)
    save(parts.store, *memories, embeddings=tuple(vectors), **fields)


def asleep(count):
    """Each says more of what is asked for than the one that is awake."""
    return [a_memory(f"m{n:02}", f"Backup {n} of Falcon failed", status=DORMANT) for n in range(count)]


def ids(answer):
    return [hit.id for hit in answer.hits]


@pytest.mark.parametrize("strategy", [Strategy.HYBRID, Strategy.VECTOR, Strategy.KEYWORD])
@pytest.mark.parametrize("limit", [1, 5, 30])
@pytest.mark.parametrize("count", [18, 70])
def test_what_is_awake_comes_first_however_much_sleeps(parts, count, limit, strategy):
    tell(parts, *asleep(count), AWAKE)
    found = ids(recall(parts, Question(ASKED, strategy=strategy, limit=limit), HERE))
    assert (found[0], len(found)) == ("awake", min(limit, count + 1))


@pytest.mark.parametrize("count", [18, 70])
def test_what_is_awake_comes_first_in_the_graph_too(parts, count):
    names, dormant = ("Falcon", "Hetzner"), asleep(count)
    tell(
        parts,
        *dormant,
        AWAKE,
        entities=tuple(map(an_entity, names)),
        links=(a_link("awake", "Hetzner"), *(a_link(each.id, "Falcon") for each in dormant)),
        relations=(a_relation(*names),),
    )
    assert ids(recall(parts, Question(ASKED, strategy=Strategy.GRAPH, limit=5), HERE))[0] == "awake"
    assert ids(recall_by_channels(parts, ChannelQuestion(ASKED, 5), HERE))[0] == "awake"


@pytest.mark.parametrize("limit", [1, 5, 30])
@pytest.mark.parametrize("count", [18, 100])
def test_what_is_awake_comes_first_in_recall_by_channels(parts, count, limit):
    tell(parts, *asleep(count), AWAKE)
    found = ids(recall_by_channels(parts, ChannelQuestion(ASKED, limit), HERE))
    assert (found[0], len(found)) == ("awake", min(limit, count + 1))


def test_what_sleeps_has_half_of_its_score(parts):
    awake, dormant = a_memory("awake", "Falcon is slow"), a_memory("asleep", "Falcon is slow", status=DORMANT)
    tell(parts, dormant, awake)
    for answer in (recall(parts, Question("Falcon"), HERE), recall_by_channels(parts, ChannelQuestion("Falcon"), HERE)):
        assert ids(answer) == ["awake", "asleep"]
        assert answer.hits[1].score == pytest.approx(answer.hits[0].score / 2, rel=0.02)


def test_what_sleeps_and_answers_better_by_far_leads(parts):
    tell(parts, *asleep(1), a_memory("awake", "Falcon has a logo, drawn by somebody who left, that nobody likes"))
    assert ids(recall(parts, Question(ASKED), HERE)) == ["m00", "awake"]


def test_what_contradicts_a_sleeping_one_is_lifted_to_the_whole_of_its_score(parts):
    (old,) = asleep(1)
    other = a_memory("new", "Not so, says Ada", event_time=at(60))
    tell(parts, old, other, contradictions=(a_contradiction("c", old.id, "new"),))
    lifted, _ = recall(parts, Question(ASKED), HERE).hits
    tell(parts, a_memory("like it", old.text, version=1))
    told = recall(parts, Question(ASKED), HERE).hits
    assert lifted.id == "new"
    assert lifted.score == pytest.approx(next(hit.score for hit in told if hit.id == "like it"), rel=0.02)


def test_a_search_has_the_order_of_its_one_measure(parts):
    tell(parts, *asleep(1), AWAKE)
    assert (
        ids(search_by_meaning(parts, ASKED, 5, HERE)) == ids(search_by_words(parts, ASKED, 5, HERE)) == ["m00", "awake"]
    )
