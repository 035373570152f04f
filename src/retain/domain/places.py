"""How the place of a memory is spelled as one string: equal exactly where the place is.

Hooks import this, so it imports nothing.
"""


def user_key(user: str) -> str:
    return f"user\x1f{user}"


def project_key(user: str, project: str | None) -> str:
    return f"project\x1f{user}\x1f{project or ''}"


def session_key(user: str, session: str | None) -> str:
    return f"session\x1f{user}\x1f{session or ''}"


def agent_key(place: str, agent: str) -> str:
    """What one agent keeps to itself in a place that others share."""
    return f"{place}\x1fagent\x1f{agent}"


def seen_from(user: str, project: str | None, session: str | None) -> list[str]:
    """The places that somebody may look into: what is known everywhere, of the project, and of this session only."""
    return [
        user_key(user),
        *([project_key(user, project)] if project else []),
        *([session_key(user, session)] if session else []),
    ]
