"""Giving memory back that a model took: what a program has freed the C library keeps for later, unless it is asked."""

import ctypes
import gc
import sys


def give_back() -> None:
    """Has the C library return what nobody uses; nothing where it has no such function."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # not in musl
        if trim is not None:
            trim(0)
