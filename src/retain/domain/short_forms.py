"""Forms of one name: "auth" and "authentication", "Postgres" and "PostgreSQL", "k8s" and "Kubernetes"."""

import re
from difflib import SequenceMatcher

# Pairs that no rule gives; each line is one thing.
_ALIASES = """
    pg postgres postgresql psql
    js javascript
    ts typescript
    db database
    py python
    gh github
    tf terraform
    win windows
    osx macos mac
    prod production live
    go golang
    torch pytorch
    bq bigquery
    vscode visualstudiocode
    rpi raspi raspberrypi
    ue unreal unrealengine
    mssql sqlserver microsoftsqlserver
    e2e endtoend
    i18n internationalization internationalisation localization
    en english
    de german germany
    fr french france
    es spanish spain
    it italian italy
    ja jp japanese japan
    zh cn chinese china
"""
_ALIAS = {word: number for number, line in enumerate(_ALIASES.strip().splitlines()) for word in line.split()}
_NOT_LETTERS = re.compile(r"[\W_]+")
_NUMERONYM = re.compile(r"([a-z])([0-9]+)([a-z])")
_VOWEL = re.compile("[aeiou]")
_SHORTEST = 3  # letters with which a longer name may begin
_ALIKE = 0.86  # of the letters of a word that is spelled wrong
_WORD_ENDS = ("db", "sql", "io", "js", "os", "ql", "hub", "lab")  # what a product's name has and people leave out


def plain(word: str) -> str:
    """A word without case and signs: "Wi-Fi" is "wifi"."""
    return _NOT_LETTERS.sub("", word).casefold()


def is_form(a: str, b: str) -> bool:
    """Whether two words may stand for one thing: one is the short form of the other, or spelled a little otherwise."""
    short, long = sorted((plain(a), plain(b)), key=len)
    if not short or short == long:
        return bool(short)
    if short in _ALIAS and kin(short) == kin(long):
        return True
    if any(letter.isdigit() for letter in short + long):
        return _is_numeronym(short, long)
    return _begins(short, long) or _is_skeleton(short, long) or _is_misspelt(short, long)


def kin(word: str) -> int | None:
    """The thing that a word, plain, names like others which no rule makes out of each other: pg, postgres."""
    return _ALIAS.get(word)


def is_acronym(word: str, initials: str) -> bool:
    """Whether a word is made of the first letters of words that follow each other: "BOM", "byte order mark"."""
    letters = plain(word)
    return 2 <= len(letters) <= 5 and letters in initials


def _begins(short: str, long: str) -> bool:
    if long.startswith(short):
        return len(short) >= _SHORTEST or long[len(short) :] in _WORD_ENDS
    shared = next((at for at, (one, other) in enumerate(zip(short, long, strict=False)) if one != other), len(short))
    return shared >= 5 and shared >= 0.6 * len(long)


def _is_skeleton(short: str, long: str) -> bool:
    """Without its vowels: "pkg", "btn", "msgs"."""
    bare = short.removesuffix("s") if len(short) > 3 else short
    if not 2 <= len(bare) <= 5 or bare[0] != long[0] or _VOWEL.search(bare):
        return False
    rest = iter(long)
    return bare[-1] in long[-3:] and all(letter in rest for letter in bare)


def _is_misspelt(short: str, long: str) -> bool:
    if len(short) < 5 or len(long) > len(short) + 2 or short[0] != long[0]:
        return False
    return SequenceMatcher(None, short, long, autojunk=False).ratio() >= _ALIKE


def _is_numeronym(short: str, long: str) -> bool:
    found = _NUMERONYM.fullmatch(short)
    return found is not None and (found[1], found[3], int(found[2])) == (long[0], long[-1], len(long) - 2)
