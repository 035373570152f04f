"""What known models cost, in US dollars for a million tokens sent and made. Providers change their prices."""

import re

_PRICES: dict[str, tuple[float, float]] = {
    "claude-haiku-4-5": (1.0, 5.0),
    "claude-3-5-haiku": (0.8, 4.0),
    "claude-sonnet-4": (3.0, 15.0),
    "claude-sonnet-4-0": (3.0, 15.0),
    "claude-sonnet-4-5": (3.0, 15.0),
    "claude-opus-4-5": (5.0, 25.0),
    "claude-opus-4-1": (15.0, 75.0),
    "claude-opus-4": (15.0, 75.0),
    "claude-opus-4-0": (15.0, 75.0),
    # Names that the `claude` command has for its newest ones.
    "haiku": (1.0, 5.0),
    "sonnet": (3.0, 15.0),
    "opus": (5.0, 25.0),
    "gpt-4.1": (2.0, 8.0),
    "gpt-4.1-mini": (0.4, 1.6),
    "gpt-4.1-nano": (0.1, 0.4),
    "gpt-4o": (2.5, 10.0),
    "gpt-4o-mini": (0.15, 0.6),
    "gpt-5": (1.25, 10.0),
    "gpt-5-mini": (0.25, 2.0),
    "gpt-5-nano": (0.05, 0.4),
}
_SNAPSHOT = re.compile(r"-(?:\d{8}|\d{4}-\d\d-\d\d|latest)$")


def price(model: str) -> tuple[float, float] | None:
    """Dollars for a million tokens in and out; None for a model that is not in the table."""
    return _PRICES.get(_SNAPSHOT.sub("", model))


def cost(model: str, tokens_in: int, tokens_out: int) -> float | None:
    """Dollars for one call; None when nobody here knows."""
    known = price(model)
    return None if known is None else (tokens_in * known[0] + tokens_out * known[1]) / 1e6
