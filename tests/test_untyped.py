"""Memories without a type: noted by whoever stores them, and filed by the next process that serves."""

import os
from contextlib import contextmanager
from dataclasses import replace

import pytest

from fakes import EagerJudge
from retain.app import Retain
from retain.config import apart, load
from retain.domain.judging import Surroundings
from retain.judge.off import NoJudge
from surfaces.command import Command
from surfaces.wire import GRAPH, TOOLS, Desk

TEXT = "Always squash commits"


@contextmanager
def opened(home, by=None, **settings):
    given = {"home": home, "project_dir": home, "embedding_model": "off", **settings}
    with Retain(load(given, apart(home))) as app:
        app.engine.parts = replace(app.engine.parts, judge=by or EagerJudge())
        yield app


def category(app, id):
    assert app.engine.settle(10)
    return app.get(id).memory.category


def serve(app):
    app.untyped.serve(app.engine)


def notes(home):
    return sorted(path.name for path in (home / "run").glob("untyped/*"))


def test_what_python_stores_is_filed_by_the_next_server(tmp_path):
    with opened(tmp_path) as app:
        id = app.remember(TEXT).memory.id
        assert category(app, id) is None
    with opened(tmp_path) as server:
        serve(server)
        assert category(server, id) == "pattern"
        assert server.get(id).memory.version == 1
    assert notes(tmp_path) == []


def test_a_server_files_what_it_stores_once_the_reply_is_out(tmp_path):
    with opened(tmp_path) as server:
        serve(server)
        done = server.remember(TEXT)
        assert done.memory.category is None
        assert category(server, done.memory.id) == "pattern"


@pytest.mark.parametrize("kind", ["semantic", "procedural"])
def test_what_was_given_a_type_is_not_filed(tmp_path, kind):
    with opened(tmp_path) as server:
        serve(server)
        id = server.remember(TEXT, kind=kind).memory.id
        assert (category(server, id), server.get(id).memory.kind) == (None, kind)


def test_a_server_that_finds_no_notes_does_not_ask_for_the_judge(tmp_path):
    class Unasked(NoJudge):
        def wait(self, seconds):
            raise AssertionError("nobody needs it")

    with opened(tmp_path, Unasked("never")) as server:
        serve(server)
        assert server.engine.settle(10)


def test_without_a_judge_the_notes_stay_for_who_has_one(tmp_path):
    with opened(tmp_path, NoJudge("damaged")) as server:
        serve(server)
        id = server.remember(TEXT).memory.id
        assert category(server, id) is None
    with opened(tmp_path) as server:
        serve(server)
        assert category(server, id) == "pattern"


@pytest.mark.parametrize("settings", [{"judge": False}, {"deployment_mode": "embedded-memory"}])
def test_nothing_is_noted_where_nobody_could_use_it(tmp_path, settings):
    with opened(tmp_path, **settings) as app:
        app.remember(TEXT)
    assert notes(tmp_path) == []


def test_what_a_server_took_that_died_is_filed_by_the_next(tmp_path):
    with opened(tmp_path) as app:
        id = app.remember(TEXT).memory.id
    (file,) = (tmp_path / "run" / "untyped").iterdir()
    file.rename(file.with_name(f"{file.stem}.999999999.taken"))
    with opened(tmp_path) as server:
        serve(server)
        assert category(server, id) == "pattern"
    assert notes(tmp_path) == []


def test_what_a_living_server_took_is_left_to_it(tmp_path):
    with opened(tmp_path) as app:
        id = app.remember(TEXT).memory.id
    (file,) = (tmp_path / "run" / "untyped").iterdir()
    file.rename(file.with_name(f"{file.stem}.{os.getppid()}.taken"))
    with opened(tmp_path) as server:
        serve(server)
        assert category(server, id) is None


def test_many_are_filed_some_at_a_time(tmp_path):
    with opened(tmp_path) as server:
        ids = [
            server.remember(f"Rule number {number} is {chr(97 + number % 26) * 5}").memory.id for number in range(120)
        ]
        serve(server)
        assert {category(server, id) for id in ids} == {"pattern"}


def test_a_note_that_is_no_id_is_passed_over(tmp_path):
    with opened(tmp_path) as app:
        id = app.remember(TEXT).memory.id
    (file,) = (tmp_path / "run" / "untyped").iterdir()
    file.write_bytes(b"\xff\xfe nonsense\n\n" + file.read_bytes())
    with opened(tmp_path) as server:
        serve(server)
        assert category(server, id) == "pattern"


@pytest.fixture
def graph(tmp_path):
    desk = Desk(tmp_path, tools=GRAPH)
    desk.app.engine.parts = replace(desk.app.engine.parts, judge=EagerJudge())
    serve(desk.app)
    yield desk
    desk.app.close()


@pytest.mark.parametrize(("given", "expected"), [({}, "pattern"), ({"memory_type": "semantic"}, None)])
def test_graph_files_what_has_no_type_and_its_replies_stay_as_they_are(graph, given, expected):
    reply = graph("store_memory", content=TEXT, **given)
    before = graph("get_memory", id=reply["id"])
    assert category(graph.app, reply["id"]) == expected
    after = graph("get_memory", id=reply["id"])
    changing = ("access_count", "last_accessed")
    assert {k: v for k, v in after.items() if k not in changing} == {
        k: v for k, v in before.items() if k not in changing
    }


def test_scoped_demands_a_type_so_nothing_is_filed(graph, tmp_path):
    graph.tools = TOOLS
    id = graph.stored(TEXT)
    assert category(graph.app, id) is None
    assert notes(tmp_path) == []


def test_the_command_leaves_a_note_and_loads_no_judge(tmp_path):
    retain = Command.in_folder(tmp_path)
    retain.stored(TEXT)
    assert len(list(tmp_path.rglob("untyped/*.ids"))) == 1
    retain("remember", "Deploys go to Fly.io", "--type", "semantic")
    (file,) = tmp_path.rglob("untyped/*.ids")
    assert len(file.read_text().splitlines()) == 1


def test_the_real_judge_names_a_lasting_category_for_a_plain_rule(tmp_path):
    from retain.judge.onnx import JudgeFiles, OnnxJudge

    if not JudgeFiles().onnx.is_file():
        pytest.skip("the judge is not in this checkout")
    with opened(tmp_path, OnnxJudge()) as server:
        serve(server)
        id = server.remember("We decided to use Postgres because it runs already.").memory.id
        assert server.engine.settle(60)
        assert server.get(id).memory.category == "decision"
        assert server.engine.parts.judge.keep("thanks", Surroundings()).score < 0.5
