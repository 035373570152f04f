"""Short labels before what is meant: "small thing: …", "final word: …", "architecture rule for this service: …"."""

import re

_KIND = (
    r"(?:the|our|my|a|an|one|another|just|last|final|first|new|quick|small|little|tiny|short|minor|big|side|simple"
    r"|general|good|bad|great|important|house|team|project|repo|architecture|architectural|design|coding|code|style"
    r"|naming|testing|test|git|security|deployment|release|review|process|golden|hard|basic|more|other|technical)"
)
_REACH = r"(?: (?:for|in|of|about|on) (?:this|our|the|all|every|any|my)(?: [\w-]+){0,2}| (?:for you|here|of ours))?"
_END = r"\s?(?::|[–—]|\s-\s)\s*"
# They only turn to somebody; what follows says itself whether it lasts.
_PASSING = re.compile(
    rf"(?:(?!note\b)(?:{_KIND} )*(?:things?|note|news|update|point|remark|detail|question aside|request|wish|ask"
    rf"|context"
    rf"|background|info|preference|reminder|note to self){_REACH}|(?:this|that|one) is (?:really |very )?important"
    rf"|p\.?s\.?|n\.?b\.?){_END}"
    r"|(?:good|bad|great|sad) news,\s+|(?:one (?:more|last|other)|another|small|quick|last) (?:thing|note),\s+",
    re.I,
)
_RULE = re.compile(
    rf"(?:let'?s agree on (?:one thing|this|the following)|(?:{_KIND} )*(?:rule|convention|policy|guideline"
    rf"|principle)(?:{_REACH}| (?:for|on"
    rf"|about) (?P<topic>[\w-]+(?: [\w-]+)?)))"
    rf"(?: is)?{_END}(?!\s*(?:read|look|check|fix|see|show|explain|find|open|update|change)\b)",
    re.I,
)
_SETTLED = re.compile(
    rf"(?:(?:{_KIND} )*(?:word|verdict|decision|choice){_REACH}|change of (?:plans?|mind|heart)"
    r"|(?:we|i)(?:'ve| have)?(?: all)? changed (?:our|my) minds?(?: (?:on|about) (?:the )?[\w -]{2,40}?)?"
    rf"|(?:it'?s |that'?s )?(?:settled|decided|final)|(?:decided|agreed) (?:in|at|on|with) [\w' ]{{2,30}}?)(?:{_END}"
    rf"|,\s+(?=we\b|use\b|let'?s\b))",
    re.I,
)
_REMINDS = re.compile(
    rf"(?:{_KIND} )*(?:reminder|note to self|things? to (?:remember|know|note|keep in mind)){_REACH}{_END}", re.I
)


def without_label(text: str) -> str:
    """What a passing label leads to; a label that says that something lasts stays."""
    return _PASSING.sub("", text, count=1) if _PASSING.match(text) and not _REMINDS.match(text) else text


def ruled(text: str) -> str | None:
    """What follows a label that makes it a rule, with what the label says it is about."""
    match = _RULE.match(text)
    if match is None:
        return None
    return f"For {match['topic']}: {text[match.end() :]}" if match["topic"] else text[match.end() :]


def settled(text: str) -> str | None:
    """What follows a label that makes it a decision."""
    return _after(_SETTLED, text)


def reminded(text: str) -> str | None:
    return _after(_REMINDS, text)


def _after(label: re.Pattern[str], text: str) -> str | None:
    match = label.match(text)
    return text[match.end() :] if match else None
