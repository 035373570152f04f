"""Walking through what was captured, one memory at a time: what each key does, and how it is taken back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from retain import reviewed
from retain.app import Retain
from retain.domain.memory import Memory, Scope
from retain.engine.drafts import PROVENANCE
from retain.engine.revise import Edit
from retain.errors import RetainError, StoreDown
from retain.surfaces.cli.editing import reword

REASON = "reviewed"


class Key(StrEnum):
    KEEP = "k"
    EDIT = "e"
    FORGET = "f"
    SCOPE = "s"
    UNDO = "u"
    QUIT = "q"
    HELP = "?"


HELP = {
    Key.KEEP: "keep it as it is, and go on",
    Key.EDIT: "change the text in your editor",
    Key.FORGET: "forget it; `retain forget --restore ID` brings it back",
    Key.SCOPE: "change the scope: this project only, or you in every project",
    Key.UNDO: "undo the last step",
    Key.QUIT: "quit; what you have not decided on is shown again next time",
    Key.HELP: "show this",
}


@dataclass(frozen=True, slots=True)
class Step:
    """Something that was done to the memory at a place of the walk, as it was before."""

    key: Key
    at: int
    before: Memory


@dataclass
class Walk:
    """Memories in order, and which of them is shown. Each step is written down at once: a walk may end at any time."""

    app: Retain
    memories: list[Memory]
    write: Callable[[str], str | None]
    """Has a text edited; None when nothing was changed."""
    at: int = 0
    steps: list[Step] = field(default_factory=list)

    @property
    def current(self) -> Memory | None:
        return self.memories[self.at] if self.at < len(self.memories) else None

    @property
    def left(self) -> int:
        """How many nobody has decided on."""
        return len(self.memories) - len({step.at for step in self.steps})

    def press(self, key: Key) -> str:
        """Does what a key stands for; gives what to say about it, which may be that it could not be done."""
        try:
            return self._undo() if key is Key.UNDO else self._do(key)
        except RetainError as error:
            return error.message

    def _do(self, key: Key) -> str:
        before = self.current
        if before is None:
            return ""
        after, said = self._done(key, before)
        if after is None:
            return said
        self.steps.append(Step(key, self.at, before))
        self.memories[self.at] = after
        self._mark(after, is_reviewed=True)
        self.at += key in (Key.KEEP, Key.FORGET)
        return said

    def _done(self, key: Key, memory: Memory) -> tuple[Memory | None, str]:
        """The memory afterwards, None where nothing was done."""
        if key is Key.KEEP:
            return memory, "kept"
        if key is Key.FORGET:
            return self.app.forget(memory.id, REASON), "forgotten"
        if key is Key.SCOPE:
            after = self._rescoped(memory)
            return after, f"now has scope {after.scope.value}"
        text = self.write(memory.text)
        return (None, "nothing was changed") if text is None else (reword(self.app, memory.id, text).memory, "changed")

    def _undo(self) -> str:
        if not self.steps:
            return "there is nothing to undo"
        step = self.steps[-1]
        after = self._undone(step)
        self.steps.pop()
        self.at = step.at
        self.memories[step.at] = after
        if not any(earlier.at == step.at for earlier in self.steps):
            self._mark(after, is_reviewed=False)
        return "undone"

    def _undone(self, step: Step) -> Memory:
        before, app = step.before, self.app
        if step.key is Key.FORGET:
            return app.bring_back(before.id)
        if step.key is Key.SCOPE:
            return self._rescoped(self.memories[step.at])
        if step.key is Key.EDIT:
            word = {name: before.metadata[name] for name in PROVENANCE if name in before.metadata}
            return app.engine.update(before.id, Edit(text=before.text, provenance=word), app.caller()).memory
        return before

    def _rescoped(self, memory: Memory) -> Memory:
        engine, caller = self.app.engine, self.app.caller()
        if memory.scope is Scope.USER:
            return engine.narrow(memory.id, REASON, caller).memory
        return engine.promote(memory.id, Scope.USER, REASON, caller).memory

    def _mark(self, memory: Memory, *, is_reviewed: bool) -> None:
        home = home_of(self.app)
        try:
            reviewed.mark(home, memory.place.key, memory.id, is_reviewed=is_reviewed)
        except OSError as error:
            raise StoreDown(f"what was reviewed cannot be noted in {home}: {error.strerror}") from error


def home_of(app: Retain) -> str:
    return str(app.settings.home.expanduser().absolute())


def still_new(app: Retain, captured: Sequence[Memory]) -> list[Memory]:
    """Those that were not reviewed yet."""
    places = {memory.place.key for memory in captured}
    known = {place: reviewed.reviewed(home_of(app), place) for place in places}
    return [memory for memory in captured if not known[memory.place.key].has(memory.id)]


def settle(app: Retain, captured: Sequence[Memory]) -> None:
    """Keeps the notes small once a walk is over; what cannot be written now is written the next time."""
    new = still_new(app, captured)
    for place in {memory.place.key for memory in captured}:
        ids = [memory.id for memory in new if memory.place.key == place]
        try:
            reviewed.compact(home_of(app), place, ids, app.now().timestamp())
        except OSError:
            return
