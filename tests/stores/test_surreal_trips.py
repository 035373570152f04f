"""Over a network every message is a round trip, so how many a caller waits for is bounded here."""

import threading
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from making import a_project
from retain.domain.memory import Kind
from retain.domain.session import Caller
from retain.embedding.hashed import HashedEmbedder
from retain.engine.context import Task
from retain.engine.drafts import Draft
from retain.engine.engine import Engine
from retain.engine.parts import Parts
from retain.engine.recall.recall import Question
from retain.stores.surreal.link.connection import Address, signed_in
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.store import SurrealStore
from surreal_server import shared

HERE = Caller(project=a_project("shop"), session="now")
DAYS = ("Monday", "Friday", "Sunday")
QUESTION = "which database does billing use?"
NEWS = "Postgres is the database of the billing service, since Redis lost data."


class Counted:
    """A link that counts the messages sent by the thread that made it: nobody waits for what others send."""

    def __init__(self, link):
        self._link, self._caller, self.sent = link, threading.get_ident(), 0

    def request(self, message, id, seconds):
        self.sent += threading.get_ident() == self._caller
        return self._link.request(message, id, seconds)

    def close(self):
        self._link.close()


class Clock:
    def now(self):
        return datetime.now(UTC)


@pytest.fixture
def link():
    server = shared()
    return Counted(signed_in(Address(server.url, server.user, server.password, database=f"test-{uuid4()}")))


@pytest.fixture
def engine(link):
    """One that remembers a few things of every kind, the last of which it has recalled already."""
    engine = Engine(Parts(SurrealStore(Database(link)), HashedEmbedder(), Clock()))
    for number in range(15):
        said = f"The service number {number} is deployed on {DAYS[number % 3]} with Kubernetes."
        engine.remember(Draft(said, kind=list(Kind)[number % 3]), HERE)
    engine.remember(Draft("Billing is the team that asks for a database of its own."), HERE)
    engine.recall(Question(QUESTION), HERE)
    assert engine.settle(30)
    yield engine
    engine.close()


def trips(link, act):
    before = link.sent
    return act(), link.sent - before


def test_storing_a_memory_takes_few_round_trips(engine, link):
    stored, sent = trips(link, lambda: engine.remember(Draft("Ada prefers tabs in Makefiles."), HERE))
    assert stored.links_inferred
    assert sent <= 8


def test_storing_one_that_has_others_near_it_takes_one_more_to_read_them(engine, link):
    _, sent = trips(link, lambda: engine.remember(Draft(NEWS), HERE))
    assert sent <= 9


def test_a_recall_takes_few_round_trips(engine, link):
    answer, sent = trips(link, lambda: engine.recall(Question(QUESTION), HERE))
    assert answer.hits
    assert sent <= 7


def test_a_recall_of_what_was_just_stored_takes_few_round_trips(engine, link):
    engine.remember(Draft(NEWS), HERE)
    answer, sent = trips(link, lambda: engine.recall(Question(QUESTION), HERE))
    assert NEWS in [hit.stored.memory.text for hit in answer.hits]
    assert sent <= 10


def test_a_context_block_takes_few_round_trips(engine, link):
    block, sent = trips(link, lambda: engine.context(Task("deploy the billing database"), HERE))
    assert block.memories
    assert sent <= 12
