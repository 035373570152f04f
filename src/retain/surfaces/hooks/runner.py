"""The life of a hook: read, answer in time, exit 0. Whatever happens, the session goes on.

Exactly one JSON object goes to standard output, in one piece, and nothing to standard error: what the client cannot
parse would be shown to the model, and an exit code of 2 would block the prompt. Failures are in the log.
"""

import _thread
import os
import sys
import time

from retain.quick_json import written
from retain.surfaces.hooks.handlers import HANDLERS
from retain.surfaces.hooks.standard_streams import Answer, given, silence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from retain.surfaces.hooks.call import Call

# What is handed over too late is lost, so that has more time; a plugin's SessionEnd is cut off after 1.5 s.
SECONDS = {"SessionStart": 2.0, "Stop": 3.0, "PreCompact": 3.0, "SessionEnd": 1.4}
OTHER_SECONDS = 1.0
MOST_CONTEXT = 9_900  # the client puts nothing above 10,000 before the model
SLOW_MS = 500
NOTHING = "{}"
PAUSED = "Retain: capture is paused here; nothing that is said is kept until `retain resume`."
_LAST_WORDS_SECONDS = 0.1
_LAST_RESORT_SECONDS = 3.0  # late enough that a busy machine does not need it
# A run of these is told only when there is something to tell: they come with every use of a tool.
_FREQUENT = ("PostToolUse", "PostToolUseFailure")
HELP = f"""Usage: retain hook EVENT

  Answers a hook of Claude Code: reads its JSON from standard input and prints
  one JSON object, always with exit code 0. `retain setup` registers it; there
  is no need to run it by hand. To try it all the same:

    echo '{{"hook_event_name": "SessionStart", "source": "startup"}}' | retain hook SessionStart

  EVENT is one of {", ".join(list(HANDLERS)[:4])},
  {", ".join(list(HANDLERS)[4:])}.

  RETAIN_HOOKS=off in the environment switches all of them off. `retain doctor`
  tells when each last ran and what went wrong.
"""


class Run:
    """One run: its clock, and what is known of it so far, for the log."""

    def __init__(self, event: str) -> None:
        self.event = event
        self.started = time.monotonic()
        self.deadline = self.started + SECONDS.get(event, OTHER_SECONDS)
        self.answer = Answer()
        self.home: str | None = None

    def note(self, error: "BaseException | str | None" = None, **facts: "str | float") -> None:
        from retain.surfaces.hooks import log, snapshot

        ms = round((time.monotonic() - self.started) * 1000, 1)
        log.note(self.home or snapshot.first_home(), self.event, error, ms=ms, **facts)

    def watch(self) -> None:
        """Ends the process at the deadline, whatever the other thread is waiting for."""
        time.sleep(max(0.0, self.deadline - time.monotonic()))
        self.answer.give(NOTHING)
        # The log may be on the disk that hangs.
        _thread.start_new_thread(self.note, ("not done in time",))
        time.sleep(_LAST_WORDS_SECONDS)
        os._exit(0)


def main(arguments: "Sequence[str]") -> "NoReturn":
    if {"-h", "--help"} & set(arguments) or (os.isatty(0) and os.isatty(1)):
        sys.stdout.write(HELP)
        sys.stdout.flush()
        os._exit(0)
    run = Run(_known(arguments[0]) if arguments else "")
    if os.environ.get("RETAIN_HOOKS", "").lower() in ("off", "false", "no", "0"):
        run.answer.give(NOTHING)
        os._exit(0)
    silence()
    _thread.start_new_thread(run.watch, ())
    _set_last_resort(run)
    try:
        _answer(run)
    except BaseException as error:  # noqa: BLE001 - the session goes on whatever happens; the log has it
        run.answer.give(NOTHING)
        run.note(error)
    os._exit(0)


def _answer(run: Run) -> None:
    payload = given()
    said = payload.get("hook_event_name")
    if isinstance(said, str) and said:
        run.event = said
    handle = HANDLERS.get(run.event)
    if handle is None:
        run.answer.give(NOTHING)
        run.note(f"no event {run.event[:50] or '(none)'}; there are {', '.join(HANDLERS)}")
        return
    call = _call(run, payload)
    text = handle(call)
    was_first = run.answer.give(_output(run.event, text, _remark(call)))
    ms = (time.monotonic() - run.started) * 1000
    if was_first and (text or run.event not in _FREQUENT or ms > SLOW_MS):
        run.note(chars=len(text), **({"note": call.remark} if call.remark else {}))


def _call(run: Run, payload: dict[str, object]) -> "Call":
    from retain.surfaces.hooks.call import Call
    from retain.surfaces.hooks.snapshot import settings_for

    cwd = payload.get("cwd")
    settings, problems = settings_for(cwd if isinstance(cwd, str) and cwd else os.getcwd())
    run.home = str(settings["home"])
    undecided = settings.get("undecided") if run.event == "SessionStart" else None
    for problem in problems or ([str(undecided)] if undecided else []):
        run.note(problem)
    return Call(run.event, payload, settings, run.deadline)


def _output(event: str, text: str, remark: str = "") -> str:
    """`text` is for the agent, `remark` for the user."""
    said: dict[str, object] = {"systemMessage": _shown(remark)} if remark else {}
    if text:
        said["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": _cut(text)}
    return written(said, plain=False) if said else NOTHING


def _remark(call: "Call") -> str:
    """What stands, and what was remembered since the last time. A fault in the settings may have been meant to switch
    something off: nothing is captured until it is mended."""
    if call.event != "SessionStart":
        return ""
    fault, undecided = call.settings.get("fault"), call.settings.get("undecided")
    told = [f"Retain captures nothing here: {fault}"] if fault else [f"Retain: {undecided}"] if undecided else []
    told = told or ([f"Retain: {call.remark}"] if call.remark else [])
    if call.settings.get("capture") and call.paused is not None:
        told.append(PAUSED)
    return " ".join([*told, *_news(call)])


def _news(call: "Call") -> "list[str]":
    if not call.settings.get("inject") or call.readable is None:
        return []
    from retain.surfaces.hooks.news import line

    return [told] if (told := line(call)) else []


def _shown(remark: str) -> str:
    """In one line and without what a terminal obeys: it names folders, and whoever made those chose their names."""
    from retain.domain.visible import marked

    return " ".join(marked(remark).split())


def _cut(text: str) -> str:
    """Within what the client takes, counted as it counts: in units of UTF-16."""
    units = text.encode("utf-16-le", "replace")
    if len(units) <= 2 * MOST_CONTEXT:
        return text
    end = text.rsplit("\n", 1)[-1][:100]  # what closes the frame
    lines = units[: 2 * (MOST_CONTEXT - len(end) - 1)].decode("utf-16-le", "ignore").splitlines()
    return "\n".join([*(lines[:-1] or lines), end])


def _known(name: str) -> str:
    """The event that was meant, however it is spelt: `session-start` is SessionStart."""
    letters = name.replace("-", "").replace("_", "").lower()
    return next((event for event in HANDLERS if event.lower() == letters), name)


def _set_last_resort(run: Run) -> None:
    """Should a call into C keep every other thread from running, the system ends the process a little later."""
    try:
        # `signal` itself takes milliseconds to import.
        from _signal import ITIMER_REAL, setitimer  # type: ignore[import-not-found]

        setitimer(ITIMER_REAL, run.deadline - time.monotonic() + _LAST_RESORT_SECONDS)
    except (ImportError, OSError):
        pass
