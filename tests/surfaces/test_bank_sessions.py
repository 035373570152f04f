"""Development sessions of the bank tools: started, logged to, completed or aborted, and read by later ones."""

import re

import pytest

from surfaces.banking import codes, data, entry, error, faults, project, session
from surfaces.wire import BANK, TOOLS

ROW = {"id", "title", "project_id", "status", "started_at", "duration_minutes"}
WHOLE = ROW | {"completed_at", "description", "tags", "progress", "outcome", "summary", "warnings"}
SECRET = "AKIA" + "Q7Z2M9X4B6N1K8V3"
NOBODY = "sess_" + "0" * 20


def log(bank, content="Stripe is configured", **given):
    return bank("session_log", content=content, **given)


def contents(bank, id):
    return [each["content"] for each in bank("session_get", id=id)["progress"]]


# Starting


def test_starting_answers_with_an_id_and_a_time(bank):
    body = bank("session_start", title="Build the checkout", project_id="shop")
    assert set(body) == {"id", "started_at", "aborted_sessions", "warnings"}
    assert re.fullmatch(r"sess_[0-9a-z]{20}", body["id"])
    assert (body["aborted_sessions"], body["warnings"]) == ([], [])


def test_title_description_and_tags_come_back(bank):
    id = session(bank, "Build the checkout", description="With Stripe", tags=["pay", "api"])
    found = bank("session_get", id=id)
    assert (found["title"], found["description"], found["tags"]) == (
        "Build the checkout",
        "With Stripe",
        ["pay", "api"],
    )


def test_starting_a_second_one_aborts_the_first_and_says_so(bank):
    first = session(bank)
    body = bank("session_start", title="Search", project_id="shop")
    assert (body["aborted_sessions"], codes(body)) == ([first], ["session_aborted"])
    assert first in body["warnings"][0]["message"]
    assert bank("session_get", id=first)["status"] == "aborted"


def test_a_session_of_another_project_goes_on(bank):
    first = session(bank, project_id=project(bank))
    session(bank)
    assert bank("session_get", id=first)["status"] == "active"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"project_id": "shop"}, "title"),
        ({"title": "T"}, "project_id"),
        ({"title": "", "project_id": "shop"}, "title"),
        ({"title": "T" * 201, "project_id": "shop"}, "title"),
        ({"title": "T", "project_id": " "}, "project_id"),
        ({"title": "T", "project_id": "shop", "description": "x" * 2001}, "description"),
        ({"title": "T", "project_id": "shop", "tags": ["x" * 101]}, "tags[0]"),
        ({"title": "T", "project_id": "shop", "tags": ["x"] * 51}, "tags"),
        ({"title": "T", "project_id": "shop", "name": "x"}, "name"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_started(bank, given, field):
    assert list(faults(bank.refused("session_start", **given))) == [field]
    assert bank("session_list")["total"] == 0


@pytest.mark.parametrize("tool", ["session_start", "session_list", "session_abort"])
def test_a_project_that_is_not_known_is_not_found(bank, tool):
    given = {"title": "T"} if tool == "session_start" else {}
    body = bank.refused(tool, project_id="proj_789", **given)
    assert (error(body), data(body)["project_id"]) == ((-32000, "Project not found"), "proj_789")


# Logging


def test_an_entry_has_the_fields_of_the_contract(bank):
    id = session(bank)
    body = log(bank, entry_type="milestone", tags=["stripe"], session_id=id)
    assert {"logged_at", "session_id", "id", "warnings"} == set(body)
    (shown,) = bank("session_get", id=id)["progress"]
    assert shown == {
        "timestamp": body["logged_at"],
        "type": "milestone",
        "content": "Stripe is configured",
        "tags": ["stripe"],
        "id": body["id"],
    }


@pytest.mark.parametrize("name", ["entry_type", "type"])
@pytest.mark.parametrize("type", ["info", "milestone", "issue", "solution"])
def test_every_type_is_kept_in_both_spellings(bank, name, type):
    id = session(bank)
    log(bank, **{name: type})
    assert bank("session_get", id=id)["progress"][0]["type"] == type


def test_without_a_type_it_is_information(bank):
    id = session(bank)
    bank("session_log", message="Stripe is configured")
    assert [(each["type"], each["content"]) for each in bank("session_get", id=id)["progress"]] == [
        ("info", "Stripe is configured")
    ]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "content"),
        ({"content": " "}, "content"),
        ({"message": ""}, "message"),
        ({"content": "x" * 100_001}, "content"),
        ({"content": "a", "message": "b"}, "content, message"),
        ({"content": "a", "entry_type": "info", "type": "issue"}, "entry_type, type"),
        ({"content": "a", "entry_type": "note"}, "entry_type"),
        ({"content": "a", "type": "outcome"}, "type"),
        ({"content": "a", "tags": [""]}, "tags[0]"),
        ({"content": "a", "session_id": ""}, "session_id"),
        ({"content": "a", "text": "b"}, "text"),
    ],
)
def test_a_wrong_entry_is_named_and_nothing_is_logged(bank, given, field):
    id = session(bank)
    assert list(faults(bank.refused("session_log", **given))) == [field]
    assert contents(bank, id) == []


def test_the_same_in_both_spellings_is_one_entry(bank):
    id = session(bank)
    log(bank, "Done", message="Done", entry_type="issue", type="issue")
    assert contents(bank, id) == ["Done"]


def test_without_a_session_it_goes_to_the_one_started_last_here(bank):
    first, last = session(bank, project_id=project(bank)), session(bank)
    log(bank)
    assert (contents(bank, first), contents(bank, last)) == ([], ["Stripe is configured"])


def test_another_process_logs_to_the_only_active_one(desks):
    id = session(desks(tools=BANK))
    done = log(desks(tools=BANK))
    assert (done["session_id"], done["warnings"]) == (id, [])


def test_another_process_that_logs_to_the_session_of_another_project_is_told(desks):
    bank = desks(tools=BANK)
    id = session(bank, project_id=project(bank))
    done = log(desks(tools=BANK))
    assert (done["session_id"], codes(done)) == (id, ["other_project"])
    assert id in done["warnings"][0]["message"] and "Payments" in done["warnings"][0]["message"]


def test_once_the_session_started_here_has_ended_another_must_be_named(desks):
    bank, other = desks(tools=BANK), desks(tools=BANK)
    first = session(bank)
    theirs = session(other, project_id=project(other))
    bank("session_complete", outcome="Works")
    body = bank.refused("session_log", content="More")
    assert (data(body)["session_id"], data(body)["status"]) == (first, "completed")
    assert contents(bank, theirs) == []


def test_of_several_active_ones_the_error_lists_them(desks):
    bank = desks(tools=BANK)
    ids = session(bank, project_id=project(bank)), session(bank)
    code, message = error(desks(tools=BANK).refused("session_log", content="Done"))
    assert code == -32000 and all(id in message for id in ids)


@pytest.mark.parametrize("call", [("session_log", {"content": "Done"}), ("session_complete", {"outcome": "Done"})])
def test_without_any_active_one_it_says_how_to_begin(bank, call):
    tool, given = call
    code, message = error(bank.refused(tool, **given))
    assert code == -32000 and "session_start" in message


@pytest.mark.parametrize("tool", ["session_log", "session_complete", "session_get"])
@pytest.mark.parametrize("id", [NOBODY, "sess_invalid", "nonsense"])
def test_a_session_that_is_not_there_is_not_found(bank, tool, id):
    given = {"session_log": {"content": "a"}, "session_complete": {"outcome": "a"}}.get(tool, {})
    body = bank.refused(tool, **{"id" if tool == "session_get" else "session_id": id}, **given)
    assert error(body) == (-32000, "Session not found")
    assert data(body)["session_id"] == id
    assert "session_list" in data(body)["hint"]


@pytest.mark.parametrize("dress", ["{}", "sess_{}"])
def test_a_session_is_found_with_and_without_its_dress(bank, dress):
    id = session(bank)
    assert bank("session_get", id=dress.format(id.removeprefix("sess_")))["id"] == id


def test_the_session_of_somebody_else_is_not_found(desks):
    id = session(desks(tools=BANK))
    other = desks(tools=BANK, user_id="ada")
    assert error(other.refused("session_get", id=id)) == (-32000, "Session not found")
    assert other("session_list")["total"] == 0


@pytest.mark.parametrize("end", ["completed", "aborted"])
@pytest.mark.parametrize("call", [("session_log", {"content": "More"}), ("session_complete", {"outcome": "More"})])
def test_a_session_that_has_ended_takes_nothing_more(bank, end, call):
    id = session(bank)
    bank("session_complete", outcome="Works") if end == "completed" else bank("session_abort", project_id="shop")
    body = bank.refused(call[0], session_id=id, **call[1])
    assert (body["error"]["code"], data(body)["session_id"], data(body)["status"]) == (-32000, id, end)
    assert end in body["error"]["message"]
    assert contents(bank, id) == []


def test_a_secret_is_removed_and_said(bank):
    id = session(bank)
    assert codes(log(bank, f"The key is {SECRET}")) == ["redacted"]
    assert SECRET not in contents(bank, id)[0]


def test_the_log_is_found_by_searches_of_every_set(knowing_bank):
    session(knowing_bank)
    text = "Webhook signatures failed because endpoint_secret was stale"
    log(knowing_bank, text, entry_type="solution")
    (found,) = knowing_bank("memory_search", query="Why did webhook signatures fail?", type="error_solution")["results"]
    assert found["content"] == text
    recalled = TOOLS["recall_memories"].function(knowing_bank.app, "stale webhook secret")
    assert recalled["memories"][0]["content"] == text


def test_a_log_is_in_the_order_in_which_it_was_written(bank):
    id = session(bank)
    said = [f"Step {n} of the plan" for n in range(30)]
    for text in said:
        log(bank, text)
    assert contents(bank, id) == said


def test_of_a_very_long_log_the_newest_entries_are_shown_and_it_says_so(bank):
    id = session(bank)
    for n in range(203):
        log(bank, f"Step {n}")
    body = bank("session_get", id=id)
    assert (len(body["progress"]), codes(body)) == (200, ["log_cut"])
    assert (body["progress"][0]["content"], body["progress"][-1]["content"]) == ("Step 3", "Step 202")
    assert body["warnings"][0]["message"].startswith("3 earlier entries")


def test_an_entry_that_is_too_long_among_others_is_shortened(bank):
    id = session(bank)
    log(bank, "x" * 5000)
    (shown,) = bank("session_get", id=id)["progress"]
    assert (len(shown["content"]), shown["truncated"]) == (2001, True)
    assert len(bank("memory_get", id=shown["id"])["content"]) == 5000


# Ending


def test_completing_answers_with_time_and_duration(bank):
    id = session(bank)
    body = bank("session_complete", session_id=id, outcome="Checkout works", summary="Took a while")
    assert (body["duration_minutes"], body["session_id"]) == (0, id)
    found = bank("session_get", id=id)
    assert set(found) == WHOLE
    assert (found["status"], found["completed_at"]) == ("completed", body["completed_at"])
    assert (found["outcome"], found["summary"]) == ("Checkout works", "Took a while")


def test_the_outcome_is_no_entry_of_the_log(bank):
    id = session(bank)
    log(bank)
    bank("session_complete", outcome="Checkout works")
    assert contents(bank, id) == ["Stripe is configured"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "outcome"),
        ({"outcome": " "}, "outcome"),
        ({"outcome": "x" * 100_001}, "outcome"),
        ({"outcome": "a", "summary": 5}, "summary"),
        ({"outcome": "a", "id": "x"}, "id"),
    ],
)
def test_a_wrong_end_is_named_and_the_session_goes_on(bank, given, field):
    id = session(bank)
    assert list(faults(bank.refused("session_complete", **given))) == [field]
    assert bank("session_get", id=id)["status"] == "active"


def test_aborting_names_what_was_aborted(bank):
    id = session(bank)
    assert bank("session_abort", project_id="shop") == {"aborted_sessions": [id], "count": 1}
    assert bank("session_abort", project_id="shop") == {"aborted_sessions": [], "count": 0}
    found = bank("session_get", id=id)
    assert (found["status"], found["completed_at"], found["outcome"]) == ("aborted", None, None)


def test_aborting_leaves_other_projects_alone(bank):
    other = session(bank, project_id=project(bank))
    session(bank)
    assert bank("session_abort", project_id="shop")["count"] == 1
    assert bank("session_get", id=other)["status"] == "active"


# Reading


def test_an_active_session_has_no_end_yet(bank):
    found = bank("session_get", id=session(bank))
    assert set(found) == WHOLE
    assert (found["status"], found["completed_at"], found["duration_minutes"]) == ("active", None, None)
    assert (found["progress"], found["outcome"], found["summary"]) == ([], None, None)


def test_what_was_said_in_a_session_but_not_logged_is_no_entry(bank):
    id = session(bank)
    entry(bank, session_id=id)
    assert contents(bank, id) == []


def test_rows_are_newest_first_with_the_fields_of_the_contract(bank):
    first, second = session(bank, "One"), session(bank, "Two")
    bank("session_complete", outcome="Works")
    rows = bank("session_list")["sessions"]
    assert [(row["id"], row["status"]) for row in rows] == [(second, "completed"), (first, "aborted")]
    assert [set(row) for row in rows] == [ROW | {"completed_at"}, ROW | {"aborted_at"}]


@pytest.mark.parametrize(("status", "count"), [("active", 1), ("completed", 1), ("aborted", 2), (None, 4)])
def test_a_status_lists_only_those(bank, status, count):
    session(bank)
    bank("session_complete", outcome="Works")
    for n in range(3):
        session(bank, f"Try {n}")
    body = bank("session_list", **({"status": status} if status else {}))
    assert (len(body["sessions"]), body["total"]) == (count, count)
    assert {row["status"] for row in body["sessions"]} == ({status} if status else {"active", "completed", "aborted"})


@pytest.mark.parametrize("spelled", ["{id}", "Payments", "payments", "{home}/payments/"])
def test_a_project_lists_only_its_own(bank, spelled):
    id = project(bank)
    session(bank, "Here")
    session(bank, "There", project_id=id)
    named = spelled.format(id=id, home=bank.app.settings.home)
    assert [row["title"] for row in bank("session_list", project_id=named)["sessions"]] == ["There"]
    assert bank("session_list")["total"] == 2


def test_pages_of_sessions_show_each_once(bank):
    ids = [session(bank, f"Try {n}") for n in range(7)][::-1]
    pages = [bank("session_list", limit=3, offset=offset) for offset in (0, 3, 6)]
    assert [row["id"] for page in pages for row in page["sessions"]] == ids
    assert {page["total"] for page in pages} == {7}


def test_an_offset_after_a_list_that_had_ended_is_one_in_the_list_as_it_is(bank):
    session(bank, "Try 0")
    bank("memory_create", title="T0", content="zero", type="code")
    assert (bank("session_list")["total"], bank("memory_list")["total"]) == (1, 1)
    for n in range(1, 4):
        session(bank, f"Try {n}")
        bank("memory_create", title=f"T{n}", content=f"text {n}", type="code")
    sessions, entries = (bank(tool, limit=2, offset=1) for tool in ("session_list", "memory_list"))
    assert ([row["title"] for row in sessions["sessions"]], sessions["total"]) == (["Try 2", "Try 1"], 4)
    assert ([row["title"] for row in entries["memories"]], entries["total"]) == (["T2", "T1"], 4)


def test_twenty_sessions_are_shown_unless_told_otherwise(bank):
    for n in range(22):
        session(bank, f"Try {n}")
    assert len(bank("session_list")["sessions"]) == 20


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"limit": 0}, "must be between 1 and 100"),
        ({"limit": 101}, "must be between 1 and 100"),
        ({"offset": -1}, "must be at least 0"),
        ({"status": "done"}, "must be one of: active, completed, aborted"),
    ],
)
def test_a_bound_is_named(bank, given, problem):
    assert list(faults(bank.refused("session_list", **given)).values()) == [problem]
