"""The marks of a sentence (a question, a plan, the past …), and the same put in plainer words."""

import re
from collections.abc import Callable

from retain.engine.lifecycle.events import events
from retain.engine.lifecycle.vocabulary import PHRASES
from retain.engine.lifecycle.wording import MONTH

_LIST_NUMBER = re.compile(r"\s*(?:[-*•]\s*)?(?:\[[ x]\]\s*)?(?:\(?[0-9]+[.):]\s|v?[0-9]+(?:\.[0-9]+)+\s?[:—–-]\s)")
_RAISED = "raised|lowered|increased|reduced|bumped|extended|shortened|cut"
_PUSHED = f"{_RAISED}|pushed|postponed|upgraded|downgraded"
# After "was", a change that holds now and no past: "was moved to", "were disabled".
_CHANGED = (
    rf"(?:\w+\s+)?(?:{_PUSHED}|moved|switched|migrated|changed|replaced|renamed|dropped|removed|retired|swapped"
    rf"|superseded"
    r"|turned|disabled|enabled|shut|converted|ported|rewritten|un\w+ed|use|not)\b"
)
_MARKS = {
    mark: re.compile(pattern, re.IGNORECASE)
    for mark, pattern in {
        "question": r"\?\s*$",
        "past": r"\b(?:formerly|previously|originally|initially|in the (?:past|beginning)|back then|used to"
        r"|before [0-9]{4}|until [0-9]{4})\b"
        rf"|\b(?:was|were|had)\b(?!\s+{_CHANGED})",
        "hedged": r"\b(?:might|maybe|perhaps|consider\w*|plan(?:s|ning)? (?:is )?to|propos\w*|could|would|thinking"
        r"|evaluat\w*|discuss\w*|tr(?:y|ying) out|todo|wonder\w*|want\w* to"
        r"|may (?:evaluate|switch|move|use|try|need)|said|says)\b",
        "additive": r"\b(?:also|too|as well|additionally|another|sometimes|one of|such as|e\.g|(?:for|an) example|some"
        r"|besides|in addition|together with|alongside)\b",
        "bounded": r"\b(?:under (?=[0-9])|below|(?:larger|bigger|longer|greater|older) than|less than|at most|up to"
        r"|more than|above|at least|exceed\w*|between|about|around|roughly|limit\w*|max|maximum|(?<![0-9] )min|minimum"
        r"|cap|capped|capacity|threshold|no more than"
        r"|(?:fires?|alerts?|triggers?|warns?|pages?) (?:us )?(?:at|from) (?=[0-9])"
        r"|only (?=one|two|[0-9])|(?:or|and) (?:newer|later|more|less|older|up|above|below|earlier|higher|lower))\b",
        "upper": r"\b(?:at most|up to|limited to|less than|no more than|max|maximum|capped|limit is)\b",
        "lower": r"\b(?:at least|min|minimum|no less than)\b",
        "changed": rf"\b(?:{_RAISED}|now|moved)\b",
        "other": r"\b(?:others?|else|another)\b",
        "conditional": r"\b(?:if|unless|except|while|during|until|before)\b",
        "only": r"^only\b|\b(?:nobody|no one) (?:but|except)\b|\bonly (?:by|for|the)\b"
        r"|\bonly \w+ (?:can|may)\b|\b(?:by|for) \w+ only\b",
        "everyone": r"\b(?:every|everyone|everybody|anyone|anybody|all|any)\b.*\b(?:can|may|allowed|access)\b"
        r"|\bby (?:anyone|everyone)\b"
        r"|\b(?:visible|open|available|accessible) to (?:all|every|everyone|anyone|everybody)\b",
        "nobody": r"\b(?:nobody|no one|none|never)\b",
        "when": r"\b(?:when|whenever)\b",
    }.items()
}
# Made once, and so it is: no past, unless it says when.
_DONE = re.compile(r"\b(?:was|were) (?:trained|written|built|generated|designed|named|created)\b", re.IGNORECASE)
_DATED = re.compile(r"\b(?:19|20)[0-9]{2}\b|\byesterday\b|\blast\b|\bago\b", re.IGNORECASE)
# What is said in another way, in the order in which it is put plainly: one of the hints that must be in a sentence, in
# lower case, what is looked for, and what it becomes.
PLAINER: list[tuple[tuple[str, ...], re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (tuple(hints.split("|")), re.compile(pattern, re.IGNORECASE), plainly)
    for hints, pattern, plainly in (
        # A reason, or when it began.
        (
            "because|since|so that|due to|order to|avoid|though|so we|last |as we|as it|as they",
            r",?\s+\b(?:because|since|so that|due to|in order to|to avoid|although|though|so we|as (?:we|it|they) "
            r"|last (?:week|month|sprint|year|quarter|spring|summer|autumn|winter)\b)\b[^.;]*",
            "",
        ),
        (
            "leave|left out|omit|skip",
            r"\b(?:can't|cannot|can not|must not|mustn't|may not|do not|don't|never) (?:be )?"
            r"(?:leave out|leave off|left out|left off|omit|omitted|skip|skipped)\b",
            "require",
        ),
        (
            "delet|remov|purg|drop|prun|discard|wip|evict|clean",
            r"\b(?:(?:is|are|get|gets|will be|being)\s+)?(?:delet|remov|purg|dropp?|prun|discard|wip|evict"
            r"|clean)(?:es|e|s|ed|ing)?"
            r"(?: up)?((?:\s+[^\s,;:()]+){0,4}?)\s+(?:(?:older )?than|after)\s+(?=[0-9]|an?\b|one|two|three|four"
            r"|five|six|seven|eight|ten)",
            r"keep\1 for ",
        ),
        (
            "older than",
            r"\bolder than\s+([0-9]+ \w+|\w+ (?:days?|weeks?|months?|hours?|years?))\s+(?:is|are|get|gets|will be)\s+"
            r"(?:deleted|removed|purged|dropped|pruned|discarded|wiped|evicted|cleaned up)",
            r"keep for \1",
        ),
        (
            "on the |in the |by the ",
            r"\b(\w+(?:ed|en)|happens|happen|done|runs?|place)(?: entirely| fully| only)? (?:on|in|by) the"
            r" (?:(server|backend)|client|browser)"
            r"(?=\s*(?:[.,;]|$))",
            lambda found: f"{found[1]} {'server' if found[2] else 'client'}-side",
        ),
        (
            "fail|reject|break",
            r"\b(?:the )?\w+ (?:fails?|rejects?|breaks?)(?: \w+){0,3}? (?:when|if|unless|once) (?:the )?(.{3,40}?) "
            r"(?:drops?|falls?|goes|is|are|gets|sinks) (?:below|under) ",
            r"\1 is at least ",
        ),
        (
            "check",
            r"\b(?:checked|check|checking) in(?:to (?:git|the repo|the repository|version control))?\b",
            "commit",
        ),
        ("local time", r"\b([A-Z]\w+/[A-Z]\w+) local time\b", r"\1"),
        ("=", r"(?<![\w`.-])([a-z_]\w*)=([0-9][\w.+-]*)", r"\1 : \2"),
        ("learning rate", r"\blearning[ -]rate\b", "lr"),
        ("gives up|give up|giving up|gave up", r"\b(?:before )?(?:gives?|giving|gave) up\b(?: after)?", "after"),
        ("tries|try|tried", r"\b(?:tries|try)(?= (?:[0-9]+|\w+) times\b)", "makes"),
        (
            "permanently",
            r"\bpermanently (?:removes?|deletes?)\b|\b(?:removes?|deletes?) (?=.{0,30}permanently)",
            "is a hard delete of ",
        ),
        ("soft", r"\bsoft[ -]deletes\b", "is a soft delete of"),
        (
            "token|key|authent|log in|login|credential",
            r"\b(?:must|have to|has to|needs? to|shall) (?:carry|send|include|present|provide|pass|supply) (?:a |an "
            r"|its |their |your )?"
            r"(?:valid )?(?:bearer |api |access |auth |session )?(?:token|key|credentials?)\b"
            r"|\b(?:needs?|requires?) (?:a |an )?(?:valid )?(?:bearer |api |access |auth )?(?:token|authentication"
            r"|credentials)\b",
            "must be authenticated",
        ),
        (
            "larger|bigger|longer|greater|more than|over|above|older|exceed",
            r"\b(?:(?:larger|bigger|longer|greater|more|older) than|over|above|exceeding) ([0-9][\w.,]*(?:"
            r" ?[A-Za-z%]+)?) "
            r"(?:is|are|get|gets) (?:rejected|refused|not allowed|forbidden|denied|blocked|not accepted|dropped"
            r"|truncated)\b",
            r"limited to \1",
        ),
        (
            "roll|undo|revert",
            r"\b(?:can not|cannot|can't) be (?:rolled back|undone|reverted|reversed)\b",
            "are not reversible",
        ),
        ("roll|undo|revert", r"\bcan be (?:rolled back|undone|reverted|reversed)\b", "are reversible"),
        ("opt", r"\bunless (?:you|they|users?|one|people|someone) opts? out\b", "opt-out"),
        ("opt", r"\b(?:unless|if|after|once|when) (?:you|they|users?|one|people|someone) opts? in\b", "opt-in"),
        ("rewrote|rewritten", r"\b(?:rewrote|rewritten)\b", "write"),
        ("yield", r"\byields?\b", "return"),
        ("'ve ", r"'ve\b", " have"),
        ("back", r"\bcomes? back\b", "are"),
        ("over to", r"\b((?:mov|switch|migrat|went|hand|pass)\w*(?: \S+){0,5}?) over to\b", r"\1 to"),
        (" a | an ", r"(?<=[0-9] )(\w+) an? (second|minute|hour|day|week|month)\b", r"\1 per \2"),
        ("inactiv|idle", r"\s+of (?:inactivity|idleness|idle time|being idle)\b", ""),
        ("live for|lives for", r"\blives? for\b", "keep for"),
        ("nobody|no one", r"\b(?:nobody|no one) (?:but|except)\b", "only"),
        ("out of", r"\bkeep (.{1,60}?) out of\b", r"not keep \1 in"),
        ("leave out|left out|omit", r"\b(?:leave out|left out|omitted|omit)\b", "optional"),
        (" of ", rf"\b([0-9]{{1,2}})(?:st|nd|rd|th)? of ({MONTH})\b", r"\2 \1"),
        ("none", r"(?<=\w )(?-i:None)\b", "`None`"),
        ("left behind", r"\bleft behind\b", "kept"),
        ("cleaned", r"\bcleaned(?: up)?\b", "removed"),
        ("valid for", r"\bvalid for\b", "expire after"),
        ("midnight", r"\b(?:at )?midnight\b", "at 00:00"),
        ("noon", r"\b(?:at )?noon\b", "at 12:00"),
        ("k", r"\b([0-9]+)k\b", r"\g<1>000"),
        ("not even", r",?\s*\bnot even [^,]+,?", ""),
        (
            _PUSHED,
            rf"(?:\b(?:was|were|has been|have been|is|are|got)\s+)?\b(?:{_PUSHED})(?: up| down| back| forward)?\b",
            "changed",
        ),
        ("not only|not just|no matter|whether", r"\bnot (?:only|just)\b|\bno matter\b|\bwhether or not\b", ""),
        ("n't|cannot|’t", r"\bcan't\b|\bcannot\b", "can not"),
        ("won't", r"\bwon't\b", "will not"),
        ("n't", r"n't\b", " not"),
        ("anything|anyone", r"\bnot (\w+) any(?:thing|one) (?:but|except|other than)\b", r"only \1"),
        ("no ", r"\bno (?:more|later|less|fewer) than\b", "at most"),
        ("longer|any|more|now", r"\bno longer\b", "not"),
        ("any", r"\bany ?(?:more|longer)\b", ""),
        ("stopped|quit|gave up", r"\b(?:stopped|quit|gave up)\s+(\w+ing)\b", r"not \1"),
        ("refuse|fail", r"\b(?:refuses?|fails?) to\b", "not"),
        ("have to|has to|had to", r"\b(?:have|has|had) to\b", "must"),
        ("must not|should not|may not", r"\b(?:must|should|may|shall) not\b", "not"),
        ("tim", r"\btim(?:e|es|ed|ing) out\b", "timeout"),
        ("plain", r"\bplain[ -]text\b", "plaintext"),
        ("pull", r"\bpull[ -]requests?\b", "PR"),
        ("half", r"\bhalf (?:an )?hour\b", "30 minutes"),
        ("once|every|each|twice", r"\b(?:once (?:a|per)|every|each) (day|night|week|month|hour|year)\b", r"\1ly"),
        ("dayly", r"\bdayly\b", "daily"),
        ("twice|once", r"\bonce an? ", "every 1 "),
        (" a | an ", r"\b(for|within|after|every|in|than) an? (second|minute|hour|day|week|month|year)\b", r"\1 1 \2"),
        ("no need", r"\b(?:there is |there's )?no need\b", "not need"),
        ("up to you|up to the|up to each", r"\bup to (?:you|the \w+|each \w+)\b", "optional"),
        ("illion|thousand", r"(?<=[0-9])\s(?:m|b)illion\b|(?<=[0-9])\sthousand\b", ""),
        ("sign", r"\bsign(s|ed|ing)? off(?: on)?\b", r"approve\1"),
        (" off|-off", r"\b(?:kick|log|hand|trad|back|tak|cut|round)\w*[ -]off\b", "start"),
        ("below|under", r"\bnot (?:drop|fall|go|be|get) (?:below|under)\b", "at least"),
        ("twice", r"\btwice\b(?! (?:a|per|as|the|every|each)\b)", "2 times"),
        ("twice", r"\btwice (?:a|per) day\b", "every 12 hours"),
        ("twice", r"\btwice (?:a|per) week\b", "every 84 hours"),
        ("exceed|more than", r"\bnot (?:exceed|be (?:more|larger|longer|bigger|greater) than)\b", "at most"),
    )
]


def marks(sentence: str) -> frozenset[str]:
    found = {mark for mark, pattern in _MARKS.items() if pattern.search(sentence)}
    if _LIST_NUMBER.match(sentence):
        found.add("list")
    found |= events(sentence)
    if _DONE.search(sentence) and not _DATED.search(sentence):
        found.discard("past")
    return frozenset(found)


def plain(sentence: str) -> str:
    """With "not" for every way to say it, rates and bounds in one form, and names of several words joined."""
    lowered = sentence.lower()
    for hints, pattern, plainly in PLAINER:
        if any(hint in lowered for hint in hints):
            sentence = pattern.sub(plainly, sentence)
            lowered = sentence.lower()
    return PHRASES.sub(lambda match: match.group().replace(" ", "-"), sentence)
