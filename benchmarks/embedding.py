"""Retain's model beside the original all-MiniLM-L6-v2: what vectors alone find, and what they cost.

    python benchmarks/embedding.py ../shared/data/locomo-dev.json [more data]

Takes LoCoMo and LongMemEval files. Functions and their docstrings come from the packages installed beside
this Python; some of those were in the model's training data, so read their figures as an upper bound.
"""

import argparse
import json
import os
import re
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docstrings
import original_minilm
import results
from retain.embedding.files import bundled
from retain.embedding.onnx import OnnxEmbedder

SENTENCE = "Caroline: I went to a support group yesterday and it was so powerful, number {}."  # 20 tokens or so


@dataclass(frozen=True)
class Store:
    """Documents that are searched together, and questions with the places of the documents that answer them."""

    documents: list[list[str]]  # each in chunks
    questions: list[tuple[str, set[int]]]


@dataclass(frozen=True)
class Test:
    name: str
    stores: list[Store]

    def texts(self) -> Iterator[str]:
        for store in self.stores:
            yield from (chunk for document in store.documents for chunk in document)
            yield from (question for question, _ in store.questions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", type=Path, help="LoCoMo or LongMemEval files")
    paths = parser.parse_args().data
    model = OnnxEmbedder()
    speed = measure_speed(model)
    show("Speed, one thread", speed)
    tests = [conversations(path, model) for path in paths] + list(functions(model))
    ours = embed_all(model, tests)
    figures = {test.name: {"questions": count(test), "retain-minilm-l6": score(test, ours)} for test in tests}
    try:
        original = original_minilm.vectors(list(ours))
        theirs = dict(zip(ours, original, strict=True))
        for test in tests:
            figures[test.name]["all-MiniLM-L6-v2 fp32"] = score(test, theirs)
        missing = None
    except original_minilm.Missing as error:
        missing = f"The original is missing, so there is nothing to compare with: {error}"
        print(missing)
    for name, rows in figures.items():
        show(f"{name} ({rows['questions']} questions)", {key: row for key, row in rows.items() if key != "questions"})
    saved = results.save("embedding", {"speed": speed, "retrieval": figures, "missing": missing})
    print(f"\nSaved as {saved}")


def conversations(path: Path, model: OnnxEmbedder) -> Test:
    data = json.loads(path.read_text())
    stores = [locomo(item, model) for item in data] if "conversation" in data[0] else [longmemeval(data, model)]
    return Test(path.stem, stores)


def locomo(item: dict[str, Any], model: OnnxEmbedder) -> Store:
    sessions = [turns for turns in item["conversation"].values() if isinstance(turns, list)]
    turns = [turn for session in sessions for turn in session]
    places = {turn["dia_id"]: place for place, turn in enumerate(turns)}
    asked = [
        (
            qa["question"],
            {places[id] for id in re.findall(r"D\d+:\d+", " ".join(qa.get("evidence", []))) if id in places},
        )
        for qa in item["qa"]
    ]
    documents = [model.chunks(f"{turn['speaker']}: {turn['text']}") for turn in turns]
    return Store(documents, [(question, evidence) for question, evidence in asked if evidence])


def longmemeval(data: list[dict[str, Any]], model: OnnxEmbedder) -> Store:
    """What users said in all sessions, in one store; questions that only the assistant answered are left out."""
    texts: dict[str, int] = {}
    questions = []
    for item in data:
        said = [turn for session in item["haystack_sessions"] for turn in session if turn["role"] == "user"]
        for turn in said:
            texts.setdefault(turn["content"], len(texts))
        evidence = {texts[turn["content"]] for turn in said if turn.get("has_answer")}
        if evidence:
            questions.append((item["question"], evidence))
    return Store([model.chunks(text) for text in texts], questions)


def functions(model: OnnxEmbedder) -> Iterator[Test]:
    for package, pairs in docstrings.pairs_by_package().items():
        documents = [model.chunks(source) for _, source in pairs]
        questions = [(sentence, {place}) for place, (sentence, _) in enumerate(pairs)]
        yield Test(f"docstring → function, {package}", [Store(documents, questions)])


def embed_all(model: OnnxEmbedder, tests: list[Test]) -> dict[str, Any]:
    import numpy

    texts = list(dict.fromkeys(text for test in tests for text in test.texts()))
    return {text: numpy.frombuffer(vector, "<f4") for text, vector in zip(texts, model.embed(texts), strict=True)}


def score(test: Test, vectors: dict[str, Any]) -> dict[str, float]:
    """In percent: any answer first, among the first five or ten, and the mean reciprocal rank."""
    ranks = [rank for store in test.stores for rank in ranked(store, vectors)]
    first = {f"any@{limit}": statistics.mean(rank <= limit for rank in ranks) for limit in (1, 5, 10)}
    return {
        name: round(100 * value, 1) for name, value in (first | {"MRR": statistics.mean(1 / r for r in ranks)}).items()
    }


def ranked(store: Store, vectors: dict[str, Any]) -> Iterator[int]:
    """The rank of the best answer to each question, a document being as close as its closest chunk."""
    import numpy

    matrix = numpy.stack([vectors[chunk] for document in store.documents for chunk in document])
    starts = numpy.cumsum([0] + [len(document) for document in store.documents[:-1]])
    for question, answers in store.questions:
        closeness = numpy.maximum.reduceat(matrix @ vectors[question], starts)
        yield int((closeness > max(closeness[place] for place in answers)).sum()) + 1


def count(test: Test) -> int:
    return sum(len(store.questions) for store in test.stores)


def measure_speed(model: OnnxEmbedder) -> dict[str, dict[str, float]]:
    before = resident()
    load = timed(lambda: model.wait(60))
    loaded = resident()
    single = statistics.median(timed(lambda n=n: model.embed([SENTENCE.format(n)])) for n in range(200))
    long = model.chunks(" ".join(f"The server keeps connection {n} for thread {7 * n}." for n in range(1400)))
    full = [timed(lambda chunk=chunk: model.embed([chunk])) for chunk in long[:20]]
    model.embed(long[20:])
    after = resident()
    plain, to_128, to_256 = (padded(length) for length in (0, 128, 256))
    return {
        "ms a text": {"alone": single, "256 tokens": statistics.median(full)},
        "ms to load": {"imports, sha256, session": load},
        "padding costs ×": {"to 128": to_128 / plain, "to 256": to_256 / plain},
        "MB resident": {"before": before, "loaded": loaded, "after bulk": after, "added": after - before},
        "machine": {"load average": os.getloadavg()[0], "cores": float(os.cpu_count() or 0)},
    }


def padded(length: int) -> float:
    """Milliseconds for one sentence when the model is always given `length` tokens, as others do."""
    import numpy
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(bundled().onnx, options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(bundled().tokenizer))
    tokenizer.no_padding()
    ids = tokenizer.encode(SENTENCE).ids
    mask = numpy.array([[1] * len(ids) + [0] * (length - len(ids))])
    feeds = {"input_ids": mask * 0, "attention_mask": mask, "token_type_ids": mask * 0}
    feeds["input_ids"][0, : len(ids)] = ids
    return statistics.median(timed(lambda: session.run(None, feeds)) for _ in range(40))


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def show(title: str, rows: dict[str, dict[str, float]]) -> None:
    print(f"\n{title}")
    for name, figures in rows.items():
        print(f"  {name:24}" + "".join(f"{column} {value:.1f}   " for column, value in figures.items()))


if __name__ == "__main__":
    main()
