"""A question and its answer as one statement: how that is written, and how it is read again."""

import re

_BETWEEN = " – "
_ASKED = re.compile(rf"(?<=[?？]){_BETWEEN}")


def answered(question: str, answer: str) -> str:
    return f"{question}{_BETWEEN}{answer}"


def parted(text: str) -> tuple[str, str]:
    """The question with all that stands before the answer, and the answer; of what answers nothing, nothing and all."""
    asked = _ASKED.search(text)
    begins = asked.end() if asked else 0
    return text[:begins], text[begins:]
