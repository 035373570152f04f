"""Whose words a prompt holds, and to whom they speak.

Each sentence of an advice, a mail or a page reads like a wish. What tells them apart stands beside them: a user who
asks whether something is true, wants it translated or says where they found it does not wish it.
"""

import re
from collections.abc import Sequence

_JUDGED = re.compile(
    r"\b(?:is|are|was|isn'?t|aren'?t) (?:this|that|it|these|those)\b[^.?!]{0,30}\b(?:good|bad|legit|true|false|right"
    r"|correct"
    r"|ok(?:ay)?|wrong|valid|sound|sane|sensible|reasonable|advice|accurate|bullshit|bs|nonsense|real|outdated|safe"
    r"|a thing|an? (?:good )?idea|common|normal|standard)\b"
    r"|\b(?:does|do|would|should) (?:this|that|these|those|it|any of (?:this|that|it))\b[^.?!]{0,20}\b(?:apply|hold"
    r"|make sense"
    r"|mean|matter|sound|follow)\b"
    r"|\bwhat (?:do|would) (?:you|u) (?:think|make of|say)\b|\bwhat (?:does|do|did|is) (?:this|that|it|they|he|she"
    r"|these)\b"
    r"[^.?!]{0,20}\b(?:mean|say|want|imply)\b|\b(?:your|ur) (?:take|opinion|thoughts|view)\b|\bthoughts\s?\?"
    r"|\bany thoughts\b"
    r"|\b(?:do|should) (?:i|we) care\b|\b(?:agreed?|true|legit|really|makes sense|right or wrong|yay or nay)\s?\?"
    r"|\bwho wrote\b|\bwhich of (?:this|these|those|them)\b|\bwhat'?s (?:wrong|right) with (?:this|that|these)\b"
    r"|\bstimmt das\b|\bwas (?:hältst|haltet) (?:du|ihr)\b|\best-ce (?:vrai|que c'est)\b|\bes (?:verdad|cierto)\b",
    re.I,
)
_REWORKED = re.compile(
    r"^\W*(?:(?:ok|now|please|pls|and|then|hey|hi|so|(?:can|could) (?:you|u))\b[\s,]*)*(?:translate|proof-?read"
    r"|rephrase|reword"
    r"|paraphrase|tl;?dr|polish|spell-?check|summari[sz]e (?!what|your|the (?:changes|diff|work|code))"
    r"|shorten (?:this|the text)"
    r"|sum (?:this|it|that|these|up)|explain (?:this (?:text|quote|rule|advice|paragraph)|the following)"
    r"|rewrite (?:this|the) (?:text|mail|sentence|paragraph)|quiz me|comment on"
    r"|(?:correct|fix|check) (?:my|the) (?:grammar|english|wording|spelling)|übersetze?)\b"
    r"|\b(?:translate|proof-?read|rephrase|reword|paraphrase|summari[sz]e|sum up|review) (?:this|that|it|these)\b"
    r"(?! (?:function|code|file|class|pr|branch|diff|module|patch))|\bsum (?:this|it|that) up\b|\bin your own words\b",
    re.I,
)
_SOURCE = re.compile(
    r"\b(?:reddit|stack ?overflow|hacker ?news|on hn|quora|linkedin|accepted answer|upvotes?|\d+ (?:votes|likes"
    r"|stars|points)"
    r"|(?:sent|forwarded|mailed|e-mailed|texted|told|slacked) (?:me|us) (?:this|that)|got (?:this|that) (?:from|in|via)"
    r"|(?:found|saw|read|came across|stumbled up?on) (?:this|that|these|it|somewhere|online|on)\b"
    r"|(?:copied|pasted|quoting|quote|taken|cited?) (?:this )?from|someone (?:on|in|at|from|wrote|said|posted|claims)"
    r"|(?:a|some|this) (?:blog|article|tweet|forum|newsletter|podcast|video|tutorial|influencer|guru|youtuber)\b"
    r"|best practices? (?:for|of|says?|from|list)|(?:chat)?gpt|gemini|copilot)\b"
    r"|^\W*(?:from|via|source|per|as per|according to|aus|laut)\b(?! (?:now|here|today|this|src|the (?:root|start"
    r"|top|repo))\b)"
    r"[^.,:]{1,40}:?\s*$",
    re.I,
)
_SPECIFIED = re.compile(
    r"(?:^|[.,:!?]\s|\b(?:please|pls|now|and|you|u) )(?:implement|solve|build|code|program|simulate) (?:this|that|these"
    r"|the following|the (?:rules|game|spec|requirements|exercise))\b"
    r"|\b(?:exercise|homework|assignment|exam|user story|acceptance(?: criteria)?|requirements?|task description"
    r"|rules of)\b[^.]{0,30}[:.]",
    re.I,
)
_MAKES_A_TEXT = re.compile(
    r"\W*(?:(?:ok|now|please|pls|and|then|hey|hi|so|also|(?:can|could) (?:you|u)|help me|i need"
    r"|we need)\b[\s,]*)*(?:convert"
    r"|turn|rewrite|write|draft|compose|generate|create|make|update|edit|prepare|continue|give me"
    r"|extend)\b[^.:?!]{0,40}?"
    r"\b(?:mails?|e-?mails?|letter|post|poster|slides?|tweet|faq|policy|announcement|newsletter|bullet points"
    r"|(?:system )?prompt"
    r"|(?:privacy|about|landing|imprint|terms) page|contributing(?:\.md)?|guidelines?|values|rules like"
    r"|system message|press"
    r"|release notes|paragraph|essay|story|joke|poem|quiz|speech|pitch|proposal|job ad|this list|instructions)\b",
    re.I,
)
_MARKED_OWN = re.compile(
    r"\W*(?:(?:and|also|but|ok)\s)*(?:btw|by the way|fyi|from now on|remember that|note to self)\b", re.I
)
_OWN_LEAD = re.compile(
    r"\b(?:remember|rules?|conventions?|guidelines?|keep in mind|bear in mind|fyi|btw|heads[- ]up|careful|important"
    r"|decision"
    r"|decided|correction|to ?do|next|in general|for the (?:future|record)|for (?:future|later) reference|note to self"
    r"|(?:quick|small|one|a|side) note|things?|preference)\b|^note$",
    re.I,
)
_THINGS_WITH_WORDS = (
    r"labels?|headlines?|headings?|titles?|texts?|toasts?|tooltips?|placeholders?|captions?|slogans?|strings?"
    r"|buttons?|banners?"
    r"|checkbox(?:es)?|links?|msg|(?:commit |error )?message|mails?|e-?mails?|subject|tweets?|posts?|comment|reply"
    r"|answer"
    r"|docstring|changelog|readme|prompt|line|sentence|description|slide|quote|wording|copy|popup|modal|dialog|page"
)
_LEADS_TO_WORDS = re.compile(
    rf"\b(?:{_THINGS_WITH_WORDS}|translat\w+|something|says?|said|reads?|prints?|printed|insists?|wrote|writes|like"
    rf"|sa(?:y|id)"
    r"|asks?|asked(?: for)?|complains?|claims?|ticket|issue|review(?:er)?|customer|client|vendor|boss|pm|call it"
    r"|named?|to)$"
    r"|^(?:my|his|her|their) (?:[\w'-]+ ?){1,3}$",
    re.I,
)
_WRITING = (
    r"add|write|put|say|mention|state|document|include|insert|append|print|reply|answer|respond|post|draft|describe"
    r"|display"
    r"|tell (?!me\b|us\b)(?:the |our |my )?\w+(?: \w+)?|instruct (?:the |our |my )?\w+|show|call|name|rename|change"
    r"|set|make it say"
)
_WRITES_WORDS = re.compile(
    rf"(?:(?:in|to|under|into|at|inside|below|above) (?:the )?\S+(?: \S+){{0,3}}?,? )?(?:{_WRITING})\b.{{0,80}}?"
    r"(?:\b(?:that|saying|along the lines of|something like)\b|\bto (?:always|never|prefer|only|not|be)\b|\x00"
    r"|'[^']{2,}')",
    re.I,
)
_SHOULD_SAY = re.compile(
    rf"\b(?:{_THINGS_WITH_WORDS})\b.{{0,30}}?\b(?:should|must|to|has to|needs to|can|will|gets?) (?:say|read|be|tell"
    rf"|show|a link)\b",
    re.I,
)

_ASIDE = re.compile(r"[.!?] (?=(?:and |also |but )*(?:btw|by the way|fyi)\b)", re.I)
_NEW_WORDS = re.compile(
    rf"\b(?:(?:change|set|update|replace|edit|make|rename|reword|add|write|put|insert|append)\b[^:.]{{0,80}}\b(?:{_THINGS_WITH_WORDS})\b[^:.]{{0,30}}"
    rf"|(?:{_THINGS_WITH_WORDS})\b[^:.]{{0,30}}\b(?:says?|reads?|be|shows?|tells?)): (?=.)",
    re.I,
)


def is_relayed(lines: Sequence[str]) -> bool:
    """Whether a prompt is about somebody's words: to be judged, translated or summed up, or from a place it names."""
    return any(pattern.search(line) for line in lines for pattern in (_JUDGED, _REWORKED, _SOURCE, _SPECIFIED))


def makes_a_text(lines: Sequence[str]) -> bool:
    """Whether a prompt wants a mail, a page or a policy written: what stands beside that is what it is to say."""
    return any(_MAKES_A_TEXT.match(line) for line in lines)


def is_marked_own(text: str) -> bool:
    """Whether words say themselves that they are for the agent, whatever they stand beside."""
    return _MARKED_OWN.match(text) is not None


def is_content(text: str) -> bool:
    """Whether a sentence holds words that are to be shown or written somewhere: a label, a mail, a prompt of theirs."""
    lead, colon, rest = text.partition(": ")
    if colon and rest and len(lead) <= 100 and _LEADS_TO_WORDS.search(lead) and not _OWN_LEAD.search(lead):
        return True
    return _WRITES_WORDS.match(text) is not None or _SHOULD_SAY.search(text) is not None


def without_new_words(line: str) -> str:
    """A line up to where it gives the words themselves: "change the tooltip to: …", whatever sentences follow."""
    match = _NEW_WORDS.search(line)
    if match is None:
        return line
    aside = _ASIDE.search(line, match.end())
    return f"{line[: match.end()]}\x00{line[aside.start() :] if aside else ''}"


def own_lines(lines: list[str]) -> list[str]:
    """Without the lines in another hand: polished prose above or below what is asked in small letters."""
    asks_plainly = any(
        line.lstrip()[:1].islower() and (line.rstrip().endswith("?") or len(lines) > 1) for line in lines
    )
    if not asks_plainly:
        return lines
    return [line for line in lines if not _POLISHED.match(line)]


_POLISHED = re.compile(r"\s*(?:[-*•]\s+|\d{1,2}[.)]\s+)?[A-ZÄÖÜ][a-zäöü']*\s.*[.!]\s*$")
