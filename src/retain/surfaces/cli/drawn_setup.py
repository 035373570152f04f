"""What setting up and taking down changed, or would change, for people and for programs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.text import Text

from retain.clients.planning import Step
from retain.domain.visible import marked
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


def rows(steps: Sequence[Step], width: int, *, is_plan: bool, removing: bool) -> Drawn:
    """One for each file, in a terminal so wide."""
    clients = max((len(step.client) for step in steps), default=0)
    whats = max((len(step.what) for step in steps), default=0)
    for step in steps:
        what = state(step, is_plan=is_plan, removing=removing)
        names = f"{step.client:<{clients}}  {step.what:<{whats}}  "
        yield from _row(line(names, (f"{what:<10}", _STYLES.get(what, "green"))), step.path, width)
        if step.problem:
            yield Indented(step.problem, 11, lead=Text("  problem: ", "red"))
        if step.note:
            yield Indented(step.note, 8, lead=Text("  note: ", "yellow"))


def diffs(steps: Sequence[Step]) -> Drawn:
    changes = [step.edit for step in steps if step.edit]
    for edit in changes:
        yield ""
        yield from map(_colored, edit.diff().splitlines())
    if changes:
        yield ""


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


def _row(lead: Text, path: Path, width: int) -> Drawn:
    """What became of a file, and the file: in full, shortened, or on a line of its own, as it fits."""
    for shown in (str(path), _short(path)):
        row = Text.assemble(lead, "  ", (marked(shown), DIM))
        if row.cell_len <= width:
            yield row
            return
    yield lead
    yield Verbatim(f"    {marked(_short(path))}", DIM)


def _short(path: Path) -> str:
    """As seen from here or from home, if it is in there."""
    if path.is_relative_to(Path.cwd()):
        return str(path.relative_to(Path.cwd()))
    return str(Path("~") / path.relative_to(Path.home())) if path.is_relative_to(Path.home()) else str(path)


def _colored(text: str) -> Text:
    style = "bold" if text.startswith(("---", "+++")) else {"+": "green", "-": "red", "@": "cyan"}.get(text[:1], "")
    return Verbatim(line(text).plain, style)
