"""From a conversation to memories: by judge and by model, once, and in the place of what they replace."""

import json
from dataclasses import replace
from math import inf

import pytest

from fakes import START, EagerJudge, ScriptedLLM
from making import at
from retain.domain.conversation import Conversation, Cursor, Extracted, Said, Speaker, ToolRun
from retain.domain.memory import Kind, Scope, State
from retain.domain.recall import Filter
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.engine.capture.by_judge import THRESHOLDS
from retain.engine.capture.capture import Portion, capture, importance_of, keep
from retain.engine.drafts import Draft
from retain.engine.parts import Parts, places
from retain.engine.remember import remember
from retain.engine.revise import bring_back, forget
from retain.errors import LLMFailed, NotFound

HERE = Caller(project=Project("p" * 20, "shop", "/shop", START), session="monday")
PLACE = places(HERE, (Scope.PROJECT,))[0]
NEEDED = THRESHOLDS[Speaker.USER]
WISH = "Remember that the staging database is called blue."


@pytest.fixture
def parts(store, clock):
    clock.tick(1000)
    return Parts(store, HashedEmbedder(), clock, judge=EagerJudge())


def user(text, seconds=0.0):
    return Said(Speaker.USER, text, at(seconds))


def claude(text, seconds=0.0):
    return Said(Speaker.ASSISTANT, text, at(seconds))


def portion(*turns, offset=100, session="monday", aside=False):
    marks = tuple((n + 1, f"line-{n}") for n in range(len(turns)))
    cursor = Cursor("/t/one.jsonl", session, offset, START, "last", HERE.project.id, extractions=1)
    return Portion(Conversation(session, turns, aside), cursor, marks)


def captured(parts, *turns, left=lambda: inf, **options):
    return capture(parts, portion(*turns, **options), HERE, left)


def active(parts, *states):
    wanted = Filter(places(HERE, (Scope.PROJECT, Scope.USER)), states=states or (State.ACTIVE,))
    return [stored.memory for stored in parts.store.listed(wanted, 100)]


def texts(parts, *states):
    return [memory.text for memory in active(parts, *states)]


def stored(parts, text, category="decision", said_by=None, seconds=0.0, **fields):
    metadata = {"said_by": said_by} if said_by else {}
    draft = Draft(text, category=category, metadata=metadata, event_time=at(seconds), **fields)
    return remember(parts, draft, HERE).memory


def said(*memories):
    """A model's answer that gives these (type, content, replaced)."""
    rows = [{"type": t, "content": c, "tags": ["db"], "supersedes_content": r} for t, c, r in memories]
    return json.dumps(rows)


def test_a_wish_becomes_a_memory_with_its_provenance(parts):
    done = captured(parts, user(WISH, 7), claude("Noted."))
    (memory,) = active(parts)
    assert (done.stored, done.by) == ((memory.id,), ("judge",))
    assert "staging database is called blue" in memory.text
    assert (memory.source.tool, memory.metadata["said_by"]) == ("capture", "user")
    assert (memory.event_time, memory.session, memory.place) == (at(7), "monday", PLACE)
    assert (memory.metadata["found_by"], memory.metadata["score"]) == ("asked", 1.0)
    assert memory.metadata["threshold"] == NEEDED


def test_the_cursor_stands_at_the_end(parts):
    captured(parts, user("how are you?"), claude("Fine."), offset=321)
    cursor = parts.store.cursor("/t/one.jsonl")
    assert (cursor.offset, cursor.last, cursor.extractions) == (321, "last", 1)


def test_a_quiet_conversation_leaves_nothing_but_the_cursor(parts):
    judge = EagerJudge({"what does this do?": 0.1})
    done = captured(replace(parts, judge=judge), user("what does this do?"), claude("It adds two numbers."))
    assert (done.stored, texts(parts)) == ((), [])
    assert parts.store.cursor("/t/one.jsonl") is not None


def test_the_same_conversation_twice_is_stored_once_and_counted_once(parts):
    captured(parts, user(WISH, 7))
    parts.clock.tick(60)
    again = captured(parts, user(WISH, 7))
    (memory,) = active(parts)
    assert (again.stored, again.reinforced, again.skipped, memory.reinforced) == ((), (), 1, 0)


def test_what_is_said_again_later_is_reinforced(parts):
    captured(parts, user(WISH, 7))
    parts.clock.tick(5000)
    again = captured(parts, user(WISH, 4000), session="tuesday")
    (memory,) = active(parts)
    assert (again.reinforced, memory.reinforced) == ((memory.id,), 1)


def test_what_an_agent_stored_on_request_is_not_stored_again(parts):
    memory = stored(parts, "The staging database is called blue")
    done = captured(parts, user(WISH, 7))
    assert (done.stored, [m.id for m in active(parts)]) == ((), [memory.id])


def test_what_was_forgotten_since_does_not_come_back(parts):
    captured(parts, user(WISH, 7))
    forget(parts, active(parts)[0].id, None, HERE)
    captured(parts, user(WISH, 7))
    assert texts(parts) == []


def test_what_is_said_anew_after_it_was_forgotten_does(parts):
    captured(parts, user(WISH, 7))
    forget(parts, active(parts)[0].id, None, HERE)
    parts.clock.tick(100)
    captured(parts, user(WISH, 1050))
    assert len(texts(parts)) == 1


def test_secrets_and_private_words_are_not_captured(parts):
    key = "sk-ant-" + "api03-" + "a1B2c3D4" * 6
    captured(parts, user(f"Remember that the API key is {key}"), user("<private>Remember that I earn 9.</private>"))
    assert key not in repr(active(parts))
    assert "earn" not in repr(active(parts))


def test_what_memory_showed_is_not_captured(parts):
    notes = "<retain-notes>Remember that we always deploy on Mondays.</retain-notes>"
    captured(parts, user(f"{notes} thanks"), ToolRun("mcp__retain__recall", {}, WISH, at=at(1)), claude(notes))
    assert texts(parts) == []


def test_a_model_is_asked_when_there_is_one(parts):
    llm = ScriptedLLM(said(("architecture", "The API listens on port 8080", None)))
    done = captured(replace(parts, llm=llm), user("the API listens on port 8080", 3), claude("Ok."))
    (memory,) = active(parts)
    assert (done.by, memory.metadata["found_by"], memory.category) == (("llm",), "llm", "architecture")
    assert (memory.tags, memory.event_time, memory.metadata["said_by"]) == (("db",), at(3), "user")


def test_a_model_is_told_what_is_known(parts):
    stored(parts, "The API is written in Go", "architecture")
    llm = ScriptedLLM("[]")
    captured(replace(parts, llm=llm), user("how is the API built?"))
    assert "written in Go" in llm.asked[0].text


def test_a_model_is_not_sent_what_the_judge_hears_nothing_in(parts):
    llm = ScriptedLLM()
    done = captured(
        replace(parts, llm=llm, judge=EagerJudge({"fix line 3": 0.1, "Done.": 0.1})),
        user("fix line 3"),
        claude("Done."),
    )
    assert (llm.asked, done.by, texts(parts)) == ([], ("llm",), [])
    assert parts.store.cursor("/t/one.jsonl").offset == 100


def test_what_a_model_makes_of_nothing_is_dropped_with_the_judges_score(parts):
    idle, port = "The user greets the agent", "The API listens on port 8080"
    llm = ScriptedLLM(said(("context", idle, None), ("architecture", port, None)))
    parts = replace(parts, llm=llm, judge=EagerJudge({idle: 0.05}))
    done = captured(parts, user("the user greets the agent. the API listens on port 8080"))
    assert [(one.text, "0.05" in one.why) for one in done.dropped] == [(idle, True)]
    assert texts(parts) == [port]


def test_what_was_judged_is_told_with_score_and_threshold(parts):
    judge = EagerJudge({"we deploy on mondays here": 0.45, "hi there": 0.1})
    done = captured(replace(parts, judge=judge), user("we deploy on mondays here"), user("hi there"), user(WISH))
    assert [(one.text, one.score, one.threshold, one.kept) for one in done.judged] == [
        ("we deploy on mondays here", 0.45, NEEDED, False),
        (WISH, 1.0, NEEDED, True),
    ]


@pytest.mark.parametrize("answer", [LLMFailed("no answer in time"), "nonsense", "[{}]", '[{"type": "decision"'])
def test_where_a_model_fails_the_judge_reads_the_same_turns(parts, answer):
    done = captured(replace(parts, llm=ScriptedLLM(answer)), user(WISH, 7))
    assert (done.by, [warning.code for warning in done.warnings]) == (("judge",), ["llm_failed"])
    assert len(texts(parts)) == 1


def test_a_model_that_may_not_be_asked_is_not_asked(parts):
    llm = ScriptedLLM(why_not="the day's budget is spent")
    done = captured(replace(parts, llm=llm), user(WISH, 7))
    assert (llm.asked, len(done.stored)) == ([], 1)
    assert "budget" in done.warnings[0].message


def test_a_model_that_keeps_failing_is_left_alone(parts):
    llm = ScriptedLLM(*[LLMFailed("down")] * 9)
    turns = [user(f"look at part {n} " + "word " * 500, n) for n in range(20)]
    done = captured(replace(parts, llm=llm), *turns, user(WISH, 30))
    assert (len(llm.asked), len(done.stored)) == (2, 1)


def test_a_model_that_only_cannot_check_goes_on_reading(parts):
    port = said(("architecture", "The API listens on port 8080", None))
    llm = ScriptedLLM(*[port] * 9, checks=[LLMFailed("down")] * 9)
    turns = [user("the API listens on port 8080 " + "word " * 1100, n) for n in range(4)]
    done = captured(replace(parts, llm=llm), *turns)
    assert (done.by, len(llm.asked), len(done.stored)) == (("llm",), len(llm.asked_again), 1)
    assert len(llm.asked) > 2
    assert [warning.code for warning in done.warnings] == ["llm_unchecked"]


def test_the_judge_reads_a_long_conversation_whole(parts):
    wishes = [user(f"Remember that rack{n} holds the machine called host{n}.", n) for n in range(40)]
    done = captured(parts, *wishes)
    assert (len(done.stored), len(texts(parts)), done.reinforced) == (40, 40, ())


def test_when_time_runs_out_the_judge_reads_the_rest(parts):
    seconds = iter([100.0] * 3)  # for the judge to load, and for one piece
    llm = ScriptedLLM("[]", "[]", "[]")
    turns = [user(f"look at part {n} " + "word " * 1100, n) for n in range(5)]
    done = captured(replace(parts, llm=llm), *turns, user(WISH, 30), left=lambda: next(seconds, 1.0))
    assert (len(llm.asked), done.by, len(done.stored)) == (1, ("llm", "judge"), 1)
    assert parts.store.cursor("/t/one.jsonl").offset == 100


def test_the_cursor_follows_piece_by_piece(parts):
    class Crash(BaseException):
        pass

    class Dies(ScriptedLLM):
        def complete(self, prompt, seconds):
            if len(self.asked) == 2:
                raise Crash
            return super().complete(prompt, seconds)

    turns = [user(f"look at part {n} " + "word " * 500, n) for n in range(20)]
    with pytest.raises(Crash):
        captured(replace(parts, llm=Dies("[]", "[]", "[]")), *turns)
    cursor = parts.store.cursor("/t/one.jsonl")
    assert (0 < cursor.offset < 20, cursor.last) == (True, f"line-{cursor.offset - 1}")


def test_nearly_the_same_in_the_same_category_takes_its_place(parts):
    new = "Stripe integration lives in src/lib/stripe.ts"
    old = stored(parts, "Stripe integration via src/lib/stripe.ts", "architecture")
    parts = replace(parts, judge=EagerJudge({(old.text, new): "refinement"}))
    llm = ScriptedLLM(said(("architecture", new, None)))
    done = captured(replace(parts, llm=llm), user("the Stripe integration lives in src/lib/stripe.ts", 500))
    assert done.superseded == (old.id,)
    (ended,) = active(parts, State.SUPERSEDED)
    assert (ended.status.successor, ended.valid_until) == (done.stored[0], at(500))
    assert [row.event for row in parts.store.history(old.id)] == ["created", "superseded"]


def test_an_undone_succession_brings_both_back(parts):
    old = stored(parts, "Stripe integration via src/lib/stripe.ts", "architecture")
    keep(parts, Draft("Stripe integration lives in src/lib/stripe.ts", category="architecture"), HERE)
    bring_back(parts, old.id, HERE)
    assert len(texts(parts)) == 2


def test_about_the_user_means_everywhere(parts):
    parts = replace(parts, judge=EagerJudge(scope="user"))
    captured(parts, user("I always prefer short commit messages, in every project.", 3))
    assert [memory.place.scope for memory in active(parts)] == [Scope.USER]


def test_an_aside_has_no_user(parts):
    captured(parts, user(WISH, 7), aside=True)
    assert texts(parts) == []


def test_kind_and_importance_follow_from_what_it_is(parts):
    llm = ScriptedLLM(
        said(("pattern", "Run make lint before pushing", None), ("progress", "The lint job is done", None))
    )
    captured(replace(parts, llm=llm), user("run make lint before pushing", 1), claude("the lint job is done", 2))
    kinds = {memory.category: (memory.kind, memory.importance) for memory in active(parts)}
    assert kinds == {"pattern": (Kind.PROCEDURAL, 0.7), "progress": (Kind.EPISODIC, 0.5)}


@pytest.mark.parametrize(
    ("category", "speaker", "importance"),
    [
        ("decision", Speaker.ASSISTANT, 0.7),
        ("preference", Speaker.USER, 0.7),
        ("pattern", Speaker.USER, 0.7),
        ("pattern", Speaker.TOOL, 0.5),
        ("gotcha", Speaker.TOOL, 0.6),
        ("error_solution", Speaker.TOOL, 0.6),
        ("context", Speaker.USER, 0.5),
    ],
)
def test_wishes_weigh_more_than_lessons_and_these_more_than_news(category, speaker, importance):
    assert importance_of(Extracted("x", category, speaker, "rule")) == importance


def test_a_saved_memory_takes_the_place_of_what_it_names_and_of_what_says_the_same(parts):
    named = stored(parts, "We deploy on Mondays")
    near = stored(parts, "Stripe integration via src/lib/stripe.ts")
    draft = Draft("Stripe integration lives in src/lib/stripe.ts", category="decision", supersedes=(named.id,))
    done = keep(parts, draft, HERE)
    assert (done.superseded, len(texts(parts))) == ((named.id, near.id), 1)


@pytest.mark.parametrize(
    ("old", "said_by", "new"),
    [
        ("We deploy billing from the main branch by hand", "user", "We deploy billing from the release branch by hand"),
        ("The staging cluster has its port open at 8080", None, "The production cluster has its port open at 8443"),
    ],
)
def test_a_saved_memory_ends_neither_the_users_word_nor_what_is_said_of_another_thing(parts, old, said_by, new):
    stored(parts, old, said_by=said_by)
    done = keep(parts, Draft(new, category="decision"), HERE)
    assert (done.superseded, set(texts(parts))) == ((), {old, new})


def test_a_saved_memory_cannot_take_the_place_of_what_is_not_there(parts):
    with pytest.raises(NotFound, match="no memory"):
        keep(parts, Draft("new", supersedes=("0" * 20,)), HERE)
    assert texts(parts) == []


def test_saying_the_same_again_ends_nothing_of_itself(parts):
    memory = stored(parts, "We deploy on Mondays")
    done = remember(parts, Draft("We deploy on Mondays", supersedes=(memory.id,)), HERE)
    assert (done.reinforced, done.superseded, texts(parts)) == (True, (), ["We deploy on Mondays"])


def test_what_is_to_give_way_is_not_reinforced_instead(parts):
    old = stored(parts, "We deploy on Mondays")
    assert remember(parts, Draft("we deploy on mondays"), HERE).reinforced
    done = remember(parts, Draft("we deploy on mondays", supersedes=(old.id,)), HERE)
    assert (done.reinforced, done.superseded, texts(parts)) == (False, (old.id,), ["we deploy on mondays"])
