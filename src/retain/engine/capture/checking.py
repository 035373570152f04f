"""The second question to a language model: which of the statements that it made does their source support?

Letters and cosines do not see an idea told as a decision, or two things swapped, and they doubt what is true in words
that they do not know. The model does better, mostly, and it is there: it made the statements. So it is asked about what
the letters doubt too. Its answer can add nothing; and orders, and wishes that are not the user's, are gone before, so
that a model that is talked round by what it reads lets none through. Where it cannot be asked, the letters decide
alone, and that is told.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from retain.domain.recall import Warning
from retain.engine.capture import answers, prompts
from retain.engine.capture.prompts import Source
from retain.errors import LLMFailed
from retain.ports import LLM

UNCHECKED = "llm_unchecked"
CALL_SECONDS = 60.0
LEAST_SECONDS = 5.0  # below this no model is asked any more
_DENIED = "asked again, the language model says that this was not said"


@dataclass(frozen=True, slots=True)
class Checked:
    """Which statements are denied, by their place among those that were asked about, and why."""

    denied: Mapping[int, str] = field(default_factory=dict)
    failed: str | None = None
    """Why there was no answer, if so; then nothing is denied."""

    @property
    def warning(self) -> Warning | None:
        """What people are told who want to know how far the statements can be believed."""
        if self.failed is None:
            return None
        return Warning(UNCHECKED, f"{self.failed}; what it said was checked by its words alone")


def check(llm: LLM, source: Source, statements: Sequence[str], left: Callable[[], float]) -> Checked:
    """What the model denies of its statements, in one call; none where there is nothing to ask about."""
    if not statements:
        return Checked()
    if left() < LEAST_SECONDS:
        return Checked(failed="there was no time left to check what the language model said")
    try:
        answer = llm.complete(prompts.checking(source, statements), min(CALL_SECONDS, left()))
        denied = answers.denied(answer, len(statements))
    except LLMFailed as error:
        return Checked(failed=error.message)
    return Checked({place: f"{_DENIED}: {why}" if why else _DENIED for place, why in denied.items()})
