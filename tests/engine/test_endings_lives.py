"""Whatever is said, edited and tidied up, and in whichever order: what was kept on purpose stands as it was left."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import START, EagerJudge, FixedClock, TidyLLM
from retain.domain.conversation import Conversation, Cursor, Said, Speaker
from retain.domain.memory import Kind, Memory, MemoryId, State
from retain.domain.session import Caller, Project
from retain.domain.work import EntryType
from retain.embedding.hashed import HashedEmbedder
from retain.engine.capture.capture import Portion
from retain.engine.drafts import Draft
from retain.engine.engine import Engine
from retain.engine.parts import Parts
from retain.engine.revise import Edit
from retain.errors import Refused
from retain.ports import Store
from retain.stores.sqlite.store import MEMORY, SqliteStore
from retain.stores.surreal.link.connection import in_memory
from retain.stores.surreal.store import SurrealStore

HERE = Caller(project=Project("p" * 20, "shop", "/shop", START), session="monday")
DAY = 86_400
SAID = [
    f"The {what} of the shop moves to the {where} importer" for what in ("cart", "till") for where in ("new", "fast")
]
SAID += [f"{text} now" for text in SAID] + ["Remember that we deploy on Mondays", "We no longer deploy on Mondays"]
CATEGORIES = ("progress", "context", "decision", "code", None)


@dataclass(slots=True)
class Life:
    """A store in which somebody lives, and what they kept on purpose, as they left it."""

    store: Store
    clock: FixedClock = field(default_factory=FixedClock)
    kept: dict[MemoryId, tuple[str, str | None]] = field(default_factory=dict)
    plain: list[MemoryId] = field(default_factory=list)
    titles: int = 0

    @property
    def engine(self) -> Engine:
        return Engine(Parts(self.store, HashedEmbedder(), self.clock, judge=EagerJudge()))

    @property
    def tidying(self) -> Engine:
        """With a language model that would throw everything away."""
        return Engine(Parts(self.store, HashedEmbedder(), self.clock, TidyLLM(), judge=EagerJudge()))

    def keep(self, memory: Memory) -> None:
        self.kept[memory.id] = (memory.text, memory.title)

    # What people and agents do

    def store_titled(self, n: int) -> None:
        self.titles += 1
        draft = Draft(SAID[n % 10], title=f"Entry {self.titles}", category=CATEGORIES[n % 4], distinct=True)
        self.keep(self.engine.remember(draft, HERE).memory)

    def store_plain(self, n: int) -> None:
        draft = Draft(SAID[n % 10], Kind.EPISODIC, category=CATEGORIES[n % 5])
        self.plain.append(self.engine.remember(draft, HERE).memory.id)

    def log(self, n: int) -> None:
        tracking = self.engine.tracking
        tracking.start("Move it", None, (), HERE)
        self.keep(tracking.log(None, list(EntryType)[n % 4], SAID[n % 10], (), HERE).memory)
        tracking.complete(None, SAID[(n + 1) % 10], None, HERE)

    def edit(self, n: int) -> None:
        self.titles += 1
        edits = Edit(importance=0.4), Edit(add_tags=("mine",)), Edit(text=f"{SAID[n % 10]} since {self.titles} days")
        for id in self.plain[n % 7 :][:1]:
            with suppress(Refused, LookupError):
                before = self.store.memories([id])[id].memory
                done = self.engine.update(id, edits[n % 3], HERE)
                if done.fields and before.is_active:
                    self.keep(done.memory)

    def forget(self, n: int) -> None:
        for id in [*self.kept][n % 7 :][:1]:
            self.engine.forget(id, None, HERE)
            del self.kept[id]

    # What nobody names

    def wait(self, n: int) -> None:
        self.clock.tick((1, 8, 15, 31, 100)[n % 5] * DAY)

    def merge(self, n: int) -> None:
        (self.tidying if n % 2 else self.engine).merge_categories(HERE, 1)

    def sleep(self, n: int) -> None:
        (self.tidying if n % 2 else self.engine).trust.sleep(HERE)

    def reflect(self, n: int) -> None:
        self.engine.consolidate(HERE, None, ("full", "summarize", "extract_patterns")[n % 3], dry_run=False)

    def generalise(self, n: int) -> None:
        self.engine.trust.consolidate(HERE, smallest=2, threshold=0.5)

    def save_alike(self, n: int) -> None:
        self.engine.save(Draft(SAID[n % 10], category=CATEGORIES[n % 4]), None, HERE)

    def read_conversation(self, n: int) -> None:
        said = Said((Speaker.USER, Speaker.ASSISTANT)[n % 2], f"Remember this: {SAID[n % 10]}.", self.clock.now())
        cursor = Cursor(f"/t/{n}.jsonl", "monday", 1, self.clock.now(), "last", HERE.project.id)
        self.engine.capture(Portion(Conversation("monday", (said,)), cursor), HERE, lambda: inf)

    def undo(self, n: int) -> None:
        for run in self.engine.runs(HERE, 9)[n % 3 :][:1]:
            with suppress(Refused):
                self.engine.undo(run.id, HERE)


ACTS: tuple[Callable[[Life, int], None], ...] = (
    *(Life.store_titled, Life.store_plain, Life.store_plain, Life.store_plain, Life.log, Life.edit, Life.forget),
    *(Life.wait, Life.wait, Life.merge, Life.merge, Life.sleep, Life.sleep, Life.reflect, Life.generalise),
    *(Life.save_alike, Life.read_conversation, Life.undo),
)


def look(life: Life, after: str) -> None:
    found = life.store.memories([*life.kept])
    for id, (text, title) in life.kept.items():
        assert id in found, f"{text!r} was destroyed by {after}"
        memory = found[id].memory
        assert (memory.status.state, memory.valid_until) == (State.ACTIVE, None), f"{text!r} was ended by {after}"
        assert (memory.text, memory.title) == (text, title), f"{text!r} was changed by {after}"
    gone = [s.memory for s in life.store.memories(life.plain).values() if s.memory.status.state is State.SUPERSEDED]
    assert all(memory.status.successor and memory.status.reason for memory in gone), f"nobody knows why, after {after}"


def lived(store: Store, acts: list[tuple[Callable[[Life, int], None], int]]) -> None:
    life = Life(store)
    try:
        for act, number in acts:
            life.clock.tick(60)
            act(life, number)
            look(life, act.__name__)
    finally:
        store.close()


def lives(least: int, most: int) -> st.SearchStrategy[list[tuple[Callable[[Life, int], None], int]]]:
    return st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 69)), min_size=least, max_size=most)


@settings(max_examples=60)
@given(acts=lives(10, 40))
def test_no_life_ends_what_was_kept_on_purpose(acts):
    lived(SqliteStore(MEMORY), acts)


@settings(max_examples=6)
@given(acts=lives(10, 25))
def test_no_life_ends_what_was_kept_on_purpose_in_surrealdb(acts):
    lived(SurrealStore(in_memory()), acts)
