"""A process that parses files for another: batches of texts come in, batches of parsed files go out."""

import pickle
import signal
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
    # Ctrl-C is for the process that asks: without an answer that one would cut the files by paragraphs.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.stdin.buffer, sys.stdout.buffer)
