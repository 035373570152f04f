"""What stands before a statement and says nothing of it: "FYI:", "Just so you know,", "Please note that"."""

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OPENING = _words(
    """fyi note self just checked reminder remember record as discussed mentioned said agreed decided confirmed heads
    headsup update updated news psa quick small little correction corrected tldr btw way so you know now today
    decision announcement important attention warning careful nb ps edit info information ok okay ah oh well actually
    fact apparently turns out it looks like seems team all everyone everybody folks guys hi hey hello please be aware
    mind keep in that this we i per meeting standup yesterday yesterday's aside friendly sidenote side for to the a
    from on of and by up one more thing context let me worth noting learned found remark hint tip summary recap
    short memo verified double-checked rechecked reconfirmed looked again clarification hear heard follow-up followup
    slack chat sync retro planning retrospective"""
)
# One of them must be there: "In all," and "By now," are no openings, and "Standup:" is a topic.
_TELLING = _words(
    """fyi note reminder remember record discussed mentioned said agreed decided confirmed headsup heads update updated
    news psa correction corrected tldr btw know decision announcement important attention warning careful nb ps edit
    info information actually fact apparently turns looks seems hi hey hello aware mind recap summary learned checked
    aside sidenote noting remark hint tip memo verified double-checked rechecked reconfirmed clarification heard
    follow-up followup ok okay context way per"""
)
_HEAD = re.compile(r"(?P<words>[A-Za-z;'/ -]{2,48}?)\s*(?P<end>:|,|\s[–—-]|[–—]|\.\.\.|…|!)\s+(?=\S)")
_THAT = re.compile(
    r"(?:please |just )?(?:(?:do )?(?:note|remember|be aware|keep in mind|bear in mind|know)|(?:it )?turns out|fyi|btw"
    r"|(?:it )?(?:looks|seems) like|(?:we|i|the team|they) (?:just |have )?(?:agreed|decided|learned|confirmed|found"
    r" out)"
    r"|i (?:just )?(?:checked|noticed)(?: and)?|as far as i know|afaik)(?: that| to)?\s+(?=\S+\s)",
    re.IGNORECASE,
)
_TO = re.compile(r"(?:decided|agreed) to\s+$", re.IGNORECASE)
_MOST = 3  # "Hi all, quick update: heads-up —"


def without_opening(sentence: str) -> str:
    for _ in range(_MOST):
        shorter = _shorter(sentence)
        if shorter == sentence:
            break
        sentence = shorter
    return sentence


def _shorter(sentence: str) -> str:
    head = _HEAD.match(sentence)
    if head and _is_opening(head["words"], is_told=head["end"] == ":"):
        return sentence[head.end() :]
    that = _THAT.match(sentence)
    if that is None:
        return sentence
    return ("We " if _TO.search(that.group()) else "") + sentence[that.end() :]


def _is_opening(said: str, *, is_told: bool) -> bool:
    words = said.lower().replace("tl;dr", "tldr").replace("heads-up", "headsup").replace("/", " ").split()
    if not words or len(words) > (6 if is_told else 5) or not all(word in _OPENING for word in words):
        return False
    return any(word in _TELLING for word in words)
