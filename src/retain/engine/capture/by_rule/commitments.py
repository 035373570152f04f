"""What "we" committed ourselves to: adopted, renamed, froze, went with, are dropping.

In one's own voice that is a decision, unless it tells what was done to the code at hand: a branch that was merged, a
function that was split.
"""

import re

from retain.engine.capture.by_rule.addressed import is_complaint
from retain.engine.capture.by_rule.found import Found

_JUST = r"(?:(?:just|now|finally|all|also|recently|already|officially|unanimously|both) )*"
_MADE = (
    r"decided|chosen?|picked|settled on|went with|gone with|adopted|standardi[sz]ed on|agreed (?:on|to|that)|voted"
    r"|froze|frozen|deprecated|banned|retired|opted for|committed to|consolidated on|abandoned|ditched|scrapped"
    r"|adopting|freezing|standardi[sz]ing on|deprecating|retiring|sunsetting|phasing out|banning|pinned to|bound to"
    r"|staying (?:on"
    r"|with|at)|sticking (?:with|to)|voted (?:for|to)|signed off on|upgraded to|downgraded to|(?:pushed|moved"
    r"|postponed|delayed|rescheduled) the (?:launch|release|deadline|beta|go-?live|freeze|migration|cutover) to"
    r"|landed on|moved (?:off|away from)|outlawed|shelved"
)
_COMMITS = re.compile(rf"(?:the (?:\w+ )?team|we)(?:'ve| have|'re| are)? {_JUST}(?:{_MADE})\b (?P<what>.+)", re.I)
_I_CHOSE = re.compile(
    r"i(?:'ve| have)?(?: just| now| finally)? (?:decided (?:that )?(?:we\b|to (?:use|go with|keep|drop|switch|move|stay"
    r"|adopt|store|host|deploy)\b)|(?:chose|picked|settled on|went with) (?P<what>(?!to\b).+ (?:over|instead of|because"
    r"|since)\b))"
    r" .+",
    re.I,
)
# These are said of code every day; of a way to work they say from where or to where.
_RESHAPES = re.compile(
    rf"(?:the (?:\w+ )?team|we)(?:'ve| have|'re| are)? {_JUST}(?:mov(?:ed|ing)|migrat(?:ed|ing)|switch(?:ed|ing)"
    r"|split(?:ting)?|merg(?:ed|ing)|convert(?:ed|ing)|port(?:ed|ing)) (?P<thing>(?!from\b|away\b|off\b"
    r"|over\b)[^,]{2,60}?)"
    r" (?:over )?(?:to|into|onto|in) (?P<what>.+)",
    re.I,
)
_DROPS = re.compile(
    rf"(?:the (?:\w+ )?team|we)(?:'ve| have|'re| are)? {_JUST}(?:dropped|dropping|(?:not|stopped|quit) using(?! the\b)"
    rf"|no longer (?:use|support|deploy|run|ship"
    rf"|allow|accept|maintain)) (?P<what>.+)",
    re.I,
)
_RENAMES = re.compile(
    rf"(?:the (?:\w+ )?team|we)(?:'ve| have|'re| are)? {_JUST}renam(?:ed|ing) (?P<thing>[^,]{{2,60}}?) (?:to|into)"
    r" (?P<what>.+)",
    re.I,
)
_SWITCH_THING = re.compile(
    r"(?:let'?s )?(?:switch|move|migrate|port) (?P<thing>(?:the|our) [\w -]{2,30}?) (?:over )?to (?P<what>[^,]{2,60}),"
    r"(?: because| since)? (?P<old>[\w@/.+#-]+(?: [\w@/.+#-]+)?) (?:is|are) (?:gone|dead|deprecated|going away"
    r"|end of life|eol|unmaintained|abandoned|too (?:slow|expensive|old)|no longer \w+)\b.*",
    re.I,
)
_NO_MORE = re.compile(
    r"no more (?P<old>[\w`@/.+#-]+(?: [\w`@/.+#-]+)??)(?:,? (?:please|pls))?,? (?:we|use|only)\b .+", re.I
)
_AT_HAND = re.compile(
    r"(?:\S+ ){0,4}?(?:meetings?|standup|appointment|prs?|pull requests?|branch|commits?|functions?|methods?"
    r"|class(?:es)?|variables?|vars?|files?"
    r"|lines?|columns?|tables?|index(?:es)?|arg(?:ument)?s?|param(?:eter)?s?|fields?|props?|loops?|strings?|arrays?"
    r"|rows?|tickets?|issues?|imports?|hunks?|changes?|conflicts?|frames|packets|requests|messages|connections|ball"
    r"|idea|main|master|develop|upstream|origin|helpers?|constants?|tests?|check|call|calls|logic|code|cells?|block)"
    r"(?=$| (?:to|into|in|on|from|of|for|by|at|and|that|which|with|since)\b)",
    re.I,
)
_DEFINITE = re.compile(r"(?:the|this|that|my|your|a|an|two|three|some)\b", re.I)
_CODE_PLACE = re.compile(r"\(\)|\w\.(?:py|tsx?|jsx?|go|rs|rb|java|kt|c|h|cpp|php|sql|css|html|md)\b|\bline \d", re.I)
_VAGUE = re.compile(
    r"(?:it|this|that|these|those|them|up|out|on|off|ahead|well|nothing|so|too|both|not yet|something|someone|him|her"
    r"|everything|one(?! \w)|my|your|the (?:same|other|first|second|last|wrong|right)|(?:a|an) (?:bit|while|lot"
    r"|few))\b",
    re.I,
)
_STAYS_ON = re.compile(
    r"we(?:'re| are) (?:still )?on (?!(?:line|page|step|row|issue|ticket|day)\b)"
    r"[\w.+#-]+ v?\d[\w.]*,? (?:and|but) (?:we(?:'ll| will)? )?"
    r"(?:stay|stick|remain|keep)\b .+",
    re.I,
)
_AND_THEN = re.compile(r"\b(?:and now|since then|ever since|but now)\b", re.I)
_BROKEN = re.compile(r"\b(?:fails?|failed|doesn'?t|errors?|crash\w*)\b", re.I)
_WHEN = re.compile(r",? \b(?:yesterday|last (?:week|month|night|friday|sprint)|this (?:morning|week)|recently)\b", re.I)
_MAIN_BRANCH = re.compile(r"(?:the |our )?(?:main|default|master) branch", re.I)
_OLD_NAME = re.compile(r"^(?:the |our )?(?:\w+ )?(?=[\w@/.]+[-_/.]\w)", re.I)


def committed(text: str) -> Found | None:
    """The decision; what it replaces only where the sentence names a new name or something that is gone."""
    if ails(text):
        return None
    return _renamed(text) or _gone(text) or (Found(text, "decision") if _STAYS_ON.match(text) else _settled(text))


def ails(text: str) -> bool:
    """Whether a change is told for the sake of what it broke."""
    return _AND_THEN.search(text.split(" because ")[0].split(" since ")[0]) is not None


def _renamed(text: str) -> Found | None:
    match = _RENAMES.match(text)
    if match is None or _CODE_PLACE.search(match["what"]):
        return None
    if _MAIN_BRANCH.fullmatch(match["thing"]):
        return Found(_WHEN.sub("", text), "decision", replaces=f"{match['thing']} is called")
    if _is_small(match["thing"]):
        return None
    return Found(_WHEN.sub("", text), "decision", replaces=_OLD_NAME.sub("", match["thing"]).strip("`"))


def _gone(text: str) -> Found | None:
    match = _SWITCH_THING.match(text)
    if match is not None and not (_is_small(match["thing"]) or _is_small(match["what"])):
        return Found(re.sub(r"^(?:let'?s )?", "We ", text, flags=re.I), "decision", replaces=match["old"])
    match = _NO_MORE.match(text)
    if match is None or _VAGUE.match(match["old"]) or _AT_HAND.match(match["old"]):
        return None
    return Found(re.sub(r",? (?:please|pls)(?=,| )", "", text), "decision", replaces=match["old"].strip("`"))


def _settled(text: str) -> Found | None:
    head = _head(text)
    if is_complaint(head) or _BROKEN.search(head):
        return None
    made = _COMMITS.match(text) or _I_CHOSE.match(text)
    if made is not None:
        what = made["what"] or ""
        is_small = _VAGUE.match(what) or (_DEFINITE.match(what) and _is_small(what))
        return None if is_small else Found(_WHEN.sub("", text), "decision")
    match = _RESHAPES.match(text) or _DROPS.match(text)
    if match is None or any(map(_is_small, match.groups())):
        return None
    gone = _head(match["what"]) if match.re is _DROPS else None
    return Found(_WHEN.sub("", text), "decision", replaces=gone and re.sub(r" any ?more\b.*| support\b.*", "", gone))


def _is_small(what: str) -> bool:
    head = _head(what)
    return any(bool(pattern.match(head)) for pattern in (_VAGUE, _AT_HAND)) or _CODE_PLACE.search(head) is not None


def _head(text: str) -> str:
    """Without the reason or the purpose after it."""
    return re.split(r",| (?:because|since|so|for|in favou?r) ", text, maxsplit=1)[0]
