"""Both stores are told the same, whatever it is, and answer every question alike."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from making import a_vector, at
from processes import LONG
from random_lives import carry_out, lives
from random_plans import (
    ENTITY_OWNERS,
    FAR,
    LINES,
    MEMORIES,
    MODELS,
    NAMES,
    PLACES,
    PROJECTS,
    SCOPES,
    SESSIONS,
    TEXTS,
    USERS,
)
from retain.domain.changes import ContradictionState
from retain.domain.claims import fingerprint
from retain.domain.graph import Direction, Steps
from retain.domain.listing import Row
from retain.domain.memory import Kind, Place, Scope, State
from retain.domain.recall import Filter, Found
from retain.domain.transfer import Sort
from retain.domain.words import query_terms
from retain.domain.work import WorkFilter, WorkState
from retain.ports import Context, Store, Subgraph
from retain.stores.copying import copied
from retain.stores.sqlite.store import MEMORY, SqliteStore
from retain.stores.surreal.link.connection import in_memory
from retain.stores.surreal.store import SurrealStore

ANY = Filter(PLACES, states=(State.ACTIVE, State.FORGOTTEN))
HERE = Filter(tuple(place for place in PLACES if place.user == "ada"))
FILTERS = {
    "all": Filter(PLACES, states=()),
    "nowhere": Filter(()),
    "active": Filter(PLACES),
    "ended": Filter(PLACES, states=tuple(state for state in State if state is not State.ACTIVE)),
    "one place": Filter((Place(Scope.PROJECT, "", "shop"),)),
    "ada": HERE,
    "kinds": replace(ANY, kinds=(Kind.EPISODIC, Kind.SEMANTIC)),
    "categories": replace(ANY, categories=("decision", "🙂")),
    "types": replace(ANY, types=("documentation", "context")),
    "tags": replace(ANY, tags=("OPS", "STRASSE")),
    "commas": replace(ANY, tags=("a,b",)),
    "long": replace(ANY, min_length=30),
    "after": replace(ANY, after=at(0.000001)),
    "before": replace(ANY, before=at(0)),
    "between": replace(ANY, after=at(0), before=at(1)),
    "far": replace(ANY, after=FAR[0], before=FAR[1]),
    "important": replace(ANY, min_importance=1 / 3),
    "in a session": replace(ANY, session="s1:2"),
    "valid": replace(ANY, valid_at=at(1)),
    "stored": replace(ANY, stored_by=at(0)),
    "much": replace(HERE, kinds=(Kind.EPISODIC,), tags=("ops",), min_length=1, valid_at=at(1), stored_by=at(20)),
}
ASKED = {
    "vault": query_terms("Where is the Vault?"),
    "deploy": query_terms("when do we deploy on Mondays, cafe\u0301?"),
    "numbers": query_terms("w1/w2 v2.3 10.0.0.1:8080"),
    "scripts": query_terms("日本語 🙂 🇩🇪 مرحبا straße \u093f"),
    "nothing": query_terms("???"),
}


def pointing(model: str, *numbers: float):
    vector = a_vector(*numbers)
    return type(vector)(vector + bytes(4 * MODELS[model] - len(vector)))


def found(one: Found) -> object:
    return {"scores": list(one.scores.items()), "matched": one.matched, "exact": one.exact}


def in_any_order(values: Any) -> object:
    return sorted(values, key=repr)


def drawn(graph: Subgraph) -> object:
    nodes = (*graph.entities, *graph.memories)
    edges = [(*sorted((nodes[a], nodes[b])), weight) for a, b, weight in graph.edges]
    return in_any_order(graph.entities), in_any_order(graph.memories), in_any_order(edges)


def of_memories(store: Store) -> Iterator[tuple[str, Any]]:
    yield "memories", list(store.memories([*MEMORIES, "nobody"]).items())
    yield "destroyed", store.destroyed(MEMORIES)
    yield "history", store.history(*MEMORIES)
    for place in PLACES:
        for states in ((State.ACTIVE,), tuple(State)[1:], tuple(State)):
            for text in TEXTS[:2]:
                yield f"twin {place} {states}", store.twin(place, fingerprint(text), states=states)
        yield f"titled {place}", store.titled(place, "DEPLOYS")
    for user in USERS:
        for model in MODELS:
            yield f"counts {user} {model}", store.counts(user, model)
    for model in (*MODELS, "unknown"):
        yield f"vectors {model}", {id: store.vectors([id], model) for id in MEMORIES}
        for others in (False, True):
            for user in (None, "ada"):
                left = store.unembedded(model, 3, by_others=others, user=user)
                yield f"unembedded {model} {others} {user}", left


def of_filters(store: Store, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for name, wanted in ((name, FILTERS[name]) for name in names):
        yield f"listed {name}", store.listed(wanted, 100)
        yield f"listed {name}, some", store.listed(wanted, 2, 1)
        yield f"total {name}", store.total(wanted)
        yield f"page {name}", store.page(wanted, 100) if wanted.places else None
        yield f"titles {name}", store.titles(wanted)
        yield f"tags {name}", store.tags(wanted)
        for beside in ((), MEMORIES[:2]):
            yield f"contexts {name} {beside}", as_said(store.contexts(MEMORIES[:4], wanted, 2, beside))
        for question, asked in ASKED.items():
            yield f"holding {name} {question}", store.holding(asked, wanted)
            yield f"by words {name} {question}", found(store.by_words(asked, wanted, 100, counted=True))
        for model in MODELS:
            vector = pointing(model, 1, 0.5, 0.2, -0.1)
            yield f"by vector {name} {model}", found(store.by_vector(vector, model, wanted, 100))
            yield f"near {name} {model}", store.near(vector, model, wanted, 0.3)
            yield f"crowding {name} {model}", in_order_of_ids(store.crowding(MEMORIES, model, wanted, 0.8))


def as_said(contexts: Sequence[Context]) -> object:
    """Of what was said in one spot any may come first; so may any of those that are only beside others."""
    alike = [replace(one, neighbours=tuple(sorted(one.neighbours))) for one in contexts]
    asked = [one for one in alike if one.memory in MEMORIES[:4]]
    return asked, in_any_order(one for one in alike if one.memory not in MEMORIES[:4])


def in_order_of_ids(lists: Mapping[str, Any]) -> object:
    return {id: sorted(others) for id, others in lists.items()}


def of_listings(store: Store) -> Iterator[tuple[str, Any]]:
    yield "cards", store.cards(MEMORIES)
    page = store.page(ANY, 2)
    while page.last:
        page = store.page(ANY, 2, beyond=page.last)
        yield "next page", page
    yield "a page beyond nobody", store.page(ANY, 3, beyond=Row(at(0.5), "m3"))
    yield "a later page", store.page(HERE, 1, 1)
    yield "ties", in_any_order(store.ties(MEMORIES))
    yield "tied", store.tied(["supports"], PLACES)
    for user in USERS:
        for project in (None, *PROJECTS):
            yield f"past queries {user} {project}", store.past_queries(project, user)
            yield f"finished {user} {project}", in_any_order(store.finished(user, project))
            yield f"sessions {user} {project}", store.sessions(user, project, 3)
            yield f"extractions {user} {project}", store.extractions(project, user)
    for asked in ASKED.values():
        yield "corpus", store.corpus(asked)


def of_sessions(store: Store) -> Iterator[tuple[str, Any]]:
    yield "projects", store.projects()
    for user in USERS:
        for session in SESSIONS:
            yield f"session {session} {user}", store.session(session, user)
            yield f"served {session} {user}", store.served(session, user)
        for project in PROJECTS:
            yield f"profile {project} {user}", store.profile(project, user)
            for state in (None, WorkState.ACTIVE):
                yield f"works {user} {project} {state}", store.works(WorkFilter(user, project, state), 10)
        for name in ("shop", "SHOP ", "the  shop", "STRASSE", "shop-2", "🙂"):
            yield f"profile named {name} {user}", store.profile_named(name, user)
        yield f"profiles {user}", store.profiles(user, 10)
        yield f"works {user}", store.works(WorkFilter(user), 2)
        yield f"works beyond {user}", store.works(WorkFilter(user), 2, beyond=Row(at(0.5), "w1"))
        yield f"work {user}", [store.work(id, user) for id in ("w1", "w⟨2⟩", "w'3")]
    yield "named", [store.project(name) for name in (*PROJECTS, "Shop", "/home/shop", "shop-2")]
    yield "run", [store.run(id) for id in ("r1", "r2", "r⟨3⟩")]
    yield "runs", (store.runs(2), store.runs(9))
    yield "latest", [store.latest_run(scope) for scope in SCOPES]
    yield "cursor", [store.cursor(transcript) for transcript in ("/t/1.jsonl", "/t/⟨2⟩ 🙂.jsonl", "C:\\t'3")]
    yield "cursors", store.cursors_at([line for line in LINES if line])


def of_the_graph(store: Store) -> Iterator[tuple[str, Any]]:
    known = store.entities_named(NAMES, ENTITY_OWNERS)
    yield "entities named", known
    ids = [entity.id for entity in known]
    yield "entities", store.entities([*ids, "nobody"])
    yield "names", store.names(ids)
    yield "links", in_any_order(store.links(MEMORIES))
    yield "speakers", (store.speakers(ids, 1), store.speakers(ids, 2))
    among = store.relations_among(ids)
    yield "relations among", in_any_order(among)
    yield "relations", in_any_order(store.relations([one.id for one in among]))
    for owners in (ENTITY_OWNERS, ENTITY_OWNERS[:3], ()):
        yield f"entity names {owners}", sorted(store.entity_names(owners))
        yield f"overview {owners}", store.overview(owners)
        for relation in (None, "uses"):
            yield f"most connected {owners} {relation}", store.most_connected(owners, relation, 3)
    for direction in Direction:
        for relation in (None, "uses"):
            yield f"neighbourhood {direction} {relation}", store.neighbourhood(ids[:2], direction, relation, 2, 4)
            for when in (None, at(1), FAR[0]):
                steps = Steps(2, direction, relation, when)
                yield f"related {steps}", [store.related(id, steps) for id in ids[:4]]


def of_filtered_links(store: Store, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    ids = [entity.id for entity in store.entities_named(NAMES, ENTITY_OWNERS)]
    for name, wanted in ((name, FILTERS[name]) for name in names):
        yield f"linked {name}", in_order_of_memories(store.linked(ids, wanted, 100))
        yield f"linked {name}, some", [link.memory for link in store.linked(ids, wanted, 2)]
        yield f"link counts {name}", store.link_counts(ids, wanted)
        yield f"around {name}", drawn(store.around(ids[:2], MEMORIES[:4], wanted, at(1)))


def in_order_of_memories(links: Any) -> object:
    order = list(dict.fromkeys(link.memory for link in links))
    return sorted(links, key=lambda link: (order.index(link.memory), repr(link)))


def of_trust(store: Store) -> Iterator[tuple[str, Any]]:
    of_all = store.contradictions(MEMORIES)
    yield "contradictions", of_all
    yield "with memories", store.with_contradictions(MEMORIES)
    yield "contradictions of one", store.contradictions(["m1"])
    yield "by id", [store.contradiction(one.id) for one in of_all]
    for states in (tuple(ContradictionState), (ContradictionState.OPEN, ContradictionState.REOPENED)):
        yield f"disputes {states}", store.disputes(PLACES, states, 2, 1)
        yield f"disputes of ada {states}", store.disputes(HERE.places, states, 9)


def of_transfer(store: Store) -> Iterator[tuple[str, Any]]:
    for sort in Sort:
        yield f"records {sort}", in_any_order(all_records(store, sort))
    yield "memories in the order in which they were made", all_records(store, Sort.MEMORIES)
    yield "wholes", store.wholes(MEMORIES)
    yield "faults", store.faults()


def all_records(store: Store, sort: Sort) -> list[Any]:
    records, mark = [], None
    while True:
        portion = store.records(sort, mark, 3)
        records += portion.records
        mark = portion.mark
        if mark is None:
            return records


Reading = Callable[[Store], Iterator[tuple[str, Any]]]
READINGS: tuple[Reading, ...] = (
    of_memories,
    of_listings,
    of_sessions,
    of_the_graph,
    of_trust,
    of_transfer,
)


def changed(store: Store, marks: list[int]) -> object:
    """What changed after each mark, with the numbers of changes counted from the first."""
    told = []
    for mark in marks:
        for user in (None, "ada"):
            some = [one for one in store.changed(mark, 3, user) if user is None or not one.destroyed]
            order = sorted({one.number for one in some})
            told.append(sorted((order.index(one.number), one.memory, one.destroyed) for one in some))
    return told


def nearly(value: Any) -> Any:
    """Numbers that were worked out are equal to a millionth."""
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-6, abs=1e-9)
    if isinstance(value, dict):
        return {key: nearly(one) for key, one in value.items()}
    return type(value)(map(nearly, value)) if type(value) in (list, tuple) else value


ROUNDS = 300 if LONG else 10
some_filters = st.lists(st.sampled_from(sorted(FILTERS)), min_size=2, max_size=4, unique=True)


# To make a life that fails smaller takes many minutes.
SETTINGS = settings(
    deadline=None,
    derandomize=not LONG,
    suppress_health_check=list(HealthCheck),
    phases=tuple(Phase) if LONG else (Phase.explicit, Phase.generate),
)


@settings(SETTINGS, max_examples=ROUNDS)
@given(lives(), some_filters)
def test_what_one_store_says_the_other_says(acts, filters):
    stores: tuple[Store, Store] = SqliteStore(MEMORY), SurrealStore(in_memory())
    readings = (*READINGS, partial(of_filters, names=filters), partial(of_filtered_links, names=filters))
    try:
        marks: list[list[int]] = [[], []]
        for act in acts:
            for mark, store in zip(marks, stores, strict=True):
                mark.append(store.change())
            one, other = (carry_out(store, act) for store in stores)
            assert one == other
        for reading in readings:
            agree(reading, *stores)
        assert changed(stores[0], marks[0]) == changed(stores[1], marks[1])
    finally:
        for store in stores:
            store.close()


def agree(reading: Reading, one: Store, other: Store) -> None:
    for (question, said), (_, said_too) in zip(reading(one), reading(other), strict=True):
        assert said_too == nearly(said), question


@settings(SETTINGS, max_examples=ROUNDS // 2)
@given(lives())
def test_what_one_store_holds_the_other_can_take_over(acts):
    first, second, third = SqliteStore(MEMORY), SurrealStore(in_memory()), SqliteStore(MEMORY)
    try:
        for act in acts:
            carry_out(first, act)
        assert copied(first, second).is_equal
        assert copied(second, third).is_equal
        for reading in (of_memories, of_sessions, of_trust, of_transfer):
            agree(reading, first, second)
            agree(reading, first, third)
    finally:
        for store in (first, second, third):
            store.close()
