"""Whether a statement of a language model says what was said, in whatever words: what gives an invention away.

Four signs, each with a reason that a person can check: a name, number or identifier that nobody said in any form; a
name that was only said to be refused; a clause to which nothing comes near; and, for the whole, too few words and too
little meaning in common. They are doubts, which decide where no language model can be asked again. How a statement is
put together of what was said (who, of which, before or after, decided or refused) is not seen here (docs/decisions.md
has the measurements).
"""

import re

from retain.engine.capture.specifics import Heard, own_words, share_said, specifics, unsaid, words_unsaid

ENOUGH = 0.6  # of the telling words: said, whatever the meaning
LEAST = 0.3  # below this, not even by meaning: two texts about the same trade come near each other
NEAR = 0.45  # cosine; what is true came to 0.46 and more, what is about something else to 0.39 at most
FAR = 0.3  # cosine below which a clause without a word in common is made up
ALONE = 0.4  # of the telling words, where no model can be asked for the meaning
_SHOWN = 3
_CLAUSE = re.compile(
    r"[,;:]\s+|\.\s+|\s+(?:because|since|so that|so|while|although|after|before|when|as|and|but|which|to avoid|due to"
    r"|in order to|with|by|until|for)\s+"
)
# A statement that denies, limits or replaces something is not looked at for what was refused.
_DENIES = re.compile(
    r"\b(?:not|no|never|none|nor|neither|nothing|nobody|without|cannot|instead|rather|except|excluding|unlike|only|but"
    r"|longer|lack\w*|\w+n['’]t|avoid\w*|reject\w*|refus\w*|exclud\w*|drop\w*|remov\w*|replac\w*|forb\w*|ban(?:s|ned)?"
    r"|unsupported|against|stop\w*|disabl\w*|unless|abandon\w*|dislik\w*|hates?|out|off|switch\w*|mov\w*|from)\b",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"(?:\b(?:not|no|never|without|instead of|rather than|do(?:n['’]?t| not) (?:use|want|need|like)|stop using|hate)"
    r"|w/o)\s+(?:(?:the|a|an|any|more|in|on|with|via|to|use|using|for|as|at)\s+){0,2}$"
)
_BEFORE = 60  # characters before a name in which it is refused


def invention(statement: str, heard: Heard) -> str | None:
    """Why a statement cannot rest on what was heard; None when nothing speaks against it."""
    if missing := unsaid(statement, heard):
        return f"nobody said {', '.join(missing[:_SHOWN])}"
    if refused := _refused(statement, heard):
        return f"{refused} was refused"
    if not is_about(statement, heard):
        return "it is not what was spoken of"
    made_up = _made_up(statement, heard)
    return f"nothing like “{made_up}” was said" if made_up else None


def is_about(statement: str, heard: Heard) -> bool:
    """Whether enough of a statement was said, by its words, or by some of them and its meaning."""
    share = share_said(statement, heard)
    if share >= ENOUGH or share < LEAST:
        return share >= ENOUGH
    near = heard.nearness(statement)
    return share >= ALONE if near is None else near >= NEAR


def _refused(statement: str, heard: Heard) -> str | None:
    """A name that was said, but each time to say that it is not wanted: "use csv-parse, not papaparse"."""
    if _DENIES.search(statement):
        return None
    for name in specifics(statement):
        places = [found.start() for found in re.finditer(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", heard.line)]
        if places and all(_REFUSED.search(heard.line, max(0, place - _BEFORE), place) for place in places):
            return name
    return None


def _made_up(statement: str, heard: Heard) -> str | None:
    """A clause of which nobody said a word, nor anything near it."""
    for clause in _CLAUSE.split(statement):
        if len(telling := own_words(clause)) < 2 or len(words_unsaid(clause, heard)) < len(telling):
            continue
        near = heard.nearness(clause)
        if near is not None and near < FAR:
            return clause.strip(" .")
    return None
