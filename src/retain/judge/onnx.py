"""The judge in the package: one ONNX file that reads a pair of texts and answers with four heads.

It is loaded when a server begins or when something is to be judged, and let go after some minutes in which nothing was.
"""

import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from retain.domain.judging import FITS, RELATIONS, SCOPES, Comparison, Surroundings, Verdict, category_among
from retain.domain.model import ModelState
from retain.domain.passages import passage
from retain.errors import JudgeAway, shorten
from retain.models.files import sha256
from retain.models.freed import give_back
from retain.models.loading import Loading
from retain.models.native import NativeCalls
from retain.models.running import Running

IDLE_SECONDS = 300.0
LONGEST = 160  # tokens of both texts, as in training
_ROOM = LONGEST - 3  # three of them mark where a text begins and ends
_SHA256 = "a2dd7a57399f56066df04bbbd3e769a4e743900158b4a74d1fa6e16592f5ab5e"
_PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class JudgeFiles:
    """A judge on disk; its tokenizer is the embedder's, so there is one of it in the package."""

    onnx: Path = _PACKAGE / "judge" / "model" / "retain-judge-l6-u8.onnx"
    tokenizer: Path = _PACKAGE / "embedding" / "model" / "tokenizer.json"
    sha256: str = _SHA256

    @property
    def name(self) -> str:
        return f"retain-judge-l6@{self.sha256[:8]}"

    def check(self) -> None:
        if not self.onnx.is_file() or sha256(self.onnx) != self.sha256:
            raise JudgeAway(
                f"{self.onnx} is missing or damaged: reinstall with pip install --force-reinstall retain-mcp"
            )


class OnnxJudge:
    """Threads may ask it side by side; one at a time is answered."""

    def __init__(self, files: JudgeFiles | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._files = known = files or JudgeFiles()
        self._clock = clock
        native = NativeCalls(JudgeAway)
        # Nothing that lives longer than a judge may hold it: what it has loaded goes with it.
        self._network = Loading(lambda: _Network(known, native), clock, JudgeAway, "the judge")
        self._turn = threading.Lock()
        self._used = 0.0
        self._watched = False
        self._gone = threading.Event()
        weakref.finalize(self, self._gone.set).atexit = False

    @property
    def model(self) -> str:
        return self._files.name

    def state(self) -> ModelState:
        return self._network.state()

    def wait(self, seconds: float) -> bool:
        is_ready = self._network.wait(seconds)
        if is_ready:
            with self._turn:
                self._note_use()
        return is_ready

    def keep(self, sentence: str, context: Surroundings) -> Verdict:
        odds = self._asked(sentence, context.told())
        scope = max(range(len(SCOPES)), key=lambda place: odds["scope"][place])
        return Verdict(1 - odds["keep"][0], category_among(odds["keep"]), SCOPES[scope], odds["scope"][scope])

    def relation(self, old: str, new: str) -> Comparison:
        scores = dict(zip(RELATIONS, self._asked(old, new)["pair"], strict=True))
        return Comparison(max(scores, key=lambda relation: scores[relation]), scores)

    def fits(self, question: str, memory: str) -> float:
        return self._asked(question, passage(question, memory))["fit"][FITS.index("yes")]

    def free_if_idle(self) -> bool:
        """Lets the model go if nothing was judged for a while; says whether nobody need look again."""
        with self._turn:
            if self._clock() - self._used < IDLE_SECONDS:
                return False
            self._network.let_go()
            give_back()
            self._watched = False
            return True

    def _asked(self, first: str, second: str) -> dict[str, list[float]]:
        network = self._network.value()
        with self._turn:
            self._note_use()
            return network.odds(first, second)

    def _note_use(self) -> None:
        """One thread looks for as long as the model is loaded; a process that ends does not wait for it."""
        self._used = self._clock()
        if not self._watched:
            self._watched = True
            look = partial(_look_after, weakref.ref(self), self._gone)
            threading.Thread(target=look, name="retain-judge-idle", daemon=True).start()


def _look_after(known: Callable[[], OnnxJudge | None], gone: threading.Event) -> None:
    """Has a judge let its model go when it is idle; ends when it has, or nobody has the judge any more."""
    while not gone.wait(IDLE_SECONDS / 5):
        judge = known()
        if judge is None or judge.free_if_idle():
            return
        del judge


class _Network:
    def __init__(self, files: JudgeFiles, native: NativeCalls) -> None:
        files.check()
        self._native = native
        self._running = Running(files.onnx, files.tokenizer, native)
        self._heads = ("keep", "scope", "pair", "fit")
        self.odds("trial", "trial")  # what cannot be run fails here, with the reason

    def odds(self, first: str, second: str) -> dict[str, list[float]]:
        """The answer of each head. One pair at a time: a batch shares the scale of its numbers, so an answer would
        depend on what was asked beside it."""
        import numpy as np

        with self._native.call():
            ids, types = self._tokens(first, second)
        fed = {
            "input_ids": np.array([ids], np.int64),
            "attention_mask": np.ones((1, len(ids)), np.int64),
            "token_type_ids": np.array([types], np.int64),
        }
        try:
            with self._native.call():
                made: list[Any] = self._running.run(fed)
        except self._running.errors as error:
            raise JudgeAway(f"the judge failed: {shorten(str(error), 200)}") from error
        return {name: [float(odd) for odd in rows[0]] for name, rows in zip(self._heads, made, strict=True)}

    def _tokens(self, first: str, second: str) -> tuple[list[int], list[int]]:
        """Both texts with their marks. Of texts that are too long together the longer one loses its end, as the
        tokenizer did when the judge was trained."""
        encode = self._running.tokenizer.encode
        one, two = (encode(_encodable(text), add_special_tokens=False).ids for text in (first, second))
        while len(one) + len(two) > _ROOM:
            longer = one if len(one) > len(two) else two
            longer.pop()
        begin, end = 101, 102  # [CLS] and [SEP] of the tokenizer in the package
        return [begin, *one, end, *two, end], [0] * (len(one) + 2) + [1] * (len(two) + 1)


def _encodable(text: str) -> str:
    """The text with lone surrogates as question marks: UTF-8 has no place for them, and so no tokenizer."""
    return text[:4_000].encode("utf-8", "replace").decode()
