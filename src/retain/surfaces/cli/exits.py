"""Exit codes, as scripts may rely on them."""

from retain.errors import ConfigError, InvalidInput, NotFound, Refused, RetainError, Unavailable

DONE = 0
NOTHING = 1
BAD_INPUT = 2
NOT_FOUND = 3
UNAVAILABLE = 4
REFUSED = 5
UNSOUND = 6
FAULT = 70
INTERRUPTED = 130
BROKEN_PIPE = 141

MEANINGS = {
    DONE: "done",
    NOTHING: "nothing found (recall, search, graph, context, why, code, lists), or a copy that differs",
    BAD_INPUT: "bad input, option or setting",
    NOT_FOUND: "no such memory, run, file, project, session or symbol",
    UNAVAILABLE: "the memory cannot be used now (store, model, disk)",
    REFUSED: "refused, or in conflict with what is there",
    UNSOUND: "doctor found faults",
    FAULT: "a fault in Retain itself",
    INTERRUPTED: "interrupted",
}


class UsageError(RetainError):
    """A command, option or argument that does not exist or does not fit."""

    code = "usage"


_CODES: dict[type[RetainError], int] = {
    InvalidInput: BAD_INPUT,
    ConfigError: BAD_INPUT,
    UsageError: BAD_INPUT,
    NotFound: NOT_FOUND,
    Unavailable: UNAVAILABLE,
    Refused: REFUSED,
}


def code_of(error: RetainError) -> int:
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), FAULT)
