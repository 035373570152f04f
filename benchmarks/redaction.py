"""How many secrets are removed from what developers write, and how many look-alikes are left alone.

    python benchmarks/redaction.py [tests/secrets/dev.reversed.jsonl …] [--show]

Each line of a set is a text with its secret, or one without any (`tests/secrets/README.md`). A secret is removed
when it no longer stands in the text, one of several lines when none of its lines of eight characters and more does; a
look-alike
is touched when the text has changed at all. With `--show` the texts that went wrong are printed.
"""

import argparse
import json
from pathlib import Path

from retain.engine.lifecycle.redact import redact

SETS = Path(__file__).parents[1] / "tests" / "secrets"
REVERSED = ".reversed"  # written backwards, so that scanners find nothing
LINE = 8  # characters of a line of a secret that tell something of it


def read(line: str, *, backwards: bool) -> dict[str, str | None]:
    case = json.loads(line)
    return {name: value[::-1] if backwards and value and name != "kind" else value for name, value in case.items()}


def is_removed(text: str, secret: str) -> bool:
    lines = [line for line in secret.split("\n") if len(line) >= LINE] if "\n" in secret else []
    return secret not in text and not any(line in text for line in lines)


def is_right(case: dict[str, str | None]) -> bool:
    cleaned = redact(str(case["text"])).text
    return cleaned == case["text"] if case["secret"] is None else is_removed(cleaned, str(case["secret"]))


def measure(file: Path, *, show: bool = False) -> tuple[int, int, int, int]:
    """Secrets removed, secrets, look-alikes touched, look-alikes."""
    cases = [read(line, backwards=REVERSED in file.suffixes) for line in file.read_text().splitlines() if line]
    wrong = [case for case in cases if not is_right(case)]
    secrets, others = (sum((case["secret"] is None) is kind for case in cases) for kind in (False, True))
    missed = sum(case["secret"] is not None for case in wrong)
    for case in wrong if show else ():
        print(json.dumps({**case, "became": redact(str(case["text"])).text}, ensure_ascii=False))
    return secrets - missed, secrets, len(wrong) - missed, others


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("sets", nargs="*", type=Path, default=sorted(SETS.glob("*.jsonl")))
    asked.add_argument("--show", action="store_true")
    given = asked.parse_args()
    for file in given.sets:
        removed, secrets, touched, others = measure(file, show=given.show)
        print(f"{file.name.partition('.')[0]}: {removed}/{secrets} secrets removed ({removed / secrets:.1%}), ", end="")
        print(f"{touched}/{others} look-alikes touched ({touched / others:.1%})")


if __name__ == "__main__":
    main()
