"""Relations live as long as a memory says them: edits, forgetting, coming back, moving and destroying."""

import json
from dataclasses import replace

import pytest

from fakes import ScriptedLLM
from making import START
from retain.domain.changes import Changes
from retain.domain.graph import Direction, Steps
from retain.domain.memory import Kind, Scope
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.engine.drafts import Draft, GivenEntity
from retain.engine.engine import Engine
from retain.engine.knowledge.support import relinked
from retain.engine.lifecycle.merging import Occasion, merge_categories
from retain.engine.lifecycle.undoing import undo
from retain.engine.parts import Parts, owners
from retain.engine.revise import Edit
from retain.engine.trust import dormancy

SHOP = Project("shop0000000000000000", "shop", "/home/ada/shop", START)
HERE = Caller(project=SHOP, session="s1")
DAY = 86_400


class Life:
    """Memories of one project, each change a second after the one before."""

    def __init__(self, engine, store, clock):
        self.engine, self.store, self.clock = engine, store, clock
        self.parts = Parts(store, HashedEmbedder(), clock)

    def say(self, text, **fields):
        self.clock.tick()
        return self.engine.remember(Draft(text, **fields), HERE).memory.id

    def edit(self, id, text=None, **fields):
        self.clock.tick()
        self.engine.update(id, Edit(text=text, **fields), HERE)

    def do(self, verb, id, *more):
        self.clock.tick()
        getattr(self.engine, verb)(id, *more, HERE)

    def holds(self, name, at=None):
        """What is said of an entity, as sentences."""
        (entity,) = self.entities(name)
        found = self.store.related(entity.id, Steps(1, Direction.BOTH, at=at))
        names = {e.id: e.name for e in (*found.entities, entity)}
        return {f"{names[r.source]} {r.type} {names[r.target]}" for r in found.relations}

    def live(self, name):
        """The same by the way of the tools, without what is marked as stale."""
        return {said for said, stale in self.edges(name) if not stale}

    def edges(self, name):
        """What the tools show, each with whether it is marked as stale."""
        seeds = [e.id for e in self.entities(name)]
        found = self.store.neighbourhood(seeds, Direction.BOTH, None, 1, 50)
        names = self.store.names([end for r in found.relations for end in r.key[:2]])
        return {(f"{names[r.source]} {r.type} {names[r.target]}", r.stale) for r in found.relations}

    def entities(self, name):
        return self.store.entities_named([name], owners(HERE))


@pytest.fixture
def life(store, clock):
    return Life(Engine(Parts(store, HashedEmbedder(), clock)), store, clock)


def test_an_edit_ends_what_only_the_old_text_said(life):
    id = life.say("PaymentHub depends on LedgerCore")
    before = life.clock.now()
    life.edit(id, "PaymentHub depends on NovaCore")
    assert life.holds("PaymentHub") == life.live("PaymentHub") == {"PaymentHub depends_on NovaCore"}
    assert life.holds("PaymentHub", at=before) == {"PaymentHub depends_on LedgerCore"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("PaymentHub replaces LedgerCore", {"PaymentHub replaces LedgerCore"}),
        ("LedgerCore depends on PaymentHub", {"LedgerCore depends_on PaymentHub"}),
        ("PaymentHub no longer depends on LedgerCore", {"LedgerCore related_to PaymentHub"}),
    ],
)
def test_two_things_may_go_on_together_in_another_way(life, text, said):
    id = life.say("PaymentHub depends on LedgerCore")
    life.edit(id, text)
    assert life.live("PaymentHub") == said


def test_what_another_memory_says_too_goes_on(life):
    id = life.say("PaymentHub depends on LedgerCore")
    life.say("Every night PaymentHub depends on LedgerCore for the report")
    life.edit(id, "PaymentHub depends on NovaCore")
    assert "PaymentHub depends_on LedgerCore" in life.live("PaymentHub")


def test_a_memory_that_only_names_both_does_not_keep_what_was_said_of_them(life):
    id = life.say("PaymentHub depends on LedgerCore")
    life.say("PaymentHub and LedgerCore were slow on Friday")
    life.edit(id, "PaymentHub depends on NovaCore")
    assert life.live("PaymentHub") == {"PaymentHub depends_on NovaCore", "LedgerCore related_to PaymentHub"}


def test_taking_an_entity_away_ends_what_was_said_of_it(life):
    id = life.say("OrderDesk uses RabbitQueue", entities=(GivenEntity("RabbitQueue", "service", "uses"),))
    kafka = GivenEntity("KafkaBus", "service", "uses")
    life.edit(id, remove_entities=("rabbitqueue",), add_entities=(kafka,))
    assert not any("RabbitQueue" in said for said in life.live("OrderDesk"))
    life.do("forget", id, None)
    assert life.live("OrderDesk") == set()


def test_forgetting_after_an_edit_leaves_no_live_edge_and_coming_back_the_current_ones(life):
    id = life.say("PaymentHub depends on LedgerCore")
    life.edit(id, "PaymentHub depends on NovaCore")
    life.do("forget", id, None)
    assert life.live("PaymentHub") == life.holds("PaymentHub") == set()
    life.do("bring_back", id)
    assert life.live("PaymentHub") == {"PaymentHub depends_on NovaCore"}


def test_forgetting_ends_what_others_name_and_do_not_say(life):
    id = life.say("PaymentHub depends on LedgerCore")
    life.say("PaymentHub and LedgerCore were slow on Friday")
    life.do("forget", id, None)
    assert life.live("PaymentHub") == {"LedgerCore related_to PaymentHub"}
    life.do("bring_back", id)
    assert "PaymentHub depends_on LedgerCore" in life.live("PaymentHub")


def test_what_ended_by_an_edit_holds_again_when_a_forgotten_memory_that_says_it_comes_back(life):
    first = life.say("PaymentHub depends on LedgerCore")
    second = life.say("Every night PaymentHub depends on LedgerCore for the report")
    life.do("forget", second, None)
    life.edit(first, "PaymentHub is written in Kotlin")
    assert not any("LedgerCore" in said for said in life.live("PaymentHub"))
    life.do("bring_back", second)
    assert "PaymentHub depends_on LedgerCore" in life.live("PaymentHub")


def test_editing_back_and_forth_ends_with_what_is_said_last(life):
    id = life.say("PaymentHub depends on LedgerCore")
    for core in ("NovaCore", "LedgerCore", "NovaCore", "LedgerCore"):
        life.edit(id, f"PaymentHub depends on {core}")
        assert life.live("PaymentHub") == {f"PaymentHub depends_on {core}"}


def test_what_somebody_stated_or_ended_is_left_to_them(life):
    id = life.say("PaymentHub depends on LedgerCore")
    ends = [life.entities(name)[0].id for name in ("PaymentHub", "LedgerCore")]
    life.clock.tick()
    stated = life.engine.create_relation(*ends, "depends_on", 0.5, HERE)
    life.edit(id, "PaymentHub depends on NovaCore")
    assert "PaymentHub depends_on LedgerCore" in life.live("PaymentHub")
    life.do("invalidate", stated.id, None, None)
    life.edit(id, "PaymentHub depends on LedgerCore")
    assert "PaymentHub depends_on LedgerCore" not in life.live("PaymentHub")


def test_what_a_person_ended_is_not_brought_back_by_a_text(life):
    life.say("PaymentHub depends on LedgerCore")
    (relation,) = life.store.relations_among([life.entities(n)[0].id for n in ("PaymentHub", "LedgerCore")])
    life.do("invalidate", relation.id, None, None)
    life.say("Every night PaymentHub depends on LedgerCore for the report")
    assert life.holds("PaymentHub") == set()


def test_a_relation_does_not_stay_behind_in_the_project_when_its_memory_leaves(life):
    id = life.say("PaymentHub depends on LedgerCore")
    project = [e.id for e in life.entities("PaymentHub")]
    life.do("promote", id, Scope.USER, None)
    found = life.store.neighbourhood(project, Direction.BOTH, None, 1, 50)
    assert [r for r in found.relations if not r.stale] == []
    assert life.live("PaymentHub") == {"PaymentHub depends_on LedgerCore"}


def test_what_only_a_destroyed_memory_said_is_destroyed_with_it(life):
    id = life.say("PaymentHub depends on OldCore")
    life.edit(id, "PaymentHub depends on LedgerCore")
    for name in ("PaymentHub", "LedgerCore", "OldCore"):
        life.say(f"{name} was slow on Friday")
    life.do("destroy", id)
    assert life.store.relations_among([life.entities(n)[0].id for n in ("PaymentHub", "LedgerCore", "OldCore")]) == []


def test_a_memory_that_takes_the_place_of_another_ends_what_it_denies(life):
    old = life.say("PaymentHub depends on LedgerCore")
    new = life.say("PaymentHub has left LedgerCore for NovaCore")
    life.do("invalidate", old, None, new)
    assert "PaymentHub depends_on LedgerCore" not in life.live("PaymentHub")


def test_taking_a_rewording_back_takes_its_relations_back(life):
    id = life.say("PaymentHub depends on LedgerCore")
    old = life.store.memories([id])[id].memory
    life.edit(id, "PaymentHub depends on NovaCore")
    new = life.store.memories([id])[id].memory
    back = replace(new, text=old.text, updated=life.clock.tick(), version=new.version + 1)
    life.store.apply(relinked(life.store, new, back).joined(Changes(at=back.updated, memories=(back,))))
    assert life.live("PaymentHub") == {"PaymentHub depends_on LedgerCore"}


TESTED = "KapHub was tested against LamCore last week"


def test_what_was_forgotten_does_not_hold_again_because_a_later_text_names_both(life):
    id = life.say("KapHub depends on LamCore")
    life.do("forget", id, None)
    assert life.edges("KapHub") == {("KapHub depends_on LamCore", True)}
    life.say(TESTED)
    assert life.live("KapHub") == life.holds("KapHub") == {"KapHub related_to LamCore"}
    life.do("bring_back", id)
    assert "KapHub depends_on LamCore" in life.live("KapHub")


def test_a_text_that_takes_the_place_of_another_and_names_both_ends_what_it_does_not_say(life):
    old = life.say("InvoiceDesk uses MongoStore for reports")
    life.say("MongoStore for reports: InvoiceDesk dropped it", supersedes=(old,))
    assert life.live("InvoiceDesk") == {"InvoiceDesk related_to MongoStore"}
    life.do("bring_back", old)
    assert "InvoiceDesk uses MongoStore" in life.live("InvoiceDesk")


def test_a_text_that_takes_the_place_of_another_and_says_the_same_keeps_it(life):
    old = life.say("InvoiceDesk uses MongoStore for reports")
    before = life.clock.now()
    life.say("Since Monday InvoiceDesk uses MongoStore for the bills too", supersedes=(old,))
    assert life.live("InvoiceDesk") == life.holds("InvoiceDesk", at=before) == {"InvoiceDesk uses MongoStore"}


def test_what_a_sleeping_memory_said_rests_until_it_wakes(life):
    id = life.say("KapHub depends on LamCore")
    life.clock.tick(3000 * DAY)
    life.say(TESTED)
    life.clock.tick()
    tired = [memory for memory in dormancy.tired(life.parts, HERE) if memory.id == id]
    asleep = dormancy.put_to_sleep(life.parts, tired, HERE, lambda: 1.0)
    assert life.live("KapHub") == {"KapHub related_to LamCore"}
    life.clock.tick()
    undo(life.parts, asleep.runs[0], HERE)
    assert "KapHub depends_on LamCore" in life.live("KapHub")


def noted(life, *texts):
    """Notes that a model may merge or put aside."""
    fields = {"kind": Kind.EPISODIC, "category": "context", "metadata": {"said_by": "assistant"}}
    return [life.say(text, **fields) for text in texts]


def merged(life, **answer):
    life.clock.tick()
    llm = ScriptedLLM(json.dumps({"keep": [], "merge": [], "drop": [], **answer}))
    return merge_categories(replace(life.parts, llm=llm), HERE, Occasion(3)).run


def test_what_a_model_puts_aside_is_no_longer_said_until_that_is_undone(life):
    old, *others = noted(life, "KapHub depends on LamCore", TESTED, "Invoices are sent by mail")
    run = merged(life, keep=others, drop=[old])
    assert life.live("KapHub") == {"KapHub related_to LamCore"}
    life.clock.tick()
    undo(life.parts, run, HERE)
    assert "KapHub depends_on LamCore" in life.live("KapHub")


def test_undoing_a_merger_brings_back_what_its_sources_said(life):
    first, second, *others = noted(
        life, "KapHub depends on LamCore", "KapHub depends on LamCore for reports", "Invoices are sent by mail"
    )
    run = merged(life, keep=others, merge=[{"ids": [first, second], "content": "KapHub and LamCore make reports"}])
    assert life.live("KapHub") == {"KapHub related_to LamCore"}
    life.clock.tick()
    undo(life.parts, run, HERE)
    assert "KapHub depends_on LamCore" in life.live("KapHub")


@pytest.mark.parametrize("again", ["bring_back", "edit"])
def test_what_is_stale_does_not_hold_again_when_another_memory_comes_to_name_both(life, again):
    old, other = life.say("KapHub depends on LamCore"), life.say(TESTED if again == "bring_back" else "KapHub is slow")
    for id in (other, old) if again == "bring_back" else (old,):
        life.do("forget", id, None)
    if again == "edit":
        life.edit(other, TESTED)
    else:
        life.do("bring_back", other)
    assert life.live("KapHub") == {"KapHub related_to LamCore"}
