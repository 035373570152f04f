"""What extraction by rule finds in what a user types, and what it leaves alone."""

import pytest

from capture_set import FOLDER, scored, written
from making import at
from retain.domain.conversation import Conversation, Said, Speaker
from retain.domain.memory import Scope
from retain.engine.capture.by_rule import extract

WISHES = [
    ("remember that prod runs on arm", "Prod runs on arm.", "architecture"),
    ("please remember: the api key rotates every 30 days", "The api key rotates every 30 days.", "architecture"),
    ("keep in mind the queue is shared with the billing team", "The queue is shared with the billing team.",
     "architecture"),
    ("remember that the legacy export breaks on umlauts", "The legacy export breaks on umlauts.", "gotcha"),
    ("the id is a uuid v7, keep that in mind", "The id is a uuid v7.", "architecture"),
    ("The timeout is 30s. Remember that.", "The timeout is 30s.", "architecture"),
    ("always run make fmt before committing", "Always run make fmt before committing.", "pattern"),
    ("can you please always run the linter?", "Always run the linter.", "pattern"),
    ("ok. also make sure u always add a test", "Always add a test.", "pattern"),
    ("from now on use conventional commits", "Always use conventional commits.", "pattern"),
    ("use pnpm from now on", "Always use pnpm.", "pattern"),
    ("pls dont use lodash again, we removed it", "Do not use lodash, we removed it.", "preference"),
    ("please don't add dependencies without asking", "Do not add dependencies without asking.", "preference"),
    ("don't use console.log, we have a logger", "Do not use console.log, we have a logger.", "preference"),
    ("stop adding emojis to commit messages", "Avoid adding emojis to commit messages.", "preference"),
    ("i prefer composition over inheritance", "I prefer composition over inheritance.", "preference"),
    ("whenever you change the schema, regenerate the client", "Whenever you change the schema, regenerate the client.",
     "pattern"),
    ("next time ask me before you delete anything", "Ask me before you delete anything.", "pattern"),
    ("merk dir, dass die Tests Java 21 brauchen", "Die Tests Java 21 brauchen.", "architecture"),
    ("ab jetzt bitte alle Kommentare auf Deutsch", "Alle Kommentare auf Deutsch.", "pattern"),
    ("recuerda que usamos pnpm siempre", "Usamos pnpm siempre.", "pattern"),
    ("souviens-toi que la base est en lecture seule", "La base est en lecture seule.", "architecture"),
    ("请记住接口返回的是毫秒", "接口返回的是毫秒。", "architecture"),
]  # fmt: skip
DECISIONS = [
    ("we decided to use kafka", "We decided to use kafka.", None),
    ("let's go with tailwind", "We go with tailwind.", None),
    ("let's use vitest instead of jest, it's faster", "We use vitest instead of jest, it's faster.", "We use jest"),
    ("we'll use s3 for uploads", "We use s3 for uploads.", None),
    ("we switched from travis to github actions", "We switched from travis to github actions.", "travis"),
    ("let's switch from the database driver to redis for queues, the locks kill us",
     "We switch from the database driver to redis for queues, the locks kill us.", "the database driver for queues"),
    ("drop redux, use zustand", "Use zustand instead of redux.", "redux"),
    ("actually, not postgres but sqlite", "Use sqlite instead of postgres.", "postgres"),
    ("use httpx instead of requests because we need async", "Use httpx instead of requests because we need async.",
     "requests"),
]  # fmt: skip
CORRECTIONS = [
    ("no, the api listens on port 8081, not 8080", "The api listens on port 8081, not 8080.",
     "the api listens on port 8080"),
    ("that's wrong, the timeout is 30 seconds", "The timeout is 30 seconds.", None),
    ("actually the limit is 500 per minute, not 100", "The limit is 500 per minute, not 100.",
     "the limit is 100 per minute"),
    ("sorry, i meant the eu cluster runs 1.29, not 1.28", "The eu cluster runs 1.29, not 1.28.",
     "the eu cluster runs 1.28"),
]  # fmt: skip
FACTS = [
    ("the staging db is read-only", "The staging db is read-only.", "gotcha"),
    ("tests need redis running", "Tests need redis running.", "architecture"),
    ("careful: the cron runs in UTC", "The cron runs in UTC.", "gotcha"),
    ("beware of the cache in settings.py: it survives a restart", "The cache in settings.py: it survives a restart.",
     "gotcha"),
    ("important: never call the payment api from tests", "Never call the payment api from tests.", "pattern"),
    ("btw the ci machine has only 4gb ram", "The ci machine has only 4gb ram.", "architecture"),
    ("minSdk must stay at 24", "minSdk must stay at 24.", "architecture"),
]  # fmt: skip
CONVENTIONS = [
    ("we use tabs, not spaces", "We use tabs, not spaces."),
    ("in this project we write docs in german", "We write docs in german."),
    ("tests live in spec/", "Tests live in spec/."),
    ("branch names are feature/<ticket>-<slug>", "Branch names are feature/<ticket>-<slug>."),
    ("all components are named in PascalCase", "All components are named in PascalCase."),
    ("every endpoint needs an auth test", "Every endpoint needs an auth test."),
    ("this project uses lerna", "This project uses lerna."),
    ("we are not allowed to use gpl libraries", "We are not allowed to use gpl libraries."),
]
OPEN_ENDS = [
    ("next step: wire the webhook", "Next: wire the webhook."),
    ("todo for tomorrow: clean up the fixtures", "Open: clean up the fixtures."),
    ("tomorrow we continue with the importer", "Next: the importer."),
]
NOTHING = """
    should we always use transactions?
    do we always need the await here
    what if we used redis instead
    if we use postgres we need a migration
    maybe we should switch from npm to pnpm
    i think we always want utc
    remember to run the tests
    do you remember the port?
    i can't remember how this works
    never mind
    thanks, great as always
    i always forget the syntax
    it never works on the first try
    the test always fails on ci
    we never had that problem
    you always do this
    you don't need to always run everything
    always show the price with two decimals
    never show the banner to logged in users
    the button should always be visible
    for now use sqlite
    just this once never mind the hooks, always skip them this time
    don't touch the css in this commit
    never do that again
    stop the server
    stop running the dev server
    let's use the second option
    lets use the shorter name
    let's go with that
    use a dict here
    switch to main
    move this from a.py to b.py
    change the color from red to blue
    i prefer the first version
    i want the button to be red
    john said we should always rebase
    the docs say never to share a client
    in my old job we used svn
    we always deploy on fridays lol
    no, a list
    that's wrong
    the page is broken
    the app crashes when i click export, fix it
    the function needs a docstring
    the function is in utils.py
    we use this in three places
    where do we use tabs
    we haven't decided yet
    btw can you also fix the title
    next step please
    see you tomorrow
    every time i click it, it crashes
    rename it to always_on
    my account is foo@example.org, remember that but don't save it anywhere
""".strip().splitlines()


HALVES = ("tuned", "held", "fresh", "second")


def lines_of(name):
    """Single prompts, one in each line of a file beside the transcripts."""
    text = (FOLDER / "capture" / f"{name}.txt").read_text(encoding="utf-8")
    return [line.replace("\\n", "\n") for line in text.splitlines()]


def said(*prompts):
    turns = tuple(Said(Speaker.USER, prompt, at(number)) for number, prompt in enumerate(prompts))
    return extract(Conversation("monday", turns))


def only(found):
    [item] = found
    return item


@pytest.mark.parametrize(("prompt", "statement", "category"), WISHES)
def test_a_wish_becomes_a_statement_that_stands_alone(prompt, statement, category):
    item = only(said(prompt))
    assert (item.text, item.category, item.found_by, item.speaker) == (statement, category, "wish", Speaker.USER)


@pytest.mark.parametrize(("prompt", "statement", "replaces"), DECISIONS)
def test_a_decision_says_what_it_replaces(prompt, statement, replaces):
    item = only(said(prompt))
    assert (item.text, item.category, item.replaces) == (statement, "decision", replaces)


@pytest.mark.parametrize(("prompt", "statement", "replaces"), CORRECTIONS)
def test_a_correction_replaces_the_fact_as_it_was_told(prompt, statement, replaces):
    item = only(said(prompt))
    assert (item.text, item.found_by, item.replaces) == (statement, "correction", replaces)


@pytest.mark.parametrize(("prompt", "statement", "category"), FACTS)
def test_a_standing_fact_is_kept(prompt, statement, category):
    item = only(said(prompt))
    assert (item.text, item.category, item.found_by) == (statement, category, "fact")


@pytest.mark.parametrize(("prompt", "statement"), CONVENTIONS)
def test_a_convention_is_a_pattern(prompt, statement):
    item = only(said(prompt))
    assert (item.text, item.category) == (statement, "pattern")


@pytest.mark.parametrize(("prompt", "statement"), OPEN_ENDS)
def test_what_is_left_open_is_progress(prompt, statement):
    item = only(said(prompt))
    assert (item.text, item.category) == (statement, "progress")


@pytest.mark.parametrize("prompt", [line.strip() for line in NOTHING])
def test_questions_moments_hearsay_and_habits_are_nothing(prompt):
    assert said(prompt) == []


def test_several_wishes_in_one_message_are_several_statements():
    found = said("please always run the linter before you commit, and never commit to main. also we use tabs")
    assert [item.text for item in found] == [
        "Always run the linter before you commit.",
        "Never commit to main.",
        "We use tabs.",
    ]


def test_rules_that_are_announced_are_taken_one_by_one():
    found = said("some ground rules:\n- no new global state\n- errors go through AppError\n\nnow split server.ts")
    assert [item.text for item in found] == ["No new global state.", "Errors go through AppError."]


@pytest.mark.parametrize(
    ("prompt", "scope"),
    [
        ("in all my projects: use single quotes", Scope.USER),
        ("I always want short answers", Scope.USER),
        ("i prefer short summaries", Scope.USER),
        ("i prefer short summaries in this project", Scope.PROJECT),
        ("i prefer composition over inheritance", Scope.PROJECT),
        ("always use single quotes", Scope.PROJECT),
    ],
)
def test_only_what_is_said_of_everything_or_of_talking_holds_everywhere(prompt, scope):
    assert only(said(prompt)).scope is scope


def test_a_statement_knows_when_it_was_said():
    assert only(said("hello", "we use tabs")).at == at(1)


def test_what_is_said_twice_is_kept_once():
    assert len(said("always use uv instead of pip", "i said always use uv instead of pip!!")) == 1


def test_a_later_correction_wins():
    found = said("remember that the export runs at 3am UTC", "sorry i was wrong, the export runs at 5am UTC, not 3am")
    assert [item.text for item in found] == ["The export runs at 5am UTC, not 3am."]


def test_a_second_thought_is_spelled_out_in_the_words_of_the_first():
    item = only(said("let's use postgres for the event store", "actually, not postgres but sqlite, it's one user"))
    assert item.text == "We use sqlite for the event store, it's one user."
    assert item.replaces == "We use postgres for the event store."


def test_what_earlier_turns_said_is_context_and_not_found_again():
    before = (Said(Speaker.USER, "let's use postgres for the event store"),)
    after = Conversation("monday", (Said(Speaker.USER, "actually, not postgres but sqlite"),))
    assert [item.text for item in extract(after, before)] == ["We use sqlite for the event store."]
    assert extract(Conversation("monday", ()), before) == []


def test_a_message_of_rules_without_end_is_cut_short():
    prompts = [f"always run step{number} before you push branch{number}" for number in range(50)]
    assert len(said(*prompts)) == 10


def test_a_statement_that_is_mostly_redaction_is_dropped():
    assert said("remember that [redacted:api_key] [redacted:password]") == []
    assert only(said("remember that staging uses the key [redacted:api_key] of the shop")).text


@pytest.mark.parametrize("half", HALVES)
def test_nearly_all_statements_are_right(half):
    score = scored(written(f"capture/{half}"), extract)
    assert score.precision >= 0.95
    assert score.recall >= 0.7


def test_quiet_sessions_yield_nothing():
    quiet = [one for half in HALVES for one in written(f"capture/{half}") if one.name.startswith("quiet_")]
    assert len(quiet) >= 15
    assert [one.name for one in quiet if one.expected or extract(one.conversation)] == []


def test_what_is_of_the_moment_is_nothing():
    assert {line: [item.text for item in found] for line in lines_of("moments") if (found := said(line))} == {}


def test_what_is_wished_is_heard():
    assert [line for line in lines_of("wishes") if not said(line)] == []


def test_each_point_of_a_list_about_the_project_is_a_convention():
    found = said("couple of things about this repo:\n- pnpm only, no yarn\n- small prs\n\nnow build the badge")
    assert [(item.text, item.category) for item in found] == [
        ("Pnpm only, no yarn.", "pattern"),
        ("Small prs.", "pattern"),
    ]


def test_what_is_scratched_is_not_kept_beside_what_takes_its_place():
    first = "let's go with celery beat for the export"
    item = only(said(first, "ok scratch celery, a broker is too much. we'll run the export with a timer unit instead"))
    assert item.replaces == "celery"
    assert item.text.endswith("we'll run the export with a timer unit instead.")


@pytest.mark.parametrize("mark", ["'", '"'])
def test_words_for_a_screen_are_nothing_however_many_sentences_they_are(mark):
    assert said(f"the hint reads {mark}It's safe. We always keep the last 5 versions. Never share it.{mark}") == []
    assert said(f"use {mark}It's safe. We always keep the last 5 versions.{mark} as the hint") == []
