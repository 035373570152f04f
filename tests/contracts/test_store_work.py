"""Projects as people name them, and the sessions that they track by hand."""

from dataclasses import replace

import pytest

from making import START, a_code_index, a_memory, a_place, a_project, at, in_state, save
from retain.domain.changes import ActiveWork, Changes, Conflict, NameFree, ProfileStill
from retain.domain.listing import Row
from retain.domain.memory import Place, Scope, State
from retain.domain.session import Profile
from retain.domain.work import Work, WorkFilter, WorkState

SHOP, BLOG = a_project("p1", "shop"), a_project("p2", "blog")
MINE = WorkFilter("")


def a_profile(project=SHOP, name="The Shop", when=START, **fields):
    return Profile(project, name, when, when, **fields)


def name(store, *profiles, **fields):
    save(store, projects=tuple({p.project.id: p.project for p in profiles}.values()), profiles=profiles, **fields)


def a_work(id="sess_1", when=START, **fields):
    return Work(id, "Fix the login", **{"project": "p1", "started": when, **fields})


def shown(page):
    return [work.id for work in page.items]


def known(store, user=""):
    return [profile.project.id for profile in store.profiles(user, 9)[0]]


def test_a_project_is_as_it_was_named_and_described(store):
    told = a_profile(description="sells things", when=at(5))
    name(store, told)
    assert store.profile("p1", "") == store.profile_named("the  SHOP", "") == told
    assert store.profiles("", 9) == ([told], 1)


def test_a_project_that_is_named_again_keeps_the_time_it_became_known(store):
    name(store, a_profile(description="sells things"))
    name(store, a_profile(name="Market", when=at(9)))
    assert store.profile("p1", "") == replace(a_profile(name="Market"), updated=at(9))
    assert store.profile_named("The Shop", "") is None


def test_each_user_names_a_project_alone(store):
    hers = a_profile(name="Hers", user="ada")
    name(store, a_profile(), hers)
    assert (store.profile("p1", ""), store.profile("p1", "ada")) == (a_profile(), hers)
    assert (store.profile_named("hers", ""), store.profile_named("hers", "ada")) == (None, hers)
    assert (store.profile("p1", "eve"), known(store, "eve")) == (None, [])


@pytest.mark.parametrize("user", ["", "ada"])
@pytest.mark.parametrize("what", ["memory", "memory of a session", "forgotten memory", "work", "index"])
def test_a_project_is_known_by_its_slug_once_somebody_has_anything_in_it(store, user, what):
    save(store, projects=(SHOP, BLOG))
    match what:
        case "memory":
            save(store, a_memory(place=a_place("p1", user)))
        case "memory of a session":
            place = Place(Scope.SESSION, user, "p1", "s1")
            save(store, a_memory(place=place, session="s1"), a_memory("m2", place=Place(Scope.USER, user)))
        case "forgotten memory":
            save(store, a_memory(place=a_place("p1", user), status=in_state(State.FORGOTTEN)))
        case "work":
            save(store, works=(a_work(user=user),))
        case "index":
            store.claim_index(replace(a_code_index(user=user), project=SHOP), at(-60))
    plain = Profile(SHOP, "shop", START, START, user)
    assert store.profile("p1", user) == store.profile_named("Shop", user) == plain
    assert (store.profiles(user, 9), known(store, "eve")) == (([plain], 1), [])


def test_a_name_goes_before_the_slug_of_another_project(store):
    save(store, a_memory(place=a_place("p1")), projects=(SHOP,))
    name(store, a_profile(BLOG, "Shop"))
    assert store.profile_named("shop", "").project == BLOG


def test_a_slug_is_known_whatever_its_case_and_as_it_is_spelled_first(store):
    slugs = ("über", "app", "App", "APP")
    projects = tuple(a_project(f"p{n}", slug) for n, slug in enumerate(slugs))
    save(store, *(a_memory(f"m{p.id}", place=a_place(p.id)) for p in projects), projects=projects)
    assert store.profile_named("ÜBER", "").project.slug == "über"
    assert [store.profile_named(slug, "").name for slug in slugs] == list(slugs)
    assert store.profile_named("aPp", "").name in slugs[1:]


def test_a_project_with_a_name_no_longer_goes_by_its_slug(store):
    name(store, a_profile(name="Market"))
    assert store.profile_named("shop", "") is None
    save(store, expects=(NameFree("shop", "", BLOG.id),))


def test_nothing_is_known_of_a_project_that_is_not_there(store):
    assert store.profile("nowhere", "") is store.profile_named("nowhere", "") is None
    assert store.profiles("", 9) == ([], 0)


def test_projects_are_listed_in_the_order_in_which_they_became_known(store):
    projects = [a_project(f"p{n}", f"slug{n}") for n in range(5)]
    name(store, *(a_profile(project, f"Name {n}", at(-n)) for n, project in enumerate(projects)))
    assert known(store) == ["p4", "p3", "p2", "p1", "p0"]
    pages = [store.profiles("", 2, offset) for offset in (0, 2, 4, 6)]
    assert [([p.project.id for p in page], total) for page, total in pages] == [
        (["p4", "p3"], 5),
        (["p2", "p1"], 5),
        (["p0"], 5),
        ([], 5),
    ]


@pytest.mark.parametrize("taken", ["The Shop", "the  shop", "blog", "BLOG"])
def test_a_name_that_another_project_goes_by_is_not_free(store, taken):
    name(store, a_profile())
    save(store, a_memory(place=a_place("p2")), projects=(BLOG,))
    third = a_project("p3", "third")
    broken = NameFree(taken, "", third.id)
    changes = Changes(at=START, expects=(broken,), projects=(third,), profiles=(a_profile(third, taken),))
    assert store.apply(changes) == Conflict(broken)
    assert store.profile("p3", "") is None


def test_a_profile_that_changed_since_it_was_read_is_noticed(store):
    name(store, a_profile())
    save(store, a_memory(place=a_place("p2")), projects=(BLOG,))
    unnamed = store.profile("p2", "")
    save(store, expects=(ProfileStill("p1", "", a_profile()), ProfileStill("p2", "", unnamed)))
    save(store, expects=(ProfileStill("p1", "ada", None), ProfileStill("nowhere", "", None)))
    name(store, a_profile(description="sells things"), a_profile(BLOG, "Diary"))
    for broken in (ProfileStill("p1", "", a_profile()), ProfileStill("p1", "", None), ProfileStill("p2", "", unnamed)):
        assert store.apply(Changes(at=START, expects=(broken,), profiles=(a_profile(),))) == Conflict(broken)
    assert store.profile("p1", "").description == "sells things"


@pytest.mark.parametrize("called", ["blog", "BLOG"])
def test_a_slug_is_not_given_out_that_is_the_name_of_another_project(store, called):
    name(store, a_profile(name=called, user="ada"), a_profile(a_project("p5", "fifth"), "blog-2"))
    save(store, projects=(BLOG,))
    assert store.project("p2").slug == "blog-3"


def test_a_name_is_free_for_who_has_it_and_for_other_people(store):
    name(store, a_profile())
    save(store, expects=(NameFree("the shop", "", SHOP.id), NameFree("the shop", "ada", BLOG.id)))
    save(store, expects=(NameFree("shop", "", BLOG.id),))


def test_work_is_as_it_was_started(store):
    work = a_work(description="it fails for some", tags=("b", "ä"), user="ada")
    save(store, works=(work,))
    assert store.work("sess_1", "ada") == work
    assert store.work("sess_1", "") is store.work("sess_2", "ada") is None


def test_work_that_ended_keeps_all_else(store):
    save(store, works=(a_work(tags=("a",)),))
    save(store, works=(replace(a_work(tags=("a",)), state=WorkState.COMPLETED, ended=at(90)),))
    ended = store.work("sess_1", "")
    assert ended == a_work(tags=("a",), state=WorkState.COMPLETED, ended=at(90))
    assert (ended.minutes, ended.is_active) == (2, False)


def test_two_users_may_have_work_of_one_id(store):
    save(store, works=(a_work(), a_work(user="ada", project="p2")))
    assert (store.work("sess_1", "").project, store.work("sess_1", "ada").project) == ("p1", "p2")


@pytest.fixture
def busy(store):
    """Work of two users in two projects: even ones are done, every third one is in the blog."""
    states = (WorkState.COMPLETED, WorkState.ACTIVE)
    works = [
        a_work(f"sess_{n}", at(n // 2), project="p1" if n % 3 else "p2", state=states[n % 2], user=user)
        for n in range(7)
        for user in ("", "ada")
    ]
    save(store, works=tuple(works))
    return store


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        (MINE, [6, 5, 4, 3, 2, 1, 0]),
        (WorkFilter("", "p2"), [6, 3, 0]),
        (WorkFilter("", None, WorkState.ACTIVE), [5, 3, 1]),
        (WorkFilter("", "p1", WorkState.COMPLETED), [4, 2]),
        (WorkFilter("", "p1", WorkState.ABORTED), []),
        (WorkFilter("eve"), []),
    ],
)
def test_work_is_listed_newest_first_by_what_is_asked_for(busy, filter, found):
    page = busy.works(filter, 9)
    assert (shown(page), page.total) == ([f"sess_{n}" for n in found], len(found))


@pytest.mark.parametrize("limit", range(1, 9))
def test_pages_of_work_put_together_are_the_whole_list(busy, limit):
    walked, last = [], None
    while (page := busy.works(MINE, limit, 0, last)).items:
        assert page.total == 7 - len(walked)
        walked += shown(page)
        last = page.last
    assert walked == [f"sess_{n}" for n in (6, 5, 4, 3, 2, 1, 0)]


def test_a_page_of_work_can_begin_anywhere(busy):
    assert shown(busy.works(MINE, 2, 3)) == ["sess_3", "sess_2"]
    assert shown(busy.works(MINE, 2, 1, Row(at(2), "sess_5"))) == ["sess_3", "sess_2"]
    assert shown(busy.works(WorkFilter("", "p2"), 9, 0, Row(at(2), "gone"))) == ["sess_3", "sess_0"]


def test_work_is_started_only_while_what_is_active_is_known(store):
    save(store, works=(a_work(),))
    for stale in (frozenset(), frozenset({"sess_1", "sess_9"})):
        broken = ActiveWork("p1", "", stale)
        changes = Changes(at=START, expects=(broken,), works=(a_work("sess_2"),))
        assert store.apply(changes) == Conflict(broken)
    assert store.work("sess_2", "") is None
    save(store, expects=(ActiveWork("p1", "", frozenset({"sess_1"})),), works=(a_work("sess_2"),))


def test_what_is_active_is_that_of_one_user_in_one_project(busy):
    here, there = frozenset({"sess_1", "sess_5"}), frozenset({"sess_3"})
    save(busy, expects=(ActiveWork("p1", "", here), ActiveWork("p2", "", there), ActiveWork("p1", "eve", frozenset())))


def test_emptying_takes_names_and_work_of_that_user_only(store):
    name(store, a_profile(), a_profile(name="Hers", user="ada"), a_profile(BLOG, "Only hers", user="ada"))
    save(store, works=(a_work(), a_work(user="ada")))
    store.empty("ada", at(90), store.change())
    assert (known(store, "ada"), store.works(WorkFilter("ada"), 9).total) == ([], 0)
    assert (known(store), store.work("sess_1", "")) == (["p1"], a_work())
    assert [project.id for project in store.projects()] == ["p1"]


def test_another_process_sees_names_and_work_at_once(two_stores):
    one, other = two_stores
    name(one, a_profile(), works=(a_work(),))
    assert (other.profile_named("the shop", ""), other.work("sess_1", "")) == (a_profile(), a_work())
    assert other.apply(Changes(at=START, expects=(NameFree("the shop", "", "p2"),))) == Conflict(
        NameFree("the shop", "", "p2")
    )
