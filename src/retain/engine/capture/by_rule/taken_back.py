"""What a conversation says in the end: what was said twice counts once, and what was taken back not at all."""

import re

from retain.domain.claims import jaccard
from retain.domain.conversation import Extracted, Speaker

SAME = 0.6  # Jaccard above which two statements of one category are one, as for captured memories in the store
_TAKES_BACK = re.compile(
    r"^\W*(?:(?:no|oh|ah|hm+|wait|sorry|ok|actually|and|but|hang on|hold on)\b[\s,.!]*)*(?:scratch (?:that|this)"
    r"|never ?mind(?! the)|forget (?:that|this|it|what i (?:just )?said)|ignore (?:that|what i (?:just )?said)"
    r"|i take (?:that|it) back|strike that|disregard (?:that|what i)|that was wrong|my mistake|vergiss (?:das|es)"
    r"|oublie (?:ça|ce que)|olv[ií]da(?:lo| eso)|esquece|dimentica(?:lo)?|laat maar|zapomnij|забудь"
    r"|boş ?ver)\b"
    r"|^\W*(?:当我没说|忘れて|잊어)",
    re.IGNORECASE,
)


def takes_back(sentence: str) -> bool:
    """Whether a sentence takes back what was said just before it."""
    return _TAKES_BACK.match(sentence) is not None


def says_it_again(new: Extracted, old: Extracted) -> bool:
    """Whether of two statements the later one stands for both; an agent's never stands for the user's."""
    if new.speaker is not old.speaker and new.speaker is not Speaker.USER:
        return False
    return new.text == old.text or (new.category == old.category and jaccard(new.text, old.text) > SAME)
