"""recall: three channels and their weights, a graph that contributes, and code beside memories."""

import statistics

import pytest

from surfaces.wire import GRAPH

OFF = {"vector_weight": 0, "bm25_weight": 0, "ppr_weight": 0}
WEIGHTS = tuple(OFF)
ALONE = {name: {**OFF, name: 1} for name in WEIGHTS}
MEMORY = {"id", "content", "source", "memory_type", "score", "vector_score", "bm25_score", "ppr_score"}
CODE = {
    "id", "content", "source", "score", "vector_score", "bm25_score", "ppr_score", "file_path", "language",
    "start_line", "end_line", "chunk_type", "name", "project_id",
}  # fmt: skip
PLANTS = '''\
def water_plants(room):
    """Waters the plants of the office."""
    return room.water()


def feed_cat(cat):
    """Gives the cat its dinner."""
    return cat.eat()


def plant_trees(garden):
    """Plants trees in the garden."""
    return garden.plant()
'''


def recalled(board, query, **given):
    return [hit["id"] for hit in board("recall", query=query, **given)["results"]]


@pytest.fixture
def garden(board, tmp_path):
    """Some memories, and a project with code, about plants."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "garden.py").write_text(PLANTS)
    board("index_project", path=str(tmp_path / "shop"))
    for text in ("The plants are watered on Mondays", "Ada waters plants", "The printer jams", "Lunch is at noon"):
        board.noted(text)
    return board


@pytest.fixture
def far_away(knowing_board):
    """A memory that has neither a word nor a meaning in common with Zephyr, and is two relations away from it."""
    for text in ("Our office plants are watered by volunteers", "The printer jams", "Lunch is at noon"):
        knowing_board.noted(text)
    knowing_board.far = knowing_board.noted("Saltmarsh needs eleven crates of lemons every spring")
    knowing_board.entities = [
        knowing_board("create_entity", name=name)["id"] for name in ("Zephyr", "Quillon", "Saltmarsh")
    ]
    return knowing_board


def join(board, *, types=("uses", "uses")):
    first, second, third = board.entities
    return [
        board("create_relation", from_entity=source, to_entity=target, relation_type=type)["id"]
        for source, target, type in ((first, second, types[0]), (second, third, types[1]))
    ]


# The answer


def test_an_answer_has_the_fields_of_the_contract(board):
    id = board.noted("We deploy on Mondays", memory_type="procedural")
    body = board("recall", query="deploy Mondays")
    assert set(body) == {"results", "query", "subgraph_nodes", "memories_count", "code_count", "warnings"}
    assert (body["query"], body["memories_count"], body["code_count"]) == ("deploy Mondays", 1, 0)
    (hit,) = body["results"]
    assert set(hit) == MEMORY
    assert (hit["id"], hit["content"]) == (id, "We deploy on Mondays")
    assert (hit["source"], hit["memory_type"]) == ("memory", "procedural")


def test_nothing_found_is_an_empty_answer(board):
    body = board("recall", query="zebra")
    assert (body["results"], body["subgraph_nodes"], body["memories_count"], body["code_count"]) == ([], 0, 0, 0)


def test_weights_are_those_of_the_contract_unless_given(board):
    given = {name: GRAPH["recall"].input_schema["properties"][name]["default"] for name in WEIGHTS}
    assert given == {"vector_weight": 0.40, "bm25_weight": 0.15, "ppr_weight": 0.45}
    board.noted("We deploy the AuthService on Mondays")
    board.noted("The AuthService is slow")
    query = "When do we deploy the AuthService?"
    assert board("recall", query=query) == board("recall", query=query, **given)


def test_ten_are_recalled_unless_told_otherwise(board):
    for number in range(52):
        board.noted(f"Deploy note {number} about the deploy")
    counts = [len(recalled(board, "deploy note", **given)) for given in ({}, {"limit": 1}, {"limit": 50})]
    assert counts == [10, 1, 50]


@pytest.mark.parametrize("limit", [0, 51])
def test_limit_goes_from_1_to_50(board, limit):
    assert "limit: must be between 1 and 50" in board.refused("recall", query="deploy", limit=limit)


@pytest.mark.parametrize("query", ["", " \n"])
def test_a_blank_query_is_refused(board, query):
    assert "query: must not be empty" in board.refused("recall", query=query)


def test_what_holds_no_longer_is_not_recalled(board):
    gone, kept = board.noted("We deploy the AuthService on Mondays"), board.noted("We deploy the AuthService with care")
    board("invalidate", id=gone)
    assert recalled(board, "deploy AuthService") == [kept]


# Channels and weights


def test_component_scores_are_those_of_the_searches(board):
    board.noted("We deploy the AuthService on Mondays")
    board.noted("They deploy the AuthService with care")
    query = "deploy the AuthService"
    hits = {hit["id"]: hit for hit in board("recall", query=query)["results"]}
    by_meaning = {hit["id"]: hit["score"] for hit in board("search", query=query)["results"]}
    by_words = {hit["id"]: hit["score"] for hit in board("search_text", query=query)["results"]}
    assert {id: hit["vector_score"] for id, hit in hits.items()} == by_meaning
    assert {id: hit["bm25_score"] for id, hit in hits.items()} == by_words
    assert max(hit["ppr_score"] for hit in hits.values()) == 1


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_channel_alone_ranks_by_its_own_score(board, name):
    for text in ("We deploy the AuthService on Mondays", "The AuthService is slow", "AuthService uses TokenValidator"):
        board.noted(text)
    hits = board("recall", query="deploy AuthService", **ALONE[name])["results"]
    own = name.replace("weight", "score")
    assert hits
    assert [hit[own] for hit in hits] == sorted((hit[own] for hit in hits), reverse=True)
    assert [hit["score"] for hit in hits] == [round(61 / (60 + place), 4) for place in range(1, len(hits) + 1)]


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_weight_of_zero_switches_a_channel_off(board, name):
    board.noted("We deploy the AuthService on Mondays")
    own = name.replace("weight", "score")
    assert board("recall", query="deploy AuthService")["results"][0][own] > 0
    (hit,) = board("recall", query="deploy AuthService", **{name: 0})["results"]
    assert hit[own] == 0 and hit["score"] == 1


def test_scores_are_fused_by_rank_and_weight(board):
    first = board.noted("deploy")
    second = board.noted("deploy the shop on Mondays with patience")
    hits = board("recall", query="deploy", vector_weight=0, bm25_weight=3, ppr_weight=0)["results"]
    assert [(hit["id"], hit["score"]) for hit in hits] == [(first, 1), (second, round(61 / 62, 4))]


def test_channels_fetch_more_than_is_asked_for(board):
    query, even = "how do we to the zeppelin", {"vector_weight": 1, "bm25_weight": 1, "ppr_weight": 0}
    near = board.noted("how do we to the")
    worded = board.noted("zeppelin zeppelin apple pear plum cherry mango lime")
    both = board.noted("how do we zeppelin apple pear plum fig banana melon grape peach")
    for text in ("lamps glow", "chairs stand", "tables hold", "ink dries"):
        board.noted(text)
    assert [hit["id"] for hit in board("search", query=query)["results"]] == [near, both]
    assert [hit["id"] for hit in board("search_text", query=query)["results"]] == [worded, both]
    # Second in both beats first in one, also where only one is wanted.
    assert recalled(board, query, **even)[0] == both
    assert recalled(board, query, **even, limit=1) == [both]


def test_only_the_proportion_of_weights_counts(board):
    for text in ("We deploy the AuthService on Mondays", "The AuthService is slow"):
        board.noted(text)
    small = dict(zip(WEIGHTS, (0.4, 0.15, 0.45), strict=True))
    large = {name: weight * 1000 for name, weight in small.items()}
    assert board("recall", query="AuthService", **small) == board("recall", query="AuthService", **large)


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize(
    ("weight", "named"),
    [
        (-0.1, "must be at least 0"),
        (float("nan"), "must be a finite number"),
        (float("inf"), "must be a finite number"),
        ("0.5", "must be a number at least 0"),
    ],
)
def test_a_weight_is_a_number_from_0_on(board, name, weight, named):
    assert f"{name}: {named}" in board.refused("recall", query="deploy", **{name: weight})


def test_weights_that_are_all_zero_are_refused(board):
    said = board.refused("recall", query="deploy", **OFF)
    assert said.startswith("vector_weight, bm25_weight, ppr_weight: sum to 0")


def test_without_a_model_the_other_channels_answer_and_say_so(desks, board):
    id = board.noted("We deploy the AuthService on Mondays")
    body = desks(tools=board.tools, embedding_model="off")("recall", query="AuthService")
    assert [hit["id"] for hit in body["results"]] == [id]
    assert body["results"][0]["vector_score"] == 0
    assert [warning["code"] for warning in body["warnings"]] == ["partial_results"]


# The graph


def test_a_memory_is_found_that_only_the_graph_leads_to(far_away):
    query = "Who maintains Zephyr?"
    assert far_away.far not in recalled(far_away, query)
    join(far_away)
    (hit,) = far_away("recall", query=query)["results"]
    assert (hit["id"], hit["bm25_score"], hit["ppr_score"]) == (far_away.far, 0, 1)
    assert hit["vector_score"] < 0.25 and hit["score"] == 0.45
    assert far_away("search", query=query)["results"] == far_away("search_text", query=query)["results"] == []
    assert recalled(far_away, query, ppr_weight=0) == []


def test_the_graph_is_walked_against_the_direction_of_relations_too(far_away):
    far_away.entities.reverse()
    join(far_away)
    assert recalled(far_away, "Who maintains Zephyr?") == [far_away.far]


def test_a_relation_that_holds_no_longer_leads_nowhere(far_away):
    _, second = join(far_away)
    far_away("invalidate", id=second)
    assert recalled(far_away, "Who maintains Zephyr?") == []


def test_the_nearer_of_two_memories_gets_more_of_the_walk(far_away):
    join(far_away)
    near = far_away.noted("Quillon was painted green")
    scores = {hit["id"]: hit["ppr_score"] for hit in far_away("recall", query="Who maintains Zephyr?")["results"]}
    assert scores[near] == 1 > scores[far_away.far] > 0


def test_the_nodes_of_the_graph_are_counted(far_away):
    query = "Who maintains Zephyr?"
    assert far_away("recall", query=query)["subgraph_nodes"] == 1
    join(far_away)
    # Three entities, and the one memory that speaks of any of them.
    assert far_away("recall", query=query)["subgraph_nodes"] == 4
    far_away.noted("Quillon was painted green")
    assert far_away("recall", query=query)["subgraph_nodes"] == 5
    assert far_away("recall", query=query, ppr_weight=0)["subgraph_nodes"] == 0


def test_nodes_are_counted_whatever_the_limit_shows(board):
    for number in range(4):
        board.noted(f"AuthService depends on Part{number}Service")
    body = board("recall", query="AuthService", limit=1)
    assert (len(body["results"]), body["subgraph_nodes"]) == (1, 9)


# Memories and code


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"project_id": "shop"}, "project_id: is about code, and include_code is false"),
        ({"language": "python"}, "language: is about code, and include_code is false"),
        ({"include_memories": False}, "include_memories: with include_code false there is nothing to search"),
        ({"include_code": "yes"}, "include_code: must be true or false"),
        ({"include_code": True, "project_id": "nowhere"}, "there is no project nowhere"),
    ],
)
def test_sources_that_make_no_sense_are_refused(garden, given, named):
    assert named in garden.refused("recall", query="plants", **given)


def test_code_is_left_out_unless_it_is_asked_for(garden):
    body = garden("recall", query="plants")
    assert {hit["source"] for hit in body["results"]} == {"memory"}
    assert (body["memories_count"], body["code_count"]) == (2, 0)


def test_code_alone_has_its_fields_and_its_own_scores(garden):
    body = garden("recall", query="water plants", include_memories=False, include_code=True)
    assert (body["memories_count"], body["code_count"]) == (0, len(body["results"]))
    assert body["subgraph_nodes"] == 0
    first = body["results"][0]
    assert set(first) == CODE
    assert (first["source"], first["file_path"], first["name"]) == ("code", "garden.py", "water_plants")
    assert (first["start_line"], first["end_line"], first["project_id"]) == (1, 3, "shop")
    assert first["ppr_score"] == 0
    alone = garden("search_code", query="water plants")["results"]
    assert [(hit["id"], hit["score"]) for hit in body["results"]] == [(hit["id"], hit["score"]) for hit in alone]


def test_memories_and_code_are_merged_by_how_far_each_stands_out(garden):
    body = garden("recall", query="water plants", include_code=True, limit=50)
    groups = {"memory": [], "code": []}
    for hit in body["results"]:
        groups[hit["source"]].append(hit["score"])
    assert (body["memories_count"], body["code_count"]) == (len(groups["memory"]), len(groups["code"]))
    for scores in groups.values():
        assert len(scores) > 1
        assert statistics.fmean(scores) == pytest.approx(0, abs=1e-3)
        assert statistics.pstdev(scores) == pytest.approx(1, abs=1e-3)
    merged = [hit["score"] for hit in body["results"]]
    assert merged == sorted(merged, reverse=True)


def test_the_limit_is_for_memories_and_code_together(garden):
    body = garden("recall", query="water plants", include_code=True, limit=2)
    assert len(body["results"]) == body["memories_count"] + body["code_count"] == 2


def test_code_can_be_narrowed_to_a_project_and_a_language(garden):
    query = {"query": "water plants", "include_code": True, "include_memories": False}
    assert garden("recall", **query, project_id="shop", language="python")["code_count"] > 0
    assert garden("recall", **query, language="rust")["code_count"] == 0


# People


@pytest.mark.parametrize(("owner", "other"), [("ann", "bob"), ("ann", None), (None, "bob")])
def test_another_person_recalls_nothing(board, owner, other):
    id = board.noted("PhoenixLedger depends on VaultKeeper", user_id=owner)
    body = board("recall", query="PhoenixLedger VaultKeeper", user_id=other)
    assert (body["results"], body["subgraph_nodes"]) == ([], 0)
    assert recalled(board, "PhoenixLedger", user_id=owner) == [id]


def test_the_graph_of_one_person_does_not_lead_to_the_memories_of_another(board):
    theirs = board.noted("Saltmarsh needs lemons", user_id="ann")
    for user in ("ann", "bob"):
        first, second = (board("create_entity", name=name, user_id=user)["id"] for name in ("Zephyr", "Saltmarsh"))
        board("create_relation", from_entity=first, to_entity=second, relation_type="uses", user_id=user)
    assert theirs in recalled(board, "Zephyr", user_id="ann")
    assert recalled(board, "Zephyr", user_id="bob") == []
