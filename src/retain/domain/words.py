"""The words of a text as a full-text index wants them: the same terms for every store, for texts and for questions.

A term has no ASCII punctuation and no spaces, so the simplest tokenizer of any store cuts a list of them,
joined by spaces, back into the same list.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

from retain.domain.stem import stem

# The stem of "using" is "us"; these are compared with whole words before stemming, so "use" stays a term.
_STOP = """
    a about above after again against all also am an and any anybody anyone anything are arent around as at be
    because been before being below between both but by can cannot cant could couldnt did didnt do does doesnt doing
    dont down during each else ever every few for from further get gets getting give got had hadnt has hasnt have
    havent having he her here hers herself him himself his how however i if in into is isnt it its itself just let
    lets may me might mine more most much must mustnt my myself neither no nor not now of off on once only onto or
    other our ours ourselves out over per please quite rather same shall shant she should shouldnt since so some
    somebody someone something such tell than that the their theirs them themselves then there these they this those
    though through thus to too under until up upon us using very via was wasnt we were werent what whatever when
    whenever where wherever whether which whichever while who whoever whom whose why will with within without wont
    would wouldnt yes yet you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_STOP.split())

_LONGEST = 64  # nobody searches for more of a word; keeps an encoded blob from becoming one huge term
# What Python's \w leaves out of words: combining marks, and the vowel signs of Indic and neighbouring scripts.
_MARKS = "\u0300-\u036f\u0483-\u0487\u0900-\u0963\u0981-\u0de6\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0f71-\u0f84"
_MARKS += "\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u3099\u309a"
# Scripts whose words are not separated by spaces, and Korean, whose words carry their particles.
_SPACELESS = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3\u3005-\u3007\u3041-\u3096\u3099\u309a"
_SPACELESS += "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_SPACELESS += "\U00020000-\U0003134f"
_EMOJI = "\u231a\u231b\u23e9-\u23f3\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001f0ff\U0001f18e-\U0001faff"
_FLAG = "\U0001f1e6-\U0001f1ff"  # two regional letters make a flag

_CHUNK = re.compile(rf"[\w{_MARKS}]+(?:(?:[-./\\'’]|::)[\w{_MARKS}]+)*(?:\+\+|#)?|[{_FLAG}]{{2}}|[{_EMOJI}]")
_HASH = r"(?<![0-9A-Za-z])(?=[a-f]*[0-9])[0-9a-f]{4,}(?![0-9A-Za-z])"  # a commit stays in one piece
_ASCII_PART = re.compile(_HASH + "|[A-Z]+s?(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ENDING = re.compile(r"['’](?:s|re|ve|ll|d|m)(?![a-z])", re.IGNORECASE)  # "user's", "we'll"
_ELISION = re.compile(r"(?<![^\W_])(?:[cdjlmnst]|qu)['’](?=\w\w)", re.IGNORECASE)  # French "l'eau", "qu'il"
_BETWEEN_DIGITS = re.compile(r"(?<=[0-9])[-._:/\\]+(?=[0-9])")
_SEPARATOR = re.compile(r"[-._:/\\'’]+")
_VERSION = re.compile(r"v(?=[0-9]+d[0-9])")
_LATIN_MARK = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")
_LATIN_LETTERS = str.maketrans({
    "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i", "ð": "d", "þ": "th", "æ": "ae", "Æ": "AE",
    "œ": "oe", "Œ": "OE", "ß": "ss", "ẞ": "SS",
})  # fmt: skip
_LANGUAGES = {"c++": "cpp", "c#": "csharp", "f#": "fsharp"}


def _code_points(*ranges: tuple[int, int]) -> list[int]:
    return [point for first, last in ranges for point in range(first, last + 1)]


# Invisible or ornamental: soft hyphen, zero width, direction and variation marks, skin tones, Hebrew points,
# Arabic short vowels and the stretching tatweel. A word with them is the same word.
_UNSEEN = dict.fromkeys(_code_points(
    (0xAD, 0xAD), (0x591, 0x5BD), (0x5BF, 0x5BF), (0x5C1, 0x5C2), (0x5C4, 0x5C5), (0x5C7, 0x5C7), (0x610, 0x61A),
    (0x640, 0x640), (0x64B, 0x65F), (0x670, 0x670), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x2069),
    (0xFE0E, 0xFE0F), (0xFEFF, 0xFEFF), (0x1F3FB, 0x1F3FF),
))  # fmt: skip


def terms(text: str) -> list[str]:
    """The index terms of a text, in order and with repeats.

    Words are folded and stemmed; an identifier, path or version comes whole and in parts (`getUserName`:
    getusernam get user name, the whole stemmed too, so that "getusername" typed in a question finds it);
    text in scripts without spaces comes in pairs of characters; an emoji is a term.
    """
    found: list[str] = []
    for chunk in _CHUNK.findall(_normal(text)):
        found += _chunk_terms(chunk)
    return found


def query_terms(text: str) -> list[str]:
    """The distinct terms of a question without its stop words, unless it has nothing else."""
    chunks = _CHUNK.findall(_normal(text))
    telling = [chunk for chunk in chunks if bare(chunk) not in STOP_WORDS] or chunks
    return list(dict.fromkeys(term for chunk in telling for term in _chunk_terms(chunk)))


def telling_words(text: str) -> dict[str, tuple[str, ...]]:
    """The distinct words of a text that are no stop words, each as it is written, with its terms."""
    return {chunk: _chunk_terms(chunk) for chunk in _CHUNK.findall(_normal(text)) if bare(chunk) not in STOP_WORDS}


def word_spans(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Where each word of a text begins and ends, with its terms; scripts without spaces come pair by pair."""
    if text.isascii():
        yield from ((*found.span(), _chunk_terms(found[0])) for found in _CHUNK.finditer(text))
        return
    for found in _written_chunk().finditer(text):
        written, start = found[0], found.start()
        if written.isascii() or _normal(written) != written or not _spaceless().search(written):
            yield start, found.end(), tuple(terms(written))
        else:
            yield from ((start + first, start + last, held) for first, last, held in _mixed_spans(written))


def bare(word: str) -> str:
    """A word in lower case without its apostrophe: "what's" is "what", "don't" is "dont"."""
    return _ENDING.sub("", word).replace("'", "").replace("’", "").casefold()


def spaceless_pairs(run: str) -> list[str]:
    """The overlapping pairs of characters in text of a script without spaces; a single character stays."""
    return [first + second for first, second in pairwise(run)] or [run]


def is_spaceless(word: str) -> bool:
    return not word.isascii() and _spaceless().fullmatch(word) is not None


# These two take 6 ms to compile, which a hook with English text need not pay.
@cache
def _spaceless() -> re.Pattern[str]:
    return re.compile(rf"[{_SPACELESS}]+")


@cache
def _any_part() -> re.Pattern[str]:
    return re.compile(rf"{_ASCII_PART.pattern}|[{_SPACELESS}]+|[^\x00-\x7f{_SPACELESS}]+")


@cache
def _written_chunk() -> re.Pattern[str]:
    """A word as people write it, before what cannot be seen is taken out of it."""
    unseen = "".join(map(chr, _UNSEEN))
    letters = rf"[\w{_MARKS}{unseen}]+"
    word = rf"{letters}(?:(?:[-./\\'’]|::){letters})*(?:\+\+|#)?"
    return re.compile(rf"{word}|[{_FLAG}]{{2}}|[{_EMOJI}][{unseen}]*")


def _mixed_spans(word: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """The pairs of each run without spaces, and what stands between such runs as words of their own."""
    end = 0
    for run in _spaceless().finditer(word):
        if gap := word[end : run.start()]:
            yield end, run.start(), tuple(terms(gap))
        for place, pair in enumerate(spaceless_pairs(run[0]), start=run.start()):
            yield place, place + len(pair), (pair,)
        end = run.end()
    if rest := word[end:]:
        yield end, len(word), tuple(terms(rest))


def _parts(word: str) -> list[str]:
    found: list[str] = (_ASCII_PART if word.isascii() else _any_part()).findall(word)
    return found


def _normal(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text.translate(_UNSEEN))


def _chunk_terms(chunk: str) -> tuple[str, ...]:
    return _remembered(chunk) if len(chunk) <= _LONGEST else _expand(chunk)


@lru_cache(maxsize=32_768)
def _remembered(chunk: str) -> tuple[str, ...]:
    return _expand(chunk)


def _expand(chunk: str) -> tuple[str, ...]:
    language = _LANGUAGES.get(chunk.lower())
    if language:
        return (language,)
    word = _fold(_ELISION.sub("", _ENDING.sub("", chunk.rstrip("+#")))).replace("'", "").replace("’", "")
    parts = _parts(word)
    if len(parts) == 1:
        return tuple(_part_terms(parts[0]))
    # A letter on its own says nothing: the i of iOS, the v of v2.
    telling = (part for part in parts if len(part) > 1 or part.isdigit() or not part.isascii())
    return (*_joined_forms(word), *(term for part in telling for term in _part_terms(part)))


def _fold(word: str) -> str:
    """Latin letters without their accents; other scripts untouched, where a mark can make another letter."""
    if word.isascii():
        return word
    plain = _LATIN_MARK.sub("", unicodedata.normalize("NFD", word)).translate(_LATIN_LETTERS)
    return unicodedata.normalize("NFC", plain)


def _part_terms(part: str) -> list[str]:
    if is_spaceless(part):
        return spaceless_pairs(part)
    return [stem(_fold(part.casefold())[:_LONGEST])]


def _joined_forms(word: str) -> list[str]:
    """A compound as one term: all of it, then each step of a path, then each name between dots."""
    steps = re.split(r"[/\\]", word)
    names = [name for step in steps for name in re.split(r"[.:]+", step)]
    compounds = (name for name in dict.fromkeys([word, *steps, *names]) if len(_parts(name)) > 1)
    return list(dict.fromkeys(joined for name in compounds if (joined := _join(name)) and len(joined) <= _LONGEST))


def _join(name: str) -> str:
    """One term for a compound: 3.11 becomes 3d11, so that it is neither 311 nor lost among the threes."""
    if any(is_spaceless(part) for part in _parts(name)):
        return ""
    joined = _SEPARATOR.sub("", _BETWEEN_DIGITS.sub("d", name)).casefold()
    return stem(_fold(_VERSION.sub("", joined)))
