"""The four resources of the scoped contract."""

import json

from retain.app import Retain
from retain.domain.memory import Kind, Scope
from retain.domain.recall import Filter
from retain.engine.knowledge.walk import GraphQuestion
from retain.engine.parts import places
from retain.surfaces import reports
from retain.surfaces.mcp.subscriptions import ResourceSpec

MARKDOWN = "text/markdown"


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
    types = ", ".join(f"{count} {name}" for name, count in _common(overview.entity_types))
    relations = ", ".join(f"{count} {name}" for name, count in _common(overview.relation_types)) or "none"
    lines = [
        "## Project Knowledge Graph",
        f"**Entities:** {overview.entities} ({types})",
        f"**Relationships:** {overview.relations} ({relations})",
        f"**Density:** {overview.density:.4f}",
        "",
        "### Most connected",
    ]
    for node in answer.nodes:
        edges = ", ".join(f"{edge.type} {edge.other}" for edge in node.edges[:5] if edge.direction == "outgoing")
        lines.append(
            f"- {node.entity.name} ({node.entity.type}, {node.memories} memories)" + (f": {edges}" if edges else "")
        )
    return "\n".join(lines)


def preferences(app: Retain) -> str:
    """What is known of the user everywhere, the most important first."""
    wanted = Filter(places(app.caller(), (Scope.USER,)), kinds=(Kind.SEMANTIC, Kind.PROCEDURAL))
    found = sorted(app.engine.parts.store.listed(wanted, 500), key=lambda s: -s.memory.importance)
    lines = [f"- {_line(stored.memory.text)}" for stored in found[:40]]
    return "\n".join(["## User Preferences", "", *(lines or ["Nothing is remembered about the user yet."])])


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 400 else f"{line[:399]}…"


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
