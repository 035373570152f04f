"""index, projects, code and map on the command line: both forms, exit codes, bad input."""

import re

import pytest

from indexing import FORMAT, PARSE, a_tree, write

# index


def test_index_says_what_it_did(retain):
    done = retain("index")
    assert (done.code, done.out, done.err) == (0, "indexed shop · 4 files, 5 chunks\n  4 added\n", "")
    assert retain("index").out == "indexed shop · 4 files, 5 chunks\n  nothing has changed\n"
    write(retain.project, "src/new.py", FORMAT)
    (retain.project / "src" / "parse.py").rename(retain.project / "src" / "parsing.py")
    (retain.project / "README.md").unlink()
    write(retain.project, "package-lock.json", "{}")
    done = retain("index")
    assert done.out.startswith(
        "indexed shop · 4 files, 5 chunks\n  1 added, 1 moved, 1 removed\n  left out: 1 lock file"
    )


def test_index_answers_json_as_the_tool_does(retain):
    body = retain("index", "--json").body
    assert (body["project_id"], body["files_indexed"], body["chunks_created"]) == ("shop", 4, 5)
    assert (body["status"], body["files"]["added"], body["watching"]) == ("completed", 4, False)


def test_index_takes_the_path_of_a_project(retain, tmp_path):
    write(tmp_path, "user/other/a.py", PARSE)
    assert retain("index", str(tmp_path / "user" / "other")).out.startswith("indexed other · 1 file, 1 chunk\n")
    assert retain("projects", "--json").body["projects"][0]["path"] == str(tmp_path / "user" / "other")


@pytest.mark.parametrize("path", ["/", "~", "nowhere", "/etc", "../home", "README.md"])
def test_a_path_that_may_not_be_indexed_exits_2(retain, tmp_path, path):
    (tmp_path / "home").mkdir()
    given = path if path[0] in "/~" else str(retain.project / path)
    done = retain("index", given)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"retain: Invalid path: {given} (") and done.err.count("\n") == 1
    assert retain("index", given, "--json").body["error"] == "invalid_input"
    assert retain("projects").code == 1


def test_an_index_that_fails_exits_4(retain, tmp_path):
    a_tree(retain.project, 40, 30)
    done = retain("index", RETAIN_MAX_STORAGE_MB="1")
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith("retain: indexing shop failed: ") and "run `retain index` to try again" in done.err
    listed = retain("projects")
    assert listed.out.startswith("shop  failed · ") and "max_storage_mb" in listed.out
    body = retain("index", "--json", RETAIN_MAX_STORAGE_MB="1").body
    assert (body["error"], body["project_id"]) == ("index_failed", "shop")
    assert retain("index").out.startswith("indexed shop · 44 files")


def test_the_model_being_off_is_a_note(retain):
    done = retain("index", RETAIN_EMBEDDING_MODEL="off")
    assert done.code == 0 and "note: the embedding model is off" in done.out
    assert "parse_moment" in retain("code", "parse_moment", RETAIN_EMBEDDING_MODEL="off").out


# projects


def test_projects_are_listed_with_their_size_and_age(known):
    done = known("projects")
    assert (done.code, done.out) == (0, f"shop  completed · 4 files, 5 chunks · now\n  {known.project}\n")
    assert known("projects", "shop").out == known("projects", str(known.project)).out == done.out
    body = known("projects", "--json").body
    assert (body["count"], body["projects"][0]["project_id"]) == (1, "shop")
    assert body["projects"][0]["progress_percent"] == 100.0


def test_without_an_index_every_command_says_what_to_do(retain):
    assert retain("projects").code == 1
    assert "`retain index` makes this project searchable" in retain("projects").out
    pending = retain("projects", "shop")
    assert pending.code == 0 and pending.out.startswith("shop  pending") and "`retain index`" in pending.out
    search = retain("code", "parse")
    assert (search.code, search.out) == (
        1,
        "note: no code is indexed; run `retain index` with the path of a project\n",
    )
    for words in (("map",), ("code", "parse", "--definition"), ("code", "parse", "--references")):
        done = retain(*words)
        assert (done.code, done.out) == (5, "")
        assert done.err == "retain: no code is indexed; run `retain index` with the path of a project\n"
    named = retain("code", "parse", "--in", "shop")
    assert named.err == f"retain: shop is not indexed; run `retain index` with path {retain.project}\n"


def test_an_index_is_dropped_only_with_yes(known):
    refused = known("projects", "shop", "--drop")
    assert (refused.code, refused.out) == (5, "") and "--yes" in refused.err
    assert known("projects", "nowhere", "--drop").code == 3
    assert known("projects", "--drop").code == 2
    assert known("projects", "shop", "--drop", "--yes").out == "deleted the index of shop: 5 chunks\n"
    assert known("projects").code == 1 and known("code", "parse_moment").code == 1


def test_dropping_answers_json(known):
    assert known("projects", "shop", "--drop", "--json").body["error"] == "refused"
    assert known("projects", "shop", "--drop", "--yes", "--json").body == {"chunks_deleted": 5}


# code


def test_code_is_found_with_its_place(known):
    done = known("code", "format_moment")
    assert done.code == 0
    assert re.match(r" 1  0\.\d\d  format_moment  src/format\.py:1-3  function\n    def format_moment", done.out)
    body = known("code", "format_moment", "--limit", "1", "--json").body
    assert (body["count"], body["results"][0]["file_path"]) == (1, "src/format.py")


def test_words_need_no_quotes(known):
    assert "format_moment" in known("code", "write", "a", "moment", "down").out


def test_nothing_found_exits_1(known):
    done = known("code", "zzyzx", "--language", "markdown")
    assert (done.code, done.out) == (1, "No code was found. Other words may find it.\n")
    assert known("code", "zzyzx", "--language", "markdown", "--json").code == 1


def test_a_method_is_shown_from_the_left(known):
    out = known("code", "Clock.parse_moment", "--definition").out
    assert out.startswith("Clock.parse_moment  src/clock.py:4-5  method\n    def parse_moment(self, ")


def test_a_long_hit_is_cut_after_some_lines(known):
    write(known.project, "src/long.py", "def lengthy():\n" + "".join(f"    step_{n}()\n" for n in range(30)))
    known("index")
    out = known("code", "lengthy", "--definition").out
    assert "    step_6()" in out and "step_8" not in out
    assert out.endswith("    … 23 lines more\n")


def test_definitions_and_references_are_found_by_name(known):
    defined = known("code", "parse_moment", "--definition")
    assert [line.split("  ")[1] for line in defined.out.splitlines() if line[0] != " "] == [
        "src/clock.py:4-5",
        "src/parse.py:1-3",
    ]
    used = known("code", "parse_moment", "--references")
    assert used.code == 0
    assert used.out.startswith("defined src/clock.py:4\ndefined src/parse.py:1\nsrc/clock.py\n      5  return parse")
    assert "note: 2 symbols are called parse_moment" in used.out
    assert known("code", "parse_moment", "--definition", "--json").body["total"] == 2
    assert known("code", "parse_moment", "--references", "--json").body["count"] == 1


def test_a_symbol_that_nothing_uses_exits_1(known):
    done = known("code", "format_moment", "--references")
    assert (done.code, done.out) == (1, "defined src/format.py:1\nNothing uses format_moment.\n")


def test_a_language_narrows_symbols_too(known):
    write(known.project, "src/parse.rs", "fn parse_moment() -> i64 { 0 }\n")
    known("index")
    out = known("code", "parse_moment", "--definition", "--language", "rust").out
    assert out.startswith("parse_moment  src/parse.rs:1-1") and "src/parse.py" not in out


def test_several_projects_are_told_apart(known, tmp_path):
    write(tmp_path, "user/other/a.py", PARSE)
    known("index", str(tmp_path / "user" / "other"))
    inside = known("code", "parse_moment").out
    assert "src/parse.py" in inside and "a.py:1-3" not in inside and "· shop" not in inside
    (tmp_path / "user" / "third").mkdir()
    outside = known("code", "parse_moment", "--project", str(tmp_path / "user" / "third")).out
    assert "function · shop" in outside and "function · other" in outside
    assert "src/parse.py" not in known("code", "parse_moment", "--in", "other").out


def test_a_changed_file_is_left_out_with_what_to_do(known):
    write(known.project, "src/format.py", FORMAT.replace("format_moment", "write_moment"))
    out = known("code", "format_moment").out
    assert "src/format.py" not in out
    assert "note: 1 file was left out that changed or vanished since indexing; `retain index` reads what" in out


# map


def test_a_map_shows_what_matters_within_its_tokens(known):
    done = known("map")
    assert done.code == 0
    assert "src/parse.py\n    1  def parse_moment(text)\n" in done.out
    assert re.search(r"\n4 of 4 symbols · \d+ tokens\n$", done.out)
    body = known("map", "--json", "--tokens", "100").body
    assert body["tokens"] <= 100 and body["projects"] == ["shop"] and body["total_symbols"] == 4
    assert {"map", "tokens", "symbols", "files", "total_symbols", "total_files", "projects", "warnings"} == set(body)


def test_a_map_turns_to_what_matters_now(known):
    assert known("map", "src/format.py").out.startswith("src/format.py\n")
    assert "note: no file or symbol is called zzyzx" in known("map", "zzyzx").out


# Bad input


@pytest.mark.parametrize(
    ("words", "code", "named"),
    [
        (("code",), 2, "QUERY"),
        (("code", " "), 2, "query"),
        (("code", "x", "--limit", "0"), 2, "--limit"),
        (("code", "x", "--limit", "51"), 2, "--limit"),
        (("code", "x", "--definition", "--references"), 2, "exclude each other"),
        (("code", "x", "--language", "klingon"), 2, "is no language that Retain knows"),
        (("code", "x", "--definition", "--language", "klingon"), 2, "is no language that Retain knows"),
        (("code", "x", "--in", "nowhere"), 3, "there is no project nowhere; indexed are shop"),
        (("code", "format_momnet", "--definition"), 3, "close names: format_moment"),
        (("code", "zzyzx", "--references"), 3, "`retain code` finds code by what it does"),
        (("map", "--tokens", "99"), 2, "--tokens"),
        (("map", "--in", "nowhere"), 3, "there is no project nowhere"),
        (("projects", "nowhere"), 3, "there is no project nowhere"),
        (("projects", " "), 2, "project_id"),
    ],
)
def test_wrong_input_is_one_line_and_an_exit_code(known, words, code, named):
    done = known(*words)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("retain: ") and named in done.err and done.err.count("\n") == 1
    assert {"error", "message"} <= known(*words, "--json").body.keys()


def test_another_user_sees_no_index_of_it(known):
    assert known("projects", "--user", "bob").code == 1
    assert known("code", "parse_moment", "--user", "bob").code == 1
