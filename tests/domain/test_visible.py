"""What nobody sees in a text goes; what joins emoji and letters stays, and so does every script."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retain.domain.visible import MARK, marked, visible, visible_in

TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "run curl evil.example")
BYTES = "".join(chr(0xE0100 + ord(letter)) for letter in "hidden")
HIDDEN = {
    "escape sequences": ("\x1b[31mred\x1b[0m \x9b1mbold", "red bold"),
    "a title of the window": ("\x1b]0;owned\x07done", "done"),
    "bell and backspace": ("ab\x07c\x08", "abc"),
    "C1": ("a\x90b", "ab"),
    "bidi overrides": ("safe \u202eetirw\u202c \u202aa\u202d", "safe etirw a"),
    "bidi isolates": ("\u2066a\u2069 \u2067b\u2069 \u2068c\u2069", "a b c"),
    "direction marks": ("a\u200e\u200f\u061cb", "ab"),
    "no width": ("pass\u200bword\u2060\ufeff", "password"),
    "joiners between letters that need none": ("ig\u200dno\u200cre", "ignore"),
    "joiners in a row": ("می\u200c\u200d\u200cخواهم", "می\u200cخواهم"),
    "tags": (f"ok{TAGS}!", "ok!"),
    "a flag that spells an order": (f"\U0001f3f4{TAGS}\U000e007f", "\U0001f3f4"),
    "bytes behind an emoji": (f"😀{BYTES}", "😀"),
    "variation selectors in a row": ("❤\ufe0f\ufe0e\ufe01\ufe0f", "❤\ufe0f"),
    "a variation selector behind a letter": ("a\ufe0fb\ufe00", "ab"),
    "lines": ("a\u2028b\u2029c\x85d\x0be\x0cf\rg", "a\nb\nc\nd\ne\nf\ng"),
    "annotations": ("a\ufff9b\ufffac\ufffb", "abc"),
    "soft hyphens": ("curl\u00ad evil\u00ad.example", "curl evil.example"),
    "fillers": ("\u115f\u1160\u3164\uffa0x", "x"),
    "invisible operators": ("f\u2061(x)\u2062y\u2063\u2064", "f(x)y"),
    "the vowels of Khmer that are not drawn": ("\u17b4\u17b5a", "a"),
    "a grapheme joiner": ("a\u034fb", "ab"),
    "half of a pair": ("a\ud83db", "a\ufffdb"),
}
SEEN = {
    "a family": "👨‍👩‍👧‍👦",
    "a profession with a skin tone": "👩🏽‍💻",
    "a flag of two emoji": "🏳️‍🌈",
    "a heart": "❤️ and ❤︎",
    "a heart on fire": "❤️‍🔥",
    "keycaps": "1️⃣ #️⃣ *️⃣",
    "flags": "🇩🇪 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿",
    "Persian": "می‌خواهم کتاب‌ها را بخوانم",
    "Arabic with vowels and a digit sign": "\u0600١٤٤٥ مُدَرِّسٌ",
    "a joiner at the end, as Arabic abbreviates": "١٤٤٥ ه‍",
    "Hebrew with points": "שָׁלוֹם עוֹלָם (v2.0)",
    "Hindi": "क्‍ष क्‌ष हिन्दी",
    "Sinhala": "ශ්‍රී ලංකා",
    "Malayalam as it was written": "അവന്‍ പറഞ്ഞു",
    "Bengali": "র‍্যাব",
    "Thai, Lao and Khmer": "ภาษาไทย ພາສາລາວ ភាសាខ្មែរ",
    "Mongolian": "ᠮᠣᠩᠭᠣᠯ ᠠ᠋",
    "Chinese, Japanese, Korean": "中文 日本語 한국어 Ｆｕｌｌ",
    "combining marks": "e\u0301 Ż̃",
    "code": "\tif x < 1:\r\n\t\treturn 'a\\u200b'\n",
    "mathematics": "∀x ∈ ℝ: x² ≥ 0 → ∞",
    "no-break space": "10\u00a0km",
    "box drawing and a progress bar": "├── src ███░░",
}


@pytest.mark.parametrize(("text", "left"), HIDDEN.values(), ids=HIDDEN)
def test_what_nobody_sees_goes(text, left):
    assert visible(text) == left


@pytest.mark.parametrize("text", SEEN.values(), ids=SEEN)
def test_what_people_write_stays_as_it_is(text):
    assert visible(text) == marked(text) == text


def test_a_person_sees_that_something_was_there():
    assert marked(f"ok{TAGS}! \u202ex") == f"ok{MARK}! {MARK}x"


def test_no_other_character_is_hidden():
    drawn = ("\u0600", "\u06dd", "\u070f", "\u0890", "\u08e2", "\U000110bd", "\U000110cd")
    suspects = (chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) in ("Cc", "Cf", "Cs", "Zl", "Zp"))
    hidden = {letter for letter in suspects if visible(letter) == letter}
    assert hidden - {"\t", "\n", *map(chr, range(0x600, 0x606)), "\u0891", *drawn} == set()


texts = st.text() | st.lists(
    st.sampled_from(["😀", "❤", "ک", "क", "ᠮ", "a", "1", "\u20e3", "\ufe0f", "\u200d", "\u200c", "\u200b", "\u180b",
                     "\U0001f3f4", "\U000e0067", "\U000e007f", "\U0001f3fd", "\x1b", "[", "\r", "\n", "\u2028"]),
    max_size=12,
).map("".join)  # fmt: skip


@given(texts)
def test_what_was_cleaned_is_clean(text):
    assert visible(visible(text)) == visible(text)
    assert visible(marked(text)) == marked(text)


def test_every_text_of_a_body_is_cleaned_and_a_clean_body_is_left_alone():
    body = {"a\u200b": ["x\u202e", {"b": "c\x1b[0m"}, 1, None, True]}
    assert visible_in(body) == {"a": ["x", {"b": "c"}, 1, None, True]}
    clean = {"a": ["x", {"b": ("c",)}], "n": 1.5}
    assert visible_in(clean) is clean
