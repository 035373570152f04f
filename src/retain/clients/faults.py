"""What can be wrong with a file that is not ours; each says where, and what to do."""

from retain.errors import Refused


class Unfit(Refused):
    """A client's file cannot be edited as it is. Nothing in it was changed."""


class Broken(Unfit):
    """A text is not what its format asks for; line and column count from 1, as editors do."""

    def __init__(self, what: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {what}", line=line, column=column)
        self.what = what


def broken_at(text: str, position: int, what: str) -> Broken:
    line = text.count("\n", 0, position) + 1
    return Broken(what, line, position - text.rfind("\n", 0, position))
