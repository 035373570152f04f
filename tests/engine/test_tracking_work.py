"""Sessions that are tracked by hand, alone and among other windows."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from fakes import FixedClock, Rival
from making import a_project, at
from retain.domain.changes import Applied, Changes, Conflict, WorkActive
from retain.domain.memory import Kind, Scope
from retain.domain.session import Caller
from retain.domain.work import EntryType, WorkState, entry_of
from retain.embedding.hashed import HashedEmbedder
from retain.engine.drafts import Draft
from retain.engine.engine import Engine
from retain.engine.parts import Parts
from retain.engine.recall.recall import Question
from retain.engine.revise import Edit
from retain.errors import InvalidInput, NotFound, Refused

SHOP, API = a_project("0shop000000000000000", "shop"), a_project("0api0000000000000000", "api")
HERE, THERE = Caller(project=SHOP, session="window-1"), Caller(project=API, session="window-2")
BOB = Caller("bob", SHOP, "window-3")
KEY = "sk-ant-api03-" + "q7Zx" * 22 + "AA"
TOKEN = "ghp_" + "a1B2" * 9


class Running(FixedClock):
    """Time that passes whenever somebody looks at it."""

    def now(self):
        return self.tick()


@pytest.fixture
def engine(store, clock):
    return Engine(Parts(store, HashedEmbedder(), clock))


@pytest.fixture
def tracking(engine):
    return engine.tracking


@pytest.fixture
def windows(two_stores, clock):
    """The tracking of two processes on the same data."""
    return [Engine(Parts(store, HashedEmbedder(), clock)).tracking for store in two_stores]


def begin(tracking, title="Payments", caller=HERE):
    return tracking.start(title, None, (), caller).work


def note(tracking, text, entry=EntryType.INFO, session=None, caller=HERE):
    return tracking.log(session, entry, text, (), caller)


def texts(told):
    return [memory.text for memory in told.entries]


def test_a_session_starts_in_the_callers_project(tracking, engine):
    started = tracking.start("  Add\tpayments ", "With webhooks.", ["pay", "pay", "api"], HERE)
    work, session = started.work, engine.parts.store.session(started.work.id, "")
    assert (work.title, work.description, work.tags) == ("Add payments", "With webhooks.", ("pay", "api"))
    assert (work.project, work.state, work.started, started.aborted) == (SHOP.id, WorkState.ACTIVE, at(0), ())
    assert work.id.startswith("sess_") and len(work.id) == 25
    assert (session.project, session.ended) == (SHOP.id, None)
    assert tracking.get(work.id, HERE).work == work


def test_all_that_is_wrong_with_a_start_is_said_at_once(tracking):
    with pytest.raises(InvalidInput) as bad:
        tracking.start(" ", "x" * 2001, ["", "ok"], Caller())
    assert [fault.field for fault in bad.value.faults] == ["title", "description", "tags[0]", "project_id"]
    with pytest.raises(InvalidInput, match=r"tags: at most 50"):
        tracking.start("x", None, [f"t{n}" for n in range(51)], HERE)
    assert tracking.sessions(None, None, 10, 0, HERE) == ([], 0)


@pytest.mark.parametrize("said", [(TOKEN, None, ()), ("Rotate", TOKEN, ()), ("Rotate", None, ("ops", TOKEN))])
def test_secrets_in_title_description_and_tags_are_removed_and_reported(tracking, said):
    started = tracking.start(*said, HERE)
    assert TOKEN not in f"{started.work}" and started.redacted == ("github_token",)


def test_a_session_id_that_holds_a_secret_is_refused_and_not_repeated(tracking):
    with pytest.raises(InvalidInput, match=r"session_id: holds a secret \(anthropic_key\)") as bad:
        note(tracking, "x", session=KEY)
    assert KEY not in bad.value.message


def test_starting_aborts_the_active_session_of_that_project_only(tracking, engine, clock):
    old, elsewhere, bobs = begin(tracking), begin(tracking, caller=THERE), begin(tracking, caller=BOB)
    clock.tick(90)
    started = tracking.start("Refunds", None, (), HERE)
    (aborted,) = started.aborted
    assert aborted == replace(old, state=WorkState.ABORTED, ended=at(90)) and aborted.minutes == 2
    assert tracking.get(old.id, HERE).work == aborted
    assert engine.parts.store.session(old.id, "").ended == at(90)
    assert tracking.get(elsewhere.id, HERE).work.is_active and tracking.get(bobs.id, BOB).work.is_active


@pytest.mark.parametrize(
    ("entry", "category", "kind", "importance"),
    [
        (EntryType.INFO, "progress", Kind.EPISODIC, 0.3),
        (EntryType.MILESTONE, "progress", Kind.EPISODIC, 0.5),
        (EntryType.ISSUE, "progress", Kind.EPISODIC, 0.5),
        (EntryType.SOLUTION, "error_solution", Kind.PROCEDURAL, 0.7),
    ],
)
def test_a_log_entry_is_a_memory_of_the_session(tracking, entry, category, kind, importance):
    work = begin(tracking)
    done = tracking.log(work.id, entry, "Stripe SDK integrated", ["stripe"], THERE)
    memory = done.memory
    assert (memory.category, memory.kind, memory.importance, memory.tags) == (category, kind, importance, ("stripe",))
    assert (memory.scope, memory.place.project, memory.session) == (Scope.PROJECT, SHOP.id, work.id)
    assert (memory.title, entry_of(memory), done.work) == (None, entry, work)
    assert tracking.get(work.id, HERE).entries == (memory,)


def test_what_was_logged_is_recalled_in_another_session_of_the_project(engine):
    begin(engine.tracking)
    logged = note(engine.tracking, "The webhook signature failed because endpoint_secret was stale").memory
    asked = Question("why did the webhook signature fail?", limit=5)
    assert [hit.id for hit in engine.recall(asked, replace(HERE, session="another")).hits] == [logged.id]
    assert engine.recall(asked, THERE).hits == () == engine.recall(asked, BOB).hits


def test_the_same_text_twice_is_two_entries(tracking):
    work = begin(tracking)
    first, second = (note(tracking, "Tests are green again").memory.id for _ in range(2))
    assert first != second and texts(tracking.get(work.id, HERE)) == ["Tests are green again"] * 2


def test_a_thousand_entries_keep_their_order(sqlite_file, clock):
    tracking = Engine(Parts(sqlite_file, HashedEmbedder(), clock)).tracking
    work = begin(tracking)
    said = [f"step {n}: moved table {n * 7919 % 1000}" for n in range(1000)]
    for text in said:
        note(tracking, text, session=work.id)
    assert texts(tracking.get(work.id, HERE)) == said


def test_secrets_in_an_entry_are_removed_and_reported(tracking):
    work = begin(tracking)
    done = note(tracking, f"Deployed with {KEY} in the environment")
    assert done.redacted == ("anthropic_key",) and KEY not in done.memory.text
    done = tracking.complete(work.id, f"Now {KEY} is rotated", f"The old one was {KEY}", HERE)
    assert done.redacted
    assert KEY not in f"{tracking.get(work.id, HERE)}"


def test_a_bad_entry_names_its_fields_and_leaves_nothing(tracking):
    work = begin(tracking)
    with pytest.raises(InvalidInput) as bad:
        tracking.log(work.id, EntryType.INFO, " ", ["x" * 101], HERE)
    assert [fault.field for fault in bad.value.faults] == ["content", "tags[0]"]
    with pytest.raises(InvalidInput, match="entry_type: must be one of info, milestone, issue, solution"):
        note(tracking, "It is done", EntryType.OUTCOME)
    assert tracking.get(work.id, HERE).entries == ()


def test_completing_says_what_came_of_it_and_how_long_it_took(tracking, engine, clock):
    work = begin(tracking)
    note(tracking, "Endpoint is there", EntryType.MILESTONE)
    clock.tick(3600)
    done = tracking.complete(work.id, "Payments work.", "It took a rewrite of the webhook.", HERE).work
    assert (done.state, done.ended, done.minutes) == (WorkState.COMPLETED, at(3600), 60)
    told = tracking.get(work.id, HERE)
    assert (told.work, texts(told)) == (done, ["Endpoint is there"])
    assert (told.outcome, told.summary) == ("Payments work.", "It took a rewrite of the webhook.")
    assert engine.parts.store.session(work.id, "").ended == at(3600)


def test_an_outcome_is_recalled_like_any_memory(engine):
    begin(engine.tracking)
    engine.tracking.complete(None, "Payments go through Stripe with signed webhooks", None, HERE)
    (hit,) = engine.recall(Question("stripe payments", limit=5), HERE).hits
    assert (hit.stored.memory.importance, hit.stored.memory.category) == (0.7, "progress")


def test_a_session_ends_at_the_moment_at_which_its_outcome_was_said(store):
    engine = Engine(Parts(store, HashedEmbedder(), Running()))
    begin(engine.tracking)
    done = engine.tracking.complete(None, "Done.", "It went well.", HERE).work
    said = [stored.memory.created for stored in engine.newest(HERE, 10)]
    assert said == [done.ended, done.ended]


@pytest.mark.parametrize("summary", [None, "", " \n"])
def test_a_session_may_end_without_a_summary(tracking, summary):
    work = begin(tracking)
    tracking.complete(None, "Done.", summary, HERE)
    assert tracking.get(work.id, HERE).summary is None


def test_an_outcome_that_says_nothing_is_refused_with_the_summary(tracking):
    work = begin(tracking)
    with pytest.raises(InvalidInput) as bad:
        tracking.complete(work.id, "", "<private>all of it</private>", HERE)
    assert [fault.field for fault in bad.value.faults] == ["outcome", "summary"]
    assert tracking.get(work.id, HERE).work.is_active


def test_what_was_forgotten_or_deleted_is_left_out_of_the_log(tracking, engine):
    work = begin(tracking)
    kept, hidden, gone = (note(tracking, f"{word} entry").memory for word in ("first", "second", "third"))
    done = tracking.complete(None, "Done.", None, HERE).work
    (outcome,) = (m.memory for m in engine.newest(HERE, 10) if entry_of(m.memory) is EntryType.OUTCOME)
    engine.forget(hidden.id, None, HERE)
    engine.destroy(gone.id, HERE)
    engine.destroy(outcome.id, HERE)
    engine.promote(kept.id, Scope.USER, None, HERE)
    told = tracking.get(work.id, HERE)
    assert (told.work, texts(told), told.outcome) == (done, ["first entry"], None)


def test_other_memories_of_a_session_are_no_entries_of_its_log(tracking, engine):
    work = begin(tracking)
    for value in ("diary", ["info"], None):
        draft = Draft(f"About {value}", session=work.id, metadata={"entry": value})
        engine.remember(draft, HERE)
    assert tracking.get(work.id, HERE).entries == ()


@pytest.mark.parametrize("end", ["complete", "abort"])
def test_a_session_that_has_ended_takes_nothing_more_and_says_since_when(tracking, clock, end):
    work = begin(tracking)
    clock.tick(60)
    tracking.complete(work.id, "Done.", None, HERE) if end == "complete" else tracking.abort(HERE)
    for write in (lambda: note(tracking, "late", session=work.id), lambda: tracking.complete(work.id, "x", None, HERE)):
        with pytest.raises(Refused, match=r"was \w+ed on 2026-03-02T09:31:00Z; call session_start") as bad:
            write()
        assert bad.value.details == {"session_id": work.id, "status": f"{end.rstrip('e')}ed"}
    assert tracking.get(work.id, HERE).entries == ()


def test_a_session_is_named_with_or_without_its_dress(tracking):
    work = begin(tracking)
    for spelling in (work.id, work.id.removeprefix("sess_"), f" {work.id} "):
        assert tracking.get(spelling, HERE).work == work
        assert note(tracking, "as named", session=spelling).work == work


@pytest.mark.parametrize("unknown", ["sess_0mwi0000000000000000", "yesterday's", "0mwi0000000000000000"])
def test_a_session_that_is_not_there_is_said_to_be_so(tracking, unknown):
    for ask in (lambda: tracking.get(unknown, HERE), lambda: note(tracking, "x", session=unknown)):
        with pytest.raises(NotFound, match="session_list") as bad:
            ask()
        assert bad.value.details == {"session_id": unknown}


def test_the_id_of_a_tracked_session_is_known_in_any_dress_and_others_stay(tracking):
    work = begin(tracking)
    for given in (work.id, work.id.removeprefix("sess_")):
        assert tracking.id_of(given, HERE) == work.id
        assert tracking.id_of(given, BOB) == given
    assert tracking.id_of("0mwi0000000000000000", HERE) == "0mwi0000000000000000"
    assert tracking.id_of("monday", HERE) == "monday"


def test_sessions_of_another_user_do_not_exist(tracking):
    work = begin(tracking)
    for ask in (lambda: tracking.get(work.id, BOB), lambda: note(tracking, "x", session=work.id, caller=BOB)):
        with pytest.raises(NotFound):
            ask()
    assert tracking.sessions(None, None, 10, 0, BOB) == ([], 0)
    assert tracking.abort(BOB) == () and tracking.get(work.id, HERE).work.is_active


def test_without_a_name_the_session_that_this_process_started_last_is_meant(windows):
    mine, theirs = windows
    begin(theirs, "Refunds", THERE)
    started = begin(mine)
    assert note(mine, "here").work == started
    assert mine.complete(None, "Done.", None, HERE).work.id == started.id


def test_without_a_name_the_only_active_session_is_meant(windows):
    mine, theirs = windows
    only = begin(theirs, "Refunds", THERE)
    assert note(mine, "there", caller=THERE).work == only
    assert note(mine, "there", caller=THERE).warnings == ()


@pytest.mark.parametrize("caller", [HERE, Caller()])
def test_the_only_active_session_of_another_project_is_taken_and_named(windows, caller):
    mine, theirs = windows
    only = begin(theirs, "Refunds", THERE)
    for done in (note(mine, "from afar", caller=caller), mine.complete(None, "Done.", None, caller)):
        (warning,) = done.warnings
        assert (done.work.id, warning.code) == (only.id, "other_project")
        assert f"{only.id} (Refunds) in the project api" in warning.message


@pytest.mark.parametrize("end", ["completed", "aborted"])
def test_once_the_session_started_here_has_ended_nothing_goes_to_somebody_elses(windows, end):
    mine, theirs = windows
    work = begin(mine)
    other = begin(theirs, "Refunds", THERE)
    mine.complete(None, "Done.", None, HERE) if end == "completed" else theirs.abort(HERE)
    for write in (lambda: note(mine, "late"), lambda: mine.complete(None, "x", None, HERE)):
        with pytest.raises(Refused, match=f"the last that was started here, was {end} on .*session_id") as bad:
            write()
        assert bad.value.details == {"session_id": work.id, "status": end}
    assert texts(theirs.get(other.id, THERE)) == []
    assert note(mine, "named", session=other.id).work == other


def test_what_one_user_started_here_says_nothing_about_another(tracking):
    begin(tracking, caller=BOB)
    tracking.complete(None, "Done.", None, BOB)
    work = begin(tracking)
    tracking._latest.pop("")
    assert note(tracking, "mine").work == work


def test_without_a_name_several_active_sessions_are_listed(windows):
    mine, theirs = windows
    works = begin(theirs, "Refunds", HERE), begin(theirs, "Search", THERE)
    with pytest.raises(Refused, match="2 sessions are active; say with session_id") as bad:
        note(mine, "where?")
    for work, slug in zip(works, ("shop", "api"), strict=True):
        assert f"{work.id} ({work.title}, in {slug})" in bad.value.message


def test_without_any_active_session_the_way_to_begin_is_named(tracking):
    begin(tracking, caller=BOB)
    for write in (lambda: note(tracking, "x"), lambda: tracking.complete(None, "x", None, HERE)):
        with pytest.raises(Refused, match="no session is active; call session_start"):
            write()


def test_aborting_ends_what_is_active_and_is_done_once(tracking, clock):
    work = begin(tracking)
    note(tracking, "so far")
    clock.tick(120)
    (aborted,) = tracking.abort(HERE)
    assert (aborted.id, aborted.state, aborted.minutes) == (work.id, WorkState.ABORTED, 2)
    assert tracking.abort(HERE) == () and texts(tracking.get(work.id, HERE)) == ["so far"]
    with pytest.raises(InvalidInput, match="project_id"):
        tracking.abort(Caller())


def test_sessions_are_listed_newest_first_by_project_and_state(tracking, clock):
    works = []
    for n in range(4):
        clock.tick()
        works.append(begin(tracking, f"number {n}", THERE if n == 1 else HERE).id)

    def listed(project=None, state=None, limit=10, offset=0):
        found, total = tracking.sessions(project, state, limit, offset, HERE)
        return [works.index(work.id) for work in found], total

    assert listed() == ([3, 2, 1, 0], 4)
    assert listed("shop") == ([3, 2, 0], 3) == listed(f"proj_{SHOP.id}")
    assert listed(state=WorkState.ACTIVE) == ([3, 1], 2)
    assert listed("shop", WorkState.ABORTED) == ([2, 0], 2)
    assert listed(limit=3, offset=2) == ([1, 0], 4)
    with pytest.raises(NotFound, match="no project shoop"):
        listed("shoop")
    with pytest.raises(InvalidInput, match=r"limit: .*offset: "):
        listed(limit=0, offset=-1)


def test_pages_of_sessions_show_each_once_while_others_start_more(tracking, clock):
    before = []
    for n in range(6):
        clock.tick()
        before.append(begin(tracking, f"number {n}").id)
    seen, offset, total = [], 0, 1
    while offset < total:
        found, total = tracking.sessions("shop", None, 2, offset, HERE)
        seen += [work.id for work in found]
        offset += 2
        clock.tick()
        begin(tracking, "in between")
    assert seen == before[::-1]


def test_an_entry_is_refused_when_another_window_completes_the_session_meanwhile(store, clock, engine):
    work = begin(engine.tracking)
    rival = Rival(store, lambda: engine.tracking.complete(work.id, "Done.", None, HERE))
    late = Engine(Parts(rival, HashedEmbedder(), clock)).tracking
    with pytest.raises(Refused, match="was completed"):
        note(late, "too late", session=work.id)
    assert engine.tracking.get(work.id, HERE).entries == ()


def test_two_outcomes_cannot_both_be_had(store, clock, engine):
    work = begin(engine.tracking)
    rival = Rival(store, lambda: engine.tracking.complete(work.id, "The first.", None, HERE))
    with pytest.raises(Refused, match="was completed"):
        Engine(Parts(rival, HashedEmbedder(), clock)).tracking.complete(work.id, "The second.", "Late.", HERE)
    told = engine.tracking.get(work.id, HERE)
    assert (told.outcome, told.summary) == ("The first.", None)


def test_a_session_that_another_window_starts_meanwhile_is_aborted_too(store, clock, engine):
    rival = Rival(store, lambda: begin(engine.tracking, "faster"))
    started = Engine(Parts(rival, HashedEmbedder(), clock)).tracking.start("slower", None, (), HERE)
    assert [work.title for work in started.aborted] == ["faster"]


def test_one_session_is_active_however_many_windows_start_at_once(windows):
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda n: begin(windows[n % 2], f"number {n}"), range(5)))
    _, active = windows[0].sessions("shop", WorkState.ACTIVE, 10, 0, HERE)
    assert (active, windows[1].sessions("shop", None, 10, 0, HERE)[1]) == (1, 5)


def test_every_entry_that_windows_log_at_once_is_there(windows):
    work = begin(windows[0])
    said = [f"window {n % 2} did step {n}" for n in range(40)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: note(windows[n % 2], said[n], session=work.id), range(40)))
    assert sorted(texts(windows[0].get(work.id, HERE))) == sorted(said)


def test_a_store_holds_a_session_to_be_active_until_it_has_ended(store, engine):
    work = begin(engine.tracking)
    still = Changes(at=at(1), expects=(WorkActive(work.id, ""),))
    assert isinstance(store.apply(still), Applied)
    assert isinstance(store.apply(replace(still, expects=(WorkActive(work.id, "bob"),))), Conflict)
    engine.tracking.abort(HERE)
    assert store.apply(still) == Conflict(WorkActive(work.id, ""))


@pytest.mark.parametrize("replaces", [False, True])
def test_a_line_of_a_log_stays_one_whatever_metadata_it_is_given(engine, replaces):
    work = begin(engine.tracking)
    engine.tracking.complete(work.id, "Shipped it", None, HERE)
    (outcome,) = (one.memory for one in engine.listed(HERE, 9, 0)[0] if one.memory.text == "Shipped it")
    edit = Edit(metadata={"reviewed": "yes", "entry": "info"}, replace_metadata=replaces)
    assert engine.update(outcome.id, edit, HERE).memory.metadata == {"entry": "outcome", "reviewed": "yes"}
    assert engine.tracking.get(work.id, HERE).outcome == "Shipped it"
