"""`retain init`: one project is made known."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from retain.app import Retain
from retain.config import load
from retain.engine.importing import FILE, Imported
from retain.surfaces import claude_md as summaries
from retain.surfaces.cli import client_work, exits, options
from retain.surfaces.cli.client_work import Work
from retain.surfaces.cli.draw import Drawn, several
from retain.surfaces.cli.options import SETTLE_SECONDS, Call, common
from retain.surfaces.setup import project as projects


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
    waiting = projects.left_behind(root)
    wanted = claude_md if claude_md is not None else _asked(call, root) if not (yes or dry_run) else True
    choices: dict[str, str | bool] = {"claude_md": wanted}
    if agents_md is not None:
        choices["agents_md"] = agents_md
    work = Work(call, list(projects.set_up(root, choices, team_server=project_server)))
    if dry_run:
        return work.show(project=str(root), would_import=waiting)
    work.allow(yes=yes)
    done = work.carry_out()
    imported, synced = _first_use(call, root)
    told = {"imported": _body(imported), "summaries": [str(one.path) for one in synced if _is_written(one)]}
    code = work.tell(done, _drawn(imported, synced), project=str(root), **told)
    return code or (exits.REFUSED if any(isinstance(one, summaries.Refused) for one in synced) else None)


def _asked(call: Call, root: Path) -> bool:
    """What was chosen before holds when nobody can be asked."""
    if call.terminal.as_json or not sys.stdin.isatty():
        return load(client_work.with_project(call, root)).settings.claude_md
    return click.confirm(f"Keep a summary of what is remembered in {root / 'CLAUDE.md'}?", default=True, err=True)


def _first_use(call: Call, root: Path) -> tuple[Imported | None, list[summaries.Outcome]]:
    with Retain(load(client_work.with_project(call, root)), own_session=False) as app:
        imported = projects.take_over(app, root)
        synced = summaries.sync_project(app)
        app.engine.settle(SETTLE_SECONDS)
    return imported, synced


def _is_written(outcome: summaries.Outcome) -> bool:
    return not isinstance(outcome, summaries.Refused) and outcome.path.exists()


def _body(imported: Imported | None) -> dict[str, object] | None:
    if imported is None:
        return None
    return {"added": imported.added, "known": imported.known, "skipped": list(imported.skipped)}


def _drawn(imported: Imported | None, synced: Sequence[summaries.Outcome]) -> Drawn:
    if imported is not None:
        known = f", {imported.known} were known" if imported.known else ""
        yield f"imported {several(imported.added, 'memories')} from {FILE}{known}"
        yield from (f"  skipped: {why}" for why in imported.skipped)
    for outcome in synced:
        if isinstance(outcome, summaries.Refused):
            yield str(outcome)
        elif outcome.path.exists():
            yield f"{outcome.path} has a summary"
        else:
            yield f"{outcome.path} is made when there is something to say"
