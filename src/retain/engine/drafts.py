"""What a caller wants remembered, checked before anything is written."""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from retain.domain.graph import fold
from retain.domain.memory import MAX_LABEL, MAX_TEXT, Json, Kind, MemoryId, Scope, Source
from retain.domain.visible import visible
from retain.domain.work import ENTRY
from retain.engine.lifecycle.redact import MARK, Redacted, redact
from retain.errors import Fault, InvalidInput, shorten

MAX_SESSION = 200
MAX_TAGS = 50
MAX_REASON = 1000
MAX_PATH = 4096  # what file systems allow
MAX_TITLE = 200
MAX_DESCRIPTION = 2000
# Says whose word a memory is; set by who captured it, never by who calls a tool.
PROVENANCE = ("said_by", "found_by")
DESCRIBES = "describes"  # marks what a project's owner says that it is
# What Retain itself notes of a memory beside its text; with ENTRY it is a line in the log of its session.
OWN = (*PROVENANCE, ENTRY, DESCRIBES)
MAX_DEPTH = 50  # of metadata; no store and no client reads lists in lists without end
# Further away, a time is somebody's zero or infinity, and no time.
YEARS = (1900, 2200)
HIDDEN = "hidden_characters"  # in the list of what was removed, beside the names of secrets
_HALF_PAIR = re.compile("[\ud800-\udfff]")


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
    distinct: bool = False
    """Kept beside what says the same, and tied to it, under a title that nothing else there has."""
    private: bool = False
    """Where the caller is an agent with a name: only that agent sees it."""
    supersedes: tuple[str, ...] = ()
    """Ids of memories whose place it takes; those that have ended already are passed over."""
    replaces: tuple[MemoryId, ...] = ()
    """Those that nobody named: it takes their place where the table of endings lets it."""


def checked(draft: Draft) -> tuple[Draft, tuple[str, ...]]:
    """The draft as it may be stored, without secrets, and the names of what was removed from it."""
    faults = list(_faults(draft))
    if faults:
        raise InvalidInput(faults)
    text, found = cleaned_text(draft.text)
    beside = secrets_in(*_beside_the_text(draft))
    source = replace(draft.source, tool=_clean(draft.source.tool), file=_clean(draft.source.file))
    clean = replace(
        draft,
        text=text,
        tags=labels(draft.tags),
        source=source,
        entities=cleaned_entities(draft.entities),
        title=cleaned_title(draft.title) if draft.title else None,
        category=kept_label(draft.category) if draft.category else None,
        metadata=cleaned_metadata(draft.metadata),
    )
    return clean, tuple(dict.fromkeys((*found, *beside)))


def draft_faults(draft: Draft) -> list[Fault]:
    """All that is wrong with a draft, wherever it is to land."""
    faults = list(_faults(draft))
    if not any(fault.field == "content" for fault in faults):
        try:
            cleaned_text(draft.text)
        except InvalidInput as error:
            faults += error.faults
    return faults


def secrets_in(*texts: str | None) -> tuple[str, ...]:
    """The names of what may not be kept of these texts, each once."""
    return tuple(dict.fromkeys(name for text in texts if text for name in cleaned(text).found))


def cleaned(text: str) -> Redacted:
    """A text as it may be kept: without what nobody sees, which could also hide a secret, and without secrets."""
    seen = visible(text)
    redacted = redact(seen)
    return redacted if seen == text else replace(redacted, found=(HIDDEN, *redacted.found))


def cleaned_entities(entities: Sequence[GivenEntity]) -> tuple[GivenEntity, ...]:
    return tuple(GivenEntity(kept_label(e.name), kept_label(e.type), kept_word(e.relationship)) for e in entities)


def cleaned_reason(reason: str | None) -> str | None:
    """Why something changed, without secrets; None when nothing was said."""
    faults = list(line_faults(reason, "reason", MAX_REASON))
    if faults:
        raise InvalidInput(faults)
    return cleaned_note(reason)


def cleaned_json(value: Json) -> Json:
    """The same value without secrets in its strings."""
    match value:
        case str():
            return cleaned(value).text
        case list():
            return [cleaned_json(item) for item in value]
        case dict():
            return {cleaned(name).text: cleaned_json(item) for name, item in value.items()}
        case _:
            return value


def cleaned_metadata(metadata: Mapping[str, Json]) -> dict[str, Json]:
    return {cleaned(name).text: cleaned_json(value) for name, value in metadata.items()}


def cleaned_note(text: str | None) -> str | None:
    """A remark without secrets and surrounding space; None when nothing is left."""
    return None if text is None else cleaned(text).text.strip() or None


def callers(metadata: Mapping[str, Json]) -> dict[str, Json]:
    """Metadata that a caller may give: what Retain notes by itself is passed over."""
    return {name: value for name, value in metadata.items() if name not in OWN}


def metadata_faults(metadata: Mapping[str, Json]) -> Iterator[Fault]:
    if _is_deep(metadata):
        yield Fault("metadata", "", f"must have at most {MAX_DEPTH} levels of lists and objects")
        return
    try:
        written = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        yield Fault("metadata", shorten(dict(metadata)), f"must be a JSON object ({error})")
        return
    if len(written) > MAX_TEXT:
        yield Fault("metadata", f"{len(written):,} characters", f"must have at most {MAX_TEXT:,} characters as JSON")
    yield from string_faults(written, "metadata")


def line_faults(text: str | None, name: str, most: int) -> Iterator[Fault]:
    if text is not None:
        yield from string_faults(text, name)
        if len(text.strip()) > most:
            yield Fault(name, f"{len(text):,} characters", f"must have at most {most:,} characters")


def title_faults(title: str | None) -> Iterator[Fault]:
    yield from line_faults(title, "title", MAX_TITLE)
    if title is not None and is_blank(label(title)):
        yield Fault("title", shorten(title), "is empty; say in a few words what it is about")


def cleaned_title(title: str) -> str:
    return cleaned(label(title)).text


def moment_faults(moment: datetime | None, name: str) -> Iterator[Fault]:
    if moment is None:
        return
    if moment.tzinfo is None:
        yield Fault(name, shorten(moment.isoformat()), "has no time zone; write it like 2026-02-20T14:30:00Z")
    if not YEARS[0] <= moment.year <= YEARS[1]:
        yield Fault(name, shorten(moment.isoformat()), f"must be in the years {YEARS[0]} to {YEARS[1]}")


def cleaned_text(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without secrets and private spans; refused when nothing is left of it."""
    redacted = cleaned(_without_margins(text))
    left = _without_margins(redacted.text)
    if {*redacted.found} - {HIDDEN} and not any(letter.isalnum() for letter in MARK.sub("", left)):
        raise InvalidInput([Fault("content", "", "nothing is left after secrets and private spans were removed")])
    return left, redacted.found


def _without_margins(text: str) -> str:
    """Without blank lines and spaces around it; of several lines the first keeps its indentation, as code needs it."""
    bare = text.strip()
    if "\n" not in bare:
        return bare
    margin = text[: text.index(bare)].rpartition("\n")[2]
    return margin.replace("\r", "") + bare


def text_faults(text: str, name: str = "content") -> Iterator[Fault]:
    if is_blank(text):
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
    if _HALF_PAIR.search(text):
        yield Fault(name, shorten(text), "holds half of a surrogate pair, which is no text; remove it")


def label_faults(names: Sequence[str], field: str) -> Iterator[Fault]:
    for place, name in enumerate(names):
        where = f"{field}[{place}]"
        yield from string_faults(name, where)
        if is_blank(label(name)) or len(label(name)) > MAX_LABEL:
            yield Fault(where, shorten(name), f"must have 1 to {MAX_LABEL} characters")


def label(name: str) -> str:
    """A tag or name without what nobody sees and surrounding space; any script is welcome."""
    return " ".join("".join(letter for letter in visible(name) if unicodedata.category(letter) != "Co").split())


def is_blank(text: str) -> bool:
    """Whether a text has nothing but space, with and without width."""
    return not visible(text).strip()


def labels(names: Sequence[str]) -> tuple[str, ...]:
    """As they are kept: without secrets, each once, in the order given."""
    return each_once(kept_label(name) for name in names)


def each_once(names: Iterable[str]) -> tuple[str, ...]:
    """Two that are found by the same word are one label, under the spelling that came first."""
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(fold(name), name)
    return tuple(first.values())


def importance_faults(importance: float) -> Iterator[Fault]:
    if not 0 <= importance <= 1:
        yield Fault("importance", shorten(importance), "must be from 0 to 1")


def session_faults(session: str | None) -> Iterator[Fault]:
    if session is not None:
        yield from string_faults(session, "session_id")
        if not 1 <= len(session.strip()) <= MAX_SESSION:
            yield Fault("session_id", shorten(session), f"must have 1 to {MAX_SESSION} characters")
        else:
            yield from name_faults(session, "session_id", "name the session in another way")


def name_faults(name: str, field: str, cure: str) -> Iterator[Fault]:
    """For what tells things apart, and would be another one without what it must not hold."""
    if found := secrets_in(name):
        # The value must not be repeated either.
        hides = found == (HIDDEN,)
        held = "characters that nobody sees" if hides else f"a secret ({', '.join(found)})"
        yield Fault(field, shorten(name) if hides else "", f"holds {held}; {cure}")


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
    yield from title_faults(draft.title)
    yield from label_faults([draft.category] if draft.category else [], "category")
    yield from metadata_faults(draft.metadata)
    yield from moment_faults(draft.event_time, "event_time")
    for part in ("tool", "file"):
        yield from line_faults(getattr(draft.source, part), f"source.{part}", MAX_PATH)


def kept_label(name: str) -> str:
    """A name as it is kept: without secrets and control characters."""
    return cleaned(label(name)).text[:MAX_LABEL]


def kept_word(name: str) -> str:
    """A relationship as it is kept: one word, such as depends_on."""
    return kept_label(name).replace(" ", "_")


def _beside_the_text(draft: Draft) -> Iterator[str | None]:
    """Everything else that somebody wrote into a draft."""
    yield from (draft.title, draft.category, draft.source.tool, draft.source.file)
    yield from draft.tags
    yield from (part for entity in draft.entities for part in (entity.name, entity.type, entity.relationship))
    yield from strings_in(dict(draft.metadata))


def strings_in(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            yield from (text for item in value for text in strings_in(item))
        case dict():
            yield from (text for name, item in value.items() for text in (name, *strings_in(item)))


def _is_deep(value: Json | Mapping[str, Json]) -> bool:
    """Looked at level by level: what is nested without end would end in an error of its own."""
    level: list[Json] = [dict(value)] if isinstance(value, Mapping) else [value]
    for _ in range(MAX_DEPTH + 1):
        lists = [each for each in level if isinstance(each, list)]
        objects = [each for each in level if isinstance(each, dict)]
        level = [item for each in lists for item in each] + [item for each in objects for item in each.values()]
        if not lists and not objects:
            return False
    return True


def _clean(text: str | None) -> str | None:
    return None if text is None else cleaned(text).text
