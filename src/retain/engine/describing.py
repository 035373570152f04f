"""What a project is called and what it is, in its owner's words; summaries begin with that."""

from dataclasses import replace

from retain.domain.memory import Kind, Memory, Scope
from retain.domain.recall import Filter
from retain.domain.session import Caller
from retain.engine.drafts import DESCRIBES, Draft
from retain.engine.parts import Parts, places
from retain.engine.remember import Remembered, remember

_TAG = "project"
_MARK = {DESCRIBES: "project"}
_IMPORTANCE = 0.8
_MOST = 50


def describe(parts: Parts, name: str, description: str, caller: Caller) -> Remembered:
    """Stores it in the place of what was said before."""
    draft = Draft(
        f"{name.strip()}: {description.strip()}",
        Kind.SEMANTIC,
        importance=_IMPORTANCE,
        tags=(_TAG,),
        title=name,
        category="architecture",
        metadata=_MARK,
    )
    earlier = descriptions(parts, caller)
    return remember(parts, replace(draft, supersedes=tuple(old.id for old in earlier)), caller)


def descriptions(parts: Parts, caller: Caller) -> list[Memory]:
    """What the project was described as, newest first; mostly one."""
    wanted = Filter(places(caller, (Scope.PROJECT if caller.project else Scope.USER,)), tags=(_TAG,))
    return [s.memory for s in parts.store.listed(wanted, _MOST) if is_description(s.memory)]


def is_description(memory: Memory) -> bool:
    return all(memory.metadata.get(name) == value for name, value in _MARK.items())
