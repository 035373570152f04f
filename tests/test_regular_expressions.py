"""No text from outside can keep a regular expression busy for hours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "every_pattern.py"
# Patterns that only a run tells. `built` in the program has them as they are made there; a new one belongs there too,
# unless nobody outside can choose what it is made of.
BUILT = {
    "arguments.py: schema['pattern']",  # our own tools' schemas
    "detectors.py: START + pattern",  # called when the module is imported
    'walk.py: f"\\\\b(?:{spoken})(?:[\'’]s)?\\\\b"',  # escaped names, one or another
    "context.py: _BEFORE + pattern",
    "fitting.py: f'{_BETWEEN[:-1]}*'.join(map(re.escape, word))",
    "ignore.py: '|'.join((f'(?:{regex})' for regex in self._regexes))",
    "ignore.py: regex",
    "words.py: f'{word}|[{_FLAG}]{{2}}|[{_EMOJI}][{unseen}]*'",
}


def attacked(*sources, seconds=20):
    """A process that tries each expression on hostile texts for so long at most: how it ended, and what it wrote."""
    command = [sys.executable, str(PROGRAM), str(seconds), *sources]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines() or [done.stderr]


def test_every_expression_is_through_with_hostile_texts():
    code, tried = attacked()
    assert code == 0, f"{tried[-1]} took all the time there was, or failed"
    assert {each.removeprefix("unknown ") for each in tried if each.startswith("unknown ")} == BUILT
    assert len(tried) > 600


@pytest.mark.parametrize(
    "source",
    [r"(?:.*/)?" * 20 + "x", r"(?:\w+[ ,]*)*;", r'(?:"[^"]*"|[^,])*,;', r"\b(?:(?:has been|has|been)\s+)*moved"],
)
def test_an_exponential_expression_is_not(source):
    code, tried = attacked(source, seconds=1)
    assert (code < 0, tried[-1]) == (True, source)
