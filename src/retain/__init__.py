"""A memory that lasts, for coding agents.

import retain

memory = retain.open()
memory.remember("Deploys go through the staging cluster first", tags=["deploy"])
for hit in memory.recall("how do we ship?"):
    print(hit.stored.memory.text, hit.score)
"""

from retain.version import __version__

TYPE_CHECKING = False  # as type checkers read it, without the import of `typing`, which hooks would wait for
if TYPE_CHECKING:
    from retain.app import Retain as Retain
    from retain.app import open as open
    from retain.domain.memory import Memory as Memory
    from retain.domain.recall import Hit as Hit

__all__ = ["Hit", "Memory", "Retain", "__version__", "open"]


def __getattr__(name: str) -> object:
    # Hooks and the command line import parts of the package and must not pay for all of it.
    from importlib import import_module

    homes = {
        "open": "retain.app",
        "Retain": "retain.app",
        "Memory": "retain.domain.memory",
        "Hit": "retain.domain.recall",
    }
    if name not in homes:
        raise AttributeError(f"module 'retain' has no attribute {name!r}")
    return getattr(import_module(homes[name]), name)
