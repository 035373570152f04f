"""`retain rpc` as a program sees it: a real process on real pipes, with the methods of the bank."""

import json
import signal
import sys
from pathlib import Path

import pytest

from retain.surfaces.mcp.toolsets.bank import tools
from surfaces.wire import Wire, environment, in_place

# A tool that starts a child which prints, and reads what it can get.
INTRUDER = """
import os
from retain.surfaces.cli.main import cli
from retain.surfaces.mcp.toolsets.bank import tools

@tools.tool("Shout")
def shout(app: object) -> dict[str, object]:
    print("printed here", flush=True)
    return {"code": os.system("echo printed by a child; cat")}

cli(["rpc"])
"""


@pytest.fixture
def start(tmp_path):
    """Starts `retain rpc` on the memory in `tmp_path`, in the project `shop`."""
    started = []

    def one(*options, command=("-m", "retain", "rpc"), **settings):
        env = environment(tmp_path, **settings)
        # A runner in the background ignores interrupts, and children inherit that.
        free = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
        started.append(Wire(sys.executable, *command, *options, env=env, cwd=tmp_path / "shop", preexec_fn=free))
        return started[-1]

    yield one
    for wire in started:
        wire.end()


@pytest.fixture
def rpc(start):
    return start()


@pytest.fixture
def shop(rpc, tmp_path):
    """The id of the project, once it has a name."""
    return said(rpc, "project_init", name="Corner shop", path=str(tmp_path / "shop"), description="Sells tea")["id"]


def said(wire, method, **params):
    """The result of a request as the document prints them, without version and id."""
    answer = asked(wire, {"method": method, "params": params})
    assert "result" in answer, answer
    return answer["result"]


def asked(wire, request):
    wire.raw(json.dumps(request).encode())
    answer = wire.line()
    if isinstance(answer, dict):
        assert answer["jsonrpc"] == "2.0"
    return answer


def refused(wire, method, **params):
    return asked(wire, {"method": method, "params": params})["error"]


@pytest.mark.parametrize("method", [tool.name for tool in tools.tools])
def test_every_tool_of_the_bank_is_a_method(shared, method):
    failed = shared.ask(method, nonsense=1)["error"]
    assert failed["code"] == -32602
    assert "nonsense" in [fault["field"] for fault in failed["data"]["validation_errors"]]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One process for questions that leave nothing behind."""
    home = tmp_path_factory.mktemp("rpc")
    wire = Wire(sys.executable, "-m", "retain", "rpc", env=environment(home), cwd=home / "shop")
    yield wire
    wire.end()


def test_a_decision_is_recorded_and_found_as_in_the_document(rpc, shop):
    decision = said(
        rpc,
        "memory_create",
        type="decision",
        title="Tea by post",
        content="We send tea by post and not by courier: cheaper, and nobody waits for tea.",
        tags=["delivery", "costs"],
        project_id=shop,
    )
    pattern = said(
        rpc,
        "memory_create",
        type="pattern",
        title="Labels in one run",
        content="Post labels are printed in one run each evening, sorted by weight.",
        tags=["delivery"],
        project_id=shop,
    )
    found = said(rpc, "memory_search", query="tea by post", project_id=shop, type="decision", limit=5, threshold=0.1)
    assert [hit["id"] for hit in found["results"]] == [decision["id"]]
    assert said(rpc, "memory_get", id=pattern["id"])["project_id"] == shop


def test_a_solved_error_is_found_with_its_scores(rpc):
    said(
        rpc,
        "memory_create",
        type="error_solution",
        title="Printer jams on thick paper",
        content="The label printer jams on thick paper. Open the rear tray, so that paper goes straight through.",
        tags=["printer"],
    )
    params = {"query": "label printer jams", "type": "error_solution", "threshold": 0.1, "limit": 3}
    (hit,) = said(rpc, "memory_enhanced-search", **params)["results"]
    assert sum(hit["score_breakdown"].values()) == pytest.approx(hit["relevance_score"], abs=0.02)
    assert "**" in hit["highlighted_content"]


def test_a_session_is_tracked_without_naming_it_again(rpc, shop):
    session = said(rpc, "session_start", title="Sell coffee too", project_id=shop, description="Beans, not cups")["id"]
    entries = [("info", "Beans are in"), ("milestone", "A bag sold"), ("issue", "Loud mill"), ("solution", "Felt")]
    for kind, message in entries:
        assert said(rpc, "session_log", message=message, type=kind)["logged_at"]
    assert said(rpc, "session_complete", outcome="Coffee is sold")["duration_minutes"] == 0
    told = said(rpc, "session_get", id=session)
    assert told["status"] == "completed"
    assert [(entry["type"], entry["content"]) for entry in told["progress"]][:4] == entries


def test_another_process_is_told_nothing_of_the_session_that_was_started_last(start, tmp_path):
    first, second = start(), start()
    for name, wire in (("first", first), ("second", second)):
        (tmp_path / name).mkdir()
        project = said(wire, "project_init", name=name, path=str(tmp_path / name))["id"]
        said(wire, "session_start", title=f"Work of the {name}", project_id=project)
    said(first, "session_log", message="by the first")
    (row,) = [one for one in said(second, "session_list")["sessions"] if one["title"] == "Work of the first"]
    assert said(second, "session_get", id=row["id"])["progress"][0]["content"] == "by the first"


def test_what_a_project_knows_is_counted_by_facet(rpc, shop):
    for kind, title in (("documentation", "How the shop works"), ("code", "Price of a bag")):
        said(
            rpc,
            "memory_create",
            type=kind,
            title=title,
            content=f"{title}: shelves, scales and a till.",
            project_id=shop,
        )
    params = {"query": "shelves and scales", "project_id": shop, "include_facets": True, "threshold": 0.0}
    found = said(rpc, "memory_faceted-search", **params, filters={"types": ["documentation", "decision"]})
    assert [hit["title"] for hit in found["results"]] == ["How the shop works"]
    assert found["facets"]["types"] == {"documentation": 1}


def test_suggestions_go_by_what_is_stored(rpc, shop):
    said(rpc, "memory_create", type="code", title="Authentication at the till", content="By card.", project_id=shop)
    suggested = said(rpc, "memory_search-suggestions", partial_query="auth", project_id=shop, limit=10)["suggestions"]
    assert any("uthentication" in one["query"] for one in suggested)


def test_a_batch_in_the_form_of_the_document_is_answered_in_one_line(rpc):
    answers = asked(
        rpc,
        [
            {
                "method": "memory_create",
                "params": {"type": "decision", "title": "The till", "content": "A wooden one."},
            },
            {
                "method": "memory_create",
                "params": {"type": "pattern", "title": "Opening", "content": "Count, then open."},
            },
            {"method": "memory_list", "params": {"limit": 10}},
        ],
    )
    assert [answer["id"] for answer in answers] == [None] * 3
    assert {row["title"] for row in answers[2]["result"]["memories"]} == {"The till", "Opening"}


def test_bad_parameters_are_told_all_at_once_and_nothing_is_stored(rpc):
    failed = refused(rpc, "memory_create", type="poem", title="", content="Roses")
    assert (failed["code"], failed["message"]) == (-32602, "Invalid parameters")
    assert {fault["field"] for fault in failed["data"]["validation_errors"]} == {"type", "title"}
    assert said(rpc, "memory_list")["total"] == 0


def test_a_memory_that_is_not_there_is_a_server_error(rpc):
    failed = refused(rpc, "memory_get", id="mem_nothing")
    assert (failed["code"], failed["message"], failed["data"]["memory_id"]) == (
        -32000,
        "Memory not found",
        "mem_nothing",
    )


def test_a_notification_writes_and_is_not_answered(rpc):
    rpc.tell("memory_create", type="code", title="Quietly", content="Stored without a word.")
    rpc.tell("memory_create", type="code", title="", content="Refused without a word.")
    assert [row["title"] for row in rpc.ask("memory_list")["result"]["memories"]] == ["Quietly"]


def test_after_the_last_line_it_ends_well_and_what_it_stored_stays(start):
    first = start()
    first.raw(b'{"method":"memory_create","params":{"type":"code","title":"Kept","content":"for good"}}')
    assert first.leave() == (0, "")
    assert [row["title"] for row in said(start(), "memory_list")["memories"]] == ["Kept"]


def test_without_a_line_nothing_is_written(rpc, tmp_path):
    assert rpc.leave() == (0, "")
    assert rpc.process.stdout.read() == b""
    assert not list(tmp_path.rglob("*.db"))


def test_without_an_input_it_ends_at_once(start):
    closed = f"exec {sys.executable} -m retain rpc <&-"
    wire = start("-c", "import os, sys; os.execvp('sh', ['sh', '-c', sys.argv[1]])", closed, command=())
    assert wire.leave() == (0, "")


def test_a_reader_that_leaves_ends_it_quietly(rpc):
    rpc.process.stdout.close()
    rpc.raw(b'{"method":"memory_list"}')
    log = rpc.process.stderr.read()
    assert (rpc.process.wait(20), log) == (141, b"")


def test_an_interrupt_ends_it_as_any_command(rpc):
    said(rpc, "memory_list")
    rpc.process.send_signal(signal.SIGINT)
    assert rpc.process.wait(20) == 130


def test_a_store_that_cannot_be_opened_is_an_answer_each_time(start, tmp_path):
    (tmp_path / "file").write_text("a file where a folder should be")
    wire = start(**in_place(tmp_path / "file" / "retain.db"))
    for _ in range(2):
        failed = refused(wire, "memory_list")
        assert failed["code"] == -32000
    assert wire.leave()[0] == 0


def test_logs_go_to_standard_error_alone(start):
    wire = start(log_level="debug", toolset="nonsense")
    assert said(wire, "memory_list")["total"] == 0
    code, log = wire.leave()
    assert code == 0
    assert "nonsense" in log
    assert wire.process.stdout.read() == b""


def test_nothing_else_reads_the_requests_or_prints_between_the_answers(start):
    wire = start(command=("-c", INTRUDER))
    wire.raw(b'{"method":"shout"}\n{"method":"shout"}')
    assert [wire.line()["result"] for _ in range(2)] == [{"code": 0}] * 2
    code, log = wire.leave()
    assert code == 0
    assert log.count("printed here") == log.count("printed by a child") == 2


def test_people_and_projects_can_be_chosen(start, tmp_path):
    (tmp_path / "other").mkdir()
    wires = [start(), start("--user", "ann"), start("--project", str(tmp_path / "other"))]
    said(wires[0], "memory_create", type="code", title="Mine", content="and nobody else's")
    assert [said(wire, "memory_list")["total"] for wire in wires] == [1, 0, 0]


def test_a_line_without_end_does_not_fill_the_memory(rpc):
    said(rpc, "memory_list")
    before = peak(rpc.process.pid)
    for _ in range(100):
        rpc.process.stdin.write(b"[" * 1_000_000)
    rpc.raw(b"")
    assert rpc.line()["error"]["code"] == -32700
    assert said(rpc, "memory_list")["total"] == 0
    assert peak(rpc.process.pid) - before < 40_000


def peak(process):
    """The most memory a process ever had, in kilobytes."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def test_the_help_has_an_example_that_works(start):
    wire = start("--help")
    code, _ = wire.leave()
    text = wire.process.stdout.read().decode()
    example = next(line for line in text.splitlines() if "echo" in line)
    assert code == 0
    assert asked(start(), json.loads(example.split("'")[1]))["result"]["total"] == 0
