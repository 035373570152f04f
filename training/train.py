"""One run of training: batches of one task each, similar lengths together, bf16 where the processor has it."""

import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from examples import Example, typed
from model import Judge
from worlds import Group

LONGEST = 160  # tokens of both texts
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
Soft = NDArray[np.float32]
Step = Callable[[Judge], Tensor]  # what a batch makes of the judge: its loss


@dataclass(frozen=True, slots=True)
class Recipe:
    epochs: int = 5
    rate: float = 1.2e-4
    batch: int = 64
    smoothing: float = 0.03
    kept: float = 1.3
    """The weight of a sentence that is to be kept: one is missed more easily than a plain one is taken for it."""
    groups: int = 8
    calibrated: float = 0.2
    """What counts, beside which of a group's memories is likeliest, whether each alone is rightly said to fit."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a run is shown: pairs of texts with a label each, and questions with right and wrong answers."""

    examples: Sequence[Example]
    groups: Sequence[Group] = ()


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

    def lengths(self, pairs: Sequence[tuple[str, str]]) -> list[int]:
        """How many tokens each pair has: letters do not tell, where a script is read letter by letter."""
        return [len(each.ids) for each in self._tokenizer.encode_batch(list(pairs))]


def train(judge: Judge, shown: Shown, texts: Texts, recipe: Recipe, seed: int) -> Judge:
    torch.manual_seed(seed)
    chance = random.Random(seed)
    judge = judge.to(DEVICE).train()
    judge.words.requires_grad_(False)
    judge.positions.requires_grad_(False)
    body = [value for name, value in judge.named_parameters() if value.requires_grad and not name.startswith("heads")]
    groups = [{"params": body, "base": recipe.rate}, {"params": judge.heads.parameters(), "base": recipe.rate * 10}]
    optimiser = torch.optim.AdamW(groups, lr=recipe.rate, weight_decay=0.01)
    plan = _plan(shown, texts, recipe, chance)
    began = time.monotonic()
    for step, batch in enumerate(plan):
        for group in optimiser.param_groups:
            group["lr"] = group["base"] * min(1.0, (step + 1) / (0.1 * len(plan))) * (1 - step / len(plan))
        loss = batch(judge)
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
    lengths = texts.lengths(pairs)
    order = sorted(range(len(pairs)), key=lambda place: lengths[place])
    made = np.zeros((len(pairs), judge.heads[task].out_features), np.float32)  # type: ignore[arg-type]
    for begin in range(0, len(order), 64):
        places = order[begin : begin + 64]
        with torch.autocast(DEVICE, torch.bfloat16):
            pooled = judge(*texts([pairs[place] for place in places]))
        made[places] = functional.softmax(judge.heads[task](pooled.float()), 1).cpu().numpy()
    return made


def _plan(shown: Shown, texts: Texts, recipe: Recipe, chance: random.Random) -> list[Step]:
    """Every step of a run in its order; what each task is shown is spread over an epoch."""
    lengths = texts.lengths([(each.first, each.second) for each in shown.examples])
    plan: list[Step] = []
    for _ in range(recipe.epochs):
        epoch: list[Step] = []
        for places in _batches(shown.examples, lengths, recipe.batch, chance):
            batch = [shown.examples[place] for place in places]
            epoch.append(partial(_loss, batch=batch, texts=texts, recipe=recipe, chance=chance))
        order = list(shown.groups)
        chance.shuffle(order)
        for begin in range(0, len(order), recipe.groups):
            some = order[begin : begin + recipe.groups]
            epoch.append(partial(_fit_loss, groups=some, texts=texts, recipe=recipe, chance=chance))
        chance.shuffle(epoch)
        plan += epoch
    return plan


def _batches(shown: Sequence[Example], lengths: Sequence[int], size: int, chance: random.Random) -> list[list[int]]:
    """Of one task each; as many tokens together, or much of a batch is padding."""
    batches = []
    for task in {each.task for each in shown}:
        places = [place for place, each in enumerate(shown) if each.task == task]
        chance.shuffle(places)
        for begin in range(0, len(places), 16 * size):
            pool = sorted(places[begin : begin + 16 * size], key=lambda at: lengths[at])
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


def _fit_loss(judge: Judge, groups: Sequence[Group], texts: Texts, recipe: Recipe, chance: random.Random) -> Tensor:
    """That the right memory of each group is likelier than the wrong ones, and that each alone is judged rightly."""
    pairs = [(typed(question, chance), memory) for group in groups for question, memory in group.pairs]
    with torch.autocast(DEVICE, torch.bfloat16):
        pooled = judge(*texts(pairs))
    given = judge.heads["fit"](pooled.float())
    surer = (given[:, 1] - given[:, 0]).view(len(groups), -1)
    first = torch.zeros(len(groups), dtype=torch.long, device=DEVICE)
    labels = torch.zeros_like(surer, dtype=torch.long)
    labels[:, 0] = 1
    each = functional.cross_entropy(given, labels.flatten(), label_smoothing=recipe.smoothing)
    return functional.cross_entropy(surer, first) + recipe.calibrated * each
