"""No judge: for those who want nothing judged, and for what is said of it then."""

from retain.domain.judging import Comparison, Surroundings, Verdict
from retain.domain.model import ModelState
from retain.errors import JudgeAway


class NoJudge:
    """Always off, with the reason."""

    model = "none"

    def __init__(self, why: str) -> None:
        self._why = why

    def state(self) -> ModelState:
        return ModelState("off", self._why)

    def wait(self, seconds: float) -> bool:
        return False

    def keep(self, sentence: str, context: Surroundings) -> Verdict:
        raise JudgeAway(self._why)

    def relation(self, old: str, new: str) -> Comparison:
        raise JudgeAway(self._why)

    def fits(self, question: str, memory: str) -> float:
        raise JudgeAway(self._why)
