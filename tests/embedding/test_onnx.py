"""The bundled model, and models in folders."""

import json
import shutil
import struct
import subprocess
import sys
from functools import partial
from itertools import pairwise

import pytest

from retain.embedding import reference
from retain.embedding.files import bundled, in_folder
from retain.embedding.onnx import OnnxEmbedder
from retain.embedding.unit import unit
from retain.errors import EmbeddingFailed


def closeness(embedder, left, right):
    vectors = [struct.unpack(f"<{len(vector) // 4}f", vector) for vector in embedder.embed([left, right])]
    return sum(a * b for a, b in zip(*vectors, strict=True))


@pytest.fixture
def export(tmp_path):
    """The bundled model laid out as sentence-transformers does."""
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").symlink_to(bundled().onnx)
    (tmp_path / "tokenizer.json").symlink_to(bundled().tokenizer)
    return tmp_path


def pooling(folder, **config):
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(config))


def test_meaning_counts_more_than_words(bundled_model):
    question = "Which database did we choose?"
    assert closeness(bundled_model, question, "We settled on Postgres for storage") > closeness(
        bundled_model, question, "Which colour did we paint the fence?"
    )


def test_importing_it_loads_nothing_heavy():
    heavy = "{'numpy', 'onnxruntime', 'tokenizers'}"
    code = f"import sys, retain.embedding.onnx as o; o.OnnxEmbedder().model; sys.exit(bool({heavy} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_it_is_idle_until_needed_and_then_ready():
    model = OnnxEmbedder()
    assert (model.state().name, model.model, model.dimensions) == ("idle", "retain-minilm-l6@23c8715e", 384)
    model.warm()
    assert model.state().name in ("loading", "ready")
    assert model.wait(30)


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.15, 0.25, 0.4])
def test_a_process_may_end_while_the_model_works(seconds):
    code = f"""
import threading, time
from retain.embedding.onnx import OnnxEmbedder
from retain.errors import EmbeddingFailed
def work():
    try:
        while True: model.embed([f"{{time.monotonic()}} " * 9 for _ in range(20)])
    except EmbeddingFailed: pass
model = OnnxEmbedder()
threading.Thread(target=work, daemon=True).start()
time.sleep({seconds})
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_repeated_text_comes_from_the_cache():
    model = OnnxEmbedder()
    model.embed(["one", "two"])
    model.embed(["two", "three"])
    stats = model.stats()
    assert (stats.hits, stats.misses, stats.size) == (1, 3, 3)


def test_a_damaged_model_is_off_and_says_to_reinstall(tmp_path):
    shutil.copy(bundled().tokenizer, tmp_path)
    (tmp_path / bundled().onnx.name).write_bytes(b"half a download")
    model = OnnxEmbedder(partial(bundled, tmp_path))
    with pytest.raises(EmbeddingFailed, match="damaged: reinstall"):
        model.embed(["x"])
    assert (model.state().name, model.model) == ("off", "retain-minilm-l6@23c8715e")


def test_a_failure_is_remembered_and_tried_again_after_a_minute(export, ticks):
    tokenizer = export / "tokenizer.json"
    tokenizer.unlink()
    model = OnnxEmbedder(partial(in_folder, export), ticks)
    assert not model.wait(30)
    assert "has no tokenizer.json" in model.state().why
    tokenizer.symlink_to(bundled().tokenizer)
    assert not model.wait(30)
    ticks.now += 61
    assert model.wait(30)


def test_a_folder_gives_the_vectors_of_its_model(export, bundled_model):
    assert OnnxEmbedder.in_folder(export).embed(["other", "we use tabs"])[1:] == bundled_model.embed(["we use tabs"])


def test_pooling_is_read_from_the_export_and_changes_the_name(export, bundled_model):
    plain = in_folder(export).identity
    pooling(export, pooling_mode_cls_token=True, pooling_mode_mean_tokens=False)
    model = OnnxEmbedder.in_folder(export)
    assert model.embed(["we use tabs"]) != bundled_model.embed(["we use tabs"])
    assert model.model != plain


def test_an_unknown_pooling_is_refused(export):
    pooling(export, pooling_mode_max_tokens=True)
    with pytest.raises(EmbeddingFailed, match="pooling that Retain does not know"):
        OnnxEmbedder.in_folder(export).embed(["x"])


def test_the_length_of_chunks_is_read_from_the_export(export, bundled_model):
    (export / "sentence_bert_config.json").write_text('{"max_seq_length": 64}')
    text = "The server keeps one connection for each thread. " * 50
    assert len(OnnxEmbedder.in_folder(export).chunks(text)) > 3 * len(bundled_model.chunks(text))


def test_a_folder_without_a_model_is_off_and_named(tmp_path):
    model = OnnxEmbedder.in_folder(tmp_path / "nowhere")
    assert (model.model, model.dimensions, model.wait(30)) == ("missing", 0, False)
    assert "nowhere has no model.onnx or onnx/model.onnx" in model.state().why


@pytest.mark.parametrize("broken", ["onnx/model.onnx", "tokenizer.json", "sentence_bert_config.json"])
def test_a_file_that_cannot_be_read_leaves_it_off(export, broken):
    (export / broken).unlink(missing_ok=True)
    (export / broken).write_bytes(b"not what it should be")
    model = OnnxEmbedder.in_folder(export)
    assert not model.wait(30)
    assert model.state().why


def test_a_model_without_token_types_works(tmp_path):
    shutil.copy(bundled().tokenizer, tmp_path)
    (tmp_path / "model.onnx").write_bytes(lookup_model(words=30_522))
    model = OnnxEmbedder.in_folder(tmp_path)
    assert len(model.embed(["we use tabs"])[0]) // 4 == model.dimensions == 2


def test_the_end_of_a_text_that_is_too_long_does_not_count(bundled_model):
    start = "deploy on Mondays " * 200
    assert closeness(bundled_model, start, start + "and never on Fridays") == pytest.approx(1, abs=1e-5)


def test_chunks_fit_the_model_and_overlap_a_little(bundled_model):
    text = " ".join(f"word{number}" for number in range(2_000))
    chunks = bundled_model.chunks(text)
    network = bundled_model._network.value()
    assert all(len(network.spans(chunk)) <= 254 for chunk in chunks)
    assert all(after.split()[0] in before.split()[-30:] for before, after in pairwise(chunks))


def test_there_is_one_model_in_the_package_and_its_card_names_it():
    files = bundled()
    assert [file.name for file in files.onnx.parent.glob("*.onnx")] == [files.onnx.name]
    card = (files.onnx.parent / "README.md").read_text()
    assert all(fact in card for fact in (files.onnx.name, files.identity, *files.sha256))


def test_a_text_has_the_same_vector_among_many_and_alone(bundled_model):
    texts = [f"On day {number} we changed the {'very ' * (number % 7)}old server" for number in range(30)]
    assert OnnxEmbedder().embed(texts) == [bundled_model.embed([text])[0] for text in texts]


def test_the_model_computes_what_it_computes_on_every_machine(bundled_model):
    """Not to the last digit: where another processor rounds one number the other way, a vector moves by 0.0007."""
    wanted = reference.vectors()
    apart = [
        max(abs(a - b) for (a,), (b,) in zip(*map(partial(struct.iter_unpack, "<f"), pair), strict=True))
        for pair in zip(bundled_model.embed(list(wanted)), wanted.values(), strict=True)
    ]
    assert max(apart) < 0.003
    assert sum(each < 1e-5 for each in apart) >= len(apart) / 2
    assert reference.least_cosine(bundled_model) > reference.ALIKE


def test_vectors_that_a_saturating_kernel_made_are_told_apart(bundled_model):
    """As far from the right ones as those that a processor without VNNI made of the weights as int8."""
    assert reference.least_cosine(Blurred(bundled_model)) < reference.ALIKE


class Blurred:
    def __init__(self, model):
        self._model = model

    def embed(self, texts):
        return [unit(list(blurred(vector))) for vector in self._model.embed(texts)]


def blurred(vector):
    for place, (number,) in enumerate(struct.iter_unpack("<f", vector)):
        yield number + (0.006 if place % 2 else -0.006)


def lookup_model(words):
    """The smallest network that is one: each token's row of a table. Written out, since `onnx` is not installed."""
    table = struct.pack(f"<{words * 2}f", *(1.0 + number % 7 for number in range(words * 2)))
    tensor = field(1, words) + field(1, 2) + field(2, 1) + field(8, b"table") + field(9, table)
    node = field(1, b"table") + field(1, b"input_ids") + field(2, b"rows") + field(4, b"Gather")
    graph = field(1, node) + field(2, b"lookup") + field(5, tensor) + field(11, value(b"input_ids", 7, 2))
    graph += field(11, value(b"attention_mask", 7, 2)) + field(12, value(b"rows", 1, 3))
    return field(1, 8) + field(7, graph) + field(8, field(1, b"") + field(2, 13))


def value(name, kind, rank):
    shape = b"".join(field(1, field(2, f"d{place}".encode())) for place in range(rank))
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def field(number, content):
    """One protobuf field: a number as varint, or bytes with their length."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(number):
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def test_loading_leaves_nothing_in_the_home_folder_and_reports_to_nobody(tmp_path):
    code = "from retain.embedding.onnx import OnnxEmbedder; OnnxEmbedder().embed(['hello'])"
    subprocess.run([sys.executable, "-c", code], check=True, env={"HOME": str(tmp_path)})
    assert list(tmp_path.rglob("*")) == []
