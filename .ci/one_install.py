"""Takes away an older Retain that was installed under the name `retain`, before `make install` installs retain-mcp.

Left beside each other both would own the same files. A stranger's program of that name is never taken away: then
nothing is installed, since that would overwrite it.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

from retain.installed import OLD_NAME, namesakes

for found, ours in list(namesakes()):
    if not ours:
        sys.exit(
            f"{sys.prefix} holds another program named {OLD_NAME} ({found.version}), which deletes files. Nothing was "
            "installed. Remove that environment, or name another one: make install VENV=…"
        )
    subprocess.run([sys.executable, "-m", "pip", "uninstall", "--quiet", "--yes", OLD_NAME], check=True)
