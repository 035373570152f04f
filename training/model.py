"""The network that is trained: the embedder's encoder (BERT, six layers), and four heads on what it says of a pair."""

from collections.abc import Mapping
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from retain.domain.judging import CATEGORIES, FITS, RELATIONS, SCOPES

WIDTH, INNER, LAYERS, ATTENTIONS, POSITIONS, VOCABULARY = 384, 1536, 6, 12, 512, 30522
HEADS = {"keep": len(CATEGORIES), "scope": len(SCOPES), "pair": len(RELATIONS), "fit": len(FITS)}
_DROPPED = 0.1
_SCALE = (WIDTH // ATTENTIONS) ** -0.5
_HIDDEN = -1e4  # added to what a token sees of padding
_NARROW = 1e-12  # BERT's own guard in its normalisation


class Dropout(nn.Module):
    """Leaves out a tenth. Its masks are stretches of one field of random numbers, another one each time: on a processor
    drawing every mask anew takes a fifth of a run."""

    _SIZE = 1 << 24

    def __init__(self) -> None:
        super().__init__()
        self._field: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        if self._field is None or self._field.device != x.device:
            self._field = (torch.rand(self._SIZE, device=x.device) >= _DROPPED).to(torch.bfloat16) / (1 - _DROPPED)
        start = int(torch.randint(self._SIZE - x.numel(), ()))
        return x * self._field[start : start + x.numel()].view(x.shape)


class Layer(nn.Module):
    def __init__(self, drop: Dropout) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.attended, self.done = nn.LayerNorm(WIDTH, _NARROW), nn.LayerNorm(WIDTH, _NARROW)
        self.inner, self.outer = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.drop = drop

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        batch, length, _ = x.shape
        query, key, value = (
            part(x).view(batch, length, ATTENTIONS, -1).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        # By hand: on a processor torch's own attention takes five times as long in bfloat16.
        odds = functional.softmax(query @ key.transpose(-1, -2) * _SCALE + mask, -1)
        seen = odds.to(value.dtype) @ value
        x = self.attended(x + self.drop(self.out(seen.transpose(1, 2).reshape(batch, length, WIDTH))))
        return cast(Tensor, self.done(x + self.drop(self.outer(functional.gelu(self.inner(x))))))


class Judge(nn.Module):
    """Gives logits of every head for pairs of texts, as token ids, a mask, and which of the two each token is of."""

    def __init__(self, weights: Mapping[str, NDArray[np.float32]] | None = None) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(POSITIONS, WIDTH)
        self.types, self.norm = nn.Embedding(2, WIDTH), nn.LayerNorm(WIDTH, _NARROW)
        self.drop = Dropout()
        self.layers = nn.ModuleList(Layer(self.drop) for _ in range(LAYERS))
        self.heads = nn.ModuleDict({name: nn.Linear(2 * WIDTH, size) for name, size in HEADS.items()})
        if weights is not None:
            self.load_state_dict({_ours(name): torch.tensor(value) for name, value in weights.items()}, strict=False)

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """What the heads look at: the first token, and the mean of the first text."""
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.drop(self.norm(self.words(ids) + self.types(types) + self.positions(places)))
        hidden = (1 - mask[:, None, None, :]) * _HIDDEN
        for layer in self.layers:
            x = layer(x, hidden)
        x = x.float()
        first = (mask * (1 - types))[:, :, None].float()
        return cast(Tensor, self.drop(torch.cat([x[:, 0], (x * first).sum(1) / first.sum(1).clamp(min=1)], 1)))

    def encoder(self) -> dict[str, NDArray[np.float32]]:
        """Its weights under BERT's names."""
        state = {name: value.detach().cpu().float().numpy() for name, value in self.state_dict().items()}
        return {_theirs(name): value for name, value in state.items() if not name.startswith("heads.")}

    def take(self, heads: Mapping[str, Mapping[str, NDArray[np.float32]]]) -> "Judge":
        """These heads in the place of its own."""
        for name, parts in heads.items():
            self.heads[name].load_state_dict({part: torch.tensor(value) for part, value in parts.items()})
        return self

    def head(self, name: str) -> dict[str, NDArray[np.float32]]:
        head = cast(nn.Linear, self.heads[name])
        return {"weight": head.weight.detach().cpu().numpy(), "bias": head.bias.detach().cpu().numpy()}


_NAMES = {
    "words": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "types": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "out": "attention.output.dense",
    "attended": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "done": "output.LayerNorm",
}


def _theirs(name: str) -> str:
    *path, part = name.split(".")
    if path[0] == "layers":
        return f"encoder.layer.{path[1]}.{_NAMES[path[2]]}.{part}"
    return f"{_NAMES[path[0]]}.{part}"


_BACK = {theirs: ours for ours, theirs in _NAMES.items()}


def _ours(name: str) -> str:
    *path, part = name.split(".")
    if path[0] == "encoder":
        return f"layers.{path[2]}.{_BACK['.'.join(path[3:])]}.{part}"
    return f"{_BACK['.'.join(path)]}.{part}"
