"""Random plans over few ids, so that they meet one another often, with values that stores may trip over."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from fakes import START
from making import a_vector
from retain.domain.changes import (
    ActiveWork,
    AtVersion,
    Changes,
    Contradiction,
    ContradictionState,
    NameFree,
    NoTwin,
    ProfileStill,
    Run,
    RunFree,
    StillSo,
    TitleFree,
    WorkActive,
)
from retain.domain.claims import fingerprint
from retain.domain.conversation import Cursor
from retain.domain.graph import MENTIONS, SAID_BY, Entity, Link, Relation, Tie
from retain.domain.ids import id_of
from retain.domain.memory import (
    Embedding,
    Event,
    HistoryEntry,
    Kind,
    Memory,
    Place,
    Provenance,
    Rest,
    Scope,
    Source,
    State,
    Status,
)
from retain.domain.session import Profile, Project, Session
from retain.domain.work import Work, WorkState

USERS = ("", "ada", "ad", "ada'); DELETE memory; --")
PROJECTS = ("shop", "sho", "shop:⟨2⟩", "läden\\`x`")
SESSIONS = ("s1", "s1:2", "s'1\"⟩", "会話 🙂", "")
AGENTS = (None, "reviewer", "s1\x1fagent\x1freviewer")
MODELS = {"tiny": 64, "other/model:2": 64, "long": 128}
TEXTS = (
    "We deploy on Mondays.",
    "we deploy on mondays",
    "The PaymentGateway calls Vault v2.3 on w1/w2 at 10.0.0.1:8080",
    "Café, cafe\u0301 and na\u00efve ﬁle: é",
    "\u0301\u0302 marks alone \u093f",
    "مرحبا بالعالم, שלום \u202eRTL\u202c",
    "🙂🇩🇪👩\u200d👩\u200d👧 deploys on Mondays",
    "'; DROP TABLE memory; -- \" \\ $input {} ⟨x⟩ type::record('memory', 'm1')",
    "日本語のテキスト 한국어 ไทย",
    "Line one\nline two\r\n\ttab \x1f \x7f \ufeff",
    "!!! ???",
    "NULL NONE true 9007199254740993 1e999 -0.0",
    "Vault " * 300 + "Vault",
    "x" * 3000,
    "ada owns the Vault; Straße and STRASSE",
)
TITLES = (None, "Deploys", "deploys", "  Deploys ", "STRASSE", "straße", "🙂", "")
TAGS = ("Ops", "ops", "a,b", "PaymentGateway", "straße", "🙂", "日本語", "w1/v2.3", "\u0301")
FILES = (None, "src/pay/gateway.py", "C:\\x\\y.py", "🙂.md")
NAMES = ("Vault", "vault", "PaymentGateway", "ada", "Straße", "日本語", "'; --", "🙂")
TYPES = ("service", "Service", "person")
RELATIONSHIPS = (MENTIONS, SAID_BY, "uses'⟩")
LINES = (None, "line-1", "line⟨2⟩", "🙂")
FAR = (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC))
NEAR = tuple(
    START + timedelta(microseconds=n) for n in (0, 1, 500_000, 999_999, 1_000_000, 10_000_000, 86_400_000_000, -1)
)
ZONED = (START.astimezone(timezone(timedelta(hours=5, minutes=45))), datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC))
MOMENTS = (*NEAR, *ZONED, *FAR)
# Each belongs to one user: no memory goes from one to another.
OWNERS = {f"m{n}": USERS[n % len(USERS)] for n in range(6)} | {"m⟨7⟩:'x\"": "", "🙂 id": "ada"}
MEMORIES = tuple(OWNERS)
PLACES = (
    *(Place(Scope.USER, user) for user in USERS),
    *(Place(Scope.PROJECT, user, project) for user in USERS[:2] for project in PROJECTS[:2]),
    *(Place(Scope.SESSION, user, "shop", session) for user in USERS[:2] for session in SESSIONS[:2]),
    Place(Scope.PROJECT, "ad", PROJECTS[2]),
    Place(Scope.PROJECT, "ada", "shop", agent=AGENTS[1]),
    Place(Scope.SESSION, "", PROJECTS[3], SESSIONS[2], AGENTS[2]),
)
# And where it was said stays so, however far it reaches.
SAID_IN = {id: (*SESSIONS[:3], None)[n % 4] for n, id in enumerate(reversed(MEMORIES))}
ENTITY_OWNERS = tuple(dict.fromkeys(place.owner for place in PLACES))
JSON = st.recursive(
    st.sampled_from(
        [None, True, 0, -0.0, 1.5, 2**53 + 1, -(2**63), 2**63, 2**70, 1e308, 5e-324, "", "'⟩\\\"", "🙂\u0301"]
    ),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["", "a", "id", "⟨b⟩", "🙂"]), inner, max_size=2)
    ),
    max_leaves=6,
)


def _deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"in": [value]}
    return value


METADATA = (
    st.just({}) | st.dictionaries(st.sampled_from(["", "a", "id", "said_by"]), JSON, max_size=2) | st.just(_deep(20))
)
moments = st.sampled_from(MOMENTS)
maybe_moments = st.none() | moments
shares = st.sampled_from([0.0, 1.0, 0.5, 0.1, 1 / 3, 5e-324, 0.9999999999999999, 1])
texts = st.sampled_from(TEXTS)
memory_ids = st.sampled_from(MEMORIES)


def some(values: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, max_size=most).map(tuple)


def either(values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(tuple(values))


def places(user: str | None = None) -> st.SearchStrategy[Place]:
    return either(place for place in PLACES if user in (None, place.user))


STATUSES = st.just(Status()) | st.builds(
    Status, either(State), st.none() | texts, maybe_moments, st.none() | memory_ids
)


@st.composite
def memories(draw) -> Memory:
    id = draw(memory_ids)
    place = draw(places(OWNERS[id]).filter(lambda place: place.session in (None, SAID_IN[id])))
    turn = draw(st.none() | st.integers(0, 4))
    provenance = draw(st.none() | either(Provenance))
    return Memory(
        id=id,
        text=draw(texts),
        kind=draw(either(Kind)),
        place=place,
        created=draw(moments),
        updated=draw(moments),
        event_time=draw(moments),
        valid_from=draw(moments),
        session=SAID_IN[id],
        title=draw(either(TITLES)),
        category=draw(either((None, "decision", "context", "gotcha", "🙂"))),
        agent=draw(either(AGENTS)),
        tags=draw(some(either(TAGS), 3)),
        importance=draw(shares),
        source=Source(draw(either((None, "", "capture"))), draw(either(FILES)), turn, provenance),
        metadata=draw(METADATA),
        valid_until=draw(maybe_moments),
        status=draw(STATUSES),
        consolidated=draw(st.booleans()),
        derived_from=draw(some(either(other for other, user in OWNERS.items() if user == OWNERS[id]))),
        reinforced=draw(st.integers(0, 3)),
        reinforced_at=draw(maybe_moments),
        version=draw(st.integers(1, 3)),
    )


@st.composite
def vectors(draw, length: int):
    numbers = draw(st.lists(either((-1.0, 0.0, 0.5, 1.0, 1e-8)), min_size=4, max_size=4))
    short = a_vector(*numbers)
    return short if length == 64 else type(short)(short + bytes(4 * (length - 64)))


@st.composite
def embeddings(draw) -> Embedding:
    model = draw(either(MODELS))
    made = draw(st.lists(vectors(MODELS[model]), max_size=3))
    return Embedding(draw(memory_ids), model, tuple(made), 0, draw(st.integers(0, 2)))


@st.composite
def rests(draw) -> Rest:
    called = draw(st.none() | st.tuples(either(TITLES), st.none() | st.just("fact")))
    place = draw(either(PROJECTS)), draw(either(SESSIONS))
    return Rest(draw(either(Kind)), draw(STATUSES), draw(METADATA), draw(maybe_moments), *place, called)


entries = st.builds(
    HistoryEntry,
    memory=memory_ids,
    version=st.integers(1, 3),
    event=either(Event),
    text=texts,
    importance=shares,
    tags=some(either(TAGS)),
    scope=either(Scope),
    at=moments,
    reason=st.none() | texts,
    rest=st.none() | rests(),
)


@st.composite
def entities(draw, owner: str) -> Entity:
    """With one of two ids for each key: two processes may name the same thing at once."""
    name, type = draw(either(NAMES)), draw(either(TYPES))
    bare = Entity("", name, type, owner, draw(moments), draw(st.none() | texts))
    return replace(bare, id=f"e⟨{id_of(repr(bare.key))[:4]}⟩{draw(either('12'))}")


def links(known: st.SearchStrategy[str]) -> st.SearchStrategy[Link]:
    return st.builds(Link, memory_ids, known, either(RELATIONSHIPS), moments, st.booleans(), st.booleans())


def relations(known: st.SearchStrategy[str]) -> st.SearchStrategy[Relation]:
    times = {"valid_from": maybe_moments, "valid_until": maybe_moments}
    ends, types = (known, known), either(("uses", "related_to", "'⟩"))
    made = st.builds(Relation, *ends, types, moments, shares, st.booleans(), **times)
    return made.filter(lambda one: one.source[:-1] != one.target[:-1])  # no entity relates to itself


@st.composite
def contradictions(draw) -> Contradiction:
    older, newer = draw(memory_ids), draw(memory_ids)
    return Contradiction(
        id=f"c-{older}-{newer}-{draw(either('12'))}",
        older=older,
        newer=newer,
        kind=draw(either(("value", "🙂"))),
        detail=draw(texts),
        found=draw(moments),
        by_rule=draw(st.booleans()),
        state=draw(either(ContradictionState)),
        winner=draw(either((None, older, newer))),
        conditions=draw(st.none() | texts),
        explanation=draw(st.none() | texts),
        resolved=draw(maybe_moments),
        resolved_by=draw(either((None, "", "ada"))),
    )


@st.composite
def projects(draw) -> Project:
    id = draw(either(PROJECTS))
    return Project(id, draw(either(("shop", "Shop", "sho", "straße"))), f"/home/{id}", draw(moments))


@st.composite
def profiles(draw) -> Profile:
    name = draw(either(("shop", "SHOP", "The Shop", "Straße", "shop-2", "🙂")))
    return Profile(draw(projects()), name, draw(moments), draw(moments), draw(either(USERS)), draw(st.none() | texts))


works = st.builds(
    Work,
    id=either(("w1", "w⟨2⟩", "w'3")),
    title=texts,
    project=either(PROJECTS),
    started=moments,
    user=either(USERS),
    description=st.none() | texts,
    tags=some(either(TAGS)),
    state=either(WorkState),
    ended=maybe_moments,
)
sessions = st.builds(
    Session,
    id=either(SESSIONS),
    started=moments,
    project=st.none() | either(PROJECTS),
    user=either(USERS),
    ended=maybe_moments,
    summary=st.none() | texts,
)
SCOPES = tuple(Place(Scope.PROJECT, user, project).key for user in USERS for project in PROJECTS[:2])
runs = st.builds(
    Run,
    id=either(("r1", "r2", "r⟨3⟩")),
    scope=either(SCOPES),
    strategy=either(("extractive", "🙂")),
    at=moments,
    made=some(memory_ids),
    sources=some(memory_ids),
    analysed=st.integers(0, 9),
    undone=maybe_moments,
    metrics=METADATA,
)
cursors = st.builds(
    Cursor,
    transcript=either(("/t/1.jsonl", "/t/⟨2⟩ 🙂.jsonl", "C:\\t'3")),
    session=either(SESSIONS),
    offset=st.integers(0, 3) | st.just(2**53 + 1),
    at=moments,
    last=either(LINES),
    project=st.none() | either(PROJECTS),
    user=either(USERS),
    extractions=st.integers(0, 3),
)
expectations = st.one_of(
    st.builds(NoTwin, places(), texts.map(fingerprint), st.none() | memory_ids),
    st.builds(AtVersion, memory_ids, st.integers(1, 3)),
    st.builds(RunFree, either(SCOPES), either((None, "r1", "r⟨3⟩"))),
    st.builds(TitleFree, places(), either(TITLES[1:-1]), st.none() | memory_ids),
    st.builds(NameFree, either(("shop", "SHOP", "the  shop", "strasse", "🙂")), either(USERS), either(PROJECTS)),
    st.builds(ProfileStill, either(PROJECTS), either(USERS), st.none()),
    st.builds(ActiveWork, either(PROJECTS), either(USERS), st.frozensets(either(("w1", "w⟨2⟩")), max_size=2)),
    st.builds(WorkActive, either(("w1", "w⟨2⟩")), either(USERS)),
    st.builds(StillSo, contradictions().map(lambda one: one.id), either(ContradictionState), maybe_moments),
)


@st.composite
def graphs(draw) -> dict[str, Any]:
    """The part of a plan that is about entities: all that it links and relates is in it."""
    one = entities(draw(either(ENTITY_OWNERS[:5])))
    new = draw(st.lists(one, min_size=2, max_size=3, unique_by=lambda entity: entity.id[:-1]))
    stated = draw(some(one, 1))
    known = either(entity.id for entity in (*new, *stated))
    there = either(entity.id for entity in new) | one.map(lambda entity: entity.id)
    said = tuple(replace(one, stated=True) for one in stated)
    return {
        "entities": tuple(new),
        "links": draw(some(links(known), 3)),
        "unlinked": draw(some(st.tuples(memory_ids, there), 1)),
        "stale": draw(some(st.tuples(memory_ids, st.booleans()), 1)),
        "relations": draw(some(relations(known), 2)),
        "ended": draw(some(relations(known), 1)),
        "stated": (*said, *draw(some(relations(there), 1))),
    }


BESIDE = {
    "history": some(entries, 3),
    "contradictions": some(contradictions()),
    "ties": some(st.builds(Tie, memory_ids, memory_ids, either(("supports", "caused'⟩")), moments, shares)),
    "projects": some(projects()),
    "works": some(works),
    "sessions": some(sessions),
    "runs": some(runs),
    "cursors": some(cursors),
}


@st.composite
def plans(draw) -> Changes:
    beside = draw(st.lists(either(BESIDE), max_size=3, unique=True))
    written: dict[str, Any] = {name: draw(BESIDE[name]) for name in beside}
    expects = draw(some(expectations, 1)) if draw(either(range(4))) == 0 else ()
    if draw(either(range(4))) == 0:
        profile = draw(profiles())
        written |= {"profiles": (profile,), "projects": (*written.get("projects", ()), profile.project)}
        expects += (NameFree(profile.name, profile.user, profile.project.id),)
    if draw(st.booleans()):
        written |= draw(graphs())
    there = draw(some(memories(), 3))
    return Changes(
        at=draw(moments),
        expects=expects,
        memories=tuple({memory.id: memory for memory in there}.values()),
        embeddings=draw(some(embeddings())),
        **written,
    )
