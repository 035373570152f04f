"""Commands that look after a memory: status, config, doctor, reembed, backup, restore."""

from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from retain import doctor as health
from retain import hook_health, maintenance
from retain.app import SystemClock
from retain.config import files_with_passwords, load, settings_files
from retain.domain.time import iso
from retain.errors import EmbeddingFailed, Refused, StoreDown
from retain.model_health import MODEL_SECONDS
from retain.surfaces import reports
from retain.surfaces.cli import bodies, drawn_state, exits, options
from retain.surfaces.cli.options import Call, common
from retain.surfaces.cli.pausing import paused_here


@click.command()
@common
def status(call: Call) -> None:
    """Show how much is remembered, where, and by which model it is found."""
    with call.memory() as app:
        caller = app.caller()
        paused = paused_here(app)
        body = {**reports.status(app), "capture_paused_since": iso(paused) if paused else None}
        call.terminal.tell(body, drawn_state.status(app.engine.status(caller), caller, app.settings, paused))


@click.command()
@click.option("--path", is_flag=True, help="Only print the files that are looked at, the project's first.")
@common
def config(call: Call, path: bool) -> int | None:
    """Show every setting, its value and where that came from."""
    files = settings_files(call.given)
    if path:
        call.terminal.tell({"files": [str(file) for file in files]}, map(str, files))
        return None
    call.terminal.tell(bodies.settings(call.loaded, files), drawn_state.settings(call.loaded, files))
    return exits.BAD_INPUT if call.loaded.problems else None


@click.command()
@click.option("--repair", is_flag=True, help="Do what is safe: permissions, indexes, damaged files, backups.")
@click.option("--settle", is_flag=True, help="Go on without what is missing: it is no longer told of, its bytes stay.")
@options.yes
@common
def doctor(call: Call, repair: bool, settle: bool, yes: bool) -> int | None:
    """Check the install, the settings, the store, the model and the backups, and name the repair."""
    try:
        done = _repaired(call, yes=yes) if repair else []
        done += maintenance.settle(call.loaded) if settle else []
    except OSError as error:
        where = error.filename or call.loaded.settings.home
        raise StoreDown(
            f"{where} cannot be written to ({error.strerror}); make it writable and run this again"
        ) from error
    # Read anew: a repair may have changed what was wrong with the settings.
    checks = health.examine(load(call.given), files_with_passwords(call.given), SystemClock().now())
    sound = health.is_sound(checks)
    call.terminal.tell(bodies.checks(checks, done, sound=sound), drawn_state.checks(checks, done))
    return None if sound else exits.UNSOUND


@click.command()
@common
def reembed(call: Call) -> None:
    """Make the vectors that are missing, or were made by another model."""
    with call.memory() as app:
        if not app.engine.parts.embedder.wait(MODEL_SECONDS):
            raise EmbeddingFailed(f"no vectors can be made: {app.engine.parts.embedder.state().why or 'still loading'}")
        waiting = app.engine.status(app.caller()).counts.unembedded
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(
            *columns, console=call.terminal.errors, disable=not call.terminal.shows_progress, transient=True
        ) as bar:
            task = bar.add_task("embedding", total=waiting)
            made = app.engine.reembed(lambda done: bar.update(task, completed=done, total=max(waiting, done)))
        model = app.engine.parts.embedder.model
    call.terminal.tell({"embedded": made, "model": model}, [f"{made} memories embedded by {model}"])


@click.command()
@click.argument("file", type=options.path, required=False)
@common
def backup(call: Call, file: Path | None) -> None:
    """Copy the whole store into one FILE; by default into the backups folder."""
    with call.memory() as app:
        made = maintenance.backup(app, app.now(), file)
    size = made.stat().st_size
    call.terminal.tell({"file": str(made), "bytes": size}, [f"{made} ({size / 1e6:.1f} MB)"])


@click.command()
@click.argument("file", type=options.path)
@options.yes
@common
def restore(call: Call, file: Path, yes: bool) -> None:
    """Put a backup FILE in the place of the store; the present one is kept beside it."""
    call.check_decided()
    settings = call.loaded.settings
    is_there = file.is_file() and not settings.uses_surrealdb  # else it is refused without a question
    if is_there and not yes and not call.terminal.asked(f"Replace {settings.database_file} by {file}?"):
        raise Refused(f"{file} was not restored: it takes the place of the present store, so it takes --yes")
    done = maintenance.restore(settings, file)
    body = {
        "restored": str(file),
        "store": str(settings.database_file),
        "replaced_store_kept_as": str(done.kept),
        "notes": list(done.notes),
    }
    call.terminal.tell(body, [f"restored {file}", f"what was there is kept as {done.kept}", *done.notes])


def _repaired(call: Call, *, yes: bool) -> list[str]:
    settings = call.loaded.settings
    done = maintenance.close_up(settings, files_with_passwords(call.given))
    if again := hook_health.try_again(settings.home.expanduser()):
        done.append(f"{again} conversations wait to be captured again")
    if settings.database_file.exists() or maintenance.is_known(settings):
        question = "Nothing can be read from a damaged store. Restore {}?"
        done += maintenance.mend(settings, lambda backup: yes or call.terminal.asked(question.format(backup)))
    return done
