"""How the place of a memory is spelled as one string: equal exactly where the place is.

Hooks import this, so it imports nothing.
"""


def user_key(user: str) -> str:
    return f"user\x1f{user}"


def project_key(user: str, project: str | None) -> str:
    return f"project\x1f{user}\x1f{project or ''}"


def session_key(user: str, session: str | None) -> str:
    return f"session\x1f{user}\x1f{session or ''}"


_AGENT = "\x1fagent\x1f"


def agent_key(place: str, agent: str) -> str:
    """What one agent keeps to itself in a place that others share."""
    return f"{place}{_AGENT}{agent}"


def may_be_private(key: str) -> bool:
    """Quickly, whether it is worth asking for the agent; the name of a session may look like that, too."""
    return _AGENT in key


def agent_of(key: str, place: str) -> str | None:
    """Whose own a key is within a place that others share."""
    return key.removeprefix(place + _AGENT) if key != place else None


def seen_from(user: str, project: str | None, session: str | None) -> list[str]:
    """The places that somebody may look into: what is known everywhere, of the project, and of this session only."""
    return [
        user_key(user),
        *([project_key(user, project)] if project else []),
        *([session_key(user, session)] if session else []),
    ]


def user_in(key: str) -> str:
    """Whose place it is."""
    return key.partition("\x1f")[2].partition("\x1f")[0]
