"""`retain key`: the key of a language model, kept for the user alone."""

import sys
from pathlib import Path

import click

from retain import keys
from retain.config import user_home, whole_environment
from retain.errors import NotFound
from retain.surfaces.cli.options import Call, common

_CHOOSE = "A key alone chooses nothing: set llm, or run `retain setup`, to have a language model asked."


@click.group(invoke_without_command=True)
@click.pass_context
def key(context: click.Context) -> None:
    """Keep, show or remove the key of the language model that was chosen; alone, show."""
    if context.invoked_subcommand is None:
        context.invoke(show)


@key.command("set")
@common
def set_(call: Call) -> None:
    """Keep a key; it is read from standard input, or asked for without showing it."""
    given = click.prompt("Key", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline()
    file = keys.store_key(call.loaded.settings, given)
    chosen = call.loaded.settings.llm
    drawn = [f"kept in {file}, for you alone to read", *([_CHOOSE] if chosen == "none" else [])]
    call.terminal.tell({"file": str(file), "llm": chosen}, drawn)


@key.command()
@common
def show(call: Call) -> None:
    """Say which key is used, and where it was found; never the key itself."""
    settings = call.loaded.settings
    found = keys.find_key(settings, whole_environment(), user_home())
    kept = keys.key_file(settings)
    origin = found.origin if found else None
    fault = None if found else keys.why_none(settings, whole_environment(), user_home())
    body = {"llm": settings.llm, "origin": origin, "ends_in": _end(found), "kept": kept.exists()}
    body |= {"fault": fault} if fault else {}
    call.terminal.tell(
        body, [f"{settings.llm} was chosen, and {fault}"] if fault else _drawn(settings.llm, found, kept)
    )


@key.command()
@common
def remove(call: Call) -> None:
    """Remove the key that `retain key set` kept."""
    file = keys.key_file(call.loaded.settings)
    if not keys.remove_key(call.loaded.settings):
        raise NotFound(f"there is no key in {file}; keys in other places are left alone")
    call.terminal.tell({"removed": str(file)}, [f"removed {file}"])


def _end(found: keys.Found | None) -> str | None:
    """Enough to tell one key from another, and no more."""
    return found.key[-4:] if found and len(found.key) >= 20 else None


def _drawn(llm: str, found: keys.Found | None, kept: Path) -> list[str]:
    if llm == "none":
        also = [f"one is kept in {kept}"] if kept.exists() else []
        return ["no language model was chosen, so no key is looked for", *also]
    if found is None:
        return [f"{llm} was chosen, and no key was found; `retain key set` keeps one"]
    return [f"{llm} uses the key from {found.origin}" + (f", which ends in {_end(found)}" if _end(found) else "")]
