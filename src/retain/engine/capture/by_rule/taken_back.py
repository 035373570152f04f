"""What a conversation says in the end: of statements that are the same, or that correct one another, the last."""

import re
from collections.abc import Iterable
from dataclasses import replace

from retain.domain.claims import jaccard
from retain.domain.conversation import Extracted, Speaker
from retain.engine.capture.by_rule.found import Placed

SAME = 0.6  # Jaccard above which two statements are one, as for captured memories in the store
TAKEN_BACK = 0.4  # likeness at which a correction speaks of an earlier statement
_LOOKED_BACK = 100  # statements; beyond that nobody remembers having said otherwise
_SHORT = 4  # words; what is replaced is then named, not told, and looked for as it is
_INSTEAD = re.compile(r"Use (?P<new>[^,]+) instead of (?P<old>[^,]+?)(?P<why>,.*)?\.$")


def last_said(found: Iterable[Placed]) -> list[Placed]:
    """In the order in which they were said; a second thought is spelled out in the words of the first."""
    kept: list[Placed] = []
    for new in sorted(found, key=lambda placed: placed.at):
        gone = [old for old in kept[-_LOOKED_BACK:] if _overrules(new.item, old.item)]
        kept = [old for old in kept if old not in gone]
        kept.append(replace(new, item=_spelled_out(new.item, [old.item for old in gone])))
    return kept


def _overrules(new: Extracted, old: Extracted) -> bool:
    # What the user says takes back what the assistant proposed, and never the other way round.
    if new.speaker is not old.speaker and (new.speaker, old.speaker) != (Speaker.USER, Speaker.ASSISTANT):
        return False
    if new.text == old.text or (new.category == old.category and jaccard(new.text, old.text) > SAME):
        return True
    return new.replaces is not None and (jaccard(new.replaces, old.text) > TAKEN_BACK or _names(old, new))


def _names(old: Extracted, new: Extracted) -> bool:
    """Whether a decision names what an earlier decision was for: "not postgres but…" after "we use postgres for…"."""
    named = new.replaces or ""
    if not (new.category == old.category == "decision" and len(named.split()) <= _SHORT):
        return False
    return re.search(rf"(?<!\w){re.escape(named)}(?!\w)", old.text, re.I) is not None


def _spelled_out(new: Extracted, gone: list[Extracted]) -> Extracted:
    """A second thought in the words of the first: "use postgres for the events", then "no, sqlite"."""
    match = _INSTEAD.match(new.text)
    if match is None or not gone:
        return new
    before = gone[-1].text.rstrip(".")
    after = re.sub(rf"(?<!\w){re.escape(match['old'])}(?!\w)", lambda _: match["new"], before, flags=re.I)
    if after == before or len(after) + len(match["why"] or "") > 390:
        return new
    return replace(new, text=f"{after}{match['why'] or ''}.", replaces=gone[-1].text)
