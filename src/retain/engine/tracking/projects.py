"""Projects as people name them: which one is meant, and what it is called."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from retain.domain.changes import Changes, NameFree, ProfileStill
from retain.domain.graph import fold
from retain.domain.ids import dressed, undress
from retain.domain.session import Caller, Profile, Project
from retain.engine.drafts import MAX_DESCRIPTION, MAX_TITLE, cleaned, is_blank, label, line_faults, string_faults
from retain.engine.lookup.walks import page_faults
from retain.engine.parts import Parts, settle
from retain.errors import Fault, InvalidInput, NotFound, shorten
from retain.ports import Store

MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Inited:
    """A project under the name that it was given; `renamed_from` is what it went by before, if that was another."""

    profile: Profile
    existed: bool = False
    renamed_from: str | None = None
    redacted: tuple[str, ...] = ()


def known(parts: Parts, named: str, caller: Caller, field: str = "project_id") -> Profile:
    """The project that is meant by an id in any dress, a path as it is stored, a name, or a slug.

    The current project is known before it holds anything. Those in which only other people have something are not.
    """
    faults = list(string_faults(named, field))
    if faults:
        raise InvalidInput(faults)
    wanted = named.strip()
    found = _stored(parts.store, wanted, caller.user) or _current(wanted, caller)
    if found is None:
        there = _names(*parts.store.profiles(caller.user, MOST_NAMED))
        raise NotFound(f"there is no project {shorten(wanted)}; {there}", project_id=named)
    return found


def init(parts: Parts, project: Project, name: str, description: str | None, caller: Caller) -> Inited:
    """Gives a project a name, or another one; a description that is not given stays.

    Doing it again changes nothing. A name by which another project of the user goes is refused.
    """
    if faults := naming_faults(name, description):
        raise InvalidInput(faults)
    clean, about = cleaned(label(name)), cleaned((description or "").strip())
    redacted = tuple(dict.fromkeys((*clean.found, *about.found)))
    store, now = parts.store, parts.clock.now()

    def plan() -> tuple[Changes, Inited]:
        _refuse_taken(store, clean.text, project, caller.user)
        before = store.profile(project.id, caller.user)
        known_as = before or _fresh(project, now, caller.user)
        said = known_as.description if description is None else about.text or None
        profile = _renamed(known_as, clean.text, said, now)
        renamed = before.name if before and before.name != profile.name else None
        expected = NameFree(profile.name, caller.user, project.id), ProfileStill(project.id, caller.user, before)
        changes = Changes(at=now, expects=expected, projects=(project,), profiles=(profile,))
        return changes, Inited(profile, before is not None, renamed, redacted)

    done = settle(store, plan)
    # The store may have given it another slug. The rest is as it was written here, whoever renames it by now.
    kept = store.project(project.id) or project
    return replace(done, profile=replace(done.profile, project=kept))


def listed(parts: Parts, caller: Caller, limit: int, offset: int = 0) -> tuple[list[Profile], int]:
    """Projects that the caller named or has something in, in the order in which they became known, and how many."""
    faults = list(page_faults(limit, offset))
    if faults:
        raise InvalidInput(faults)
    return parts.store.profiles(caller.user, limit, offset)


def naming_faults(name: str, description: str | None) -> list[Fault]:
    """What is wrong with a name and a description, whichever project they are for."""
    return [*_name_faults(name), *line_faults(description, "description", MAX_DESCRIPTION)]


def _name_faults(name: str) -> Iterator[Fault]:
    yield from string_faults(name, "name")
    if is_blank(label(name)):
        yield Fault("name", shorten(name), "is empty; say what people call the project")
    elif len(label(name)) > MAX_TITLE:
        yield Fault("name", shorten(name), f"must have 1 to {MAX_TITLE} characters")


def _stored(store: Store, wanted: str, user: str) -> Profile | None:
    id = undress(wanted)
    found = store.profile(id, user) if id else None
    return found or _at_path(store, wanted, user) or store.profile_named(wanted, user) or _by_slug(store, wanted, user)


def _at_path(store: Store, path: str, user: str) -> Profile | None:
    found = store.project(path)
    return store.profile(found.id, user) if found and found.path == path else None


def _by_slug(store: Store, slug: str, user: str) -> Profile | None:
    """Other toolsets print the slug of a project also after it got a name. As it is spelled goes first."""
    alike = [project for project in store.projects() if fold(project.slug) == fold(slug)]
    known = (store.profile(project.id, user) for project in sorted(alike, key=lambda each: each.slug != slug))
    return next((profile for profile in known if profile), None)


def _current(wanted: str, caller: Caller) -> Profile | None:
    here = caller.project
    if here and (here.path == wanted or here.id == undress(wanted) or fold(here.slug) == fold(wanted)):
        return _fresh(here, here.created, caller.user)
    return None


def _fresh(project: Project, now: datetime, user: str) -> Profile:
    return Profile(project, project.slug, now, now, user)


def _renamed(profile: Profile, name: str, description: str | None, now: datetime) -> Profile:
    same = (profile.name, profile.description) == (name, description)
    updated = profile.updated if same else max(now, profile.updated)
    return Profile(profile.project, name, profile.created, updated, profile.user, description)


def _refuse_taken(store: Store, name: str, project: Project, user: str) -> None:
    for holder in (store.profile_named(name, user), _by_slug(store, name, user)):
        if holder and holder.project.id != project.id:
            where = f"{shorten(holder.project.path, 200)} ({dressed('proj', holder.project.id)})"
            problem = f"is the name of the project in {where} already; use another name, or that project"
            raise InvalidInput([Fault("name", shorten(name), problem)], constraint="unique_project_name")


def _names(some: list[Profile], total: int) -> str:
    if not some:
        return "none is known yet: call project_init with the path of one"
    more = f" and {total - len(some)} more" if total > len(some) else ""
    return f"known are {', '.join(profile.name for profile in some)}{more}; call project_init to add one"
