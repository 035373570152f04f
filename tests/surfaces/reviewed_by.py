"""Memories as the worker captures them, for tests of what a person does with them."""

from retain.app import Retain
from retain.config import apart, load
from retain.domain.memory import Scope, Source
from retain.engine.drafts import Draft
from surfaces.wire import where_kept


def opened(place):
    """The memory of a `Command` or of a `Client`."""
    project = getattr(place, "project", None) or place.shop
    settings = {"home": place.home, "project_dir": project, "embedding_model": "hashed"}
    return Retain(load(settings | where_kept(place.home), apart(place.home)))


def captured_by(place, text, session="8f31aaaa-0001", scope="project", **metadata):
    """Stores something, closes the store again, and gives the id."""
    told = {"said_by": "user", "found_by": "wish", **metadata}
    draft = Draft(text, scope=Scope(scope), source=Source(tool="capture"), session=session, metadata=told)
    with opened(place) as app:
        return app.engine.remember(draft, app.caller(session)).memory.id
