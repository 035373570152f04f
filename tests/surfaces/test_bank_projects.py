"""Projects of the bank tools: named, found again in any spelling, listed."""

import re
import subprocess

import pytest

from surfaces.banking import codes, data, entry, error, faults, folder, project
from surfaces.wire import BANK, GRAPH

WHOLE = {"id", "name", "path", "description", "created_at", "updated_at"}


# Naming


def test_naming_a_project_answers_with_its_id(bank):
    path = folder(bank, "payments")
    body = bank("project_init", name="Payments", path=path, description="Takes money")
    assert set(body) == {"id", "created_at", "name", "path", "warnings"}
    assert re.fullmatch(r"proj_[0-9a-z]{20}", body["id"])
    assert (body["name"], body["path"], body["warnings"]) == ("Payments", path, [])


def test_the_same_folder_again_is_the_same_project_and_says_so(bank):
    id, again = project(bank), bank("project_init", name="Payments", path=folder(bank, "payments"))
    assert (again["id"], codes(again)) == (id, ["already_initialised"])
    assert bank("project_list")["total"] == 1


def test_another_name_for_the_folder_renames_it_and_keeps_the_rest(bank):
    id = project(bank, description="Takes money")
    entry(bank, project_id=id)
    body = bank("project_init", name="Billing", path=folder(bank, "payments"))
    assert (body["id"], codes(body)) == (id, ["renamed"])
    assert "Payments" in body["warnings"][0]["message"]
    found = bank("project_get", id=id)
    assert (found["name"], found["description"]) == ("Billing", "Takes money")
    assert bank("memory_list", project_id="Billing")["total"] == 1


@pytest.mark.parametrize("name", ["Payments", "PAYMENTS", " payments "])
def test_a_name_that_another_project_has_is_refused_with_its_holder(bank, name):
    id = project(bank)
    body = bank.refused("project_init", name=name, path=folder(bank, "other"))
    assert error(body) == (-32602, "Invalid params")
    assert list(faults(body)) == ["name"] and id in faults(body)["name"]
    assert data(body)["constraint"] == "unique_project_name"
    assert bank("project_list")["total"] == 1


@pytest.mark.parametrize("path", ["nowhere", "/nowhere/at/all", "notes.txt", "~", "/"])
def test_what_is_no_folder_of_a_project_is_refused(bank, path):
    folder(bank, "shop")
    (bank.app.settings.home / "shop" / "notes.txt").write_text("a file")
    body = bank.refused("project_init", name="Payments", path=path)
    assert list(faults(body)) == ["path"]
    assert bank("project_list")["total"] == 0


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"path": "."}, "name"),
        ({"name": "Payments"}, "path"),
        ({"name": " ", "path": "."}, "name"),
        ({"name": "P" * 201, "path": "."}, "name"),
        ({"name": "Payments", "path": ""}, "path"),
        ({"name": "Payments", "path": ".", "description": "x" * 2001}, "description"),
        ({"name": "Payments", "path": ".", "title": "x"}, "title"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_written(bank, given, field):
    folder(bank, "shop")
    assert list(faults(bank.refused("project_init", **given))) == [field]
    assert bank("project_list")["total"] == 0


def test_a_folder_inside_a_repository_is_that_project_and_says_so(bank):
    root = folder(bank, "payments")
    subprocess.run(["git", "init", "-q", root], check=True)
    body = bank("project_init", name="Payments", path=folder(bank, "payments/src/api"))
    assert (body["path"], codes(body)) == (root, ["path_resolved"])


@pytest.mark.parametrize("way", ["{}/", "{}/../payments", "link"])
def test_a_path_is_normalised(bank, way, tmp_path):
    root = folder(bank, "payments")
    (tmp_path / "link").symlink_to(root)
    path = str(tmp_path / "link") if way == "link" else way.format(root)
    body = bank("project_init", name="Payments", path=path)
    assert (body["path"], body["warnings"]) == (root, [])
    assert bank("project_get", path=path)["id"] == body["id"]


def test_a_secret_in_a_description_is_removed_and_said(bank):
    path, secret = folder(bank, "payments"), "AKIA" + "Q7Z2M9X4B6N1K8V3"
    body = bank("project_init", name="Payments", path=path, description=f"The key is {secret}")
    assert codes(body) == ["redacted"]
    assert secret not in bank("project_get", id=body["id"])["description"]


# Reading


def test_a_project_has_the_fields_of_the_contract(bank):
    id = project(bank, description="Takes money")
    body = bank("project_get", id=id)
    assert set(body) == WHOLE
    assert (body["id"], body["name"], body["description"]) == (id, "Payments", "Takes money")


@pytest.mark.parametrize("field", ["id", "path"])
@pytest.mark.parametrize("spelled", ["{id}", "{bare}", "Payments", "payments", "{path}", "{path}/"])
def test_a_project_is_found_by_any_of_its_spellings(bank, field, spelled):
    id, path = project(bank), folder(bank, "payments")
    given = spelled.format(id=id, bare=id.removeprefix("proj_"), path=path)
    assert bank("project_get", **{field: given})["id"] == id


def test_id_and_path_together_must_mean_the_same(bank):
    id, path = project(bank), folder(bank, "payments")
    assert bank("project_get", id=id, path=path)["id"] == id
    assert list(faults(bank.refused("project_get", id=id, path="shop"))) == ["id, path"]


def test_neither_id_nor_path_is_refused_by_both_names(bank):
    assert list(faults(bank.refused("project_get"))) == ["id, path"]


@pytest.mark.parametrize(("field", "value"), [("id", "proj_" + "0" * 20), ("id", "nothing"), ("path", "/nowhere")])
def test_a_project_that_is_not_there_is_not_found(bank, field, value):
    body = bank.refused("project_get", **{field: value})
    assert error(body) == (-32000, "Project not found")
    assert data(body)["project_id"] == value
    assert "project_init" in data(body)["hint"]


@pytest.mark.parametrize("value", ["~", "/"])
def test_a_folder_that_can_be_no_project_is_said_to_be_none(bank, value):
    body = bank.refused("project_get", path=value)
    assert error(body) == (-32000, "Project not found")
    assert data(body)["hint"].startswith(f"{value} is no project: the home folder and `/` are no projects")


def test_the_current_project_is_known_before_it_holds_anything(bank):
    assert bank("project_get", id="shop")["name"] == "shop"


def test_a_project_stays_found_when_its_folder_is_gone(bank):
    id, path = project(bank), folder(bank, "payments")
    (bank.app.settings.home / "payments").rmdir()
    assert bank("project_get", path=path)["id"] == id


def test_the_project_of_somebody_else_is_not_there(desks):
    id = project(desks(tools=BANK))
    other = desks(tools=BANK, user_id="ada")
    assert error(other.refused("project_get", id=id)) == (-32000, "Project not found")
    assert other("project_list")["total"] == 0


# Listing


def test_rows_have_the_fields_of_the_contract(bank):
    id = project(bank)
    body = bank("project_list")
    assert [set(row) for row in body["projects"]] == [{"id", "name", "path", "created_at"}]
    assert (body["projects"][0]["id"], body["total"], body["offset"], body["limit"]) == (id, 1, 0, 50)


def test_a_project_is_listed_once_it_holds_a_memory_of_any_toolset(bank):
    assert bank("project_list")["projects"] == []
    GRAPH["store_memory"].function(bank.app, "We deploy on Mondays")
    assert [row["name"] for row in bank("project_list")["projects"]] == ["shop"]


def test_pages_of_projects_show_each_once(bank):
    ids = {project(bank, f"Project {n}", f"p{n}") for n in range(7)}
    pages = [bank("project_list", limit=3, offset=offset) for offset in (0, 3, 6)]
    assert [len(page["projects"]) for page in pages] == [3, 3, 1]
    assert {row["id"] for page in pages for row in page["projects"]} == ids
    assert {page["total"] for page in pages} == {7}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"limit": 0}, "must be between 1 and 100"),
        ({"limit": 101}, "must be between 1 and 100"),
        ({"offset": -1}, "must be at least 0"),
    ],
)
def test_a_bound_is_named(bank, given, problem):
    assert list(faults(bank.refused("project_list", **given)).values()) == [problem]
