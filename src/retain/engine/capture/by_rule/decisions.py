"""Decisions that the user states, with their reason and what they replace."""

import re

from retain.engine.capture.by_rule.addressed import is_complaint, is_on_screen, reaches
from retain.engine.capture.by_rule.found import Found
from retain.engine.capture.by_rule.statement import opened
from retain.engine.capture.by_rule.typed import Sentence

_NAME = r"[\w@/.+# -]{2,40}?"
_WILL = r"(?:let'?s|we(?:'ll| will|'re going to| are going to|'re gonna))"
_DECIDED = re.compile(
    r"(?:the team|we|we've|we have)(?: just| now| finally| all)? (?:decided|agreed|settled|opted"
    r"|resolved)(?: (?:in|at|during|on|with) [^,.]{2,40}?)? (?:to|on|that|for|against|not to)\b .+"
    r"|we(?:'ve| have)? (?:chose|chosen|picked) (?!it|this|that|them|up).+|(?:decision|(?:we )?decided)\s?: .+"
    r"|wir haben (?:uns (?:für|gegen) .+ entschieden|entschieden|beschlossen)\b.*"
    r"|(?:hemos decidido|decidimos|on a décidé|nous avons décidé|abbiamo deciso|we hebben besloten)\b .+",
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
    r"|migrat(?:e|ed|ing))(?: over)?(?: (?P<thing>[^,]{1,60}?))?"
    r" (?:from|away from|off(?: of)?) (?P<old>.{2,60}?) (?:to|onto) (?P<new>.+)",
    re.I,
)
_SWITCH_TO = re.compile(
    r"(?:let'?s|we(?:'ll| will|'re| are|'ve| have)?) (?:(?:switch(?:ing|ed)?|migrat(?:e|ing|ed)) to"
    r"|mov(?:e|ing|ed) to(?=.*(?:,|because|since))) (?P<what>.+)",
    re.I,
)
_DROPPING = re.compile(
    r"we(?:'re| are) (?:dropping|deprecating|retiring|sunsetting) (?!the (?:column|table|index|last)\b).+", re.I
)
_DROP = re.compile(
    rf"(?:let'?s |we(?:'ll| will) )?(?:drop|ditch|get rid of) (?P<old>{_NAME})(?:,| and)(?: we(?:'ll)?)?"
    r"(?: just| rather)? use (?P<new>.+)",
    re.I,
)
_REPLACE = re.compile(
    rf"(?:let'?s |we(?:'ll| will) )?replace (?P<old>{_NAME}) with (?P<new>.+?)(?=,? because\b|,? since\b)",
    re.I,
)
_SECOND_THOUGHT = re.compile(
    r"(?:(?:actually|no|wait|scratch that|sorry|on second thoughts?)\b[\s,.:–—-]*)+"
    rf"(?:not (?P<old>{_NAME}) but (?P<new>.+)|(?:let'?s )?use (?P<new2>[\w@/.+# -]{{2,60}}?),? (?:not"
    r"|instead of) (?P<old2>[\w@/.+# -]{2,40}?)(?P<why>,? (?:because|since) .+|, .+)?)[.!]*$",
    re.I,
)
_BARE_INSTEAD = re.compile(
    rf"(?:[^:]{{2,60}}: )?(?:let'?s (?:do|make it) |do "
    rf"|make it )?(?!(?:use|let'?s|we|i|you)\b)(?P<new>{_NAME}) instead of (?P<old>{_NAME})"
    r"(?P<why>,? (?:because|since|we|they|nobody|our|the) .+)",
    re.I,
)
_INSTEAD = re.compile(r"(?:use|we use) (?!an?\b|this\b|that\b|it\b).{2,80}? instead of .+", re.I)
# "`stack`, not `cabal`, ci only knows stack": names and a reason, or it is about the line at hand.
_RATHER = re.compile(
    r"(?:use )?(?P<new>[\w`@/.+#-]+(?: [\w`@/.+#-]+)?),? (?:not|instead of) (?P<old>[\w`@/.+#-]+(?: [\w`@/.+#-]+)?)"
    r"(?:,? (?:pls|please))?(?P<why>,? (?:because|since) .+|, .+)",
    re.I,
)
_OUR_REASON = re.compile(
    r"\b(?:we|our|us|ci|team|every(?:one|body)|company|policy|licen[sc]\w*|lockfile|only|breaks?|dead|deprecated"
    r"|doesn'?t|isn'?t"
    r"|support(?:s|ed)?|banned|forbidden|project|repo|prod|production|customers?|because)\b",
    re.I,
)
_FOR_EVERYTHING = re.compile(
    r"(?:please |pls )?use (?!the\b|this\b|that\b|it\b|an?\b|your\b)[\w`@/.+# -]{2,40}? for (?:everything|all of our"
    r"|all our)\b.*"
    r"|(?:please |pls )?use .{2,60} (?:in|across) (?:this|our|the whole) (?:project|repo|repository|codebase)\b.*"
    r"|let'?s not (?:use|add|introduce) (?!this\b|that\b|it\b|an?\b|the\b)\w.+,.+",
    re.I,
)
_STAYS = re.compile(
    r"(?:the|our|all) [\w -]{2,40}? (?:stays?|remains?) (?!the same|where|here|there|as |open|stuck|up"
    r"|on hold)[\w`@/.+# -]{2,40}?"
    r"(?:, .{8,}|,? (?:because|since) .+)",
    re.I,
)
_OLD = re.compile(
    r"\b(?:instead of|rather than|over|replacing|not"
    r"|no longer(?: use)?) (?!(?:to|be|only|yet)\b)(?P<old>[\w@/.+#` -]{2,60}?)(?=\s+(?:because|since|as|so|for|due"
    r"|in|on|—"
    r"|-)\b|[,;:()]|\.(?:\s|$)|$)",
    re.I,
)
_REASON = re.compile(r"\b(?:because|since|due to|so that|as (?:it|we|they|the|our))\b", re.I)
_NO_NAME = re.compile(
    r"(?:return|call|name|put|set|make|the|this|that|it|\d+|your|yours|my|one|these|those|both|another|an?|same"
    r"|whatever|what|some|any|all|no|not|only|just|more"
    r"|use|be|is|are|does|do|did|if|we|i|you|to|yet)\b",
    re.I,
)
_HERE = re.compile(r"\b(?:this|that|these|those|here|there)\b", re.I)
_CODE_PLACE = re.compile(r"\(\)|\.\w{1,4}\b(?!\w)|\bline \d|\b(?:main|master|left|right|top|bottom|here|there)\b", re.I)
# "a dict here", "the shorter name", "that": the choice of the moment, in one place of the code or the talk.
_POINTING = re.compile(
    r"(?:this|that|it|your|yours|my|one|these|those|option|plan|variant|both|another|a|an|same|whatever|\d+"
    r"|the (?:same|other|first|second|last|simple|quick|new|old|current|\w+er|\w+est))\b",
    re.I,
)
_SMALL = re.compile(r"the\b|.*\bhere[.!]*$", re.I)
_PURPOSE = re.compile(r"\bfor (?:the |our |all |every |this )?\w+|\binstead of\b|\beverywhere\b", re.I)
_AFTER_NAME = re.compile(r",|\s(?:because|since|so that|due to)\b", re.I)
_WHAT_FOR = re.compile(r"\b(?:for|instead of|because|since|everywhere|over|rather than|as (?:the|our))\b", re.I)
_EMPTY = re.compile(r"\b(?:decided|agreed|settled) (?:on )?(?:nothing|that|it|this)\b[.!]*$", re.I)


def decision(sentence: Sentence) -> Found | None:
    text = opened(sentence.text)
    if is_on_screen(text):
        return None
    decided = _decided(text, sentence.whole)
    if decided is not None:
        return decided
    for rule in (_switched, _dropped, _chosen, _kept):
        found = rule(text)
        if found is not None:
            return found
    return _second_thought(sentence.text)


def _decided(text: str, whole: str) -> Found | None:
    if _EMPTY.search(text) or not any(told.match(text) for told in (_DECIDED, _DROPPING, _DONE_BECAUSE)):
        return None
    return Found(text, "decision", replaces=_old(text) or _old(whole))


def _second_thought(said: str) -> Found | None:
    match = _SECOND_THOUGHT.match(said)
    if match is None:
        return None
    if match["new"]:
        return None if _is_small(match["new"]) else _use_instead(match["new"], match["old"])
    # A bare "no, use x, not y" is about the line at hand.
    is_meant = match["why"] or re.match(r"(?:actually|scratch|on second)", said, re.I)
    if not (is_meant and _is_named(match, "new2", "old2")):
        return None
    return _use_instead(match["new2"] + (match["why"] or ""), match["old2"])


def _switched(text: str) -> Found | None:
    match = _SWITCH.match(text)
    if match is not None and _is_move(match):
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
        return (
            _use_instead(match["new"] + text[match.end() :], match["old"]) if _is_named(match, "new", "old") else None
        )
    match = _BARE_INSTEAD.match(text)
    return _use_instead(match["new"] + match["why"], match["old"]) if match and not _is_small(match["new"]) else None


def _kept(text: str) -> Found | None:
    """What is to be used or to stay, with the reason."""
    match = _RATHER.match(text)
    if match is not None:
        is_meant = _is_named(match, "new", "old") and _OUR_REASON.search(match["why"])
        return Found(text, "pattern", replaces=match["old"].strip("`")) if is_meant else None
    if _FOR_EVERYTHING.match(text):
        return Found(text, "pattern")
    return Found(text, "decision") if _STAYS.match(text) and not is_complaint(text) else None


def _is_named(match: re.Match[str], *groups: str) -> bool:
    """Whether these are names of things, and not "the second argument" or "a list"."""
    return not any(_NO_NAME.match(match[group]) or _HERE.search(match[group]) for group in groups)


def _is_move(match: re.Match[str]) -> bool:
    """From one way to work to another; code that changes its file, or a bare order, is a task."""
    if any(_CODE_PLACE.search(match[group] or "") for group in ("thing", "old", "new")):
        return False
    return bool(match["who"]) or (not match["thing"] and bool(_REASON.search(match["new"]) or reaches(match["new"])))


def _use_instead(new: str, old: str) -> Found:
    old, new = old.strip(" .!"), new.strip(" .!")
    end = _AFTER_NAME.search(new)
    name, why = (new[: end.start()], new[end.start() :]) if end else (new, "")
    return Found(f"Use {name} instead of {old}{why}", "decision", replaces=old)


def _chosen(text: str) -> Found | None:
    match = _GO_WITH.match(text)
    if match is not None and not _POINTING.match(match["what"]) and not _is_small(match["what"]):
        return _we("go with", match["what"])
    match = _IT_IS.match(text)
    if match is not None and len(match["why"].split()) > 2:
        return _we("go with", match["what"] + match["why"])
    match = _USE.match(text)
    if match is not None and not _is_small(match["what"]) and _WHAT_FOR.search(match["what"]):
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
