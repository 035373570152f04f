"""Contradictions: what a few words and values tell, what keeps two statements apart, and how the judge is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import EagerJudge
from retain.domain.judging import Comparison
from retain.engine.lifecycle.apart import LONGEST, apart, asserted
from retain.engine.lifecycle.contradictions import clash, plainly
from retain.engine.lifecycle.relating import related
from retain.engine.thresholds import CLOSE, PLAINLY, contradicts_from

ANY_TEXT = st.text(st.characters(exclude_categories=()))
PORTS = "The API listens on port 8080.", "The API listens on port 9090."


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (*PORTS, "value"),
        ("We use tabs.", "We use spaces.", "value"),
        ("Sessions expire after 24 hours", "Sessions expire after 7 days", "value"),
        ("Python 3.11 is the minimum", "Python 3.12 is the minimum", "value"),
        ("The lead is Ada", "The lead is Bob", "value"),
        ("We use tabs for indentation", "We do not use tabs for indentation", "negation"),
        ("We use Redis for sessions", "We no longer use Redis for sessions", "negation"),
        ("Feature flags are enabled by default", "Feature flags are disabled by default", "antonym"),
    ],
)
def test_the_same_sentence_with_another_value_is_plainly_a_contradiction(old, new, kind):
    for found in (plainly(old, new), plainly(new, old), clash(old, new)):
        assert found and found.kind == kind


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Benchmark run 7: 1200 req/s", "Benchmark run 8: 1350 req/s"),
        ("The standup took 25 minutes today.", "The standup took 12 minutes today."),
        ("The service supports MySQL.", "The service supports Postgres."),
        ("We used to host on Heroku.", "We host on Fly.io."),
        ("We use RabbitMQ for events.", "Should we use Kafka for events?"),
        ("Column `a` is nullable.", "Column `b` is not nullable."),
        ("The field is not optional.", "The field is required."),
        ("Requests time out after 60 s", "Requests time out after 1 minute"),
        ("We use Redis for caching", "We do not use Redis for sessions"),
        ("The logo is green", "The API is written in Go"),
    ],
)
def test_what_may_both_be_is_not_plainly_a_contradiction(old, new):
    assert plainly(old, new) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Staging listens on port 8080", "Production listens on port 9090"),
        ("Atlas deploys stock-service by hand", "Atlas deploys cart-service once a week"),
        ("billing-api retries after 59000 ms", "search-api retries after 8000 ms"),
        ("In project Juniper jobs are kept in Redis", "In project Dune jobs are kept in Redis"),
        ("Step 3 needs a token", "Step 4 needs a token"),
        ("Module 3 talks to queue 9", "Module 4 talks to queue 2"),
        ("The GitHub token lives in the vault", "The GitLab token lives in the vault"),
        ("TypeScript files are formatted with Prettier", "JavaScript files are formatted with Prettier"),
    ],
)
def test_another_environment_component_project_or_entry_never_contradicts(old, new):
    assert apart(old, new) and apart(new, old)
    assert clash(old, new) is None
    assert related(EagerJudge({(old, new): 1.0}), old, new, 0.9).relation == "unrelated"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We use MongoDB for analytics in this project.", "We use DynamoDB for analytics in this project."),
        ("We host our code on GitHub for all repos.", "We host our code on GitLab for all repos."),
        ("The database is MySQL in every service.", "The database is PostgreSQL in every service."),
        ("We write TypeScript in the frontend.", "We write JavaScript in the frontend."),
    ],
)
def test_two_tools_of_which_one_takes_one_are_compared_though_written_like_names_in_code(old, new):
    for before, now in ((old, new), (new, old)):
        assert not apart(before, now)
        assert related(EagerJudge({(before, now): 0.1}), before, now, 0.9).relation == "contradiction"


def test_one_value_of_one_thing_is_not_kept_apart():
    assert not apart(*PORTS)
    assert not apart("Production listens on port 8080", "Production listens on port 9090")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("User: We deploy on Fridays. Can you help me with that?", "We deploy on Fridays."),
        ("Assistant: The port is 8080.", "The port is 8080."),
        ("Staging: the port is 8080.", "Staging: the port is 8080."),
        ("I'm looking for a new editor. We use tabs.", "We use tabs."),
        ("Should we use Kafka?", ""),
        ("Which port should staging use? – Port 8080.", "Which port should staging use? – Port 8080."),
        ("Kafka? Or can you live with NATS? – Sure. Thanks!", "Kafka? Or can you live with NATS? – Sure."),
    ],
)
def test_who_speaks_what_is_asked_and_what_is_wished_assert_nothing(text, told):
    assert asserted(text) == told


def test_answers_to_two_questions_are_no_contradiction():
    old = "Which port should the staging server use? – Port 8080."
    new = "Which port should the metrics server use? – Port 9090."
    assert related(EagerJudge(), old, new, 0.9).relation == "unrelated"
    other = old.replace("8080", "9090")
    assert related(EagerJudge(), old, other, 0.9).relation == "contradiction"


def test_the_judge_hears_an_answer_with_its_question():
    old, new = "Which database should the sessions go into? – The Postgres one.", "Sessions are stored in Redis."
    assert related(EagerJudge({(old, new): 0.9}), old, new, 0.9).relation == "contradiction"


def test_a_story_is_no_statement():
    assert asserted("x" * LONGEST) and asserted("x" * LONGEST + "y") is None


def test_the_judge_decides_where_it_is_sure():
    old, new = "The cache lives in Redis", "Memcached is what the cache lives in"
    for cosine in (None, 0.2, 0.5, 0.9, 1.0):
        sure = contradicts_from(cosine)
        for odds, relation in ((sure, "contradiction"), (sure - 0.01, "unrelated")):
            assert related(EagerJudge({(old, new): odds}), old, new, cosine).relation == relation


def test_the_nearer_two_statements_lie_the_less_sure_the_judge_must_be():
    needed = [contradicts_from(cosine / 20) for cosine in range(21)]
    assert needed == sorted(needed, reverse=True)
    assert (needed[0], needed[-1]) == (PLAINLY, 0.65)
    assert needed[0] > contradicts_from(None) > needed[-1]


def test_the_same_sentence_with_another_value_counts_whatever_the_judge_says():
    found = related(EagerJudge({PORTS: 0.1}), *PORTS, 0.9)
    assert (found.relation, found.contradiction) == ("contradiction", PLAINLY)


def test_the_judge_is_not_asked_about_what_has_no_subject_in_common():
    class Never(EagerJudge):
        def relation(self, old: str, new: str) -> Comparison:
            raise AssertionError("it was asked")

    assert related(Never(), *PORTS, CLOSE - 0.01).relation == "unrelated"
    assert related(Never(), "The logo is green", "We deploy on Fridays", None).relation == "unrelated"


@given(ANY_TEXT, ANY_TEXT)
def test_any_two_texts_can_be_compared(old, new):
    assert plainly(old, old) is None
    clash(old, new), apart(old, new), asserted(old)
