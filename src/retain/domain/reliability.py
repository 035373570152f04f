"""How reliable a word is: by how something is known, or else by who was heard to say it.

Hooks import this, so it imports nothing.
"""

RELIABILITY = {
    "direct-observation": 0.95,
    "told-by-user": 0.90,
    "tool-result": 0.85,
    "inference": 0.60,
    "model-generated": 0.40,
}
HEARD = {"user": "told-by-user", "tool": "tool-result", "assistant": "inference"}
WEAKER = 0.15  # by which a word may be less reliable and still take another's place: a tool's, after the user's own


def reliability(provenance: "str | None", said_by: object) -> "float | None":
    """None where it is not known whose word it is: a memory that was stored by hand may be anybody's."""
    return RELIABILITY.get(provenance or HEARD.get(str(said_by), ""))
