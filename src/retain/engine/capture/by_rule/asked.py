"""What somebody asks to be remembered, in so many words: kept whatever a judge makes of it, and where there is none."""

import re

_ASKED = re.compile(
    r"^\W*(?:(?:ok|okay|and|also|please|pls|hey|so|btw|but)\b[\s,]*)*(?:"
    r"(?:please |pls |always )?remember(?: (?:that|this)\s?:?|\s?[:,])|(?:keep|bear) in mind(?: that|\s?:)"
    r"|(?:don'?t|never) forget(?: that|\s?:)|note to self\s?:|for the record\s?:|memori[sz]e(?: that| this)?\s?:"
    r"|(?:bitte )?merk(?:e)? dir\s?[,:]?(?: dass)?|denk(?:e)? (?:daran|dran)\s?[,:](?: dass)?"
    r"|vergiss nicht\s?[,:](?: dass)?"
    r"|(?:onthoud|vergeet niet)\s?[,:]?\s*(?:dat\b)?|(?:ricorda(?:ti)?|tieni presente)\s+che|ricorda(?:ti)?\s?:"
    r"|lembr[ae](?:-te|-se)?(?: de)?\s+que|lembr[ae](?:-se)?\s?:|(?:recuerda|acu[ée]rdate de|ten en cuenta)\s+que"
    r"|recuerda\s?:|(?:souviens-toi|rappelle-toi|n'oublie pas|retiens)\s+qu(?:e\s|')|(?:souviens-toi|retiens)\s?:"
    r"|(?:zapamiętaj|pamiętaj)\s?[,:]?(?: że)?|(?:запомни|учти)\s?[,:]?(?: что)?|(?:unutma|aklında tut)\s?[,:]"
    r")\s*(?P<what>\S.+)"
    r"|^\W*(?:请)?(?:记住|牢记|記住|覚えておいて(?:ください)?|기억해(?:\s?줘)?)[\s:：,，、]*(?P<cjk>\S.+)",
    re.IGNORECASE | re.DOTALL,
)
_AFTERWARDS = re.compile(
    r"(?P<what>.{12,}?)[\s,.;:–—-]+(?:please |pls )?(?:remember (?:that|this)|keep (?:that|this) in mind"
    r"|merk dir das|覚えておいて(?:ください)?|记住)[\s.!。]*$",
    re.IGNORECASE | re.DOTALL,
)
# "Remember to push" is something to do, and "remember when …" a tale.
_NO_STATEMENT = re.compile(r"(?:to|when|how|what|who|where|why|if|last|me|us|him|her|them)\b", re.IGNORECASE)


def asked_to_keep(sentence: str) -> str | None:
    """What is to be remembered, without the words that ask for it; None where nobody asks."""
    match = _ASKED.match(sentence) or _AFTERWARDS.match(sentence)
    if match is None or sentence.rstrip().endswith(("?", "？")):
        return None
    what = next(value for value in match.groups() if value).strip()
    return None if _NO_STATEMENT.match(what) else what
