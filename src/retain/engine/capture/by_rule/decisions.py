"""Decisions that the user states, with their reason and what they replace."""

import re
from dataclasses import replace

from retain.engine.capture.by_rule.addressed import is_complaint, is_on_screen, reaches
from retain.engine.capture.by_rule.commitments import ails, committed
from retain.engine.capture.by_rule.corrections import denied
from retain.engine.capture.by_rule.declaring import declares, is_order
from retain.engine.capture.by_rule.found import Found, given_up
from retain.engine.capture.by_rule.labels import settled
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
    r"|stick(?:ing)? (?:with|to)|settle on|standardi[sz]e on"
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
    r"we(?:'ve| have)? (?:kept|bumped|raised|lowered|increased|reduced|capped|limited|turned (?:off|on)|pinned"
    r"|disabled|enabled|removed|vendored|forked|froze|frozen|split|dropped|avoid|keep"
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
    r"|mov(?:e|ing|ed) to(?=.*(?:,|because|since)| (?-i:[A-Z]))) (?P<what>.+)",
    re.I,
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
_SCRATCH = re.compile(
    rf"(?:let'?s )?(?:scratch|ditch|drop|forget(?: about)?(?=.* instead[.!]*$))"
    rf" (?P<old>{_NAME}),(?: [^,]{{3,120}},)? (?:so )?(?:we'?ll"
    r"|let'?s|we) (?:(?:use|go with|stay (?:on|with)|stick (?:with|to)) (?P<new>.+)"
    r"|(?:run|host|deploy|store|schedule|serve|send|do|build|test|handle|keep)(?: (?!it\b|this\b|that\b|them\b).+?)??"
    r" (?:with|on|via|through|using|in) .+ instead[.!]*$)",
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
    r"(?:please |pls )?use (?!the\b|this\b|that\b|it\b|an?\b|your\b)[\w`@/.+# -]{2,40}? for (?:everything|anything"
    r"|all new|every new|all of our|all our)\b.*"
    r"|(?:please |pls )?use (?!it\b|this\b|that\b)[\w`@/.+# -]{2,40}, never (?!mind)[\w`@/.+# -]{2,40}[.!]*$"
    r"|(?:please |pls )?(?:use|prefer|avoid|follow) .{2,60} (?:in|across) (?:this|our|the whole) (?:project|repo"
    r"|repository|codebase)\b.*"
    r"|(?:please |pls )?use (?!the\b|this\b|that\b|it\b|an?\b|your\b)[\w`@/.+# -]{2,40}? everywhere(?:,? not\b|, we\b"
    r"|,? instead of\b).+"
    r"|let'?s not (?:use|add|introduce) (?!this\b|that\b|it\b|an?\b|the\b)\w.+,.+",
    re.I,
)
_STAYS = re.compile(
    r"(?:the|our|all) [\w -]{2,40}? (?:stays?|remains?) (?!the same|where|here|there|as |open|stuck|up"
    r"|on hold)[\w`@/.+# -]{2,40}?"
    r"(?:, .{8,}|,? (?:because|since) .+)",
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
_CODE_PLACE = re.compile(
    r"\(\)|\w\.(?:py|tsx?|jsx?|mjs|vue|go|rs|rb|java|kt|c|h|cpp|cs|php|sql|s?css|html|md|json|ya?ml|toml)\b|\bline \d"
    r"|\b(?:main|master|left|right|top|bottom|here|there)\b",
    re.I,
)
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
_NOT_THE_OTHER = re.compile(
    r"(?!(?:return|call|set)\b)[\w`@/.+#-]{2,30}(?: [\w`@/.+#-]+)?,? (?:and )?not (?!(?:the|this|that|it|an?|yet)\b)"
    r"[\w`@/.+#-]{2,30}(?: [\w`@/.+#-]+)?[.!]*",
    re.I,
)
_MEETING = re.compile(
    r"^(?:yesterday|this (?:morning|week)|(?:in|at|after|during|since) [\w' -]{3,40}?),? (?=we(?:'ve| have|'re| are)?"
    r" (?:all |finally |just )?(?:decided|agreed|going with|settled|chose|picked|adopted|voted|standardi[sz]ed)\b)",
    re.I,
)
_EMPTY = re.compile(r"\b(?:decided|agreed|settled) (?:on )?(?:nothing|that|it|this)\b[.!]*$", re.I)


def decision(sentence: Sentence) -> Found | None:
    text = _MEETING.sub("", opened(sentence.text))
    if is_on_screen(text) or ails(text):
        return None
    found = _decided(text, sentence.whole) or _stated(text) or _second_thought(sentence.text)
    if found is not None:
        return found
    told = settled(text)
    return _final(opened(told)) if told else None


def _stated(text: str) -> Found | None:
    for rule in (_switched, _dropped, _chosen, _kept, committed):
        found = rule(text)
        if found is not None:
            return found if found.replaces else replace(found, replaces=given_up(found.text))
    return None


def _final(text: str) -> Found | None:
    """What "final word:" leads to: whatever is told or ordered there is decided."""
    found = _decided(text, text) or _stated(text)
    if found is not None:
        return found
    is_choice = re.match(r"we\b", text, re.I) or declares(text) or is_order(text)
    return Found(text, "decision", replaces=given_up(text)) if is_choice and not _HERE.search(text) else None


def _decided(text: str, whole: str) -> Found | None:
    if _EMPTY.search(text) or not any(told.match(text) for told in (_DECIDED, _DONE_BECAUSE)):
        return None
    return Found(text, "decision", replaces=given_up(text) or given_up(whole))


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
    return Found(f"We switch to {match['what']}", "decision", replaces=given_up(match["what"]))


def _dropped(text: str) -> Found | None:
    match = _DROP.match(text) or _REPLACE.match(text)
    if match is not None:
        return (
            _use_instead(match["new"] + text[match.end() :], match["old"]) if _is_named(match, "new", "old") else None
        )
    match = _SCRATCH.match(text)
    if match is not None:
        is_meant = _is_named(match, "old") and not _is_small(match["new"] or "") and not _CODE_PLACE.search(text)
        return Found(text, "decision", replaces=match["old"]) if is_meant else None
    match = _BARE_INSTEAD.match(text)
    return _use_instead(match["new"] + match["why"], match["old"]) if match and not _is_small(match["new"]) else None


def _kept(text: str) -> Found | None:
    """What is to be used or to stay, with the reason."""
    match = _RATHER.match(text)
    if match is not None:
        is_meant = _is_named(match, "new", "old") and _OUR_REASON.search(match["why"])
        return Found(text, "pattern", replaces=match["old"].strip("`")) if is_meant else None
    if _FOR_EVERYTHING.match(text):
        return Found(text, "pattern", replaces=denied(text))
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
    is_meant = match is not None and (_WHAT_FOR.search(match["what"]) or _NOT_THE_OTHER.fullmatch(match["what"]))
    if match is not None and is_meant and not _is_small(match["what"]):
        return _we("use", match["what"])
    if _INSTEAD.match(text) and _REASON.search(text):
        return Found(text, "decision", replaces=given_up(text))
    return None


def _we(verb: str, what: str) -> Found:
    old = given_up(what)
    return Found(f"We {verb} {what}", "decision", replaces=f"We {verb} {old}" if old else None)


def _is_small(what: str) -> bool:
    if _POINTING.match(what):
        return True
    return _SMALL.match(what) is not None and not (_REASON.search(what) or _PURPOSE.search(what))
