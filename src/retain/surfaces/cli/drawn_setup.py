"""What setting up and taking down changed, or would change, for people and for programs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.text import Text

from retain.clients.planning import Step
from retain.surfaces.cli.draw import DIM, Drawn, several
from retain.surfaces.cli.terminal import Indented, Verbatim, line

Body = dict[str, object]
_STYLES = {"left alone": "red", "as it was": DIM, "add": "cyan", "update": "cyan", "remove": "cyan"}
_PAST = {"add": "added", "update": "updated", "remove": "removed"}


def body(steps: Sequence[Step], *, is_plan: bool, removing: bool) -> Body:
    files = [
        {
            "client": step.client,
            "what": step.what,
            "file": str(step.path),
            "state": state(step, is_plan=is_plan, removing=removing),
            "problem": step.problem or None,
            "note": step.note or None,
            **({"diff": step.edit.diff() if step.edit else ""} if is_plan else {}),
        }
        for step in steps
    ]
    return {"dry_run": is_plan, "files": files, "problems": sum(bool(step.problem) for step in steps)}


def state(step: Step, *, is_plan: bool, removing: bool) -> str:
    if step.problem:
        return "left alone"
    if step.edit is None:
        return "as it was"
    act = "remove" if removing or step.note else "update" if step.had_ours else "add"
    return act if is_plan else _PAST[act]


def plan(steps: Sequence[Step], *, removing: bool, diffs: bool) -> Drawn:
    yield from _rows(steps, is_plan=True, removing=removing)
    for step in steps if diffs else ():
        if step.edit:
            yield ""
            yield from map(_colored, step.edit.diff().splitlines())


def done(steps: Sequence[Step], *, removing: bool) -> Drawn:
    yield from _rows(steps, is_plan=False, removing=removing)


def copies(steps: Sequence[Step], folder: Path) -> Drawn:
    kept = sum(step.edit is not None and step.edit.old is not None for step in steps)
    if kept:
        yield line((f"{several(kept, 'copies')} of what was there: {folder}", DIM))


def choices(question: str, them: Mapping[str, str]) -> Drawn:
    """What there is to choose from, before it is asked."""
    yield Text(question)
    width = max(map(len, them)) + 4
    for name, meaning in them.items():
        yield Indented(meaning, width, DIM, lead=Text(f"  {name}", "cyan"))


def _rows(steps: Sequence[Step], *, is_plan: bool, removing: bool) -> Drawn:
    clients = max((len(step.client) for step in steps), default=0)
    whats = max((len(step.what) for step in steps), default=0)
    for step in steps:
        what = state(step, is_plan=is_plan, removing=removing)
        names = f"{step.client:<{clients}}  {step.what:<{whats}}  "
        yield line(names, (f"{what:<10}", _STYLES.get(what, "green")), (f"  {step.path}", DIM))
        if step.problem:
            yield line(("  problem: ", "red"), step.problem)
        if step.note:
            yield line(("  note: ", "yellow"), step.note)


def _colored(text: str) -> Text:
    style = "bold" if text.startswith(("---", "+++")) else {"+": "green", "-": "red", "@": "cyan"}.get(text[:1], "")
    return Verbatim(line(text).plain, style)
