"""A project with code for tests of commands."""

from pathlib import Path

from indexing import a_shop, write
from surfaces.command import Command

CLOCK = '''\
class Clock:
    """Tells the time, and takes a signature that is longer than a terminal of eighty columns is wide."""

    def parse_moment(self, text_that_somebody_has_written, zone_in_which_it_was_written="UTC"):
        return parse_moment(text_that_somebody_has_written) if text_that_somebody_has_written else None
'''


def with_code(folder: Path) -> Command:
    """The command in a project of four files, not indexed yet."""
    command = Command.in_folder(folder)
    write(a_shop(command.project), "src/clock.py", CLOCK)
    return command
