"""The four resources of the scoped contract."""

import json

from retain.app import Retain
from retain.domain.handing import FRAME, label, safe
from retain.domain.memory import MAX_LABEL, Kind, Scope
from retain.domain.recall import Filter
from retain.engine.knowledge.walk import GraphQuestion
from retain.engine.parts import places
from retain.surfaces import reports
from retain.surfaces.mcp.subscriptions import ResourceSpec

MARKDOWN = "text/markdown"
LINE = 400


def status(app: Retain) -> str:
    return json.dumps(reports.status(app), ensure_ascii=False, indent=2)


def status_mark(app: Retain) -> str:
    """Without what moves by itself: time goes by, and a file grows when something is counted."""
    body = json.loads(status(app))
    del body["connection"]["uptime_seconds"], body["storage"]["database_size_bytes"]
    return json.dumps(body)


def session_summary(app: Retain) -> str:
    return reports.activity(app, app.engine.activity(app.caller()))


def knowledge_graph(app: Retain) -> str:
    """Types, density and the best connected entities of the project."""
    answer = app.engine.search_graph(GraphQuestion(include_memories=False, limit=15), app.caller())
    overview = answer.overview
    if overview is None or not overview.entities:
        return "## Project Knowledge Graph\n\nNo entities yet; they appear as memories name them."
    types = ", ".join(f"{count} {_name(name)}" for name, count in _common(overview.entity_types))
    relations = ", ".join(f"{count} {_name(name)}" for name, count in _common(overview.relation_types)) or "none"
    lines = [
        "## Project Knowledge Graph",
        FRAME,
        f"**Entities:** {overview.entities} ({types})",
        f"**Relationships:** {overview.relations} ({relations})",
        f"**Density:** {overview.density:.4f}",
        "",
        "### Most connected",
    ]
    for node in answer.nodes:
        outgoing = [edge for edge in node.edges[:5] if edge.direction == "outgoing"]
        edges = ", ".join(f"{_name(edge.type)} {_name(edge.other)}" for edge in outgoing)
        lines.append(
            f"- {_name(node.entity.name)} ({_name(node.entity.type)}, {node.memories} memories)"
            + (f": {edges}" if edges else "")
        )
    return "\n".join(lines)


def preferences(app: Retain) -> str:
    """What is known of the user everywhere, the most important first."""
    wanted = Filter(places(app.caller(), (Scope.USER,)), kinds=(Kind.SEMANTIC, Kind.PROCEDURAL))
    found = sorted(app.engine.parts.store.listed(wanted, 500), key=lambda s: -s.memory.importance)
    lines = [f"- {safe(one.memory.text, LINE)}{label(one.memory.metadata.get('said_by'))}" for one in found[:40]]
    told = [FRAME, "", *lines] if lines else ["", "Nothing is remembered about the user yet."]
    return "\n".join(["## User Preferences", *told])


def _name(name: str) -> str:
    return safe(name, MAX_LABEL)


def _common(counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:8]


RESOURCES: list[ResourceSpec[Retain]] = [
    ResourceSpec(
        "memory://status",
        "Memory System Status",
        "Connection health, memory counts, and storage statistics",
        "application/json",
        status,
        status_mark,
    ),
    ResourceSpec(
        "memory://session/summary",
        "Current Session Summary",
        "Memories stored, recalled, and consolidated this session",
        MARKDOWN,
        session_summary,
    ),
    ResourceSpec(
        "memory://project/knowledge-graph",
        "Project Knowledge Graph",
        "Entity and relationship overview for the current project",
        MARKDOWN,
        knowledge_graph,
    ),
    ResourceSpec(
        "memory://user/preferences",
        "User Preferences",
        "Learned user preferences and coding patterns",
        MARKDOWN,
        preferences,
    ),
]
