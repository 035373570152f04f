"""The errors that Retain raises, each written for the person or model that reads it.

RetainError
├── InvalidInput          the caller's fault; every bad field is named
│   └── InvalidPath       a folder that is not there, or outside of what may be indexed
├── NotFound              nothing has that id or name here
│   └── UnknownTool       no tool of this server is called that
├── Refused               understood, and against a rule
│   ├── Ended             the memory was forgotten, invalidated or superseded, so it cannot be changed
│   └── Taken             another memory has that title, or says exactly that
├── Unavailable           something outside the caller's reach failed
│   ├── StoreDown         the store cannot be opened or reached
│   │   └── StoreCorrupt  its file is damaged
│   ├── StoreBusy         other writers held the lock for too long, or kept changing the same row
│   ├── StorageFull       the disk, or the limit that was set, is full
│   ├── QueryTimeout      a query ran past its deadline
│   ├── SchemaNewer       a newer Retain has migrated this store
│   ├── EmbeddingFailed   no vector could be made
│   ├── JudgeAway         the judge is off, missing or damaged, so nothing can be judged now
│   ├── LLMFailed         the language model did not answer, or not in time
│   ├── IndexFailed       a folder of code could not be indexed
│   └── MissingExtra      an optional package is not installed
└── ConfigError           a setting has a value that cannot be used
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass


class RetainError(Exception):
    """Carries what every surface needs to answer: a code, and whether trying again can help."""

    code = "internal_error"
    retry_possible = False
    degraded = False

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details: Mapping[str, object] = details


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with one field: `value` as it was given, shortened for the message."""

    field: str
    value: str
    problem: str

    def __str__(self) -> str:
        given = f" (given: {self.value})" if self.value else ""
        return f"{self.field}: {self.problem}{given}"


class InvalidInput(RetainError):
    code = "invalid_input"

    def __init__(self, faults: Sequence[Fault], **details: object) -> None:
        listed = [{"field": f.field, "value": f.value, "problem": f.problem} for f in faults]
        super().__init__("; ".join(map(str, faults)) + ". Nothing was done.", faults=listed, **details)
        self.faults = tuple(faults)


class InvalidPath(InvalidInput):
    """Its message begins as tools/index_project promises: `Invalid path: <path>`."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__([Fault("path", shorten(path), problem)])
        self.message = f"Invalid path: {shorten(path, 200)} ({problem}). Nothing was done."
        self.args = (self.message,)


class NotFound(RetainError):
    code = "not_found"


class UnknownTool(NotFound):
    pass


class Refused(RetainError):
    code = "refused"


class Ended(Refused):
    pass


class Taken(Refused):
    pass


class Unavailable(RetainError):
    code = "memory_unavailable"
    retry_possible = True


class StoreDown(Unavailable):
    degraded = True


class Closed(StoreDown):
    """Nobody is to be warned of it: whoever closes a memory gives up what waits."""


class StoreCorrupt(StoreDown):
    code = "store_corrupt"
    retry_possible = False


class StoreBusy(Unavailable):
    code = "store_busy"


class StorageFull(Unavailable):
    code = "storage_full"


class QueryTimeout(Unavailable):
    code = "query_timeout"


class SchemaNewer(Unavailable):
    code = "schema_newer"
    retry_possible = False


class EmbeddingFailed(Unavailable):
    code = "embedding_failed"


class JudgeAway(Unavailable):
    code = "judge_away"


class LLMFailed(Unavailable):
    code = "llm_failed"


class IndexFailed(Unavailable):
    code = "index_failed"


class MissingExtra(Unavailable):
    code = "missing_extra"
    retry_possible = False


class ConfigError(RetainError):
    code = "config_error"


@contextmanager
def together(faults: Sequence[Fault]) -> Iterator[None]:
    """Raises what was found wrong before with what is found inside, so that all of it is said at once."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput([*faults, *error.faults]) from None
    except NotFound as error:
        if not faults:
            raise
        named = {name: value for name, value in error.details.items() if isinstance(value, str)}
        missing = [Fault(name, shorten(value), error.message) for name, value in named.items()]
        raise InvalidInput([*faults, *missing]) from None
    if faults:
        raise InvalidInput(faults)


def invalid(field: str, value: object, problem: str) -> InvalidInput:
    """The common case: one field is wrong."""
    return InvalidInput([Fault(field, shorten(value), problem)])


def shorten(value: object, limit: int = 60) -> str:
    """A value as it can be shown in a message: one line, at most `limit` characters."""
    text = value if isinstance(value, str) else repr(value)
    # Escaping first: a lone surrogate or a control character must not break the reply that names it.
    line = (
        text[: limit * 4].encode("unicode_escape", "backslashreplace").decode("ascii")
        if not text.isprintable()
        else text
    )
    return line if len(line) <= limit else line[: limit - 1] + "…"
