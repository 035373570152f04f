"""Whether memory helps: stories over several sessions of the real Claude Code client, with a scripted model.

    python benchmarks/journeys.py [STORY …] [--held | --tuned] [--jobs 2] [--show]

A story (benchmarks/journeys/*.json) is what a developer types in some sessions, each in a process of its own, with the
answers and the tools of the model; then a last session with one prompt. Nothing is told to memory but by the hooks, and
there is no language model behind it: the judge finds what is worth keeping. Written beforehand, in the story:

- `needed`: facts (expressions that meet in one line) that must be in what the model is sent with the last prompt
- `stale`: facts that hold no longer; none may be shown as if it still did. In a line that says what holds now, and when
  the other was said, it may stand. Up to the start of the session `until` they held, and were worth knowing
- `never`: words of a secret, of another project, or of an order in a file; none may be there in any session of the
  project that is asked about
- `worth`: what is worth knowing at the start of any session of the project; a line about anything else is ballast
- `fits`: what belongs to a prompt; a line that is given with it and is about anything else is ballast

`before` names notes that the project already has (they count neither as worth nor as ballast at the start). `held`
stories are not looked at while anything is tuned. `author` is the hand that wrote a story without having seen rules,
judge or data; stories whose name has `correction` in it are casual corrections, of which each is heard or not.
"""

import argparse
import json
import re
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import retain
from measuring import Row, load_average, table
from results import save

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from e2e.client import Answer, Unavailable, cache, installed, until
from e2e.home import Home
from e2e.messages_api import MessagesApi, Note, Turn, calls, text, tool

HERE = Path(__file__).parent / "journeys"
LETTERS_A_TOKEN = 4
_FAKE = """#!/bin/sh
# Says what the story says, if it is its turn; else it is the real one. Stories may be about cat and rm too, so what
# this calls is never the one in front.
PATH=$(printf %s "$PATH" | /usr/bin/env PATH=/usr/bin:/bin sed "s#$HOME/bin:##g"); export PATH
said="$HOME/said/{name}"
for turn in "$said"/*; do
  if [ -d "$turn" ] && [ "$*" = "$(cat "$turn/arguments")" ]; then
    cat "$turn/prints"; code=$(cat "$turn/exit"); rm -r "$turn"; exit "$code"
  fi
done
exec {name} "$@"
"""


@dataclass
class Told:
    """What came of a story."""

    name: str
    held: bool
    author: str = "project"
    found: bool = False
    facts: list[bool] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    leaked: list[str] = field(default_factory=list)
    matter: int = 0
    ballast: list[str] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    seconds: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stories", nargs="*", help="names of stories; default: all of them")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--held", action="store_true", help="only those that are not tuned on")
    part.add_argument("--tuned", action="store_true", help="only the others")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="print what was stored and shown in every story")
    options = parser.parse_args()
    try:
        installed()
    except Unavailable as missing:
        sys.exit(f"the client cannot be had: {missing}")
    began = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        told = []
        for one in pool.map(lived, chosen(options)):
            print(line(one, options.show), flush=True)
            told.append(one)
    report(told, time.monotonic() - began, whole=not (options.stories or options.held or options.tuned))


def chosen(options: argparse.Namespace) -> list[dict[str, Any]]:
    stories = [{"name": file.stem, **json.loads(file.read_text())} for file in sorted(HERE.glob("*.json"))]
    known = {story["name"] for story in stories}
    if unknown := set(options.stories) - known:
        sys.exit(f"no story {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    return [
        story
        for story in stories
        if (not options.stories or story["name"] in options.stories)
        and not (options.held and not story["held"])
        and not (options.tuned and story["held"])
    ]


def lived(story: dict[str, Any]) -> Told:
    """Runs a story from its first session to its last."""
    told, began = Told(story["name"], story["held"], story.get("author", "project")), time.monotonic()
    # Not below a folder for passing things: what is made there is not worth remembering.
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="home-", dir=cache()) as folder, MessagesApi() as api:
        home = Home(Path(folder) / "ada")
        home.settings["PATH"] = f"{home.folder / 'bin'}:{home.environment()['PATH']}"
        try:
            home.connect()
            known = prepared(home, story)
            last = {**story["ask"], "turns": [{**story["ask"], "fits": story["fits"]}]}
            for number, session in enumerate([*story["sessions"], last], start=1):
                answers = run(home, api, story, session)
                judge(story, {**session, "number": number}, answers, known, told)
            judge_last(story, api.requests[-1].notes, known, told)
        finally:
            home.kill_all()
    told.seconds = time.monotonic() - began
    return told


def prepared(home: Home, story: dict[str, Any]) -> list[str]:
    """What the project has before the story begins: files, and notes, which are returned."""
    project = home.project(story["project"])
    for path, content in story.get("files", {}).items():
        (project / path).write_text(content)
    if "before" not in story:
        return []
    notes: list[str] = json.loads((HERE / "before" / f"{story['before']}.json").read_text())
    with retain.open(home.database, home=home.retain_home, project_dir=project) as memory:
        for note in notes:
            memory.remember(note)
        memory.engine.settle(60)
    return notes


def run(home: Home, api: MessagesApi, story: dict[str, Any], session: dict[str, Any]) -> list[Answer]:
    """One session, in a process of its own; when it is over, what it taught has been stored."""
    project = session.get("project", story["project"])
    for turn in session["turns"]:
        api.script.add(*model_turns(home, home.project(project), turn))
    with home.session(api, project) as client:
        # A developer takes longer to type than the server to start.
        until(lambda: home.servers, "the server listens", 20)
        answers = [client.say(turn["user"]) for turn in session["turns"]]
    if failed := [answer.text for answer in answers if answer.failed] or api.script.left:
        raise AssertionError(f"{story['name']}: not as the story says: {failed}")
    home.settle()
    return answers


def model_turns(home: Home, project: Path, turn: dict[str, Any]) -> Iterable[Turn]:
    """What the model answers to a prompt: a text, or tools and then a text. A command of the client needs none."""
    silent = turn["user"].startswith("/")
    for step in turn.get("model", [] if silent else ["Done."]):
        if isinstance(step, str):
            yield Turn((text(step),))
        elif "bash" in step:
            prepare_tool(home.folder, step)
            yield calls(tool("Bash", command=step["bash"], description="Run it"))
        elif "write" in step:
            yield calls(tool("Write", file_path=str(project / step["write"]), content=step["content"]))
        else:
            yield calls(tool("Read", file_path=str(project / step["read"])))


_numbers = iter(range(10**9))


def prepare_tool(home: Path, step: dict[str, Any]) -> None:
    """Puts a command in front of the real one that says, once, what the story says it does."""
    words = [word for word in shlex.split(step["bash"]) if not re.match(r"[A-Z_]+=", word)]
    name, given = words[0], " ".join(words[1:])
    said = home / "said" / name / f"{next(_numbers):09}"
    said.mkdir(parents=True)
    for part, content in {
        "arguments": given,
        "prints": step["prints"] + "\n",
        "exit": str(step.get("exit", 0)),
    }.items():
        (said / part).write_text(content)
    fake = home / "bin" / name
    fake.parent.mkdir(exist_ok=True)
    fake.write_text(_FAKE.format(name=name))
    fake.chmod(0o755)
    for file in (".bashrc", ".profile"):
        (home / file).write_text('export PATH="$HOME/bin:$PATH"\n')


def judge(
    story: dict[str, Any], session: dict[str, Any], answers: Sequence[Answer], known: Sequence[str], told: Told
) -> None:
    """Whether each line that was put in front of the model in a session matters, by what the story says beforehand."""
    notes = [note for answer in answers for note in answer.notes]
    told.tokens.append(sum(len(note.text) for note in notes) // LETTERS_A_TOKEN)
    here = session.get("project", story["project"])
    if here == story["ask"].get("project", story["project"]):
        told.leaked += [word for word in story["never"] for note in notes if found(word, note.text)]
    held = [fact for stale in story["stale"] if session["number"] <= stale["until"] for fact in stale["fact"]]
    worth = [*story["worth"], *held] if here == story["project"] else None
    for turn, answer in zip(session["turns"], answers, strict=True):
        for note in answer.notes:
            if note.event == "UserPromptSubmit":
                weigh(note, turn.get("fits"), (), told)
            else:
                weigh(note, worth, known, told)


def weigh(note: Note, about: Sequence[str] | None, known: Sequence[str], told: Told) -> None:
    """Counts the lines that are about one of these things; without any said beforehand, nobody judges."""
    for line in note.lines if about is not None else ():
        if any(one in line for one in known):
            continue
        if any(found(word, line) for word in about or ()):
            told.matter += 1
        else:
            told.ballast.append(f"{note.event}: {line}")


def judge_last(story: dict[str, Any], notes: Sequence[Note], known: Sequence[str], told: Told) -> None:
    """What the model was really sent with the last prompt."""
    lines = [line for note in notes for line in note.lines]
    told.shown = [line for line in lines if not any(one in line for one in known)]
    places = [[n for n, line in enumerate(told.shown) if says(fact, line)] for fact in story["needed"]]
    told.facts = [bool(place) for place in places]
    told.found = all(places)
    told.stale = [line for line in told.shown if shows_as_current(story, line)]


def shows_as_current(story: dict[str, Any], line: str) -> bool:
    """Whether a line tells what holds no longer, without what holds now beside it."""
    is_stale = any(says(stale["fact"], line) for stale in story["stale"])
    return is_stale and not any(says(fact, line) for fact in story["needed"])


def says(fact: Sequence[str], line: str) -> bool:
    return all(found(part, line) for part in fact)


def found(expression: str, text: str) -> bool:
    """Whether it is there, as somebody reads it: what could be a tag is handed out with another bracket."""
    return re.search(expression, text.replace("‹", "<").replace("›", ">"), re.IGNORECASE) is not None


def line(told: Told, show: bool) -> str:
    marks = ("found " if told.found else "MISSED") + (" held " if told.held else " tuned")
    counts = f"{told.matter:3} lines matter, {len(told.ballast)} do not, {max(told.tokens)} tokens at most"
    lines = [f"{marks} {told.name:28} {counts}, {told.seconds:.0f} s"]
    lines += [f"       stale, as current: {stale}" for stale in told.stale]
    lines += [f"       leaked: {word}" for word in told.leaked]
    if show or not told.found:
        lines += [f"       shown: {shown}" for shown in told.shown]
    lines += [f"       ballast: {ballast}" for ballast in told.ballast]
    return "\n".join(lines)


def report(told: Sequence[Told], seconds: float, whole: bool) -> None:
    rows = [*scores("all", told)]
    authors = sorted({one.author for one in told if one.author != "project"})
    parts = {"tuned": [t for t in told if not t.held and t.author == "project"]}
    parts["held"] = [t for t in told if t.held and t.author == "project"]
    parts |= {f"author {name}": [t for t in told if t.author == name] for name in authors}
    for part, some in parts.items():
        if some and len(some) < len(told):
            rows += scores(part, some)
    if corrections := [t for t in told if "correction" in t.name]:
        heard = sum(t.found and not t.stale for t in corrections)
        rows.append(Row("casual corrections heard", heard / len(corrections), "", 0.9, True, note=f"{heard}"))
    rows.append(Row("seconds for all stories", seconds, "s", note=f"load {load_average():.1f}"))
    print(f"\n{table(rows)}")
    if whole:
        kept = {"rows": [row.told() for row in rows], "stories": [vars(one) for one in told]}
        print("saved", save("journeys", kept))


def scores(part: str, told: Sequence[Told]) -> list[Row]:
    count = len(told)
    lines = sum(one.matter + len(one.ballast) for one in told)
    tokens = [tokens for one in told for tokens in one.tokens]
    facts = [fact for one in told for fact in one.facts]
    return [
        Row(
            f"{part}: needed fact is sent",
            sum(t.found for t in told) / count,
            "",
            0.9,
            True,
            note=f"of {count} stories",
        ),
        Row(f"{part}: of single facts", sum(facts) / max(1, len(facts)), "", 0.9, True, note=f"of {len(facts)}"),
        Row(f"{part}: stale fact as current", sum(bool(t.stale) for t in told) / count, "", 0.0),
        Row(f"{part}: what must never show", sum(bool(t.leaked) for t in told) / count, "", 0.0),
        Row(
            f"{part}: lines that matter",
            sum(t.matter for t in told) / max(lines, 1),
            "",
            0.85,
            True,
            note=f"of {lines}",
        ),
        Row(f"{part}: tokens a session, median", statistics.median(tokens), "", note=f"max {max(tokens)}"),
    ]


if __name__ == "__main__":
    main()
