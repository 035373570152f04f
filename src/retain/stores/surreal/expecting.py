"""What a plan expects to be true, held against what the database has."""

from retain.domain.changes import (
    ActiveWork,
    AtVersion,
    Changes,
    Expectation,
    NameFree,
    NoTwin,
    ProfileStill,
    RunFree,
    StillSo,
    TitleFree,
    Uncompared,
    WorkActive,
)
from retain.domain.graph import fold
from retain.domain.memory import MemoryId
from retain.stores.surreal import work
from retain.stores.surreal.link.cbor import record
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.planning import Known


def broken(db: Database, known: Known, changes: Changes) -> Expectation | None:
    """The first expectation that does not hold."""
    return next((expected for expected in changes.expects if not _holds(db, known, expected)), None)


def _holds(db: Database, known: Known, expected: Expectation) -> bool:
    match expected:
        case NoTwin(place, fingerprint, but):
            return _others(known.twins[place.key, fingerprint], but)
        case TitleFree(place, title, but):
            return _others(known.titled[place.key, fold(title)], but)
        case AtVersion(memory, version):
            return memory in known.memories and bool(known.memories[memory]["version"] == version)
        case Uncompared(memory, version, category):
            row = known.memories.get(memory, {})
            return (row.get("version"), row.get("category"), row.get("compared")) == (version, category, False)
        case NameFree(name, user, but):
            found = work.named(db, name, user)
            return found is None or found.project.id == but
        case ProfileStill(project, user, profile):
            return work.by_id(db, project, user) == profile
        case _:
            return _holds_of_record(db, expected)


def _holds_of_record(db: Database, expected: RunFree | ActiveWork | WorkActive | StillSo) -> bool:
    match expected:
        case RunFree(scope, latest):
            run = db.row("SELECT id, at FROM run WHERE scope = $scope ORDER BY at DESC, id DESC LIMIT 1", scope=scope)
            return bool((run["id"] if run else None) == latest)
        case ActiveWork(project, user, sessions):
            query = "SELECT VALUE key FROM work WHERE user = $user AND state = 'active' AND project = $project"
            return set(db.rows(query, user=user, project=project)) == sessions
        case WorkActive(id, user):
            return bool(db.row("SELECT VALUE state FROM $work", work=[record("work", [id, user])]) == "active")
        case StillSo(id, state, resolved):
            found = db.row("SELECT state, resolved FROM $one", one=[record("contradiction", id)])
            return bool(found and (found["state"], found["resolved"]) == (state.value, resolved))


def _others(found: set[MemoryId], but: MemoryId | None) -> bool:
    return not found - {but}
