"""A process that parses files for another: batches of texts come in, batches of parsed files go out."""

import pickle
import sys
from typing import BinaryIO

from retain.engine.code.indexing.clean import parsed_file


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answers until its input ends, which it does with the process that asks, however that ends."""
    while True:
        try:
            texts = pickle.load(questions)
        except EOFError:
            return
        pickle.dump([parsed_file(text) for text in texts], answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
