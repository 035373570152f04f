"""What every reply says until a person has dealt with it: damage, a store that is gone, settings that are not used."""

import json
import os
import shutil
from contextlib import closing

import pytest

from making import a_memory, save
from retain.standing import Notice, Notices, of_judge, of_store
from retain.stores.sqlite.store import SqliteStore
from retain.surfaces.claude_md import sync_project
from retain.surfaces.degraded import noted
from retain.surfaces.mcp.toolsets import audrey, bank, capture, default, graph, scoped
from retain.surfaces.rpc import Methods
from surfaces.command import Command

pytestmark = pytest.mark.sqlite
SETS = {"default": default, "scoped": scoped, "graph": graph, "capture": capture, "bank": bank, "audrey": audrey}
NOISE = b"SQLite format 3\0" + b"\xde\xad" * 40_000
NOBODY = "0mwi0000000000000000"
# Calls that find something, store something, and find nothing: what they look for may be in what is missing.
CALLS = [
    ("default", "recall_memories", {"query": "deploy"}),
    ("default", "store_memory", {"content": "We deploy on Mondays", "type": "semantic", "scope": "project"}),
    ("scoped", "get_memory_context", {"task_description": "deploy"}),
    ("scoped", "forget_memory", {"memory_id": f"memory:{NOBODY}"}),
    ("graph", "search_text", {"query": "deploy"}),
    ("graph", "get_memory", {"id": NOBODY}),
    ("capture", "memory_search", {"query": "deploy"}),
    ("capture", "memory_stats", {}),
    ("bank", "memory_list", {}),
    ("bank", "memory_get", {"id": NOBODY}),
    ("audrey", "memory_introspect", {}),
    ("audrey", "memory_recall", {"query": "deploy"}),
]


@pytest.fixture
def retain(tmp_path):
    return Command.in_folder(tmp_path)


def spoil(retain):
    """A damaged store, which the next process sets aside."""
    retain.home.mkdir(mode=0o700, exist_ok=True)
    (retain.home / "retain.db").write_bytes(NOISE)
    (retain.home / "retain.db").chmod(0o600)


def codes(body):
    return [warning["code"] for warning in body["warnings"]]


@pytest.mark.parametrize(("name", "tool", "given"), CALLS, ids=[f"{name}-{tool}" for name, tool, _ in CALLS])
def test_every_set_says_that_a_damaged_store_was_set_aside(desks, tmp_path, name, tool, given):
    (tmp_path / "retain.db").write_bytes(NOISE)
    methods = Methods(SETS[name].tools, desks().app)
    ((line),) = methods.answers(json.dumps({"id": 1, "method": tool, "params": given}).encode())
    assert "retain doctor --repair" in line


def test_a_server_says_it_in_results_failures_and_resources_also_the_next_one(servers, tmp_path):
    (tmp_path / "retain.db").write_bytes(NOISE)
    for _ in range(2):
        wire = servers()
        wire.hello()
        assert codes(wire.body("recall_memories", query="deploy")) == ["store_damaged"]
        assert codes(wire.body("forget_memory", memory_id=f"memory:{NOBODY}")) == ["store_damaged"]
        assert codes(wire.body("get_memory_status")) == ["store_damaged"]
        assert "retain doctor --repair" in wire.read("memory://user/preferences")
        assert codes(json.loads(wire.read("memory://status"))) == ["store_damaged"]
        wire.leave()


def test_a_command_says_it_on_standard_error_and_in_its_json(retain):
    spoil(retain)
    nothing = retain("recall", "deploy")
    assert nothing.code == 1
    assert "retain doctor --repair" in nothing.err
    assert codes(retain("remember", "We deploy on Mondays", "--json").body) == ["store_damaged"]
    assert "retain doctor --repair" in retain("show", NOBODY, "--json").err


def test_a_hook_says_it_to_the_agent_the_user_and_the_log(client):
    with closing(SqliteStore(client.home / "retain.db")) as store:
        save(store, a_memory("m1", "We deploy on Mondays"))
    (client.home / "retain.db.damaged-20261118T120000").write_bytes(NOISE)
    answer = client("SessionStart", client.sample("SessionStart.startup")).answer
    assert "Memories are missing here" in answer["systemMessage"]
    assert "Memories are missing here" in answer["hookSpecificOutput"]["additionalContext"]
    assert "Memories are missing here" in client.log()[-1]["note"]


def test_it_ends_when_a_repair_finds_the_memories(retain):
    retain("remember", "We deploy on Mondays")
    with (retain.home / "retain.db").open("r+b") as file:
        file.write(b"no longer a store")
    assert codes(retain("recall", "deploy", "--json").body) == ["store_damaged"]
    assert retain("doctor", "--repair").code == 0
    found = retain("recall", "deploy", "--json")
    assert (found.body["memories"][0]["content"], found.body["warnings"]) == ("We deploy on Mondays", [])


def test_a_repair_that_reads_nothing_is_not_advised_again_and_a_restore_ends_it(retain):
    retain("remember", "We deploy on Mondays")
    retain("backup")
    (backup,) = (retain.home / "backups").glob("*.db")
    spoil(retain)
    retain("recall", "deploy")
    advised = [check["repair"] for check in retain("doctor", "--repair", "--json").body["checks"] if check["repair"]]
    assert not [each for each in advised if "--repair" in each]
    assert [each for each in advised if f"retain restore {backup}" in each]
    assert codes(retain("recall", "deploy", "--json").body) == ["store_unreadable"]
    assert retain("restore", str(backup), "--yes").code == 0
    assert retain("recall", "deploy", "--json").body["warnings"] == []
    assert retain("doctor").code == 0


@pytest.mark.parametrize("lose", [os.unlink, lambda file: os.truncate(file, 0)], ids=["deleted", "emptied"])
def test_a_store_that_was_there_is_not_begun_anew_in_silence(retain, lose):
    retain("remember", "We deploy on Mondays")
    for log in retain.home.glob("retain.db-*"):
        log.unlink()
    lose(retain.home / "retain.db")
    assert codes(retain("recall", "deploy", "--json").body) == ["store_gone"]
    assert retain("doctor").code == 6
    assert codes(retain("remember", "We deploy on Fridays", "--json").body) == ["store_gone"]
    assert retain("doctor", "--settle").code == 0
    assert retain("recall", "deploy", "--json").body["warnings"] == []


def lose(retain):
    for file in retain.home.glob("retain.db*"):
        file.unlink()


def advised(retain):
    ways = [check["repair"] or "" for check in retain("doctor", "--json").body["checks"]]
    return [way.split(",")[0] for way in ways if "retain restore" in way]


def found(retain, text):
    return [memory["content"] for memory in retain("recall", text, "--json").body["memories"]]


@pytest.mark.parametrize(("end", "code"), [(lose, "store_gone"), (spoil, "store_unreadable")])
def test_a_backup_from_before_the_loss_is_advised_and_what_was_said_since_stays(retain, end, code):
    retain("remember", "We deploy on Mondays")
    elsewhere, good = retain.folder / "one.db", retain.home / "backups" / "retain-good.db"
    retain("backup", str(elsewhere))
    end(retain)
    retain("remember", "The harbour crane is green")
    retain("doctor", "--repair")
    newer = retain("backup", "--json").body["file"]
    assert advised(retain) == []
    shutil.copy2(elsewhere, good)
    assert advised(retain) == [f"retain restore {good}"]
    assert f"retain restore {good}" in retain("restore", newer, "--yes").out
    assert codes(retain("recall", "deploy", "--json").body) == [code]
    assert retain("restore", str(good), "--yes", "--json").body["notes"] == [
        "memories from since the loss that were added: 1"
    ]
    assert found(retain, "deploy") == ["We deploy on Mondays"]
    assert found(retain, "harbour crane") == ["The harbour crane is green"]
    assert codes(retain("recall", "deploy", "--json").body) == []


def test_a_repair_takes_no_backup_from_after_the_damage(retain):
    retain("remember", "We deploy on Mondays")
    spoil(retain)
    retain("remember", "The harbour crane is green")
    retain("backup")
    retain("doctor", "--repair", "--yes")
    assert codes(retain("recall", "deploy", "--json").body) == ["store_unreadable"]


def test_a_new_store_says_nothing_nor_does_one_that_never_held_a_memory(retain):
    assert retain("recall", "deploy", "--json").body["warnings"] == []
    (retain.home / "retain.db").unlink()
    assert retain("recall", "deploy", "--json").body["warnings"] == []
    (retain.home / "retain.db").write_bytes(b"")
    assert retain("recall", "deploy", "--json").body["warnings"] == []
    assert not list(retain.home.glob(".retain.db.*"))


def test_what_is_settled_is_kept_byte_for_byte(retain):
    spoil(retain)
    retain("recall", "deploy")
    assert retain("doctor", "--settle").code == 0
    assert retain("recall", "deploy", "--json").body["warnings"] == []
    (kept,) = retain.home.glob("retain.db.damaged-*.settled")
    assert kept.read_bytes() == NOISE


def test_a_setting_that_is_not_used_is_in_every_reply(desks):
    app = desks(store="sqllite").app
    (line,) = Methods(bank.tools, app).answers(b'{"id": 1, "method": "memory_list"}')
    assert "settings_not_used" in line and "sqllite" in line


def test_a_command_says_which_setting_is_not_used_once(retain):
    done = retain("recall", "deploy", "--json", RETAIN_STORE="sqllite")
    assert (codes(done.body), done.err.count("sqllite")) == (["settings_not_used"], 1)


def test_a_hook_says_that_a_setting_is_not_used(client):
    hook = client("SessionStart", client.sample("SessionStart.startup"), env={"RETAIN_STORE": "sqllite"}).answer
    assert "A setting is not used here" in hook["systemMessage"]


def test_what_stands_is_looked_for_again_after_a_while(tmp_path):
    looked = []

    def probe():
        looked.append(1)
        return of_store(str(tmp_path / "retain.db"))

    slow, quick = Notices(probe, seconds=3600), Notices(probe, seconds=0)
    assert (slow(), slow(), quick(), len(looked)) == ((), (), (), 2)
    (tmp_path / "retain.db.damaged-20261118T120000").touch()
    assert (len(slow()), [notice.code for notice in quick()]) == (0, ["store_damaged"])


def test_a_reply_that_says_it_already_says_it_once():
    told = Notice("store_damaged", "it was damaged")
    body = {"warnings": [{"code": "store_damaged", "message": "it was damaged"}]}
    assert noted(body, [told]) == body
    assert noted("Nothing.", [told]) == "Nothing.\n\n(it was damaged)"


def test_a_summary_is_not_rewritten_from_a_store_that_has_lost_memories(desks, tmp_path):
    (tmp_path / "shop").mkdir()
    damaged = tmp_path / "retain.db.damaged-20261118T120000"
    desks().stored("We decided to deploy on Mondays")
    damaged.touch()
    (refused,) = sync_project(desks(claude_md=True).app)
    assert "lost memories" in str(refused) and not refused.path.exists()
    damaged.rename(f"{damaged}.settled")
    (written,) = sync_project(desks(claude_md=True).app)
    assert "Mondays" in written.path.read_text()


def test_a_folder_of_surrealdb_that_is_gone_is_told(retain):
    here = {"RETAIN_STORE": "surrealdb"}
    retain("remember", "We deploy on Mondays", **here)
    shutil.rmtree(retain.home / "retain.surrealkv")
    assert codes(retain("recall", "deploy", "--json", **here).body) == ["store_gone"]
    retain("doctor", "--settle", **here)
    assert retain("recall", "deploy", "--json", **here).body["warnings"] == []


def test_that_nothing_is_judged_is_told_with_the_reason_until_there_is_a_judge():
    (notice,) = of_judge("the setting judge is off")
    assert notice.code == "judge_away"
    assert "the setting judge is off. They wait, for 30 days at most" in notice.message
    assert of_judge("") == []


@pytest.mark.parametrize(
    ("settings", "is_told"),
    [({}, False), ({"RETAIN_JUDGE": "off"}, True), ({"RETAIN_JUDGE": "off", "RETAIN_CAPTURE": "off"}, False)],
)
def test_status_says_that_conversations_wait_for_a_judge(tmp_path, settings, is_told):
    done = Command.in_folder(tmp_path)("status", "--json", **settings)
    codes = [warning["code"] for warning in done.body.get("warnings", ())]
    assert ("judge_away" in codes) is is_told
