"""Prints what the project needs, one requirement a line; with --lowest, the oldest versions that the bounds allow."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
dev, build = project["dependency-groups"]["dev"], project["build-system"]["requires"]
needed = [*project["project"]["dependencies"], *dev, *build]
for requirement in [*needed, "editables>=0.5,<1"]:
    lowest = re.sub(r">=([^,]+),<.*", r"==\1", requirement)
    sys.stdout.write((lowest if "--lowest" in sys.argv else requirement) + "\n")
