"""Which indexes a question about code is put to."""

from collections.abc import Callable, Sequence
from pathlib import PurePath

from retain.domain.code import CodeIndex, IndexStatus
from retain.domain.ids import undress
from retain.domain.memory import Place, Scope
from retain.domain.recall import Filter, Warning
from retain.domain.session import Caller, Project
from retain.engine.code.indexing.holding import as_it_is
from retain.engine.parts import Parts
from retain.errors import NotFound, Refused, invalid, shorten
from retain.ports import Store

MOST_NAMED = 20


def chosen(parts: Parts, project: str | None, caller: Caller) -> list[CodeIndex]:
    """The indexes of the named project; else those in or around the current one; else all. May be none."""
    now = parts.clock.now()
    indexes = [as_it_is(index, now) for index in parts.store.indexes(caller.user)]
    if project is not None:
        return named(parts.store, project, indexes, caller)
    return _near(indexes, caller) or indexes


def named(store: Store, project: str, indexes: Sequence[CodeIndex], caller: Caller) -> list[CodeIndex]:
    """The indexes of a project by its id, in any dress, its folder, or its name; a name may be that of several."""
    wanted = project.strip()
    if not wanted:
        raise invalid("project_id", project, "is empty; name a project as list_projects does, or leave it out")
    found = _matching(wanted, indexes)
    if found:
        return found
    known = known_project(store, wanted, caller)
    if known is not None:
        raise Refused(f"{known.slug} is not indexed; call index_project with path {known.path}", project_id=project)
    raise NotFound(f"there is no project {shorten(wanted)}; {_known(indexes)}", project_id=project)


def known_project(store: Store, name: str, caller: Caller) -> Project | None:
    """The current project, or one in which the caller has memories; those of other people are not there."""
    if caller.project and _is(caller.project, name):
        return caller.project
    found = store.project(undress(name) or _as_path(name))
    mine = Filter((Place(Scope.PROJECT, caller.user, found.id),), states=()) if found else None
    return found if mine and store.total(mine) else None


def remarks(indexes: Sequence[CodeIndex]) -> list[Warning]:
    """What to know about answers from these indexes."""
    if not indexes:
        return [Warning("not_indexed", "no code is indexed; call index_project with the path of a project")]
    return [warning for index in indexes for warning in _remark(index)]


def _remark(index: CodeIndex) -> list[Warning]:
    slug = index.project.slug
    match index.status:
        case IndexStatus.INDEXING:
            done = f"{index.indexed_files:,} of {index.total_files:,} files"
            return [Warning("indexing", f"{slug} is being indexed ({done}); only what is done was searched")]
        case IndexStatus.PENDING:
            return [Warning("indexing", f"{slug} is not wholly indexed; call index_project to go on where it stopped")]
        case IndexStatus.FAILED:
            why = f"indexing {slug} failed: {index.error or 'it was interrupted'}"
            return [Warning("index_failed", f"{why}; what was done before is searched, index_project tries again")]
        case _:
            return []


def _matching(wanted: str, indexes: Sequence[CodeIndex]) -> list[CodeIndex]:
    id, path, slug = undress(wanted), _as_path(wanted), wanted.casefold()
    ways: tuple[Callable[[Project], bool], ...] = (
        lambda project: project.id == id,
        lambda project: project.path == path,
        lambda project: project.slug == wanted,
        lambda project: project.slug.casefold() == slug,
    )
    return next((found for way in ways if (found := [index for index in indexes if way(index.project)])), [])


def _is(project: Project, wanted: str) -> bool:
    return wanted in (project.id, project.slug) or _as_path(wanted) == project.path


def _near(indexes: Sequence[CodeIndex], caller: Caller) -> list[CodeIndex]:
    """The nearest index that holds the current project, else all in it that no other one there holds."""
    if caller.project is None:
        return []
    here = PurePath(caller.project.path)
    around = [index for index in indexes if here.is_relative_to(index.project.path)]
    if around:
        return [max(around, key=lambda index: len(index.project.path))]
    inside = [index for index in indexes if PurePath(index.project.path).is_relative_to(here)]
    return [index for index in inside if not any(_holds(other, index) for other in inside)]


def _holds(outer: CodeIndex, inner: CodeIndex) -> bool:
    return outer is not inner and PurePath(inner.project.path).is_relative_to(outer.project.path)


def _known(indexes: Sequence[CodeIndex]) -> str:
    if not indexes:
        return "no code is indexed yet: call index_project with the path of a project"
    slugs = [index.project.slug for index in indexes]
    more = f" and {len(slugs) - MOST_NAMED} more" if len(slugs) > MOST_NAMED else ""
    return f"indexed are {', '.join(slugs[:MOST_NAMED])}{more}"


def _as_path(text: str) -> str:
    """A path without its trailing slash and detours; anything else as it is."""
    return str(PurePath(text)) if "/" in text or "\\" in text else text
