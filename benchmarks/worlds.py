"""The worlds that recall is measured on: conversations with their dates, and what developers told in half a year."""

import json
import random
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from retain.domain.memory import Kind
from timeline import START, Asked, Said, World

HERE = Path(__file__).parent
OFFERS = HERE.parent / "tests" / "transcripts" / "offers"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
STYLES = {"a": "same sentence", "b": "told change", "c": "other words", "d": "rule turned round"}
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)

Line = dict[str, Any]


def locomo(file: Path, *, captions: bool = False) -> list[World]:
    """A world for each conversation: two friends over months, a turn a minute in each session."""
    return [
        World(f"locomo {sample['sample_id']}", list(_turns(sample["conversation"], captions)), list(_locomo(sample)))
        for sample in json.loads(file.read_text())
    ]


def _turns(conversation: Line, captions: bool) -> Iterator[Said]:
    for session in (key for key in conversation if re.fullmatch(r"session_\d+", key)):
        began = datetime.strptime(conversation[f"{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for number, turn in enumerate(conversation[session], start=1):
            photo = f" [photo: {turn['blip_caption']}]" if captions and turn.get("blip_caption") else ""
            text = f"{turn['speaker']}: {turn['text']}{photo}"
            yield Said(turn["dia_id"], text, began + number * MINUTE, session, number)


def _locomo(sample: Line) -> Iterator[Asked]:
    known = {said.name for said in _turns(sample["conversation"], captions=False)}
    for number, question in enumerate(sample["qa"]):
        # Some name several turns in one string.
        evidence = known.intersection(re.findall(r"D\d+:\d+", " ".join(question.get("evidence", []))))
        if evidence:
            yield Asked(number, question["question"], frozenset(evidence), CATEGORIES[question["category"]])


def longmemeval(file: Path) -> World:
    """All sessions of all questions in one store, as if one person had had them; each question asked on its date."""
    said: dict[str, Said] = {}
    asked = []
    for number, sample in enumerate(json.loads(file.read_text())):
        evidence = set()
        parts = (sample[f"haystack_{part}"] for part in ("session_ids", "dates", "sessions"))
        for session, date, turns in zip(*parts, strict=True):
            for turn, line in enumerate(turns, start=1):
                name = f"{session}:{turn}"
                text = f"{line['role'].capitalize()}: {line['content']}"
                said[name] = Said(name, text, _date(date) + turn * MINUTE, session, turn)
                if line.get("has_answer"):
                    evidence.add(name)
        if evidence and not sample["question_id"].endswith("_abs"):
            category, at = sample["question_type"], _date(sample["question_date"])
            asked.append(Asked(number, sample["question"], frozenset(evidence), category, at))
    return World("longmemeval", list(said.values()), asked)


def _date(text: str) -> datetime:
    return datetime.strptime(re.sub(r"\(\w+\) ", "", text), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def developer(days: int) -> World:
    """What developers told of many projects, in an order by chance over so many days; asked as they ask an agent."""
    texts: dict[str, str] = {}
    asked: list[Asked] = []
    for file in sorted(OFFERS.glob("*.json")):
        project = json.loads(file.read_text())
        texts |= project["memories"]
        asked += [
            Asked(number, prompt, frozenset(needs), "prompt")
            for number, (prompt, needs, *_) in enumerate(project["prompts"], start=len(asked))
            if needs
        ]
    for number, line in enumerate(_lines("changed")):
        texts[f"changed {number}"] = line["new"]
        asked.append(Asked(len(asked), line["question"], frozenset([f"changed {number}"]), "fact"))
    for number, line in enumerate(_lines("tasks")):
        texts |= {f"task {number} {other}": text for other, text in enumerate([line["needed"], *line["near"]])}
    names = sorted(texts)
    random.Random(7).shuffle(names)
    step = days * DAY / len(names) if days else MINUTE / 10
    said = [Said(name, texts[name], START + place * step, kind=Kind.SEMANTIC) for place, name in enumerate(names)]
    return World(f"developer, {days} days", said, asked, is_filed=True)


def changed(apart: timedelta) -> World:
    """Facts of which each was told again, otherwise, some time later; a question has the later one in mind."""
    lines = list(_lines("changed"))
    said, asked = [], []
    for number, line in enumerate(lines):
        old, new = f"old {number}", f"new {number}"
        said.append(Said(old, line["old"], START + number * MINUTE / 60, kind=Kind.SEMANTIC))
        said.append(Said(new, line["new"], START + apart + number * MINUTE / 60, kind=Kind.SEMANTIC))
        asked.append(Asked(number, line["question"], frozenset([new]), STYLES[line["style"]], instead=frozenset([old])))
    return World(f"changed, {apart.days} days apart" if apart.days else "changed, minutes apart", said, asked)


def tasks() -> World:
    """A rule, a preference or a decision that a task calls for, told weeks before among what only looks like it."""
    said, asked = [], []
    for number, line in enumerate(_lines("tasks")):
        for other, text in enumerate([line["needed"], *line["near"]]):
            at = START + number * timedelta(hours=1) + other * MINUTE
            said.append(Said(f"{number} {other}", text, at, kind=Kind.SEMANTIC))
        asked.append(Asked(number, line["task"], frozenset([f"{number} 0"]), line["kind"], START + 40 * DAY))
    return World("tasks", said, asked, is_filed=True)


def abroad() -> World:
    """Short statements in four languages among what developers said in English, each asked for in its own language."""
    english = developer(180).said
    said, asked = list(english), []
    for number, line in enumerate(_lines("abroad")):
        said.append(Said(f"abroad {number}", line["memory"], START + number * DAY, kind=Kind.SEMANTIC))
        asked.append(Asked(number, line["question"], frozenset([f"abroad {number}"]), line["language"]))
    return World("abroad", said, asked)


def asides() -> list[World]:
    """What a user mentioned in passing, beside long answers of an assistant."""
    return [_aside(line) for line in _lines("asides")]


def _aside(line: Line) -> World:
    end = START + 200 * DAY
    said = [
        Said(one["id"], f"{one['role'].capitalize()}: {one['text']}", end - one["days_ago"] * DAY + number * MINUTE)
        for number, one in enumerate(line["memories"])
    ]
    asked = [
        Asked(number, one["q"], frozenset(one["answers"]), one["kind"], end + DAY, frozenset(one.get("outdated", ())))
        for number, one in enumerate(line["questions"])
    ]
    return World(f"aside {line['id']}", said, asked)


def _lines(folder: str) -> Iterator[Line]:
    for file in sorted((HERE / folder).glob("*.jsonl")):
        yield from (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip())


def of(name: str, data: Path) -> Sequence[World]:
    """The worlds of one benchmark; `data` is where the public sets lie."""
    if name == "developer":
        return [developer(days) for days in (0, 30, 180)]
    if name == "changed":
        return [changed(5 * MINUTE), changed(30 * DAY)]
    if name == "locomo":
        return locomo(data / "locomo-dev.json")
    if name == "longmemeval":
        return [longmemeval(data / "longmemeval-oracle-dev.json")]
    if name == "abroad":
        return [abroad()]
    return [tasks()] if name == "tasks" else asides()
