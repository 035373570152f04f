"""A store in which somebody has lived: something of every sort that there is."""

from comparing import PATIENT
from fakes import EagerJudge, FixedClock
from making import a_project
from retain.domain.changes import Changes
from retain.domain.conversation import Cursor
from retain.domain.graph import Tie
from retain.domain.listing import PastQuery
from retain.domain.memory import Kind
from retain.domain.session import Caller
from retain.domain.transfer import Sort
from retain.domain.work import EntryType
from retain.embedding.hashed import HashedEmbedder
from retain.engine.drafts import Draft
from retain.engine.engine import Engine
from retain.engine.parts import Parts
from retain.engine.recall.recall import Question
from retain.engine.revise import Edit
from retain.engine.tracking.projects import init
from retain.ports import Store

SHOP = Caller(project=a_project("shop"), session="monday")
ADA = Caller(user="ada", project=a_project("till", "till"), session="tuesday", agent="reviewer")
SAID = (
    "The AuthService listens on port 8080",
    "PaymentGateway calls the AuthService before every charge",
    "We deploy the PaymentGateway on Mondays",
    "The Vault keeps the keys of the AuthService",
)
SEEN = (
    "CI fails because the runner has no Docker daemon.",
    "CI fails again because the runner has no Docker daemon",
    "CI fails: the runner ci-2 has no Docker daemon",
)


def live(store: Store) -> Engine:
    """Remembers, recalls, edits, contradicts, consolidates, tracks, forgets and destroys."""
    clock = FixedClock()
    engine = Engine(Parts(store, HashedEmbedder(), clock, judge=EagerJudge()), patience=PATIENT)
    for caller in (SHOP, ADA):
        engine.begin_session(caller)
        _talk(engine, clock, caller)
    _contradict(engine, clock)
    _look_back(engine, clock)
    engine.end_session(SHOP)
    store.mark_reflected("monday", "")
    _beside(store, clock)
    engine.settle(5)
    return engine


def _talk(engine: Engine, clock: FixedClock, caller: Caller) -> None:
    made = []
    for text in SAID:
        clock.tick()
        made.append(engine.remember(Draft(text, tags=("Ops", "net"), importance=0.7), caller).memory)
    engine.remember(Draft(SAID[0]), caller)
    for text in SEEN:
        clock.tick()
        engine.remember(Draft(text, Kind.EPISODIC), caller)
    edit = Edit(text="PaymentGateway asks the AuthService first", metadata={"b": 1, "a": [2]})
    engine.update(made[1].id, edit, caller)
    engine.forget(made[2].id, "moved to Tuesdays", caller)
    engine.destroy(made[3].id, caller)
    engine.recall(Question("Where does the AuthService listen?"), caller)


def _contradict(engine: Engine, clock: FixedClock) -> None:
    clock.tick()
    engine.remember(Draft("The AuthService listens on port 9090"), SHOP)
    a, b = (engine.create_entity(name, "service", "Ours.", SHOP) for name in ("Ledger", "Mailer"))
    relation = engine.create_relation(a.id, b.id, "uses", 0.5, SHOP)
    clock.tick()
    engine.invalidate(relation.id, "replaced", None, SHOP)


def _look_back(engine: Engine, clock: FixedClock) -> None:
    clock.tick()
    engine.consolidate(SHOP, "monday", "full", dry_run=False)
    clock.tick()
    engine.tracking.start("Tidy the till", "Before the audit.", ("audit",), SHOP)
    engine.tracking.log(None, EntryType.MILESTONE, "The drawer is empty", (), SHOP)
    init(engine.parts, SHOP.project, "The Shop", "Sells things.", SHOP)


def _beside(store: Store, clock: FixedClock) -> None:
    """What capture and the other contracts keep."""
    first, second = [one.memory for one in store.records(Sort.MEMORIES, None, 2).records]
    store.apply(
        Changes(
            at=clock.now(),
            ties=(Tie(first.id, second.id, "supports", clock.now(), 0.5),),
            cursors=(Cursor("transcript-1", "monday", 420, clock.tick(), "line-9", "shop", extractions=3),),
        )
    )
    store.note_query(PastQuery("where does it listen", 2, 4, clock.now()), "shop", "")
