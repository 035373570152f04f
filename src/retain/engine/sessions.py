"""Sessions: what happened in one, in a line, and how one ends."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from retain.domain.changes import Changes
from retain.domain.graph import fold
from retain.domain.memory import Memory, State
from retain.domain.recall import Filter
from retain.domain.session import Caller, Session
from retain.domain.words import STOP_WORDS
from retain.engine.parts import Parts, places
from retain.engine.remember import started

MOST_COUNTED = 2000  # far above what a session is meant to hold
MOST_READ = 200
TOPICS = 5


@dataclass(frozen=True, slots=True)
class Activity:
    """What was stored and recalled in a session."""

    session: Session
    kinds: dict[str, int]
    consolidated: int
    recalls: int
    served: int
    topics: tuple[str, ...]

    @property
    def stored(self) -> int:
        return sum(self.kinds.values())


def activity(parts: Parts, caller: Caller) -> Activity | None:
    """The current session so far; None while nothing has happened in it."""
    if not caller.session:
        return None
    session = parts.store.session(caller.session, caller.user)
    if session is None:
        return None
    wanted = Filter(places(caller), session=session.id, states=tuple(State))
    memories = [stored.memory for stored in parts.store.listed(wanted, MOST_COUNTED)]
    kinds = dict(Counter(memory.kind.value for memory in memories))
    served = parts.store.served(session.id, caller.user)
    spoken_for = sum(memory.consolidated for memory in memories)
    return Activity(session, kinds, spoken_for, session.recalls, served, topics(parts, memories[:MOST_READ]))


def end(parts: Parts, caller: Caller, now: datetime) -> None:
    """Closes the session with a count and a one-line summary; one that was never begun leaves no row."""
    done = activity(parts, caller)
    if done is None:
        return
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(done.kinds.items()))
    about = f" about {', '.join(done.topics)}" if done.topics else ""
    summary = f"{done.stored} memories stored ({kinds or 'none'}){about}; {done.recalls} recalls"
    parts.store.apply(Changes(at=now, sessions=(replace(done.session, ended=now, summary=summary),)))


def begin(parts: Parts, caller: Caller, now: datetime) -> None:
    """Makes the session known, or opens it again."""
    parts.store.apply(Changes(at=now, sessions=started(caller.session, caller, now)))


def topics(parts: Parts, memories: Sequence[Memory], limit: int = TOPICS) -> tuple[str, ...]:
    """What memories are about: their tags and entities, then the words they share."""
    named = [tag for memory in memories for tag in memory.tags]
    named += [entity.name for _, entity in parts.store.links([memory.id for memory in memories])]
    # One topic whatever the case, as it was spelled first: an entity is "gRPC" where a word is "grpc".
    counted, spelled = Counter(map(fold, named)), {fold(name): name for name in reversed(named)}
    if len(counted) < limit:
        words = Counter(word for memory in memories for word in set(_plain_words(memory.text)))
        counted.update({word: count for word, count in words.items() if count > 1})
    return tuple(spelled.get(name, name) for name, _ in counted.most_common(limit))


def _plain_words(text: str) -> list[str]:
    words = (word.strip(".,;:!?()[]\"'`").lower() for word in text.split())
    return [word for word in words if len(word) > 3 and word.isalpha() and word not in STOP_WORDS]
