"""The four complete usage examples of the bank document, on a real server with the real model.

They are as the document has them but for ids and paths, which are those of the project at hand.
"""

import pytest

from surfaces.banking import titles
from surfaces.waiting import until

MICROSERVICES = {
    "type": "decision",
    "title": "Microservices vs Monolith Architecture",
    "content": "After analyzing our team size (8 developers), expected growth (50+ in 2 years), and system complexity, "
    "we decided to adopt microservices architecture. Key factors: better team autonomy, independent deployments, "
    "technology diversity, but accepted trade-offs in operational complexity and distributed system challenges.",
    "tags": ["architecture", "microservices", "scaling", "team-organization"],
}
GATEWAY = {
    "type": "pattern",
    "title": "API Gateway Pattern for Microservices",
    "content": "Implemented Kong API Gateway as single entry point for all microservices. Handles authentication, rate "
    "limiting, request routing, and response aggregation. Configuration: auth-service for JWT validation, rate "
    "limiting at 1000 req/min per user, circuit breaker with 5-second timeout.",
    "tags": ["microservices", "api-gateway", "kong", "authentication"],
}
DOCKER = {
    "type": "error_solution",
    "title": "Fix Docker Build Failing with Go Module Cache",
    "content": "Error: 'go: cannot find module providing package'. Solution: Add GOPROXY and GOSUMDB environment "
    "variables in Dockerfile, copy go.mod and go.sum before source code, run 'go mod download' as separate layer for "
    "better caching. Final working Dockerfile pattern included.",
    "tags": ["docker", "golang", "build", "modules", "ci-cd"],
}
OVERVIEW = {
    "type": "documentation",
    "title": "Project Architecture Overview",
    "content": "System consists of 7 microservices: user-service (auth), product-service (catalog), order-service "
    "(transactions), payment-service (stripe), inventory-service (stock), notification-service (emails), and "
    "api-gateway (kong). Each service has independent database, deployment pipeline, and monitoring.",
    "tags": ["architecture", "overview", "microservices", "documentation"],
}
LOGGED = [
    ("info", "Stripe SDK integrated and configured"),
    ("milestone", "Payment endpoint implemented with validation"),
    ("issue", "Webhook signature validation failing"),
    ("solution", "Fixed webhook validation by updating endpoint_secret configuration"),
]
OUTCOME = (
    "Payment processing fully implemented with Stripe integration. Includes webhook handling, error recovery, and "
    "comprehensive test coverage."
)


@pytest.fixture
def server(servers, tmp_path):
    """A server whose model is loaded, in a project that has its name."""
    wire = servers("bank", embedding_model="bundled")
    wire.hello()
    until(lambda: not wire.body("memory_search", query="Is the model there?")["warnings"])
    about = "Modern e-commerce platform built with microservices architecture"
    shop = {"name": "E-commerce Platform", "path": str(tmp_path / "shop"), "description": about}
    wire.project = wire.body("project_init", **shop)["id"]
    return wire


def create(server, entry):
    result = server.call("memory_create", **entry, project_id=server.project)
    assert not result.get("isError") and result["structuredContent"]["warnings"] == []
    return result["structuredContent"]["id"]


def test_recording_an_architectural_decision(server):
    decision, _ = create(server, MICROSERVICES), create(server, GATEWAY)
    asked = {"query": "microservices architecture decisions", "type": "decision", "limit": 5}
    body = server.body("memory_search", **asked, project_id=server.project)
    assert [row["id"] for row in body["results"]] == [decision]
    assert body["total"] == 1 and body["results"][0]["similarity"] >= 0.5


def test_documenting_the_solution_of_an_error(server):
    id = create(server, DOCKER)
    asked = {"query": "docker build problems golang modules", "type": "error_solution", "threshold": 0.7, "limit": 3}
    (row,) = server.body("memory_enhanced-search", **asked)["results"]
    assert row["id"] == id and row["relevance_score"] == round(sum(row["score_breakdown"].values()), 4)
    assert row["match_reasons"] and "**" in row["highlighted_content"]


def test_tracking_a_development_session(server):
    about = "Add Stripe integration for payment processing with webhook handling"
    started = {"title": "Implement Payment Processing", "project_id": server.project, "description": about}
    id = server.body("session_start", **started)["id"]
    for type, message in LOGGED:
        assert server.body("session_log", message=message, type=type)["session_id"] == id
    assert server.body("session_complete", outcome=OUTCOME)["duration_minutes"] == 0
    body = server.body("session_get", id=id)
    assert (body["status"], body["description"], body["outcome"]) == ("completed", about, OUTCOME)
    assert [(each["type"], each["content"]) for each in body["progress"]] == LOGGED


def test_managing_the_knowledge_of_a_project(server):
    create(server, OVERVIEW)
    create(server, GATEWAY)
    create(server, DOCKER)
    filters = {"types": ["decision", "pattern", "documentation"]}
    asked = {"query": "service architecture patterns", "include_facets": True, "filters": filters}
    body = server.body("memory_faceted-search", **asked, project_id=server.project)
    assert set(titles(body)) == {OVERVIEW["title"], GATEWAY["title"]}
    assert (body["total"], body["facets"]["types"]) == (2, {"documentation": 1, "pattern": 1})
    assert body["facets"]["tags"]["microservices"] == 2
    assert sum(body["facets"]["content_length"].values()) == 2


def test_the_workflow_of_the_document_runs_from_end_to_end(server):
    create(server, OVERVIEW)
    assert server.body("memory_search", query="how many services are there", threshold=0.3)["total"] == 1
    create(server, MICROSERVICES)
    session = server.body("session_start", title="Add search", project_id=server.project)["id"]
    server.body("session_log", content="Index is built nightly", entry_type="milestone")
    create(server, {**GATEWAY, "session_id": session})
    (found, *_) = server.body("memory_search", query="rate limiting at the API gateway", threshold=0.4)["results"]
    assert server.body("memory_get", id=found["id"])["content"] == GATEWAY["content"]
    server.body("session_complete", outcome="Search works", summary="Elastic was too heavy")
    lesson = {"type": "documentation", "title": "Lessons of search", "content": "A nightly index is fresh enough"}
    assert server.body("session_list", status="completed")["total"] == 1 and create(server, lesson)
