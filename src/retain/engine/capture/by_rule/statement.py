"""Turn the words of a chat into a statement that stands on its own."""

import re

from retain.engine.capture.by_rule.labels import without_label

SHORTEST, LONGEST = 10, 400

_OPENERS = re.compile(
    r"(?:ok(?:ay)?|k|yes|yeah|yep|yup|sure|great|good|nice|cool|perfect|thanks|thank you|thx|ty|hey|hi|hello|oh|ah"
    r"|fwiw|for what it'?s worth|argh|ugh|oops|whoops|ups|yea|ye|aha|lovely|better"
    r"|well|wait|hm+|right|exactly|and|but|so|also|then|plus|anyway|btw|by the way|fyi|just fyi|for your information"
    r"|again|one (?:more )?thing(?! to\b)|another thing|(?:as |like )?i (?:already )?(?:said"
    r"|told you)(?: before)?(?: to)?"
    r"|just so (?:that )?you know|listen|look|seriously|honestly|(?:quick )?heads[- ]up(?=[\s,:–—-]+(?:we|i)\b"
    r"|,? (?:the"
    r"|our)\b)|just to be clear|to be clear|fun fact|side note|small note|now(?= let'?s)"
    r"|that'?s not how we do (?:it|that|things)(?: here)?"
    r"|(?:no+|nope|nah|nein)(?=[\s,.!–—-]+(?:we(?:'ve| have)?(?: \w+)? (?:decided|agreed|settled)"
    r"|ab (?:jetzt|sofort)|von (?:jetzt|nun) an|from now on)\b)|please|pls|plz|quick (?:intro|note)|some background"
    r"|before (?:you start|we (?:start|go on))(?: some background)?)\b[\s,.:!–—-]*",
    re.I,
)
_MANNERS = re.compile(
    r"[\s,]*(?:\b(?:please|pls|plz|thanks|thank you|thx|ok|okay|right|got it)\b[\s!.]*|[!.\s]+)$", re.I
)
_ORNAMENT = re.compile(r"^[^\w`/.@\[(<\"'#$~*-]+")
_MARK = re.compile(r"\[redacted:[^\]\s]{1,40}\]")
_DANGLING = re.compile(
    r"^(?:it|this(?! (?:project|repo|repository|codebase|app|service|package|is an?)\b)|that|they|these|those|he|she"
    r"|them|there|here|so|such|one|mine|yours)\b(?!'s (?:always|never))|\b(?:the (?:first|second|third|last|other"
    r"|former|latter) (?:one|variant"
    r"|option|draft|approach|version|suggestion)|your (?:draft|suggestion|version)|this one|that one)\b"
    r"|\b(?:see|as|the) (?:above|below)\b|\b(?:for|from) those[.!]*$",
    re.I,
)
_DANGLING_LAST = re.compile(
    r"\b(?:do|doing|did|done|like|use|using|say|said|want|with|of|about|without|before|after|touch|run|keep|change)"
    r" (?:it|this|that|these|those|them|so)(?: again| here| anymore)?[.!]*$",
    re.I,
)
_POINTED_TO = re.compile(r"(?!(?:if|when|in that|in this)\b)(?:[^\s,]+ ){4,}[^\s,]+, ", re.I)
_NO = re.compile(r"^(?:(?:no+|nope|nah|yes|actually)\s*[,!]|(?:important|attention|careful|warning)\s?[:!])\s+", re.I)
_WORDY = re.compile(r"[^\W\d_]{2,}")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def opened(text: str) -> str:
    """The text without greetings, thanks and the small words with which one turns to somebody."""
    text = _ORNAMENT.sub("", text)
    for _ in range(6):
        shorter = without_label(_OPENERS.sub("", text, count=1) if _OPENERS.match(text) else text)
        if shorter == text:
            break
        text = shorter
    return text.strip()


def stated(text: str) -> str:
    """The text as one statement: no manners at its end, a capital in front, a full stop behind. Empty when it does
    not stand on its own, is too short or too long, or is mostly what was taken out of it."""
    text = _MANNERS.sub("", _NO.sub("", " ".join(text.split())).strip(" ,;:-–—?？")).strip(" ,;:-–—(")
    is_fit = len(text) + 3 * len(_CJK.findall(text)) >= SHORTEST - 1 and len(text) < LONGEST
    if not is_fit or _dangles(text):
        return ""
    words = _WORDY.findall(_MARK.sub(" ", text))
    if len(words) < (1 if _CJK.search(text) else 2) or len(words) < 5 * len(_MARK.findall(text)):
        return ""
    return _capital(text) + ("" if text[-1] in ".!。！" else "。" if _CJK.search(text[-1]) else ".")


def _dangles(text: str) -> bool:
    """Whether it points to something that it does not name; after a clause of some length "it" is in that clause."""
    return _DANGLING.search(text) is not None or (
        _DANGLING_LAST.search(text) is not None and _POINTED_TO.match(text) is None
    )


def _capital(text: str) -> str:
    first = text.split(" ", 1)[0]
    # An identifier keeps its case: `minSdk`, `flags.yaml`, `npm`-like names in a path.
    is_name = not first.rstrip(",:").replace("'", "").isalpha() or not first.islower()
    return text if is_name else text[0].upper() + text[1:]
