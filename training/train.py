"""One run of training: batches of one task each, similar lengths together, bf16 where the processor has it."""

import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from examples import Example, typed
from model import Judge

LONGEST = 160  # tokens of both texts
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
Soft = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Recipe:
    epochs: int = 4
    rate: float = 7e-5
    batch: int = 32
    smoothing: float = 0.03
    kept: float = 1.3
    """The weight of a sentence that is to be kept: one is missed more easily than a plain one is taken for it."""

    @property
    def second(self) -> "Recipe":
        """One more epoch, slower, once the heads know what they are for."""
        return replace(self, epochs=1, rate=self.rate * 0.4)


class Texts:
    """Pairs of texts as padded tensors."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        tokenizer.no_padding()
        tokenizer.enable_truncation(LONGEST)
        self._tokenizer = tokenizer

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[Tensor]:
        read = self._tokenizer.encode_batch(list(pairs))
        longest = max(len(each.ids) for each in read)
        made = np.zeros((3, len(read), longest), np.int64)
        for row, each in enumerate(read):
            size = len(each.ids)
            made[:, row, :size] = each.ids, [1] * size, each.type_ids
        return [torch.from_numpy(part).to(DEVICE) for part in made]


def train(judge: Judge, shown: Sequence[Example], texts: Texts, recipe: Recipe, seed: int) -> Judge:
    torch.manual_seed(seed)
    chance = random.Random(seed)
    judge = judge.to(DEVICE).train()
    judge.words.requires_grad_(False)
    judge.positions.requires_grad_(False)
    body = [value for name, value in judge.named_parameters() if value.requires_grad and not name.startswith("heads")]
    groups = [{"params": body, "base": recipe.rate}, {"params": judge.heads.parameters(), "base": recipe.rate * 10}]
    optimiser = torch.optim.AdamW(groups, lr=recipe.rate, weight_decay=0.01)
    plan = [batch for _ in range(recipe.epochs) for batch in _batches(shown, recipe.batch, chance)]
    began = time.monotonic()
    for step, batch in enumerate(plan):
        for group in optimiser.param_groups:
            group["lr"] = group["base"] * min(1.0, (step + 1) / (0.1 * len(plan))) * (1 - step / len(plan))
        loss = _loss(judge, [shown[place] for place in batch], texts, recipe, chance)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(body, 1.0)
        optimiser.step()
        if step % 100 == 0:
            took = time.monotonic() - began
            print(f"  seed {seed}, step {step} of {len(plan)}, loss {loss.item():.3f}, {took:.0f} s", file=sys.stderr)
    return judge.eval()


@torch.no_grad()
def predict(judge: Judge, task: str, pairs: Sequence[tuple[str, str]], texts: Texts) -> Soft:
    """The probabilities of a head for every pair."""
    order = sorted(range(len(pairs)), key=lambda place: len(pairs[place][0]) + len(pairs[place][1]))
    made = np.zeros((len(pairs), judge.heads[task].out_features), np.float32)  # type: ignore[arg-type]
    for begin in range(0, len(order), 64):
        places = order[begin : begin + 64]
        with torch.autocast(DEVICE, torch.bfloat16):
            pooled = judge(*texts([pairs[place] for place in places]))
        made[places] = functional.softmax(judge.heads[task](pooled.float()), 1).cpu().numpy()
    return made


def _batches(shown: Sequence[Example], size: int, chance: random.Random) -> list[list[int]]:
    """Of one task each; similar lengths together, or most of a batch is padding."""
    batches = []
    for task in {each.task for each in shown}:
        places = [place for place, each in enumerate(shown) if each.task == task]
        chance.shuffle(places)
        for begin in range(0, len(places), 16 * size):
            pool = sorted(
                places[begin : begin + 16 * size], key=lambda at: len(shown[at].first) + len(shown[at].second)
            )
            batches += [pool[start : start + size] for start in range(0, len(pool), size)]
    chance.shuffle(batches)
    return batches


def _loss(judge: Judge, batch: Sequence[Example], texts: Texts, recipe: Recipe, chance: random.Random) -> Tensor:
    task = batch[0].task
    # The surroundings of a sentence stay as they are; of two statements both were typed by somebody.
    second = [typed(each.second, chance) if task == "pair" else each.second for each in batch]
    pairs = [(typed(each.first, chance), other) for each, other in zip(batch, second, strict=True)]
    with torch.autocast(DEVICE, torch.bfloat16):
        pooled = judge(*texts(pairs))
    pooled = pooled.float()
    labels = torch.tensor([each.label for each in batch], device=DEVICE)
    given = judge.heads[task](pooled)
    kept = [recipe.kept if task == "keep" and each.label else 1.0 for each in batch]
    weight = torch.tensor([each.weight * more for each, more in zip(batch, kept, strict=True)], device=DEVICE)
    losses = functional.cross_entropy(given, labels, reduction="none", label_smoothing=recipe.smoothing)
    loss = (losses * weight).mean()
    if task == "keep" and any(each.scope >= 0 for each in batch):
        scopes = torch.tensor([each.scope for each in batch], device=DEVICE)
        loss = loss + 0.5 * functional.cross_entropy(judge.heads["scope"](pooled), scopes, ignore_index=-1)
    return loss
