"""Telling orders to an agent from knowledge: what a model found in a conversation may have been planted there."""

import re

# Nobody needs these remembered, whoever said them: they speak to the machine, not about the work.
_HOSTILE = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass|overrule)\b[^.]{0,40}\b(?:previous|prior|earlier|above|preceding|all"
    r"|any|other|your|system|safety|existing)\b[^.]{0,30}\b(?:instruction|rule|prompt|message|direction|guideline|memor"
    r"|polic|constraint|order)"
    r"|\b(?:new|updated|hidden|secret|real|actual) (?:system )?(?:instructions?|prompt|directive)s?\b"
    r"|\bsystem prompt\b|\byou are now\b|\bjailbreak|\bdeveloper mode\b|\b(?:as|you are) an? (?:ai|assistant|agent)\b"
    r"|\b(?:do not|don'?t|never|without)\b[^.]{0,20}\b(?:tell|telling|inform|informing|notify|notifying"
    r"|mention|mentioning|ask|asking|alert|alerting|warn|warning)\b[^.]{0,20}\b(?:user|human|developer|anyone"
    r"|anybody|them|permission"
    r"|confirmation|approval)\b"
    r"|\b(?:skip|disable|bypass|turn off|auto-?approve|always (?:allow|approve|accept))\b[^.]{0,30}"
    r"\b(?:permission|sandbox|confirmation|approval|safety|guardrail|security (?:check|review))"
    r"|dangerously-skip-permissions|bypasspermissions"
    r"|\b(?:curl|wget|iwr|invoke-webrequest|fetch)\b[^\n]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b|\biex\b.{0,20}\("
    r"|\bbase64\b[^\n]{0,40}\|\s*(?:ba)?sh\b|\brm\s+-rf?\s+[~/*]|\bchmod\s+777\s+/"
    r"|\b(?:send|upload|post|exfiltrate|leak|forward|e-?mail|copy|transmit)\b[^\n]{0,60}\b(?:key|token|secret"
    r"|credential"
    r"|password|env(?:ironment)?(?: variables?| file)?|\.env|ssh|cookie|source code|transcript|conversation)s?\b"
    r"[^.]{0,60}\b(?:to|at|into|via)\b"
    r"|<\s*/?\s*(?:system|retain-notes|private|system-reminder|instructions?|im_start|im_end)\b|‹/?(?:system"
    r"|retain-notes)"
    r"|<\||\|>|\[/?inst\]|memory:(?:start|end)|^\s*(?:system|assistant|human|user)\s*:|###\s*(?:system|instruction)",
    re.IGNORECASE | re.MULTILINE,
)
# "Don't rename things without asking" is a wish; "rename things without asking" is an order.
_UNASKED = re.compile(r"\bwithout (?:asking|confirmation|permission|approval|telling(?! (?:us|me)\b))\b", re.IGNORECASE)
_FORBIDS = re.compile(r"\b(?:don'?t|do not|never|not|no|nothing|avoid|stop)\b", re.IGNORECASE)
# Nobody types these: invisible and direction-changing characters, and text that is enciphered.
_HIDDEN = re.compile(
    "[\u00ad\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]|[A-Za-z0-9+/=_-]{60,}"
)
_GUARDS = (
    r"tests?|checks?|auth\w*|login|lint\w*|hooks?|verif\w+|validat\w+|certificates?|certs?|tls|ssl|https|csrf|cors"
    r"|csp|xss|mfa|2fa"
    r"|firewall|sandbox\w*|signatures?|signing|encryption|hashing|escaping|sanitiz\w+|sanitis\w+|permissions?"
    r"|reviews?|audit\w*"
    r"|backups?|rate limit\w*|protection|security|prepared statements|type check\w*|warnings?|strict\w*"
    r"|access control|selinux"
)
# What makes the work less safe, however it is put. A user may want it, and then says it again when it is needed.
_WEAKENS = re.compile(
    r"strict-?ssl|reject_?unauthorized|stricthostkeychecking|--?(?:no-verify|insecure|extra-index-url|trusted-host"
    r"|index-url|force"
    r"|privileged|skip-\w+|disable-\w+|allow-\w+|break-system-packages)\b|\bforce[- ]push|\bselinux\b|\bas root\b"
    r"|\broot (?:accounts?|user)\b|\bsudo\b|\bunsigned\b|\bchmod\b|\b0?777\b|world[- ]writable|verify\s*=\s*(?:false|0)"
    rf"|\b(?:disabl|deactivat|bypass|skip|turn|switch|suppress|silenc|remov|ignor|drop|omit|avoid|relax|loosen"
    rf"|weaken)\w*\b"
    rf"[^.]{{0,30}}\b(?:{_GUARDS})\b|\b(?:without|no|not? (?:more |longer )?(?:need|use|run)\w*) (?:any "
    rf"|the )?(?:{_GUARDS})\b"
    rf"|\b(?:{_GUARDS}) (?:are |is |stays? |turned |switched )?(?:off|disabled|optional)\b"
    r"|\bplain[- ]?text\b.{0,30}\b(?:pass|secret|token|key|credential)|\b(?:pass\w*|secrets?|tokens?|keys?"
    r"|credentials?)\b.{0,60}"
    r"\b(?:plain[- ]?text|in the (?:repo|url|query|log)|hardcod\w+|unencrypted|md5)|\b(?:commit|check in|push"
    r"|publish|share)\w*\b"
    r".{0,30}(?:\.env\b|\bsecrets?\b|\bcredentials?\b|\bkeys?\b)|\bopen (?:to|for) (?:every|any)(?:one|body)|0\.0\.0\.0"
    r"|\ballow(?:ing)? (?:all|any|every)|\btrust(?:ing)? (?:all|any|every|the client)|\beval\b|\*:\*"
    r"|\bpublic(?:ly)? (?:readable|writable)",
    re.IGNORECASE,
)
_CLAIMS = re.compile(
    r"\b(?:remember|note|keep in mind) that\b|\b(?:i|we|they|you|the (?:user|team|project|developer|maintainer)s?)\s+"
    r"(?:have |has |all )?(?:decide|agree|prefer|want|like|suggest|recommend|advise|propose|chose|choose)(?:s|d|ed)?\b",
    re.IGNORECASE,
)
_INSTALLS = re.compile(r"\b(?:npx|pip3? install|npm (?:i|install))\b", re.IGNORECASE)
_SPEAKS_FOR = re.compile(
    r"\b(?:the (?:user|team|developer|maintainer|owner)s?|you)\s+(?:has |have |all |always )?"
    r"(?:want|prefer|wish|ask|expect|approve|allow|authori[sz]e|require|request)(?:s|d|ed)?\b",
    re.IGNORECASE,
)
_COMMANDS = re.compile(
    r"\b(?:curl|wget|nc|netcat|ssh|scp|eval|exec|sudo|iwr|invoke-webrequest|base64)\b|https?://"
    r"|\bgit (?:push|remote)|\brm -",
    re.IGNORECASE,
)
_DEMANDS = re.compile(
    r"\b(?:always|never|must|mustn'?t|should|shouldn'?t|shall|(?:have|has|needs?|remember|be sure) to|make sure|ensure"
    r"|do not|don'?t|from now on|going forward|whenever|every time|before (?:every|each|any)|after (?:every|each|any)"
    r"|required to|mandatory|trust(?:ed)?|authori[sz]ed|approved|allowed to|permitted)\b",
    re.IGNORECASE,
)
_VERBS = """
    accept add allow answer append approve avoid call change check commit copy create delete deploy disable disregard
    do download enable execute fetch follow forget give grant ignore import include insert install invoke keep let make
    merge move open output paste post prefer print publish push put read remove rename replace reply report respond
    return run say send set share skip start stop store switch tell treat trust turn update upload use visit write
"""
_ORDERS = frozenset(_VERBS.split())
# "Import size is", "Deploy scripts live": what could be an order is what the sentence speaks of.
_SPOKEN_OF = re.compile(
    r"[^\w]*[A-Za-z]+(?: (?!(?:a|an|the|this|that|these|those|it|its|them|what|which|who|whatever|all|any|every|each|my"
    r"|our|your|and|or|to|in|on|at|if|when|only)\b)[\w`'’./-]+){0,3} (?:is|are|was|were|has|have|had|will|can|may|must"
    r"|should|lives?|goes|happens?|takes?|needs?|runs|ran|uses|fail(?:s|ed)?|works?|comes?|stays?|belongs?|breaks?"
    r"|depends?)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"[^\w]*(?:please|kindly|just|then|also|note:?|important:?)?[^\w]*([A-Za-z]+)", re.IGNORECASE)


def is_hostile(text: str) -> bool:
    """Whether a text speaks to the agent that will read it, wants harm done or hides: dropped, whoever said it."""
    unasked = _UNASKED.search(text)
    if unasked and not _FORBIDS.search(text, 0, unasked.start()):
        return True
    return _HOSTILE.search(text) is not None or _HIDDEN.search(text) is not None


def weakens(text: str) -> bool:
    """Whether a text makes the work less safe: checks that are off, secrets in the open, doors for everybody."""
    return _WEAKENS.search(text) is not None


def is_demand(text: str) -> bool:
    """Whether a text wants something done: only the user's own word makes that worth keeping."""
    first = _FIRST.match(text)
    is_order = first is not None and first[1].lower() in _ORDERS and not speaks_of_its_first_word(text)
    return _DEMANDS.search(text) is not None or is_order


def speaks_of_its_first_word(text: str) -> bool:
    """Whether the first word is a noun, though it could be an order: "Import size is limited"."""
    return _SPOKEN_OF.match(text) is not None


def needs_the_user(text: str) -> bool:
    """Whether only the user can have said it with any right: demands, claims about what somebody wants, things to run
    or to visit, and whatever makes the work less safe."""
    return is_wish(text) or _INSTALLS.search(text) is not None or needs_their_words(text)


def is_wish(text: str) -> bool:
    """Whether a text demands something, or claims that somebody wants it."""
    return is_demand(text) or _CLAIMS.search(text) is not None


def needs_their_words(text: str) -> bool:
    """Whether even the user's yes is not enough: things to run or to visit, and whatever makes the work less safe."""
    return any(pattern.search(text) for pattern in (_COMMANDS, _WEAKENS))


def reads_like_an_order(text: str) -> bool:
    """Whether an agent that reads it may take it for something to do, though only somebody's note was meant: it wants
    something done, says so in the user's name, makes the work less safe or hides what it wants."""
    return is_hostile(text) or is_demand(text) or weakens(text) or _SPEAKS_FOR.search(text) is not None
