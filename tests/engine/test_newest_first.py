"""What holds now comes first, on every surface and for every way in which one memory takes the place of another."""

import struct
from dataclasses import dataclass, replace

import pytest

from fakes import FixedClock
from making import a_contradiction, a_link, a_memory, a_project, an_embedding, an_entity, at, in_state, save
from retain.domain.changes import ContradictionState
from retain.domain.memory import Provenance, Source, State, Vector
from retain.domain.recall import Strategy
from retain.domain.session import Caller
from retain.embedding.hashed import HashedEmbedder
from retain.engine.context import Task, assemble
from retain.engine.digest import digest
from retain.engine.knowledge.walk import GraphQuestion, search_graph
from retain.engine.lookup.matching import Search
from retain.engine.lookup.matching import search as look_up
from retain.engine.offer import Prompted, offer
from retain.engine.parts import Parts, places
from retain.engine.recall.channels import ChannelQuestion, recall_by_channels, search_by_meaning, search_by_words
from retain.engine.recall.recall import Question, recall
from retain.engine.trust.recalling import TrustQuestion, recall_by_trust
from retain.errors import QueryTimeout
from retain.stores.sqlite import glance

HERE = Caller(project=a_project("shop"), session="now")
ASKED = "which body does the stripe webhook route need"
# The first is nearest to the question; the last has no word of it.
OLD, MIDDLE, NEW = (
    a_memory("old", "The stripe webhook route needs the raw body"),
    a_memory("middle", "The stripe webhook takes form data", when=at(60)),
    a_memory("new", "Parsed JSON is fine since version two", when=at(120)),
)
BESIDE = a_memory("beside", "The stripe webhook is called billing", when=at(30))
USER, MODEL = (Source(provenance=each) for each in (Provenance.TOLD_BY_USER, Provenance.MODEL_GENERATED))


def by_recall(strategy):
    return lambda parts: [hit.id for hit in recall(parts, Question(ASKED, strategy=Strategy(strategy)), HERE).hits]


def by_graph(parts):
    return [stored.memory.id for stored in search_graph(parts, GraphQuestion("webhook"), HERE).memories]


# Who asks is shown both sides, the one that holds now first.
ASKING = {
    "recall": by_recall("hybrid"),
    "recall by words": by_recall("keyword"),
    "recall by meaning": by_recall("vector"),
    "recall by graph": by_recall("graph"),
    "knowledge graph": by_graph,
    "graph set, recall": lambda parts: [h.id for h in recall_by_channels(parts, ChannelQuestion(ASKED), HERE).hits],
    "graph set, meaning": lambda parts: [h.id for h in search_by_meaning(parts, ASKED, 10, HERE).hits],
    "graph set, words": lambda parts: [h.id for h in search_by_words(parts, ASKED, 10, HERE).hits],
    "bank": lambda parts: [h.id for h in look_up(parts, Search(ASKED, threshold=0.1), HERE).hits],
    "audrey": lambda parts: [h.id for h in recall_by_trust(parts, TrustQuestion(ASKED), HERE).hits],
}


def noted(parts):
    return [(n.memory.id, n.before and n.before.id) for n in offer(parts, Prompted(ASKED), HERE).notes]


def glanced(parts):
    db = glance.opened(str(parts.store.path), 5.0)
    sight = glance.Sight([place.key for place in places(HERE)], "now")
    rows = [row for row, _ in glance.relevant(db, ASKED, sight, parts.clock.now().timestamp())]
    db.close()
    return [(row["id"], row["earlier"]["id"] if "earlier" in row else None) for row in rows]


def lines(text):
    """Which of the memories each line is about, and which it tells of as said before, by how they begin."""
    known = {memory.text[:20]: memory.id for memory in (OLD, MIDDLE, NEW, BESIDE)}
    found = []
    for line in text.splitlines():
        if line.startswith("- "):
            said = sorted((line.index(text), id) for text, id in known.items() if text in line)
            found.append((said[0][1], said[1][1] if len(said) > 1 else None))
    return found


# What is put in front of an agent unasked has one line for the two.
UNASKED = {
    "offer": noted,
    "hook": glanced,
    "context": lambda parts: lines(assemble(parts, Task(ASKED), HERE).text),
    "CLAUDE.md": lambda parts: lines(digest(parts, HERE, 150).markdown),
}


@dataclass(frozen=True)
class Told:
    """What is stored, what becomes of it for whoever asks, and which line it makes for who does not."""

    memories: tuple
    contradictions: tuple
    first: tuple[str, ...]
    line: tuple[str, str | None]


def disputed(*pairs, **fields):
    return tuple(a_contradiction(f"c{number}", *pair, **fields) for number, pair in enumerate(pairs))


def superseded(memory, by):
    return replace(memory, status=in_state(State.SUPERSEDED, since=at(200), successor=by), valid_until=at(120))


KINDS = {
    "disputed": Told((OLD, NEW), disputed(("old", "new")), ("new", "old"), ("new", "old")),
    "reopened": Told(
        (OLD, NEW), disputed(("old", "new"), state=ContradictionState.REOPENED), ("new", "old"), ("new", "old")
    ),
    "chain": Told(
        (OLD, MIDDLE, NEW),
        disputed(("old", "middle"), ("middle", "new")),
        ("new", "middle", "old"),
        ("new", "middle"),
    ),
    "superseded": Told((superseded(OLD, "middle"), MIDDLE), (), ("middle",), ("middle", None)),
    "resolved": Told(
        (superseded(OLD, "middle"), MIDDLE),
        disputed(("old", "middle"), state=ContradictionState.RESOLVED, winner="middle"),
        ("middle",),
        ("middle", None),
    ),
    "said again": Told(
        (replace(OLD, reinforced=1, reinforced_at=at(300)), MIDDLE),
        disputed(("old", "middle")),
        ("old", "middle"),
        ("old", "middle"),
    ),
    "a much weaker word": Told(
        (replace(OLD, source=USER), replace(MIDDLE, source=MODEL)),
        disputed(("old", "middle")),
        ("old", "middle"),
        ("old", "middle"),
    ),
}


@pytest.fixture
def parts(sqlite_file):
    return Parts(sqlite_file, HashedEmbedder(), FixedClock(at(3600)))


def tell(parts, *memories, contradictions=()):
    vectors = [an_embedding(m.id, *parts.embedder.embed([m.text]), model=parts.embedder.model) for m in memories]
    webhook, links = an_entity("webhook"), tuple(a_link(m.id, "webhook") for m in memories if m.id != "new")
    save(
        parts.store,
        *memories,
        embeddings=tuple(vectors),
        entities=(webhook,),
        links=links,
        contradictions=contradictions,
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("surface", ASKING)
def test_who_asks_is_shown_what_holds_now_first_and_never_the_old_alone(parts, surface, kind):
    told = KINDS[kind]
    tell(parts, BESIDE, *told.memories, contradictions=told.contradictions)
    found = [id for id in ASKING[surface](parts) if id != "beside"]
    assert [id for id in found if id in told.first] == list(told.first)
    assert found[0] == told.first[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("surface", UNASKED)
def test_who_did_not_ask_is_shown_one_line_with_what_was_said_before(parts, surface, kind):
    told = KINDS[kind]
    tell(parts, BESIDE, *told.memories, contradictions=told.contradictions)
    found = {id: before for id, before in UNASKED[surface](parts) if id != "beside"}
    assert found == dict([told.line])


@pytest.mark.parametrize("surface", ASKING)
def test_what_holds_in_cases_of_its_own_keeps_its_place(parts, surface):
    tell(parts, OLD, MIDDLE, BESIDE)
    before = ASKING[surface](parts)
    both = a_contradiction("c", "old", "middle", state=ContradictionState.CONTEXT_DEPENDENT, conditions="in tests")
    save(parts.store, contradictions=(both,))
    assert ASKING[surface](parts) == before


@pytest.mark.parametrize("surface", ASKING)
def test_all_that_is_newer_stands_above(parts, surface):
    tell(parts, OLD, MIDDLE, NEW, BESIDE, contradictions=disputed(("old", "middle"), ("old", "new")))
    found = [id for id in ASKING[surface](parts) if id != "beside"]
    assert (set(found[:2]), found[2:]) == ({"middle", "new"}, ["old"])


@pytest.mark.parametrize("surface", ASKING)
def test_of_a_circle_nothing_is_lost(parts, surface):
    tell(parts, *(replace(m, event_time=at(0)) for m in (OLD, MIDDLE, NEW, BESIDE)))
    before = ASKING[surface](parts)
    save(parts.store, contradictions=disputed(("old", "middle"), ("middle", "new"), ("new", "old")))
    assert before and set(before) <= set(ASKING[surface](parts))


def test_what_was_superseded_and_is_asked_for_stands_below_its_successor_which_comes_along(parts):
    tell(parts, superseded(OLD, "middle"), superseded(MIDDLE, "new"), NEW)
    hits = recall(parts, Question(ASKED, include_forgotten=True), HERE).hits
    assert [hit.id for hit in hits] == ["new", "middle", "old"]
    assert hits[0].relevance == hits[2].relevance and hits[0].score > hits[1].score > hits[2].score


def test_what_comes_along_passes_the_filters(parts):
    tell(parts, replace(OLD, tags=("stripe",)), NEW, contradictions=disputed(("old", "new")))
    (hit,) = recall(parts, Question(ASKED, tags=("stripe",)), HERE).hits
    assert hit.id == "old" and hit.stored.standing.rivals[0].memory == "new"


def test_the_first_of_a_limit_is_what_holds_now(parts):
    tell(parts, OLD, NEW, BESIDE, contradictions=disputed(("old", "new")))
    assert [hit.id for hit in recall(parts, Question(ASKED, limit=1), HERE).hits] == ["new"]


@pytest.mark.parametrize("state", [State.DORMANT, State.FORGOTTEN])
def test_what_sleeps_or_was_forgotten_leads_nothing(parts, state):
    gone = replace(MIDDLE, status=in_state(state))
    tell(parts, OLD, gone, contradictions=disputed(("old", "middle")))
    hits = recall(parts, Question(ASKED, include_forgotten=True), HERE).hits
    assert [hit.id for hit in hits] == ["old", "middle"] and not any("newest_first" in hit.terms for hit in hits)


def test_an_answer_is_not_lost_for_what_would_come_along(parts):
    class Late:
        def __getattr__(self, name):
            return getattr(parts.store, name)

        def contexts(self, ids, *given):
            if list(ids) == ["new"]:
                raise QueryTimeout("too late")
            return parts.store.contexts(ids, *given)

    tell(parts, OLD, NEW, contradictions=disputed(("old", "new")))
    question = Question(ASKED, strategy=Strategy.KEYWORD)
    assert [hit.id for hit in recall(replace(parts, store=Late()), question, HERE).hits] == ["old"]


def test_what_leads_a_rule_that_is_far_from_the_task_comes_with_it(parts):
    task = "please install a date picker somewhere"
    old, new = (replace(each, category="decision") for each in (OLD, NEW))
    (asked,) = parts.embedder.embed([task])
    far, beside = (struct.unpack(f"<{len(asked) // 4}f", each) for each in (asked, *parts.embedder.embed([OLD.text])))
    model, mixed = parts.embedder.model, [0.2 * a + b for a, b in zip(far, beside, strict=True)]
    length = sum(each * each for each in mixed) ** 0.5
    near = Vector(struct.pack(f"<{len(mixed)}f", *(each / length for each in mixed)))
    save(
        parts.store,
        old,
        new,
        embeddings=(an_embedding("old", near, model=model),),
        contradictions=disputed(("old", "new")),
    )
    assert [hit.id for hit in recall(parts, Question(task), HERE).hits] == ["new", "old"]
    assert recall(parts, Question(task, rules=False), HERE).hits == ()


@pytest.mark.parametrize(("count", "is_all"), [(9, True), (40, False)])
def test_what_a_lane_matched_is_counted_once_though_it_came_along(parts, count, is_all):
    others = [a_memory(f"m{n}", f"{ASKED} {n}", when=at(n)) for n in range(count)]
    newer = a_memory("new", f"stripe {'is somewhere else ' * 90}", when=at(99))
    tell(parts, *others, newer, contradictions=disputed(*((f"m{n}", "new") for n in range(count))))
    answer = recall(parts, Question(ASKED, strategy=Strategy.KEYWORD), HERE)
    assert answer.hits[0].id == "new" and (answer.matched, answer.exact) == (count + 1, is_all)


def test_a_move_is_a_term_of_the_score(parts):
    tell(parts, OLD, MIDDLE, contradictions=disputed(("old", "middle")))
    newer, older = recall(parts, Question(ASKED), HERE).hits
    assert newer.terms["newest_first"] > 0 > older.terms["newest_first"]
    for hit in look_up(parts, Search(ASKED, threshold=0.1), HERE).hits:
        assert round(sum(hit.why.breakdown.values()), 4) == hit.relevance and "ewer" in hit.why.reasons[-1]
