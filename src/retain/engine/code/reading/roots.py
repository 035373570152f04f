"""Which folders may be indexed."""

from dataclasses import dataclass
from pathlib import Path

from retain.errors import InvalidPath

# Folders of the home in which programs keep keys.
_KEYS = (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".config/gcloud")


@dataclass(frozen=True, slots=True)
class Roots:
    """Folders in and below which indexing is allowed. The home folder itself is too much, and so is `/`."""

    allowed: tuple[Path, ...] = ()
    home: Path | None = None

    def folder(self, path: str) -> Path:
        """The folder that a path names, without detours and links; raises `InvalidPath` when it may not be indexed."""
        root = _resolved(path)
        if root is None:
            what = "this is a file" if _is_file(path) else "there is no such folder"
            raise InvalidPath(path, f"{what}; give the path of a project's folder")
        if root == Path(root.anchor) or (self.home and root == _real(self.home)):
            raise InvalidPath(path, "this is more than a project; give the folder of one project in it")
        if self.home and any(root.is_relative_to(_real(self.home) / name) for name in _KEYS):
            raise InvalidPath(path, "this folder is where keys are kept; give that of a project")
        allowed = list(dict.fromkeys(_real(one) for one in self.allowed))
        if not any(root.is_relative_to(one) for one in allowed):
            listed = ", ".join(map(str, allowed)) or "none"
            cure = "the setting index_roots (RETAIN_INDEX_ROOTS) allows others"
            raise InvalidPath(path, f"outside of the folders that may be indexed: {listed}; {cure}")
        return root


def _resolved(path: str) -> Path | None:
    """The folder at a path, if there is one."""
    if not path.strip():
        return None
    try:
        real = _real(Path(path))
        return real if real.is_dir() else None
    except (OSError, ValueError, RuntimeError):  # too long, a NUL in it, a loop of links, a user that is not there
        return None


def _is_file(path: str) -> bool:
    try:
        return Path(path).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):
        return False


def _real(path: Path) -> Path:
    return path.expanduser().resolve()
