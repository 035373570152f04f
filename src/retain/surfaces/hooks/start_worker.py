"""What a hook starts in the background: `python -I -S …/start_worker.py HOME [LOCK]`, LOCK being a file it inherits.

The lock comes first and what takes time to import after it: a worker that is not needed leaves within milliseconds.
"""

import os
import sys

MOST_SECONDS = 900.0  # a worker that hangs must not keep later ones from working


def run(home: str, *inherited: str) -> None:
    import _thread

    from retain.run_files import worker_lock
    from retain.surfaces.hooks import log

    lock = worker_lock(home)
    if inherited:
        lock.adopt(int(inherited[0]))
    elif not lock.take(attempts=5):
        return
    _thread.start_new_thread(_end, (home,))
    try:
        _prepare(home)
        from retain.surfaces.hooks.worker import main

        main(home, lock)
    except Exception as error:  # noqa: BLE001 - nobody sees how it ends; the log tells
        log.note(home, "worker", error)
    # The lock is free: what is left of this process must not stand beside the next worker.
    os._exit(0)


def _prepare(home: str) -> None:
    """Leaves the folder of whoever started it, steps back behind what the user is doing, finds installed packages."""
    os.chdir(home)
    if hasattr(os, "nice"):
        os.nice(5)
    if sys.flags.no_site:
        import site

        site.main()


def _end(home: str) -> None:
    import time

    from retain.surfaces.hooks import log

    time.sleep(MOST_SECONDS)
    log.note(home, "worker", f"stopped: not done after {MOST_SECONDS:.0f} s")
    os._exit(1)


if __name__ == "__main__":
    hooks = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(hooks))))
    run(*sys.argv[1:])
