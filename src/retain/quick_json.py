"""JSON for processes that live for milliseconds: the standard library's own C parts, without the rest of `json`.

Importing `json` costs more than everything a Stop hook does. Where an interpreter has other parts, `json` steps in.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class _Reading:
    """What the scanner asks for: control characters inside strings are let through."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def parsed(text: str) -> object:
    """The value that a text holds; ValueError when it holds none, or anything besides."""
    try:
        value, end = _scanner()(text, len(text) - len(text.lstrip()))
    except (StopIteration, RecursionError, SystemError) as error:
        # The last of them: some interpreters cannot say what is wrong while `json` is not loaded.
        raise ValueError("not JSON") from error
    if text[end:].strip():
        raise ValueError(f"not JSON: more follows at character {end}")
    return value


def written(value: object, *, plain: bool = True) -> str:
    """The value as one line, by default of ASCII alone."""
    return _encoder(plain)(value)


def _scanner() -> "Callable[[str, int], tuple[object, int]]":
    try:
        from _json import make_scanner

        return make_scanner(_Reading)  # type: ignore[arg-type]  # anything with these attributes will do
    except (ImportError, TypeError, AttributeError):
        import json

        return json.JSONDecoder(strict=False).raw_decode


def _encoder(plain: bool) -> "Callable[[object], str]":
    try:
        from _json import encode_basestring, encode_basestring_ascii, make_encoder

        letters = encode_basestring_ascii if plain else encode_basestring
        encode = make_encoder(None, _refused, letters, None, ":", ",", False, False, False)
        return lambda value: "".join(encode(value, 0))
    except (ImportError, TypeError):
        import json

        return lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=plain)


def _refused(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is not JSON")
