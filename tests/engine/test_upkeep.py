"""What happens in the background: vectors that were missing, sessions that ended, the backup of the day."""

import threading

import pytest

from retain.app import Retain
from retain.config import load
from retain.engine.recall.recall import Question

EPISODES = [f"Build {number} failed because the runner has no Docker daemon" for number in (101, 102, 103)]


@pytest.fixture
def opened(tmp_path):
    made = []

    def open_one(**settings):
        (tmp_path / "shop").mkdir(exist_ok=True)
        where = {"home": tmp_path / "home", "project_dir": tmp_path / "shop"}
        made.append(Retain(load(where | settings, {"HOME": str(tmp_path)}, tmp_path)))
        return made[-1]

    yield open_one
    for app in made:
        app.close()


def unembedded(app):
    return app.engine.status(app.caller()).counts.unembedded


def test_what_was_stored_without_a_model_is_embedded_once_there_is_one(opened):
    without = opened(embedding_model="off")
    assert not without.remember("We deploy on Mondays").embedded
    without.close()
    app = opened(embedding_model="hashed")
    assert unembedded(app) == 1
    app.engine.warm()
    assert app.engine.settle(10)
    assert unembedded(app) == 0
    assert app.recall("deploy Mondays", strategy="vector")


def test_a_recall_says_that_some_memories_are_found_by_keyword_only_and_mends_it(opened):
    without = opened(embedding_model="off")
    without.remember("We deploy on Mondays")
    app = opened(embedding_model="hashed")
    first = app.engine.recall(Question("deploy"), app.caller())
    assert [w.code for w in first.warnings] == ["keyword_only"]
    app.engine.settle(10)
    assert app.engine.recall(Question("deploy"), app.caller()).warnings == ()


def test_a_long_text_is_embedded_in_parts_and_finished_later(opened):
    app = opened(embedding_model="hashed")
    text = "\n\n".join(f"Paragraph {n} is about module {n}. " + "It has many words. " * 40 for n in range(40))
    done = app.remember(text)
    assert done.chunks_missing > 0
    app.engine.settle(20)
    assert unembedded(app) == 0


def test_the_next_process_consolidates_what_an_ended_session_left(opened):
    first = opened()
    for text in EPISODES:
        first.remember(text, kind="episodic", session="monday")
    first.engine.end_session(first.caller("monday"))
    first.close()
    second = opened()
    second.look_after()
    assert second.engine.settle(30)
    (run,) = second.engine.parts.store.runs(5)
    assert len(run.sources) == 3


def test_no_session_is_consolidated_when_that_is_switched_off(opened):
    app = opened(consolidation_on_shutdown="false", embedding_model="hashed")
    for text in EPISODES:
        app.remember(text, kind="episodic", session="monday")
    app.engine.end_session(app.caller("monday"))
    app.look_after()
    app.engine.settle(30)
    assert app.engine.parts.store.runs(5) == []


def test_a_server_makes_one_backup_a_day(opened, tmp_path):
    app = opened(embedding_model="hashed")
    app.remember("We deploy on Mondays")
    for _ in range(2):
        app.look_after()
        app.engine.settle(30)
    assert len(list((tmp_path / "home" / "backups").glob("*.db"))) == 1


def test_closing_ends_the_session_with_a_line_about_it(opened):
    app = opened(embedding_model="hashed")
    app.remember("We deploy on Mondays", tags=["deploy"])
    session = app.caller().session
    app.close()
    after = opened(embedding_model="hashed").engine.parts.store.session(session, "")
    assert after.ended
    assert after.summary.startswith("1 memories stored (1 semantic) about deploy")


def test_what_another_model_has_embedded_is_left_to_reembed(opened):
    opened(embedding_model="hashed").remember("We deploy on Mondays")
    app = opened()
    app.engine.warm()
    app.engine.settle(30)
    assert unembedded(app) == 1
    app.engine.reembed()
    assert unembedded(app) == 0


def test_forgetting_a_summary_lets_its_sources_speak_again(opened):
    app = opened()
    for text in EPISODES:
        app.remember(text, kind="episodic", session="monday")
    caller = app.caller("monday")
    (summary,) = app.engine.consolidate(caller, "monday", "summarize", dry_run=False).memories
    sources = list(summary.derived_from)
    spoken_for = [s.memory.consolidated for s in app.engine.parts.store.memories(sources).values()]
    app.forget(summary.id)
    alone = [s.memory.consolidated for s in app.engine.parts.store.memories(sources).values()]
    app.bring_back(summary.id)
    again = [s.memory.consolidated for s in app.engine.parts.store.memories(sources).values()]
    assert (spoken_for, alone, again) == ([True] * 3, [False] * 3, [True] * 3)


def test_what_waits_when_a_memory_is_closed_is_given_up_without_a_warning(opened, caplog):
    app, gate = opened(), threading.Event()
    engine = app.engine
    engine.later(gate.wait)
    engine.later(app.back_up)
    app.close()
    gate.set()
    assert engine.settle(30)
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == []
