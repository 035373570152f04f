"""What a person takes back in so many words."""

import re

_TAKES_BACK = re.compile(
    r"^\W*(?:(?:no|oh|ah|hm+|wait|sorry|ok|actually|and|but|hang on|hold on)\b[\s,.!]*)*(?:scratch (?:that|this)"
    r"|never ?mind|forget (?:that|this|it|what i (?:just )?said)|ignore (?:that|what i (?:just )?said)"
    r"|i take (?:that|it) back|strike that|disregard (?:that|what i)|that was wrong|my mistake|vergiss (?:das|es)"
    r"|oublie (?:ça|ce que)|olv[ií]da(?:lo| eso)|esquece|dimentica(?:lo)?|laat maar|zapomnij|забудь|boş ?ver)\b"
    # "Scratch that, we use pnpm", but not "ignore that warning" nor "never mind, I found it".
    r"(?=\W*$|\s*[,.;:!–—-]+\s+(?!i\b)|\s+(?:we|it|it's|let's|use|make|please|pls)\b)"
    r"|^\W*(?:当我没说|忘れて|잊어)",
    re.IGNORECASE,
)


def takes_back(sentence: str) -> bool:
    """Whether a sentence takes back what was said just before it."""
    return _TAKES_BACK.match(sentence) is not None
