"""From the text of a file to its chunks, with no secret left in them."""

from retain.domain.code import CodeFile
from retain.engine.code.parsing.parse import parse
from retain.engine.code.reading.files import Text
from retain.engine.code.reading.secrets import without_secrets


def parsed_file(file: Text, *, plainly: bool = False) -> CodeFile:
    return CodeFile(file.path, file.mark, parse(file.path, without_secrets(file.text), plainly=plainly))
