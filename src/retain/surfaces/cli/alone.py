"""`retain` alone: what to do next, or what is remembered."""

from retain.surfaces import reports
from retain.surfaces.cli import connect, welcome
from retain.surfaces.cli.options import Call
from retain.surfaces.cli.terminal import Terminal


def tell(terminal: Terminal) -> None:
    call = Call.of(terminal)
    settings = call.loaded.settings
    if not settings.is_on_server and not settings.database_file.exists():
        body = {"memories": 0, "connect": connect.for_claude_code(), "mcp_servers": connect.servers()}
        call.terminal.tell(body, welcome.empty())
        return
    with call.memory() as app:
        call.terminal.tell(reports.status(app), welcome.at_work(app.engine.status(app.caller())))
