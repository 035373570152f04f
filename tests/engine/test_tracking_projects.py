"""Projects by the names that people give them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

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


class Follower(Rival):
    """A store in which another window acts right after the first plan is applied."""

    def apply(self, changes):
        act, self._act = self._act, None
        outcome = super().apply(changes)
        if act:
            act()
        return outcome


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
        "SHOP",
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


@pytest.mark.parametrize("name", ["E-Commerce API", "e-commerce api", "shop", "SHOP", "Ｓhop", "Ｅ-Commerce API"])
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
    with pytest.raises(InvalidInput, match="name: is empty"):
        init(parts, SHOP, "\u200b\u2060", None, ADA)
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


@pytest.mark.parametrize("name", ["blog", "Blog"])
def test_a_folder_that_is_called_as_another_project_is_named_gets_the_next_slug(parts, name):
    init(parts, SHOP, name, None, ADA)
    other = a_project("0blog000000000000000", "blog", "/home/ada/blog")
    save(parts.store, a_memory(place=a_place(other.id)), projects=(other,))
    assert known(parts, "blog", ADA).project == SHOP
    assert known(parts, "blog-2", ADA).project == replace(other, slug="blog-2")


def test_of_slugs_that_differ_in_case_the_one_that_is_spelled_so_is_meant(parts):
    pair = a_project("0app0000000000000000", "app"), a_project("0app1111111111111111", "App")
    for n, project in enumerate(pair):
        init(parts, project, f"Number {n}", None, ADA)
    assert [known(parts, each.slug, ADA).project for each in pair] == list(pair)


def test_a_name_that_another_window_takes_at_the_same_moment_is_refused(parts):
    rival = Rival(parts.store, lambda: init(parts, API, "The one", None, ADA))
    with pytest.raises(InvalidInput, match=API.path):
        init(replace(parts, store=rival), SHOP, "The one", None, ADA)
    assert parts.store.project(SHOP.id) is None


@pytest.mark.parametrize("known_before", [False, True])
def test_a_description_that_another_window_writes_at_the_same_moment_stays(parts, known_before):
    if known_before:
        save(parts.store, a_memory(place=a_place(SHOP.id)), projects=(SHOP,))
    rival = Rival(parts.store, lambda: init(parts, SHOP, "Shop", "Sells things", ADA))
    done = init(replace(parts, store=rival), SHOP, "Shop", None, ADA)
    assert (done.existed, done.renamed_from, done.profile.description) == (True, None, "Sells things")
    assert known(parts, "Shop", ADA) == done.profile


def test_who_renames_a_project_is_told_the_name_that_was_asked_for(parts, named):
    follower = Follower(parts.store, lambda: init(parts, SHOP, "Two", None, ADA))
    done = init(replace(parts, store=follower), SHOP, "One", None, ADA)
    assert (done.profile.name, done.renamed_from) == ("One", named.name)
    assert known(parts, SHOP.id, ADA).name == "Two"


def test_descriptions_survive_windows_that_initialise_one_folder_at_once(two_stores, clock):
    windows = [Parts(store, HashedEmbedder(), clock) for store in two_stores]
    for n in range(20):
        named = partial(init, project=a_project(f"{n:020}", f"p{n}"), name=f"Name {n}", caller=ADA)
        with ThreadPoolExecutor(2) as pool:
            told, bare = (
                pool.submit(named, windows[0], description="Sells"),
                pool.submit(named, windows[1], description=None),
            )
            told.result(), bare.result()
        assert known(windows[0], f"Name {n}", ADA).description == "Sells"


def test_windows_that_initialise_one_folder_at_once_agree(two_stores, clock):
    windows = [Parts(store, HashedEmbedder(), clock) for store in two_stores * 4]
    with ThreadPoolExecutor(len(windows)) as pool:
        done = list(pool.map(lambda parts: init(parts, SHOP, "Shop", None, ADA).profile, windows))
    assert len(set(done)) == 1
    assert listed(windows[0], ADA, 10) == (done[:1], 1)
