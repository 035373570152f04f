"""A plan as it would be for another user or another project: what was stored before it was clear whose it is."""

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from retain.domain.changes import Changes
from retain.domain.memory import Place, Scope
from retain.domain.session import Project


@dataclass(frozen=True, slots=True)
class Move:
    """Whose a plan is, and whose it becomes. What is of neither stays as it is."""

    user: tuple[str, str]
    project: tuple[Project | None, Project | None] = (None, None)

    @property
    def changes(self) -> bool:
        return self.user[0] != self.user[1] or self.project[0] != self.project[1]

    def user_of(self, user: str) -> str:
        return self.user[1] if user == self.user[0] else user

    def project_of(self, project: str | None) -> str | None:
        here, there = self.project
        return there.id if here and there and project == here.id else project


def moved(plan: Changes, move: Move) -> Changes:
    result: Changes = _moved(plan, move) if move.changes else plan
    return result


def _moved(value: Any, move: Move) -> Any:  # Any: values of every class are in a plan
    if isinstance(value, Project):
        here, there = move.project
        return there if here and there and value.id == here.id else value
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        new = {name: _part(name, part, move) for name, part in parts.items()}
        return replace(value, **{name: part for name, part in new.items() if part is not parts[name]})
    if isinstance(value, tuple | frozenset):
        return type(value)(_moved(each, move) for each in value)
    return value


def _part(name: str, part: Any, move: Move) -> Any:
    # By its name: a text says nothing of what it is. Of a scope, which is a text too, there is another type.
    if name == "user" and isinstance(part, str):
        return move.user_of(part)
    # `but` is what an expectation leaves out: of names a project, of memories one of them, whose id is nobody else's.
    if name in ("project", "but") and (part is None or isinstance(part, str)):
        return move.project_of(part)
    if name == "owner":
        return _owner(part, move)
    if name == "scope" and type(part) is str:
        return _key(part, move)
    return _moved(part, move)


def _owner(owner: str, move: Move) -> str:
    """As `Place.owner` spells it."""
    first, _, user = owner.partition("\x1f")
    project = None if first == "user" else move.project_of(first)
    return Place(Scope.PROJECT, move.user_of(user), project).owner


def _key(key: str, move: Move) -> str:
    """As `places` spells one."""
    kind, *rest = key.split("\x1f")
    if rest:
        rest[0] = move.user_of(rest[0])
    if kind == "project" and len(rest) > 1:
        rest[1] = move.project_of(rest[1] or None) or ""
    return "\x1f".join((kind, *rest))
