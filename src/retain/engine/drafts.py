"""What a caller wants remembered, checked before anything is written."""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from retain.domain.memory import MAX_LABEL, MAX_TEXT, Json, Kind, Scope, Source
from retain.engine.lifecycle.redact import MARK, redact
from retain.errors import Fault, InvalidInput, shorten

MAX_SESSION = 200
MAX_TAGS = 50
MAX_REASON = 1000
MAX_PATH = 4096  # what file systems allow


@dataclass(frozen=True, slots=True)
class GivenEntity:
    """An entity that the caller names, and how the memory relates to it."""

    name: str
    type: str
    relationship: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory to be."""

    text: str
    kind: Kind = Kind.SEMANTIC
    scope: Scope = Scope.PROJECT
    importance: float = 0.5
    tags: tuple[str, ...] = ()
    source: Source = Source()  # noqa: RUF009 - frozen
    entities: tuple[GivenEntity, ...] = ()
    session: str | None = None
    title: str | None = None
    category: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    event_time: datetime | None = None


def checked(draft: Draft) -> tuple[Draft, tuple[str, ...]]:
    """The draft as it may be stored, without secrets, and the names of what was removed from it."""
    faults = list(_faults(draft))
    if faults:
        raise InvalidInput(faults)
    text, found = cleaned_text(draft.text)
    source = replace(draft.source, tool=_clean(draft.source.tool), file=_clean(draft.source.file))
    entities = cleaned_entities(draft.entities)
    return replace(draft, text=text, tags=labels(draft.tags), source=source, entities=entities), found


def cleaned_entities(entities: Sequence[GivenEntity]) -> tuple[GivenEntity, ...]:
    """As they are kept: a relationship is one word, such as depends_on."""
    return tuple(GivenEntity(_kept(e.name), _kept(e.type), _kept(e.relationship).replace(" ", "_")) for e in entities)


def cleaned_reason(reason: str | None) -> str | None:
    """Why something changed, without secrets; None when nothing was said."""
    if reason is None:
        return None
    faults = list(string_faults(reason, "reason"))
    if len(reason) > MAX_REASON:
        faults.append(Fault("reason", f"{len(reason):,} characters", f"must have at most {MAX_REASON:,} characters"))
    if faults:
        raise InvalidInput(faults)
    return redact(reason).text.strip() or None


def cleaned_json(value: Json) -> Json:
    """The same value without secrets in its strings."""
    match value:
        case str():
            return redact(value).text
        case list():
            return [cleaned_json(item) for item in value]
        case dict():
            return {name: cleaned_json(item) for name, item in value.items()}
        case _:
            return value


def metadata_faults(metadata: Mapping[str, Json]) -> Iterator[Fault]:
    size = len(json.dumps(metadata, ensure_ascii=False))
    if size > MAX_TEXT:
        yield Fault("metadata", f"{size:,} characters", f"must have at most {MAX_TEXT:,} characters as JSON")


def cleaned_text(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without secrets and private spans; refused when nothing is left of it."""
    redacted = redact(text.strip())
    left = redacted.text.strip()
    if not any(letter.isalnum() for letter in MARK.sub("", left)) and redacted.found:
        raise InvalidInput([Fault("content", "", "nothing is left after secrets and private spans were removed")])
    return left, redacted.found


def text_faults(text: str, name: str = "content") -> Iterator[Fault]:
    if not text.strip():
        yield Fault(name, shorten(text), "is empty; say what should be remembered")
    if len(text) > MAX_TEXT:
        limit = f"{MAX_TEXT:,}"
        yield Fault(
            name, f"{len(text):,} characters", f"longer than {limit} characters; store it in parts or summarise"
        )
    yield from string_faults(text, name)


def string_faults(text: str, name: str) -> Iterator[Fault]:
    if "\0" in text:
        yield Fault(name, shorten(text), "holds a NUL character; remove it")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        yield Fault(name, shorten(text), "holds half of a surrogate pair, which is no text; remove it")


def label_faults(names: Sequence[str], field: str) -> Iterator[Fault]:
    for place, name in enumerate(names):
        where = f"{field}[{place}]"
        yield from string_faults(name, where)
        if not 1 <= len(label(name)) <= MAX_LABEL:
            yield Fault(where, shorten(name), f"must have 1 to {MAX_LABEL} characters")


def label(name: str) -> str:
    """A tag or name without control characters and surrounding space; any script is welcome."""
    kept = "".join(" " if letter.isspace() else letter for letter in name if _is_plain(letter))
    return " ".join(kept.split())


def labels(names: Sequence[str]) -> tuple[str, ...]:
    """As they are kept: without secrets, each once, in the order given."""
    return tuple(dict.fromkeys(_kept(name) for name in names))


def importance_faults(importance: float) -> Iterator[Fault]:
    if not 0 <= importance <= 1:
        yield Fault("importance", shorten(importance), "must be from 0 to 1")


def session_faults(session: str | None) -> Iterator[Fault]:
    if session is not None:
        yield from string_faults(session, "session_id")
        if not 1 <= len(session.strip()) <= MAX_SESSION:
            yield Fault("session_id", shorten(session), f"must have 1 to {MAX_SESSION} characters")


def _faults(draft: Draft) -> Iterator[Fault]:
    yield from text_faults(draft.text)
    yield from importance_faults(draft.importance)
    yield from label_faults(draft.tags, "tags")
    if len(draft.tags) > MAX_TAGS:
        yield Fault("tags", f"{len(draft.tags)} tags", f"at most {MAX_TAGS}")
    for part in ("name", "type", "relationship"):
        given = [getattr(entity, part) for entity in draft.entities]
        for fault in label_faults(given, "related_entities"):
            yield Fault(f"{fault.field}.{part}", fault.value, fault.problem)
    yield from session_faults(draft.session)
    for part in ("tool", "file"):
        said = getattr(draft.source, part) or ""
        yield from string_faults(said, f"source.{part}")
        if len(said) > MAX_PATH:
            yield Fault(f"source.{part}", f"{len(said):,} characters", f"must have at most {MAX_PATH:,} characters")


def _kept(name: str) -> str:
    return redact(label(name)).text[:MAX_LABEL]


def _clean(text: str | None) -> str | None:
    return None if text is None else redact(text).text


def _is_plain(letter: str) -> bool:
    return letter.isspace() or unicodedata.category(letter) not in ("Cc", "Cs", "Co")
