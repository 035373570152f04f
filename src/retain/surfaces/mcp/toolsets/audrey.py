"""The audrey contract: episodes with whose word they are, how far to trust them, principles, contradictions."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from retain.app import Retain
from retain.domain.changes import ContradictionState
from retain.domain.memory import MAX_LABEL, MAX_TEXT, Kind, Provenance
from retain.engine.drafts import MAX_REASON, MAX_TAGS
from retain.engine.recall.recall import MAX_QUESTION
from retain.errors import invalid
from retain.surfaces import audrey_reports as reports
from retain.surfaces.mcp.arguments import NOT_BLANK
from retain.surfaces.mcp.tools import Toolset
from retain.surfaces.render import Body

tools = Toolset("audrey")

ProvenanceName = Literal["direct-observation", "told-by-user", "tool-result", "inference", "model-generated"]
Label = Annotated[str, Field(max_length=MAX_LABEL, pattern=NOT_BLANK)]
Note = Annotated[str, Field(max_length=MAX_REASON, pattern=NOT_BLANK)]
Share = Annotated[float, Field(ge=0, le=1)]
MOST_CAUSES = 20
MOST_LISTED = 50
_LISTED = {"open": (ContradictionState.OPEN, ContradictionState.REOPENED), "all": tuple(ContradictionState)}


class Cause(BaseModel):
    memory_id: Annotated[str, Field(pattern=NOT_BLANK, description="As the other tools return it")]
    relation: Annotated[Literal["caused", "fixed", "led_to"], Field(description="What this did to that one")]


@tools.tool("Encode a memory", idempotent=True)
def memory_encode(
    app: Retain,
    content: Annotated[
        str, Field(max_length=MAX_TEXT, pattern=NOT_BLANK, description="One self-contained observation or fact")
    ],
    source: Annotated[ProvenanceName, Field(description="How it is known; inference: you concluded it")],
    tags: Annotated[list[Label] | None, Field(max_length=MAX_TAGS)] = None,
    salience: Annotated[
        Share | None, Field(description="How much it matters; default 0.5, from 0.7 on it stays")
    ] = None,
    causes: Annotated[
        list[Cause] | None, Field(max_length=MOST_CAUSES, description="Memories that this caused, fixed or led to")
    ] = None,
) -> Body:
    """Remember a fact, preference, observation or result across sessions, with whose word it is. Call it as soon as
    one comes up; saying it again makes it stronger. The reply names what it contradicts."""
    from retain.engine.trust.encoding import Episode

    links = tuple((cause.relation, cause.memory_id) for cause in causes or ())
    episode = Episode(content, Provenance(source), tuple(tags or ()), salience, links)
    return reports.encoded(app.engine.trust.encode(episode, app.caller()))


@tools.tool("Recall memories", read_only=True, idempotent=True)
def memory_recall(
    app: Retain,
    query: Annotated[
        str, Field(max_length=MAX_QUESTION, pattern=NOT_BLANK, description="What you want to know, in plain words")
    ],
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    types: Annotated[
        list[Literal["episodic", "semantic", "procedural"]] | None,
        Field(description="Events, facts, or how to do it; default all"),
    ] = None,
    min_confidence: Annotated[Share | None, Field(description="Leave out what can be trusted less")] = None,
    explain: Annotated[bool, Field(description="Say what each confidence is made of")] = False,
) -> Body:
    """Find what is known, ranked by similarity times confidence. Call it before you answer, decide or try again; what
    is disputed says so and names its rival."""
    from retain.engine.trust.recalling import TrustQuestion

    kinds = tuple(map(Kind, types or ()))
    question = TrustQuestion(query, limit, kinds, min_confidence or 0.0)
    return reports.recalled(app.engine.trust.recall(question, app.caller()), limit, explain=explain)


@tools.tool("Consolidate into principles")
def memory_consolidate(
    app: Retain,
    min_cluster_size: Annotated[int, Field(ge=2, description="Episodes that a principle needs")] = 3,
    similarity_threshold: Annotated[Share, Field(description="How close they must be, as a cosine")] = 0.80,
) -> Body:
    """Turn repeated episodes into general principles, like sleeping on it. Call it when many new ones have come
    together; `retain undo` takes it back."""
    done = app.engine.trust.consolidate(app.caller(), smallest=min_cluster_size, threshold=similarity_threshold)
    return reports.consolidated(done)


@tools.tool("Introspect", read_only=True, idempotent=True)
def memory_introspect(
    app: Retain,
    list_contradictions: Annotated[
        Literal["open", "all"] | None, Field(description="Also list them, with both sides and their ids")
    ] = None,
) -> Body:
    """How much is known of each kind, what is contradicted or dormant, and when it was last consolidated. Call it to
    see whether memory_consolidate or memory_resolve_truth is due."""
    caller, trust = app.caller(), app.engine.trust
    body = reports.introspected(trust.introspect(caller))
    if list_contradictions is None:
        return body
    return body | reports.contradictions(*trust.disputes(caller, _LISTED[list_contradictions], MOST_LISTED))


@tools.tool("Resolve a contradiction")
def memory_resolve_truth(
    app: Retain,
    contradiction_id: Annotated[str, Field(pattern=NOT_BLANK, description="As a reply names it")],
    resolution: Annotated[
        Literal["older", "newer", "context_dependent"] | None,
        Field(description="Your own decision; without it the language model that was set up decides"),
    ] = None,
    conditions: Annotated[Note | None, Field(description="When the one holds and when the other")] = None,
    explanation: Annotated[Note | None, Field(description="Why")] = None,
) -> Body:
    """Decide which of two contradicting memories holds, or when each does. Call it once you know, or the user said
    so. The one that loses is superseded, never deleted."""
    from retain.engine.trust.disputes import Verdict

    verdict = None if resolution is None else Verdict(resolution, conditions, explanation)
    if verdict is None and (conditions or explanation):
        raise invalid("resolution", "", "is needed with conditions or explanation; say which of the two holds")
    return reports.resolved(app.engine.trust.resolve(contradiction_id, verdict, app.caller()))
