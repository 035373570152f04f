"""Knowing text again that memory itself put in front of an agent, so that it is never remembered twice.

Hooks import this, so it imports only `re`.
"""

import re

_SPAN = re.compile(r"<retain-notes\b[^<>]{0,200}>.*?(?:</retain-notes\s*>|\Z)", re.DOTALL | re.IGNORECASE)
CLAUDE_MD = ("<!-- MEMORY:START -->", "<!-- MEMORY:END -->")
_SECTION = re.compile(r"<!--\s*MEMORY:START\s*-->.*?(?:<!--\s*MEMORY:END\s*-->|\Z)", re.DOTALL)


def without_echo(text: str) -> str:
    """What is left of a text once the notes that memory itself put there are gone; a frame that is cut short
    reaches to the end."""
    if "retain-notes" not in text.lower() and "MEMORY:START" not in text:
        return text
    return _SECTION.sub(" ", _SPAN.sub(" ", text))
