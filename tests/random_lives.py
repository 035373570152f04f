"""What may become of a store, act by act: random plans, and what is written beside them."""

from dataclasses import dataclass, replace
from datetime import datetime

from hypothesis import strategies as st

from fakes import START
from random_plans import PROJECTS, SESSIONS, USERS, either, embeddings, expectations, memory_ids, moments, plans, some
from retain.domain.changes import Changes
from retain.domain.listing import PastQuery
from retain.domain.memory import Embedding
from retain.domain.session import Use
from retain.ports import Store

QUESTIONS = ("Where is the Vault?", "where is  the vault?", "when do we deploy", "日本語", "???", "'; --")


@dataclass(frozen=True)
class Resume:
    """The rest of the vectors of a memory, of which some are there."""

    memory: str
    rest: Embedding


@dataclass(frozen=True)
class Noted:
    uses: tuple[Use, ...]


@dataclass(frozen=True)
class Asked:
    query: PastQuery
    project: str | None
    user: str


@dataclass(frozen=True)
class Reflected:
    session: str
    user: str


@dataclass(frozen=True)
class Emptying:
    user: str
    at: datetime


Act = Changes | Resume | Noted | Asked | Reflected | Emptying
uses = st.builds(Use, some(memory_ids, 3), moments, st.none() | either(SESSIONS), either(USERS))
queries = st.builds(PastQuery, either(QUESTIONS), st.integers(1, 3), st.integers(0, 3), moments)


@st.composite
def purges(draw) -> Changes:
    """Nothing is destroyed and written by one plan."""
    return Changes(draw(moments), draw(some(expectations, 1)), purged=draw(some(memory_ids, 3)))


_OTHERS = st.one_of(
    purges(),
    purges(),
    st.builds(Resume, memory_ids, embeddings()),
    st.builds(Noted, some(uses, 3)),
    st.builds(Asked, queries, st.none() | either(PROJECTS), either(USERS)),
    st.builds(Reflected, either(SESSIONS), either(USERS)),
    st.builds(Emptying, either(USERS), moments),
)


@st.composite
def lives(draw, most: int = 8) -> list[Act]:
    """What becomes of a store, act by act."""
    number = draw(st.integers(1, most))
    return [draw(_OTHERS if draw(either(range(5))) == 0 else plans()) for _ in range(number)]


def carry_out(store: Store, act: Act) -> object:
    """What the store says to it, but for numbers of changes, which every store has its own of."""
    match act:
        case Changes():
            outcome = store.apply(act)
            return getattr(outcome, "broken", None)
        case Resume(memory, rest):
            made = store.vectors([memory], rest.model).get(memory, [])
            later = replace(rest, memory=memory, first=len(made))
            return getattr(store.apply(Changes(START, embeddings=(later,))), "broken", None)
        case Noted(noted):
            return store.note_uses(noted)
        case Asked(query, project, user):
            return store.note_query(query, project, user)
        case Reflected(session, user):
            return store.mark_reflected(session, user)
        case Emptying(user, at):
            return store.empty(user, at, store.change())
