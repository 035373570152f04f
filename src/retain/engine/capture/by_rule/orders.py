"""Orders in words that are not the user's: a tool's output or what the assistant says about a file.

Such words are only ever quoted, as data. Quoting an order would still put it in front of a later session, so
whatever reads like one, or hides what it reads like, is not quoted at all.
"""

import re
import unicodedata

from retain.engine.capture.orders import is_hostile

_ORDERS = re.compile(
    r"\b(?:ignore|disregard|override|obey|bypass|pretend|jailbreak|exfiltrat\w*)\b"
    r"|\b(?:always|never|remember|from now on|henceforth|whenever|in future)\b|\b(?:you|assistants?|agents?|models?"
    r"|claude|the ai|llms?)\s+(?:must|should|shall|will|need to|have to|are to|may)\b"
    r"|\b(?:instructions?|system prompt|prompts?|the user (?:wants|prefers|said|has|asked|decided))\b"
    r"|\b(?:we|i) (?:decided|prefer|always|never)\b|\b(?:do not|don'?t) (?:tell|ask|mention|warn)\b"
    r"|\bwithout (?:asking|permission|review|telling)\b|\b(?:send|upload|post|leak|forward)\b.{0,60}\b(?:to|http)\b"
    r"|https?://|\bcurl\b|\bwget\b|\|\s{0,5}(?:sh|bash|zsh|python\d?)\b|</?\s{0,5}[a-z][\w:-]{0,60}[\s>/]"
    r"|\[redacted:",
    re.I,
)
_TO_AGENTS = re.compile(
    r"\b(?:assistants?|ai agents?|agents|language models?|claude|the ai|llms?)\s+(?:must|should|shall|will|need to"
    r"|have to|are to)\b|\bthe user (?:wants|prefers|said|has|asked|decided)\b|\b(?:remember that|from now on)\b",
    re.I,
)
# Nobody types these: invisible and direction-changing characters, tags, full-width and look-alike Latin letters.
_UNTYPED = re.compile(
    "[\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f\uff21-\uff3a\uff41-\uff5a]"
    "|[a-z][\u200c\u200d][a-z]|[a-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][a-z]",
    re.I,
)
_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{60,}")


def hides(text: str) -> bool:
    """Whether a text holds what nobody types, and so may hide what it says."""
    return _UNTYPED.search(text) is not None or _BLOB.search(text) is not None


def holds_orders(text: str) -> bool:
    """Whether a text from outside tells somebody what to do, or hides what it says."""
    plain = unicodedata.normalize("NFKC", text)
    return hides(text) or _ORDERS.search(plain) is not None or is_hostile(plain)


def speaks_to_agents(text: str) -> bool:
    """Whether a whole output, of which one line is to be quoted, has words for whoever reads it with a model."""
    plain = unicodedata.normalize("NFKC", text)
    return _UNTYPED.search(text) is not None or _TO_AGENTS.search(plain) is not None or is_hostile(plain)
