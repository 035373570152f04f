"""Decisions that the user states, with their reason and what they replace."""

import re

from retain.engine.capture.by_rule.found import Found
from retain.engine.capture.by_rule.statement import opened
from retain.engine.capture.by_rule.typed import Sentence

_NAME = r"[\w@/.+# -]{2,40}?"
_WILL = r"(?:let'?s|we(?:'ll| will|'re going to| are going to|'re gonna| want to| should))"
_DECIDED = re.compile(
    r"(?:the team|we|we've|we have)(?: just| now| finally| all)? (?:decided|agreed|settled|opted"
    r"|resolved)(?: (?:in|at|during|on|with) [^,.]{2,40}?)? (?:to|on|that|for|against|not to)\b .+"
    r"|we(?:'ve| have)? (?:chose|chosen|picked) (?!it|this|that|them|up).+|(?:decision|(?:we )?decided)\s?: .+",
    re.I,
)
_GO_WITH = re.compile(
    rf"(?:(?:{_WILL}|we|we(?:'re| are)) (?=\w)|(?=going\b))(?:just )?(?:go(?:ing)? (?:with|for)"
    r"|stick(?:ing)? (?:with|to)|settle on"
    r"|opt for)"
    r" (?P<what>.+)",
    re.I,
)
_IT_IS = re.compile(
    r"(?!(?:what|how|as|where|here|there|whatever|so|then|because|that|this|you"
    r"|i)\b)(?P<what>[\w@/.+#-]+(?: [\w@/.+#-]+){0,2}) it is(?: then)?(?P<why>[,.!;] .+|[.!]*)$",
    re.I,
)
_DONE_BECAUSE = re.compile(
    r"we(?:'ve| have)? (?:kept|pinned|disabled|enabled|removed|vendored|forked|froze|frozen|split|dropped|avoid|keep"
    r"|picked) .+ (?:because|since|due to|so that) .+",
    re.I,
)
_USE = re.compile(rf"{_WILL} (?:just )?(?:use|adopt|be using) (?P<what>.+)", re.I)
_SWITCH = re.compile(
    r"(?P<who>let'?s |we(?:'ll| will|'re| are|'ve| have)? )?(?P<verb>switch(?:ed|ing)?|mov(?:e|ed|ing)"
    r"|migrat(?:e|ed|ing)|chang(?:e|ed|ing))(?: over)?(?: (?P<thing>[^,]{1,60}?))?"
    r" from (?P<old>.{2,60}?) to (?P<new>.+)",
    re.I,
)
_SWITCH_TO = re.compile(
    r"(?:let'?s|we(?:'ll| will|'re| are)) (?:switch(?:ing)?|mov(?:e|ing)|migrat(?:e|ing)) to (?P<what>.+)", re.I
)
_DROPPING = re.compile(
    r"we(?:'re| are|'ll| will) (?:be )?(?:dropp?(?:ing)?|deprecat(?:e|ing)|retir(?:e|ing)|sunset(?:ting)?) .+", re.I
)
_DROP = re.compile(
    rf"(?:let'?s |we(?:'ll| will) )?(?:drop|ditch|dump|get rid of|no) (?P<old>{_NAME})(?:,| and)(?: we(?:'ll)?)?"
    r"(?: just| rather)? use (?P<new>.+)",
    re.I,
)
_REPLACE = re.compile(
    rf"(?:let'?s |we(?:'ll| will) )?replace (?P<old>{_NAME}) with (?P<new>.+?)(?: everywhere[.!]*$|(?=,? because\b"
    r"|,? since\b))",
    re.I,
)
_SECOND_THOUGHT = re.compile(
    r"(?:(?:actually|no|wait|scratch that|sorry|on second thoughts?)\b[\s,.:–—-]*)+"
    rf"(?:not (?P<old>{_NAME}) but (?P<new>.+)|(?:let'?s )?use (?P<new2>[\w@/.+# -]{{2,60}}?),? (?:not"
    r"|instead of) (?P<old2>.+))",
    re.I,
)
_BARE_INSTEAD = re.compile(
    rf"(?:[^:]{{2,60}}: )?(?:let'?s (?:do|make it) |do "
    rf"|make it )?(?!use\b)(?P<new>{_NAME}) instead of (?P<old>{_NAME})"
    r"(?P<why>,? (?:because|since|we|they|nobody|our|the) .+)",
    re.I,
)
_INSTEAD = re.compile(r"(?:use|we use) .{2,80}? instead of .+", re.I)
_OLD = re.compile(
    r"\b(?:instead of|rather than|over|replacing|not"
    r"|no longer) (?!(?:to|be|only|yet)\b)(?P<old>[\w@/.+#` -]{2,60}?)(?=\s+(?:because|since|as|so|for|due|in|on|—"
    r"|-)\b|[,;:()]|\.(?:\s|$)|$)",
    re.I,
)
_REASON = re.compile(r"\b(?:because|since|due to|so that|as (?:it|we|they|the|our))\b", re.I)
# "a dict here", "the shorter name", "that": the choice of the moment, in one place of the code or the talk.
_POINTING = re.compile(
    r"(?:this|that|it|your|yours|my|one|these|those|option|plan|variant|both|another|a|an|same|whatever)\b", re.I
)
_SMALL = re.compile(r"the\b|.*\bhere[.!]*$", re.I)
_PURPOSE = re.compile(r"\bfor (?:the |our |all |every |this )?\w+|\binstead of\b|\beverywhere\b", re.I)
_EMPTY = re.compile(r"\b(?:decided|agreed|settled) (?:on )?(?:nothing|that|it|this)\b[.!]*$", re.I)


def decision(sentence: Sentence) -> Found | None:
    text = opened(sentence.text)
    for rule in (_decided, _switched, _dropped, _chosen):
        found = rule(text)
        if found is not None:
            return found
    return _second_thought(sentence.text)


def _decided(text: str) -> Found | None:
    if _EMPTY.search(text) or not any(told.match(text) for told in (_DECIDED, _DROPPING, _DONE_BECAUSE)):
        return None
    return Found(text, "decision", replaces=_old(text))


def _second_thought(said: str) -> Found | None:
    match = _SECOND_THOUGHT.match(said)
    if match is None:
        return None
    return _use_instead(match["new"] or match["new2"], match["old"] or match["old2"])


def _switched(text: str) -> Found | None:
    match = _SWITCH.match(text)
    if match is not None and (match["who"] or not match["thing"]):
        thing = f" {match['thing']}" if match["thing"] else ""
        verb = "switched" if match["verb"].lower().endswith("ed") else "switch"
        purpose = re.search(r"\bfor [^,.;]+", match["new"])
        replaced = f"{match['old']} {purpose[0] if purpose else match['thing'] or ''}".strip()
        return Found(f"We {verb}{thing} from {match['old']} to {match['new']}", "decision", replaces=replaced)
    match = _SWITCH_TO.match(text)
    if match is None or _is_small(match["what"]):
        return None
    return Found(f"We switch to {match['what']}", "decision", replaces=_old(match["what"]))


def _dropped(text: str) -> Found | None:
    match = _DROP.match(text) or _REPLACE.match(text)
    if match is not None:
        return _use_instead(match["new"] + text[match.end() :], match["old"])
    match = _BARE_INSTEAD.match(text)
    return _use_instead(match["new"] + match["why"], match["old"]) if match and not _is_small(match["new"]) else None


def _use_instead(new: str, old: str) -> Found:
    name, comma, why = new.strip(" .!").partition(",")
    old = old.strip(" .!")
    return Found(f"Use {name} instead of {old}{comma}{why}", "decision", replaces=old)


def _chosen(text: str) -> Found | None:
    match = _GO_WITH.match(text)
    if match is not None and not _POINTING.match(match["what"]) and not _is_small(match["what"]):
        return _we("go with", match["what"])
    match = _IT_IS.match(text)
    if match is not None:
        return _we("go with", match["what"] + match["why"])
    match = _USE.match(text)
    if match is not None and not _is_small(match["what"]) and " " in match["what"]:
        return _we("use", match["what"])
    if _INSTEAD.match(text) and _REASON.search(text):
        return Found(text, "decision", replaces=_old(text))
    return None


def _we(verb: str, what: str) -> Found:
    old = _old(what)
    return Found(f"We {verb} {what}", "decision", replaces=f"We {verb} {old}" if old else None)


def _is_small(what: str) -> bool:
    if _POINTING.match(what):
        return True
    return _SMALL.match(what) is not None and not (_REASON.search(what) or _PURPOSE.search(what))


def _old(text: str) -> str | None:
    match = _OLD.search(text)
    return match["old"].strip() if match else None
