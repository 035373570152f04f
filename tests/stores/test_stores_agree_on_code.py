"""Both stores index the same code, whatever it is, and find the same in it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from making import a_code_index, a_vector, at
from processes import LONG
from retain.domain.code import Chunk, ChunkKind, CodeFile, CodeFilter, IndexStatus, Mark, Parsed, Reference, StoredChunk
from retain.domain.code_words import code_terms
from retain.ports import Store
from retain.stores.sqlite.store import MEMORY, SqliteStore
from retain.stores.surreal.link.connection import in_memory
from retain.stores.surreal.store import SurrealStore

INDEXES = {
    index.key: index
    for index in (a_code_index("shop"), a_code_index("sho"), a_code_index("shop", "ada"), a_code_index("x⟨y⟩'z"))
}
KEYS = tuple(INDEXES)
PATHS = ("a.py", "a.py/b.py", "src/🙂.py", 'src/it\'s "q".md', "SRC/A.py", "ünï\\x.rs")
NAMES = (
    "",
    "connect",
    "Connect",
    "PaymentGateway",
    "straße",
    "STRASSE",
    "Äpfel",
    "äpfel",
    "operator⟨⟩",
    "日本語",
    "v2",
)
PARENTS = ("", "Pool", "pool", "a.B", "Äpfel")
TEXTS = (
    "def connect():\n    return pool\n",
    "class PaymentGateway: '; DROP TABLE code_chunk; -- $input ⟨x⟩",
    '🙂 日本語 cafe\u0301 v2.3 w1/w2 \\ " \x1f',
    "connect " * 300,
    "",
)
MODELS = {"tiny": 64, "other:⟨2⟩": 64}
EVERYWHERE = CodeFilter(KEYS)
QUESTIONS = ("connect the pool", "PaymentGateway", "日本語 🙂 café", "v2.3 w1", "???", "a.py straße")


def either(values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(tuple(values))


def several(values: st.SearchStrategy[Any], most: int, **options: Any) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, max_size=most, **options).map(tuple)


@st.composite
def chunks(draw) -> Chunk:
    start = draw(st.integers(1, 5))
    return Chunk(
        kind=draw(either(ChunkKind)),
        name=draw(either(NAMES)),
        start_line=start,
        end_line=start + draw(st.integers(0, 4)),
        text=draw(either(TEXTS)),
        parent=draw(either(PARENTS)),
        signature=draw(either(("", "def connect()", "🙂'⟩"))),
        doc=draw(either(("", "Connects the pool.", "日本語"))),
        part=draw(st.integers(0, 1)),
    )


marks = st.builds(Mark, either(("d1", "d⟨2⟩")), either((0, 100, 2**53 + 1)), either((0, 1, 2**62)))
references = st.builds(Reference, either(NAMES[1:]), st.integers(1, 7))


def _spread(found: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
    """No two begin on one line with the same part: by these the order in a file is told."""
    return tuple({(chunk.start_line, chunk.part): chunk for chunk in found}.values())


parsed = st.builds(
    Parsed,
    either(("python", "markdown", "")),
    several(chunks(), 4).map(_spread),
    several(references, 4, unique=True).map(lambda used: tuple(sorted(used, key=lambda one: one.line))),
)
files = st.builds(CodeFile, either(PATHS), marks, parsed)


@st.composite
def savings(draw) -> Callable[[Store], object]:
    """Files that are there anew, that have another path, and that are gone: no path is in two of these."""
    key = draw(either(KEYS))
    paths = draw(st.permutations(PATHS))
    new = draw(several(files, 3, unique_by=lambda file: file.path))
    left = [path for path in paths if path not in {file.path for file in new}]
    moved = ((left[0], left[1]),) if draw(st.booleans()) else ()
    gone = left[2 : 2 + draw(st.integers(0, 1))]

    def save(store: Store) -> object:
        there = store.marks(key)
        wanted = [(a, b) for a, b in moved if a in there and b not in there]
        return store.save_code(key, new, wanted, gone) if key in holders(store) else None

    return save


def holders(store: Store) -> set[str]:
    return {index.key for user in ("", "ada") for index in store.indexes(user)}


@st.composite
def embeddings(draw) -> Callable[[Store], object]:
    key, model, most = draw(either(KEYS)), draw(either(MODELS)), draw(st.integers(1, 3))
    along = draw(st.lists(st.lists(either((-1.0, 0.0, 0.5, 1.0)), min_size=3, max_size=3), min_size=1, max_size=3))

    def embed(store: Store) -> object:
        # By what they say, since every store gives ids of its own, and in whatever order it likes.
        lacking = sorted(store.code_unembedded(key, model, 1000), key=lambda one: repr(without_id(one)))[:most]
        vectors = [a_vector(*numbers) for numbers in along]
        store.save_code_vectors(model, {**{one.id: vectors for one in lacking}, "nobody": vectors})
        return [without_id(one) for one in lacking]

    return embed


@st.composite
def claims(draw) -> Callable[[Store], object]:
    index = replace(
        INDEXES[draw(either(KEYS))], holder=draw(either(("me", "you⟨⟩", None))), beat=draw(either((None, at(0))))
    )
    what, new = draw(st.integers(0, 4)), draw(st.booleans())
    told = replace(index, status=draw(either(IndexStatus)), skipped={"binary'⟩": 2}, error=draw(either((None, "🙂"))))
    if what == 0:
        return lambda store: store.recount_index(index)
    if what == 1:
        return lambda store: store.report_index(told)
    since = draw(either((at(-60), at(60))))
    return lambda store: store.claim_index(index, since, new=new or what > 2)


acts = st.one_of(
    savings(),
    savings(),
    embeddings(),
    claims(),
    st.builds(lambda key: lambda store: store.drop_index(key), either(KEYS)),
    st.builds(
        lambda key, told: lambda store: store.mark_code(key, told), either(KEYS), st.dictionaries(either(PATHS), marks)
    ),
    st.builds(lambda user: lambda store: store.empty(user, at(0), store.change()), either(("", "ada"))),
)


def without_id(one: StoredChunk) -> StoredChunk:
    return replace(one, id="")


def readings(store: Store) -> Iterator[tuple[str, Any]]:
    for user in ("", "ada"):
        yield f"indexes {user}", store.indexes(user)
        yield f"counts {user}", store.counts(user, "tiny").code_chunks
    yield "projects", store.projects()
    for key in KEYS:
        yield f"marks {key}", store.marks(key)
        yield f"symbols {key}", alike(store.symbols(key))
        yield f"uses {key}", sorted(store.uses(key))
        for model in MODELS:
            yield f"unembedded {key} {model}", alike(store.code_unembedded(key, model, 100))
    for wanted in (EVERYWHERE, CodeFilter(KEYS[:1]), CodeFilter(KEYS, ("python",)), CodeFilter(())):
        yield from found(store, wanted)


def found(store: Store, wanted: CodeFilter) -> Iterator[tuple[str, Any]]:
    for question in QUESTIONS:
        told = scored(store, store.code_by_words(code_terms(question), wanted, 100))
        # How rare a word is may be told from all code, or from that which is searched.
        yield f"words {question} {wanted}", told if wanted == EVERYWHERE else [text for text, _ in told]
    for model in (*MODELS, "unknown"):
        near = store.code_by_vector(a_vector(1, 0.5, 0.2), model, wanted, 100)
        yield f"vectors {model} {wanted}", scored(store, near)
    for name in (*NAMES, "pool.connect", "Pool::connect", "A.b.V2", "ÄPFEL.straße", " "):
        yield f"named {name} {wanted}", [without_id(one) for one in store.code_named([name], wanted, 100)]
        yield f"occurrences {name} {wanted}", store.occurrences(name, wanted, 100)
    yield f"two names {wanted}", [without_id(one) for one in store.code_named(["connect", "pool.v2"], wanted, 2)]
    yield f"few occurrences {wanted}", store.occurrences("connect", wanted, 2)


def alike(found: list[StoredChunk]) -> list[str]:
    return sorted(repr(without_id(one)) for one in found)


def scored(store: Store, found: Mapping[str, float]) -> object:
    """What was found with its scores; it has to come best first."""
    assert list(found.values()) == sorted(found.values(), reverse=True)
    whole = store.code_chunks(list(found))
    assert list(whole) == list(found)
    return sorted((repr(without_id(whole[id])), score) for id, score in found.items())


def nearly(said: Any) -> Any:
    """Scores are equal to a millionth."""
    if isinstance(said, float):
        return pytest.approx(said, rel=1e-6, abs=1e-9)
    return type(said)(map(nearly, said)) if type(said) in (list, tuple) else said


# To make a life that fails smaller takes many minutes.
SETTINGS = settings(
    deadline=None,
    derandomize=not LONG,
    suppress_health_check=list(HealthCheck),
    phases=tuple(Phase) if LONG else (Phase.explicit, Phase.generate),
)


@settings(SETTINGS, max_examples=400 if LONG else 10)
@given(st.lists(acts, min_size=1, max_size=8))
def test_what_one_store_finds_in_code_the_other_finds(acts):
    stores: tuple[Store, Store] = SqliteStore(MEMORY), SurrealStore(in_memory())
    try:
        for store in stores:
            for index in INDEXES.values():
                store.claim_index(index, at(-60))
        for act in acts:
            one, other = (act(store) for store in stores)
            assert one == other
        for (question, said), (_, said_too) in zip(readings(stores[0]), readings(stores[1]), strict=True):
            assert said_too == nearly(said), question
    finally:
        for store in stores:
            store.close()
