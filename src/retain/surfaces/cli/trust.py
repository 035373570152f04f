"""`retain trust`: what a person decides about the settings that a project's folder asks for."""

from contextlib import closing

import click

from retain import approvals, held
from retain.approvals import Verdict
from retain.config import Loaded, ProjectFile, load, settings_files
from retain.errors import Refused, RetainError
from retain.held import Sent
from retain.setting_kinds import KINDS, is_place
from retain.standing import of_settings
from retain.surfaces.cli import bodies, exits, options
from retain.surfaces.cli.draw import Drawn, several
from retain.surfaces.cli.options import Call, common
from retain.surfaces.cli.terminal import Indented, Terminal, line
from retain.surfaces.render import Body
from retain.surfaces.setup import approving
from retain.wiring import make_store

_SAID = {Verdict.APPROVED: "approved: these settings are used", Verdict.REFUSED: "refused: these settings are not used"}


@click.command()
@click.option("--refuse", is_flag=True, help="Do not use them; what waits is stored as it would be without them.")
@click.option("--revoke", is_flag=True, help="Take back what was decided about this project's file.")
@click.option("--list", "listed", is_flag=True, help="List every decision, of all projects.")
@options.yes
@common
def trust(call: Call, refuse: bool, revoke: bool, listed: bool, yes: bool) -> int | None:
    """Approve or refuse the settings file of this project.

    A project's .claude/retain.local.md may have come with a clone. What it asks for is shown, and what that would do.
    The decision holds for what stands in the file now: after any change you are asked again.
    """
    if refuse + revoke + listed + yes > 1:
        raise exits.UsageError("--yes, --refuse, --revoke and --list do not go together")
    if listed:
        _list(call)
        return None
    file = _file(call)
    if revoke:
        _revoke(call.terminal, file)
        return None
    waiting = held.count(call.loaded)
    if not file.holds and not waiting.waiting and not waiting.refused:
        call.terminal.tell(_body(file), [_nothing_asked(file)])
        return None
    verdict = Verdict.REFUSED if refuse else Verdict.APPROVED
    if verdict is Verdict.APPROVED and not yes:
        _ask(call.terminal, file, waiting.waiting + waiting.refused)
    approving.decide(file, verdict)
    loaded = _unchanged(load(call.given), file)
    call.terminal.notices = lambda: of_settings(loaded.problems)
    sent = _sent(loaded)
    decided = verdict if file.holds else None
    call.terminal.tell(_body(file, decided) | _moved(sent), _drawn(file, decided, sent))
    return exits.UNAVAILABLE if sent.waiting else exits.REFUSED if sent.refused else None


def is_approved(terminal: Terminal, file: ProjectFile) -> bool:
    """Whether somebody who is shown what the file asks for says yes."""
    if not terminal.as_json:
        for each in _asked_for(file):
            terminal.errors.print(each)
    return terminal.asked("Use these settings?")


def _ask(terminal: Terminal, file: ProjectFile, waiting: int) -> None:
    if not file.holds:
        question = f"{file.path} asks for nothing now. Store {several(waiting, 'writes')} as without it?"
        if not terminal.asked(question):
            raise Refused(f"{several(waiting, 'writes')} still wait: --yes stores them as without {file.path}")
    elif not is_approved(terminal, file):
        names = ", ".join(file.holds)
        raise Refused(f"nothing was decided about {file.path} ({names}): --yes approves it, --refuse refuses it")


def _unchanged(loaded: Loaded, shown: ProjectFile) -> Loaded:
    """What waits may go nowhere but where the file said that somebody decided about."""
    if loaded.project_file is None or loaded.project_file.content != shown.content:
        told = f"{shown.path} was changed in the meantime, and the decision holds for what was in it before"
        raise Refused(f"{told}; what waits goes on waiting. Run `retain trust` again")
    return loaded


def _nothing_asked(file: ProjectFile) -> str:
    if not file.content.digest:
        return f"There is no {file.path}, so there is nothing to approve"
    return f"{file.path} asks for nothing that needs your approval"


def _asked_for(file: ProjectFile) -> Drawn:
    yield line((str(file.path), "bold"), " asks for:")
    for name, value in file.holds.items():
        yield Indented(line((f"{name}: ", "bold"), _plain(str(bodies.shown_value(name, value)))), 2)
        yield Indented(f"→ {KINDS[name].does}", 6)


def _plain(text: str) -> str:
    """What letters look like is not what is approved: those of other scripts are shown by their numbers."""
    bare = text.replace(bodies.MASK, "")
    return text if bare.isascii() and bare.isprintable() else ascii(text)


def _body(file: ProjectFile, verdict: Verdict | None = None) -> Body:
    decided = verdict or file.verdict
    return {
        "file": str(file.path),
        "sha256": file.content.digest or None,
        "verdict": decided.value if decided else None,
        "settings": [
            {
                "name": name,
                "value": bodies.shown_value(name, value),
                "does": KINDS[name].does,
                "says_where": is_place(name),
            }
            for name, value in file.holds.items()
        ],
    }


def _file(call: Call) -> ProjectFile:
    if call.loaded.project_file is None:
        path = settings_files(call.given)[0]
        why = next((problem for problem in call.loaded.problems if str(path) in problem), "it is your own file")
        raise Refused(f"nothing can be decided about {path}: {why}")
    return call.loaded.project_file


def _list(call: Call) -> None:
    home = call.loaded.project_file.kept_in if call.loaded.project_file else call.loaded.settings.home
    them = approvals.decisions(home)
    rows = [{"file": d.content.path, "sha256": d.content.digest, "verdict": d.verdict.value, "at": d.at} for d in them]
    drawn = [
        line((f"{row['verdict']:<9} ", "bold"), f"{row['file']}  {row['at']}  {row['sha256'][:12]}") for row in rows
    ]
    call.terminal.tell({"decisions": rows}, drawn or ["nothing was decided yet"])


def _revoke(terminal: Terminal, file: ProjectFile) -> None:
    count = approvals.revoke(file.kept_in, file.content.path)
    drawn = (
        f"{several(count, 'decisions')} about {file.path} taken back; servers that run go on until they are restarted"
    )
    terminal.tell({"file": str(file.path), "revoked": count}, [drawn])


def _sent(loaded: Loaded) -> Sent:
    """Sends what waited for the decision; what cannot be sent now is sent when the memory is next used."""
    waiting = held.count(loaded)
    if not waiting.waiting and not waiting.refused:
        return Sent()
    try:
        with closing(make_store(loaded.settings)) as store:
            return held.send_on(loaded, store, again=True)
    except RetainError as error:
        return Sent(waiting=waiting.waiting + waiting.refused, why=error.message)


def _moved(sent: Sent) -> Body:
    return {"sent": sent.sent, "refused": sent.refused, "waiting": sent.waiting, "reason": sent.why or None}


def _drawn(file: ProjectFile, verdict: Verdict | None, sent: Sent) -> Drawn:
    yield line((f"{file.path}: ", "bold"), _SAID[verdict] if verdict else "asks for nothing that needs your approval")
    if sent.sent:
        yield f"{several(sent.sent, 'writes')} that waited for it {'was' if sent.sent == 1 else 'were'} stored"
    if sent.refused:
        yield f"{several(sent.refused, 'writes')} could not be stored; `retain doctor` says why"
    if sent.waiting:
        yield f"{several(sent.waiting, 'writes')} still wait: {sent.why}. They are stored when the memory is next used"
