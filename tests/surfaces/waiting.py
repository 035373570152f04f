"""Waiting for what another thread or process brings about."""

import threading
import time

SECONDS = 60


def until(met, seconds=SECONDS):
    """Asks again and again until there is an answer, and gives it."""
    late, pause = time.monotonic() + seconds, threading.Event()
    while not (found := met()):
        assert time.monotonic() < late, "it never came true"
        pause.wait(0.05)
    return found
