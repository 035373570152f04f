"""Prints what the project needs, one requirement a line.

With --lowest: the oldest versions that the bounds of the package itself allow, and what runs its tests.
"""

import re
import sys
import tomllib
from pathlib import Path

LINTERS = ("ruff", "mypy", "import-linter", "types-")

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
package, dev = project["project"]["dependencies"], project["dependency-groups"]["dev"]
package = [*package, *(need for extra in project["project"]["optional-dependencies"].values() for need in extra)]
if "--lowest" in sys.argv:
    package = [re.sub(r">=([^,]+),<.*", r"==\1", requirement) for requirement in package]
    dev = [requirement for requirement in dev if not requirement.startswith(LINTERS)]
for requirement in [*package, *dev, *project["build-system"]["requires"], "editables>=0.5,<1"]:
    sys.stdout.write(requirement + "\n")
