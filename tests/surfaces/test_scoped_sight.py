"""Who sees what: sessions, projects and people that share one store."""

import pytest

CHANGES = [
    ("get_memory", {}),
    ("forget_memory", {}),
    ("update_memory", {"content": "changed"}),
    ("tag_memory", {"add": ["a"]}),
    ("promote_memory", {"target_scope": "user"}),
]


def test_a_session_memory_is_seen_in_its_session_only(desks):
    desks(session_id="s1").stored("We deploy on Mondays", scope="session")
    assert desks(session_id="s1").found("deploy") == ["We deploy on Mondays"]
    assert desks(session_id="s2").found("deploy") == []


def test_a_project_memory_is_seen_in_its_project_only(desks, tmp_path):
    desks().stored("We deploy on Mondays", scope="project")
    assert desks(session_id="s2").found("deploy") == ["We deploy on Mondays"]
    assert desks(project_dir=tmp_path / "bank").found("deploy") == []


def test_a_user_memory_is_seen_everywhere(desks, tmp_path):
    desks().stored("We deploy on Mondays", scope="user")
    assert desks(project_dir=tmp_path / "bank", session_id="s2").found("deploy") == ["We deploy on Mondays"]


@pytest.mark.parametrize("scope", ["session", "project", "user"])
def test_another_person_sees_nothing(desks, scope):
    ann, bob = desks(user_id="ann"), desks(user_id="bob")
    ann.stored("PhoenixLedger depends on VaultKeeper", scope=scope)
    assert bob.found("PhoenixLedger") == bob.found("PhoenixLedger", strategy="graph") == []
    assert bob("get_memory_context")["memories_used"] == 0
    assert bob("get_memory_status")["counts"]["total"] == 0
    assert ann.found("PhoenixLedger") != []


@pytest.mark.parametrize("scope", ["session", "project", "user"])
def test_another_person_does_not_see_whom_a_memory_names(desks, scope):
    ann, bob = desks(user_id="ann"), desks(user_id="bob")
    ann.stored("PhoenixLedger depends on VaultKeeper", scope=scope)
    assert bob("search_knowledge_graph")["entities"] == []
    assert bob("search_knowledge_graph", entity="PhoenixLedger")["entities"] == []


@pytest.mark.parametrize(("tool", "given"), CHANGES)
def test_another_person_cannot_reach_a_memory_by_its_id(desks, tool, given):
    id = desks(user_id="ann").stored("We deploy on Mondays", scope="session")
    refused = desks(user_id="bob").refused(tool, **{"id" if tool == "get_memory" else "memory_id": id}, **given)
    assert (refused["error"], "Mondays" in str(refused)) == ("not_found", False)


def test_the_local_user_is_a_person_too(desks):
    id = desks().stored("We deploy on Mondays", scope="user")
    assert desks(user_id="ann").refused("get_memory", id=id)["error"] == "not_found"
    assert desks(user_id="ann").found("deploy") == []


def test_the_same_text_of_two_people_is_two_memories(desks):
    assert desks(user_id="ann").stored("We deploy", scope="user") != desks(user_id="bob").stored(
        "We deploy", scope="user"
    )


def test_what_one_window_stores_another_finds_at_once(desks):
    one, other = desks(), desks()
    assert other.found("deploy") == []
    one.stored("We deploy on Mondays")
    assert other.found("deploy") == ["We deploy on Mondays"]
    one("forget_memory", memory_id=one("recall_memories", query="deploy")["memories"][0]["id"])
    assert other.found("deploy") == []


def test_worktrees_of_a_repository_are_one_project(desks, tmp_path):
    main, tree = tmp_path / "main", tmp_path / "tree"
    (main / ".git" / "worktrees" / "tree").mkdir(parents=True)
    (main / ".git" / "worktrees" / "tree" / "commondir").write_text("../..")
    (main / ".git" / "worktrees" / "tree" / "gitdir").write_text(f"{tree}/.git\n")
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {main}/.git/worktrees/tree\n")
    (main / "src").mkdir()
    desks(project_dir=main / "src").stored("We deploy on Mondays")
    assert desks(project_dir=tree).found("deploy") == ["We deploy on Mondays"]
