"""A language model whose calls are counted, and which rests when the day's budget is spent."""

import json
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from retain.domain.llm import Completion, Prompt
from retain.errors import RetainError
from retain.llm.prices import cost
from retain.llm.provider import Provider, for_good, tokens_in
from retain.llm.retrying import Retrying
from retain.run_files import make_folder

logger = logging.getLogger(__name__)

MOST_CALLS = 1000  # a day; holds also where nobody knows what a call costs


@dataclass(frozen=True, slots=True)
class Spent:
    """What a day's calls came to; those of unknown price are in `calls` alone."""

    usd: float = 0.0
    calls: int = 0
    unpriced: int = 0


class Ledger:
    """One line for each call, in one file for each day (UTC), shared by all processes."""

    def __init__(self, folder: Path, now: Callable[[], datetime]) -> None:
        self._folder = folder
        self._now = now

    def spent(self) -> Spent:
        """Today's calls of every process. A line that cannot be read counts as a call."""
        try:
            lines = self._file.read_bytes().splitlines()
        except FileNotFoundError:
            return Spent()
        costs = [_usd(line) for line in lines if line.strip()]
        known = [usd for usd in costs if usd is not None]
        return Spent(sum(known), len(costs), len(costs) - len(known))

    def note(self, call: dict[str, object]) -> None:
        """Appends a line whole: one write, at the end of the file, wherever that is by then."""
        line = json.dumps({"time": self._now().isoformat(timespec="milliseconds"), **call}) + "\n"
        file = self._open()
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)

    def why_not(self) -> str | None:
        """Why nothing can be counted, so that nothing should be spent."""
        try:
            os.close(self._open())
        except OSError as error:
            return f"its costs cannot be counted in {self._file} ({error.strerror}): mend that first"
        return None

    def _open(self) -> int:
        make_folder(str(self._folder.absolute()))
        return os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    @property
    def _file(self) -> Path:
        return self._folder / f"{self._now():%Y-%m-%d}.jsonl"


class Metered:
    """Any provider as the engine sees it.

    Processes that ask at the same moment may together pass the budget by the calls that are under way.
    """

    def __init__(self, asked: Retrying, ledger: Ledger, daily_usd: float, most_calls: int = MOST_CALLS) -> None:
        self._asked = asked
        self._ledger = ledger
        self._daily_usd = daily_usd
        self._most_calls = most_calls

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @property
    def name(self) -> str:
        return f"{self._provider.model} ({self._provider.name})"

    @property
    def _provider(self) -> Provider:
        return self._asked.provider

    def why_not(self) -> str | None:
        return self._provider.why_not() or self._ledger.why_not() or self._exhausted()

    def complete(self, prompt: Prompt, seconds: float) -> Completion:
        self._admit()
        try:
            answer = self._asked.complete(prompt, seconds)
        except RetainError:
            self._note(prompt, None)
            raise
        self._note(prompt, answer)
        return answer

    def stream(self, prompt: Prompt, seconds: float) -> Iterator[str]:
        self._admit()
        answer: Completion | None = None
        said = ""
        try:
            for piece in self._asked.pieces(prompt, seconds):
                if isinstance(piece, Completion):
                    answer = piece
                else:
                    said += piece
                    yield piece
        finally:  # also when the listener has left
            self._note(prompt, answer, said)
        if answer is None or not (said or answer.text).strip():
            raise for_good(f"{self.name} answered with nothing: try again, or another llm_model")

    def _admit(self) -> None:
        why = self.why_not()
        if why:
            raise for_good(why, provider=self._provider.name)

    def _exhausted(self) -> str | None:
        if not self._daily_usd:
            return "llm_daily_usd is 0, so it is never asked; set an amount to have it asked"
        try:
            spent = self._ledger.spent()
        except OSError as error:
            return f"what it cost today cannot be read ({error.strerror})"
        if spent.usd >= self._daily_usd:
            note = f"today's budget of ${self._daily_usd:g} is spent (${spent.usd:.2f} in {spent.calls} calls)"
            return f"{note}; it works again after midnight UTC, or with a higher llm_daily_usd"
        if spent.calls >= self._most_calls:
            note = f"it was asked {spent.calls} times today, and {self._most_calls} is the most"
            unknown = f" (the price of {spent.unpriced} is unknown)" if spent.unpriced else ""
            return f"{note}{unknown}; it works again after midnight UTC"
        return None

    def _note(self, prompt: Prompt, answer: Completion | None, said: str = "") -> None:
        """Writes down one call. What failed was perhaps paid for: what was sent and heard is guessed."""
        sent = answer.tokens_in if answer else tokens_in(prompt.instructions + prompt.text)
        made = answer.tokens_out if answer else tokens_in(said)
        known = (answer.usd if answer else self._guess(sent, made)) if self._provider.is_priced else None
        call: dict[str, object] = {
            "provider": self._provider.name,
            "model": self._provider.model,
            "purpose": prompt.purpose,
            "tokens_in": sent,
            "tokens_out": made,
            "usd": known if known is None else round(known, 6),
            "ok": answer is not None,
        }
        try:
            self._ledger.note(call)
        except OSError as error:
            logger.warning("a call of %s could not be counted: %s", self.name, error)

    def _guess(self, sent: int, made: int) -> float:
        return cost(self._provider.model, sent, made) or 0.0


@dataclass(frozen=True, slots=True)
class Unusable:
    """A language model that was chosen and cannot be had as the settings have it; memory works without it."""

    name: str
    why: str

    def why_not(self) -> str | None:
        return self.why

    def complete(self, prompt: Prompt, seconds: float) -> Completion:
        raise for_good(self.why)

    def stream(self, prompt: Prompt, seconds: float) -> Iterator[str]:
        raise for_good(self.why)


def _usd(line: bytes) -> float | None:
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        usd = json.loads(line)["usd"]
        return float(usd) if isinstance(usd, int | float) else None
    return None
