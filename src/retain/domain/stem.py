"""English stems by Porter's algorithm (1980), so that "deploys" finds "deployed"."""

from functools import lru_cache

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate",
    "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive",
    "biliti": "ble",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
    "iti", "ous", "ive", "ize",
)  # fmt: skip


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """The stem of a lower-case English word; anything else (digits, capitals, other scripts) comes back as it is."""
    if len(word) < 3 or not (word.isascii() and word.isalpha() and word.islower()):
        return word
    word = _without_y(_without_ed(_without_plural(word)))
    word = _swap_suffix(_swap_suffix(word, _STEP_2), _STEP_3)
    return _tidy_end(_without_suffix(word))


def _shape(letters: str) -> str:
    """Vowel or consonant, letter by letter: "sky" is "ccv", since y after a consonant sounds as a vowel."""
    shape = ""
    for letter in letters:
        is_vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if is_vowel else "c"
    return shape


def _measure(letters: str) -> int:
    """How often a vowel is followed by a consonant: Porter's m, about the number of syllables."""
    return _shape(letters).count("vc")


def _is_short(letters: str) -> bool:
    """Ends consonant, vowel, consonant (not w, x, y), as in "hop": such a stem wants its e back."""
    return _shape(letters).endswith("cvc") and letters[-1] not in "wxy"


def _ends_double(letters: str) -> bool:
    return len(letters) > 1 and letters[-1] == letters[-2] and _shape(letters)[-1] == "c"


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _without_ed(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return _mended(rest) if "v" in _shape(rest) else word
    return word


def _mended(rest: str) -> str:
    """What "-ed" or "-ing" hid: "creat" is "create", "hopp" is "hop", "fil" is "file"."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _ends_double(rest) and rest[-1] not in "lsz":
        return rest[:-1]
    if _measure(rest) == 1 and _is_short(rest):
        return rest + "e"
    return rest


def _without_y(word: str) -> str:
    # Only after a consonant, as in Porter's later stemmer: the first one parts "deploy" from "deployment".
    shape = _shape(word[:-1])
    return word[:-1] + "i" if word.endswith("y") and shape.endswith("c") and "v" in shape else word


def _swap_suffix(word: str, table: dict[str, str]) -> str:
    suffix = max((s for s in table if word.endswith(s)), key=len, default="")
    rest = word[: len(word) - len(suffix)]
    return rest + table[suffix] if suffix and _measure(rest) > 0 else word


def _without_suffix(word: str) -> str:
    suffix = max((s for s in _STEP_4 if word.endswith(s)), key=len, default="")
    rest = word[: len(word) - len(suffix)]
    if not suffix or _measure(rest) < 2 or (suffix == "ion" and not rest.endswith(("s", "t"))):
        return word
    return rest


def _tidy_end(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _is_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
