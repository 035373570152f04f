"""Whether a name or a phrase goes on where somebody stopped typing."""

import re
from collections.abc import Iterator
from unicodedata import normalize

from retain.domain.words import is_spaceless

BEGINS, CONTAINS = 1.0, 0.9
# ASCII punctuation, general punctuation, and that of Chinese, Japanese and Korean.
_BETWEEN = r"[!-/:-@\[-`{-~\u00a1\u00ab\u00b7\u00bb\u00bf\u2010-\u205e\u3001-\u3004\u3008-\u303d\uff5f-\uff65]+"
_LETTER = r"[^\W\d_]"
# Where a part of an identifier begins: getUser, HTTPServer, oauth2, 2fa.
_STEP = rf"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\d)(?={_LETTER})|(?<={_LETTER})(?=\d)"
_PARTS = re.compile(f"{_BETWEEN}|{_STEP}")


class Typed:
    """What somebody has typed so far of a question.

    A text fits when each of the words typed begins one of its own, in any order; case, width and punctuation do
    not matter, and the words of an identifier are its parts: `auth` fits `AuthService` and `user_auth`.
    """

    def __init__(self, partial: str) -> None:
        words = ["".join(_parts(word)) for word in _words(partial)]
        self._words = [word for word in words if word]
        self._whole = "".join(self._words)
        self._spelled = [re.compile(f"{_BETWEEN[:-1]}*".join(map(re.escape, word)), re.I) for word in self._words]

    def fit(self, text: str) -> float:
        """1.0 for a text that begins with what was typed, 0.9 where it has the words further on; else 0."""
        # Most texts end here, before the dearer look at where their words begin; what is folded is not so simple.
        if not self._words or (text.isascii() and not all(word.search(text) for word in self._spelled)):
            return 0.0
        runs = [_parts(word) for word in _words(text)]
        begun = [begin for run in runs for begin in _beginnings(run)]
        if not all(any(begin.startswith(word) for begin in begun) for word in self._words):
            return 0.0
        whole = "".join(part for run in runs for part in run)
        return BEGINS if whole.startswith(self._whole) else CONTAINS


def _words(text: str) -> list[str]:
    return (text if text.isascii() else normalize("NFKC", text)).split()


def _parts(word: str) -> list[str]:
    """The parts of a word that has no spaces, folded; a script without spaces comes in single characters."""
    parts = [part.casefold() for part in _PARTS.split(word) if part]
    return parts if word.isascii() else [piece for part in parts for piece in _pieces(part)]


def _pieces(part: str) -> list[str]:
    pieces: list[str] = []
    for letter in part:
        if pieces and not is_spaceless(letter) and not is_spaceless(pieces[-1]):
            pieces[-1] += letter
        else:
            pieces.append(letter)
    return pieces


def _beginnings(parts: list[str]) -> Iterator[str]:
    """A word as it reads from each of its parts on."""
    for place in range(len(parts)):
        yield "".join(parts[place:])
