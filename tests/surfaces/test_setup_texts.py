"""One entry of a client's file is edited, and every other byte of it stays."""

import json
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retain.clients import json_text, toml_text
from retain.clients.faults import Broken, Unfit

SERVER = {"command": "/opt/retain", "args": ["serve"]}
PATH = ("mcpServers", "retain")
REMARK = re.compile(r"//[^\r\n]*|/\*.*?\*/")
TABLE = ("mcp_servers", "retain")

blanks = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t"])
remarks = st.sampled_from(["", " ", "// one {\n", "/* two , } */", '\n  // three "\n', "\r\n"])
names = st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=6)
scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | names


@st.composite
def written(draw, value, gaps):
    """A value as somebody might have written it, with blanks and remarks of all kinds."""
    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    parts = []
    for key in value:
        name = f"{json.dumps(key)}{draw(gaps)}:{draw(gaps)}" if isinstance(value, dict) else ""
        parts.append(
            draw(gaps) + name + draw(written(value[key] if isinstance(value, dict) else key, gaps)) + draw(gaps)
        )
    trailing = "," if parts and gaps is remarks and draw(st.booleans()) else ""
    inside = ",".join(parts) + trailing + draw(gaps)
    return f"{{{inside}}}" if isinstance(value, dict) else f"[{inside}]"


values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3))
objects = st.dictionaries(names, values, max_size=4)
servers = st.dictionaries(names, st.just({"command": "x"}), max_size=3)


@st.composite
def documents(draw, gaps):
    """The data of a client's file, and its text."""
    data = draw(objects)
    if draw(st.booleans()):
        data["mcpServers"] = draw(servers)
    mark, end = draw(st.sampled_from(["", "\ufeff"])), draw(st.sampled_from(["", "\n", "\r\n"]))
    return data, mark + draw(gaps) + draw(written(data, gaps)) + end


def with_server(data):
    return {**data, "mcpServers": {**data.get("mcpServers", {}), "retain": SERVER}}


def squeezed(text):
    return re.sub(r"\s+", "", text)


@given(documents(blanks))
def test_a_key_is_set_in_any_json_and_the_rest_says_what_it_said(document):
    data, text = document
    new = json_text.put(text, PATH, SERVER)
    assert json.loads(new.removeprefix("\ufeff")) == with_server(data)
    assert json_text.put(new, PATH, SERVER) == new


@given(documents(remarks))
def test_a_key_is_set_among_comments_and_trailing_commas(document):
    data, text = document
    new = json_text.put(text, PATH, SERVER, comments=True)
    assert json_text.data(new, comments=True) == with_server(data)
    assert REMARK.findall(new) == REMARK.findall(text)


@given(documents(remarks))
def test_what_was_added_can_be_taken_out_again_and_nothing_but_blanks_is_left_of_it(document):
    data, text = document
    new = json_text.put(text, PATH, SERVER, comments=True)
    added = PATH if "mcpServers" in data else PATH[:1]
    assert squeezed(json_text.drop(new, added, comments=True)) == squeezed(text) or "retain" in data.get(
        "mcpServers", {}
    )


@given(documents(remarks), st.data())
def test_any_entry_can_be_taken_out_of_any_text(document, draw):
    data, text = document
    for key in data:
        new = json_text.drop(text, [key], comments=True)
        assert json_text.data(new, comments=True) == {name: value for name, value in data.items() if name != key}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", [2, 4, "\t"])
@pytest.mark.parametrize("before", [{"a": 1}, {"mcpServers": {"x": {"command": "y"}}}, {"mcpServers": {}}, {"a": [1]}])
def test_an_edit_looks_as_the_client_would_have_written_it(before, indent, newline):
    text = json.dumps(before, indent=indent).replace("\n", newline) + newline
    new = json_text.put(text, PATH, SERVER)
    assert new == json.dumps(with_server(before), indent=indent).replace("\n", newline) + newline


@pytest.mark.parametrize("text", ["", " \n", "\ufeff", "\ufeff\r\n"])
def test_an_empty_file_gets_the_entry_alone(text):
    new = json_text.put(text, PATH, SERVER)
    assert json.loads(new.lstrip("\ufeff")) == with_server({})
    assert new.startswith("\ufeff") == text.startswith("\ufeff")


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"a": 1', 1, 8),
        ('{\n  "a" 1\n}', 2, 7),
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3),
        ("{'a': 1}", 1, 2),
        ('{"a": 1} x', 1, 10),
        ("nonsense", 1, 1),
        ('{"a": 1,}', 1, 8),
        ('{"a": tru}', 1, 7),
        ('{"a": "\n"}', 1, 7),
        ("{\n // c\n}", 2, 2),
        ('{"a": 01}', 1, 8),
    ],
)
def test_a_text_that_is_no_json_is_refused_with_its_place(text, line, column):
    with pytest.raises(Broken) as caught:
        json_text.put(text, PATH, SERVER)
    assert (caught.value.details["line"], caught.value.details["column"]) == (line, column)


@given(st.text(max_size=40))
def test_what_is_taken_for_json_is_what_json_takes(text):
    try:
        theirs = json.loads(text)
    except ValueError:
        theirs = Broken
    try:
        ours = json_text.read(text, comments=False).data
    except Broken:
        ours = Broken
    assert ours == theirs or ours is theirs or "NaN" in text or "Infinity" in text


@pytest.mark.parametrize("text", ['{"mcpServers": []}', '{"mcpServers": null}', "[]", "3"])
def test_something_else_in_the_place_of_an_object_is_refused(text):
    with pytest.raises(Unfit, match="is not an object"):
        json_text.put(text, PATH, SERVER)


def test_a_text_that_is_nested_without_end_is_refused():
    with pytest.raises(Broken, match="nested"):
        json_text.put("[" * 100_000, PATH, SERVER)


toml_names = st.text("abc-_ .\"'é", min_size=1, max_size=5)
toml_values = st.sampled_from(
    [
        "1", '"a # b"', "'[c]'", "[1, 2]", "[ # one\n  1, # ]\n]", '"""\n[mcp_servers.retain]\n"""',
        "{ x = 1, y = [2] }",
        "1979-05-27T07:32:00Z", "true", "'''\n\"#'''", "nan", '"\\"\\\\"',
    ]
)  # fmt: skip


@st.composite
def toml_documents(draw):
    """Tables, keys and remarks in the ways TOML has for them."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    lines = []
    for name in draw(st.lists(toml_names, max_size=3, unique=True)):
        lines.append(f"{toml_text._key(name)} = {draw(toml_values)} # remark")
    for name in draw(st.lists(toml_names, max_size=3, unique=True)):
        lines += [
            "",
            "# [mcp_servers.retain]",
            f"[ mcp_servers . {toml_text._key(name)} ] # x",
            f"a.b = {draw(toml_values)}",
        ]
    text = newline.join(lines) + draw(st.sampled_from(["", newline]))
    return draw(st.sampled_from(["", "\ufeff"])) + text.replace("\r\n", "\n").replace("\n", newline)


@given(toml_documents())
def test_a_table_is_added_to_any_toml_and_everything_before_it_stays(text):
    new = toml_text.put(text, TABLE, SERVER)
    assert new.startswith(text)
    assert toml_text.data(new)["mcp_servers"]["retain"] == SERVER
    assert toml_text.put(new, TABLE, SERVER) == new
    ends = text.endswith("\n") and bool(text.strip())
    assert toml_text.drop(new, TABLE) == text if ends else toml_text.drop(new, TABLE).rstrip() == text.rstrip()


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers.retain]\ncommand = "a"  # mine\nargs = [\n "x", # y\n]\nstartup_timeout_sec = 20\n\n[b]\nc = 1\n',
        '[mcp_servers."retain"]\nstartup_timeout_sec = 20\n[mcp_servers.retain.env]\nA = "b"\n',
        '[mcp_servers]\nretain = { command = "old", startup_timeout_sec = 20 } # x\nb = {}\n',
        'mcp_servers.retain.command = "a"\nmcp_servers.retain.args = []\nmcp_servers.retain.startup_timeout_sec = 20\n',
        '[mcp_servers]\nretain.command = "old"\nretain.args = []\nretain.startup_timeout_sec = 20',
        "[mcp_servers.retain]\nstartup_timeout_sec = 20",
    ],
)
def test_an_older_table_is_updated_in_its_place_and_keeps_its_other_keys(text):
    new = toml_text.put(text, TABLE, SERVER)
    expected = tomllib.loads(text)
    expected["mcp_servers"]["retain"].update(SERVER)
    assert tomllib.loads(new) == expected
    assert [part for part in re.findall(r"#.*", text) if part not in new and "y" not in part] == []
    assert "retain" not in tomllib.loads(toml_text.drop(new, TABLE)).get("mcp_servers", {})


def test_a_table_is_taken_out_from_between_others():
    ours = '[mcp_servers.retain]\ncommand = "x"\n\n[mcp_servers.retain.env]\nA = "b"\n'
    text = f"# top\n[a]\nb = 1\n\n{ours}\n[c] # end\nd = 2\n"
    new = toml_text.drop(text, TABLE)
    assert tomllib.loads(new) == {"a": {"b": 1}, "c": {"d": 2}}
    assert new.startswith("# top\n[a]\nb = 1\n") and new.endswith("[c] # end\nd = 2\n")


@pytest.mark.parametrize(
    "text", ["mcp_servers = { a = { command = 'x' } }\n", "mcp_servers = 3\n", "[[mcp_servers]]\n"]
)
def test_a_form_of_toml_that_cannot_be_added_to_is_refused(text):
    with pytest.raises(Unfit):
        toml_text.put(text, TABLE, SERVER)


@pytest.mark.parametrize(("text", "line"), [("a = \n", 1), ("a = 1\nb = [1,\n", 3), ("[x\n", 1), ("a = 1\na = 2\n", 2)])
def test_a_text_that_is_no_toml_is_refused_with_its_line(text, line):
    with pytest.raises(Broken) as caught:
        toml_text.put(text, TABLE, SERVER)
    assert caught.value.details["line"] == line
