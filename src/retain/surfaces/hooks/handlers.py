"""What is done for each event: the text to put in front of the agent, or nothing.

Handing over to the worker takes milliseconds; nothing here waits for it, for a model or for the network.
"""

import os

from retain.run_files import forget_client, record_client
from retain.surfaces.hooks import snapshot, spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from retain.surfaces.hooks.call import Call


def session_start(call: "Call") -> str:
    """Also picks up what was left behind: by a worker that was killed, and by clients that ended without a word."""
    try:
        if call.session:
            _recorded(call)
        return _injected("at_start", call)
    finally:
        # A folder that one process has open is for the server that starts at this moment too: the worker comes later.
        if _captures(call) and call.readable and spool.waiting(call.home):
            spool.start_worker(call.home)


def user_prompt_submit(call: "Call") -> str:
    return _injected("for_prompt", call)


def post_tool_use(call: "Call") -> str:
    return _injected("for_file", call)


def post_tool_use_failure(call: "Call") -> str:
    return _injected("for_failure", call)


def capture(call: "Call") -> str:
    """For Stop, PreCompact and SessionEnd. A turn that another hook keeps going is not over: it waits for its end."""
    if not call.text("transcript_path") or not _captures(call):
        return ""
    item = {"event": call.event, **_conversation(call)}
    item["last_assistant_message"] = call.text("last_assistant_message")
    item |= {name: call.text(name) for name in ("reason", "trigger", "source") if call.text(name)}
    spool.put(call.home, item)
    if call.payload.get("stop_hook_active") is not True:
        spool.start_worker(call.home)
    return ""


def session_end(call: "Call") -> str:
    try:
        return capture(call)
    finally:
        forget_client(call.home, call.client_pid, call.session)


HANDLERS: "dict[str, Callable[[Call], str]]" = {
    "SessionStart": session_start,
    "UserPromptSubmit": user_prompt_submit,
    "PostToolUse": post_tool_use,
    "PostToolUseFailure": post_tool_use_failure,
    "Stop": capture,
    "PreCompact": capture,
    "SessionEnd": session_end,
}


def _recorded(call: "Call") -> None:
    """Notes where this client is, and hands over what those that have died were in the middle of."""
    for left in record_client(call.home, call.client_pid, _conversation(call)):
        if left.get("transcript") and _may_capture(call) and not _is_paused(call.home, left):
            spool.put(call.home, {**left, "event": "SessionEnd"})


def _is_paused(home: str, left: "dict[str, object]") -> bool:
    """Whether the project is, in which a client has died: it may be another than the one of this call."""
    from retain.pauses import has_any, paused_since

    if not has_any(home):
        return False
    from retain.domain.ids import id_of
    from retain.folders import root_of

    folder = str(left.get("project_dir") or left.get("cwd") or "~")
    root = root_of(folder, os.path.expanduser("~"))
    return paused_since(home, id_of(root) if root else None) is not None


def _conversation(call: "Call") -> "dict[str, object]":
    """While nobody has decided which store it is, the worker finds that out: it may be decided by then."""
    where: dict[str, object] = {"store": call.database, "environment": snapshot.variables()}
    if call.settings.get("is_held"):
        where = {"is_held": True, "environment": snapshot.session_variables(call.database)}
    return {
        "session": call.session,
        "transcript": call.text("transcript_path"),
        "cwd": call.cwd,
        "project_dir": call.project_dir,
        **where,
    }


def _captures(call: "Call") -> bool:
    return _may_capture(call) and call.paused is None


def _may_capture(call: "Call") -> bool:
    """A store that is in the memory of a server cannot be reached from a worker."""
    return bool(call.settings.get("capture")) and call.database != ":memory:"


def _injected(what: str, call: "Call") -> str:
    if not call.settings.get("inject"):
        return ""
    from retain.surfaces.hooks import injecting

    return str(getattr(injecting, what)(call))
