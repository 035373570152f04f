"""Projects, tracked sessions and explained search results, as lines that a person reads."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from retain.domain.category import shown_as
from retain.domain.memory import Memory
from retain.domain.recall import Warning
from retain.domain.session import Profile
from retain.domain.visible import marked
from retain.domain.work import Work, WorkState
from retain.engine.lookup.facets import LONG, SHORT, Facets
from retain.engine.lookup.matching import Match, Matches, SortField
from retain.engine.tracking.projects import Inited
from retain.engine.tracking.work import Completed, Logged, Started, Told
from retain.surfaces.bank_reports import memory_id, project_id
from retain.surfaces.cli.draw import DIM, Drawn, age, facts, several, standing
from retain.surfaces.cli.terminal import Cut, Indented, line

MOST_CHARS = 400  # of one hit
BESIDE = 10  # columns that place and score of a hit take
MOST_TAGS = 10  # counted in one line
STYLES = {WorkState.ACTIVE: "green", WorkState.COMPLETED: "", WorkState.ABORTED: "yellow"}
LENGTHS = {"short": f"under {SHORT} characters", "medium": f"up to {LONG:,}", "long": "longer"}
_MARKED = re.compile(r"\*\*([^\s*]+)\*\*")  # marks are around words; what was written with asterisks stays


@dataclass(frozen=True, slots=True)
class Listing:
    """Of which list a page of sessions is; `projects` has the names of theirs where they are of several."""

    total: int
    offset: int
    now: datetime
    state: WorkState | None = None
    projects: Mapping[str, str] = field(default_factory=dict)


class Marked:
    """A passage with `**marks**`: bold on a terminal, as they are elsewhere."""

    def __init__(self, text: str, by: int) -> None:
        self.text = marked(text)
        self.by = by

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        shows_bold = console.is_terminal and console.color_system is not None
        yield Indented(_emboldened(self.text) if shows_bold else Text(self.text), self.by)


def inited(done: Inited) -> Drawn:
    profile = done.profile
    verb = "renamed" if done.renamed_from else "known already:" if done.existed else "initialised"
    before = f" · before: {done.renamed_from}" if done.renamed_from else ""
    yield Indented(line((verb, "green"), f" {profile.name}", (f"  {_project_id(profile)}{before}", DIM)), 0)
    yield Cut(f"  {_flat(profile.project.path)}", DIM)
    yield from _removed(done.redacted)


def projects(found: Sequence[Profile], total: int, offset: int) -> Drawn:
    if not total:
        yield Text("No project is known yet. `retain project init NAME` names the one here.")
    for profile in found:
        yield Indented(line((profile.name, "bold"), (f"  {_project_id(profile)}", DIM)), 0)
        yield Cut(f"  {_flat(profile.project.path)}", DIM)
    yield from _rest(len(found), total, offset, "projects")


def project(profile: Profile, now: datetime | None) -> Drawn:
    """Everything about one project; without a time, of one in which nothing is kept yet."""
    yield Indented(line((profile.name, "bold"), (f"  {_project_id(profile)}", DIM)), 0)
    yield from facts(
        {
            "description": profile.description,
            "folder": profile.project.path,
            "known since": age(profile.created, now) if now else None,
            "changed": age(profile.updated, now) if now and profile.updated > profile.created else None,
        }
    )
    if now is None:
        yield line(("  Nothing is kept of it yet; `retain project init NAME` gives it a name.", DIM))


def started(done: Started, now: datetime) -> Drawn:
    yield Indented(line(("started ", "green"), done.work.title, (f"  {done.work.id}", DIM)), 0)
    for old in done.aborted:
        note = f"aborted {old.title} ({old.id}), which was still active; it began {_since(old, now)}"
        yield Indented(line(note), 6, lead=line(("note: ", "yellow")))
    yield from _removed(done.redacted)
    yield line(("`retain session log TEXT` adds to it, `retain session done OUTCOME` ends it.", DIM))


def logged(done: Logged) -> Drawn:
    beside = f" in {done.work.title} · {memory_id(done.memory.id)}"
    yield Indented(line(("logged ", "green"), _entry(done.memory), (beside, DIM)), 0)
    yield from _removed(done.redacted)
    yield from warnings(done.warnings)


def completed(done: Completed) -> Drawn:
    work = done.work
    yield Indented(line(("completed ", "green"), work.title, (f"  {work.id}{_took(work)}", DIM)), 0)
    yield from _removed(done.redacted)
    yield from warnings(done.warnings)


def aborted(ended: Sequence[Work], where: str) -> Drawn:
    if not ended:
        yield line(f"No session is active in {where}, so none was aborted.")
    for work in ended:
        yield Indented(line(("aborted ", "yellow"), work.title, (f"  {work.id}{_took(work)}", DIM)), 0)


def sessions(found: Sequence[Work], listing: Listing) -> Drawn:
    if not listing.total:
        none = f"No session is {listing.state}." if listing.state else "There is no session yet."
        yield Text(f"{none} `retain session start TITLE` begins one.")
    for work in found:
        where = f" · {listing.projects[work.project]}" if work.project in listing.projects else ""
        state = (f"  {work.state.value}", STYLES[work.state])
        yield Indented(line((work.title, "bold"), state, (f" · {_since(work, listing.now)}{_took(work)}", DIM)), 0)
        yield Indented(line((f"{work.id}{where}{_tags(work.tags)}", DIM)))
    yield from _rest(len(found), listing.total, listing.offset, "sessions")


def told(session: Told, project: str, now: datetime) -> Drawn:
    """Everything about one session, its log oldest first."""
    work = session.work
    yield Indented(line((work.title, "bold"), (f"  {work.state.value}", STYLES[work.state]), (_took(work), DIM)), 0)
    yield from facts(
        {
            "session": work.id,
            "project": project,
            "started": _since(work, now),
            "ended": age(work.ended, now) if work.ended else None,
            "tags": ", ".join(work.tags),
            "description": work.description,
            "outcome": session.outcome,
            "summary": session.summary,
        }
    )
    yield ""
    for memory in session.entries:
        lead = line((f"  {memory.created.astimezone():%m-%d %H:%M}  ", DIM), f"{_entry(memory):<9}")
        yield Indented(line(memory.text, (_tags(memory.tags), DIM)), lead.cell_len + 2, lead=lead)
    if not session.entries:
        yield line(("  Nothing was logged.", DIM))


def searched(answer: Matches, now: datetime, *, facets: bool, explain: bool, by: SortField) -> Drawn:
    if not answer.hits:
        yield Indented("Nothing that is remembered here matches. Fewer filters or other words may find more.", 0)
    for place, hit in enumerate(answer.hits, start=1):
        score = hit.similarity if by is SortField.SIMILARITY else hit.relevance
        memory = hit.stored.memory
        lead = line((f"{place:>2}  ", "bold"), f"{score:.2f}")
        yield Indented(line((f"{memory_id(memory.id)}{_facts(memory, now)}", DIM)), BESIDE, lead=lead)
        if memory.title:
            yield Indented(line((memory.title, "bold")), 4)
        yield from _explained(hit) if explain else [Indented(_short(memory.text), 4)]
        yield from standing(hit.stored, 4, memory_id)
    if answer.total > len(answer.hits) > 0:
        yield line((f"{answer.total:,} matched in all; --limit shows more of them.", DIM))
    if facets and answer.total:
        yield ""
        yield from _counts(answer.facets)
    yield from warnings(answer.warnings)


def warnings(them: Iterable[Warning]) -> Drawn:
    for warning in them:
        yield Indented(line(warning.message), 6, lead=line(("note: ", "yellow")))


def _removed(secrets: Sequence[str]) -> Drawn:
    if secrets:
        yield Indented(line(("removed before storing: ", "yellow"), ", ".join(dict.fromkeys(secrets))), 0)


def _explained(hit: Match) -> Drawn:
    """The passage that matched, the terms that add up to the score, and what is behind them."""
    yield Marked(hit.why.highlight, 4)
    terms = " + ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in hit.why.breakdown.items() if value)
    yield Indented(line((f"{hit.relevance:.2f} = {terms or 0}", DIM)), 4)
    for reason in hit.why.reasons:
        yield Indented(line((reason, DIM)), 6, lead=line(("    -", DIM)))


def _counts(counted: Facets) -> Drawn:
    """How many of all that matched are of each type, tag and length."""
    tags = sorted(counted.tags.items(), key=lambda each: (-each[1], each[0]))
    more = [f"{several(len(tags) - MOST_TAGS, 'tags')} more"] if len(tags) > MOST_TAGS else []
    types = sorted(counted.types.items(), key=lambda each: (-each[1], each[0]))
    lengths = [f"{count:,} {name} ({LENGTHS[name]})" for name, count in counted.lengths.items() if count]
    yield from facts(
        {
            "types": ", ".join(f"{count:,} {name}" for name, count in types),
            "tags": ", ".join([f"{count:,} #{name}" for name, count in tags[:MOST_TAGS]] + more),
            "lengths": ", ".join(lengths),
        }
    )


def _rest(shown: int, total: int, offset: int, what: str) -> Drawn:
    """What a page leaves out after it; or that it begins after the end."""
    after = total - offset - shown
    if total and not shown:
        yield line(f"There are {several(total, what)}; --offset {offset} is past the last.")
    elif after > 0:
        yield line((f"{several(after, what)} more; --offset {offset + shown} goes on.", DIM))


def _emboldened(text: str) -> Text:
    drawn, end = Text(), 0
    for found in _MARKED.finditer(text):
        drawn.append(text[end : found.start()]).append(found[1], "bold")
        end = found.end()
    return drawn.append(text[end:])


def _facts(memory: Memory, now: datetime) -> str:
    type_ = shown_as(memory.category, memory.kind.value)
    return f" · {type_} · {age(memory.updated, now)}{_tags(memory.tags)}"


def _tags(tags: Sequence[str]) -> str:
    return f" · {' '.join('#' + tag for tag in tags)}" if tags else ""


def _entry(memory: Memory) -> str:
    return str(memory.metadata.get("entry", "info"))


def _since(work: Work, now: datetime) -> str:
    began = age(work.started, now)
    return "just now" if began == "now" else began


def _took(work: Work) -> str:
    if work.minutes is None:
        return ""
    return f" · took {several(work.minutes, 'minutes')}" if work.minutes else " · took under a minute"


def _project_id(profile: Profile) -> str:
    return project_id(profile.project.id)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MOST_CHARS else flat[:MOST_CHARS].rsplit(" ", 1)[0] + " …"


def _flat(text: str) -> str:
    """A path on one line: there may be line breaks in it."""
    return "".join("\ufffd" if letter in "\n\t" else letter for letter in text)
