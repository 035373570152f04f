"""What a text is taken to name, what it is taken to say, and what it is not."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retain.engine.knowledge.link import Mention, Stated, fold, labelled, mentions, stated

KNOWN = {"billing code": "component", "支付服务": "service", "authservice": "component", "falcon": "service"}

NAMED = [
    ("AuthService checks it", {"AuthService": "component"}),
    ("an HTTPServer with getUserName", {"HTTPServer": "component", "getUserName": "component"}),
    ("set MAX_RETRIES in parse_token", {"MAX_RETRIES": "component", "parse_token": "component"}),
    (
        "call refresh() and jwt.encode() and os.path",
        {"refresh": "component", "jwt.encode": "component", "os.path": "component"},
    ),
    ("self.refresh_token() is slow", {"refresh_token": "component"}),
    ("Store::apply is atomic", {"Store::apply": "component"}),
    ("the `auth-gateway` restarts", {"auth-gateway": "component"}),
    ("see src/auth/token.py:42", {"src/auth/token.py": "file"}),
    ("run ./scripts/run.sh, then ~/bin/x", {"./scripts/run.sh": "file", "~/bin/x": "file"}),
    ("edit package.json and the Makefile.", {"package.json": "file", "Makefile": "file"}),
    ("it is in src/auth/ and .gitignore", {"src/auth": "file", ".gitignore": "file"}),
    ("pip install fancylib first", {"fancylib": "library"}),
    ("npm install --save-dev left-pad@1.3", {"left-pad": "library"}),
    ("brew install ripgrep", {"ripgrep": "tool"}),
    ("import fancylib as f", {"fancylib": "library"}),
    ("from fancylib import thing", {"fancylib": "library"}),
    ("we chose the pendulum library", {"pendulum": "library"}),
    ("needs @types/node", {"@types/node": "library"}),
    ("We use postgres and redis", {"PostgreSQL": "service", "Redis": "service"}),
    ("Node.js and Next.js on k8s", {"Node.js": "tool", "Next.js": "library", "Kubernetes": "tool"}),
    ("a Redis-backed cache with GitHub Actions", {"Redis": "service", "GitHub Actions": "tool"}),
    ("We render with React, and wrote it in Go", {"React": "library", "Go": "language"}),
    ("signed with JWT over OAuth2", {"JWT": "concept", "OAuth": "concept"}),
    ("Ada Lovelace prefers tabs", {"Ada Lovelace": "person"}),
    ("Yesterday Alice said it works", {"Alice": "person"}),
    ("it was reviewed by Grace", {"Grace": "person"}),
    ("please ask @ada-l about it", {"ada-l": "person"}),
    ("Caroline: I went to Paris with Mel", {"Caroline": "person", "Paris": "concept", "Mel": "concept"}),
    ("the docs at https://docs.acme.io/x?y=1", {"docs.acme.io": "service"}),
    ("he moved the Billing Code to Falcon", {"Billing Code": "component", "Falcon": "service"}),
    ("AuthService.refresh fails", {"AuthService": "component"}),
    ("我们使用AuthService来调用支付服务", {"AuthService": "component", "支付服务": "service"}),
]

NAMELESS = [
    "",
    "React quickly. Go ahead. Make sure it works. Express yourself.",
    "The parser is slow on Monday and in March",
    "User prefers tabs",
    "Decision: keep it simple",
    "Deployment: nothing changed",
    "I think THIS IS IMPORTANT and OK",
    "## A Heading About Something Great",
    'she wrote "The Quick Brown Fox jumps" on it',
    "and/or, read/write, 24/7, CI/CD, e.g. this, i.e. that, at 5 p.m. today",
    "APIs and URLs and IDs of PhDs",
    "Die Datenbank liegt auf dem Server und ist langsam",
    "a key [redacted:aws_access_key] was in memory:01jf3k9x2m4n5p6q7r8s and mem_01jf3k9x2m4n5p6q7r8s",
    "the new library and the standard library and the existing package",
    "write to ada@acme.io or see http://localhost:3000/x",
    "use @property and @dataclass(frozen=True)",
    "import data from the file",
    "version 1.2.3 of v2.0 costs 3.50",
]

SAID = [
    ("AuthService depends on TokenValidator.", [("AuthService", "depends_on", "TokenValidator")]),
    ("The AuthService module also uses the new TokenStore", [("AuthService", "uses", "TokenStore")]),
    ("`src/a.py` imports `src/b.py`", [("src/a.py", "imports", "src/b.py")]),
    ("load_user() calls parse_token()", [("load_user", "calls", "parse_token")]),
    ("AdminUser extends BaseUser", [("AdminUser", "extends", "BaseUser")]),
    ("DiskStore implements StorePort", [("DiskStore", "implements", "StorePort")]),
    ("NewAuth replaces OldAuth", [("NewAuth", "replaces", "OldAuth")]),
    ("OldAuth was replaced by NewAuth", [("NewAuth", "replaces", "OldAuth")]),
    ("AuthService requires Redis", [("AuthService", "requires", "Redis")]),
    ("TokenStore is part of AuthService", [("TokenStore", "part_of", "AuthService")]),
    ("TokenStore belongs to AuthService", [("TokenStore", "belongs_to", "AuthService")]),
    ("the ApiGateway talks to AuthService", [("ApiGateway", "talks_to", "AuthService")]),
    ("OrderService stores its sessions in Redis", [("OrderService", "stores_in", "Redis")]),
    ("OrderService runs on Kubernetes", [("OrderService", "runs_on", "Kubernetes")]),
    ("AuthService is written in TypeScript", [("AuthService", "written_in", "TypeScript")]),
    ("AuthService was written by Ada Lovelace", [("AuthService", "authored_by", "Ada Lovelace")]),
    ("Ada Lovelace wrote AuthService", [("AuthService", "authored_by", "Ada Lovelace")]),
    ("TokenStore is used by AuthService and ApiGateway",
     [("AuthService", "uses", "TokenStore"), ("ApiGateway", "uses", "TokenStore")]),
    ("AuthService uses Redis and PostgreSQL, and calls TokenStore",
     [("AuthService", "uses", "Redis"), ("AuthService", "uses", "PostgreSQL"), ("AuthService", "calls", "TokenStore")]),
    ("We use postgres. AuthService uses postgres.", [("AuthService", "uses", "PostgreSQL")]),
]  # fmt: skip

UNSAID = [
    "AuthService does not use Redis",
    "AuthService doesn't depend on TokenStore",
    "AuthService no longer uses Redis",
    "Does AuthService use Redis?",
    "If AuthService uses Redis, it is fast",
    "AuthService should use Redis",
    "AuthService is fast. Redis is slow",
    "AuthService broke because nobody uses Redis",
    "AuthService and Redis",
]


@pytest.mark.parametrize(("text", "expected"), NAMED)
def test_what_a_text_names(text, expected):
    assert {m.name: m.kind for m in mentions(text, KNOWN.get)} == expected


@pytest.mark.parametrize("text", NAMELESS)
def test_ordinary_words_name_nothing(text):
    assert mentions(text) == []


@pytest.mark.parametrize(("text", "expected"), SAID)
def test_what_a_text_says(text, expected):
    assert [(s.source, s.relation, s.target) for s in stated(text, mentions(text))] == expected


@pytest.mark.parametrize("text", UNSAID)
def test_what_is_denied_asked_or_only_near_is_not_said(text):
    assert stated(text, mentions(text)) == []


def test_a_technology_has_its_usual_name_and_keeps_the_spelling_of_the_text():
    assert mentions("on postgres") == [Mention("PostgreSQL", "service", 3, "postgres")]


def test_a_known_type_wins_over_the_guessed_one():
    assert mentions("PostgreSQL is up", {"postgresql": "component"}.get)[0].kind == "component"


def test_of_many_mentions_the_known_and_the_first_are_kept_in_order():
    text = " and ".join(f"some_name_{n}" for n in range(20)) + " and AuthService"
    names = [m.name for m in mentions(text, KNOWN.get)]
    assert names == [f"some_name_{n}" for n in range(11)] + ["AuthService"]


def test_names_fold_by_case_width_and_space():
    assert fold("  Ａuth\n Service ") == fold("auth service")


@pytest.mark.parametrize("label", ["depends_on", "depends on", "Depends-On"])
def test_a_label_joins_the_given_entity_to_the_subject_of_its_sentence(label):
    text = "It is late. AuthService needs the validator TokenValidator for JWT."
    found = labelled(text, [("TokenValidator", label)], mentions(text))
    assert found == [Stated("AuthService", "depends_on", "TokenValidator")]


def test_of_several_earlier_entities_the_first_word_of_the_sentence_is_the_subject():
    text = "The AuthService with Redis needs TokenValidator"
    assert labelled(text, [("TokenValidator", "uses")], mentions(text)) == [
        Stated("AuthService", "uses", "TokenValidator")
    ]
    text = "Today AuthService with Redis needs TokenValidator"
    assert labelled(text, [("TokenValidator", "uses")], mentions(text)) == []


@pytest.mark.parametrize("label", ["mentions", "about", "related_to", "describes", "", "component"])
def test_a_label_that_is_no_verb_joins_nothing(label):
    text = "AuthService needs TokenValidator"
    assert labelled(text, [("TokenValidator", label)], mentions(text)) == []


def test_a_given_entity_that_is_absent_or_denied_joins_nothing():
    text = "AuthService never needs TokenValidator"
    assert labelled(text, [("TokenValidator", "uses"), ("Other", "uses")], mentions(text)) == []


PIECES = (
    [text for text, _ in NAMED] + NAMELESS + [text for text, _ in SAID] + ["@", "`", ".", "/", "İ", "\n", '"', " uses "]
)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=6).map("".join))
@example("it was reviewed by Grace\nCaroline: I went to Paris with Mel")
def test_any_text_is_read_and_every_start_is_right(text):
    found = mentions(text, KNOWN.get)
    assert len(found) <= 12
    assert [m.start for m in found] == sorted(m.start for m in found)
    for mention in found:
        assert text.startswith(mention.written or mention.name, mention.start)
    names = {m.name for m in found}
    assert {name for s in stated(text, found) for name in (s.source, s.target)} <= names
    labelled(text, [(m.name, "uses") for m in found], found)
