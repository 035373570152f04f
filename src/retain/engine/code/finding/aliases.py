"""Languages as people name them: by name, by a common alias, or by the extension of their files."""

from collections.abc import Sequence

from retain.engine.code.parsing.languages import LANGUAGES
from retain.errors import Fault, InvalidInput, shorten

_ALIASES = {
    "c#": "csharp", "c sharp": "csharp", "c-sharp": "csharp", "dotnet": "csharp", "c++": "cpp", "cplusplus": "cpp",
    "golang": "go", "node": "javascript", "nodejs": "javascript", "ecmascript": "javascript", "python3": "python",
    "shell": "bash", "shellscript": "bash", "docker": "dockerfile", "make": "makefile", "objc": "objective-c",
    "objective c": "objective-c", "protobuf": "proto", "f#": "fsharp", "hcl": "terraform", "restructuredtext": "rst",
    "plain text": "text", "plaintext": "text",
}  # fmt: skip
_NAMES = {language.name for language in LANGUAGES}
_BY_ENDING = {
    ending.removeprefix(".").lower(): language.name
    for language in reversed(LANGUAGES)
    for ending in language.files.split()
    if ending.startswith(".")
}


def checked_languages(names: Sequence[str]) -> tuple[str, ...]:
    """The languages by the names that indexes know, each once; what is no language is an error with the list."""
    found = {given: _language(given) for given in names}
    unknown = [given for given, name in found.items() if name is None]
    if unknown:
        known = f"is no language that Retain knows; use one of {', '.join(sorted(_NAMES))}"
        raise InvalidInput([Fault("language", shorten(given), known) for given in unknown])
    return tuple(dict.fromkeys(name for name in found.values() if name))


def _language(given: str) -> str | None:
    name = " ".join(given.casefold().split()).removeprefix(".")
    if name in _NAMES:
        return name
    return _ALIASES.get(name) or _BY_ENDING.get(name)
