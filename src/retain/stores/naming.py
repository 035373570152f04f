"""What a project is called among all projects."""

from collections.abc import Collection

from retain.domain.graph import fold
from retain.domain.session import Project


def free_slug(project: Project, slugs: Collection[str], names: Collection[str]) -> str:
    """The slug of the project, or the first with a number after it, that is no other's slug or (folded) name."""
    numbered = (f"{project.slug}-{n}" if n > 1 else project.slug for n in range(1, len(slugs) + len(names) + 2))
    return next(slug for slug in numbered if slug not in slugs and fold(slug) not in names)
