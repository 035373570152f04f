"""A plan without some of its memories, and without all that it says of them."""

from collections.abc import Collection
from dataclasses import fields, replace

from retain.domain.changes import AtVersion, Changes, Expectation, NoTwin, TitleFree, Uncompared
from retain.domain.claims import fingerprint
from retain.domain.memory import Memory, MemoryId

_BESIDE = ("at", "key", "expects", "projects", "sessions")


def without(plan: Changes, gone: Collection[MemoryId]) -> Changes:
    """All of the plan that does not speak of these memories: neither their text nor what was read from it is left."""
    lost = [memory for memory in plan.memories if memory.id in gone]
    links = tuple(link for link in plan.links if link.memory not in gone)
    unspoken = {link.entity for link in plan.links} - {link.entity for link in links}
    said_in = {memory.session for memory in lost}
    kept = plan.restored and replace(
        plan.restored, memories=tuple(one for one in plan.restored.memories if one.memory not in gone)
    )
    return replace(
        plan,
        expects=tuple(expected for expected in plan.expects if not _is_about(expected, lost, gone)),
        memories=tuple(_underived(memory, gone) for memory in plan.memories if memory.id not in gone),
        embeddings=tuple(embedding for embedding in plan.embeddings if embedding.memory not in gone),
        history=tuple(entry for entry in plan.history if entry.memory not in gone),
        entities=tuple(entity for entity in plan.entities if entity.id not in unspoken),
        links=links,
        unlinked=tuple(pair for pair in plan.unlinked if pair[0] not in gone),
        stale=tuple(pair for pair in plan.stale if pair[0] not in gone),
        relations=tuple(r for r in plan.relations if unspoken.isdisjoint((r.source, r.target))),
        # They ended because of what a memory says that is not there.
        ended=() if lost else plan.ended,
        contradictions=tuple(c for c in plan.contradictions if c.older not in gone and c.newer not in gone),
        ties=tuple(tie for tie in plan.ties if tie.source not in gone and tie.target not in gone),
        # A summary of a session may repeat whatever was said in it.
        sessions=tuple(replace(one, summary=None) if one.id in said_in else one for one in plan.sessions),
        restored=kept,
    )


def nothing_left(plan: Changes) -> bool:
    """Whether all that the plan would do is to name the project and the session in which it was made."""
    return not any(getattr(plan, field.name) for field in fields(plan) if field.name not in _BESIDE)


def _is_about(expected: Expectation, lost: Collection[Memory], gone: Collection[MemoryId]) -> bool:
    match expected:
        case AtVersion(memory) | Uncompared(memory):
            return memory in gone
        case NoTwin(place, print):
            return any(memory.place == place and fingerprint(memory.text) == print for memory in lost)
        case TitleFree(place, title):
            return any(memory.place == place and memory.title == title for memory in lost)
    return False


def _underived(memory: Memory, gone: Collection[MemoryId]) -> Memory:
    return replace(memory, derived_from=tuple(id for id in memory.derived_from if id not in gone))
