"""`retain init`: one project is made known."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from retain.app import Retain, SystemClock
from retain.approvals import Verdict
from retain.clients.planning import Step
from retain.config import ProjectFile, load
from retain.engine.importing import FILE, Imported
from retain.surfaces import claude_md as summaries
from retain.surfaces.cli import client_work, exits, options
from retain.surfaces.cli.client_work import Work
from retain.surfaces.cli.draw import Drawn, several
from retain.surfaces.cli.options import SETTLE_SECONDS, Call, common
from retain.surfaces.cli.trust import is_approved
from retain.surfaces.setup import approving
from retain.surfaces.setup import project as projects
from retain.surfaces.setup import summaries as in_project


@click.command()
@click.option("--claude-md/--no-claude-md", default=None, help="Keep a summary in the project's CLAUDE.md.")
@click.option("--agents-md/--no-agents-md", default=None, help="The same in its AGENTS.md.")
@click.option("--project-server", is_flag=True, help="List the server in .mcp.json, for everyone who has the project.")
@options.yes
@client_work.dry_run
@common
def init(
    call: Call, claude_md: bool | None, agents_md: bool | None, project_server: bool, yes: bool, dry_run: bool
) -> int | None:
    """Make the project of this folder known: a summary in its CLAUDE.md, and what an earlier memory left there."""
    root = projects.root(call.loaded.settings)
    waiting, before = projects.left_behind(root), _decided(call, root, ask=not (yes or dry_run))
    wanted = claude_md if claude_md is not None else _asked(call, root) if not (yes or dry_run) else True
    choices: dict[str, str | bool] = {"claude_md": wanted}
    if agents_md is not None:
        choices["agents_md"] = agents_md
    steps = list(projects.set_up(root, choices, team_server=project_server))
    work = Work(call, steps, summaries=_planned(call, root, choices), remarks=_announced(waiting))
    if dry_run:
        return work.show(project=str(root), would_import=waiting)
    work.allow(yes=yes)
    done = work.carry_out()
    approving.follow(before, done)
    imported, synced = _first_use(call, root)
    standing, kept = in_project.standing(root), [one.path for one in synced]
    told = {"imported": _body(imported), "summaries": [str(file) for file in standing if file in kept]}
    code = work.tell(done, _drawn(imported, synced, standing), project=str(root), **told)
    return code or (exits.REFUSED if any(isinstance(one, summaries.Refused) for one in synced) else None)


def _decided(call: Call, root: Path, *, ask: bool) -> ProjectFile | None:
    """The project's settings file before anything is changed; what it asks for, its user is asked about first."""
    file = load(client_work.with_project(call, root)).project_file
    if file and file.is_undecided and ask and is_approved(call.terminal, file):
        approving.decide(file, Verdict.APPROVED)
        return replace(file, verdict=Verdict.APPROVED)
    return file


def _asked(call: Call, root: Path) -> bool:
    """What was chosen before holds when nobody can be asked."""
    if call.terminal.as_json or not sys.stdin.isatty():
        return load(client_work.with_project(call, root)).settings.claude_md
    return click.confirm(f"Keep a summary of what is remembered in {root / 'CLAUDE.md'}?", default=True, err=True)


def _planned(call: Call, root: Path, choices: Mapping[str, object]) -> list[Step]:
    loaded = load(client_work.with_project(call, root))
    files = in_project.kept(root, loaded.settings, choices)
    if not files or loaded.is_held:  # what is known is known when it is decided which store it is in
        return []
    return list(in_project.written(files, in_project.text_now(loaded)))


def _announced(waiting: int) -> list[str]:
    if not waiting:
        return []
    return [
        f"{several(waiting, 'memories')} in {FILE} are imported if they are not known yet, and a summary has them too"
    ]


def _first_use(call: Call, root: Path) -> tuple[Imported | None, list[summaries.Outcome]]:
    with Retain(load(client_work.with_project(call, root)), own_session=False) as app:
        imported = projects.take_over(app, root)
        kept = [] if app.loaded.is_held else in_project.kept(root, app.settings, {})
        changes = list(in_project.written(kept, summaries.summary(app)))
        in_project.keep_copies(changes, client_work.journal(call), SystemClock().now())
        synced = summaries.sync_project(app)
        app.engine.settle(SETTLE_SECONDS)
    return imported, synced


def _body(imported: Imported | None) -> dict[str, object] | None:
    if imported is None:
        return None
    return {"added": imported.added, "known": imported.known, "skipped": list(imported.skipped)}


def _drawn(imported: Imported | None, synced: Sequence[summaries.Outcome], standing: Sequence[Path]) -> Drawn:
    if imported is not None:
        known = f", {imported.known} were known" if imported.known else ""
        yield f"imported {several(imported.added, 'memories')} from {FILE}{known}"
        yield from (f"  skipped: {why}" for why in imported.skipped)
    for outcome in synced:
        if isinstance(outcome, summaries.Refused):
            yield str(outcome)
        elif isinstance(outcome, summaries.Written):
            yield f"the summary in {outcome.path} was written"
        elif outcome.path in standing:
            yield f"the summary in {outcome.path} is up to date"
        else:
            yield f"{outcome.path} gets a summary when there is something to say"
