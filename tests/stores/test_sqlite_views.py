"""What is read together is one transaction: a recall scores in one, storing a memory takes one that reads and one that
writes. What takes long, the models, lies outside of them."""

import threading
from dataclasses import replace

import pytest

from fakes import EagerJudge, FixedClock
from making import a_memory, a_project, save
from retain.domain.session import Caller
from retain.embedding.hashed import HashedEmbedder
from retain.engine.drafts import Draft
from retain.engine.engine import Engine
from retain.engine.parts import Parts
from retain.engine.recall.recall import Hearing, Question, recall
from retain.errors import QueryTimeout
from retain.stores.sqlite.store import SqliteStore

HERE = Caller(project=a_project("shop"), session="now")
QUESTION = Question("which database does billing use?")
ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"


@pytest.fixture
def engine(sqlite_file):
    engine = Engine(Parts(sqlite_file, HashedEmbedder(), FixedClock()))
    for number in range(20):
        engine.remember(Draft(f"The service number {number} is deployed with Kubernetes."), HERE)
    engine.recall(QUESTION, HERE)
    assert engine.settle(30)
    return engine


def transactions(store, act):
    """Those that this thread begins: it is the one that gets the connection which was given back last."""
    said = []
    with store.pool.plain() as db:
        db.set_trace_callback(said.append)
    act()
    return [statement for statement in said if statement.startswith("begin")]


class Watching(EagerJudge):
    """Does something each time that it reads a memory."""

    def __init__(self, act):
        super().__init__()
        self._act = act

    def fits(self, question, memory):
        self._act()
        return super().fits(question, memory)


class WatchingEmbedder(HashedEmbedder):
    act = staticmethod(lambda: None)

    def embed(self, texts):
        self.act()
        return super().embed(texts)


def in_view(store):
    """Whether this thread reads at a moment that is past for others."""
    before = store.change()
    other = SqliteStore(store.path)
    save(other, a_memory())
    other.close()
    return store.change() == before


def test_a_recall_scores_and_reads_in_one_transaction(engine, sqlite_file):
    parts = engine.parts
    hearing = Hearing(parts, QUESTION.text, HERE)
    assert hearing.vector
    assert transactions(sqlite_file, lambda: recall(parts, QUESTION, HERE, hearing)) == ["begin"]


def test_the_models_are_asked_outside_of_transactions(sqlite_file):
    seen = []
    embedder = WatchingEmbedder()
    parts = Parts(sqlite_file, embedder, FixedClock(), judge=Watching(lambda: seen.append(in_view(sqlite_file))))
    engine = Engine(parts)
    engine.remember(Draft("Billing uses Postgres."), HERE)
    assert engine.settle(30)
    embedder.act = lambda: seen.append(in_view(sqlite_file))
    assert recall(parts, QUESTION, HERE).hits
    assert len(seen) > 1 and not any(seen)


def test_what_goes_while_the_judge_reads_is_left_out(sqlite_file):
    engine = Engine(Parts(sqlite_file, HashedEmbedder(), FixedClock()))
    gone = engine.remember(Draft("Billing uses Postgres."), HERE).memory.id
    kept = engine.remember(Draft("Billing is deployed with Kubernetes."), HERE).memory.id

    def forget():
        if engine.get(gone, HERE).memory.is_active:
            engine.forget(gone, None, HERE)

    found = recall(replace(engine.parts, judge=Watching(forget)), QUESTION, HERE)
    assert engine.settle(30)
    assert [hit.id for hit in found.hits] == [kept]


def test_storing_a_memory_is_one_transaction_that_reads_and_one_that_writes(engine, sqlite_file):
    draft = Draft("Billing uses Postgres since Redis lost data.")
    assert transactions(sqlite_file, lambda: engine.remember(draft, HERE)) == ["begin", "begin immediate"]


def test_what_is_read_together_does_not_change_while_another_process_writes(sqlite_file):
    other = SqliteStore(sqlite_file.path)
    with sqlite_file.reading():
        before = sqlite_file.change()
        save(other, a_memory("m1"))
        assert (sqlite_file.change(), sqlite_file.memories(["m1"])) == (before, {})
    assert sqlite_file.memories(["m1"]).keys() == {"m1"}
    other.close()


def test_what_one_thread_reads_together_is_its_own(sqlite_file):
    seen = []
    with sqlite_file.reading():
        before = sqlite_file.change()
        save(sqlite_file, a_memory("m1"))
        thread = threading.Thread(target=lambda: seen.append(sqlite_file.change()))
        thread.start()
        thread.join()
        assert (seen, sqlite_file.change()) == ([before + 1], before)


def test_a_query_past_its_deadline_leaves_the_rest_of_what_is_read_together(sqlite_file):
    save(sqlite_file, a_memory("m1"))
    with sqlite_file.reading():
        with pytest.raises(QueryTimeout), sqlite_file.pool.reading(seconds=0.01) as db:
            db.execute(ENDLESS).fetchall()
        assert sqlite_file.memories(["m1"]).keys() == {"m1"}


def test_what_goes_wrong_beside_the_store_is_no_fault_of_the_store(sqlite_file):
    with pytest.raises(UnicodeDecodeError), sqlite_file.reading():
        b"\xff".decode()
    save(sqlite_file, a_memory("m1"))
    assert sqlite_file.memories(["m1"]).keys() == {"m1"}
    assert sqlite_file.pool.damage is None
