"""What a file's or folder's name tells about it: made by a program, of others, secret, or no text at all."""

import re

# Never source, whatever an ignore file says.
HISTORY = frozenset({".git", ".hg", ".svn", ".jj"})
NEVER = HISTORY | {"__pycache__", "node_modules"}
_VENDORED = """
    vendor vendored third_party third-party thirdparty 3rdparty bower_components jspm_packages site-packages
    dist-packages venv virtualenv Pods Carthage DerivedData elm-stuff dist htmlcov wheelhouse __pypackages__
    __snapshots__
"""
VENDORED = NEVER.union(_VENDORED.split())
# Where builds go, and the name of many a folder with sources. In a repository .gitignore tells which; elsewhere nobody.
OUTPUT = frozenset({"build", "target", "out", "obj", "_build"})
SHOWN = frozenset({".github", ".gitlab", ".circleci"})

_LOCKED = """
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb poetry.lock pdm.lock uv.lock
    pipfile.lock cargo.lock gemfile.lock composer.lock go.sum go.work.sum mix.lock pubspec.lock podfile.lock
    packages.lock.json flake.lock deno.lock conan.lock paket.lock gradle.lockfile cartfile.resolved package.resolved
"""
LOCKED = frozenset(_LOCKED.split())
_BINARY = """
    a aac ai apk avi bin bmp bz2 cab class com dat db db3 deb dll dmg doc docx dylib ear egg elf eot exe flac flv gif
    gz hdf5 heic icns ico img iso jar jpeg jpg ko lib lz4 m4a mkv mo mov mp3 mp4 mpg msi nib npy npz o obj odp ods odt
    ogg onnx opus otf parquet pb pdf pickle pkl png ppt pptx psd pth pt pyc pyd pyo rar rpm safetensors so sqlite
    sqlite3 swf swp tar tflite tgz tif tiff ttf wasm wav webm webp whl woff woff2 wmv xls xlsx xz zip zst
    db-wal db-shm db-journal sqlite-wal sqlite-shm sqlite3-wal sqlite3-shm
"""
BINARY = frozenset(_BINARY.split())
DATA = frozenset({"csv", "tsv", "jsonl", "ndjson", "geojson", "arff", "svg", "log", "ipynb", "lcov"})
_GENERATED = re.compile(
    r".+(?:_pb2(?:_grpc)?\.pyi?|\.pb\.(?:go|cc|h)|_generated\.\w+|\.generated\.\w+|\.g\.(?:cs|dart)|\.freezed\.dart"
    r"|\.designer\.cs|\.map|\.snap|\.tsbuildinfo)",
    re.IGNORECASE,
)
_MINIFIED = re.compile(r".+[.-]min\.(?:js|mjs|css|html)", re.IGNORECASE)
_SECRET = re.compile(
    r"\.env(?:\..+)?|\.envrc|.+\.env|id_(?:rsa|dsa|ecdsa|ed25519).*|.+\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|gpg)"
    r"|\.netrc|_netrc|\.pgpass|\.npmrc|\.pypirc|\.htpasswd|\.git-credentials|credentials(?:\.json)?|secrets?\.(?:ya?ml|json|toml)"
    r"|terraform\.tfstate.*|.+\.tfvars",
    re.IGNORECASE,
)
# A template names the variables and has no values.
_TEMPLATE = re.compile(r"\.env\.(?:example|sample|template|dist)", re.IGNORECASE)
_BULKY = {"json": 100_000, "xml": 200_000, "yaml": 200_000, "yml": 200_000, "sql": 300_000, "txt": 300_000}
_PROSE = frozenset({"md", "markdown", "rst", "txt", "adoc", "org", "tex"})


def unwanted_folder(name: str, *, in_repository: bool) -> str | None:
    """Why a folder is not looked into."""
    if name in VENDORED or (name in OUTPUT and not in_repository) or name.endswith(".egg-info"):
        return "vendored"
    return "hidden" if name.startswith(".") and name not in SHOWN else None


def unwanted_file(name: str) -> str | None:
    """Why a file is not read."""
    ending = _ending(name)
    if name in NEVER:
        return "vendored"  # in a worktree or a submodule `.git` is a file
    if _SECRET.fullmatch(name) and not _TEMPLATE.fullmatch(name):
        return "secret"
    if name.lower() in LOCKED:
        return "lock_file"
    if ending in BINARY:
        return "binary"
    if ending in DATA:
        return "data"
    if _MINIFIED.fullmatch(name):
        return "minified"
    return "generated" if _GENERATED.fullmatch(name) else None


def is_bulky(name: str, size: int) -> bool:
    """So large that what it holds is data, in a format that short files are written in by hand."""
    return size > _BULKY.get(_ending(name), size)


def is_prose(path: str) -> bool:
    """Whether it is written for people, not for machines."""
    return _ending(path) in _PROSE


def _ending(name: str) -> str:
    return name[name.rfind(".") + 1 :].lower() if "." in name else ""
