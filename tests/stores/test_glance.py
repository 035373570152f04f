"""A glance at the store: it reads in a hurry, changes nothing, and shows nothing that the engine would hide."""

import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes import FixedClock
from making import EVERYWHERE, a_contradiction, a_memory, a_place, a_project, a_session_place, in_state, save
from retain.domain.changes import ContradictionState
from retain.domain.memory import Source, State
from retain.domain.places import project_key, seen_from, session_key, user_key
from retain.domain.recall import Filter
from retain.domain.session import Caller
from retain.embedding.off import NoEmbedder
from retain.engine.offer import Prompted, offer
from retain.engine.parts import Parts, places
from retain.stores.sqlite import glance, migrations
from retain.stores.sqlite.store import SqliteStore

SOURCES = Path(__file__).parents[2] / "src"
NOW = datetime.now(UTC).replace(microsecond=0)
HERE = Caller(project=a_project("shop"), session="now")
SIGHT = glance.Sight(seen_from("", "shop", "now"), "now")
WEBHOOK = "The Stripe webhook route needs the raw body"
PROMPT = "the stripe webhook gets the wrong body"
DAYS = timedelta(days=1)


def a_note(id="m1", text=WEBHOOK, **fields):
    return a_memory(id, text, when=fields.pop("when", NOW - timedelta(hours=1)), **fields)


@pytest.fixture
def db(sqlite_file):
    opened = glance.opened(str(sqlite_file.path), 5.0)
    yield opened
    opened.close()


def shown(db, prompt=PROMPT, sight=SIGHT):
    return [row["id"] for row, _ in glance.relevant(db, prompt, sight, NOW.timestamp())]


def summed_up(db, sight=SIGHT):
    return {row["id"] for row in glance.for_summary(db, sight, NOW.timestamp())}


def test_it_knows_the_schema_that_this_version_makes():
    assert glance.SCHEMA == migrations.CURRENT
    assert glance.APPLICATION == migrations.APPLICATION


def test_places_are_spelt_as_the_engine_spells_them():
    assert [place.key for place in places(HERE)] == SIGHT.places
    assert a_place("shop", "ada").key == project_key("ada", "shop")
    assert (EVERYWHERE.key, a_session_place("s").key) == (user_key(""), session_key("", "s"))


def test_it_finds_what_a_prompt_is_about(sqlite_file, db):
    save(sqlite_file, a_note(), a_note("m2", "Deploys go to Fly.io"))
    ((row, score),) = glance.relevant(db, PROMPT, SIGHT, NOW.timestamp())
    assert (row["id"], row["text"], row["scope"]) == ("m1", WEBHOOK, "project")
    assert 0.3 <= score <= 1


def test_one_common_word_is_no_hit(sqlite_file, db):
    save(sqlite_file, *(a_note(f"m{n}", f"The server number {n} is called planet-{n}") for n in range(20)))
    assert shown(db, "does the server in Berlin have a printer and a scanner") == []


def test_a_store_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(glance.CannotRead):
        glance.opened(str(tmp_path / "retain.db"), 1.0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("version", [migrations.CURRENT - 1, migrations.CURRENT + 1])
def test_another_schema_is_not_read_and_not_migrated(sqlite_file, version):
    with sqlite_file.pool.writing() as db:
        db.execute(f"pragma user_version = {version}")
    with pytest.raises(glance.CannotRead, match=f"schema {version}"):
        glance.opened(str(sqlite_file.path), 1.0)
    with sqlite_file.pool.plain() as db:
        assert migrations.version_of(db) == version


def test_a_file_that_is_no_database_is_told_and_left_alone(tmp_path):
    file = tmp_path / "retain.db"
    file.write_bytes(b"not a database at all, and longer than a header would have to be" * 20)
    with pytest.raises(glance.CannotRead, match="cannot be read"):
        glance.opened(str(file), 1.0)
    assert file.read_bytes().startswith(b"not a database")


def test_nothing_can_be_written_through_it(db):
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.execute("delete from memory")


def test_a_path_with_signs_that_mean_something_in_an_address_is_opened(tmp_path):
    folder = tmp_path / "100% sure? #1"
    folder.mkdir()
    SqliteStore(folder / "retain.db").close()
    glance.opened(str(folder / "retain.db"), 1.0).close()


def test_it_gives_up_when_its_time_is_over(sqlite_file):
    db = glance.opened(str(sqlite_file.path), 0.0)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        db.execute("with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n").fetchone()
    db.close()


def test_a_writer_does_not_keep_it_waiting(sqlite_file, db):
    save(sqlite_file, a_note())
    with sqlite_file.pool.writing() as writing:
        writing.execute("update memory set importance = 0.9")
        assert shown(db) == ["m1"]


def test_what_was_said_in_this_conversation_comes_back_only_once_it_was_cut(sqlite_file, db):
    said = NOW - timedelta(minutes=1)
    save(sqlite_file, a_note(session="now", when=said))
    cut_before, cut_after = said.timestamp() - 60, said.timestamp() + 30
    assert shown(db) == []
    assert shown(db, sight=glance.Sight(SIGHT.places, "now", cut_before)) == []
    assert shown(db, sight=glance.Sight(SIGHT.places, "now", cut_after)) == ["m1"]


def test_of_near_duplicates_one_is_shown_and_facts_with_other_numbers_both(sqlite_file, db):
    save(sqlite_file, a_note(), a_note("m2", f"{WEBHOOK}!", place=EVERYWHERE))
    assert len(shown(db)) == 1
    save(sqlite_file, a_note("m3", "Redis listens on port 6379"), a_note("m4", "Redis listens on port 6380"))
    assert sorted(shown(db, "on which port does redis listen")) == ["m3", "m4"]


def test_of_two_that_contradict_each_other_only_the_newer_is_shown(sqlite_file, db):
    newer = a_note("m2", "The Stripe webhook route takes a parsed body since v2")
    save(sqlite_file, a_note(), newer, contradictions=(a_contradiction("c", "m1", "m2"),))
    assert (shown(db), summed_up(db)) == (["m2"], {"m2"})


def test_the_newer_tells_what_was_said_before_and_when(sqlite_file, db):
    older = a_note(metadata={"said_by": "user"}, when=NOW - 3 * DAYS)
    newer = a_note("m2", "The Stripe webhook route takes a parsed body since v2")
    save(sqlite_file, older, newer, contradictions=(a_contradiction("c", "m1", "m2"),))
    ((row, _),) = glance.relevant(db, PROMPT, SIGHT, NOW.timestamp())
    told = (row["earlier"]["text"], row["earlier"]["said_by"], row["earlier"]["said"])
    assert told == (WEBHOOK, "user", older.event_time.timestamp())


def test_where_only_the_older_fits_the_newer_comes_with_it(sqlite_file, db):
    older, newer = a_note(), a_note("m2", "Parsed JSON is fine since v2 of their API")
    latest = a_note("m3", "Only form data since v3")
    both = (a_contradiction("c", "m1", "m2"), a_contradiction("d", "m2", "m3"))
    save(sqlite_file, older, newer, contradictions=both[:1])
    ((row, score),) = glance.relevant(db, PROMPT, SIGHT, NOW.timestamp())
    assert (row["id"], row["earlier"]["id"]) == ("m2", "m1") and score > 0.3
    save(sqlite_file, latest, contradictions=both[1:])
    assert shown(db) == ["m3"]


@pytest.mark.parametrize(
    "fields",
    [
        {"status": in_state(State.SUPERSEDED)},
        {"place": a_session_place("then")},
        {"place": a_place("blog")},
        {"valid_until": NOW - DAYS},
        {"category": "progress", "when": NOW - 6 * DAYS},
    ],
)
def test_an_earlier_one_that_may_not_be_shown_is_not_told(sqlite_file, db, fields):
    newer = a_note("m2", "The Stripe webhook route takes a parsed body since v2")
    save(sqlite_file, a_note(**fields), newer, contradictions=(a_contradiction("c", "m1", "m2"),))
    ((row, _),) = glance.relevant(db, PROMPT, SIGHT, NOW.timestamp())
    assert (row["id"], row.get("earlier")) == ("m2", None)
    assert summed_up(db) == {"m2"}


def test_what_names_a_file_gives_way_to_what_contradicts_it(sqlite_file, db):
    older, newer = a_note(text="src/login.py has the form"), a_note("m2", "The form moved to the other module")
    save(sqlite_file, older, newer, contradictions=(a_contradiction("c", "m1", "m2"),))
    (row,) = glance.naming(db, "/home/ada/shop/src/login.py", "/home/ada/shop", SIGHT, NOW.timestamp())
    assert (row["id"], row["earlier"]["id"]) == ("m2", "m1")


def test_what_a_forgotten_memory_contradicted_is_shown(sqlite_file, db):
    newer = a_note("m2", f"{WEBHOOK} no more", status=in_state(State.FORGOTTEN))
    save(sqlite_file, a_note(), newer, contradictions=(a_contradiction("c", "m1", "m2"),))
    assert (shown(db), summed_up(db)) == (["m1"], {"m1"})


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("src/web/login.py has the form", True),
        ("login.py has the form", True),
        ("web/login.py: keep it small", True),
        ("see /home/ada/shop/src/web/login.py", True),
        ("admin/login.py has another form", False),
        ("the login form in python", False),
        ("login.pyc is built from it", False),
        ("mylogin.py is older", False),
    ],
)
def test_memories_that_name_a_file_are_found_by_it(sqlite_file, db, text, is_named):
    save(sqlite_file, a_note(text=text))
    found = glance.naming(db, "/home/ada/shop/src/web/login.py", "/home/ada/shop", SIGHT, NOW.timestamp())
    assert [row["id"] for row in found] == (["m1"] if is_named else [])


def test_a_memory_is_found_by_the_file_that_it_came_from(sqlite_file, db):
    save(sqlite_file, a_note(text="Keep the form small", source=Source(file="src/web/login.py")))
    assert glance.naming(db, "/home/ada/shop/src/web/login.py", "/home/ada/shop", SIGHT, NOW.timestamp())


def test_known_fixes_are_found_by_the_error_and_other_memories_are_not(sqlite_file, db):
    fix = "ModuleNotFoundError: No module named 'sharp': reinstall with pnpm rebuild sharp"
    save(sqlite_file, a_note("fix", fix, category="error_solution"), a_note("other", f"{fix} 2", category="decision"))
    error = "Traceback:\nModuleNotFoundError: No module named 'sharp'"
    assert [row["id"] for row, _ in glance.fixes(db, error, SIGHT, NOW.timestamp())] == ["fix"]


def test_of_a_large_store_the_newest_and_the_important_are_summed_up(sqlite_file, db):
    notes = [a_note(f"m{n}", f"fact {n}", when=NOW - n * DAYS) for n in range(6)]
    save(sqlite_file, *notes, a_note("vital", "never forget", when=NOW - 90 * DAYS, importance=0.9))
    found = glance.for_summary(db, SIGHT, NOW.timestamp(), newest=3)
    assert {row["id"] for row in found} == {"m0", "m1", "m2", "vital"}


def test_texts_of_another_person_are_not_told(sqlite_file, db):
    save(sqlite_file, a_note("mine"), a_note("hers", place=a_place("shop", user="ada")))
    assert glance.texts(db, ["mine", "hers", "none"], "") == {"mine": (WEBHOOK, "active")}


PLACES = st.sampled_from(
    [EVERYWHERE, a_place(), a_place("blog"), a_place("shop", "ada"), a_session_place("now"), a_session_place("then")]
)
NOTES = st.tuples(
    PLACES,
    st.sampled_from(list(State)),
    st.sampled_from([None, "progress", "context", "decision"]),
    st.integers(-40, 40),  # days until it begins to hold
    st.one_of(st.none(), st.integers(-40, 40)),  # and until it ends
    st.sampled_from([None, "now", "then"]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    notes=st.lists(NOTES, min_size=2, max_size=8), disputes=st.lists(st.tuples(*[st.integers(0, 7)] * 2), max_size=3)
)
def test_it_never_shows_what_the_engine_hides(tmp_path_factory, notes, disputes):
    store = SqliteStore(tmp_path_factory.mktemp("glance") / "retain.db")
    known = [_one_of(number, *each) for number, each in enumerate(notes)]
    pairs = {(f"m{a}", f"m{b}") for a, b in disputes if a < b < len(known)}
    open_ones = tuple(a_contradiction(f"{a}-{b}", a, b, state=ContradictionState.OPEN) for a, b in pairs)
    save(store, *known, contradictions=open_ones)
    clock = FixedClock(NOW)
    parts = Parts(store, NoEmbedder("off"), clock)
    allowed = set(store_ids(store))
    engine = {note.memory.id for note in offer(parts, Prompted(PROMPT), HERE).notes}
    db = glance.opened(str(store.path), 5.0)
    seen, summary = set(shown(db)), summed_up(db)
    db.close()
    store.close()
    assert seen <= allowed
    assert summary <= allowed
    assert not {older for older, newer in pairs if newer in summary} & (seen | summary)
    assert bool(seen) <= bool(engine)


def _one_of(number, place, state, category, begins, ends, session):
    text = f"{WEBHOOK} of {'abcdefgh'[number] * 5}"
    return a_note(
        f"m{number}",
        text,
        place=place,
        status=in_state(state),
        category=category,
        valid_from=NOW + begins * DAYS,
        valid_until=None if ends is None else NOW + ends * DAYS,
        session=place.session or session,
        when=NOW - 20 * DAYS,
    )


def store_ids(store):
    """What the engine's own filter lets through."""
    wanted = Filter(places(HERE), valid_at=NOW)
    return [stored.memory.id for stored in store.listed(wanted, 100)]


def test_it_needs_nothing_that_is_slow_to_import():
    heavy = "dataclasses numpy pydantic json socket datetime urllib.parse retain.domain.memory"
    program = f"import retain.stores.sqlite.glance, sys; print(*[m for m in '{heavy}'.split() if m in sys.modules])"
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(SOURCES)!r}); {program}"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert loaded in ([], ["datetime"])  # which `sqlite3` itself needs
