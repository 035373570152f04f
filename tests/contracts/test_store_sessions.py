"""Sessions, projects, consolidation runs and contradictions."""

from dataclasses import replace

from making import (
    START,
    a_contradiction,
    a_memory,
    a_project,
    a_run,
    a_session,
    at,
    save,
)
from retain.domain.changes import Changes, Conflict, ContradictionState, RunFree
from retain.domain.session import Use


def test_a_session_is_one_users(store):
    save(store, sessions=(a_session("s1", user="ada", project="p1"),))
    assert store.session("s1", "ada").project == "p1"
    assert store.session("s1", "eve") is None


def test_a_session_counts_its_memories(store):
    save(store, a_memory("m1", session="s1"), a_memory("m2", "b", session="s2"), sessions=(a_session("s1"),))
    assert store.session("s1", "").memory_count == 1


def test_an_ended_session_keeps_its_summary_and_opens_again_when_it_goes_on(store):
    save(store, sessions=(a_session("s1", project="p1"),))
    save(store, sessions=(a_session("s1", started=at(9), ended=at(60), summary="we moved"),))
    ended = store.session("s1", "")
    assert (ended.started, ended.ended, ended.summary, ended.project) == (START, at(60), "we moved", "p1")
    save(store, sessions=(a_session("s1", started=at(99)),))
    again = store.session("s1", "")
    assert (again.started, again.ended, again.summary) == (START, None, "we moved")


def test_what_was_served_is_counted_once_for_each_memory(store):
    store.note_uses([Use(("m1", "m2"), at(1), "s1")])
    store.note_uses([Use(("m2", "m3"), at(2), "s1")])
    assert store.served("s1", "") == 3
    assert (store.served("s1", "eve"), store.served("s2", "")) == (0, 0)
    assert (store.session("s1", "").recalls, store.session("s1", "").started) == (2, at(1))


def test_a_project_is_found_by_id_slug_and_path(store):
    project = a_project("p1", "shop", "/home/ada/shop")
    save(store, projects=(project,))
    assert [store.project(name) for name in ("p1", "shop", "/home/ada/shop", "nobody")] == [project] * 3 + [None]


def test_an_id_wins_over_a_slug_that_looks_like_it(store):
    save(store, projects=(a_project("p1", "p2"), a_project("p2", "p1")))
    assert store.project("p1").id == "p1"


def test_slugs_are_unique_and_a_project_keeps_its_own(store):
    save(store, projects=(a_project("p1"), a_project("p2")))
    save(store, projects=(a_project("p3"), a_project("p1", "renamed")))
    assert [(p.id, p.slug) for p in store.projects()] == [("p1", "shop"), ("p2", "shop-2"), ("p3", "shop-3")]


def test_a_run_comes_back_whole_and_can_be_marked_as_undone(store):
    run = a_run("r1")
    save(store, runs=(run,))
    assert (store.run("r1"), store.run("nobody")) == (run, None)
    save(store, runs=(replace(run, undone=at(5)),))
    assert store.run("r1").undone == at(5)


def test_runs_come_newest_first_and_the_latest_is_one_scopes(store):
    save(store, runs=(a_run("r1", when=at(1)), a_run("r2", when=at(2)), a_run("r3", "other", at(3))))
    assert [run.id for run in store.runs(2)] == ["r3", "r2"]
    assert store.latest_run("shop").id == "r2"
    assert store.latest_run("nowhere") is None


def test_only_one_of_two_runs_planned_at_once_is_applied(store):
    free = RunFree("shop", None)
    assert store.apply(Changes(at=START, expects=(free,), runs=(a_run("r1"),))).change
    late = Changes(at=START, expects=(free,), memories=(a_memory("made"),), runs=(a_run("r2"),))
    assert store.apply(late) == Conflict(free)
    assert (store.run("r2"), store.memories(["made"])) == (None, {})
    assert store.apply(Changes(at=START, expects=(RunFree("shop", "r1"), RunFree("other", None)))).change


def test_contradictions_are_found_from_either_side(store):
    save(store, *(a_memory(id, f"text {id}") for id in "abc"))
    first, second = a_contradiction("c1", "a", "b"), a_contradiction("c2", "b", "c", found=at(1))
    save(store, contradictions=(first, second))
    assert store.contradictions(["a"]) == [first]
    assert store.contradictions(["b", "nobody"]) == [first, second]


def test_two_memories_contradict_each_other_once_in_the_latest_state(store):
    save(store, a_memory("a", "x"), a_memory("b", "y"), contradictions=(a_contradiction("c1", "a", "b"),))
    save(store, contradictions=(a_contradiction("c2", "a", "b", state=ContradictionState.RESOLVED),))
    save(store, contradictions=(a_contradiction("c1", "a", "b", state=ContradictionState.REOPENED),))
    assert [(c.id, c.state) for c in store.contradictions(["a"])] == [("c1", ContradictionState.REOPENED)]


def test_a_finished_session_is_given_out_once_to_its_own_project(store):
    save(
        store,
        sessions=(
            a_session("ended", project="p1", ended=at(9)),
            a_session("open", project="p1"),
            a_session("elsewhere", project="p2", ended=at(9)),
            a_session("hers", project="p1", user="eve", ended=at(9)),
            a_session("homeless", ended=at(9)),
        ),
    )
    assert store.finished("", "p1") == ["ended"]
    store.mark_reflected("ended", "")
    assert store.finished("", "p1") == []
    assert (store.finished("eve", "p1"), store.finished("", None)) == (["hers"], ["homeless"])


def test_the_sessions_of_a_project_come_latest_first(store):
    begun = [a_session(f"s{n}", project="p1", started=at(n)) for n in (2, 9, 5)]
    others = a_session("hers", project="p1", user="eve"), a_session("elsewhere", project="p2"), a_session("homeless")
    save(store, sessions=(*begun, *others))
    assert store.sessions("", "p1", 2) == ["s9", "s5"]
    assert (store.sessions("", None, 9), store.sessions("eve", "p1", 9)) == (["homeless"], ["hers"])


def test_a_session_that_went_on_is_given_out_again_when_it_ends_again(store):
    save(store, sessions=(a_session("s1", project="p1", ended=at(9)),))
    store.mark_reflected("s1", "")
    save(store, sessions=(a_session("s1", project="p1"),))
    assert store.finished("", "p1") == []
    save(store, sessions=(a_session("s1", project="p1", ended=at(99)),))
    assert store.finished("", "p1") == ["s1"]


def test_what_is_served_counts_as_an_access(store):
    save(store, a_memory("m1"))
    store.note_uses([Use(("m1", "nobody"), at(5), "s1")])
    stored = store.memories(["m1"])["m1"]
    assert (stored.accesses, stored.accessed) == (1, at(5))
