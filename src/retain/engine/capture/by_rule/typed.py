"""What a user typed with their own hands: a prompt without what was pasted, quoted or put there by programs.

Only this may become a wish, a decision or a rule. Whatever could be somebody else's text is left out, since a
missed wish can be said again and a planted one cannot be unsaid.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retain.domain.echo import without_echo
from retain.engine.capture.by_rule.voice import is_marked_own, is_relayed, makes_a_text, own_lines, without_new_words

LONGEST = 500  # a sentence beyond this is not one that somebody typed
_MESSAGE = 20_000  # nobody types more; the rest of a longer prompt is not looked at
_TYPED_LINES, _TYPED_CHARACTERS = 40, 4_000  # beyond either, most of a prompt was pasted

_OPENER = re.compile(r"<([a-z][\w:-]{0,60})(?=[\s>/])", re.IGNORECASE)
_CLOSER = re.compile(r"</([a-z][\w:-]{0,60})\s{0,20}>", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_PROGRAM_TAG = re.compile(
    r"(?:system|retain|private|instruction|document|file|tool|command|local-|user-|assistant)", re.I
)
_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_INLINE_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(r"[\"“”«»„]([^\"“”«»„\n]{1,400})[\"“”«»„]|(?<![\w'])'((?:[^'\n]|(?<=\w)'(?=\w)){1,400})'(?!\w)")
# A quotation that begins or ends elsewhere. After a number the mark is one of inches.
_OPEN_QUOTE = re.compile(r"(?<!\d)\"")
_LAST_OF_QUOTE = re.compile(r"(?!.*(?<!\w)'\w).*[^\w\s]'\W*$")
# The words of an image or a link, and data: nobody says anything with them.
_EMBEDDED = re.compile(
    r"!\[[^\]\n]{0,400}\](?:\([^)\n]{0,400}\))?|\[[^\]\n]{0,400}\]\([^)\n]{0,400}\)"
    r"|\{[^{}\n]{0,400}[\"'][^{}\n]{0,400}:[^{}\n]{0,400}\}"
)
# A line for a shell is no sentence, whatever the file in it is called.
_SHELL_LINE = re.compile(
    r"\s*(?:\$ )?(?:sudo )?(?:cat|ls|cd|rm|less|head|tail|grep|rg|vim?|nano|mv|cp|chmod|chown|echo|mkdir|sed|awk"
    r"|curl|wget"
    r"|touch (?=\S*[./])|open (?=\S*[./])|source (?=\S*[./])|\./\S+)\s(?!(?:is|are|was|has|must|needs?|only|and|or)\b)",
)

_ROLE = re.compile(
    r"\s*[*_]{0,2}(?:user|human|assistant|system|ai|bot|claude|agent|developer|q|a|question|answer)[*_]{0,2}\s?:", re.I
)
_HEADING = re.compile(r"\s{0,3}#{1,6}\s|={3,}\s*$|-{3,}\s*$")
_HEADER = re.compile(
    r"\s*(?:title|labels?|subject|from|to|cc|date|steps to reproduce|expected(?: behaviou?r)?|actual|description"
    r"|acceptance criteria|stop hook feedback|hi|hello|dear)\s?(?::|\s\w+(?: \w+)?,\s*$)"
    r"|\W*(?:requirements?|constraints?|tasks?|acceptance|context|goals?|instructions|steps|files(?: to \w+)?|format"
    r"|output|plan|implement the following plan)\W*:\W*$",
    re.I,
)
_OWN_LIST = re.compile(
    r"\b(?:remember|rules?|conventions?|guidelines?|background|intro|keep in mind|bear in mind|things to know"
    r"|preferences?|note|careful|todo|next steps?|decisions?|how we work|my setup|our setup|correction)\b"
    r"|\bthings (?:about|for|in|to know about) (?:this|the|our) (?:repo|repository|project|codebase"
    r"|code base|monorepo|team)\b",
    re.I,
)
_OTHERS = re.compile(
    r"\b(?:readme|docs?|documentation|wiki|e?mail|letter|issue|ticket|log|logs|output|error|trace|page|article|post"
    r"|message|thread|wrote|writes|says|said|told|their|his|her|customer|vendor|reviewer|prompt|snippet|file|text"
    r"|spec|tooltip|label|banner|headline|toast|caption|placeholder|button|copy|this|these|below|following|see|translate|summari[sz]e|review|explain)\b",
    re.I,
)
_PASTED_LINE = re.compile(
    r"\s{4,}\S|\t|\s*(?:>|\||\$ |% |\+{1,3}[^\s+]|@@|[{}\[\]<])"  # code, quotes, tables, shells, patches, JSON, markup
    r"|.*[;{}]\s*$|\s*(?://|/\*|\*/|--\s|#!)|\s*\[?\d{4}-\d\d-\d\d|\s*\[?\d\d:\d\d:\d\d"
    r"|\s*\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|FATAL|TRACE|NOTICE|npm (?:ERR!|error|warn))\b[\]:\s]"
    r"|\s*[\w.-]+@[\w.-]+[ :]\S* ?[%$#]\s|\s*(?:at\s\S+\s?\(|File\s\"|Traceback\s|Caused by:"
    r"|[\w.]{0,80}(?:Error|Exception):)|\s*[\w.-]{1,60}:\s*$|\s*-\s[\w.-]{1,40}:\s|\s*(?:instructions|system|prompt"
    r"|memory|rule)\s?:"
)
# Alone it is somebody's word; among other lines it is a key in a file.
_ONE_RULE = re.compile(r"\s*rule: [^\n]{3,200}\s*")
# Nobody types these: invisible and direction-changing characters, tags, full-width and look-alike Latin letters.
_UNTYPED = re.compile(
    "[\u00ad\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\uff21-\uff3a\uff41-\uff5a]"
    "|[a-z][\u200c\u200d][a-z]|[a-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][a-z]",
    re.IGNORECASE,
)
_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{60,}")
_SENTENCE_END = re.compile(
    r"(?<=[.!?。！？])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!etc\.)(?:\s+|(?<=[。！？]))|;\s+|\s+[-–—]\s+(?=and |also )"
)
_KEEP_THAT = re.compile(r"\. (?:please |pls )?(?:remember (?:that|this)|keep (?:that|this) in mind)(?=[.!]|$)", re.I)
# "Scratch celery, … . We'll use a timer instead": the second sentence takes the place of what the first gives up.
_SCRATCHED = re.compile(
    r"(\b(?:scratch|ditch|drop|forget(?: about)?) (?!that\b|this\b|it\b)[^.!?;]{2,160})\. "
    r"(?=(?:so )?(?:we'?ll|let'?s|we)"
    r" [^.!?;]{5,160} instead\b)",
    re.I,
)
_CLAUSE = re.compile(
    r",?\s+(?:and|but|also)(?:\s+(?:also|please|pls|plz))*\s+(?=(?:always|never|don'?t|do not|make sure"
    r"|remember that|from now on|stop \w+ing|we'?ll continue)\b)"
    r"|, (?=(?:the |our |all )?[\w-]+ (?:is|are) (?:always|never) )|,\s+(?:(?:and|but|so)\s+)?(?=(?:btw|by the way"
    r"|fyi)\b)"
    r"|, (?:(?:and|but|so) )?(?=we(?:'re| are) going with\b|we(?:'ve| have)?(?: just| now)? (?:decided|agreed|never"
    r"|always|adopted"
    r"|chose|went with|settled on|standardi[sz]ed on|switched (?:to|from)|moved (?:to|from)|migrated (?:to"
    r"|from)|changed our minds?)\b|from now on\b"
    r"|(?:every|each) (?:new )?\w+ (?:needs|must|gets)\b)|(?<=\w) (?=we decided\s?:)",
    re.I,
)
# No user says this of their own wishes; it comes with what they pasted.
_PLANTED = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|prompts?|guidelines|rules|above)\b"
    r"|\bsystem prompt\b|\bjailbreak",
    re.I,
)
_BULLET = re.compile(r"\s{0,3}(?:[-*•]|\d{1,2}[.)])\s+")
_NUMBER = re.compile(r"(?:^|(?<=\s))\(?(\d)[.)]\s+")
_NOT_TO_KEEP = re.compile(
    r"\b(?:don'?t|do not|no need to|needn'?t|never|not to)\s+(?:ever\s+)?(?:remember|save|store|memori[sz]e|note"
    r"|keep)\s(?:this|that|it|any of)\b|\boff the record\b",
    re.I,
)
_REQUEST = re.compile(
    r"\?|\b(?:fix|debug|investigate|look into|have a look|(?:can|could) you|find out|check|why|implement"
    r"|i (?:want|need)|i(?:'d| would) like)\b|^(?:\W*(?:ok|now|and|then|please|pls|so|also|next)\b)*\W*(?:add|create"
    r"|build|make|change|write|update|refactor|read|run|load|plot|rename|remove|delete|show)\b",
    re.I,
)
_WONDERS = re.compile(r"\?|^\W*(?:why|how come|what)\b|\b(?:i wonder|no idea why|weird|strange)\b", re.I)
_ANNOUNCES = re.compile(
    r"\b(?:ground rules|rules(?! of)|conventions|guidelines|background|intro|things to (?:know|remember)|how we work"
    r"|keep in mind|preferences|remember (?:this|the following|these))\b[^.?!]{0,60}:",
    re.I,
)
# The whole line leads to a list of how things are done here; rules of a game, a form or a page are not that.
_PROJECT = r"(?:this|the|our) (?:repo|repository|project|codebase|code base|monorepo|team)"
_LEADS_TO_LIST = re.compile(
    r"\W*(?:(?:ok|okay|hey|hi|so|btw|also|and|now|first|just|a|the|our|my|some|few|couple|couple of|several|more|quick"
    r"|here are|these are|before (?:you|we) start)\b[\s,]*)*"
    rf"(?:things (?:about|for|in|to know about) {_PROJECT}|(?:coding |code |naming |team |project |repo )?conventions"
    rf"(?: (?:here|around here|we follow|(?:for|in|of) {_PROJECT}))?"
    rf"|(?:house|ground|team|project|repo|coding|code style|style) (?:rules|guidelines)"
    rf"(?: (?:here|(?:for|in|of) {_PROJECT}))?"
    rf"|(?:rules|guidelines) (?:for|in|of) {_PROJECT})"
    r"(?:,? (?:before you|to keep in mind|to know|you should know|to follow|first)\b[^.?!:]{0,40})?\s*:\s*",
    re.I,
)
# Somebody else's, whatever it is called.
_THEIR_LIST = re.compile(
    r"\b(?:their|his|her|vendor'?s?|customer'?s?)\b|\b(?:from|in|on) (?:the|an?|some|this|that) (?:\w+ )?(?:wiki|readme"
    r"|docs?|documentation|page|article|blog|post|mail|ticket|issue|thread|guide)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One clause of a prompt, with typographic marks made plain, and the whole sentence around it.

    `announced` when the prompt said that rules or background follow, `listed` when it is a point of the list right
    below; `beside_request` when the same prompt
    also asks for something to be done, `beside_question` when it asks or complains about something.
    """

    text: str
    whole: str = ""
    announced: bool = False
    beside_request: bool = False
    beside_question: bool = False
    listed: bool = False


def sentences(prompt: str) -> list[Sentence]:
    """What the user said, sentence by sentence; empty when they said that it is not to be kept."""
    text = _plain(_without_spans(without_echo(prompt[:_MESSAGE])))
    if _NOT_TO_KEEP.search(text):
        return []
    typed = _typed_lines(text)
    if is_relayed(typed):
        return []
    lines = [line for line in typed if not _is_foreign(line)]
    announces = any(_announces(line) or _leads_to_list(line) for line in lines)
    lines = lines if announces else own_lines(lines)
    asks = any(_REQUEST.search(line) for line in lines)
    wonders = any(_WONDERS.search(line) for line in lines)
    for_a_text = makes_a_text(lines)
    found, announced, leads = [], False, False
    for line in lines:
        listed = leads and _BULLET.match(line) is not None
        leads = listed or _leads_to_list(line) or (leads and not line.strip())
        for item in _items(line):
            for whole, part in _parts(" ".join(item.split())):
                if not for_a_text or is_marked_own(part):
                    found.append(Sentence(part, whole, announced, asks, wonders, listed))
            announced = announced or _announces(item)
    return found


def _items(line: str) -> list[str]:
    """A line without its bullet; one that counts 1) 2) 3) in what it says, item by item."""
    line = _BULLET.sub("", line, count=1) if _BULLET.match(line) else line
    marks = list(_NUMBER.finditer(line))
    if [mark[1] for mark in marks] not in (["1", "2"], ["1", "2", "3"], ["1", "2", "3", "4"], ["2"], ["2", "3"]):
        return [line]
    starts, ends = [0, *(mark.end() for mark in marks)], [*(mark.start() for mark in marks), len(line)]
    return [line[start:end] for start, end in zip(starts, ends, strict=True) if line[start:end].strip()]


def _announces(line: str) -> bool:
    return _ANNOUNCES.search(line) is not None


def _leads_to_list(line: str) -> bool:
    return _LEADS_TO_LIST.fullmatch(line) is not None


def _plain(text: str) -> str:
    return text.replace("’", "'").replace("‘", "'").replace("\u00a0", " ").replace("\r\n", "\n").replace("\r", "\n")


def _without_spans(text: str) -> str:
    """Without comments and whatever stands between tags. A stray closing tag of ours ends something whose
    beginning was cut off, so all before it goes."""
    text = _COMMENT.sub(" ", text)
    last = {match[1].lower(): match.end() for match in _CLOSER.finditer(text)}
    stray = max((end for name, end in last.items() if _PROGRAM_TAG.match(name)), default=0)
    openers = [match for match in _OPENER.finditer(text) if match[1].lower() in last or _PROGRAM_TAG.match(match[1])]
    kept, position = [], 0
    if stray and not any(match.start() < stray and _PROGRAM_TAG.match(match[1]) for match in openers):
        position = stray
    for match in openers:
        if match.start() < position:
            continue
        kept.append(text[position : match.start()])
        position = max(last.get(match[1].lower(), len(text)), match.end())
    return _INLINE_FENCE.sub("\n", "\n".join([*kept, text[position:]]))


def _typed_lines(text: str) -> list[str]:
    if _ONE_RULE.fullmatch(text):
        return [text]
    lines = list(_until_paste(_unfenced(text.split("\n"))))
    typed = [line for line in lines if not _is_pasted(line)]
    if len(typed) > _TYPED_LINES or sum(map(len, typed)) > _TYPED_CHARACTERS:
        return []
    # Between code or log lines even prose belongs to them, unless it stands apart.
    return typed if len(typed) == len(lines) else _outside_paste(lines)


def _outside_paste(lines: list[str]) -> list[str]:
    """The paragraphs in which no line looks pasted; in a prompt without paragraphs, what comes before the paste."""
    kept: list[str] = []
    paragraph: list[str] = []
    is_clean = True
    for line in [*lines, ""]:
        if line.strip():
            is_clean = is_clean and not _is_pasted(line)
            paragraph += [line] if is_clean else []
        else:
            kept += paragraph
            paragraph, is_clean = [], True
    return kept


def _is_pasted(line: str) -> bool:
    return _PASTED_LINE.match(line) is not None and not (
        line.rstrip().endswith(":") and (_announces(line) or _leads_to_list(line))
    )


def _unfenced(lines: list[str]) -> Iterator[str]:
    fenced = False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield line


def _until_paste(lines: Iterator[str]) -> Iterator[str]:
    """The lines before a document, a chat or a mail begins. One that the user introduces begins after that line."""
    for line in lines:
        if _ROLE.match(line) or _HEADING.match(line) or _HEADER.match(line):
            return
        yield line
        ends_in_colon = line.rstrip().endswith(":")
        if ends_in_colon and _OTHERS.search(line) and (_THEIR_LIST.search(line) or not _OWN_LIST.search(line)):
            return


def _is_foreign(line: str) -> bool:
    """Whether a line holds what nobody types, whatever it looks like."""
    return _SHELL_LINE.match(line) is not None or any(pattern.search(line) for pattern in (_UNTYPED, _BLOB, _PLANTED))


def _parts(line: str) -> Iterator[tuple[str, str]]:
    """Each sentence with each of its clauses, up to where words for a screen or an open quotation begin."""
    line = _QUOTED.sub(_unless_long, _EMBEDDED.sub("\x00", without_new_words(line)))
    for sentence in _SENTENCE_END.split(_SCRATCHED.sub(r"\1, ", _KEEP_THAT.sub(", remember that", line))):
        whole = sentence.strip()
        if len(_OPEN_QUOTE.findall(whole)) % 2:
            return
        if len(whole) <= LONGEST and not _LAST_OF_QUOTE.match(whole):
            yield from ((whole, clause.strip()) for clause in _CLAUSE.split(whole) if len(clause.strip()) >= 3)


def _unless_long(match: re.Match[str]) -> str:
    """A name in quotation marks stays; a whole clause in them is somebody else's."""
    words = match[1] or match[2]
    return match[0] if len(words.split()) <= 3 else "\x00." if words.endswith((".", "!", "?")) else "\x00"
