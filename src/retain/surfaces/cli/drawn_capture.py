"""What was captured, asked, merged and logged, as lines that a person reads."""

from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

from retain.domain.memory import Stored
from retain.domain.recall import Recalled
from retain.engine.ask import Asked
from retain.engine.categories import category_of, confidence_of
from retain.engine.lifecycle.merging import Merged
from retain.engine.lifecycle.pruning import Pruned
from retain.hook_log import DROPPED, JUDGED, Entry
from retain.surfaces.capture_reports import memory_id
from retain.surfaces.cli.draw import DIM, Drawn, age, several, standing, warnings
from retain.surfaces.cli.terminal import Indented, line

FEW = 5  # passages that stand for an answer


def searched(answer: Recalled, now: datetime) -> Drawn:
    if not answer.hits:
        yield Text("Nothing is remembered about that here. Other words, or no --type, may find more.")
    for place, hit in enumerate(answer.hits, start=1):
        about = f"  {memory_id(hit.id)}{_facts(hit.stored, now)}"
        yield line((f"{place:>2}  ", "bold"), f"{hit.score:.2f}", (about, DIM))
        yield Indented(hit.stored.memory.text, 4)
        yield from standing(hit.stored, 4, memory_id)
    yield from warnings(answer.warnings)


def listed(found: Sequence[Stored], total: int, now: datetime) -> Drawn:
    if not found:
        yield Text("Nothing of that kind is remembered here yet.")
    for stored in found:
        yield line((memory_id(stored.memory.id), "bold"), (_facts(stored, now), DIM))
        yield Indented(stored.memory.text, 4)
        yield from standing(stored, 4, memory_id)
    if total > len(found):
        yield line((f"{total - len(found)} more; --limit shows more of them.", DIM))


def asked(answer: Asked, now: datetime) -> Drawn:
    """What follows an answer that was shown as it came: its sources; without one, why, and what was found."""
    if answer.answer:
        yield Text("\n")
        cited = set(answer.cited)
        for hit in answer.passages:
            if hit.id in cited:
                yield line((f"memory:{hit.id}{_facts(hit.stored, now)}", DIM))
                yield from standing(hit.stored, 2)
    else:
        yield line(("no answer: ", "yellow"), answer.why_not or "the language model said nothing")
        for hit in answer.passages[:FEW]:
            yield line((f"  memory:{hit.id}{_facts(hit.stored, now)}", DIM))
            yield Indented(hit.stored.memory.text, 4)
            yield from standing(hit.stored, 4)
        if len(answer.passages) > FEW:
            more = several(len(answer.passages) - FEW, "passages")
            yield line((f"  and {more} more; `retain search` lists them", DIM))
    yield from warnings(answer.warnings)


def pruned(done: Pruned, *, dry_run: bool = False) -> Drawn:
    """What became of what was put aside earlier."""
    what = (
        (done.hidden, "left all lists; `retain undo` brings them back for 30 days", "leave all lists"),
        (done.destroyed, "destroyed", "be destroyed"),
        (done.brought_back, "brought back: they should not have been put aside", "come back"),
    )
    for number, did, would in what:
        if number:
            yield Text(f"Of what was put aside earlier: {number} {f'would {would}' if dry_run else did}.")


def merged(done: Merged) -> Drawn:
    if not (done.merged or done.dropped):
        yield Text(f"By type: {several(done.kept, 'memories')} looked at, nothing to merge.")
    else:
        yield Text(
            f"By type: {several(len(done.merged), 'mergers')}, {several(len(done.dropped), 'memories')} put aside, "
            f"{done.kept} kept; decided by {done.by}."
        )
    yield from pruned(done.pruned)
    if done.run:
        yield line((f"Undo it with: retain undo {done.run}", DIM))
    yield from warnings(done.warnings)


def logged(entries: Sequence[Entry], now: datetime) -> Drawn:
    for entry in entries:
        took = f"  {entry.ms:.0f} ms" if entry.ms is not None else ""
        said = str(entry.facts.get("text", "")) if entry.event in (DROPPED, JUDGED) else ""
        told = _judged(entry) if entry.event == JUDGED else _told(entry)
        when = f"{entry.at.astimezone():%m-%d %H:%M:%S}  {age(entry.at, now):<15}"
        yield line((when, DIM), (f"{entry.event:<18}", "bold"), (took, DIM), f"  {told}")
        if said:
            yield Indented(said, 4)
        if entry.error:
            yield Indented(entry.error, 4, "yellow")


def _told(entry: Entry) -> str:
    facts = {name: value for name, value in entry.facts.items() if entry.event != DROPPED or name == "why"}
    return "  ".join(f"{name} {value}" for name, value in facts.items() if value not in (None, "", [], 0))


def _judged(entry: Entry) -> str:
    """Why a sentence was kept, or was not: how sure the judge is, and how sure it has to be."""
    facts = entry.facts
    kept = "kept" if facts.get("kept") else "not kept"
    return f"{kept}: {facts.get('score')} of {facts.get('threshold')} needed, as {facts.get('category')}"


def _facts(stored: Stored, now: datetime) -> str:
    memory = stored.memory
    tags = f" · {' '.join('#' + tag for tag in memory.tags)}" if memory.tags else ""
    faded = confidence_of(memory, now)
    counts = "" if faded == 1 else f" · counts {faded:.0%}"
    said = memory.metadata.get("said_by")
    source = f" · from the {said}" if said in ("assistant", "tool") else ""
    return f" · {category_of(memory)} · {age(memory.updated, now)}{counts}{source}{tags}"
