"""Questions about code that nobody had to write: a function's docstring asks, its source answers."""

import ast
import random
import re
import sysconfig
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

Pair = tuple[str, str]  # the docstring's first sentence, the source without the docstring

FEWEST_WORDS = 6
SAMPLE = 300
GROUPS = 6  # the packages with the most pairs


def pairs_by_package(seed: int = 1) -> dict[str, list[Pair]]:
    """Up to 300 pairs from each of the largest packages installed beside this Python."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    site = Path(sysconfig.get_paths()["purelib"])
    for file in sorted(site.rglob("*.py")):
        inside = file.relative_to(site).parts
        if not {"tests", "_vendor"} & set(inside):
            found[inside[0]].update(_pairs(file))
    largest = sorted(found, key=lambda package: (-len(found[package]), package))[:GROUPS]
    chance = random.Random(seed)
    return {name: chance.sample(list(found[name].items()), min(SAMPLE, len(found[name]))) for name in largest}


def _pairs(file: Path) -> Iterator[Pair]:
    try:
        source = file.read_text()
        tree = ast.parse(source)
    except (SyntaxError, UnicodeDecodeError):
        return
    lines = source.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and len(node.body) > 1:
            sentence = _first_sentence(ast.get_docstring(node) or "")
            if len(sentence.split()) >= FEWEST_WORDS:
                doc = node.body[0]
                kept = lines[node.lineno - 1 : doc.lineno - 1] + lines[doc.end_lineno or doc.lineno : node.end_lineno]
                yield sentence, textwrap.dedent("\n".join(kept))


def _first_sentence(docstring: str) -> str:
    paragraph = " ".join(docstring.split("\n\n")[0].split())
    return re.split(r"(?<=[.!?])\s", paragraph)[0]
