"""What Claude Code runs: `python -I -S …/retain/surfaces/hooks/entry.py EVENT`, or `statusline` in the place of an
event; needs no installed package.

A script is compiled at every start, so there is as little here as can be.
"""

import os
import sys

if __name__ == "__main__":
    hooks = os.path.dirname(os.path.abspath(__file__))
    if hasattr(os, "statvfs"):
        # On a full disk the interpreter may leave half of a compiled module behind, which nothing can import again.
        disk = os.statvfs(hooks)
        sys.dont_write_bytecode |= disk.f_bavail * disk.f_frsize < 20_000_000
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(hooks))))
    if sys.argv[1:2] == ["statusline"]:
        from retain.surfaces.hooks.statusline import main
    else:
        from retain.surfaces.hooks.runner import main

    main(sys.argv[1:])
