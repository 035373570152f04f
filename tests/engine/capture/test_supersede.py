"""Whether something captured is news, what it ends, and what it only puts in doubt."""

from dataclasses import replace

import pytest

from fakes import START, EagerJudge
from making import at
from retain.domain.conversation import Conversation, Cursor, Extracted, Said, Speaker
from retain.domain.memory import Scope, Source, State
from retain.domain.recall import Filter
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.engine.capture.capture import Portion, capture
from retain.engine.capture.supersede import (
    DOUBTS_IN_PART,
    ENDS,
    ENDS_WHAT_IT_NAMES,
    Arriving,
    Known,
    News,
    judged,
)
from retain.engine.drafts import Draft
from retain.engine.embed import embedded
from retain.engine.engine import Engine
from retain.engine.lifecycle.undoing import CORRECTION
from retain.engine.parts import Parts, places
from retain.engine.remember import remember
from retain.engine.revise import tag
from retain.engine.thresholds import PLAINLY

HERE = Caller(project=Project("p" * 20, "shop", "/shop", START), session="monday")
PLACE = places(HERE, (Scope.PROJECT,))[0]
OLD, NEW = "The API server listens on port 8080.", "Since May the API server uses another port."
SURE, UNSURE = (ENDS + 1) / 2, (ENDS + PLAINLY) / 2


@pytest.fixture
def parts(store, clock):
    clock.tick(1000)
    return Parts(store, HashedEmbedder(), clock, judge=EagerJudge())


def found(text, category="decision", speaker=Speaker.USER, seconds=500.0, **fields):
    return Extracted(text, category, speaker, "llm", at=at(seconds), **fields)


def stored(parts, text, category="decision", said_by="user", tool="capture", seconds=0.0, caller=HERE, **fields):
    metadata = {"said_by": said_by} if said_by else {}
    draft = Draft(text, category=category, metadata=metadata, source=Source(tool=tool), event_time=at(seconds))
    return remember(parts, replace(draft, **fields), caller).memory


def verdict(parts, new, told=None):
    arriving = Arriving(new, PLACE, embedded(parts.embedder, new.text), HERE)
    return judged(parts.store, EagerJudge(told), arriving)


def captured(parts, text, told, seconds=500.0):
    """What becomes of a sentence that the user says, with what the judge makes of it beside what is known."""
    said = Conversation("monday", (Said(Speaker.USER, text, at(seconds)),))
    portion = Portion(said, Cursor("/t/one.jsonl", "monday", 100, START, "last", HERE.project.id))
    return capture(replace(parts, judge=EagerJudge(told)), portion, HERE, lambda: 60.0)


def texts(parts, state=State.ACTIVE):
    wanted = Filter(places(HERE, (Scope.PROJECT, Scope.USER)), states=(state,))
    return {stored.memory.text for stored in parts.store.listed(wanted, 100)}


def test_the_users_later_statement_ends_an_earlier_one_where_the_judge_is_sure(parts):
    old = stored(parts, OLD)
    done = captured(parts, NEW, {(OLD, NEW): SURE})
    assert (done.superseded, texts(parts), texts(parts, State.SUPERSEDED)) == ((old.id,), {NEW}, {OLD})
    assert parts.store.memories([old.id])[old.id].memory.status.successor == done.stored[0]
    assert parts.store.contradictions([old.id]) == []


def test_where_the_judge_is_not_sure_enough_both_stay_and_the_doubt_is_open(parts):
    old = stored(parts, OLD)
    done = captured(parts, NEW, {(OLD, NEW): UNSURE})
    assert (done.superseded, texts(parts)) == ((), {OLD, NEW})
    (doubt,) = parts.store.contradictions([old.id])
    assert (doubt.other(old.id), doubt.found_by, f"{UNSURE:.2f}" in doubt.detail) == (done.stored[0], "judge", True)


def test_what_is_said_of_another_one_of_several_ends_nothing_however_sure_the_judge_is(parts):
    one, other = "Machine number 1 is in rack 11 of the hall.", "Machine number 2 is in rack 22 of the hall."
    old = stored(parts, one)
    captured(parts, other, {(one, other): 1.0})
    assert (texts(parts), parts.store.contradictions([old.id])) == ({one, other}, [])


def test_what_is_changed_in_the_middle_of_a_task_puts_the_old_one_in_doubt(parts):
    old = stored(parts, "Profile the API server, it listens on port 8080 over here.")
    new = "Take the screenshots again, the API server is on port 9090 for everybody, and mail me the logs."
    clause = "the API server is on port 9090 for everybody"
    captured(parts, new, {("it listens on port 8080 over here.", clause): DOUBTS_IN_PART, (old.text, new): 0.1})
    (doubt,) = parts.store.contradictions([old.id])
    assert (texts(parts), "of a part" in doubt.detail) == ({old.text, new}, True)


def test_the_same_sentence_with_another_value_is_in_doubt_whatever_the_judge_says(parts):
    new = "The API server listens on port 9090."
    old = stored(parts, OLD)
    captured(parts, new, {(OLD, new): 0.1})
    (doubt,) = parts.store.contradictions([old.id])
    assert (texts(parts), doubt.detail) == ({OLD, new}, "8080 against 9090")


def test_where_the_judge_sees_no_contradiction_other_words_open_none(parts):
    new = "Ports of the API server are opened by Ada."
    old = stored(parts, OLD)
    captured(parts, new, {(OLD, new): 0.1})
    assert (texts(parts), parts.store.contradictions([old.id])) == ({OLD, new}, [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The api service calls the worker service over gRPC.", "The worker service calls the api service over gRPC."),
        ("We use pnpm for the frontend, never npm, and node 20.", "We use pnpm for the frontend, never npm."),
        ("We support Node 18, 20 and 22 in production builds.", "We support Node 18 and 20 in production builds."),
    ],
)
def test_who_leaves_something_out_or_turns_it_round_says_another_thing(parts, old, new):
    before = stored(parts, old, "architecture")
    for bearing in ("same", "refinement"):
        assert before.id not in verdict(parts, found(new, "architecture"), {(old, new): bearing}).replaces


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "Required reviewers are Ada and Ben for every pull request.",
            "Ben is no longer a reviewer for pull requests.",
        ),
        ("CI runs lint, unit tests and the Cypress suite on every push.", "We no longer run Cypress in CI."),
        ("We support Node 18, 20 and 22.", "We no longer support Node 18."),
    ],
)
def test_who_leaves_a_part_leaves_the_rest_as_it_was(parts, old, new):
    before = stored(parts, old)
    captured(parts, new, {(old, new): 1.0})
    assert (texts(parts), len(parts.store.contradictions([before.id]))) == ({old, new}, 1)


def test_who_leaves_the_one_thing_that_was_said_ends_it_in_whatever_words(parts):
    old, new = "CI runs on Jenkins.", "We moved CI from Jenkins to Buildkite last week."
    stored(parts, old)
    captured(parts, new, {(old, new): ENDS_WHAT_IT_NAMES})
    assert texts(parts) == {new}


def test_what_the_user_comes_back_to_holds_again_however_late_it_is_read(parts):
    npm, pnpm = "We use npm for everything.", "We use pnpm for everything instead of npm."
    told = {(npm, pnpm): 1.0, (pnpm, npm): 1.0}
    for seconds, text in ((100, npm), (200, pnpm), (300, npm)):
        parts.clock.tick(1000)
        captured(parts, text, told, seconds=seconds)
    assert texts(parts) == {npm}


def test_an_agents_newer_word_does_not_make_the_users_old_news(parts):
    agents = "Commit messages are written in English and name a ticket."
    users = "Commit messages are written in German and name a ticket."
    stored(parts, agents, said_by=None, seconds=600)
    assert isinstance(verdict(parts, found(users, seconds=500), {(agents, users): "contradiction"}), News)


@pytest.mark.parametrize("speaker", [Speaker.ASSISTANT, Speaker.TOOL])
def test_nobody_elses_word_ends_the_users(parts, speaker):
    old = stored(parts, OLD)
    news = verdict(parts, found(NEW, speaker=speaker), {(OLD, NEW): 1.0})
    assert (news.replaces, old.id in news.compared) == ((), True)


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param({"said_by": "assistant"}, id="an agent said it"),
        pytest.param({"said_by": "tool"}, id="a tool said it"),
        pytest.param({"tool": "remember"}, id="it was stored on purpose"),
        pytest.param({"seconds": 900.0}, id="it was said later"),
        pytest.param({"scope": Scope.USER}, id="it counts everywhere"),
        pytest.param({"title": "Ports", "distinct": True}, id="it has a title"),
    ],
)
def test_what_the_judge_alone_does_not_end_is_put_in_doubt(parts, kept):
    old = stored(parts, OLD, **kept)
    news = verdict(parts, found(NEW), {(OLD, NEW): 1.0})
    assert (news.replaces, bool(news.compared[old.id])) == ((), True)


def test_what_somebody_edited_is_put_in_doubt_and_not_ended(parts):
    old = stored(parts, OLD)
    tag(parts, old.id, ["mine"], [], HERE)
    news = verdict(parts, found(NEW), {(OLD, NEW): 1.0})
    assert (news.replaces, bool(news.compared[old.id])) == ((), True)


def test_what_is_important_may_be_replaced_by_the_users_own_word(parts):
    """The table of endings: importance holds against housekeeping, not against somebody who says the opposite."""
    old = stored(parts, OLD, importance=0.9)
    assert verdict(parts, found(NEW), {(OLD, NEW): 1.0}).replaces == (old.id,)


def test_another_project_is_not_even_compared(parts):
    elsewhere = replace(HERE, project=replace(HERE.project, id="q" * 20))
    stored(parts, OLD, caller=elsewhere)
    assert verdict(parts, found(NEW), {(OLD, NEW): 1.0}) == News()


def test_what_has_no_subject_in_common_is_not_compared_by_the_judge(parts):
    other = stored(parts, "Invoices are archived for ten years.")
    assert verdict(parts, found(NEW), {(other.text, NEW): 1.0}).replaces == ()


@pytest.mark.parametrize(
    ("new", "ends"),
    [
        ("The team manages packages with pnpm instead of yarn.", True),
        ("The team manages packages with pnpm, no longer yarn.", True),
        ("The team manages packages with pnpm, they moved away from yarn.", True),
        ("Wir verwalten packages with pnpm statt yarn, the whole team.", True),
        ("The team manages packages with pnpm.", False),
        ("The team manages packages with pnpm instead of bower.", False),
    ],
)
def test_naming_what_is_left_lowers_the_threshold(parts, new, ends):
    old = stored(parts, "The team manages packages with yarn.")
    odds = (ENDS_WHAT_IT_NAMES + ENDS) / 2
    assert verdict(parts, found(new), {(old.text, new): odds}).replaces == ((old.id,) if ends else ())


def test_naming_what_is_left_is_not_enough_without_a_contradiction(parts):
    old = stored(parts, "The team manages packages with yarn.")
    new = "The team manages packages of the shop with pnpm instead of yarn."
    assert verdict(parts, found(new), {(old.text, new): 0.3}).replaces == ()


def test_undoing_the_run_brings_the_old_one_back(parts):
    old = stored(parts, OLD)
    parts.clock.tick(60)
    captured(parts, NEW, {(OLD, NEW): SURE})
    engine = Engine(parts)
    (run,) = engine.runs(HERE, 10)
    assert (run.strategy, run.sources) == (CORRECTION, (old.id,))
    parts.clock.tick(60)
    undone = engine.undo(run.id, HERE)
    assert (undone.sources, OLD in texts(parts)) == ((old.id,), True)
    assert parts.store.memories([old.id])[old.id].memory.valid_until is None


def test_where_nothing_ends_there_is_no_run(parts):
    stored(parts, OLD)
    captured(parts, NEW, {(OLD, NEW): UNSURE})
    assert Engine(parts).runs(HERE, 10) == []


def test_where_what_would_end_may_not_there_is_no_run(parts):
    near = "The API server listens on port 9090."
    old = stored(parts, OLD, "pattern", title="Ports", distinct=True)
    done = captured(parts, near, {(OLD, near): 1.0})
    assert (done.superseded, Engine(parts).runs(HERE, 10)) == ((), [])
    assert [doubt.found_by for doubt in parts.store.contradictions([old.id])] == ["judge"]


@pytest.mark.parametrize(
    ("old", "new", "ends"),
    [
        ("Using Next.js app router", "Project uses Next.js app router", False),  # exactly 0.6
        ("Using Next.js app router pages", "Project uses Next.js app router pages", True),  # 4 of 6
        ("The billing API server listens on port 8080", "The billing API server listens on port 9090", True),
        ("我们使用蓝色数据库", "我们使用蓝色数据库了", True),
        ("?? !!", "!! ??", False),
    ],
)
def test_nearly_the_same_words_replace_strictly_above_the_threshold(parts, old, new, ends):
    before = stored(parts, old, "architecture", said_by=None)
    bearing = "contradiction" if "9090" in new else "refinement"
    news = verdict(parts, found(new, "architecture"), {(old, new): bearing})
    assert news.replaces == ((before.id,) if ends else ())


def test_nearly_the_same_words_of_another_thing_replace_nothing(parts):
    stored(parts, "The auth API server listens on port 8080", "architecture")
    assert verdict(parts, found("The billing API server listens on port 8080", "architecture")).replaces == ()


def test_another_categoryis_left_alone(parts):
    stored(parts, "Stripe integration via src/lib/stripe.ts", "gotcha")
    new = found("Stripe integration in src/lib/stripe.ts", "architecture")
    assert verdict(parts, new, {("Stripe integration via src/lib/stripe.ts", new.text): "same"}).replaces == ()


def test_what_a_model_names_as_replaced_gives_way(parts):
    old = stored(parts, "Deploys run from the build server every night")
    new = found("CI pushes images", replaces="Deploys run from build server nightly")
    assert verdict(parts, new).replaces == (old.id,)


def test_where_nothing_matches_what_is_replaced_the_new_one_is_stored_all_the_same(parts):
    stored(parts, "Deploys run from the build server every night")
    assert verdict(parts, found("CI pushes images", replaces="Something else entirely")).replaces == ()


LINT = "Always run make lint before pushing changes"


@pytest.mark.parametrize("speaker", [Speaker.ASSISTANT, Speaker.TOOL])
def test_what_the_user_said_is_not_ended_on_lesser_word_however_alike(parts, speaker):
    stored(parts, LINT, "pattern")
    new = found("Never run make lint before pushing changes", "pattern", speaker)
    assert verdict(parts, new, {(LINT, new.text): 1.0}).replaces == ()


def test_what_the_user_said_is_not_repeated_on_lesser_word(parts):
    stored(parts, LINT, "pattern")
    new = found("always run make lint before pushing the changes", "pattern", Speaker.TOOL)
    assert isinstance(verdict(parts, new, {(LINT, new.text): "same"}), Known)


def test_what_was_said_earlier_does_not_end_what_was_said_later(parts):
    old = "The billing API server listens on port 9090"
    stored(parts, old, "architecture", seconds=400)
    late = found("The billing API server listens on port 8080", "architecture", seconds=300)
    assert isinstance(verdict(parts, late, {(old, late.text): 1.0}), Known)
