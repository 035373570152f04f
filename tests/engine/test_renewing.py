"""Vectors of the model's earlier file: used as they are, and made anew in the background, once."""

import struct
from dataclasses import replace

import pytest

from fakes import FixedClock
from indexing import ADA, a_code, a_shop, indexed
from retain.app import Retain
from retain.config import load
from retain.domain.changes import Changes
from retain.domain.memory import Embedding
from retain.domain.model import BUNDLED, earlier
from retain.embedding.onnx import OnnxEmbedder
from retain.embedding.unit import unit
from retain.engine.code.finding.search import CodeQuestion
from retain.engine.embed import pieces
from retain.engine.lifecycle.renewing import renew_some
from retain.engine.lifecycle.upkeep import BATCH, embed_if_ready

(OLD,) = earlier(BUNDLED)
TEXTS = [f"Service number {number} is deployed on a {day}" for number, day in enumerate(("Monday", "Friday") * 12)]


class Earlier(OnnxEmbedder):
    """The model as an earlier Retain had it, on a processor whose kernel saturates."""

    @property
    def model(self):
        return OLD

    def embed(self, texts):
        return [unit(list(blurred(vector))) for vector in super().embed(texts)]


def blurred(vector):
    for place, (number,) in enumerate(struct.iter_unpack("<f", vector)):
        yield number + (0.006 if place % 2 else -0.006)


@pytest.fixture
def opened(tmp_path):
    """A window; its store has memories that an earlier Retain has embedded."""
    made = []

    def open_one(**settings):
        (tmp_path / "shop").mkdir(exist_ok=True)
        where = {"home": tmp_path / "home", "project_dir": tmp_path / "shop"}
        made.append(Retain(load(where | settings, {"HOME": str(tmp_path)}, tmp_path)))
        return made[-1]

    yield open_one
    for app in made:
        app.close()


def remembered_by_an_earlier_retain(app, texts, title=None):
    model, store = Earlier(), app.engine.parts.store
    ids = [app.remember(text).memory.id for text in texts]
    assert app.engine.settle(60)  # what compares them would write them beside this
    memories = [replace(stored.memory, title=title) for stored in store.memories(ids).values()]
    vectors = [tuple(model.embed(pieces(model, memory.text, memory.title))) for memory in memories]
    embeddings = tuple(Embedding(memory.id, OLD, made) for memory, made in zip(memories, vectors, strict=True))
    store.apply(Changes(memories[0].created, memories=tuple(memories), embeddings=embeddings))
    return ids


def outdated(app):
    return len(app.engine.parts.store.unembedded(BUNDLED, 1000, by_others=False, earlier=True))


def test_earlier_vectors_serve_until_a_server_has_made_them_anew(opened):
    app = opened()
    ids = remembered_by_an_earlier_retain(app, TEXTS, title="Where it is deployed")
    parts = app.engine.parts
    assert app.recall("when is service 3 deployed?", strategy="vector") and outdated(app) == len(TEXTS) > BATCH
    assert app.engine.status(app.caller()).counts.unembedded == 0
    app.look_after()
    assert app.engine.settle(60) and outdated(app) == 0
    model = OnnxEmbedder()
    for id, found in parts.store.vectors(ids, BUNDLED).items():
        memory = parts.store.memories([id])[id].memory
        wanted = model.embed(pieces(model, memory.text, memory.title))
        assert [cosine(*pair) for pair in zip(found, wanted, strict=True)] == [pytest.approx(1, abs=1e-4)] * 2


def test_what_has_been_made_anew_is_not_made_again(opened):
    app = opened()
    remembered_by_an_earlier_retain(app, TEXTS[:3])
    app.look_after()
    app.engine.settle(60)
    change = app.change_number()
    assert renew_some(app.engine.parts) == 0 and app.engine.reembed() == 0
    assert app.change_number() == change


def test_it_goes_on_where_another_process_stopped(opened):
    one, other = opened(), opened()
    remembered_by_an_earlier_retain(one, TEXTS)
    assert one.engine.parts.embedder.wait(30) and other.engine.parts.embedder.wait(30)
    assert renew_some(one.engine.parts) == BATCH
    one.close()
    assert renew_some(other.engine.parts) == len(TEXTS) - BATCH
    assert renew_some(other.engine.parts) == outdated(other) == 0


def test_an_earlier_retain_beside_this_one_undoes_nothing(opened):
    app = opened()
    remembered_by_an_earlier_retain(app, TEXTS[:2])
    app.engine.parts.embedder.wait(30)
    model = Earlier()
    model.wait(30)
    beside = replace(app.engine.parts, embedder=model)
    assert (renew_some(app.engine.parts), embed_if_ready(beside), renew_some(beside)) == (2, 0, 0)
    assert (renew_some(app.engine.parts), outdated(app)) == (0, 0)


def test_an_edit_meanwhile_keeps_the_vectors_of_its_own_text(opened):
    app = opened()
    (id,) = remembered_by_an_earlier_retain(app, TEXTS[:1])
    app.update(id, text="Service number 0 is never deployed")
    app.engine.parts.embedder.wait(30)
    renew_some(app.engine.parts)
    (found,) = app.engine.parts.store.vectors([id], BUNDLED)[id]
    (wanted,) = OnnxEmbedder().embed(["Service number 0 is never deployed"])
    assert cosine(found, wanted) > 0.9999


def test_reembed_makes_earlier_vectors_anew_at_once(opened):
    app = opened()
    remembered_by_an_earlier_retain(app, TEXTS[:3])
    assert (app.engine.reembed(), outdated(app)) == (3, 0)


def test_another_model_has_no_earlier_vectors(opened):
    app = opened(embedding_model="hashed")
    app.remember(TEXTS[0])
    assert (earlier("hashed-384@1"), renew_some(app.engine.parts)) == ((), 0)


def test_code_is_found_by_earlier_vectors_and_embedded_anew_by_the_next_run(store, tmp_path):
    root = a_shop(tmp_path / "shop")
    clock = FixedClock()
    indexed(a_code(store, clock, tmp_path, model=Earlier()), root)
    code = a_code(store, clock, tmp_path, model=OnnxEmbedder())
    assert code.search(CodeQuestion("turn text into a moment"), ADA).hits
    assert len(store.code_outdated("ada", BUNDLED)) == 1
    indexed(code, root)
    assert store.code_outdated("ada", BUNDLED) == []


def cosine(one, other):
    pairs = zip(struct.iter_unpack("<f", one), struct.iter_unpack("<f", other), strict=True)
    return sum(a * b for (a,), (b,) in pairs)
