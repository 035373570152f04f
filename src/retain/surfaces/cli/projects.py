"""`retain project`: what projects are called, and which there are."""

from pathlib import Path

import click

from retain.engine.tracking import projects
from retain.surfaces import bank_reports as reports
from retain.surfaces.cli import drawn_bank as draw
from retain.surfaces.cli import exits, options, spoken
from retain.surfaces.cli.options import Call, common

MOST_LISTED = 100


@click.group(invoke_without_command=True)
@click.pass_context
def project(context: click.Context) -> None:
    """Name a project, list and show those that are known; alone, show the one here.

    `retain projects` has the indexes of their code.
    """
    if context.invoked_subcommand is None:
        context.invoke(show)


@project.command()
@click.argument("name")
@click.argument("path", required=False)
@click.option("--description", metavar="TEXT", help="What the project is, in a few sentences.")
@common
def init(call: Call, name: str, path: str | None, description: str | None) -> None:
    """Give the project in PATH a NAME of its own, or another one; by default the project here."""
    with spoken.memory(call) as app:
        given = _folder(path) if path else spoken.project_here(app).path
        done = projects.init(app.engine.parts, app.project_at(given), name, description, app.caller())
    call.terminal.tell(reports.inited(done, given), draw.inited(done))


@project.command("list")
@options.limit(MOST_LISTED, 50)
@options.offset
@common
def list_(call: Call, limit: int, offset: int) -> int | None:
    """List the projects that have a name, memories, sessions or an index, in the order in which they became known."""
    with spoken.memory(call) as app:
        found, total = projects.listed(app.engine.parts, app.caller(), limit, offset)
    call.terminal.tell(reports.projects(found, total, limit, offset), draw.projects(found, total, offset))
    return None if found else exits.NOTHING


@project.command()
@click.argument("named", metavar="[NAME|ID|PATH]", required=False)
@common
def show(call: Call, named: str | None = None) -> None:
    """Show what is known of a project; by default the one here."""
    with spoken.memory(call) as app:
        caller = app.caller(project=_spelled(named) if named else None)
        meant = caller.project or spoken.project_here(app)
        profile, now = projects.known(app.engine.parts, meant.id, caller), app.now()
        is_kept = app.engine.parts.store.profile(meant.id, caller.user) is not None
    call.terminal.tell(reports.project(profile), draw.project(profile, now if is_kept else None))


def _spelled(named: str) -> str:
    return _folder(named) if "/" in named or named in (".", "..") else named


def _folder(path: str) -> str:
    """A path as it is meant where it was typed, which need not be the project's folder."""
    return path if path.startswith("~") else str(Path(path).absolute())
