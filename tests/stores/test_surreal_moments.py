"""Others write between any two statements that a database is sent, so what must fit is read in one."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from making import (
    MODEL,
    START,
    a_chunk,
    a_code_file,
    a_code_index,
    a_memory,
    a_vector,
    an_embedding,
    at,
    in_code,
    in_state,
    save,
    wanted,
)
from retain.domain.changes import Changes
from retain.domain.memory import State
from retain.stores.signs import pack, unpack
from retain.stores.surreal.link.connection import in_memory
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.store import SurrealStore


class Overtaken(Database):
    """A database to which somebody else writes before every statement, as a slow network and a busy team would have it.

    Each statement of a message is sent alone; what a LET names is bound to the ones that follow.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self.query_seconds = db.query_seconds
        self.meanwhile: Callable[[], object] = lambda: None

    def run(self, query: str, **bound: Any) -> list[Any]:
        results = []
        for statement in statements(query):
            self.meanwhile()
            name, _, value = statement.partition(" = ")
            if name.startswith("LET $"):
                bound[name.removeprefix("LET $")] = self._db.run(f"RETURN {value}", **bound)[0]
                results.append(None)
            else:
                results += self._db.run(statement, **bound)
        return results

    def rows(self, query: str, **bound: Any) -> list[Any]:
        self.meanwhile()
        return self._db.rows(query, **bound)


def statements(query: str) -> list[str]:
    """A message cut at the semicolons that stand in no bracket and no quotes."""
    found, depth, quote = [""], 0, ""
    for letter in query:
        quote = "" if letter == quote else quote or (letter if letter in "'\"" else "")
        depth += 0 if quote else (letter in "([{") - (letter in ")]}")
        if letter == ";" and not depth and not quote:
            found.append("")
        else:
            found[-1] += letter
    return [statement.strip() for statement in found if statement.strip()]


@pytest.fixture
def db():
    database = in_memory()
    yield database
    database.close()


@pytest.fixture
def other(db):
    """The store of who writes meanwhile."""
    return SurrealStore(db)


@pytest.fixture
def slow(db):
    return Overtaken(db)


def adding(store: SurrealStore, most: int = 1000) -> Callable[[], object]:
    """Adds one more memory about the vault each time it is called, so many times at most."""
    numbers = count(1)

    def add() -> None:
        if (number := next(numbers)) <= most:
            save(store, a_memory(f"new{number}", f"The vault is opened at {number}", when=at(number)))

    return add


@pytest.mark.parametrize("counted", [False, True])
def test_no_more_texts_hold_a_word_than_there_are(other, slow, counted):
    save(other, a_memory("first", "The vault is closed."))
    slow.meanwhile = adding(other)
    found = SurrealStore(slow).by_words(["vault"], wanted(), 5, counted=counted)
    assert found.scores and found.corpus.holding["vault"] <= found.corpus.documents
    known = SurrealStore(slow).corpus(["vault"])
    assert known.holding["vault"] == known.documents > 1


def test_no_more_chunks_of_code_hold_a_word_than_there_are(other, slow):
    index = other.claim_index(a_code_index(), START)
    numbers = count(1)
    more = lambda: [a_code_file(f"{next(numbers)}.py", a_chunk("vault"))]  # noqa: E731
    slow.meanwhile = lambda: other.save_code(index.key, more(), [], [])
    found = SurrealStore(slow).code_by_words(["vault"], in_code("shop"), 5)
    assert all(score > 0 for score in found.values())


def test_a_memory_that_changes_its_state_is_counted_once(other, slow):
    memories = [a_memory(f"m{number}", f"text {number}") for number in range(3)]
    save(other, *memories)
    versions = count(2)

    def hide_or_show() -> None:
        version = next(versions)
        state = State.FORGOTTEN if version % 2 else State.ACTIVE
        save(other, replace(memories[0], status=in_state(state), version=version))

    slow.meanwhile = hide_or_show
    store = SurrealStore(slow)
    assert sum(store.counts("", MODEL).by_state.values()) == 3
    assert store.total(wanted(states=(State.ACTIVE, State.FORGOTTEN))) == 3


def test_what_is_forgotten_while_it_is_listed_is_not_listed(other, slow):
    memory = a_memory("m1", "soon forgotten")
    save(other, memory)
    calls = count(1)

    def forget() -> None:
        if next(calls) == 2:
            save(other, replace(memory, status=in_state(State.FORGOTTEN), version=2))

    slow.meanwhile = forget
    listed = SurrealStore(slow).listed(wanted(), 5)
    assert [stored.memory.status.state for stored in listed] == [State.ACTIVE]


def test_a_page_is_of_no_fewer_than_it_shows(other, slow):
    save(other, *(a_memory(f"m{number}", f"text {number}", when=at(number)) for number in range(6)))
    beyond = SurrealStore(slow).page(wanted(), 2).last
    left = iter([f"m{number}" for number in range(6)])
    slow.meanwhile = lambda: save(other, purged=tuple([id] if (id := next(left, None)) else ()))
    page = SurrealStore(slow).page(wanted(), 2, beyond=beyond)
    assert page.total >= len(page.items)
    assert SurrealStore(slow).page(wanted(), 2, beyond=beyond).total >= 0


def test_a_memory_that_is_rewritten_while_it_is_copied_has_the_vectors_of_its_text(other, slow):
    memory = a_memory("m1", "a long text")
    save(other, memory, embeddings=(an_embedding("m1", a_vector(1), a_vector(0, 1)),))
    calls = count(2)

    def rewrite() -> None:
        new = replace(memory, text=f"text {(version := next(calls))}", version=version)
        other.apply(Changes(START, memories=(new,), embeddings=(an_embedding("m1", a_vector(1, version)),)))

    slow.meanwhile = rewrite
    (whole,) = SurrealStore(slow).wholes(["m1"])
    assert whole.memory.text == "text 2"
    assert whole.embedding.vectors == (unpack(pack(a_vector(1, 2))[1]),)


def test_what_others_write_during_the_check_is_no_fault(other, slow):
    save(other, a_memory("first", "The vault is closed."))
    slow.meanwhile = adding(other, most=30)
    assert SurrealStore(slow).faults() == []
