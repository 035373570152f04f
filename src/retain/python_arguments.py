"""Arguments of the Python interface: each is understood, or refused by its name."""

import unicodedata
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from retain.domain.time import as_moment
from retain.engine.drafts import name_faults
from retain.errors import InvalidInput, invalid

MAX_USER = 200

E = TypeVar("E", bound=StrEnum)
Moment = datetime | str


def one_of(names: type[E], given: str, field: str) -> E:
    try:
        return names(given)
    except ValueError:
        raise invalid(field, given, f"must be one of {', '.join(names)}") from None


def a_list(given: Sequence[str], field: str) -> tuple[str, ...]:
    if isinstance(given, str):
        raise invalid(field, given, "must be a list of tags, not one string")
    return tuple(given)


def a_moment(given: Moment | None, field: str) -> datetime | None:
    return None if given is None else as_moment(given, field)


def a_user(name: str) -> str:
    if len(name) > MAX_USER:
        raise invalid("user_id", name, f"must have at most {MAX_USER} characters")
    # Control characters part the keys of places, where one name must not pass for another.
    if not all(unicodedata.category(letter) not in ("Cc", "Cs") for letter in name):
        raise invalid("user_id", name, "must have no control characters")
    if faults := list(name_faults(name, "user_id", "name the user in another way")):
        raise InvalidInput(faults)
    return name
