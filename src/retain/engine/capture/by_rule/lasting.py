"""Whether a sentence holds beyond the moment: not a question, a guess, hearsay, a joke, or an order for this once."""

import re

from retain.engine.capture.by_rule.statement import opened
from retain.engine.capture.by_rule.typed import Sentence

_ASKS = re.compile(
    r"(?:what|whats|why|how|when|where|who|which|should|shall"
    r"|(?:do|have|had)(?= (?:i|you|u|we|they|the|it|any|people)\b)|does|did|is|are|am|was|were|has|can|could|would"
    r"|will|isn'?t|aren'?t|doesn'?t|didn'?t|won'?t|any)\b",
    re.I,
)
_WISH_AS_QUESTION = re.compile(
    r"(?:can|could|will|would) (?:you|u) (?:please |pls )?(?:always|never|stop \w+ing|remember that)\b", re.I
)
_GUESSES = re.compile(
    r"^(?:(?:if|maybe|perhaps|imagine|suppose|say|assuming|unless|once)\b|i (?:think|guess|wonder|suppose|believe"
    r"|doubt|assume|feel)\b|(?:we|you|one|i) (?:could|might|may(?! not)|can(?! only))\b(?!')|not sure)"
    r"|\b(?:maybe|perhaps|probably|possibly|not sure|might want|i guess|i wonder|what if)\b",
    re.I,
)
_HEARSAY = re.compile(
    r"^(?:according to|apparently|supposedly|allegedly|they|he|she|people|everyone|everybody|somebody|someone|some"
    r"|nobody (?!may|must|is)|most)\b|^(?:the |my |our |his |her |a )?[\w.@'-]+(?: [\w.'-]+)? (?:says?|said|thinks?"
    r"|thought|wrote|writes|told|wants?|wanted|suggests?|suggested|recommends?|recommended|claims?|claimed|insists?"
    r"|prints?|asked|asks|proposed|proposes|believes?)\b|\b(?:in my old|at my (?:old|last|previous)|back then"
    r"|used to|years ago|last (?:week|month|year) we)\b",
    re.I,
)
_OWN_VOICE = re.compile(r"^(?:i|we|i've|we've|as i|like i) ", re.I)
_FOR_THE_MOMENT = re.compile(
    r"\b(?:for now|for the moment|for the time being|for today|just (?:this )?once|(?:just |only )?this time"
    r"|only this (?:once|time)|for once|temporar(?:y|ily)|one[- ]off|right now|at the moment|currently"
    r"|this (?:commit|pr|session|task|change|refactor)|(?:in|for|on) this (?:one|commit|pr|file|branch|session|case"
    r"|test|task|function|method|class|line|change|step|once)|until (?:we|i|then|tomorrow|monday|it)|today only"
    r"|as a test|a sec(?:ond)?)\b",
    re.I,
)
_JOKES = re.compile(r"\b(?:lol|lmao|rofl|haha\w*|hehe|jk|just kidding|kidding)\b|(?:^|\s)/s\b|😂|🤣|😅|😜", re.I)
_NEGATED = re.compile(
    r"\b(?:don'?t|do not|doesn'?t|does not|didn'?t|needn'?t|not|isn'?t|aren'?t|won'?t|can'?t)\s+(?:need to |have to "
    r"|want to |really |necessarily )?(?:always|never)\b|\bnever ?mind\b|\bas always\b|\balmost (?:always|never)\b"
    r"|\bnever (?:ever )?again will i\b",
    re.I,
)


def is_lasting(sentence: Sentence) -> bool:
    return _holds(opened(sentence.whole)) and _holds(opened(sentence.text))


def _holds(text: str) -> bool:
    if "\x00" in text or _JOKES.search(text) or _NEGATED.search(text):
        return False
    if _FOR_THE_MOMENT.search(text) or is_question(text):
        return False
    return not (_GUESSES.search(text) or (_HEARSAY.search(text) and not _OWN_VOICE.match(text)))


def is_question(text: str) -> bool:
    """Also without its mark, as people type; "can you always…?" is a wish all the same."""
    if _WISH_AS_QUESTION.match(text):
        return False
    return text.rstrip().endswith(("?", "？")) or _ASKS.match(text) is not None
