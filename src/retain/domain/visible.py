"""Characters that a reader does not see and a machine does: taken out of a text, or marked in it.

Control characters, those that turn the direction of writing, those without width, tags and variation selectors can hide
an order in a text that looks harmless. Some of them join emoji and letters, and stay where they do. Hooks import this,
so it imports only `re`; the patterns are compiled when a text first needs them.
"""

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "\ufffd"

# All that Unicode calls ignorable or a format, apart from the few signs of Arabic, Syriac and Kaithi that are drawn.
UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001345f\U00016fe4\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_EMOJI = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_TONE = "\U0001f3fb-\U0001f3ff"
# Scripts in which a joiner tells words apart: Arabic and its kin, Mongolian, and those that come from Brahmi.
_JOINED = (
    "\u0620-\u085f\u0870-\u0dff\u0f00-\u109f\u1700-\u17b3\u17b6-\u17ff\u1820-\u18af\u1900-\u1aaf\u1b00-\u1c4f"
    "\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
# England, Scotland and Wales: the only flags that are spelled in tags.
_FLAGS = [
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
]
_LINE_ENDS = "\x0b\x0c\x85\u2028\u2029"
_SUSPECT = f"[{UNSEEN}\ud800-\udfff]|\r(?!\n)"
_PATTERN = (
    rf"(?P<kept>{'|'.join(_FLAGS)}|[0-9#*]\ufe0f\u20e3"
    rf"|[{_EMOJI}][\ufe0e\ufe0f{_TONE}]?(?:\u200d[{_EMOJI}][\ufe0f{_TONE}]?)*|[{_JOINED}][\u200c\u200d]"
    r"|[\u1820-\u18aa][\u180b-\u180f])"
    # What a terminal takes for an order to itself goes whole: `[31m` alone would be noise.
    r"|(?P<escape>(?:\x1b\[|\x9b)[0-?]{0,100}[ -/]{0,10}[@-~]|\x1b\][^\x07\x1b]{0,4000}(?:\x07|\x1b\\))"
    rf"|(?P<end>[{_LINE_ENDS}]|\r(?!\n))|(?P<unseen>[{UNSEEN}]+)|[\ud800-\udfff]"
)


def visible(text: str) -> str:
    """The text without what nobody sees; a line that ends in an unusual way ends like others.

    Half of a pair, as file names bring them in, is no text and becomes a sign for that.
    """
    return _without(text, "")


def marked(text: str) -> str:
    """The same with a sign where something was, for a person who looks into it."""
    return _without(text, MARK)


def visible_in(value: object) -> object:
    """A value of JSON of which every text, names too, is visible; the same object where all is."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        cleaned = {visible_in(name): visible_in(item) for name, item in value.items()}
        return value if cleaned == value else cleaned
    if isinstance(value, list | tuple):
        items = [visible_in(item) for item in value]
        return value if items == list(value) else items
    return value


def _without(text: str, sign: str) -> str:
    # Most texts have nothing to hide, and then this is all there is to do.
    if re.search(_SUSPECT, text) is None:
        return text
    return re.sub(_PATTERN, _replacing(sign), text)


def _replacing(sign: str) -> "Callable[[re.Match[str]], str]":
    def replacement(found: "re.Match[str]") -> str:
        if found.lastgroup == "kept":
            return found[0]
        if found.lastgroup is None:
            return MARK
        return "\n" if found.lastgroup == "end" else sign

    return replacement
