"""Secrets in files: they are removed before anything of a file is stored or shown."""

from retain.engine.lifecycle.redact import MARK, redact


def without_secrets(text: str) -> str:
    """The text without secrets, each line still where it was: a key of many lines leaves them empty."""
    redacted = redact(text).text
    if redacted.count("\n") == text.count("\n"):
        return redacted
    marks = MARK.findall(redacted)
    first, *others = MARK.split(redacted)
    kept, position = [first], len(first)
    for place, (mark, piece) in enumerate(zip(marks, others, strict=True), start=1):
        # What follows the last mark is the end of the text; before that, the next place where it stands is taken.
        at = len(text) - len(piece) if place == len(marks) else max(text.find(piece, position), position)
        kept += mark, "\n" * text.count("\n", position, at), piece
        position = at + len(piece)
    return "".join(kept)
