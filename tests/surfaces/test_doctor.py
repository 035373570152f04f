"""The doctor: what it looks at, what it calls a fault, and what it can put right."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from retain.domain.model import BUNDLED, earlier
from surfaces.command import Command

DEPLOY = "Deploys go through the staging cluster first."
AREAS = ("install", "settings", "permissions", "store", "model", "judge", "backups", "hooks", "clients")


@pytest.fixture
def retain(tmp_path):
    return Command.in_folder(tmp_path)


def states(body: dict, area: str) -> set[str]:
    return {check["state"] for check in body["checks"] if check["area"] == area}


def test_a_sound_memory_passes_every_check(retain):
    retain("remember", DEPLOY)
    retain("backup")
    done = retain("doctor", "--json")
    assert (done.code, done.body["ok"]) == (0, True)
    assert {check["area"] for check in done.body["checks"]} == set(AREAS)
    assert states(done.body, "store") == states(done.body, "backups") == {"ok"}


def test_people_get_a_line_for_each_check_and_the_repair_beside_it(retain):
    retain("remember", DEPLOY)
    out = retain("doctor").out
    assert "  ok    SQLite" in out
    assert "  warn  there is none yet\n        → retain backup" in out
    assert out.endswith("No faults; but see model, backups, clients above.\n")


def test_before_anything_is_remembered_there_is_nothing_wrong_and_nothing_made(retain):
    assert retain("doctor").code == 0
    assert not retain.home.exists()


def test_the_bundled_model_is_loaded_and_tried(retain):
    body = retain("doctor", "--json", RETAIN_EMBEDDING_MODEL="bundled").body
    loaded, computed = [check for check in body["checks"] if check["area"] == "model"]
    assert loaded["state"] == computed["state"] == "ok"
    assert "384 dimensions" in loaded["note"]
    assert "that other machines do" in computed["note"] and "u8.onnx, sha256 23c8715e" in computed["note"]


def test_vectors_of_the_models_earlier_file_are_told_of_until_they_are_made_anew(retain):
    real = {"RETAIN_EMBEDDING_MODEL": "bundled"}
    retain("remember", DEPLOY, **real)
    (earlier_file,) = earlier(BUNDLED)
    with closing(sqlite3.connect(retain.home / "retain.db")) as db, db:
        db.execute("update model set name = ?", (earlier_file,))
    assert "by an earlier file of the model" in retain("doctor", **real).out
    assert retain("reembed", "--json", **real).body["embedded"] == 1
    assert "by an earlier file of the model" not in retain("doctor", **real).out


def test_a_model_that_is_not_there_is_a_fault(retain):
    done = retain("doctor", "--json", RETAIN_EMBEDDING_MODEL="/no/such/folder")
    assert done.code == 6
    assert states(done.body, "model") == {"fail"}


def test_the_judge_is_loaded_and_tried(retain):
    (check,) = [check for check in retain("doctor", "--json").body["checks"] if check["area"] == "judge"]
    assert (check["state"], "loads; a rule" in check["note"]) == ("ok", True)


def test_a_judge_that_is_off_is_told_with_what_waits_for_it(retain):
    done = retain("doctor", "--json", RETAIN_JUDGE="off")
    (check,) = [check for check in done.body["checks"] if check["area"] == "judge"]
    assert (done.code, check["state"]) == (0, "warn")
    assert "switched off by the setting judge; conversations wait for it, 30 days at most" in check["note"]
    assert "set judge to on" in check["repair"]


def test_what_waits_to_be_compared_is_counted_with_the_reason(retain):
    off = {"RETAIN_JUDGE": "off"}
    retain("remember", DEPLOY, **off)
    waiting, _ = [check for check in retain("doctor", "--json", **off).body["checks"] if check["area"] == "judge"]
    assert (waiting["state"], waiting["note"]) == ("warn", "1 memory waits to be compared: the setting judge is off")
    status = retain("status", "--json", **off).body
    assert "1 memory is not compared with what is near: the judge is off" in str(status)
    waiting, _ = [check for check in retain("doctor", "--json").body["checks"] if check["area"] == "judge"]
    assert waiting["state"] == "ok"


def test_a_setting_that_cannot_be_used_is_a_fault(retain):
    done = retain("doctor", "--json", RETAIN_QUERY_TIMEOUT="soon")
    assert done.code == 6
    assert "fail" in states(done.body, "settings")


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes")
def test_files_that_others_can_read_are_closed_up(retain):
    retain("remember", DEPLOY)
    config = retain.folder / "user" / ".claude" / "retain.local.md"
    config.parent.mkdir()
    config.write_text("---\nremote_pass: secret\n---\n")
    loose = {retain.home: 0o755, retain.home / "retain.db": 0o644, config: 0o644}
    for path, mode in loose.items():
        path.chmod(mode)
    assert retain("doctor").code == 6
    done = retain("doctor", "--repair", "--json")
    assert (done.code, len(done.body["repaired"])) == (0, 3)
    assert [path.stat().st_mode & 0o777 for path in loose] == [0o700, 0o600, 0o600]


def test_a_settings_file_without_a_password_may_be_read_by_all(retain):
    retain("remember", DEPLOY)
    config = retain.project / ".claude" / "retain.local.md"
    config.parent.mkdir()
    config.write_text("---\nlog_level: warning\n---\n")
    config.chmod(0o644)
    assert states(retain("doctor", "--json").body, "permissions") == {"ok"}


def test_a_full_text_index_that_disagrees_is_made_anew(retain):
    retain("remember", DEPLOY)
    with sqlite3.connect(retain.home / "retain.db") as db:
        db.execute("delete from memory_words")
    assert retain("doctor").code == 6
    assert "made anew" in retain("doctor", "--repair").out
    assert retain("recall", "staging", "--strategy", "keyword").code == 0


def test_what_a_damaged_file_still_holds_is_salvaged(retain):
    retain("remember", "--lines", stdin="".join(f"Staging note {n} of the deploy log.\n" for n in range(50)))
    _scratch(retain.home / "retain.db", at=0, bytes=100)
    retain("remember", "Written after the damage.")
    assert retain("doctor").code == 6
    assert retain("doctor", "--repair").code == 0
    assert retain("status", "--json").body["counts"]["total"] == 51


def test_where_nothing_can_be_read_the_newest_backup_is_restored_with_what_came_since(retain):
    id = retain.stored(DEPLOY)
    retain("backup")
    _drown(retain)
    later = retain.stored("Written after the damage.")
    done = retain("doctor", "--repair", "--yes")
    assert "was restored" in done.out
    assert retain("show", id).code == retain("show", later).code == 0
    assert done.code == 0


def test_a_backup_is_not_restored_unasked(retain):
    id = retain.stored(DEPLOY)
    retain("backup")
    _drown(retain)
    done = retain("doctor", "--repair")
    assert done.code == 6
    assert retain("show", id).code == 3


def test_a_store_of_a_newer_retain_is_named(retain):
    retain("remember", DEPLOY)
    with sqlite3.connect(retain.home / "retain.db") as db:
        db.execute("pragma user_version = 99")
    done = retain("doctor")
    assert done.code == 6
    assert "update this Retain" in done.out


@pytest.mark.parametrize("table", ["counter", "memory_words_config", "memory_newest", "sign", "relation"])
def test_a_damaged_page_is_found_and_put_right(retain, table):
    retain("remember", "--lines", stdin="".join(f"Staging note {n}: {'the deploy log ' * 20}\n" for n in range(100)))
    file = retain.home / "retain.db"
    (page,) = sqlite3.connect(file).execute("select rootpage from sqlite_master where name = ?", (table,)).fetchone()
    _scratch(file, at=4096 * (page - 1), bytes=4096)
    assert retain("doctor").code == 6
    assert retain("doctor", "--repair").code == 0
    assert retain("status", "--json").body["counts"]["total"] == 100


def _scratch(file: Path, *, at: int, bytes: int) -> None:
    _checkpoint(file)
    with file.open("r+b") as stream:
        stream.seek(at)
        stream.write(b"\xde\xad" * (bytes // 2))


def _checkpoint(file: Path) -> None:
    db = sqlite3.connect(file)
    db.execute("pragma wal_checkpoint(truncate)")
    db.close()


def _drown(retain: Command) -> None:
    """Nothing of the store is left but its size."""
    file = retain.home / "retain.db"
    _checkpoint(file)
    file.write_bytes(b"\x5a" * file.stat().st_size)
    for log in retain.home.glob("retain.db-*"):
        log.unlink()
