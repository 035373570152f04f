"""What a statement says has been left behind: "switched from A to B", "A was dropped", "B instead of A"."""

import re
from typing import NamedTuple

_END = (
    r"(?=\s*(?:[,;:()]|\.(?:\s|$)|$)|\s+(?:to|for|in|with|by|as|on|and|since|at|now|any|anymore|from|when|but"
    r"|because|last"
    r"|over|here|is|are|was|were|has|have|completely|entirely|altogether|per|this|into|onto|there|everywhere)\b)"
)
_X = r"(?:the |our |a |an |any |all )?(?P<x>(?:[^\s,;:()]+\s){0,3}?[^\s,;:()]+?)" + _END
_BE = r"(?:has|have|had|was|were|is|are|got|gets|'s)\s+(?:been\s+|being\s+)?(?:(?:now|completely|finally|all)\s+)?"
# "Has replaced" is no passive: only with "by" or "with" behind it is something replaced.
_GONE = (
    r"(?:dropped|removed|deleted|retired|abandoned|phased out|ripped out|thrown out|taken out|kicked out|gone|shut down"
    r"|discontinued|decommissioned|out|dead|ditched|sunset|swapped out|scrapped|obsolete|history)"
)
# "Branches are deleted after merging" is what happens all the time.
_FOR_GOOD = (
    r"\b(?!\s+(?:after|when|if|once|by|every|each|from|automatically|daily|nightly|immediately|before|upon|on)\b)"
)
_DROPPED = rf"(?:{_GONE}|swapped|replaced|superseded|supplanted|substituted|succeeded)"
_DROPPED_HINTS = (
    "drop|remov|delet|retir|aband|phased|out|gone|shut|disc|deco|dead|ditc|suns|swap|repl|supers|scrap|suppl|succeeded"
    "|obsolete|history|subst"
)
_DROP = (
    r"(?:dropped|removed|ripped out|ditched|abandoned|got rid of|retired|threw out|phased out|stopped using|gave up"
    r"|scrapped|have left|has left|(?<=we )left"
    r"|tore out|took out|kicked out|deleted)"
)
_CHANGE = (
    r"\b(?:(?:was|were|has|have|had|is|are|been|got)\s+)*"
    r"(?:switch|mov|migrat|chang|convert|upgrad|downgrad|bump|went|port|transition|pass|shift|renam|rais|lower|increas"
    r"|reduc|push|postpon|relocat|handed|cut|extend|shorten)\w*(?:\s+(?:over|back|up|down|forward))?"
)
# "We abandoned carts", not "removes abandoned carts" nor "abandoned carts are kept".
_DOING = (
    r"(?:^\s*(?!\w+ed\s+(?!(?:the|our|a|an|all|any|support|using)\b)(?-i:[a-z])+\s+"
    r"(?!(?:for|from|in|as|and|because|since|last|with|on|at|entirely|completely|now|today)\b)(?-i:[a-z]))"
    r"|(?<=[,;:.(] )|(?i:(?<=\bwe )|(?<=\bthey )|(?<=\bi )|(?<=\band )|(?<=\bhas )|(?<=\bhave )|(?<=\bjust )"
    r"|(?<=\bfinally )"
    r"|(?<=\bteam )|(?<=\bbut )|(?<=\balso )|(?<=\bnow )|(?<=\brecently ))|(?<=\b(?-i:[A-Z])[a-z]{2} )"
    r"|(?<=\b(?-i:[A-Z])[a-z]{3} )"
    r"|(?<=\b(?-i:[A-Z])[a-z]{4} ))"
)
_NO_ADJECTIVE = (
    r"\b(?!\s+(?:[a-z]+\s){1,2}(?:is|are|was|were|will|can|must|should|live|go|get|stay|expire|keep|have|has)\b)"
)
_STARTS = r"(?:^|(?<=[,;:.] )|(?<=\band )|(?<=\bbut ))"


class Left(NamedTuple):
    """The statement as it stands without what was left behind, and that."""

    text: str
    behind: tuple[str, ...]


# In the order in which they are looked for: a hint that must be there, the phrase with what is left as x, what remains.
WAYS = [
    (tuple(hints.split("|")), re.compile(pattern, re.IGNORECASE), remains)
    for hints, pattern, remains in (
        (
            "instead of|rather than|in place of|opposed to",
            r",?\s*\b(?:instead of|rather than|in place of|as opposed to)\s+(?:(?:in|on|by|with|via|to|from|using)\s+)?"
            + _X,
            "",
        ),
        (
            " over ",
            r"(?:(?<=prefer)|(?<=prefers)|(?<=favor)|(?<=favour))(?P<what>(?:\s+[^\s,;:()]+){1,4}?)\s+over\s+" + _X,
            r"\g<what>",
        ),
        (
            " not ",
            r"\bnot\s+(?P<what>(?:[^\s,;:()]+\s+){0,4}?)(?:(?:in|on|at|from|with|via|by|to|through|as|a|an|the)\s+)+"
            r"(?P<x>(?:[^\s,;:()]+\s){0,3}?[^\s,;:()]+?),?\s+but\b",
            r"\g<what>",
        ),
        (
            ", not |, and not |but not |– not |— not |(not |, never ",
            r"(?:,|\s[–—-]|\s\()\s*(?:and\s+|but\s+)?(?:not|never)\s+"
            r"(?:(?:in|on|at|from|with|via|by|to|through|as|using)\s+)?" + _X,
            "",
        ),
        (
            " from | off ",
            _CHANGE
            + r"(?P<what>(?:\s+[^\s,;:()]+){0,3}?)\s+(?:away from|from|off of|off)\s+"
            + _X
            + r"\s+(?:over\s+|on\s+)?(?:to|into|onto|for)\b",
            r"use\g<what> to",
        ),
        (
            " from ",
            _CHANGE + r"(?P<what>(?:\s+[^\s,;:()]+){0,3}?\s+to\s+(?:[^\s,;:()]+\s+){1,2}?)from\s+" + _X,
            r"use\g<what>",
        ),
        (
            "away from| off ",
            r"\b(?:moved|migrated|switched|went)(?P<what>(?:\s+[^\s,;:()]+){0,3}?)\s+(?:away from|off)\s+" + _X,
            r"not use\g<what>",
        ),
        (
            "replac|swap|exchang|substitut|trad",
            r"(?<!been )(?<!was )(?<!were )(?<!is )(?<!are )(?<!got )\b(?:replac|swapp?|exchang|substitut|trad)\w*\s+"
            + _X
            + r"\s+(?:with|by|for)\b",
            "use",
        ),
        (
            "renamed",
            _STARTS + r"(?P<x>`[^`]+`|\w+_\w+)\s+" + _BE + r"renamed\s+(?:to|as)\b",
            "use",
        ),
        (
            _DROPPED_HINTS,
            _STARTS
            + r"(?:the |our |support for )?(?P<x>(?:[^\s,;:()]+\s){0,3}?[^\s,;:()]+?)\s+"
            + _BE
            + _DROPPED
            + r"\b\s+(?:in favou?r of|by|with|for)\b",
            "use",
        ),
        (
            _DROPPED_HINTS,
            _STARTS
            + r"(?:the |our |support for )?(?P<x>(?:[^\s,;:()]+\s){0,3}?[^\s,;:()]+?)\s+"
            + _BE
            + _GONE
            + _FOR_GOOD,
            r"\g<x> not used",
        ),
        (
            "took over|take over|taken over|takes over",
            r"\b(?:has |have )?(?:took|takes?|taken) over(?P<what>(?:\s+[^\s,;:()]+){0,6}?\s+from)\s+" + _X,
            r" is\g<what>",
        ),
        (
            "replac|supersed|succeed|supplant|place of",
            r"\b(?:has |have )?(?:(?:replac|supersed|succeed|supplant)\w*|(?:took|takes?|taken) the place of)\s+" + _X,
            " is",
        ),
        (
            "drop|remov|delet|ripp|ditch|abandon|rid of|retir|threw|phased|stopped|gave|scrap|not us|left|took|tore",
            _DOING + _DROP + _NO_ADJECTIVE + r"\s+(?:using\s+|support for\s+)?" + _X,
            r"not use \g<x>",
        ),
        (
            " left| handed| stepped| resigned| quit| moved on",
            r"\b(?P<x>[A-Z]\w+)\s+(?:has\s+)?(?:left|handed|stepped|resigned|quit|moved on)\b",
            r"\g<x> not",
        ),
    )
]


def without_left(text: str) -> Left:
    behind = []
    for hints, pattern, remains in WAYS:
        lowered = text.lower()
        if not any(hint in lowered for hint in hints):
            continue
        found = pattern.search(text)
        if found:
            behind.append(found["x"])
            text = text[: found.start()] + " " + _expanded(found, remains) + " " + text[found.end() :]
    return Left(text, tuple(behind))


def _expanded(found: re.Match[str], remains: str) -> str:
    what = found.groupdict().get("what") or ""
    return remains.replace(r"\g<what>", what.removesuffix(" from")).replace(r"\g<x>", found["x"])
