"""A small application behind the real server, to be started as a process of its own."""

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from retain.errors import StoreDown
from retain.standing import Notice
from retain.surfaces.mcp import stdio
from retain.surfaces.mcp.progress import Progress
from retain.surfaces.mcp.server import Offer, RetainServer
from retain.surfaces.mcp.subscriptions import ResourceSpec
from retain.surfaces.mcp.tools import Toolset

Scope = Literal["session", "project", "user"]


class Toy:
    """Its store is a file that other processes may lengthen."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes = folder / "notes"
        self.notes.touch()
        self.notify: Callable[[str], None] = print
        self.notices: Callable[[], tuple[Notice, ...]] = tuple

    def change_number(self) -> int:
        return self.notes.stat().st_size

    def close(self) -> None:
        (self.folder / "closed").touch()

    def warm(self) -> None:
        (self.folder / "warm").touch()


class Source(TypedDict, total=False):
    tool: str
    turn: int


class Entity(BaseModel):
    name: str
    type: str


class Stored(TypedDict):
    stored: dict[str, object]


tools = Toolset("toy")


@tools.tool("Store a note", idempotent=True)
def store(
    app: Toy,
    content: Annotated[str, Field(description="What to keep.", min_length=1)],
    type: Literal["episodic", "semantic", "procedural"],
    importance: Annotated[float, Field(ge=0, le=1)] = 0.5,
    turn: Annotated[int, Field(ge=0)] | None = None,
    tags: list[str] | None = None,
    scope: Scope | list[Scope] | None = None,
    source: Source | None = None,
    entities: list[Entity] | None = None,
    metadata: dict[str, object] | None = None,
) -> dict[str, object]:
    """Call this when something should be kept."""
    with app.notes.open("a") as notes:
        notes.write("x")
    names = [entity.name for entity in entities or ()]
    return {
        "content": content[:40],
        "length": len(content),
        "importance": importance,
        "turn": turn,
        "tags": tags,
        "scope": scope,
        "names": names,
    }


@tools.tool("Count the notes", read_only=True, output={"type": "object", "required": ["count"]})
def count(app: Toy) -> dict[str, object]:
    """Call this to know how many there are."""
    return {"count": app.change_number()}


@tools.tool("Wait", read_only=True, meta={"anthropic/searchHint": "sleep"})
def wait(app: Toy, seconds: float) -> dict[str, object]:
    """Call this to test patience."""
    time.sleep(seconds)
    return {"waited": seconds}


@tools.tool("Break", output=Stored)
def crash(app: Toy) -> dict[str, object]:
    """Call this never."""
    raise ZeroDivisionError("a secret detail")


@tools.tool("Fail")
def fail(app: Toy) -> dict[str, object]:
    """Call this to see an error."""
    raise StoreDown("the store is away", queued=3)


@tools.tool("Climb")
def climb(app: Toy, steps: int, progress: Progress) -> dict[str, object]:
    """Call this for work that goes on after the answer."""

    def go_on() -> None:
        for step in (2, 1, 3, steps):
            progress(step, steps, f"step {step}")

    progress(1, steps, "step 1")
    threading.Timer(0.3, go_on).start()
    return {"climbing": True}


@tools.tool("Announce")
def announce(app: Toy) -> dict[str, object]:
    """Call this to tell subscribers without changing anything."""
    app.notify("toy://other")
    return {}


@tools.tool("Odd name", name="odd-name")
def odd(app: Toy) -> dict[str, object]:
    """Call this for a file name that is not text."""
    return {"path": os.fsdecode(b"\xff.py"), "text": "é"}


offer = Offer(
    version="1.2.3",
    instructions="Ask the toy.",
    toolsets=lambda: [tools],
    resources=lambda: [
        ResourceSpec("toy://notes", "Notes", "How many notes", "text/plain", lambda app: str(app.change_number())),
        ResourceSpec("toy://other", "Other", "Something else", "text/plain", lambda app: "other"),
    ],
)

if __name__ == "__main__":
    app = Toy(Path(sys.argv[1]))
    for option in sys.argv[2:]:
        stdio.GRACE_SECONDS = float(option.removeprefix("--grace="))
    server = RetainServer(lambda: app, offer)
    app.notify = server.notify
    assert server.app is app  # made at once: the tests look at what closing it leaves behind
    stdio.serve(server, on_ready=app.warm)
