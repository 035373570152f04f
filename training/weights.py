"""The encoder's numbers: read out of the packaged uint8 file as floats, and written back into its graph.

Training begins with the embedder's own weights and ends in the same graph with other numbers and four heads, so that
the judge runs on the kernels that the embedder runs on, with the same integers on every processor.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

Numbers = dict[str, NDArray[np.float32]]
_MIDDLE = 128  # where zero lies in a byte
_HIDDEN = "last_hidden_state"


def read(file: Path) -> Numbers:
    """Every weight of the encoder under the name that a BERT model has for it."""
    graph = onnx.load(file).graph
    held = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    numbers = {
        name.removeprefix("m."): value.astype(np.float32)
        for name, value in held.items()
        if name.startswith("m.") and not name.endswith(("_quantized", "_scale", "_zero_point"))
    }
    for name, place in _quantised(graph).items():
        low = held[f"{place}_quantized"].astype(np.float32) - held[f"{place}_zero_point"].astype(np.float32)
        whole = low * held[f"{place}_scale"]
        numbers[name] = whole if "embeddings" in name else whole.T
    return numbers


def read_heads(file: Path) -> dict[str, Numbers]:
    """The heads of a judge that was written before."""
    heads: dict[str, Numbers] = {}
    for each in onnx.load(file).graph.initializer:
        _, *path = each.name.split(".")
        if each.name.startswith("judge.") and path[-1] in ("weight", "bias") and len(path) == 2:
            heads.setdefault(path[0], {})[path[1]] = numpy_helper.to_array(each)
    return heads


def write(numbers: Mapping[str, NDArray[np.float32]], heads: Mapping[str, Numbers], template: Path, file: Path) -> None:
    """The template's graph with these weights, and a softmax head for each name on the mean and the first token."""
    model = onnx.load(template)
    held = {each.name: each for each in model.graph.initializer}
    for name, value in numbers.items():
        if f"m.{name}" in held:
            held[f"m.{name}"].CopyFrom(numpy_helper.from_array(value.astype(np.float32), f"m.{name}"))
    for name, place in _quantised(model.graph).items():
        whole = numbers[name] if "embeddings" in name else numbers[name].T
        scale = np.abs(whole).max() if "embeddings" in name else np.abs(whole).max(axis=0)
        scale = np.maximum(scale / 127, 1e-12).astype(np.float32)
        low = np.clip(np.rint(whole / scale) + _MIDDLE, 0, 255).astype(np.uint8)
        for part, value in (
            ("quantized", low),
            ("scale", scale),
            ("zero_point", np.full_like(scale, _MIDDLE, np.uint8)),
        ):
            held[f"{place}_{part}"].CopyFrom(numpy_helper.from_array(np.asarray(value), f"{place}_{part}"))
    _add_heads(model.graph, heads)
    onnx.checker.check_model(model)
    onnx.save(model, file)


def _quantised(graph: onnx.GraphProto) -> dict[str, str]:
    """Where each quantised weight lies: embeddings under their own name, a dense layer's under that of a product, which
    leads to the sum with its bias."""
    places = {
        each.name.removesuffix("_quantized").removeprefix("m."): each.name.removesuffix("_quantized")
        for each in graph.initializer
        if each.name.startswith("m.") and each.name.endswith("_quantized")
    }
    products = {node.output[0]: node.input[1] for node in graph.node if node.op_type == "MatMulInteger"}
    made = {output: node for node in graph.node for output in node.output}
    for node in graph.node:
        bias = next((name for name in node.input if name.startswith("m.") and name.endswith(".bias")), None)
        if node.op_type != "Add" or bias is None or "LayerNorm" in bias:
            continue
        scaled = made[next(name for name in node.input if name != bias)]
        cast = next(made[name] for name in scaled.input if name in made and made[name].op_type == "Cast")
        places[f"{bias.removeprefix('m.').removesuffix('bias')}weight"] = products[cast.input[0]].removesuffix(
            "_quantized"
        )
    return places


def _add_heads(graph: onnx.GraphProto, heads: Mapping[str, Numbers]) -> None:
    """Pooling (first token, mean over the first text) and one linear layer with a softmax for each head."""
    constants = {"judge.one": np.array(1, np.int64), "judge.axis": np.array([2], np.int64), "judge.first": np.array(0)}
    graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in constants.items())
    nodes = [
        helper.make_node("Gather", [_HIDDEN, "judge.first"], ["judge.cls"], axis=1),
        helper.make_node("Sub", ["judge.one", "token_type_ids"], ["judge.is_first"]),
        helper.make_node("Mul", ["attention_mask", "judge.is_first"], ["judge.counted"]),
        helper.make_node("Cast", ["judge.counted"], ["judge.mask"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["judge.mask", "judge.axis"], ["judge.mask3"]),
        helper.make_node("Mul", [_HIDDEN, "judge.mask3"], ["judge.kept"]),
        helper.make_node("ReduceMean", ["judge.kept"], ["judge.sum"], axes=[1], keepdims=0),
        helper.make_node("ReduceMean", ["judge.mask"], ["judge.weight"], axes=[1], keepdims=1),
        helper.make_node("Div", ["judge.sum", "judge.weight"], ["judge.mean"]),
        helper.make_node("Concat", ["judge.cls", "judge.mean"], ["judge.pooled"], axis=1),
    ]
    for name, head in heads.items():
        for part, value in head.items():
            graph.initializer.append(numpy_helper.from_array(value.astype(np.float32), f"judge.{name}.{part}"))
        nodes += [
            helper.make_node(
                "Gemm",
                ["judge.pooled", f"judge.{name}.weight", f"judge.{name}.bias"],
                [f"judge.{name}.logits"],
                transB=1,
            ),
            helper.make_node("Softmax", [f"judge.{name}.logits"], [name], axis=1),
        ]
    graph.node.extend(nodes)
    del graph.output[:]
    graph.output.extend(
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["batch", head["bias"].shape[0]])
        for name, head in heads.items()
    )
