"""`kill -9` of a server right after a reply: whoever is alive next compares what it wrote, and nothing is lost."""

import pytest

from retain.domain.changes import ContradictionState
from surfaces.wire import Desk, Wire, environment, serve_command

ON = "The {} service listens on port {}."
NAMES = ("auth", "billing", "cart", "docs")


@pytest.mark.parametrize("replies", [1, 3])
def test_a_killed_server_loses_no_comparison(tmp_path, replies):
    server = Wire(*serve_command(), env=environment(tmp_path))
    try:
        server.hello()
        names = NAMES[:replies]
        for text in (ON.format(name, port) for name in names for port in (8080, 9090)):
            server.body("store_memory", content=text, type="semantic", scope="project")
    finally:
        server.process.kill()
        server.process.wait()
    desk = Desk(tmp_path)
    try:
        desk.app.look_after()
        assert desk.app.engine.settle(60)
        assert desk.store.uncompared(10) == []
        _, total = desk.app.engine.trust.disputes(desk.app.caller(), (ContradictionState.OPEN,), 10)
        assert total == len(names)
    finally:
        desk.app.close()
