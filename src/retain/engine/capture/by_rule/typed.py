"""Which parts of a prompt the user did not type: what was pasted, quoted, or put there by programs.

Whatever could be somebody else's text is a veto, whatever a judge thinks of it: a wish that was missed can be said
again, and a planted one cannot be unsaid. Places are those of the text as it was given.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile

from retain.domain.sentences import Span, sentences
from retain.engine.capture.by_rule.orders import hides

_MOST_LINES, _MOST_CHARACTERS = 60, 6_000  # beyond either, most of a prompt was pasted
_COVERED = 0.5  # of a sentence in somebody else's words: it is theirs

_OPENER = re.compile(r"<([a-z][\w:-]{0,60})(?=[\s>/])", re.IGNORECASE)
_CLOSER = re.compile(r"</([a-z][\w:-]{0,60})\s{0,20}>", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_PROGRAM_TAG = re.compile(
    r"(?:system|retain|private|instruction|document|file|tool|command|local-|user-|assistant)", re.I
)
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED = re.compile(
    r"[\"“”«»„「『]([^\"“”«»„「」『』\n]{1,400})[\"“”«»„」』]|(?<![\w'])'((?:[^'\n]|(?<=\w)'(?=\w)){1,400})'(?!\w)"
)
# A quotation that begins here and ends elsewhere. After a number the mark is one of inches.
_OPEN_QUOTE = re.compile(r"(?<!\d)[\"“„][^\"“”„\n]{0,400}$", re.MULTILINE)
# The words of an image or a link, and data: nobody says anything with them.
_EMBEDDED = re.compile(
    r"!\[[^\]\n]{0,400}\](?:\([^)\n]{0,400}\))?|\[[^\]\n]{0,400}\]\([^)\n]{0,400}\)"
    r"|\{[^{}\n]{0,400}[\"'][^{}\n]{0,400}:[^{}\n]{0,400}\}"
)
_ROLE = re.compile(
    r"\s*[*_]{0,2}(?:user|human|assistant|system|ai|bot|claude|agent|developer|question|answer)[*_]{0,2}\s?:", re.I
)
_HEADING = re.compile(r"\s{0,3}#{1,6}\s|={3,}\s*$|-{3,}\s*$")
_HEADER = re.compile(
    r"\s*(?:title|labels?|subject|from|to|cc|date|steps to reproduce|expected(?: behaviou?r)?|actual|description"
    r"|acceptance criteria|stop hook feedback|hi|hello|dear)\s?(?::|\s\w+(?: \w+)?,\s*$)",
    re.I,
)
# A line that introduces somebody's text, unless it is the user's own list that it introduces.
_OTHERS = re.compile(
    r"\b(?:readme|docs?|documentation|wiki|e?mail|letter|issue|ticket|logs?|output|error|trace|page|article|post"
    r"|message|thread|wrote|writes|says|said|their|his|her|customer|vendor|reviewer|prompt|snippet|file|text|spec"
    r"|tooltip|label|banner|headline|toast|caption|placeholder|button|copy|below|following|translate"
    r"|summari[sz]e|review|explain|(?:this|these)(?= \w+:|:))\b",
    re.I,
)
_OWN_LIST = re.compile(
    r"\b(?:remember|ground rules|house rules|rules|conventions?|guidelines?|background|keep in mind|bear in mind|things"
    r"|preferences?|notes?|careful|todo|next steps?|decisions?|how we work|my setup|our setup|correction)\b",
    re.I,
)
_THEIR_LIST = re.compile(
    r"\b(?:their|his|her|vendor'?s?|customer'?s?)\b|\b(?:from|in|on) (?:the|an?|some|this|that) (?:\w+ )?(?:wiki|readme"
    r"|docs?|documentation|page|article|blog|post|mail|ticket|issue|thread|guide)\b",
    re.I,
)
_PASTED_LINE = re.compile(
    r"\s{4,}\S|\t|\s*(?:>|\||\$ |% |\+{1,3}[^\s+]|@@|[{}\[\]<])"  # code, quotes, tables, shells, patches, JSON, markup
    r"|.*[;{}]\s*$|\s*(?://|/\*|\*/|--\s|#!)|\s*\[?\d{4}-\d\d-\d\d[T ]\d|\s*\[?\d\d:\d\d:\d\d"
    r"|\s*\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|FATAL|TRACE|NOTICE|npm (?:ERR!|error|warn))\b[\]:\s]"
    r"|\s*[\w.-]+@[\w.-]+[ :]\S* ?[%$#]\s|\s*(?:at\s\S+\s?\(|File\s\"|Traceback\s|Caused by:"
    r"|[\w.]{0,80}(?:Error|Exception):)|\s*(?:instructions|system|prompt|memory)\s?:"
)
# A line for a shell is no sentence, whatever the file in it is called.
_SHELL_LINE = re.compile(
    r"\s*(?:\$ )?(?:sudo )?(?:cat|ls|cd|rm|less|head|tail|grep|rg|vim?|nano|mv|cp|chmod|chown|echo|mkdir|sed|awk"
    r"|curl|wget|\./\S+)\s(?!(?:is|are|was|has|it|must|needs?|only|and|or)\b)",
)
_NOT_TO_KEEP = re.compile(
    r"\b(?:don'?t|do not|no need to|needn'?t|never|not to)\s+(?:ever\s+)?(?:remember|save|store|memori[sz]e|note"
    r"|keep)\s(?:this|that|it|any of)\b|\boff the record\b|\bmerk dir das nicht\b|\bne retiens pas\b"
    r"|\bno (?:recuerdes|guardes) esto\b|不要记住|覚えないで|기억하지 마",
    re.I,
)
# The prompt is about somebody's words: to be judged, translated, summed up or carried out, or from a place it names.
_RELAYED = re.compile(
    r"\b(?:is|are|was) (?:this|that|it|these|those)\b[^.?!\n]{0,30}\b(?:good advice|legit|true|advice|accurate"
    r"|bullshit|bs|nonsense|outdated)\b[^.!\n]{0,40}\?"
    r"|\b(?:does|do|would|should) (?:this|that|these|those|any of (?:this|that|it))\b[^.?!\n]{0,20}"
    r"\b(?:apply|sound|make sense)\b|\bwhat (?:do|would) you (?:think of|make of)\b"
    r"|\b(?:your|ur) (?:take|opinion|thoughts) on (?:this|that)\b"
    r"|\bthoughts\s?\?|\bdo (?:i|we) care\b|\b(?:legit|right or wrong|yay or nay)\s?\?"
    r"|\bwhat (?:does|do) (?:this|that|these|those) mean\b|\baccepted answer\b"
    r"|^\W*(?:is|are) (?:this|that|these|those) (?:valid|correct|ok(?:ay)?|right|safe|sane|legit|true)\W*$"
    r"|^\W*(?:(?:ok|now|please|pls|and|then|hey|hi|so|(?:can|could) you)\b[\s,]*)*(?:translate|proof-?read|rephrase"
    r"|reword|paraphrase|tl;?dr|polish|spell-?check|summari[sz]e)(?:\s?:| (?!what|your|the (?:changes|diff|work|code)))"
    r"|^\W*(?:from|via|source|per|as per|according to|laut)\b(?! (?:now|here|today|this|src|the (?:root|start|top"
    r"|repo))\b)[^.,:\n]{1,40}:?\s*$"
    r"|\b(?:exercise|homework|assignment|exam|user story|acceptance criteria|task description"
    r"|rules of (?!this|our|the (?:repo|project|code|team)))\b[^.\n]{0,30}:",
    re.I | re.MULTILINE,
)
_IS_MARKED = re.compile(r"\s*(?:```|~~~|>|\|)")  # what is fenced or quoted ends where its marks do
_LINE = re.compile(r"[^\n]+")
_FEW_WORDS = 3  # in quotation marks are a name


def not_to_keep(text: str) -> bool:
    """Whether the user said so, or the whole prompt speaks of somebody else's words, or is a document."""
    if _NOT_TO_KEEP.search(text) or _RELAYED.search(text):
        return True
    typed = _FENCE.sub("", text)
    return typed.count("\n") > _MOST_LINES or len(typed) > _MOST_CHARACTERS


def typed_sentences(text: str) -> list[str]:
    """What the user said with their own words, sentence by sentence."""
    if not_to_keep(text):
        return []
    barred = foreign(text)
    return [text[slice(*cut)] for cut in sentences(text) if not is_foreign(cut, barred, text)]


def foreign(text: str) -> list[Span]:
    """The stretches of a prompt that are not the user's words, in order; none touches another."""
    spans = [match.span() for pattern in (_COMMENT, _FENCE, _EMBEDDED) for match in pattern.finditer(text)]
    merged: list[Span] = []
    for start, end in sorted([*spans, *_tagged(text), *_quoted(text), *_pasted(text)]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def is_foreign(sentence: Span, spans: Sequence[Span], text: str) -> bool:
    """Whether a sentence is somebody else's, or holds what nobody types."""
    start, end = sentence
    first = max(0, bisect_right(spans, (start, len(text))) - 1)
    covered = 0
    for begin, stop in takewhile(lambda span: span[0] < end, islice(spans, first, None)):
        covered += max(0, min(stop, end) - max(begin, start))
    said = text[start:end]
    return covered > _COVERED * (end - start) or _SHELL_LINE.match(said) is not None or hides(said)


def _tagged(text: str) -> Iterator[Span]:
    """Whatever stands between tags. A stray closing tag of a program ends something whose beginning was cut off, so all
    before it goes."""
    last = {match[1].lower(): match.end() for match in _CLOSER.finditer(text)}
    openers = [match for match in _OPENER.finditer(text) if match[1].lower() in last or _PROGRAM_TAG.match(match[1])]
    stray = max((end for name, end in last.items() if _PROGRAM_TAG.match(name)), default=0)
    if stray and not any(match.start() < stray and _PROGRAM_TAG.match(match[1]) for match in openers):
        yield 0, stray
    for match in openers:
        yield match.start(), max(last.get(match[1].lower(), len(text)), match.end())


def _quoted(text: str) -> Iterator[Span]:
    """A name in quotation marks stays; a whole clause in them is somebody else's."""
    for match in _QUOTED.finditer(text):
        if len((match[1] or match[2]).split()) > _FEW_WORDS:
            yield match.span()
    for match in _OPEN_QUOTE.finditer(text):
        if text.count('"', 0, match.start()) % 2 == 0:
            yield match.span()


def _pasted(text: str) -> Iterator[Span]:
    """Lines that look pasted with what stands in one paragraph behind them, and all that follows a line that introduces
    a document, a chat or a mail."""
    in_paste = False
    fence_end = 0
    for match in _LINE.finditer(text):
        line = match[0]
        if match.start() >= fence_end and (fence := _FENCE.match(text, match.start())):
            fence_end = fence.end()
        if match.start() < fence_end:
            in_paste = False
            continue
        if _ROLE.match(line) or _HEADING.match(line) or _HEADER.match(line):
            yield match.start(), len(text)
            return
        in_paste = _PASTED_LINE.match(line) is not None or (in_paste and not _stands_apart(text, match.start()))
        if in_paste:
            yield match.span()
        elif _introduces_others(line) and not _IS_MARKED.match(text, match.end()):
            yield match.end(), len(text)
            return


def _stands_apart(text: str, start: int) -> bool:
    return text[max(0, start - 40) : start].rstrip(" \t").endswith("\n\n")


def _introduces_others(line: str) -> bool:
    last = line.rstrip().rpartition(". ")[2]
    is_own_list = _OWN_LIST.search(last) is not None and _THEIR_LIST.search(last) is None
    return last.endswith(":") and _OTHERS.search(last) is not None and not is_own_list
