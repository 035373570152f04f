"""Past questions: how many are kept, and which of them may have been about memories that are destroyed."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from retain.domain.words import terms
from retain.stores.moments import rest_of

MOST = 500  # of one user in one project
T = TypeVar("T")
# Whose a memory is, and all texts of one of its versions.
Said = tuple[str, Sequence[str | None]]


def about(asked: Iterable[tuple[T, str, str]], said: Iterable[Said]) -> list[T]:
    """Those of the questions, each a (key, user, terms), that share a word with what memories of that user say."""
    words: dict[str, set[str]] = {}
    for user, texts in said:
        words.setdefault(user, set()).update(terms("\n".join(filter(None, texts))))
    return [key for key, user, asked_in in asked if not words.get(user, set()).isdisjoint(asked_in.split(" "))]


def title_of(rest: str | None) -> str | None:
    """What a version in the history was called."""
    kept = rest_of(rest)
    return kept.called[0] if kept and kept.called else None
