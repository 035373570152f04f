"""Whether words state a fact: something named, and a verb in the present that says what it is, does or needs."""

import re

_VERBS = (
    r"is|are|isn'?t|aren'?t|has|have|hasn'?t|needs?|uses?|runs?|lives?|goes|go|sends?|returns?|expects?|requires?"
    r"|breaks?|fails?|reads?|writes?|listens?|stores?|comes?|must|can'?t|cannot|can|doesn'?t|don'?t|won'?t|does not"
    r"|do not|supports?|belongs?|contains?|depends?|relies|rely|takes?|gets?|works?|happens?|points?|starts?|ships?"
    r"|shows?|cuts?|drops?|follows?|holds?|keeps?|logs?|calls?|talks?|rejects?|accepts?|sits?|stays?|ends?|includes?"
    r"|(?:changed|moved) to|allows?|exports?|imports?|expires?|rotates?"
)
_POINTS = (
    r"(?!(?:it|this|that|these|those|they|he|she|i|you|we|there|here|who|what|which|if|when|because|please"
    r"|let'?s?)\b)"
)
_WORD = r"[\w`'\"/@.,<>*_\[\](){}%+#~:=-]+"
_DECLARES = re.compile(rf"{_POINTS}{_WORD}(?: {_WORD}){{0,7}}? (?:{_VERBS})\b .+", re.I)
_ORDER = re.compile(
    r"(?:use|add|remove|delete|make|fix|change|rename|move|put|set|run|write|create|update|show|explain|check|look"
    r"|do|don'?t|go|try|let'?s|give|find|revert|undo|commit|push|open|close|keep|just|start|stop|build|test|see|tell"
    r"|implement|refactor|bump|switch|drop|replace|skip|validate|convert|pin|prefer|avoid|answer|include|format|name"
    r"|document|log|wrap|return|sort|prefix|mention|ask|read|call|put|install|generate|deploy|send|pull|copy|plot"
    r"|merge|rebase|restart|edit|exclude|ignore|turn|scale|extract|split|clean|hide|swap|print|render|fetch|load"
    r"|download)\b",
    re.I,
)


# After "we use jwt for login" or "this is a flask app": what it was said for, and no part of it.
_AND_DO = re.compile(
    r"(?:,|\band\b|\bso\b)\s+(?:so |then |now |please |pls |just |and )*(?:(?:can|could) (?:you|u) )?(?:add|show"
    r"|remove|make|explain|fix"
    r"|change|rename|create|update|delete|open|load|parse|check|look|write|set|clear|give|print|convert|divide"
    r"|filter|find|move"
    r"|hurry|tell|split|start|stop|restart|revert|undo|build|implement|refactor|bump|replace|close|merge|drop|scale"
    r"|raise|lower"
    r"|adjust|extend|try|help|keep it|use (?:it|them|that|the))\b",
    re.I,
)


def leads_to_a_task(text: str) -> bool:
    """Whether a statement is made for the sake of what is to be done right after it."""
    return _AND_DO.search(text) is not None


def declares(text: str) -> bool:
    return _DECLARES.match(text) is not None and not is_order(text)


def is_order(text: str) -> bool:
    """Whether the text tells somebody to do something. "Tests need…" and "logs go…" begin with such a word too."""
    return _ORDER.match(text) is not None
