"""Commands that tell clients about this memory and take it back: setup and teardown."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from retain.app import SystemClock
from retain.clients import launcher, planning, this_install
from retain.clients.faults import Unfit
from retain.clients.known import CLAUDE_CODE, CLIENTS, Client, Machine, named
from retain.clients.planning import Step
from retain.clients.state import plugin_note
from retain.config import LLMS, TOOLSETS, VARIABLES, load, settings_files
from retain.errors import NotFound, Refused
from retain.setting_values import toolsets
from retain.surfaces import claude_md as summaries
from retain.surfaces.cli import client_work, drawn_setup, exits, options
from retain.surfaces.cli.client_work import Work
from retain.surfaces.cli.options import Call, common
from retain.surfaces.cli.terminal import Terminal
from retain.surfaces.setup import approving
from retain.surfaces.setup import project as projects
from retain.surfaces.setup import summaries as in_project
from retain.surfaces.setup.worker import end_worker
from retain.whereabouts import shown

_LLM = {
    "none": "the bundled judge alone: on this machine, nothing is sent, nothing to pay",
    "anthropic": "Anthropic's API with a key of yours: some cents a day, at most llm_daily_usd (1 dollar)",
    "openai": "OpenAI's API or what speaks like it; with llm_url also a model on this machine",
    "claude-cli": "the `claude` command, within your subscription",
}
_ADVICE = (
    "Recommended: none. The judge hears most of what is said; a model words it better and costs some cents a day.",
    "A model is sent the parts of conversations that seem worth keeping. A key in the environment is no consent.",
)
# Settings that belong to one run or one folder anyway.
_OF_ONE_RUN = ("project_dir", "session_id", "log_level")


def _toolset(_: click.Context, __: click.Parameter, given: str | None) -> str | None:
    try:
        return None if given is None else toolsets(TOOLSETS)(given)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@client_work.clients
@click.option("--llm", type=click.Choice(LLMS), help="Which language model may be asked; none needs no key.")
@click.option("--tool-hooks/--no-tool-hooks", default=None, help="Hooks on every tool call too; they are never free.")
@click.option(
    "--statusline/--no-statusline", default=None, help="Show Retain in Claude Code's status line, if none is set there."
)
@click.option("--toolset", metavar="NAMES", callback=_toolset, help=f"Tools for agents: {', '.join(TOOLSETS)}.")
@options.yes
@client_work.dry_run
@common
def setup(
    call: Call,
    names: Sequence[str],
    llm: str | None,
    tool_hooks: bool | None,
    statusline: bool | None,
    toolset: str | None,
    yes: bool,
    dry_run: bool,
) -> int | None:
    """Register the server with the clients found here, and the hooks with Claude Code.

    Doing it again changes nothing but what has changed since. Only the entries of Retain are touched in the files of
    clients, and copies of those are kept.
    """
    _refuse_passing()
    clients = _chosen(names, Machine.here())
    if llm is None and not yes and not dry_run:
        llm = _asked(call)
    steps = list(planning.set_up(clients, Machine.here(), tool_hooks=tool_hooks, statusline=statusline))
    chosen = {name: value for name, value in (("llm", llm), ("toolset", toolset)) if value}
    if chosen:
        steps.append(planning.settings(settings_files(call.given)[1], chosen))
    left_alone = list(_without_status_line(clients)) if statusline else []
    work = Work(call, steps, remarks=[*_to_note(), *left_alone])
    if dry_run:
        return work.show()
    work.allow(yes=yes)
    done = work.carry_out()
    remarks = [*_noted(call), *left_alone, *_afterwards(call, done, llm)]
    return work.tell(done, iter(remarks), remarks=remarks)


@click.command()
@client_work.clients
@click.option(
    "--project",
    is_flag=False,
    flag_value=".",
    type=click.Path(exists=True, file_okay=False),
    metavar="[DIR]",
    help="Take back what `retain init` did there, and nothing else.",
)
@click.option("--claude-md", is_flag=True, help="With --project: remove the summary from CLAUDE.md and AGENTS.md too.")
@options.yes
@client_work.dry_run
@click.option("--json", "as_json", is_flag=True, help="One line of JSON, and nothing else on standard output.")
def teardown(
    names: Sequence[str], project: str | None, claude_md: bool, yes: bool, dry_run: bool, as_json: bool
) -> int | None:
    """Take back what setup did or, with --project, init. Memories stay."""
    everywhere = click.get_current_context().find_root().params.get("as_json")
    call = Call.of(Terminal(as_json=bool(as_json or everywhere)), project_dir=project)
    if project is None and claude_md:
        raise exits.UsageError("--claude-md goes with --project: summaries are in projects")
    if project is not None and names:
        raise exits.UsageError("--client does not go with --project: clients know of no project")
    root = projects.root(call.loaded.settings) if project is not None else None
    steps = projects.take_down(root, client_work.journal(call)) if root else _everywhere(call, names)
    work = Work(
        call,
        [step for step in steps if step.edit or step.problem],
        removing=True,
        summaries=list(in_project.removed(root)) if root and claude_md else (),
        remarks=list(_staying(root)) if root and not claude_md else (),
    )
    if dry_run:
        return work.show()
    work.allow(yes=yes)
    before = load(client_work.with_project(call, root)).project_file if root else None
    done = work.carry_out()
    approving.follow(before, done)
    outcomes = _without_summaries(call, root, work) if root and claude_md else []
    remarks = [*(_project_parting(work, outcomes) if root else _parting(call, done, names)), *_kept(call)]
    code = work.tell(done, iter(remarks), remarks=remarks)
    return code or (exits.REFUSED if any(isinstance(one, summaries.Refused) for one in outcomes) else None)


def _chosen(names: Sequence[str], machine: Machine) -> list[Client]:
    found = [named(name) for name in dict.fromkeys(names)] or [one for one in CLIENTS if one.is_found(machine)]
    if not found:
        looked_for = ", ".join(one.title for one in CLIENTS)
        raise NotFound(f"no client was found here (looked for {looked_for}); --client NAME sets one up all the same")
    return found


def _without_status_line(clients: Sequence[Client]) -> Iterator[str]:
    if CLAUDE_CODE not in clients:
        yield "no status line was registered: only Claude Code has one, and it is not set up here"
    elif planning.has_other_status_line(Machine.here()):
        yield "Claude Code has another status line already, which stays; `retain statusline` can be called from it"


def _refuse_passing() -> None:
    if folder := this_install.passing_folder():
        raise Refused(
            f"this Retain runs from {folder}, which will be cleared away; install it first, with `uv tool install .` "
            "or `pipx install .` in a clone, or in a virtual environment, and run setup from there"
        )


def _asked(call: Call) -> str | None:
    """Somebody at a terminal is asked once; what is set stays."""
    if call.terminal.as_json or not sys.stdin.isatty() or "llm" in call.loaded.origins:
        return None
    call.terminal.draw(drawn_setup.choices("Which language model may read conversations for what to keep?", _LLM))
    call.terminal.draw(_ADVICE)
    return str(click.prompt("Model", type=click.Choice(LLMS), default="none", err=True))


def _afterwards(call: Call, done: Sequence[Step], llm: str | None) -> Iterator[str]:
    if any(step.edit for step in done):
        yield "Clients that are running see it once they are started again. `retain doctor` checks it."
    in_force = load(call.given)
    if llm and in_force.settings.llm != llm:
        yield f"llm is still {in_force.settings.llm}: {in_force.origins.get('llm')} goes before the settings file"
    elif llm in ("anthropic", "openai"):
        yield f"`retain key` says which key {llm} would get, and keeps one if you like."
    for name, origin in call.loaded.origins.items():
        if origin in VARIABLES[name] and name not in _OF_ONE_RUN:
            file = settings_files(call.given)[1]
            yield f"{origin} is set here only, and clients started elsewhere do not see it; set {name} in {file}"


def _everywhere(call: Call, names: Sequence[str]) -> Iterator[Step]:
    journal = client_work.journal(call)
    chosen = [named(name) for name in dict.fromkeys(names)] or CLIENTS
    yield from planning.take_down(chosen, Machine.here(), journal)
    if not names:
        yield planning.only_exact(settings_files(call.given)[1], journal)


def _to_note() -> Iterator[str]:
    machine = Machine.here()
    if not launcher.is_noted(machine):
        yield f"{launcher.file(machine)} will say where this installation is, for the plugin of Claude Code"


def _noted(call: Call) -> Iterator[str]:
    """Notes where this installation is, for a plugin that is there or will be."""
    machine = Machine.here()
    try:
        launcher.note(machine, client_work.journal(call))
    except Unfit as error:
        yield error.message
    else:
        if plugin_note(machine):
            yield f"the plugin starts {launcher.found(machine)}"


def _parting(call: Call, done: Sequence[Step], names: Sequence[str]) -> Iterator[str]:
    if not names:
        launcher.forget(Machine.here(), client_work.journal(call))
    if not done:
        yield "No client knows of this memory."
    if note := plugin_note(Machine.here()):
        yield note
    ended = end_worker(call.loaded.settings.home)
    if ended is not None:
        yield "the capturing process was ended" if ended else "a capturing process is at work and ends by itself"


def _without_summaries(call: Call, root: Path, work: Work) -> list[summaries.Outcome]:
    return in_project.remove(root, work.summaries, client_work.journal(call), SystemClock().now())


def _project_parting(work: Work, outcomes: Sequence[summaries.Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        if isinstance(outcome, summaries.Refused):
            yield str(outcome)
        elif isinstance(outcome, summaries.Written):
            yield f"the summary was taken out of {outcome.path}"
    if not work.planned:
        yield "there was nothing to take back in this project"
    yield from work.remarks


def _staying(root: Path) -> Iterator[str]:
    for file in in_project.standing(root):
        yield f"the summary in {file} stays, and is no longer kept up; --claude-md removes it"


def _kept(call: Call) -> Iterator[str]:
    settings = call.loaded.settings
    if settings.is_on_server or settings.database_file.exists():
        yield f"memories stay where they are: {shown(settings)}"
