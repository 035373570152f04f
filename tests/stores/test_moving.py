"""A plan becomes another user's or another project's with all that names them, and nothing else of it changes."""

from dataclasses import fields, is_dataclass, replace

import pytest

from making import START, a_memory
from retain.domain.changes import (
    ActiveWork,
    Changes,
    NameFree,
    NoTwin,
    ProfileStill,
    Run,
    RunFree,
    TitleFree,
    WorkActive,
)
from retain.domain.conversation import Cursor
from retain.domain.graph import Entity
from retain.domain.memory import Place, Scope
from retain.domain.session import Profile, Project, Session
from retain.stores.moving import Move, moved

SHOP, OTHER = Project("shopid", "shop", "/shop", START), Project("otherid", "other", "/other", START)


def plan(user, project):
    """One of everything that says whose it is."""
    place = Place(Scope.PROJECT, user, project.id)
    mine = Place(Scope.SESSION, user, project.id, "s1", "bot")
    profile = Profile(project, "Shop", START, START, user)
    return Changes(
        START,
        expects=(
            NoTwin(place, "print"),
            TitleFree(mine, "title"),
            NameFree("Shop", user, project.id),
            ProfileStill(project.id, user, profile),
            ActiveWork(project.id, user, frozenset({"w"})),
            WorkActive("w", user),
            RunFree(place.key, None),
        ),
        memories=(replace(a_memory("shopid said: user"), place=place), replace(a_memory("mine"), place=mine)),
        entities=(
            Entity("e1", "Ledger", "service", place.owner, START),
            Entity("e2", "Ledger", "service", Place(Scope.USER, user).owner, START),
        ),
        projects=(project,),
        profiles=(profile,),
        sessions=(Session("s1", START, project.id, user),),
        runs=(Run("r", mine.key, "merge", START, (), (), 0),),
        cursors=(Cursor("t", "s1", 0, START, None, project.id, user, 1),),
    )


def test_all_of_it_is_the_other_users_and_the_other_projects():
    before = plan("", SHOP)
    assert moved(before, Move(("", "ada"), (SHOP, OTHER))) == plan("ada", OTHER)


def test_what_is_somebody_elses_stays_so():
    theirs = plan("eve", OTHER)
    assert moved(theirs, Move(("", "ada"), (SHOP, OTHER))) == theirs
    assert moved(theirs, Move(("", ""))) is theirs


@pytest.mark.parametrize("kind", [field.name for field in fields(Changes)])
def test_every_part_of_a_plan_is_looked_through(kind):
    """A text that names nobody by its field is left alone, however it reads."""
    before = plan("", SHOP)
    after = moved(before, Move(("", "ada"), (SHOP, OTHER)))
    named = {value for value in _texts(getattr(after, kind)) if value in (SHOP.id, SHOP.path)}
    assert named == set()


def _texts(value):
    if is_dataclass(value):
        for field in fields(value):
            if field.name not in ("text", "metadata"):
                yield from _texts(getattr(value, field.name))
    elif isinstance(value, tuple | frozenset):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield from value.split("\x1f")
