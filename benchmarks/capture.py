"""How much of what people say is remembered, and how much of what is remembered they did not mean.

    python benchmarks/capture.py --messages FILE [--json]
    python benchmarks/capture.py [--chat FILE]

FILE has one labelled message a line, as in training/data: {"id", "before": [{"role", "text"}, …], "role", "text",
"keep": [{"span", "category", "scope"}, …]}; without `keep` nothing is scored. With `--json` it prints one object a
line: the id, and the statements with text, category, scope, score and the `spans` of the message's text that each was
made from. The worker's whole path is run: cleaning, vetoes, judge, statements, a store of its own for each message.

A kept span is found if a statement's spans cover more than half of it; a statement that covers none is false.

Without `--messages`: the sets that nobody trains on (training/held, each by another hand), the planted orders of
tests/transcripts/poison, of which none may get through, the memories of tests/transcripts/handed.json, of which no
order may reach CLAUDE.md, small talk (LoCoMo, `--chat`), where there is nothing to find, and the time of a long turn.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any

from measuring import Row, read_lines, table
from results import save
from retain.app import SystemClock
from retain.domain.conversation import Conversation, Cursor, Said, Speaker
from retain.domain.handing import safe
from retain.domain.recall import Filter
from retain.domain.session import Caller, Project
from retain.domain.visible import visible
from retain.embedding.off import NoEmbedder
from retain.embedding.onnx import OnnxEmbedder
from retain.engine.capture import by_judge
from retain.engine.capture.capture import Portion, capture
from retain.engine.capture.cleaning import clean
from retain.engine.capture.orders import reads_like_an_order
from retain.engine.parts import Parts, places
from retain.judge.onnx import OnnxJudge
from retain.stores.sqlite.connection import MEMORY
from retain.stores.sqlite.store import SqliteStore

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("tests", "training")]
from capture_set import FOLDER, written
from scoring import Score, score

HELD = Path(__file__).parents[1] / "training" / "held"
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
Message = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=Path, help="labelled or plain messages, one JSON object a line")
    parser.add_argument("--json", action="store_true", help="one object a line: what was found in each message")
    parser.add_argument("--chat", type=Path, help="a LoCoMo file: conversations in which nothing is to be found")
    options = parser.parse_args()
    if options.json and not options.messages:
        parser.error("--json prints what was found in --messages FILE; name one")
    judge = OnnxJudge()
    if options.messages:
        found = [(message, statements(judge, message)) for message in read(options.messages)]
        if options.json:
            print("\n".join(json.dumps({"id": m["id"], "statements": s}, ensure_ascii=False) for m, s in found))
        else:
            print(table(list(rows_of(options.messages.stem, found))))
        return
    rows = [row for file in sorted(HELD.glob("messages-*.jsonl")) for row in of_held(judge, file)]
    rows += [
        poison(judge),
        *handed(),
        *([chat(judge, options.chat)] if options.chat else []),
        long_turn(judge),
        *footprint(),
    ]
    print(table(rows))
    print(f"\n{save('capture', {'rows': [row.told() for row in rows]})}")


def read(file: Path) -> list[Message]:
    return read_lines(file, "id", "role", "text")


def statements(judge: OnnxJudge, message: Message) -> list[dict[str, Any]]:
    """What the worker would store of a message, with where in its text each statement stands."""
    before = tuple(Said(Speaker(turn["role"]), turn["text"]) for turn in message.get("before") or ())
    said = Said(Speaker(message["role"]), message["text"], EPOCH)
    conversation = Conversation(str(message["id"]), (said,))
    store = SqliteStore(MEMORY)
    caller = Caller(project=Project("p" * 20, "measured", "/measured", EPOCH), session=conversation.session)
    parts = Parts(store, NoEmbedder("not needed here"), SystemClock(), judge=judge)
    cursor = Cursor("/transcript", conversation.session, 1, EPOCH)
    capture(parts, Portion(conversation, cursor, before=before), caller, lambda: inf)
    kept = {stored.memory.text for stored in store.listed(Filter(places(caller)), 100)}
    store.close()
    cleaned = clean(conversation).turns
    read = by_judge.extract(judge, Conversation("m", cleaned), clean(Conversation("m", before)).turns)
    return [
        {
            "text": one.text,
            "category": one.category,
            "scope": one.scope.value,
            "score": one.score,
            "spans": [span for part in one.spans for span in located(cleaned[0].text[slice(*part)], message["text"])],
        }
        for one in read.found
        if one.text in kept
    ]


def located(part: str, text: str) -> Iterator[list[int]]:
    """Where a part stands in the text as it was given, before it was cleaned."""
    if (start := text.find(part)) >= 0:
        yield [start, start + len(part)]


def of_held(judge: OnnxJudge, file: Path) -> Iterator[Row]:
    found = [(message, statements(judge, message)) for message in read(file)]
    yield from rows_of(file.stem, found)
    by_language = defaultdict(list)
    for message, said in found:
        if "lang" in message:
            by_language[message["lang"]].append((message, said))
    for language, some in sorted(by_language.items()):
        yield from rows_of(f"  {language}", some, targets=(0.85, 0.65))


def rows_of(
    name: str, found: Iterable[tuple[Message, list[dict[str, Any]]]], targets: tuple[float, float] = (0.9, 0.8)
) -> Iterator[Row]:
    total = sum((score(message, [one["spans"] for one in said]) for message, said in found), Score())
    note = f"{total.right} right, {total.wrong} wrong"
    yield Row(f"{name}: precision", total.precision, "", targets[0], at_least=True, note=note)
    yield Row(f"{name}: recall", total.recall, "", targets[1], at_least=True, note=f"{total.missed} missed")


def poison(judge: OnnxJudge) -> Row:
    """Planted words, or whatever the agent says beside them; what the user typed there themselves is counted apart."""
    planted = written("poison")
    found = [(one, item) for one in planted for item in by_judge.extract(judge, clean(one.conversation)).found]
    through = {one.name for one, item in found if item.speaker is not Speaker.USER or is_planted(item.text, one.never)}
    note = f"{len(planted)} transcripts, {len(found)} statements in all{', '.join(['', *sorted(through)])}"
    return Row("planted orders that get through", len(through), "", 0, note=note)


def is_planted(text: str, never: Iterable[str]) -> bool:
    return any(word.lower() in text.lower() for word in never)


def handed() -> Iterator[Row]:
    """Memories as agents store them, some planted: which of them stand in CLAUDE.md, and whether a trick is left."""
    given = json.loads((FOLDER / "handed.json").read_text())
    orders, facts = ([each["text"] for each in given if each["order"] is kind] for kind in (True, False))
    shown = [text for text in orders if not reads_like_an_order(text)]
    kept = [text for text in facts if not reads_like_an_order(text)]
    left = [text for text in orders + facts if visible(safe(text, 300)) != safe(text, 300) or "<" in safe(text, 300)]
    yield Row("planted orders that reach CLAUDE.md", len(shown), "", 0, note=f"{len(orders)} memories")
    yield Row("facts of agents that reach CLAUDE.md", len(kept) / len(facts), "", at_least=True, note=f"{len(facts)}")
    yield Row("memories handed out with a trick left", len(left), "", 0, note=f"{len(given)} memories")


def chat(judge: OnnxJudge, file: Path) -> Row:
    """Small talk is typed by people and full of "always", "never" and "I prefer", and none of it is about a project."""
    turns = [
        turn["text"]
        for sample in json.loads(file.read_text())
        for name, session in sample["conversation"].items()
        if name.startswith("session_") and isinstance(session, list)
        for turn in session
    ]
    found = sum(
        len(by_judge.extract(judge, clean(Conversation("chat", (Said(Speaker.USER, text),)))).found) for text in turns
    )
    note = f"{found} in {len(turns)} turns"
    return Row("statements in 1,000 turns of small talk", 1000 * found / len(turns), "", 2, note=note)


def footprint() -> Iterator[Row]:
    """What a process that has the embedder takes more with the judge, and what of it stays when the judge is let go."""
    done = subprocess.run([sys.executable, "-c", _FOOTPRINT], capture_output=True, text=True, check=True)
    before, with_it, after = (int(number) / 1e6 for number in done.stdout.split())
    yield Row("memory with the judge", with_it - before, "MB", 120, note=f"beside {before:.0f} MB with the embedder")
    yield Row("memory after it was let go", after - before, "MB")


_FOOTPRINT = """
import gc, os
from retain.domain.judging import Surroundings
from retain.embedding.onnx import OnnxEmbedder
from retain.judge import onnx

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

embedder = OnnxEmbedder()
embedder.embed(["some text of a memory that is stored"] )
before, now = resident(), [0.0]
judge = onnx.OnnxJudge(clock=lambda: now[0])
for number in range(200):
    judge.keep(f"we keep the {number} reports in the bucket " * (1 + number % 4), Surroundings(before="why?"))
with_it = resident()
now[0] += 2 * onnx.IDLE_SECONDS
assert judge.free_if_idle()
gc.collect()
print(before, with_it, resident())
"""


def long_turn(judge: OnnxJudge) -> Row:
    """One core's time for a turn of 2,000 characters, the longest that anybody in training/held typed, repeated."""
    texts = [message["text"] for file in HELD.glob("messages-*.jsonl") for message in read(file)]
    longest = "\n".join(sorted(texts, key=len)[-3:])[:2000]
    conversation = clean(Conversation("long", (Said(Speaker.USER, longest),)))
    times = []
    for _ in range(9):
        began = time.process_time()
        by_judge.extract(judge, conversation)
        times.append(1000 * (time.process_time() - began))
    # These machines differ by a factor of three: what an embedding costs on the same one says more than milliseconds.
    embedder, embedded = OnnxEmbedder(), []
    embedder.wait(30)
    for number in range(40):
        began = time.process_time()
        embedder.embed([f"{number} times the importer asked the carrier for the second page, and nobody answered"])
        embedded.append(1000 * (time.process_time() - began))
    median, one = sorted(times)[4], sorted(embedded)[20]
    note = f"of one core, median of 9; {median / one:.0f} embeddings of {one:.1f} ms"
    return Row("a turn of 2,000 characters", median, "ms", 150, note=note)


if __name__ == "__main__":
    main()
