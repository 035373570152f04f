"""Projects by the names that people give them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from fakes import Rival
from making import a_memory, a_place, a_project, save
from retain.domain.session import Caller
from retain.embedding.hashed import HashedEmbedder
from retain.engine.parts import Parts
from retain.engine.tracking.projects import init, known, listed
from retain.errors import InvalidInput, NotFound

SHOP = a_project("0shop000000000000000", "shop", "/home/ada/work/shop")
API = a_project("0api0000000000000000", "api", "/home/ada/work/api")
ADA = Caller("")
KEY = "sk-ant-api03-" + "q7Zx" * 22 + "AA"


@pytest.fixture
def parts(store, clock):
    return Parts(store, HashedEmbedder(), clock)


@pytest.fixture
def named(parts):
    return init(parts, SHOP, "E-Commerce API", "Sells things", ADA).profile


@pytest.mark.parametrize(
    "spelling",
    [
        SHOP.id,
        f"proj_{SHOP.id}",
        f"project:{SHOP.id}",
        SHOP.path,
        "E-Commerce API",
        "e-commerce  api",
        "shop",
        " shop ",
    ],
)
def test_a_project_is_known_by_id_path_name_and_slug(parts, named, spelling):
    assert known(parts, spelling, ADA) == named


def test_the_current_project_is_known_before_it_holds_anything(parts):
    here = replace(ADA, project=API)
    assert {known(parts, given, here).project for given in (API.id, f"proj_{API.id}", API.path, "Api")} == {API}
    assert known(parts, "api", here).name == "api"
    assert listed(parts, here, 10) == ([], 0)


def test_a_project_with_memories_is_known_by_its_slug(parts):
    save(parts.store, a_memory(place=a_place(API.id)), projects=(API,))
    assert known(parts, "API", ADA).project == API


def test_an_unknown_project_is_answered_with_those_there_are(parts):
    for n in range(12):
        init(parts, a_project(f"{n:020}", f"p{n}"), f"Project {n}", None, ADA)
    with pytest.raises(
        NotFound, match=r"no project shoop; known are Project 0, .* and 2 more; call project_init"
    ) as bad:
        known(parts, "shoop", ADA)
    assert bad.value.details == {"project_id": "shoop"}


def test_where_nothing_is_known_the_way_to_begin_is_named(parts):
    with pytest.raises(NotFound, match="none is known yet: call project_init"):
        known(parts, "shop", ADA)


@pytest.mark.parametrize("given", ["a\0b", "a\ud800"])
def test_what_is_no_text_is_refused_as_a_project(parts, given):
    with pytest.raises(InvalidInput, match="path: holds"):
        known(parts, given, ADA, "path")


def test_a_project_of_another_user_is_not_there(parts, named):
    bob = Caller("bob")
    for given in (SHOP.id, SHOP.path, "shop", named.name):
        with pytest.raises(NotFound):
            known(parts, given, bob)
    assert init(parts, SHOP, named.name, None, bob).existed is False
    assert known(parts, named.name, bob).description is None


def test_initialising_again_changes_nothing(parts, named, clock):
    clock.tick(60)
    again = init(parts, SHOP, "  E-Commerce   API ", None, ADA)
    assert (again.profile, again.existed, again.renamed_from) == (named, True, None)


def test_another_name_renames_the_project_and_keeps_its_description(parts, named, clock):
    later = clock.tick(60)
    done = init(parts, SHOP, "Storefront", None, ADA)
    assert (done.existed, done.renamed_from) == (True, "E-Commerce API")
    assert done.profile == replace(named, name="Storefront", updated=later)
    assert known(parts, "storefront", ADA) == done.profile
    with pytest.raises(NotFound):
        known(parts, "E-Commerce API", ADA)


def test_a_new_description_replaces_the_old_one_and_an_empty_one_clears_it(parts, named, clock):
    later = clock.tick(60)
    assert init(parts, SHOP, named.name, "Sells books", ADA).profile.description == "Sells books"
    cleared = init(parts, SHOP, named.name, " ", ADA).profile
    assert (cleared.description, cleared.updated) == (None, later)


def test_a_project_with_memories_keeps_the_day_on_which_it_became_known(parts, clock):
    save(parts.store, a_memory(place=a_place(API.id)), projects=(API,))
    clock.tick(3600)
    done = init(parts, API, "The API", None, ADA)
    assert (done.existed, done.renamed_from, done.profile.created) == (True, "api", API.created)


@pytest.mark.parametrize("name", ["E-Commerce API", "e-commerce api", "shop", "Ｅ-Commerce API"])
def test_a_name_by_which_another_project_goes_is_refused(parts, named, name):
    with pytest.raises(InvalidInput, match=f"already.*given: {name}") as bad:
        init(parts, API, name, None, ADA)
    (fault,) = bad.value.faults
    assert fault.field == "name" and SHOP.path in fault.problem and f"proj_{SHOP.id}" in fault.problem
    assert parts.store.project(API.id) is None


def test_all_that_is_wrong_with_a_new_project_is_said_at_once(parts):
    with pytest.raises(InvalidInput) as bad:
        init(parts, SHOP, " \n", "x" * 2001, ADA)
    assert [fault.field for fault in bad.value.faults] == ["name", "description"]
    with pytest.raises(InvalidInput, match="1 to 200 characters"):
        init(parts, SHOP, "x" * 201, None, ADA)
    assert listed(parts, ADA, 10) == ([], 0)


def test_secrets_in_a_name_or_a_description_are_removed_and_reported(parts):
    done = init(parts, SHOP, f"Shop {KEY}", f"runs with {KEY}", ADA)
    assert KEY not in f"{done.profile}" and done.redacted == ("anthropic_key",)


def test_projects_are_listed_in_the_order_in_which_they_became_known(parts, named, clock):
    clock.tick(5)
    api = init(parts, API, "Another API", None, ADA).profile
    assert listed(parts, ADA, 10) == ([named, api], 2)
    assert listed(parts, ADA, 1, 1) == ([api], 2)
    assert listed(parts, Caller("bob"), 10) == ([], 0)
    with pytest.raises(InvalidInput, match=r"limit: must be at least 1.*offset: must be at least 0"):
        listed(parts, ADA, 0, -1)


def test_folders_of_one_name_get_slugs_of_their_own(parts, named):
    other = a_project("0shop111111111111111", "shop", "/home/ada/old/shop")
    assert init(parts, other, "Old shop", None, ADA).profile.project == replace(other, slug="shop-2")
    assert known(parts, "shop-2", ADA).name == "Old shop"


def test_a_name_that_another_window_takes_at_the_same_moment_is_refused(parts):
    rival = Rival(parts.store, lambda: init(parts, API, "The one", None, ADA))
    with pytest.raises(InvalidInput, match=API.path):
        init(replace(parts, store=rival), SHOP, "The one", None, ADA)
    assert parts.store.project(SHOP.id) is None


def test_windows_that_initialise_one_folder_at_once_agree(two_stores, clock):
    windows = [Parts(store, HashedEmbedder(), clock) for store in two_stores * 4]
    with ThreadPoolExecutor(len(windows)) as pool:
        done = list(pool.map(lambda parts: init(parts, SHOP, "Shop", None, ADA).profile, windows))
    assert len(set(done)) == 1
    assert listed(windows[0], ADA, 10) == (done[:1], 1)
