"""What is left open at the end of a session, when the user says so."""

import re

from retain.engine.capture.by_rule.found import Found
from retain.engine.capture.by_rule.statement import opened
from retain.engine.capture.by_rule.typed import Sentence

_LABELLED = re.compile(
    r"(?:.{0,30}?\b)?(?P<label>to-?do(?: (?:for )?(?:later|tomorrow|next (?:time|session|week)))?(?=\s?:)"
    r"|next steps?(?: (?:is|are|will be))?|left to do|still (?:open|to do|missing)|remaining|open points?"
    r"|follow[- ]?up)\s?(?P<colon>:| is| are|(?<=is)|(?<=are))\s*(?P<what>.+)",
    re.I,
)
_LATER = r"(?:tomorrow|tmrw|tmr|morgen|next (?:time|session|week)|on monday|in the next session|later this week)"
_CONTINUE = re.compile(
    rf"(?:(?:{_LATER}),? (?:we|i)(?:'ll| will|'re going to)? (?:continue|go on|carry on|proceed|start|pick up|work"
    r"|tackle|finish|do|implement|look at) (?:with|on|at)?\s?(?P<a>.+)"
    r"|(?:we|i|let'?s)(?:'ll| will)? ?(?:continue|go on|carry on|proceed|pick up|start) (?:with |on "
    rf"|at )?(?P<b>.+?) {_LATER}.*"
    r"|(?:we|i) (?:stopped|left off) (?P<c>(?:at|with|in|before) .+))",
    re.I,
)
_STILL = re.compile(
    r"(?:^|.*?[,.] )(?P<what>[^,.]{3,80}? (?:is|are) still (?:to-?do|open|left|undone|unfinished"
    r"|not done))\b(?P<rest>.*)",
    re.I,
)
_POSTPONED = re.compile(
    r"(?:(?=(?:leave|postpone|defer|park) .+ (?:for|until|till) )|(?:let'?s|we(?:'ll| will)?|i(?:'ll| will)?) )"
    r"(?:leave|postpone|defer|park|keep|save|do|skip|tackle"
    r"|push) (?P<what>(?!it\b|this\b|that\b"
    r"|them\b|these\b|those\b)[^,;.]{3,80}?) (?:for|until|to|till) (?:later|another (?:day|time|session|pr)"
    r"|after (?:the )?"
    r"(?:launch|release)|next (?:week|sprint|session|time)|v\d\S*)(?:,? (?:but|and|so) (?:please |pls )?(?:remember"
    r"|don'?t"
    r" forget|do not forget|remind me) to (?P<then>.+)|[\s.!]*$|, .+)",
    re.I,
)
_STILL_TO_DO = re.compile(
    rf"(?:we|i) still (?:have|need|got) to (?P<what>(?!do (?:it|this|that)\b)[^;]{{5,160}}?)"
    rf",? (?:but )?(?:that'?s for |in )?"
    rf"{_LATER}[\s.!]*$",
    re.I,
)
_BEFORE_LAUNCH = re.compile(
    r"(?:remember|don'?t forget|do not forget|remind me) to (?P<what>.+ before (?:we|the|our|going) (?:launch"
    r"|release|ship|go"
    r" live|live|public|launching|next release)\b.*)",
    re.I,
)
_THAT = re.compile(r"^(?:that|this|it|there|here)\b", re.I)


def progress(sentence: Sentence) -> Found | None:
    text = opened(sentence.text)
    match = _CONTINUE.match(text)
    if match is not None:
        what = next(value for value in match.groups() if value)
        return None if _THAT.match(what) else Found(f"Next: {what}", "progress")
    postponed = _postponed(text)
    if postponed is not None:
        return postponed
    match = _STILL.match(text)
    if match is not None and re.search(rf"to-?do|{_LATER}|\bcontinue\b", match["what"] + match["rest"], re.I):
        return Found(f"Open: {match['what']}", "progress")
    match = _LABELLED.match(text)
    if match is None:
        return None
    if re.match(r"(?:nothing|none|nil|n/a|that'?s)\b", match["what"], re.I):
        return None
    what = re.sub(
        rf",? (?:and )?(?:we|i)(?:'ll| will) (?:continue|go on) (?:with )?(?:that|it|this) {_LATER}", "", match["what"]
    )
    label = "Open" if re.match(r"to-?do|left|still|remain|open", match["label"], re.I) else "Next"
    return Found(f"{label}: {what}", "progress")


def _postponed(text: str) -> Found | None:
    match = _POSTPONED.match(text)
    if match is not None:
        then = f", {match['then']}" if match["then"] else ""
        return Found(f"Open: {match['what']}{then}", "progress")
    match = _BEFORE_LAUNCH.match(text) or _STILL_TO_DO.match(text)
    return Found(f"Open: {match['what']}", "progress") if match else None
