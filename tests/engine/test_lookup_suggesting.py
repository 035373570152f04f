"""Suggestions: from what is stored and was asked, with reasons that are true and a confidence that means something."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from making import EVERYWHERE, START, a_link, a_memory, a_place, an_entity, at, in_state, save
from retain.domain.graph import fold
from retain.domain.listing import PastQuery
from retain.domain.memory import State
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.engine.lookup.fitting import Typed
from retain.engine.lookup.suggesting import Suggestion, suggest
from retain.engine.parts import Parts
from retain.errors import InvalidInput

HERE = Caller(project=Project("shop", "shop", "/home/ada/shop", START))
ON_A_STORE = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def ask(store, clock):
    parts = Parts(store, HashedEmbedder(), clock)

    def ask(partial, limit=10, caller=HERE):
        return suggest(parts, partial, limit, caller)

    return ask


def queries(suggestions):
    return [suggestion.query for suggestion in suggestions]


def keep(store, *texts, **fields):
    """Memories with these texts, each of which has the fields."""
    save(store, *(a_memory(f"m-{text}", text, **fields) for text in texts))


def note(store, text, times=1, found=1, project="shop", user=""):
    store.note_query(PastQuery(text, times, found, at(1)), project, user)


def test_a_tag_is_suggested_with_how_many_carry_it(store, ask):
    keep(store, "one", "two", "three", "four", "five", tags=("auth",))
    assert ask("au") == [Suggestion("auth", "Tag carried by 5 memories", 0.86)]


def test_a_title_is_suggested_with_what_it_is_the_title_of(store, ask):
    keep(store, "one", title="Authentication by JWT", category="decision")
    assert ask("auth") == [Suggestion("Authentication by JWT", "Title of a decision", 0.67)]


def test_one_title_of_several_memories_is_suggested_once(store, ask):
    keep(store, "one", title="Release notes")
    keep(store, "two", title="release Notes", place=EVERYWHERE)
    (suggestion,) = ask("rel")
    assert (suggestion.reason, suggestion.confidence) == ("Title of 2 memories", 0.75)


@pytest.mark.parametrize(
    ("category", "reason"),
    [
        ("code", "Title of a piece of code"),
        ("error_solution", "Title of an error solution"),
        (None, "Title of documentation"),
        ("recipe", "Title of a memory of type recipe"),
    ],
)
def test_the_reason_calls_a_memory_what_it_is(store, ask, category, reason):
    keep(store, "one", title="Bread", category=category)
    assert [suggestion.reason for suggestion in ask("b")] == [reason]


def test_a_name_is_suggested_with_how_many_memories_speak_of_it(store, ask):
    keep(store, "one", "two")
    links = (a_link("m-one", "AuthService"), a_link("m-two", "AuthService"))
    save(store, entities=(an_entity("AuthService"), an_entity("AuthorBot")), links=links)
    assert ask("auth") == [Suggestion("AuthService", "Named in 2 memories", 0.75)]


def test_a_past_question_is_suggested_with_how_often_it_was_asked(store, ask):
    keep(store, "We deploy on Mondays")
    note(store, "when do we deploy", times=3, found=4)
    note(store, "when to deploy")
    assert ask("when") == [
        Suggestion("when do we deploy", "Asked 3 times, found 4 the last time", 0.8),
        Suggestion("when to deploy", "Asked once, found 1 the last time", 0.67),
    ]


def test_a_past_question_that_finds_nothing_any_more_is_not_suggested(store, ask):
    keep(store, "We deploy on Mondays", status=in_state(State.FORGOTTEN))
    note(store, "when do we deploy", times=3)
    assert ask("when") == []


def test_the_titles_of_memories_whose_tag_fits_come_last(store, ask):
    keep(store, "one", title="Login", category="pattern", tags=("web", "auth"))
    keep(store, "two", title="Author of it all", category="decision", tags=("auth",))
    assert ask("auth") == [
        Suggestion("auth", "Tag carried by 2 memories", 0.75),
        Suggestion("Author of it all", "Title of a decision", 0.67),
        Suggestion("Login", "Title of a pattern tagged auth", 0.47),
    ]


def test_what_begins_with_the_partial_comes_before_what_has_it_further_on(store, ask):
    keep(store, "one", title="Build by user token")
    keep(store, "two", title="Token of a user in the back")
    assert [(s.query, s.confidence) for s in ask("tok")] == [
        ("Token of a user in the back", 0.67),
        ("Build by user token", 0.6),
    ]


def test_of_equals_the_shorter_comes_first_and_then_by_letter(store, ask):
    keep(store, "one", tags=("authz", "auth", "authn"))
    assert queries(ask("auth")) == ["auth", "authn", "authz"]
    assert queries(ask("auth", limit=2)) == ["auth", "authn"]


def test_one_query_is_suggested_once_for_its_best_reason(store, ask):
    keep(store, "auth one", "auth two", tags=("Auth",))
    keep(store, "auth three", title="auth")
    note(store, "AUTH", times=7)
    assert ask("auth") == [Suggestion("AUTH", "Asked 7 times, found 1 the last time", 0.89)]


def test_what_others_have_and_what_has_ended_is_not_told(store, ask):
    keep(store, "one", tags=("auth-gone",), title="Auth gone", status=in_state(State.SUPERSEDED))
    keep(store, "two", tags=("auth-blog",), title="Auth blog", place=a_place("blog"))
    keep(store, "three", tags=("auth-ada",), title="Auth ada", place=a_place(user="ada"))
    for theirs in ({"user": "ada"}, {"project": "blog"}):
        note(store, "auth of others", **theirs)
    assert ask("auth") == []
    hers = queries(ask("auth", caller=Caller(user="ada", project=HERE.project)))
    assert hers == ["Auth ada", "auth-ada", "auth of others"]


def test_outside_of_a_project_what_is_known_everywhere_is_suggested(store, ask):
    keep(store, "one", tags=("auth",))
    keep(store, "auth two", tags=("author",), place=EVERYWHERE)
    note(store, "auth where", project=None)
    assert queries(ask("auth", caller=Caller())) == ["author", "auth where"]


@pytest.mark.parametrize(
    ("partial", "text", "fit"),
    [
        ("auth", "AuthService", 1.0),
        ("AUTHSERV", "AuthService", 1.0),
        ("auth serv", "AuthService", 1.0),
        ("serv", "AuthService", 0.9),
        ("auth", "user_auth", 0.9),
        ("user-au", "user_auth", 1.0),
        ("service auth", "AuthService", 0.9),
        ("use  jw", "Use JWT for authentication", 1.0),
        ("jwt use", "Use JWT for authentication", 0.9),
        ("server", "HTTPServer", 0.9),
        ("2", "oauth2", 0.9),
        ("pay", "src/billing/pay.py", 0.9),
        ("größe", "GRÖSSE der Seite", 1.0),
        ("認証", "ユーザー認証", 0.9),
        ("ｊｗｔ", "JWT", 1.0),
        ("hen", "AuthentiCation", 0),
        ("auth x", "AuthService", 0),
        ("servicea", "AuthService", 0),
        ("jwtfor", "Use JWT for authentication", 0),
        ("???", "what is it???", 0),
        ("resume", "résumé", 0),
    ],
)
def test_a_text_fits_when_each_word_typed_begins_one_of_its_own(partial, text, fit):
    assert Typed(partial).fit(text) == fit


WORDS = st.text("abAB _-2.é日", min_size=1, max_size=8)


@given(WORDS, WORDS, st.data())
def test_whatever_a_text_begins_with_fits_it(text, more, data):
    whole = f"{text} {more}"
    typed = whole[: data.draw(st.integers(1, len(whole)))]
    assert Typed(typed).fit(whole) == (1.0 if any(map(str.isalnum, typed)) else 0)


LABELS = st.text("abc AB_", min_size=1, max_size=6).filter(str.strip)


@ON_A_STORE
@given(st.lists(st.tuples(LABELS, LABELS), max_size=6), LABELS, st.integers(1, 9))
def test_every_suggestion_fits_and_the_best_come_first(store, ask, said, partial, limit):
    store.empty("", at(90), store.change())
    save(store, *(a_memory(f"m{n}", f"text {n}", title=title, tags=(tag,)) for n, (title, tag) in enumerate(said)))
    told, typed = ask(partial, limit), Typed(partial)
    assert all(typed.fit(s.query) or typed.fit(s.reason.partition(" tagged ")[2]) for s in told)
    assert all(0 < s.confidence <= 1 for s in told)
    assert [s.confidence for s in told] == sorted((s.confidence for s in told), reverse=True)
    assert len({fold(s.query) for s in told}) == len(told) <= limit


@ON_A_STORE
@given(st.lists(LABELS, min_size=1, max_size=6), st.data())
def test_every_title_and_every_tag_is_suggested_to_who_types_it(store, ask, names, data):
    store.empty("", at(90), store.change())
    save(store, *(a_memory(f"m{n}", f"text {n}", title=name, tags=(name,)) for n, name in enumerate(names)))
    chosen = data.draw(st.sampled_from(names))
    if any(map(str.isalnum, chosen)):
        assert fold(chosen) in {fold(query) for query in queries(ask(chosen, 100))}


def test_what_fits_nothing_suggests_nothing(store, ask):
    assert ask("auth") == []
    keep(store, "auth", title="Login", tags=("web",))
    assert ask("auth") == ask("???") == []


@pytest.mark.parametrize(
    ("partial", "limit", "fields"),
    [
        ("", 10, ["partial_query"]),
        (" \n", 10, ["partial_query"]),
        ("a" * 201, 10, ["partial_query"]),
        ("a\0", 10, ["partial_query"]),
        ("a", 0, ["limit"]),
        ("a", 101, ["limit"]),
        ("", -1, ["partial_query", "limit"]),
    ],
)
def test_all_that_is_wrong_is_named_at_once(ask, partial, limit, fields):
    with pytest.raises(InvalidInput) as error:
        ask(partial, limit)
    assert [fault.field for fault in error.value.faults] == fields
