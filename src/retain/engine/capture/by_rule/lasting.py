"""Whether a sentence holds beyond the moment: not a question, a guess, hearsay, a joke, or an order for this once."""

import re

from retain.engine.capture.by_rule.statement import opened
from retain.engine.capture.by_rule.typed import Sentence
from retain.engine.capture.by_rule.voice import is_content

_ASKS = re.compile(
    r"(?:what|whats|why|how|when|where|who|which|should|shall"
    r"|(?:do|have|had)(?= (?:i|you|u|we|they|the|it|any|people)\b)|does|did|is|are|am|was|were|has|can|could|would"
    r"|will|isn'?t|aren'?t|doesn'?t|didn'?t|won'?t|any)\b",
    re.I,
)
_REQUESTED = re.compile(r"(?:can|could|will|would) (?:you|u|we)\b", re.I)
_TAG = re.compile(
    r",\s*(?:right|correct|isn'?t it|aren'?t they|or not|eh|huh|no|oder|yeah|yes|why|warum|wieso|pourquoi)[\s.!]*$",
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
    r"^(?:according to|(?:as )?per (?:the|our|my) |apparently|supposedly|allegedly|they|he|she|people|everyone"
    r"|everybody|somebody|someone|some"
    r"|nobody (?!may|must|is)|most)\b|^(?!(?:always|never|use|don'?t|do)\b)(?:the |my |our |his |her "
    r"|a )?[\w.@'-]+(?: [\w.'-]+)? (?:says?|said|thinks?"
    r"|thought|wrote|writes|told|wants?|wanted|suggests?|suggested|recommends?|recommended|claims?|claimed|insists?"
    r"|prints?|asked|asks|proposed|proposes|believes?|complains?|complained|demands?|advises?|advised|goes like"
    r"|was like"
    r"|were like|(?:requires?|mandates?) that|swears?|reports?|reported|mentions?|mentioned|argues?)\b"
    r"|, (?:the )?\w+ (?:says?|said|claims?|told me|wants it)\W*$|\b(?:in my old|at my (?:old|last|previous)|back then"
    r"|used to|years ago|last (?:week|month|year) we)\b",
    re.I,
)
_ELSEWHERE = re.compile(
    r"\b(?:(?:in|at|from) (?:my|our|an?) (?:old|last|previous|former|first|other) (?:job|company|team|employer|project"
    r"|place|gig|startup|workplace)|back (?:then|when)|years ago|when i (?:was|worked|started) (?:at|for|with|in))\b"
    r"|^(?:back |over )?at [\w-]+,? we\b",
    re.I,
)
_OWN_VOICE = re.compile(r"^(?:i|we|i've|we've|as i|like i) ", re.I)
_FOR_THE_MOMENT = re.compile(
    r"\b(?:for now|for the moment|for the time being|for today|just (?:this )?once|(?:just |only )?this time"
    r"|only this (?:once|time)|for once|temporar(?:y|ily)|one[- ]off|right now|at the moment|currently"
    r"|this (?:commit|pr|session|task|change|refactor)|(?:in|for|on) this (?:one|commit|pr|file|branch|session|case"
    r"|test|task|function|method|class|line|change|step|once)|until (?:we|i|then|tomorrow|monday|it)"
    r"|(?<!starting )(?<!as of )(?<!from )today|tonight|rn"
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
    whole = opened(sentence.whole)
    return not (is_content(whole) or _TO_DO.search(whole)) and _holds(whole) and _holds(opened(sentence.text))


# "The parser lives in src/, open it": said for the sake of what is to be done now.
_TO_DO = re.compile(
    r"(?:,|\band\b|\bso\b)\s+(?:so |then |please |pls |just )*(?:(?:can|could) (?:you|u) )?(?!keep\b|remember\b"
    r"|note\b|never\b|always\b"
    r"|don'?t\b|do\b)[a-z]{2,12} (?:it|them)(?: (?:up|out|in|off|there|here|then|now|too|again|please|pls))*[\s.!]*$",
    re.I,
)


def is_own(sentence: Sentence) -> bool:
    """Whether the user speaks for themselves: tells no words of others, writes none for a page or a mail, and does not
    ask. "Could you use tabs?" is no question."""
    whole = opened(sentence.whole)
    if is_content(whole) or (is_question(whole) and not _REQUESTED.match(whole)):
        return False
    return _HEARSAY.search(whole) is None or _OWN_VOICE.match(whole) is not None


def _holds(text: str) -> bool:
    if "\x00" in text or any(pattern.search(text) for pattern in (_JOKES, _NEGATED, _ELSEWHERE)):
        return False
    if _FOR_THE_MOMENT.search(text) or is_question(text):
        return False
    return not (_GUESSES.search(text) or (_HEARSAY.search(text) and not _OWN_VOICE.match(text)))


def is_question(text: str) -> bool:
    """Also without its mark, as people type; "can you always…?" is a wish all the same."""
    if _WISH_AS_QUESTION.match(text):
        return False
    return text.rstrip().endswith(("?", "？")) or _ASKS.match(text) is not None or _TAG.search(text) is not None
