"""What a failed call of the bank contract says: a code of JSON-RPC, a short message, and what to do about it."""

from collections.abc import Mapping

from retain.engine.revise import TEXT_TAKEN
from retain.errors import (
    EmbeddingFailed,
    Ended,
    Fault,
    InvalidInput,
    NotFound,
    RetainError,
    Taken,
    Unavailable,
    UnknownTool,
    shorten,
)
from retain.surfaces.render import Body
from retain.surfaces.rpc_codes import INVALID_PARAMS, METHOD_NOT_FOUND, SERVER_ERROR

_LONGEST = 200  # characters of what was given, where the answer repeats it
_EMPTY = ("must not be empty", "is empty")
# What was not found, by the name of the field that says which; and how to find it.
_MISSING = {
    "memory_id": ("Memory not found", "memory_list and memory_search show the ids that there are"),
    "project_id": ("Project not found", None),
    "session_id": ("Session not found", None),
}
_BY_WORDS = "Searches go by words"
_SOON = "what is stored gets its vectors as soon as the model answers"
_SERVICE = "embedding model"


def envelope(error: RetainError) -> Body:
    """The error object of the contract, as the body of a result."""
    if isinstance(error, InvalidInput):
        return _error(INVALID_PARAMS, *_invalid(error))
    if isinstance(error, UnknownTool):
        return _error(METHOD_NOT_FOUND, "Method not found", {**_plain(error.details), "hint": error.message})
    return _error(SERVER_ERROR, *_failed(error))


def _error(code: int, message: str, data: Body) -> Body:
    return {"error": {"code": code, "message": message, "data": data}}


def _invalid(error: InvalidInput) -> tuple[str, Body]:
    """All that is wrong with the arguments; beside the list, the one fault when there is only one."""
    faults = [_fault(each) for each in error.faults]
    beside = {name: faults[0][name] for name in ("field", "error")} if len(faults) == 1 else {}
    rest = _plain({name: value for name, value in error.details.items() if name != "faults"})
    hint = "Nothing was done. Correct what is named here and call again."
    message = "Invalid params" if len(faults) == 1 else "Invalid parameters"
    return message, {**beside, "validation_errors": faults, **rest, "hint": hint}


def _fault(fault: Fault) -> Body:
    problem = f"{fault.field} cannot be empty" if fault.problem.startswith(_EMPTY) else fault.problem
    body: Body = {"field": fault.field, "error": problem}
    return body | {"value": _given(fault.value)} if fault.value else body


def _given(value: str) -> str:
    """As it was given: texts come in quotes from where they could be taken for numbers."""
    return value.removeprefix('"').removesuffix('"') if value.startswith('"') else value


def _failed(error: RetainError) -> tuple[str, Body]:
    given = _plain(error.details)
    match error:
        case NotFound() if named := next((name for name in _MISSING if name in given), None):
            message, hint = _MISSING[named]
            return message, {**given, "hint": hint or error.message}
        case Taken():
            return "Database operation failed", {**given, "hint": _taken(error)}
        case Ended():
            return _ended(error), {**given, "reason": error.code}
        case EmbeddingFailed():
            fallback = f"{_BY_WORDS}, and {_SOON}" if error.retry_possible else _BY_WORDS
            about = {"service": _SERVICE, "fallback": fallback, "retry_suggested": error.retry_possible}
            return "Embedding generation failed", {**about, **given, "hint": error.message}
        case Unavailable():
            return error.message, {**given, "reason": error.code, "retry_suggested": error.retry_possible}
        case _:
            return error.message, {**given, "reason": error.code}


def _taken(error: Taken) -> str:
    if error.details.get("constraint") != TEXT_TAKEN:
        return error.message
    id, instead = error.details["memory_id"], error.details["suggestion"]
    return f"{id} has exactly this content already; nothing was written. {instead}"


def _ended(error: Ended) -> str:
    """As no tool of this contract brings an entry back, the command that does."""
    id, state = error.details["memory_id"], error.details["state"]
    return f"{id} is {state}, so it cannot be changed; bring it back first, with `retain forget --restore {id}`"


def _plain(details: Mapping[str, object]) -> Body:
    return {name: shorten(value, _LONGEST) if isinstance(value, str) else value for name, value in details.items()}
