"""The files of an ONNX model: which they are, what they ask for, and whether they are whole."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from retain.domain.model import BUNDLED
from retain.errors import EmbeddingFailed
from retain.models.files import sha256

Pooling = Literal["mean", "cls"]

MAX_TOKENS = 256
# Time grows with the square of the length, and one vector for pages of text says little about any of them.
LONGEST_CHUNK = 512


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model on disk. `identity` is recorded with every vector: other files, other vectors.

    `dimensions` is 0 where only the loaded model can tell. `sha256` of the two files, if they must be certain ones.
    """

    identity: str
    onnx: Path
    tokenizer: Path
    pooling: Pooling = "mean"
    max_tokens: int = MAX_TOKENS
    dimensions: int = 0
    sha256: tuple[str, ...] = ()

    def check(self) -> None:
        """Damage is found here, not in search results that are merely odd."""
        for file, expected in zip((self.onnx, self.tokenizer), self.sha256, strict=False):
            if not file.is_file() or sha256(file) != expected:
                raise EmbeddingFailed(
                    f"{file} is missing or damaged: reinstall with pip install --force-reinstall retain-mcp"
                )


def bundled(folder: Path = Path(__file__).parent / "model") -> ModelFiles:
    """The model that ships with Retain. Nothing is read yet: a server that starts asks for its name only."""
    return ModelFiles(
        BUNDLED,
        folder / "retain-minilm-l6-u8.onnx",
        folder / "tokenizer.json",
        dimensions=384,
        sha256=(
            "23c8715e564a3a973f689398863cee57e50d55edb9f31b1ee7b2c4a20896421d",
            "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        ),
    )


def in_folder(folder: Path) -> ModelFiles:
    """A sentence-transformers export: `model.onnx` or `onnx/model.onnx`, `tokenizer.json`, configs if there are any."""
    onnx = _first(folder, "model.onnx", "onnx/model.onnx")
    tokenizer = _first(folder, "tokenizer.json", "onnx/tokenizer.json")
    pooling = _pooling(folder / "1_Pooling" / "config.json")
    # Weights above 2 GB lie beside the graph, as model.onnx_data.
    parts = [*sorted(onnx.parent.glob(f"{onnx.name}*")), tokenizer]
    return ModelFiles(
        f"{folder.resolve().name}-{pooling}@{sha256(*parts)[:8]}",
        onnx,
        tokenizer,
        pooling,
        min(_number(folder / "sentence_bert_config.json", "max_seq_length") or MAX_TOKENS, LONGEST_CHUNK),
        _number(folder / "config.json", "hidden_size"),
    )


def _first(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise EmbeddingFailed(f"{folder} has no {' or '.join(names)}: it must be a sentence-transformers export to ONNX")


def _pooling(file: Path) -> Pooling:
    config = _config(file)
    if config.get("pooling_mode_cls_token") or config.get("pooling_mode") == "cls":
        return "cls"
    if not config or config.get("pooling_mode_mean_tokens") or config.get("pooling_mode") == "mean":
        return "mean"
    raise EmbeddingFailed(f"{file} asks for a pooling that Retain does not know; mean and cls are possible")


def _number(file: Path, key: str) -> int:
    number = _config(file).get(key)
    return number if isinstance(number, int) and number > 0 else 0


def _config(file: Path) -> dict[str, Any]:  # Any: a file written by others
    if not file.is_file():
        return {}
    try:
        config = json.loads(file.read_bytes())
    except ValueError as error:
        raise EmbeddingFailed(f"{file} is not valid JSON: {error}") from error
    return config if isinstance(config, dict) else {}
