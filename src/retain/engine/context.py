"""The context block: the right few lines for the task at hand, within a budget that is never exceeded."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from retain.domain.memory import Kind, MemoryId, Scope, Stored
from retain.domain.recall import Filter, Warning
from retain.domain.session import Caller
from retain.domain.words import query_terms
from retain.engine.parts import Parts, places
from retain.engine.recall.recall import Question, recall
from retain.errors import Fault, InvalidInput, QueryTimeout

TITLE = "## Memory Context"
SECTIONS = {
    "preferences": "### User Preferences",
    "project_context": "### Project Knowledge",
    "session_history": "### Recent Session",
    "relevant_procedures": "### Relevant Procedures",
}
# Shares of the budget; preferences come first and what one section leaves goes to the next.
SHARES = {"preferences": 0.25, "project_context": 0.40, "session_history": 0.15, "relevant_procedures": 0.20}
LINE = 400  # characters of one memory; the whole text is a `get` away
PER_SECTION = 20
MOST_FILES = 20
SHORTEST = 40  # characters of a memory that is cut to fit; less says nothing
# Below this a memory is not about the task; a block with nothing in it beats one with noise.
RELEVANT = 0.25
CHARS_PER_TOKEN = 4
FEWEST_TOKENS = 50  # a heading and one short line
_MORE = "…"


@dataclass(frozen=True, slots=True)
class Task:
    """What the agent is doing."""

    description: str = ""
    files: tuple[str, ...] = ()
    max_tokens: int = 2000
    sections: tuple[str, ...] = tuple(SECTIONS)


@dataclass(frozen=True, slots=True)
class Block:
    """A text to put in front of an agent, and what went into it."""

    text: str
    memories: tuple[MemoryId, ...]
    tokens: int
    truncated: bool
    warnings: tuple[Warning, ...] = ()


def tokens_in(text: str) -> int:
    """How many tokens a text is taken for: a quarter of its UTF-8 bytes, rounded up.

    English prose has four to five bytes a token and code about three and a half; text in other
    scripts has more bytes a letter, and more tokens.
    """
    return -(-len(text.encode("utf-8", "replace")) // CHARS_PER_TOKEN)


def assemble(parts: Parts, task: Task, caller: Caller) -> Block:
    """Sections in order of priority, each memory in one of them at most."""
    _check(task)
    chosen, warnings = _choose(parts, task, caller)
    lines = [TITLE] if any(chosen.values()) else [TITLE, "", "Nothing relevant is remembered yet."]
    used: list[MemoryId] = []
    truncated = False
    spare = 0.0
    room = task.max_tokens - tokens_in(TITLE) - 1
    filled = [section for section in _ordered(task) if chosen[section]]
    for section in filled:
        spare += SHARES[section] / sum(SHARES[s] for s in filled) * room
        added, cut = _fill(SECTIONS[section], chosen[section], int(spare))
        truncated = truncated or cut
        if added:
            block = "\n".join(line for line, _ in added)
            spare -= tokens_in(block) + 1
            lines += ["", block]
            used += [id for _, id in added if id]
    text = _within("\n".join(lines), task.max_tokens)
    return Block(text, tuple(used), tokens_in(text), truncated, warnings)


def _check(task: Task) -> None:
    unknown = [name for name in task.sections if name not in SECTIONS]
    faults = [Fault("sections", name, f"allowed are {', '.join(SECTIONS)}") for name in unknown]
    if task.max_tokens < FEWEST_TOKENS:
        faults.append(Fault("max_tokens", str(task.max_tokens), f"must be at least {FEWEST_TOKENS}"))
    if faults:
        raise InvalidInput(faults)


def _ordered(task: Task) -> list[str]:
    return [section for section in SECTIONS if section in task.sections]


def _choose(parts: Parts, task: Task, caller: Caller) -> tuple[dict[str, list[Stored]], tuple[Warning, ...]]:
    """The memories of each section, best first; one that two sections want goes to the first."""
    asked = _asked(task)
    warnings: list[Warning] = []
    taken: set[MemoryId] = set()
    chosen: dict[str, list[Stored]] = {}
    for section in _ordered(task):
        try:
            found = {s.memory.id: s for s in _section(section, parts, task, asked, caller, warnings)}
        except QueryTimeout:
            found = {}
            warnings.append(Warning("query_timeout", f"{section} took too long and is left out"))
        chosen[section] = [s for id, s in found.items() if id not in taken][:PER_SECTION]
        taken.update(s.memory.id for s in chosen[section])
    return chosen, tuple(dict.fromkeys(warnings))


def _section(
    section: str, parts: Parts, task: Task, asked: str, caller: Caller, warnings: list[Warning]
) -> list[Stored]:
    store = parts.store
    if section == "preferences":
        wanted = Filter(places(caller, (Scope.USER,)), kinds=(Kind.SEMANTIC, Kind.PROCEDURAL))
        found = store.listed(wanted, 100) if wanted.places else []
        return sorted(found, key=lambda s: -s.memory.importance)
    if section == "session_history":
        here = places(caller, (Scope.SESSION, Scope.PROJECT))
        wanted = Filter(here, kinds=(Kind.EPISODIC,), session=caller.session)
        recent = store.listed(wanted, 3 * PER_SECTION) if caller.session and here else []
        return [stored for stored in recent if not stored.memory.consolidated]
    if section == "project_context":
        about = _about_files(parts, task.files[:MOST_FILES], caller)
        # Procedures have a section of their own, unless nobody wants it.
        kinds = (Kind.SEMANTIC, Kind.EPISODIC) if "relevant_procedures" in task.sections else ()
        return about + _relevant(parts, Question(asked, (Scope.PROJECT,), kinds, limit=PER_SECTION), caller, warnings)
    question = Question(asked, (Scope.PROJECT, Scope.USER), (Kind.PROCEDURAL,), limit=PER_SECTION)
    return _relevant(parts, question, caller, warnings)


def _relevant(parts: Parts, question: Question, caller: Caller, warnings: list[Warning]) -> list[Stored]:
    """What fits the task; without one, the most important and newest."""
    if not question.text:
        wanted = Filter(places(caller, question.scopes), kinds=question.kinds)
        found = parts.store.listed(wanted, 100) if wanted.places else []
        return sorted(found, key=lambda s: -s.memory.importance)
    answer = recall(parts, question, caller)
    warnings += answer.warnings
    return [hit.stored for hit in answer.hits if hit.relevance >= RELEVANT]


def _about_files(parts: Parts, files: Sequence[str], caller: Caller) -> list[Stored]:
    """Memories about the open files, or about the folders they are in; the nearest folder first."""
    names = [path for file in files for path in _paths(file)]
    if not names:
        return []
    wanted = Filter(places(caller, (Scope.PROJECT, Scope.SESSION)))
    ranked: dict[MemoryId, tuple[int, Stored]] = {}
    for depth, name in sorted(dict.fromkeys(names)):
        found = parts.store.memories(list(parts.store.by_words(query_terms(name), wanted, 20).scores))
        for id, stored in found.items():
            ranked.setdefault(id, (depth, stored))
    return [
        stored
        for depth, stored in sorted(ranked.values(), key=lambda found: found[0])
        if _names_file(stored, [name for _, name in names])
    ]


def _paths(file: str) -> list[tuple[int, str]]:
    path = PurePosixPath(file.replace("\\", "/"))
    folders = [str(parent) for parent in path.parents if str(parent) not in (".", "/", "")][:2]
    return [(depth, name) for depth, name in enumerate([path.name, *folders]) if name]


def _names_file(stored: Stored, names: Sequence[str]) -> bool:
    said = f"{stored.memory.text} {stored.memory.source.file or ''}"
    return any(name in said for name in names)


def _fill(heading: str, memories: Sequence[Stored], room: int) -> tuple[list[tuple[str, MemoryId | None]], bool]:
    """Lines that fit the room, and whether any memory had to be left out or cut."""
    added: list[tuple[str, MemoryId | None]] = [(heading, None)]
    size = tokens_in(heading) + 1
    cut = False
    for stored in memories:
        line, shortened = _line(stored)
        if size + tokens_in(line) + 1 > room and len(added) == 1:
            line, shortened = _line(stored, _room(line, room - size - 1))
        cost = tokens_in(line) + 1
        if size + cost > room:
            cut = True
            continue
        added.append((line, stored.memory.id))
        size += cost
        cut = cut or shortened
    return (added, cut) if len(added) > 1 else ([], cut)


def _line(stored: Stored, longest: int = LINE) -> tuple[str, bool]:
    text = " ".join(stored.memory.text.split())
    if len(text) <= longest:
        return f"- {text}", False
    return f"- {text[:longest].rsplit(' ', 1)[0]}{_MORE} (memory:{stored.memory.id})", True


def _room(line: str, tokens: int) -> int:
    """How many characters of such a line fit into so many tokens, beside the id that stands for the rest."""
    bytes_each = len(line.encode("utf-8", "replace")) / len(line)
    return max(int(tokens * CHARS_PER_TOKEN / bytes_each) - SHORTEST, SHORTEST)


def _within(text: str, max_tokens: int) -> str:
    """The last guard: whole lines go until the text fits."""
    while tokens_in(text) > max_tokens and "\n" in text:
        text = text.rsplit("\n", 1)[0]
    return text


def _asked(task: Task) -> str:
    files = " ".join(PurePosixPath(file.replace("\\", "/")).stem for file in task.files[:5])
    return f"{task.description} {files}".strip()[:2000]
