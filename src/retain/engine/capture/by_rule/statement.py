"""Making a sentence of a chat a statement that stands on its own, in the words in which it was said.

Nothing is reworded: greetings and manners at either end go, and where a sentence points to something that it does not
name, what it points to is put before it, or there is no statement.
"""

import re

from retain.domain.sentences import sentences

SHORTEST, LONGEST = 8, 600
_QUESTION = 320  # characters of a question that an answer takes along
_POINTING_WORDS = 10  # what says more than that says what it is about, whatever "this one" is
_ANSWER_WORDS = 7  # an answer of more words says itself what it is about, unless it points

_OPENERS = re.compile(
    r"(?:ok(?:ay)?|k|great|good|nice|cool|perfect|thanks|thank you|thx|ty|hey|hi|hello|oh|ah|fwiw|for what it'?s worth"
    r"|argh|ugh|oops|whoops|yea|ye|aha|lovely|well|wait|hm+|right|exactly|and|but|so|also|plus|anyway|btw|by the way"
    r"|fyi|just fyi|for your information|one (?:more )?thing(?! to\b)|another thing|just so (?:that )?you know|listen"
    r"|look|seriously|honestly|(?:quick )?heads[- ]up|just to be clear|to be clear|fun fact|side note|small note"
    r"|quick note|scratch that|strike that|please|pls|plz|moin|hallo|übrigens|ach ja|also|por cierto|oye|au fait|sinon"
    r"|du coup|comunque|trouwens"
    r"|a propos|кстати|bu arada|对了|顺便说一下|ちなみに|참고로)(?![\w'])[\s,.:!–—-]*",
    re.I,
)
_MANNERS = re.compile(
    r"[\s,]*(?:\b(?:please|pls|plz|thanks|thank you|thx|ok|okay|right|got it|btw|fyi)\b[\s!.]*|[!.\s]+)$", re.I
)
_ORNAMENT = re.compile(r"^[^\w`/.@\[(<\"'#$~*-]+")
_MARK = re.compile(r"\[redacted:[^\]\s]{1,40}\]")
_VERB = (
    r"is|was|are|were|will|would|has|had|have|can|could|must|should|may|means|makes|needs|goes|one|ones|way|also|still"
    r"|only|never|always|does|doesn't|did|didn't|not|and|or"
)
# "That test compares floats" names what it is about, "that is compared" does not.
_POINTS = re.compile(
    rf"(?!this is an? |it(?:'s| is) (?:official|final|decided|settled|important))(?:(?:it|its|it's|thats|such|same|both"
    rf"|neither|either|ones?(?= (?:is|was|has|of)\b)|otherwise|because|which|so that"
    rf"|instead|there(?! (?:is|are|was|were)\b)"
    rf"|the (?:first|second|third|last|other|former|latter)(?= (?:one|is|was)\b|$)"
    rf"|(?:they|he|she|them|mine)(?=(?:\s\S+){{0,6}}$))\b"
    rf"|(?:this|that|these|those)(?:'s|s)?(?:\s(?:{_VERB}|[a-z]+[^s\W]s)\b|[,.;:!?]|$))",
    re.I,
)
_POINTS_INSIDE = re.compile(
    r"\b(?:the (?:first|second|third|last|other|former|latter) (?:one|variant|option|approach|version|suggestion)"
    r"|this one|that one|your (?:draft|suggestion|proposal))\b|\b(?:see|as) (?:above|below)\b",
    re.I,
)
_ANSWERS = re.compile(
    r"^(?:yes|yeah|yep|yup|no|nope|nah|correct|right|exactly|neither|both|either|sure|true|option|[a-d1-9][.)]?(?=$|[\s,]))"
    r"|^(?:ja|nein|doch|genau|sí|si|oui|non|sim|não|nao|sì|nee|tak|nie|да|нет|evet|hayır|はい|いいえ|네|예|아니|对|是|不)(?!\w)",
    re.I,
)
_REPLY = re.compile(r"(?:yes|yeah|yep|no|nope|correct|right|exactly|ja|nein|oui|non)(?:\s*[,.;:!–—]|\s+-)\s+", re.I)
_TELLING = 8  # words; "no, it is fine that way" is about the question
_WORDY = re.compile(r"[^\W\d_]{2,}")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def stated(text: str) -> str:
    """The text without what one turns to somebody with. Empty when it is too short or too long, or mostly what was
    taken out of it."""
    text = _opened(" ".join(text.split()))
    text = _MANNERS.sub("", text).strip(" ,;:-–—(")
    words = _WORDY.findall(_MARK.sub(" ", text))
    is_fit = len(text) + 3 * len(_CJK.findall(text)) >= SHORTEST and len(text) <= LONGEST
    if not is_fit or not words or len(words) < 5 * len(_MARK.findall(text)):
        return ""
    return _capital(text) + ("" if text[-1] in ".!?。！？" else "。" if _CJK.search(text[-1]) else ".")


def points(text: str) -> bool:
    """Whether a text points to something that it does not name."""
    few = len(text.split()) <= _POINTING_WORDS
    return _POINTS.match(_opened(text)) is not None or (few and _POINTS_INSIDE.search(text) is not None)


def is_answer(text: str) -> bool:
    """Whether a text says nothing without the question that it answers."""
    plain = _opened(text)
    return is_reply(text) or (len(plain.split()) <= _ANSWER_WORDS and len(_CJK.findall(plain)) <= 2 * _ANSWER_WORDS)


def is_reply(text: str) -> bool:
    """Whether a text begins by saying yes or no to somebody."""
    return _ANSWERS.match(_opened(text)) is not None


def behind_reply(text: str) -> str:
    """What somebody goes on to say after their yes or no: "yes, the cause is …"; empty where that is little."""
    opened = _opened(text)
    match = _REPLY.match(opened)
    rest = opened[match.end() :] if match else ""
    return _capital(rest) if len(rest.split()) >= _TELLING and not points(rest) else ""


def question_of(turn: str) -> str:
    """What a turn asks, with the sentence before it where the question alone does not say what about; else empty."""
    cuts = sentences(turn)
    said = [" ".join(turn[start:end].split()) for start, end in cuts]
    asked = next((place for place in reversed(range(len(said))) if said[place].endswith(("?", "？"))), None)
    if asked is None:
        return ""
    question = said[asked]
    for earlier in reversed(said[:asked]):
        if len(earlier) + len(question) + 1 > _QUESTION or not (
            _is_bare(question) or earlier.endswith((":", "?", "？"))
        ):
            break
        question = f"{earlier} {question}"
    return question if len(question) <= _QUESTION else ""


def _is_bare(question: str) -> bool:
    """Whether a question alone does not say what it is about: "Which of them?", "Shall we go with that?"."""
    return (
        len(question.split()) < 6
        or re.search(r"\b(?:which|that|this|it|these|those|one|either)\b", question, re.I) is not None
    )


def _opened(text: str) -> str:
    text = _ORNAMENT.sub("", text)
    for _ in range(6):
        shorter = _OPENERS.sub("", text, count=1) if _OPENERS.match(text) else text
        if shorter == text or not shorter:
            break
        text = shorter
    return text.strip()


def _capital(text: str) -> str:
    first = text.split(" ", 1)[0]
    # An identifier keeps its case: `minSdk`, `flags.yaml`, `npm`-like names in a path.
    is_name = not first.rstrip(",:").replace("'", "").isalpha() or not first.islower()
    return text if is_name else text[0].upper() + text[1:]
