"""Take secrets and private spans out of a text before anything stores, sends or logs it."""

import re
from dataclasses import dataclass

from retain.domain.visible import UNSEEN
from retain.engine.lifecycle.detector import LONGEST, Detector, Where
from retain.engine.lifecycle.detectors import DETECTORS, REST_OF_VALUE
from retain.engine.lifecycle.placeholders import MARK
from retain.engine.lifecycle.secret_tables import without_cells

__all__ = ["MARK", "Redacted", "redact"]

PRIVATE_TAG = re.compile(r"(?:<|&lt;)\s{0,3}/?\s{0,3}private(?:\s[^<>&]{0,200})?(?:>|&gt;)", re.I)
# What a copy brings along, or somebody puts in.
_UNSEEN = re.compile(f"[{UNSEEN}]")
# Several detectors share a hint, and most texts hold a few of all.
_HINTS = frozenset(hint for detector in DETECTORS for hint in detector.hints)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text fit to be kept, and the names of what was removed from it, each once, in order."""

    text: str
    found: tuple[str, ...] = ()


def redact(text: str) -> Redacted:
    """Replace each secret by `[redacted:<name>]`; the words around it stay.

    Redacting the result again changes nothing. Values that only stand for a secret (`changeme`, `xxx`,
    `<your-key>`, `${VAR}`, `env("X")`) stay too: they are what a memory about configuration is made of.
    """
    redacted = _redacted(text)
    if _UNSEEN.search(text):
        # What cannot be seen may stand in the middle of a secret. It goes where that bares one, and stays elsewhere.
        plain = _redacted(_UNSEEN.sub("", text))
        if len(MARK.findall(plain.text)) > len(MARK.findall(redacted.text)):
            return plain
    return redacted


def _redacted(text: str) -> Redacted:
    found: dict[str, None] = {}
    before = ""
    # Removing one secret can bare another that it was glued to, so look until nothing is left. Each
    # round leaves less text outside of the marks, so this ends.
    while text != before:
        before = text
        text = without_cells(_without_private(text, found), lambda: _mark("secret", found))
        lowered = _lowered(text)
        hinted = _hinted(lowered)
        for detector in DETECTORS:
            if not hinted.isdisjoint(detector.hints):
                cleaned = _without(detector, text, detector.places(lowered), found)
                if cleaned is not text:
                    text, lowered = cleaned, _lowered(cleaned)
                    hinted = _hinted(lowered)
    return Redacted(text, tuple(found))


def _without_private(text: str, found: dict[str, None]) -> str:
    """Spans may nest; one that is never closed reaches to the end, because hiding too much is the safe mistake."""
    if "private" not in text.lower():
        return text
    kept: list[str] = []
    depth = position = 0
    for tag in PRIVATE_TAG.finditer(text):
        if "/" not in tag[0][:9]:
            if depth == 0:
                kept += text[position : tag.start()], _mark("private_span", found)
            depth += 1
        elif depth:
            depth -= 1
            position = tag.end()
    return "".join(kept) + (text[position:] if depth == 0 else "")


def _lowered(text: str) -> str:
    # The only letter that gets longer in lower case would move all places behind it.
    return text.replace("İ", "i").lower()


def _hinted(lowered: str) -> set[str]:
    return {hint for hint in _HINTS if hint in lowered}


def _without(detector: Detector, text: str, places: list[tuple[int, int]], found: dict[str, None]) -> str:
    kept: list[str] = []
    position = 0
    for begin, end in places:
        search_from = max(begin, position)
        while match := _match(detector, text, search_from, end):
            start, stop = match.span(match.lastindex or 0)
            if detector.is_secret(match):
                kept += text[position:start], _mark(detector.name, found)
                if stop - start == LONGEST and (rest := REST_OF_VALUE.match(text, stop)):
                    stop = rest.end()
                position = search_from = stop
            else:
                # The value was harmless, but may itself hold a secret: `note: "password=…"`.
                search_from = start if start > match.start() else stop
            if detector.where is Where.AT:
                break
    return "".join(kept) + text[position:] if kept else text


def _match(detector: Detector, text: str, begin: int, end: int) -> re.Match[str] | None:
    if detector.where is Where.AT:
        return detector.pattern.match(text, begin)
    return detector.pattern.search(text, begin, end)


def _mark(name: str, found: dict[str, None]) -> str:
    found[name] = None
    return f"[redacted:{name}]"
