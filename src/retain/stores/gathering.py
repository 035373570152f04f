"""Memories of one store with all that belongs to them, as a plan that makes another store the same."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from retain.domain.changes import Changes, Restored
from retain.domain.memory import MemoryId
from retain.domain.session import Session
from retain.domain.transfer import KeptSession, Whole
from retain.ports import Store

# No record that is taken over gets its time from the plan that brings it.
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def gathered(store: Store, ids: Sequence[MemoryId], spoken_of: Sequence[str] = ()) -> Changes:
    """The memories that are there, with their vectors, history, entities and links, what relates these entities, ties
    and contradictions, projects and sessions. The plan can be written any number of times.

    `spoken_of` are entities that the memories spoke of as the other store knows them: what related them may have ended
    with what was said. Ties and contradictions with a memory that the other store has not are passed over there.
    """
    wholes = store.wholes(ids)
    entities = sorted({link.entity for whole in wholes for link in whole.links})
    names = sorted({whole.memory.place.project for whole in wholes if whole.memory.place.project})
    restored = Restored(
        memories=tuple(whole.kept for whole in wholes),
        entities=tuple(store.entities(entities)),
        relations=tuple(store.relations_among(sorted({*entities, *spoken_of}))),
        contradictions=tuple(store.contradictions(ids)),
        sessions=tuple(KeptSession(replace(session, memory_count=0)) for session in _sessions(store, wholes)),
    )
    projects = (store.project(name) for name in names)
    there = tuple(project for project in projects if project)
    return replace(brought(wholes), projects=there, ties=tuple(store.ties(ids)), restored=restored)


def brought(wholes: Sequence[Whole]) -> Changes:
    """The memories alone, with what is theirs."""
    return Changes(
        at=NEVER,
        memories=tuple(whole.memory for whole in wholes),
        embeddings=tuple(whole.embedding for whole in wholes if whole.embedding),
        history=tuple(entry for whole in wholes for entry in whole.history),
        links=tuple(link for whole in wholes for link in whole.links),
        restored=Restored(memories=tuple(whole.kept for whole in wholes)),
    )


def _sessions(store: Store, wholes: Sequence[Whole]) -> list[Session]:
    memories = (whole.memory for whole in wholes)
    keys = sorted({(memory.session, memory.place.user) for memory in memories if memory.session})
    return [session for key in keys if (session := store.session(*key))]
