"""The context block: the right few lines for the task at hand, within a budget that is never exceeded."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from retain.domain.digest import PASSING, PREFERENCES, WISHING
from retain.domain.earlier import Earlier
from retain.domain.handing import FRAME, label, one_line, safe
from retain.domain.memory import Kind, MemoryId, Scope, Stored
from retain.domain.recall import Filter, Warning
from retain.domain.retold import Statement, retold
from retain.domain.session import Caller
from retain.domain.words import query_terms
from retain.engine.categories import category_of
from retain.engine.parts import Parts, places
from retain.engine.recall.recall import Hearing, Question, recall
from retain.engine.recall.scoring import relevance
from retain.engine.trust.marks import mark, short_mark
from retain.engine.trust.order import current_if_known
from retain.errors import Fault, InvalidInput, QueryTimeout, shorten

TITLE = "## Memory Context"
HEAD = f"{TITLE}\n{FRAME}"
SECTIONS = {
    "preferences": "### User Preferences",
    "project_context": "### Project Knowledge",
    "session_history": "### Recent Session",
    "relevant_procedures": "### Relevant Procedures",
}
# Shares of the budget; what one section leaves goes to the others, preferences first.
SHARES = {"preferences": 0.25, "project_context": 0.40, "session_history": 0.15, "relevant_procedures": 0.20}
LINE = 400  # characters of one memory; the whole text is a `get` away
MOST_PREFERENCES = 0.5  # of the room, while any other section wants it
SHORT_LINE = 10  # tokens; as many memories are looked at for a section as would fit if all were so short
MOST_LISTED = 1000  # memories that are put in the order of their importance
IMPORTANT = 0.5  # preferences at least: as important as what nobody has weighed
ABOUT_FILES = 20
MOST_FILES = 20
LONGEST_PATH = 4096  # characters, as in most systems
PER_PATH = 15  # memories looked at for one path; most share only a word with it
DEEPEST = 20  # steps of a path that count
SHORTEST = 40  # characters of a memory that is cut to fit; less says nothing
BEHIND = 55  # characters behind one that is cut: its id, and whose word it is
# Below this a memory is not about the task; a block with nothing in it beats one with noise.
RELEVANT = relevance(0.25)
BYTES_PER_TOKEN = 4
FEWEST_TOKENS = 60  # what the block is, a heading and one short line
# Where a path may begin and end in a text. ASCII only: Chinese and Japanese put no space around it.
_BEFORE = r"(?<![\w./-])"
_AFTER = r"(?![\w/-]|\.\w)"
_INSIDE = r"/(?:(?![\w/])|[^\s/]{1,100}\.\w)"  # `web/` and `web/login.py`, not `read/write`
_FROM_ROOT = r"(?:(?:[A-Za-z]:|[.~])?/(?:[\w.-]+/){0,20})"  # a path of another checkout, or `./`

Steps = tuple[str, ...]


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


@dataclass(frozen=True, slots=True)
class _Shown:
    """A memory of the block, and what it contradicts."""

    stored: Stored
    earlier: Earlier | None = None
    day: str = ""
    """When it was said, where the user said something else of the same subject on another day."""


def tokens_in(text: str) -> int:
    """How many tokens a text is taken for: a quarter of its UTF-8 bytes, rounded up.

    English prose has four to five bytes a token and code about three and a half; text in other
    scripts has more bytes a letter, and more tokens.
    """
    return -(-_bytes(text) // BYTES_PER_TOKEN)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def assemble(parts: Parts, task: Task, caller: Caller) -> Block:
    """Sections in order of priority, each memory in one of them at most."""
    _check(task)
    found, warnings = _choose(parts, task, caller)
    truncated = any(one.more for one in found.values())
    chosen = {section: one.memories for section, one in found.items() if one.memories}
    lines = [HEAD] if chosen else [TITLE, "", "Nothing relevant is remembered yet."]
    used: list[MemoryId] = []
    for section, room in _rooms(chosen, task.max_tokens * BYTES_PER_TOKEN - _bytes(HEAD)).items():
        added, cut = _fill(SECTIONS[section], chosen[section], room)
        truncated = truncated or cut
        if added:
            lines += ["", "\n".join(line for line, _ in added)]
            used += [id for _, id in added if id]
    text = _within("\n".join(lines), task.max_tokens)
    return Block(text, tuple(used), tokens_in(text), truncated, warnings)


def _rooms(chosen: Mapping[str, Sequence[_Shown]], room: int) -> dict[str, int]:
    """How many bytes each section gets: its share, or less if that is all it has, and what others leave."""
    whole = sum(SHARES[section] for section in chosen)
    needed = {section: _size(SECTIONS[section], memories) for section, memories in chosen.items()}
    most = {section: needed[section] for section in chosen}
    if "preferences" in chosen and len(chosen) > 1:
        most["preferences"] = min(needed["preferences"], int(MOST_PREFERENCES * room))
    rooms = {section: min(most[section], int(SHARES[section] / whole * room)) for section in chosen}
    spare = room - sum(rooms.values())
    for wanted in (most, needed):
        for section in chosen:
            more = min(wanted[section] - rooms[section], spare)
            rooms[section] += more
            spare -= more
    return rooms


def _size(heading: str, memories: Sequence[_Shown]) -> int:
    """What a section takes in which nothing is left out."""
    added, _ = _fill(heading, memories, sys.maxsize)
    return sum(_bytes(line) + 1 for line, _ in added) + 1


def _check(task: Task) -> None:
    unknown = [name for name in task.sections if name not in SECTIONS]
    faults = [Fault("sections", name, f"allowed are {', '.join(SECTIONS)}") for name in unknown]
    if task.max_tokens < FEWEST_TOKENS:
        faults.append(Fault("max_tokens", str(task.max_tokens), f"must be at least {FEWEST_TOKENS}"))
    for place, file in enumerate(task.files):
        if len(file) > LONGEST_PATH:
            wrong = f"{len(file):,} characters; a path has at most {LONGEST_PATH:,}"
            faults.append(Fault(f"files_in_context[{place}]", shorten(file), wrong))
    if faults:
        raise InvalidInput(faults)


def _ordered(task: Task) -> list[str]:
    return [section for section in SECTIONS if section in task.sections]


@dataclass(frozen=True, slots=True)
class _Found:
    """The memories of a section, best first, and whether there are more than anybody could show."""

    memories: Sequence[_Shown] = ()
    more: bool = False


def _choose(parts: Parts, task: Task, caller: Caller) -> tuple[dict[str, _Found], tuple[Warning, ...]]:
    """What each section may show; a memory that two sections want goes to the first."""
    asked = Hearing(parts, _asked(task), caller)
    warnings: list[Warning] = []
    taken: set[MemoryId] = set()
    chosen: dict[str, _Found] = {}
    most = task.max_tokens // SHORT_LINE
    for section in _ordered(task):
        try:
            found = {s.memory.id: s for s in _section(section, parts, task, asked, caller, warnings)}
        except QueryTimeout:
            found = {}
            warnings.append(Warning("query_timeout", f"{section} took too long and is left out"))
        new = [s for id, s in found.items() if id not in taken]
        chosen[section] = _Found([_Shown(stored) for stored in new[:most]], len(new) > most)
        taken.update(stored.memory.id for stored in new[:most])
    return _undisputed(parts, chosen, caller), tuple(dict.fromkeys(warnings))


def _undisputed(parts: Parts, chosen: dict[str, _Found], caller: Caller) -> dict[str, _Found]:
    """The same, in which what a newer memory contradicts gives way to that; read at once for all sections."""
    now = parts.clock.now()
    found = [shown.stored for one in chosen.values() for shown in one.memories]
    stands = current_if_known(parts.store, found, caller, now)
    taken: set[MemoryId] = set()
    kept: dict[str, _Found] = {}
    for section, one in chosen.items():
        current = [stands[shown.stored.memory.id] for shown in one.memories]
        told = {each.stored.memory.id: _Shown(each.stored, each.earlier(now)) for each in current}
        kept[section] = replace(one, memories=_newest_together([told[id] for id in told if id not in taken]))
        taken |= told.keys()
    return kept


def _newest_together(memories: Sequence[_Shown]) -> list[_Shown]:
    """The same, in which of what the user said of one subject the newest comes first, each with its day."""
    known = {shown.stored.memory.id: shown for shown in memories}
    said = [
        Statement(m.id, m.text if m.metadata.get("said_by") == "user" else "", m.last_said.timestamp())
        for m in (shown.stored.memory for shown in memories)
    ]
    return [replace(known[id], day=day) for id, day in retold(said).items()]


def _section(
    section: str, parts: Parts, task: Task, asked: Hearing, caller: Caller, warnings: list[Warning]
) -> list[Stored]:
    """What belongs there, best first; one more than can be shown tells that there is more."""
    store, most = parts.store, task.max_tokens // SHORT_LINE + 1
    if section == "preferences":
        weighed = Filter(places(caller, (Scope.USER,)), (Kind.SEMANTIC, Kind.PROCEDURAL), min_importance=IMPORTANT)
        return _important(parts, weighed) if asked.text else _standing_rules(parts, weighed, caller)
    if section == "session_history":
        here = places(caller, (Scope.SESSION, Scope.PROJECT))
        wanted = Filter(here, kinds=(Kind.EPISODIC,), session=caller.session)
        recent = store.listed(wanted, 2 * most) if caller.session and here else []
        return [stored for stored in recent if not stored.memory.consolidated]
    if section == "project_context":
        about = about_files(parts, task.files[:MOST_FILES], caller)
        # Procedures have a section of their own, unless nobody wants it.
        kinds = (Kind.SEMANTIC, Kind.EPISODIC) if "relevant_procedures" in task.sections else ()
        question = Question(asked.text, (Scope.PROJECT,), kinds, limit=most, rules=False)
        return about + _relevant(parts, question, asked, caller, warnings)
    question = Question(asked.text, (Scope.PROJECT, Scope.USER), (Kind.PROCEDURAL,), limit=most, rules=False)
    return _relevant(parts, question, asked, caller, warnings)


def _important(parts: Parts, wanted: Filter) -> list[Stored]:
    found = parts.store.listed(wanted, MOST_LISTED) if wanted.places else []
    return sorted(found, key=lambda s: -s.memory.importance)


def _standing_rules(parts: Parts, of_the_user: Filter, caller: Caller) -> list[Stored]:
    """What is known of the user, and what the user wants in this project."""
    here = replace(of_the_user, places=places(caller, (Scope.PROJECT,)), kinds=(), categories=(PREFERENCES, "pattern"))
    wishes = [s for s in _important(parts, here) if s.memory.metadata.get("said_by") in WISHING]
    found = [*_important(parts, of_the_user), *wishes]
    return sorted(found, key=lambda s: -s.memory.importance)


def _relevant(
    parts: Parts, question: Question, asked: Hearing, caller: Caller, warnings: list[Warning]
) -> list[Stored]:
    """What fits the task; without one, the most important and newest, and last what is only under way."""
    if not question.text:
        known = _important(parts, Filter(places(caller, question.scopes), kinds=question.kinds))
        return sorted(known, key=lambda s: category_of(s.memory) in PASSING)
    answer = recall(parts, question, caller, asked)
    warnings += answer.warnings
    return [hit.stored for hit in answer.hits if hit.relevance >= RELEVANT]


def about_files(parts: Parts, files: Sequence[str], caller: Caller) -> list[Stored]:
    """Memories that name the open files, then those that name their folders, then the folders above these."""
    wanted = Filter(places(caller, (Scope.PROJECT, Scope.SESSION)))
    if not wanted.places:
        return []
    root = _slashed(caller.project.path).rstrip("/") if caller.project else ""
    about: dict[MemoryId, Stored] = {}
    for path, pattern in _named(files, root):
        if len(about) >= ABOUT_FILES:
            break
        found = parts.store.by_words(query_terms("/".join(path[-2:])), wanted, PER_PATH).scores
        new = parts.store.memories([id for id in found if id not in about])
        about |= {id: stored for id, stored in new.items() if pattern.search(_said(stored, root))}
    return list(about.values())


def _named(files: Sequence[str], root: str) -> list[tuple[Steps, re.Pattern[str]]]:
    """The paths a memory may name, each with the ways to write it: all files, all their folders, all parents."""
    opened = [steps for file in files if (steps := _steps(file, root))]
    named = {steps: _file_named(steps) for steps in opened}
    for above in (1, 2):
        folders = [steps[:-above] for steps in opened if len(steps) > above]
        named |= {folder: _folder_named(folder) for folder in folders if folder not in named}
    return [(steps, re.compile(_BEFORE + pattern, re.ASCII)) for steps, pattern in named.items()]


def _steps(file: str, root: str) -> Steps:
    """A path from the project's root; one that is elsewhere keeps its folders, for any end of it may be named."""
    path = _slashed(file.strip())
    if root and path.startswith(f"{root}/"):
        path = path.removeprefix(root)
    return tuple(step for step in path.split("/") if step.strip(".") and not step.endswith(":"))[-DEEPEST:]


def _slashed(path: str) -> str:
    return path.replace("\\", "/")


def _said(stored: Stored, root: str) -> str:
    """What a memory says and where it came from, with the paths of the project from its root."""
    said = _slashed(f"{stored.memory.text}\n{stored.memory.source.file or ''}")
    return re.sub(f"{_BEFORE}{re.escape(root)}/", "", said) if root else said


def _file_named(steps: Steps) -> str:
    """The file with all, some or none of its folders; one called `build` needs a folder, for it is a word too."""
    name = steps[-1]
    optional = "" if name.isalpha() and name.islower() else "?"
    return f"{_within_folders(steps[:-1])}{optional}{re.escape(name)}{_AFTER}"


def _folder_named(steps: Steps) -> str:
    """The folder as a path, `src/web` or `web/`, or a file in it; never its name alone, which may be a word."""
    folders, name = _within_folders(steps[:-1]), re.escape(steps[-1])
    return f"(?:{folders}{name}{_AFTER}|{folders}?{name}{_INSIDE})"


def _within_folders(steps: Steps) -> str:
    """One or more folders that lead to a name, the nearest always among them; `./` where there are none."""
    if not steps:
        return r"(?:\./)"
    pattern = _FROM_ROOT
    for step in steps:
        pattern = f"(?:{pattern}?{re.escape(step)}/)"
    return pattern


def _fill(heading: str, memories: Sequence[_Shown], room: int) -> tuple[list[tuple[str, MemoryId | None]], bool]:
    """Lines that fit the room, and whether any memory had to be left out or cut."""
    added: list[tuple[str, MemoryId | None]] = [(heading, None)]
    size = _bytes(heading) + 2  # with the ends of the lines before it
    cut = False
    for shown in memories:
        line, shortened = _fitting(shown, room - size - 1, first=len(added) == 1)
        cut = cut or shortened
        if line:
            added.append((line, shown.stored.memory.id))
            size += _bytes(line) + 1
    return (added, cut) if len(added) > 1 else ([], cut)


def _fitting(shown: _Shown, room: int, *, first: bool) -> tuple[str, bool]:
    """As much of a memory and of what was said before it as fits, and whether that is less than all of the memory.

    Only the first of a section is cut to fit. What is disputed is never shown without saying so.
    """
    stored, earlier = shown.stored, shown.earlier
    line, shortened = _line(stored)
    line += f" ({shown.day})" if shown.day else ""
    said, least = mark(earlier, stored.standing), short_mark(earlier, stored.standing)
    for whole in (line + said, line + least):
        if _bytes(whole) <= room:
            return whole, shortened
    if first:
        whole = _line(stored, _room(line, room - _bytes(least)))[0] + least
        if _bytes(whole) <= room:
            return whole, True
    return "", True


def _line(stored: Stored, longest: int = LINE) -> tuple[str, bool]:
    memory = stored.memory
    whose = label(memory.metadata.get("said_by"))
    text = one_line(memory.text, longest)
    if len(text) <= longest:
        return f"- {text}{whose}", False
    return f"- {safe(memory.text, longest)} (memory:{memory.id}){whose}", True


def _room(line: str, room: int) -> int:
    """How many characters of such a line fit into so many bytes, beside what stands behind it."""
    return max(int(room * len(line) / _bytes(line)) - BEHIND, SHORTEST)


def _within(text: str, max_tokens: int) -> str:
    """The last guard: whole lines go until the text fits."""
    while tokens_in(text) > max_tokens and "\n" in text:
        text = text.rsplit("\n", 1)[0]
    return text


def _asked(task: Task) -> str:
    files = " ".join(PurePosixPath(file.replace("\\", "/")).stem for file in task.files[:5])
    return f"{task.description} {files}".strip()[:2000]
