"""The processor of this machine, as far as it matters to a model with small numbers."""

import platform
from pathlib import Path

# What multiplies 8-bit numbers, best first; without one of the first the sums of the older instructions saturate.
_INSTRUCTIONS = ("amx_int8", "avx512_vnni", "avx_vnni", "i8mm", "asimddp", "avx512f", "avx2")


def processor(told: Path = Path("/proc/cpuinfo")) -> str:
    """Its kind, and what it has for such numbers where the system tells."""
    try:
        lines = told.read_text(errors="replace").splitlines()
    except OSError:
        return platform.machine()
    flags = next((line.partition(":")[2].split() for line in lines if line.startswith(("flags", "Features"))), [])
    return " ".join([platform.machine(), *(name for name in _INSTRUCTIONS if name in flags)])
