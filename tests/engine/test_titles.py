"""Entries with a title: each keeps its own, whatever else says the same, and no two in a place share one."""

from dataclasses import replace

import pytest

from fakes import Rival
from retain.app import Retain
from retain.config import load
from retain.domain.changes import Changes
from retain.domain.graph import SIMILAR
from retain.domain.memory import Kind
from retain.engine.drafts import Draft
from retain.engine.remember import remember, remember_all
from retain.engine.revise import Edit
from retain.errors import Refused, Taken

TEXT = "We deploy on Mondays, after the stand-up."


@pytest.fixture
def app(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "mill").mkdir()
    settings = {"home": tmp_path / "home", "project_dir": tmp_path / "shop", "embedding_model": "hashed"}
    with Retain(load(settings, {"HOME": str(tmp_path)}, tmp_path)) as opened:
        yield opened


def entry(app, title, text=TEXT, **fields):
    return app.engine.remember(Draft(text, title=title, distinct=True, **fields), app.caller())


def test_an_equal_title_is_refused_and_names_the_holder(app):
    first = entry(app, "Deploy day").memory
    with pytest.raises(Taken) as refused:
        entry(app, "  DEPLOY   day ", "We deploy on Fridays.")
    assert refused.value.details["memory_id"] == f"mem_{first.id}"
    assert refused.value.details["constraint"] == "unique_memory_title_per_project"
    assert app.engine.total(app.caller()) == 1


def test_another_project_may_use_the_title(app, tmp_path):
    entry(app, "Deploy day")
    there = app.caller(folder=tmp_path / "mill")
    assert app.engine.remember(Draft("Never.", title="Deploy day", distinct=True), there).memory.title == "Deploy day"


@pytest.mark.parametrize("end", ["forget", "destroy"])
def test_the_title_of_what_is_gone_is_free(app, end):
    first = entry(app, "Deploy day").memory
    if end == "forget":
        app.forget(first.id)
    else:
        app.engine.destroy(first.id, app.caller())
    assert entry(app, "Deploy day", "We deploy on Fridays.").memory.title == "Deploy day"


def test_what_comes_back_must_find_its_title_free(app):
    first = entry(app, "Deploy day").memory
    app.forget(first.id)
    second = entry(app, "DEPLOY day", "We deploy on Fridays.").memory
    with pytest.raises(Taken, match=r'has the title "DEPLOY day" already; .* Rename or forget that one first'):
        app.bring_back(first.id)
    app.engine.update(second.id, Edit(title="Deploy day, now"), app.caller())
    assert app.bring_back(first.id).is_active


def test_an_equal_text_under_another_title_is_kept_and_tied(app):
    first, second = entry(app, "Deploy day"), entry(app, "When we ship")
    assert second.memory.id != first.memory.id and second.similar == first.memory.id
    (tie,) = app.engine.parts.store.ties([first.memory.id])
    assert (tie.source, tie.target, tie.type) == (second.memory.id, first.memory.id, SIMILAR)


def test_what_says_something_else_is_tied_to_nothing(app):
    entry(app, "Deploy day")
    assert entry(app, "Colours", "The logo is green.").similar is None


def test_entries_without_a_title_may_say_the_same(app):
    ids = {app.engine.remember(Draft("Tests pass.", distinct=True), app.caller()).memory.id for _ in range(3)}
    assert len(ids) == 3


def test_of_two_windows_that_claim_a_title_at_once_one_is_refused(app):
    parts, caller = app.engine.parts, app.caller()
    rival = Rival(parts.store, lambda: entry(app, "Deploy day"))
    with pytest.raises(Taken):
        remember(replace(parts, store=rival), Draft("On Fridays.", title="Deploy day", distinct=True), caller)


def test_a_title_can_be_changed_and_is_found_by_its_words(app):
    memory = entry(app, "Deploy day").memory
    done = app.engine.update(memory.id, Edit(title="Shipping calendar"), app.caller())
    assert done.fields == ("title",) and done.embedded
    assert [hit.id for hit in app.recall("shipping calendar")] == [memory.id]
    (before,) = [row for row in app.engine.history(memory.id, app.caller()) if row.rest]
    assert before.rest.called == ("Deploy day", None)


def test_a_title_cannot_be_changed_to_that_of_another(app):
    first, second = entry(app, "Deploy day").memory, entry(app, "Colours", "The logo is green.").memory
    with pytest.raises(Taken, match=first.id):
        app.engine.update(second.id, Edit(title="deploy DAY"), app.caller())
    assert app.engine.update(first.id, Edit(title="DEPLOY DAY"), app.caller()).memory.title == "DEPLOY DAY"


def test_tags_and_category_can_be_replaced(app):
    memory = entry(app, "Deploy day", tags=("a", "b"), category="decision").memory
    edit = Edit(tags=("b", "c"), category="pattern", kind=Kind.PROCEDURAL)
    done = app.engine.update(memory.id, edit, app.caller())
    assert done.fields == ("tags", "category", "memory_type")
    assert (done.memory.tags, done.memory.category, done.memory.kind) == (("b", "c"), "pattern", Kind.PROCEDURAL)
    assert app.engine.update(memory.id, Edit(tags=()), app.caller()).memory.tags == ()


def test_what_was_believed_then_has_the_title_of_then(app):
    memory = entry(app, "Deploy day", category="decision").memory
    then = app.now()
    app.engine.update(memory.id, Edit(title="Shipping calendar", category="pattern"), app.caller())
    (was,) = app.memories(known_at=then)
    assert (was.title, was.category) == ("Deploy day", "decision")


def test_a_title_has_a_vector_of_its_own(app):
    titled, bare = entry(app, "Deploy day").memory, app.remember("The logo is green.").memory
    vectors = app.engine.parts.store.vectors([titled.id, bare.id], app.engine.parts.embedder.model)
    assert [len(vectors[id]) for id in (titled.id, bare.id)] == [2, 1]


def test_missing_vectors_are_made_with_that_of_the_title(app, tmp_path):
    settings = {"home": tmp_path / "home", "project_dir": tmp_path / "shop", "embedding_model": "off"}
    with Retain(load(settings, {"HOME": str(tmp_path)}, tmp_path)) as without:
        memory = entry(without, "Deploy day").memory
    assert app.engine.reembed() == 1
    assert len(app.engine.parts.store.vectors([memory.id], app.engine.parts.embedder.model)[memory.id]) == 2


def test_several_drafts_are_written_at_once_or_not_at_all(app):
    drafts = [Draft(text, distinct=True) for text in ("One.", "Two.")]

    def refuse():
        raise Refused("it is over")

    parts, caller = app.engine.parts, app.caller()
    with pytest.raises(Refused):
        remember_all(parts, drafts, caller, check=refuse)
    assert app.engine.total(caller) == 0
    made = remember_all(parts, drafts, caller, along=Changes(at=app.now()))
    assert [done.memory.text for done in made] == ["One.", "Two."]
