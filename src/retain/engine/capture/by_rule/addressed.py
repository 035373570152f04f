"""Whether an order is about how the agent works, or about the piece of code, page or bug at hand.

"Never push to main" and "never throw" have one shape. The verb tells them apart: an agent pushes, a function throws.
"""

import re

_DOING_WORDS = """
    commit push merge rebase squash amend deploy release publish ship run rerun install uninstall upgrade
    downgrade bump ask edit touch modify rename reformat lint overwrite hardcode mock stub explain apologise
    apologize review branch tag force force-push revert regenerate flash ssh refactor rewrite document mention
    suggest propose guess assume invent speak talk overengineer over-engineer summarise summarize bypass skip
    disable work
"""
_CODING_WORDS = """
    use write add create put keep name wrap prefix suffix import export include check verify build test update delete
    remove format comment generate confirm sign answer reply respond make follow avoid prefer pin annotate type declare
    change move store log inject support allow query hit call start introduce repeat say print share
"""
DOING = frozenset(_DOING_WORDS.split())
CODING = frozenset(_CODING_WORDS.split())
_TO_ME = frozenset({"ask", "give", "show", "tell", "send", "warn", "remind", "call", "answer", "notify"})
_GOES_ON = frozenset({"run", "build", "test", "start", "deploy", "release", "work", "publish", "log", "print", "store"})
_REACH = re.compile(
    r"\b(?:(?:in|for|across|of) (?:this|our|the (?:whole|entire)|all (?:of )?(?:my|our)|every|any) (?:project|repo"
    r"|repository"
    r"|codebase|code base|app|team|package|service|monorepo|org|company)s?|everywhere|anywhere|around here|at all times"
    r"|no exceptions?|in general|generally|(?:any|every|all|new) (?:files?|modules?|tests?|commits?|prs?|migrations?"
    r"|endpoints?"
    r"|components?|functions?|scripts?|branch(?:es)?|services?))\b",
    re.I,
)
# The order ends with the code at hand: under a condition of it, or about one thing of it.
_AT_HAND = re.compile(
    r"\b(?:if|unless|in case|once|(?:when|while|after|before)(?= (?:the|its|it's|there|it|a|an|that|this|theres)\b)"
    r""
    r"|this|that|it|there|them|past|instead$)\b",
    re.I,
)
_DEFINITE = re.compile(r"(?:the|its|their|this|that|a|an|one|both|it|them|null|empty|true|false|\d+)\b", re.I)
_ON_SCREEN = re.compile(
    r"\b(?:buttons?|pages?(?! (?:cache|tables?|size|faults?|rank))|footers?|labels?|icons?|clicks?|clicked|popups?"
    r"|modals?|dialogs?|banners?|toasts?"
    r"|tooltips?|checkbox(?:es)?|dropdowns?|sidebar|navbar|menu|tabs? bar|spinner|padding|margin|font|hover\w*"
    r"|scroll\w*|screen"
    r"|headline|placeholder|flexbox|css grid|(?<!-)visible|hidden|shown|displayed|animation\w*|logo|avatar|px)\b",
    re.I,
)
_COMPLAINT = re.compile(
    r"\b(?:wrong(?:ly)?|broken|bugs?|buggy|weird\w*|strange\w*|odd(?:ly)?|missing|twice|too \w+|somehow"
    r"|for some reason|suddenly"
    r"|even (?:though|if|when)|can'?t be|not working|doesn'?t work|no longer works|error|exception|empty|slow"
    r"|failing|unused"
    r"|red|a mess|ugly|annoying|awful|off by|instead of (?:once|one|the right)|out of date|outdated|stuck|gone|lost"
    r"|useless|down|again|flaky|hell|painful|sucks?|terrible|horrible)\b",
    re.I,
)


def is_for_the_agent(verb: str, rest: str, *, alone: bool, told: bool = False) -> bool:
    """Whether always or never doing this is a way to work. `alone` when nothing else is asked for beside it, `told`
    when it is said to the agent in so many words."""
    verb = verb.lower()
    if verb in DOING or (verb in _TO_ME and re.match(r"(?:me|us)\b", rest)):
        return True
    if reaches(rest):
        return verb in CODING
    is_general = not _AT_HAND.search(rest.split(",")[0]) and (told or not _DEFINITE.match(rest))
    return verb in CODING and (alone or told) and is_general


def is_its_habit(gerund: str) -> bool:
    """Whether "stop …ing" can be said to the agent: adding and renaming is what it does, polling is not."""
    stem = gerund.lower().removesuffix("ing")
    known = (DOING | CODING) - _GOES_ON
    return stem in known or f"{stem}e" in known or (stem[-1:] == stem[-2:-1] and stem[:-1] in known)


def reaches(text: str) -> bool:
    return _REACH.search(text) is not None


def is_on_screen(text: str) -> bool:
    return _ON_SCREEN.search(text) is not None


def is_complaint(text: str) -> bool:
    return _COMPLAINT.search(text) is not None
