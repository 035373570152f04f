"""What a rule found in a sentence, how far it reaches and what kind of thing it is."""

import re
from dataclasses import dataclass

from retain.domain.conversation import Extracted, Speaker
from retain.domain.memory import Scope

_EVERYWHERE = re.compile(
    r"\b(?:in|for|across) (?:all|every|each|any) (?:of )?(?:my |our )?(?:projects?|repos?|repositories|codebases?)\b"
    r"|\beverywhere\b|\b(?:no matter|regardless of) (?:which|what|the) project\b|\bi always want\b|\bin general i\b"
    r"|\bwherever i work\b",
    re.I,
)
_HERE = re.compile(
    r"\b(?:in|for) (?:this|the|our) (?:project|repo|repository|codebase|app|service|package)\b|\bhere\b", re.I
)
# How the assistant talks to somebody is theirs, whatever they work on.
_MANNER_OF_TALK = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies)|explanations?|essays?|emojis?|call me|my name|i'm on"
    r"|i am on"
    r"|talk to me|write to me)\b",
    re.I,
)
_PERSONAL = re.compile(r"^(?:i|i'd|i'm|my)\b", re.I)
_LEAD_EVERYWHERE = re.compile(
    r"^(?:(?:in|for|across) (?:all|every|each|any) (?:of )?(?:(?:my |our )(?:projects?|repos?|repositories)\s*[,:–-]?"
    r"|(?:projects?|repos?|repositories)\s*[,:–-])|everywhere\s*[,:–-])\s*",
    re.I,
)
_GIVEN_UP = re.compile(
    r"\b(?:instead of|rather than|over|replacing|not"
    r"|no longer(?: use)?) (?!(?:to|be|only|yet)\b)(?P<old>[\w@/.+#` -]{2,60}?)(?=\s+(?:because|since|as|so|for|due"
    r"|in|on|—"
    r"|-)\b|[,;:()]|\.(?:\s|$)|$)",
    re.I,
)
_INSTEAD_OF = re.compile(r"\b(?:instead of|rather than)\b", re.I)
_LAST_EVERYWHERE = re.compile(
    r",? (?:(?:in|for|across) (?:all|every|each|any|all of) (?:(?:my|our) (?:projects?|repos?|repositories)"
    r"|(?:project|repo)(?: of mine)?)|wherever i work)[.!]*$",
    re.I,
)
_HURTS = re.compile(
    r"\b(?:break|breaks|broke|fails?|crash(?:es)?|careful|beware|otherwise|read-only|corrupts?|deadlocks?|leaks?"
    r"|silently|times? out|cuts?|overflows?|slow|flaky|doesn'?t work|won'?t work|does not work|can'?t|cannot"
    r"|must not|only works?|loses?)\b",
    re.I,
)
_RULE = re.compile(
    r"^(?:always|never|do not|don'?t|avoid|use|we (?:always|never|use|don'?t|do not|write|name|put|keep))\b", re.I
)
_CHOICE = re.compile(r"\b(?:decided|agreed|chose|switched|migrated|instead of|go(?:ing)? with)\b", re.I)


@dataclass(frozen=True, slots=True)
class Found:
    """What a sentence says, in words that still want to be made a statement."""

    text: str
    category: str
    scope: Scope = Scope.PROJECT
    replaces: str | None = None
    speaker: Speaker = Speaker.USER


@dataclass(frozen=True, slots=True)
class Placed:
    """Something extracted, and the number of the turn that completed it."""

    at: int
    item: Extracted


def scope_of(text: str) -> Scope:
    """The project's, unless they say everywhere or speak of how they want to be spoken to."""
    if _EVERYWHERE.search(text):
        return Scope.USER
    is_taste = _MANNER_OF_TALK.search(text) and _PERSONAL.match(text)
    return Scope.USER if is_taste and not _HERE.search(text) else Scope.PROJECT


def without_reach(text: str) -> str:
    """The text without "in all my projects:" in front; its scope says that."""
    return _LEAD_EVERYWHERE.sub("", text)


def given_up(text: str) -> str | None:
    """What a text says to be replaced: "use x instead of y", "x, not y"."""
    match = _GIVEN_UP.search(text)
    return match["old"].strip() if match else None


def instead_of(text: str) -> str | None:
    """What is replaced in so many words, where "not" may mean something else."""
    return given_up(text) if _INSTEAD_OF.search(text) else None


def ends_everywhere(text: str) -> bool:
    return _LAST_EVERYWHERE.search(text) is not None


def category_of(text: str) -> str:
    """What kind of thing a statement is that somebody wants remembered."""
    for category, words in (("decision", _CHOICE), ("pattern", _RULE), ("gotcha", _HURTS)):
        if words.search(text):
            return category
    return "preference" if _PERSONAL.match(text) or _MANNER_OF_TALK.search(text) else "architecture"
