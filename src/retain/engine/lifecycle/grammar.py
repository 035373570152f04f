"""Which words of a clause are verbs and which are topics, as far as endings and neighbours tell."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from retain.domain.claims import NUMBER_WORDS
from retain.domain.words import STOP_WORDS
from retain.engine.lifecycle.typed import Token, Typed
from retain.engine.lifecycle.vocabulary import COPULAS, PREPOSITIONS
from retain.engine.lifecycle.wording import ACTIONS, CONDITIONS, MAY, NO, NOT, OFFICES, POLAR, SCOPES, TIES

Row = Sequence[Token]

BE = COPULAS | {"been", "being"}
ARTICLES = frozenset({"the", "a", "an", "our", "this", "its", "my", "no"})
_DO = frozenset({"do", "does", "did"})
_WE = frozenset({"we", "they", "you"})
_ADJECTIVES = frozenset({"new", "current", "main", "given", "available", "total"})
_TURNED = BE | {"turn", "switch"}
_DENY_ALONE = ("no", "never", "without")
_ALSO_NOUNS = frozenset(
    ("crash", "crashes", "break", "breaks", "fail", "fails", "lack", "failed", "missing", "hidden", "broken", "blocked")
)


def clauses(row: list[Token]) -> Iterator[list[Token]]:
    """Cut at semicolons, and where a new verb follows a comma, a bracket or a "but"."""
    start = 0
    for i, token in enumerate(row):
        if (token.shape == "stop" or token.key in ("but", "and")) and _begins_anew(row, start, i):
            yield row[start:i]
            start = i + 1
    if start < len(row):
        yield row[start:]


def _begins_anew(row: Row, start: int, at: int) -> bool:
    if row[at].said == ";":
        return True
    if at + 1 < len(row) and row[at + 1].said.lower() in _DENY_ALONE:
        return True
    if row[at].key == "and":
        return at + 1 < len(row) and row[at + 1].key in BE | _DO and _has_verb(row[start:at])
    return _has_verb(row[start:at]) and _has_verb(row[at + 1 : at + 7])


def _has_verb(row: Row) -> bool:
    if any(token.key in BE or token.key in _DO for token in row):
        return True
    is_phrase = bool(row) and (row[0].key in PREPOSITIONS or row[0].key in SCOPES)  # "In debug builds,"
    return not is_phrase and any(token.shape == "word" and token.key in TIES for token in row)


def verb_at(row: Row) -> int:
    """Where the verb stands, -1 when there is none; a colon stands for "is"."""
    for i, token in enumerate(row):
        if token.key in BE or token.said == ":":
            return i
        # With "is" close behind it was no verb: "the project lead is", "the supported version is".
        closely = takewhile(lambda later: later.key not in CONDITIONS, row[i + 1 : i + 4])
        if _may_be_verb(row, i) and not any(later.key in BE for later in closely):
            return i
    return -1


def _may_be_verb(row: Row, at: int) -> bool:
    token = row[at]
    if token.shape != "word" or token.key in STOP_WORDS or (at and row[at - 1].key in ARTICLES):
        return False
    return token.key in TIES or (at > 0 and is_office(token)) or is_doing(row, at)


def nouns(row: Row, values: Sequence[Typed | None]) -> frozenset[str]:
    """The topics, each name under its own key; numbers and other plain values are none."""
    return frozenset(value.key if value else row[i].key for i, value in enumerate(values) if is_topic(row, i, value))


def is_topic(row: Row, at: int, value: Typed | None) -> bool:
    if value is not None:
        return value.is_name
    token = row[at]
    if token.key in ("before", "after"):
        return at + 1 < len(row) and row[at + 1].said.endswith("ing")
    forms = {token.key} if token.said.isupper() else {token.said.lower(), token.key}
    if token.shape != "word" or forms & POLAR or forms & STOP_WORDS or token.key in NUMBER_WORDS:
        return False
    return not (forms & TIES or _is_done(row, at) or is_doing(row, at)) or _is_noun(row, at)


def ties(row: Row) -> frozenset[str]:
    """Verbs that say little, and other words that change nothing."""
    return frozenset(t.key for t in row if t.shape == "word" and t.key in TIES and t.key not in STOP_WORDS)


def acts(row: Row) -> frozenset[str]:
    """Verbs that say what is done: whoever denies one has not denied another."""
    return frozenset(token.key for i, token in enumerate(row) if token.shape == "word" and _is_act(row, i))


def _is_act(row: Row, at: int) -> bool:
    token = row[at]
    if token.key in ACTIONS:
        return True
    is_known = token.key in TIES or {token.key, token.said.lower()} & POLAR
    return not is_known and (_is_done(row, at) or is_doing(row, at))


def _is_done(row: Row, at: int) -> bool:
    """ "is uploaded", "are now computed": a participle."""
    if not row[at].said.endswith("ed") or not at:
        return False
    return row[at - 1].key in BE or (at > 1 and row[at - 2].key in BE and row[at - 1].key in STOP_WORDS | TIES | NOT)


def is_doing(row: Row, at: int) -> bool:
    """ "The driver polls the sensor", "tooltips appear after": a verb by its place and ending."""
    if not 0 < at < len(row) - 1 or not row[at].said.islower() or row[at].key in STOP_WORDS:
        return False
    before, after = row[at - 1], row[at + 1]
    if before.key in _WE:
        return True
    if not (after.key in ARTICLES or after.key in PREPOSITIONS):
        return False
    if before.shape != "word" or before.key in STOP_WORDS or before.key in TIES or before.key in PREPOSITIONS:
        return False
    if any(token.key in BE or token.key in _WE for token in row[:at]):
        return False
    return row[at].said.endswith("s") != before.said.endswith("s")


def _is_noun(row: Row, at: int) -> bool:
    """ "The launch", "launch is": a word that could be a verb, where only a noun can stand."""
    before = row[at - 1].key if at else ""
    after = row[at + 1].key if at + 1 < len(row) else ""
    if at > 1 and row[at - 2].key in _WE and before in TIES and row[at].said.endswith("s"):
        return True  # "we keep logs"
    is_adjective = row[at].key in _ADJECTIVES and at + 1 < len(row) and row[at + 1].shape == "word"
    return (before in ARTICLES and not is_adjective) or (
        after in BE and before not in BE and before not in PREPOSITIONS
    )


def is_office(token: Token) -> bool:
    return token.key in OFFICES and token.said.endswith("s")


def is_order(row: Row) -> bool:
    """ "Run the linters", "please run …"."""
    first = row[1] if len(row) > 1 and row[0].key == "please" else row[0]
    if first.shape != "word" or first.said.endswith("s") or len(row) < 2:
        return False
    return first.key in TIES and not any(token.key in BE for token in row[1:4])


def _is_attribute(row: Row, at: int) -> bool:
    """A participle before a noun: "failed builds are kept", "keep failed builds"."""
    after = row[at + 1] if at + 1 < len(row) else None
    if after is None or after.shape != "word" or not after.said.islower():
        return False
    if {after.key, after.said} & (STOP_WORDS | PREPOSITIONS | ARTICLES | BE):
        return False
    before = row[at - 1].key if at else ""
    return verb_at(row[at + 1 :]) > 0 if not at else before in ARTICLES | PREPOSITIONS or before in TIES - BE


def _ends_there(row: Row, at: int) -> bool:
    """ "Is off", "is off in tests", "turned off the cache"."""
    after, before = row[at + 1], row[at - 1].key if at else ""
    return before in _TURNED or after.shape == "stop" or after.key in PREPOSITIONS or after.key in STOP_WORDS - ARTICLES


def denies(row: Row, at: int) -> bool:
    """ "It crashes", not "crash reports" and not "the crash"."""
    token = row[at]
    if token.shape != "word" or not {token.said.lower(), token.key} & (NO | MAY):
        return False
    if token.said.lower() == "off" and at + 1 < len(row) and not _ends_there(row, at):
        return False  # "we branch off main"
    if token.said.endswith("ed") and _is_attribute(row, at):
        return False  # "we keep abandoned carts"
    if token.key == "idl" or token.key == "idle":
        return at > 0 and row[at - 1].key in BE and not (at + 1 < len(row) and row[at + 1].key == "for")
    is_noun = at == 0 or row[at - 1].key in ARTICLES
    return not (is_noun and token.said.lower() in _ALSO_NOUNS)
