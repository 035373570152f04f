"""Entities and relations that somebody states by hand, and what is connected with an entity."""

from collections.abc import Iterator
from dataclasses import replace

from retain.domain.changes import Changes
from retain.domain.graph import Entity, Related, Relation, Steps, fold
from retain.domain.ids import new_id, undress
from retain.domain.memory import Place, Scope, user_of
from retain.domain.session import Caller
from retain.engine.drafts import (
    MAX_DESCRIPTION,
    cleaned_note,
    kept_label,
    kept_word,
    label_faults,
    line_faults,
)
from retain.engine.knowledge.entities import linked_back
from retain.engine.parts import Parts, settle
from retain.errors import Fault, InvalidInput, NotFound, invalid, shorten
from retain.ports import Store

CONCEPT = "concept"  # what an entity is of which nobody says what it is
DEEPEST = 3

__all__ = ["Related", "create_entity", "create_relation", "entity", "related"]


def create_entity(parts: Parts, name: str, type: str | None, description: str | None, caller: Caller) -> Entity:
    """The entity of that name and type in the caller's project, or of the user where there is no project.

    One that is there already keeps its id; a description fills or replaces its own. Without a type it is the only
    one of that name, if there is one. Earlier memories that name it are linked to it.
    """
    faults = [*_label_faults(name, "name"), *(_label_faults(type, "entity_type") if type is not None else ())]
    faults += line_faults(description, "description", MAX_DESCRIPTION)
    if faults:
        raise InvalidInput(faults)
    place = _place(caller)
    made = Entity(
        new_id(parts.clock.now()),
        kept_label(name),
        kept_label(type or _type_of(parts.store, kept_label(name), place.owner)),
        place.owner,
        parts.clock.now(),
        cleaned_note(description),
        stated=True,
    )

    def plan() -> tuple[Changes, None]:
        known = _known(parts.store, made)
        stated = replace(known, description=made.description, stated=True) if known else made
        changes = Changes(
            at=made.created,
            stated=(stated,),
            links=tuple(linked_back(parts.store, [stated], place, made.created)),
            projects=(caller.project,) if caller.project else (),
        )
        return changes, None

    settle(parts.store, plan)
    return _known(parts.store, made) or made


def create_relation(parts: Parts, source: str, target: str, type: str, weight: float, caller: Caller) -> Relation:
    """States that one entity relates to another, from now on unless it did already, and how strongly.

    The same relation has the same id. One that was ended holds again.
    """
    faults = list(_label_faults(type, "relation_type"))
    if not 0 <= weight <= 1:  # also when it is no number
        faults.append(Fault("weight", shorten(weight), "must be from 0 to 1"))
    if faults:
        raise InvalidInput(faults)
    now = parts.clock.now()
    stated = Relation(*_ends(parts.store, source, target, caller), kept_word(type), now, float(weight), valid_from=now)
    parts.store.apply(Changes(at=now, stated=(stated,)))
    found = parts.store.relations([stated.id])
    if not found:
        # Somebody destroyed an end in between, and this says which.
        _ends(parts.store, source, target, caller)
    return found[0] if found else stated


def related(parts: Parts, id: str, steps: Steps, caller: Caller) -> Related:
    """What is connected with an entity by relations that hold now, or held at a moment."""
    if not 1 <= steps.depth <= DEEPEST:
        raise invalid("depth", steps.depth, f"must be between 1 and {DEEPEST}")
    start = entity(parts.store, id, caller, "entity_id")
    word = kept_word(steps.relation) if steps.relation else None
    return parts.store.related(start.id, replace(steps, relation=word))


def entity(store: Store, id: str, caller: Caller, field: str) -> Entity:
    """The entity with this id; those of other people do not exist."""
    bare = undress(id)
    if bare is None:
        raise invalid(field, id, "not an id; ids have 20 letters and digits and come from create_entity")
    found = next(iter(store.entities([bare])), None)
    if found is None or user_of(found.owner) != caller.user:
        raise NotFound(f"{field}: there is no entity {bare}; create_entity makes one and returns its id", entity_id=id)
    return found


def _ends(store: Store, source: str, target: str, caller: Caller) -> tuple[str, str]:
    ends = entity(store, source, caller, "from_entity"), entity(store, target, caller, "to_entity")
    if ends[0].id == ends[1].id:
        raise invalid("to_entity", target, "is the same as from_entity; an entity does not relate to itself")
    return ends[0].id, ends[1].id


def _place(caller: Caller) -> Place:
    if caller.project:
        return Place(Scope.PROJECT, caller.user, caller.project.id)
    return Place(Scope.USER, caller.user)


def _known(store: Store, made: Entity) -> Entity | None:
    found = store.entities_named([made.name], [made.owner])
    return next((entity for entity in found if fold(entity.type) == fold(made.type)), None)


def _type_of(store: Store, name: str, owner: str) -> str:
    """What the entity of that name is known as, if there is exactly one."""
    found = store.entities_named([name], [owner])
    return found[0].type if len(found) == 1 else CONCEPT


def _label_faults(name: str, field: str) -> Iterator[Fault]:
    yield from (replace(fault, field=field) for fault in label_faults([name], field))
