"""Categories: what a memory is about, beside its kind, and how long that stays news.

Hooks import this, so it imports nothing.
"""

CAPTURED = ("architecture", "decision", "pattern", "gotcha", "progress", "context")
CATEGORIES = (*CAPTURED, "error_solution", "code", "documentation", "preference")
# Days after which nobody needs to know any more; the rest is lasting knowledge.
LIVES = {"progress": 7.0, "context": 30.0}
HIDDEN = 0.3  # confidence below which a memory is left out of summaries; it can still be found
_KINDS = {"progress": "episodic", "context": "episodic", "pattern": "procedural", "error_solution": "procedural"}
_OF_KIND = {"episodic": "context", "semantic": "architecture", "procedural": "pattern"}
# What a memory without a category counts as where the categories are not those of capture.
_STANDING = {"episodic": "context", "semantic": "documentation", "procedural": "pattern"}
_SHOWN = {"error_solution": "gotcha", "code": "architecture", "documentation": "architecture", "preference": "pattern"}


def kind_of(category: str) -> str:
    """The kind that goes with a category."""
    return _KINDS.get(category, "semantic")


def captured_as(category: str | None, kind: str) -> str:
    """Which of the six captured categories stands for a memory, whoever stored it."""
    if category is None:
        return _OF_KIND[kind]
    return category if category in CAPTURED else _SHOWN.get(category, _OF_KIND[kind])


def shown_as(category: str | None, kind: str) -> str:
    """Which of all categories stands for a memory."""
    return category or _STANDING[kind]


def kinds_standing_for(categories: "tuple[str, ...]") -> list[str]:
    """The kinds that count as one of these where a memory has no category."""
    return [kind for kind, category in _STANDING.items() if category in categories]


def confidence(category: str | None, age_days: float) -> float:
    """1.0 for what is new or lasting; progress and context fade in a straight line."""
    life = LIVES.get(category or "")
    return 1.0 if life is None else max(0.0, min(1.0, 1.0 - age_days / life))
