"""Entities and relations that somebody states by hand."""

from dataclasses import replace
from itertools import pairwise

import pytest

from fakes import Rival
from making import START, at
from retain.domain.graph import Direction
from retain.domain.memory import Scope
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.engine.drafts import Draft, GivenEntity
from retain.engine.engine import Engine
from retain.engine.knowledge.walk import GraphQuestion
from retain.engine.parts import Parts
from retain.errors import InvalidInput, NotFound

SHOP = Project("shop0000000000000000", "shop", "/home/ada/shop", START)
HERE = Caller(project=SHOP, session="s1")
EVE = replace(HERE, user="eve")
OUT, IN, BOTH = Direction.OUTGOING, Direction.INCOMING, Direction.BOTH
SECRET = "ghp_" + "a1B2" * 9
NOBODY = "0" * 20


@pytest.fixture
def engine(store, clock):
    return Engine(Parts(store, HashedEmbedder(), clock))


@pytest.fixture
def make(engine, clock):
    """Makes an entity by name and type, a second after whatever came before."""

    def made(name, type=None, description=None, caller=HERE):
        clock.tick()
        return engine.create_entity(name, type, description, caller)

    return made


@pytest.fixture
def relate(engine, clock):
    def related(source, target, type="uses", weight=1.0, caller=HERE):
        clock.tick()
        return engine.create_relation(source.id, target.id, type, weight, caller)

    return related


def names(found):
    return [entity.name for entity in found.entities]


# Entities


def test_an_entity_is_made_by_hand(make, store):
    made = make("  Auth \t Service ", "service", " Checks who you are. ")
    assert (made.name, made.type, made.description, made.stated) == (
        "Auth Service",
        "service",
        "Checks who you are.",
        True,
    )
    assert (made.owner, len(made.id)) == (SHOP.id, 20)
    assert store.entities([made.id]) == [made]
    assert [project.slug for project in store.projects()] == ["shop"]


def test_what_nobody_calls_anything_is_a_concept(make):
    assert make("Idempotency").type == "concept"


def test_the_same_name_and_type_is_the_same_entity(make):
    first = make("AuthService", "service", "Checks who you are.")
    assert make("authservice", "SERVICE") == first
    assert make("AuthService", "file").id != first.id


def test_a_new_description_fills_and_replaces(make):
    first = make("AuthService", "service")
    assert make("AuthService", "service", "Checks who you are.").description == "Checks who you are."
    again = make("AuthService", "service", "Issues tokens.")
    assert (again.id, again.description, again.created) == (first.id, "Issues tokens.", first.created)
    assert make("AuthService", "service", "  ").description == "Issues tokens."


def test_an_entity_that_rules_had_found_is_made_somebodys(engine, make, store):
    engine.remember(Draft("AuthService depends on TokenValidator"), HERE)
    (found,) = store.entities_named(["AuthService"], [SHOP.id])
    made = make("AuthService", found.type, "Ours.")
    assert (found.stated, made.stated, made.id) == (False, True, found.id)


def test_a_memory_that_names_it_again_changes_nothing_about_it(engine, make, store):
    made = make("AuthService", "service", "Checks who you are.")
    engine.remember(Draft("AuthService depends on TokenValidator"), HERE)
    engine.remember(Draft("it is slow", entities=(GivenEntity("AuthService", "service", "about"),)), HERE)
    assert store.entities([made.id]) == [made]


def test_earlier_memories_that_name_it_are_linked_back(engine, make, store):
    named = engine.remember(Draft("we call the zebra door when a build fails"), HERE).memory
    engine.remember(Draft("zebra doorway is something else"), HERE)
    made = make("Zebra Door")
    ((link, entity),) = [pair for pair in store.links([named.id]) if pair[1].id == made.id]
    assert (link.by_rule, entity.name) == (True, "Zebra Door")
    answer = engine.search_graph(GraphQuestion("zebra door"), HERE)
    assert [stored.memory.id for stored in answer.memories] == [named.id]


def test_later_memories_that_name_it_are_linked(engine, make, store):
    made = make("zebra door")
    later = engine.remember(Draft("ask at the zebra door first"), HERE).memory
    assert made.id in {entity.id for _, entity in store.links([later.id])}


def test_without_a_project_it_is_the_users(engine, make):
    nowhere = Caller(session="s1")
    made = make("Ada", "person", caller=nowhere)
    assert made.owner == "user\x1f"
    assert make("Ada", "person").id != made.id


def test_a_stated_entity_outlives_the_memories_that_name_it(engine, make, relate, store):
    kept, other = make("AuthService", "service"), make("Vault", "service")
    relate(kept, other)
    memory = engine.remember(Draft("AuthService depends on TokenValidator"), HERE).memory
    engine.destroy(memory.id, HERE)
    assert store.entities([kept.id]) == [kept]
    assert store.entities_named(["TokenValidator"], [SHOP.id]) == []
    assert names(engine.related(kept.id, 1, OUT, HERE)) == ["Vault"]
    assert store.faults() == []


def test_secrets_are_not_kept(make):
    made = make(f"key {SECRET}", "service", f"opened with {SECRET}")
    assert SECRET not in made.name + made.description


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (("  ", "service", None), "name"),
        (("x" * 101, "service", None), "name"),
        (("a\0b", "service", None), "name"),
        (("A", "", None), "entity_type"),
        (("A", "x" * 101, None), "entity_type"),
        (("A", "service", "x" * 2001), "description"),
        (("A", "service", "\ud800"), "description"),
    ],
)
def test_an_entity_that_cannot_be_kept_is_refused(make, store, given, field):
    with pytest.raises(InvalidInput, match=f"^{field}:"):
        make(*given)
    assert store.entity_names([SHOP.id]) == []


# Relations


def test_a_relation_holds_from_when_it_was_stated(make, relate, store, clock):
    a, b = make("A"), make("B")
    made = relate(a, b, "depends on", 0.4)
    assert (made.source, made.target, made.type, made.weight) == (a.id, b.id, "depends_on", 0.4)
    assert (made.valid_from, made.valid_until, made.by_rule) == (clock.now(), None, False)
    assert len(made.id) == 20
    assert store.relations([made.id]) == [made]


def test_equal_relations_have_equal_ids_and_others_have_others(make, relate):
    a, b = make("A"), make("B")
    first = relate(a, b)
    assert relate(a, b, weight=0.2).id == first.id
    assert len({first.id, relate(b, a).id, relate(a, b, "owns").id}) == 3


def test_stating_it_again_sets_its_weight_and_keeps_its_beginning(make, relate):
    a, b = make("A"), make("B")
    first = relate(a, b, weight=0.9)
    again = relate(a, b, weight=0.2)
    assert (again.weight, again.valid_from, again.created) == (0.2, first.valid_from, first.created)


def test_one_that_was_ended_holds_again_from_now_on(engine, make, relate, clock):
    a, b = make("A"), make("B")
    first = relate(a, b)
    ended = engine.invalidate(first.id, "split up", None, HERE)
    assert ended.valid_until == clock.now()
    clock.tick()
    again = relate(a, b)
    assert (again.valid_from, again.valid_until) == (clock.now(), None)


def test_rules_that_see_a_stated_relation_make_it_heavier(engine, make, relate, store):
    a, b = make("AuthService", "service"), make("TokenValidator", "service")
    stated = relate(a, b, "depends_on", 0.5)
    engine.remember(Draft("AuthService depends on TokenValidator"), HERE)
    (seen,) = store.relations([stated.id])
    assert (seen.weight, seen.by_rule, seen.valid_from) == (pytest.approx(0.9), False, stated.valid_from)


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_weight_is_from_0_to_1(make, relate, weight):
    a, b = make("A"), make("B")
    with pytest.raises(InvalidInput, match=r"^weight: must be from 0 to 1"):
        relate(a, b, weight=weight)


@pytest.mark.parametrize("type", ["", "  ", "x" * 101])
def test_a_relation_needs_a_type(make, relate, type):
    with pytest.raises(InvalidInput, match=r"^relation_type:"):
        relate(make("A"), make("B"), type)


def test_an_entity_does_not_relate_to_itself(make, relate):
    a = make("A")
    with pytest.raises(InvalidInput, match=r"to_entity: .*itself"):
        relate(a, a)


def test_unknown_ends_are_named_with_their_field(engine, make):
    a, theirs = make("A"), make("B", caller=EVE)
    for source, target, field in ((NOBODY, a.id, "from_entity"), (a.id, NOBODY, "to_entity")):
        with pytest.raises(NotFound, match=f"^{field}: .*{NOBODY}"):
            engine.create_relation(source, target, "uses", 1.0, HERE)
    with pytest.raises(NotFound, match=theirs.id):
        engine.create_relation(a.id, theirs.id, "uses", 1.0, HERE)
    with pytest.raises(InvalidInput, match="from_entity"):
        engine.create_relation("nonsense", a.id, "uses", 1.0, HERE)


def test_an_end_that_another_window_destroys_meanwhile_is_unknown(engine, make, store, clock):
    memory = engine.remember(Draft("AuthService depends on TokenValidator"), HERE).memory
    (found,) = store.entities_named(["AuthService"], [SHOP.id])
    vault = make("Vault")
    rival = Rival(store, lambda: engine.destroy(memory.id, HERE))
    with pytest.raises(NotFound, match=f"from_entity.*{found.id}"):
        Engine(Parts(rival, HashedEmbedder(), clock)).create_relation(found.id, vault.id, "uses", 1.0, HERE)
    assert store.faults() == []


def test_two_windows_that_make_one_entity_get_one_id(engine, make, store, clock):
    other = Engine(Parts(Rival(store, lambda: make("Vault", "service")), HashedEmbedder(), clock))
    theirs = other.create_entity("vault", "service", "Keeps keys.", HERE)
    assert store.entities_named(["vault"], [SHOP.id]) == [theirs]


def test_relations_of_others_do_not_exist(engine, make, relate, store):
    theirs = relate(make("A", caller=EVE), make("B", caller=EVE), caller=EVE)
    with pytest.raises(NotFound, match=theirs.id):
        engine.invalidate(theirs.id, None, None, HERE)
    assert store.relations([theirs.id]) == [theirs]


def test_a_relation_has_no_successor(engine, make, relate):
    made, memory = relate(make("A"), make("B")), engine.remember(Draft("something else"), HERE).memory
    with pytest.raises(InvalidInput, match=r"^superseded_by"):
        engine.invalidate(made.id, None, memory.id, HERE)


def test_ending_a_relation_twice_is_ending_it_once(engine, make, relate, clock):
    made = relate(make("A"), make("B"))
    first = engine.invalidate(made.id, None, None, HERE)
    clock.tick()
    assert engine.invalidate(made.id, None, None, HERE) == first


# What is related


@pytest.fixture
def chain(make, relate):
    """A uses B uses C uses D."""
    made = {name: make(name) for name in "ABCD"}
    for source, target in pairwise("ABCD"):
        relate(made[source], made[target])
    return made


@pytest.mark.parametrize(("depth", "reached"), [(1, "B"), (2, "BC"), (3, "BCD")])
def test_a_walk_goes_as_deep_as_asked_and_leaves_the_start_out(engine, chain, depth, reached):
    found = engine.related(chain["A"].id, depth, OUT, HERE)
    assert names(found) == list(reached)
    assert [found.hops[entity.id] for entity in found.entities] == list(range(1, depth + 1))
    assert len(found.relations) == depth and not found.truncated


def test_a_walk_goes_in_the_direction_asked_for(engine, chain):
    b = chain["B"].id
    assert names(engine.related(b, 1, OUT, HERE)) == ["C"]
    assert names(engine.related(b, 1, IN, HERE)) == ["A"]
    assert set(names(engine.related(b, 1, BOTH, HERE))) == {"A", "C"}


def test_a_walk_follows_one_type_of_relation(engine, chain, make, relate):
    relate(chain["A"], make("E"), "owned by")
    assert names(engine.related(chain["A"].id, 3, OUT, HERE, relation="owned by")) == ["E"]


def test_a_relation_that_was_ended_is_shown_only_for_its_time(engine, chain, store):
    link = engine.related(chain["B"].id, 1, OUT, HERE).relations[0]
    engine.invalidate(link.id, None, None, HERE)
    assert names(engine.related(chain["A"].id, 3, OUT, HERE)) == ["B"]
    assert names(engine.related(chain["A"].id, 3, OUT, HERE, at=link.valid_from)) == ["B", "C"]
    assert names(engine.related(chain["A"].id, 3, OUT, HERE, at=at(0))) == []


def test_the_graph_search_does_not_show_what_was_ended(engine, chain):
    link = engine.related(chain["A"].id, 1, OUT, HERE).relations[0]
    engine.invalidate(link.id, None, None, HERE)
    answer = engine.search_graph(GraphQuestion("A"), HERE)
    assert [node.entity.name for node in answer.nodes] == ["A"]
    whole = engine.search_graph(GraphQuestion(), HERE)
    assert whole.overview.relations == whole.seen.relationships_found == len(whole.seen.relations) == 2


def test_what_only_forgotten_memories_said_is_no_way_to_go(engine, make, relate, store):
    memory = engine.remember(Draft("AuthService depends on TokenValidator"), HERE).memory
    (start,) = store.entities_named(["AuthService"], [SHOP.id])
    stated = make("Vault")
    relate(start, stated)
    assert set(names(engine.related(start.id, 1, OUT, HERE))) == {"TokenValidator", "Vault"}
    engine.forget(memory.id, None, HERE)
    assert names(engine.related(start.id, 1, OUT, HERE)) == ["Vault"]


def test_the_entity_of_another_user_does_not_exist(engine, make):
    theirs = make("A", caller=EVE)
    with pytest.raises(NotFound, match=f"entity_id: .*{theirs.id}"):
        engine.related(theirs.id, 1, OUT, HERE)
    assert engine.related(theirs.id, 1, OUT, EVE).entities == ()


@pytest.mark.parametrize("depth", [0, 4])
def test_a_walk_is_one_to_three_steps_deep(engine, chain, depth):
    with pytest.raises(InvalidInput, match="depth: must be between 1 and 3"):
        engine.related(chain["A"].id, depth, OUT, HERE)


def test_entities_of_the_user_and_of_the_project_may_be_joined(engine, make, relate):
    ada = make("Ada", "person", caller=Caller(session="s1"))
    shop = make("Shop")
    relate(ada, shop, "works_on")
    assert names(engine.related(ada.id, 1, OUT, HERE)) == ["Shop"]
    assert engine.remember(Draft("unrelated", scope=Scope.USER), HERE).memory
