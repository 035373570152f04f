"""What a clause says of whom, where and when: the role of a value, slots and their fillings, scope, which one."""

from collections.abc import Iterator, Mapping, Sequence

from retain.domain.words import STOP_WORDS
from retain.engine.lifecycle.grammar import BE, Row, is_doing, is_office, is_topic
from retain.engine.lifecycle.typed import Token, Typed
from retain.engine.lifecycle.vocabulary import GROUP_OF, IDENTITY_NOUNS, PREPOSITIONS
from retain.engine.lifecycle.wording import CONDITIONS, CONTRASTS, POLAR, SCOPES, TIES

_NUMBERED = IDENTITY_NOUNS | {"epoch", "stori", "trial", "fold", "shard", "error"}
_BY_MEANS_OF = ("over", "via", "using", "through")
_ROLES = PREPOSITIONS | {"over", "via", "using", "per", "against", "about", "every"}
_SLOTS = PREPOSITIONS | SCOPES | {"over", "via", "using", "per"}
_PRONOUNS = ("we", "they", "i", "you", "to")
_ALL = ("every", "all", "any", "each")
_STATUS = ("on", "http", "statu", "error")


def role(row: Row, at: int) -> str:
    """What a value hangs on: a preposition, "is", the verb ("object send"), or nothing before it ("subject").

    "scope" at the very start ("On Linux …"), "which" where it tells one noun from another ("the Berlin office").
    """
    for i in range(at - 1, max(at - 5, -1), -1):
        token = row[i]
        if token.key in _ROLES:
            return token.key if i else "scope"
        if token.key in BE or token.said == ":":
            return "is"
        if token.shape == "stop":
            return "listed"
        if token.shape == "word" and token.key in TIES:
            return f"object {token.key}"
    if _tells_which(row, at):
        return "which"
    return "subject" if at < 4 else "far"


def _tells_which(row: Row, at: int) -> bool:
    follows = row[at + 1] if at + 1 < len(row) else None
    if follows is None or follows.shape != "word" or is_office(follows) or is_doing(row, at + 1):
        return False
    return not {follows.key, follows.said.lower()} & (TIES | BE | STOP_WORDS)


def slots(row: Row, values: Sequence[Typed | None], verb: int) -> Mapping[str, frozenset[str]]:
    """What stands behind each preposition, behind "is a" and behind the verb; before an active verb is who does it."""
    found: dict[str, set[str]] = {}
    slot = "by" if verb > 0 and row[verb].key not in BE else ""
    for i, token in enumerate(row):
        if is_topic(row, i, values[i]) and i != verb and token.key not in _SLOTS:
            value = values[i]
            found.setdefault(slot, set()).add(value.key if value else token.key)
        else:
            slot = _opened(token, slot, is_verb=i == verb, is_behind=i > verb)
    return {slot: frozenset(words) for slot, words in found.items() if slot}


def _opened(token: Token, slot: str, *, is_verb: bool, is_behind: bool) -> str:
    """The slot in which the words after this one stand."""
    if is_verb:
        return "is" if token.key in BE or token.said == ":" else f"object {token.key}"
    if token.key in _SLOTS:
        return "with" if token.key in _BY_MEANS_OF else token.key
    if token.shape == "stop":
        return ""
    if slot == "is" and token.key in ("a", "an"):
        return "is a"
    return f"object {token.key}" if slot == "is" and token.key in TIES and is_behind else slot


def scoped(row: Row) -> frozenset[str]:
    """Words of "in production", "for uploads", "if it is cold": when and where it holds; not of "is written in Go"."""
    inside, found = False, set()
    for i, token in enumerate(row):
        if token.key in SCOPES or (token.key == "with" and i == 0):
            is_all = i + 1 < len(row) and row[i + 1].key in _ALL
            inside = (token.key in CONDITIONS or not _opens_slot(row, i)) and not is_all
        elif token.shape == "stop" or token.key in BE or token.key in PREPOSITIONS:
            inside = False
        elif inside and token.key not in STOP_WORDS:
            found.add(token.key)
    return frozenset(found)


def _opens_slot(row: Row, at: int) -> bool:
    """Whether a preposition belongs to the verb before it; "enabled in tests" is a scope."""
    before = row[at - 1] if at else None
    if before is None or {before.said.lower(), before.key} & POLAR:
        return False
    return before.key in TIES or before.key in BE or before.said.endswith(("ed", "en"))


def contrasts(row: Row) -> Iterator[str]:
    """Qualifiers that have a counterpart: production, mobile, "the second"."""
    for i, token in enumerate(row):
        low = token.said.lower()
        if token.shape == "word" and low in CONTRASTS:
            yield CONTRASTS[low]
        elif low in ("first", "second", "third") and i and row[i - 1].key == "the" and not _is_day(row, i + 1):
            yield low


def _is_day(row: Row, at: int) -> bool:
    return at < len(row) and GROUP_OF.get(row[at].key) == "day"


def identities(row: Row, verb: int) -> Iterator[str]:
    """ "item 3", "#12", "service A", "retries on 503": which one is meant."""
    for i, token in enumerate(row):
        if (token.said.startswith("#") and token.said[1:2].isdigit()) or (i and _is_identity(row, i, verb)):
            yield token.said.lstrip("#")


def _is_identity(row: Row, at: int, verb: int) -> bool:
    said, before = row[at].said, row[at - 1]
    if len(said) == 1 and said.isupper():
        return said != "I"
    if said[0].isdigit() and before.key in _NUMBERED:
        return not (at > 1 and row[at - 2].key in _PRONOUNS)  # "we run 12"
    if row[at].shape != "number" or not said.isdigit():
        return False
    if before.key == "version" and at == 1:
        return len(row) > 2 and row[2].key not in BE
    if before.key in _STATUS and len(said) == 3:
        return True
    return at < verb == at + 1 and before.said.islower() and before.key not in STOP_WORDS
