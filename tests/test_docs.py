"""The documents name what there is, every link in them leads somewhere, and their examples print what they say."""

import re
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import click
import pytest

from retain.config import VARIABLES, Settings, apart
from retain.domain.conversation import Speaker
from retain.engine.capture import by_judge
from retain.surfaces.cli import exits
from retain.surfaces.cli.main import cli
from retain.surfaces.mcp.instructions import expanded
from retain.surfaces.mcp.resources import RESOURCES

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
TOOLS = [
    (name, tool.name)
    for name in expanded("all")
    for tool in import_module(f"retain.surfaces.mcp.toolsets.{name}").tools.tools
]
# A program in a page, and what it prints.
EXAMPLES = [
    pytest.param(*example, id=path.name)
    for path in PAGES
    for example in re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", path.read_text(), re.DOTALL)
]


def page(name):
    return (ROOT / name).read_text()


def section(toolset):
    """The part of the tools page under the heading that names a toolset."""
    parts = re.split(r"^## ", page("docs/tools.md"), flags=re.MULTILINE)
    return next(part for part in parts if f"`{toolset}`" in part.partition("\n")[0])


def anchors(path):
    """What a link to each heading of a page ends with, as GitHub makes it."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
    return {slug if (n := slugs[:place].count(slug)) == 0 else f"{slug}-{n}" for place, slug in enumerate(slugs)}


@pytest.mark.parametrize(("toolset", "tool"), TOOLS)
def test_every_tool_of_every_toolset_has_a_row_in_the_tools_page(toolset, tool):
    assert f"| `{tool}` |" in section(toolset)


@pytest.mark.parametrize("toolset", expanded("all"))
def test_no_row_of_the_tools_page_is_about_a_tool_that_is_not_there(toolset):
    there = {tool for name, tool in TOOLS if section(name) == section(toolset)}
    assert set(re.findall(r"^\| `([\w-]+)` \|", section(toolset), re.MULTILINE)) == there


@pytest.mark.parametrize("resource", [resource.uri for resource in RESOURCES])
def test_every_resource_is_named_in_the_tools_page(resource):
    assert resource in page("docs/tools.md")


@pytest.mark.parametrize("setting", [field.name for field in fields(Settings)])
def test_every_setting_has_a_row_with_its_variables(setting):
    row = next(line for line in page("docs/configuration.md").splitlines() if line.startswith(f"| `{setting}` |"))
    assert all(f"`{variable}`" in row for variable in VARIABLES.get(setting, ()))


@pytest.mark.parametrize("command", cli.list_commands(click.Context(cli)))
def test_every_command_is_named_in_the_command_page(command):
    assert f"`retain {command}" in page("docs/commands.md")


@pytest.mark.parametrize(("code", "meaning"), exits.MEANINGS.items())
def test_every_exit_code_is_in_the_command_page_as_the_help_has_it(code, meaning):
    assert f"| {code} | {meaning} |" in page("docs/commands.md")


def test_the_page_about_hooks_has_the_scores_from_which_on_something_is_kept():
    user, agent = (by_judge.THRESHOLDS[speaker] for speaker in (Speaker.USER, Speaker.ASSISTANT))
    told = (
        f"A sentence of yours is kept from a score of {user} on, one of the agent from {agent}, a preference alone from"
        f" {by_judge.PREFERENCE}, and {by_judge.ABROAD} more where the language is not English"
    )
    assert told in " ".join(page("docs/hooks.md").split())


def test_the_readme_is_short_and_names_the_two_commands():
    lines = page("README.md").splitlines()
    assert len(lines) <= 120
    assert any(line.startswith("make demo") for line in lines)
    assert any(line.startswith("make test") for line in lines)


@pytest.mark.parametrize("document", PAGES, ids=lambda path: path.name)
def test_every_relative_link_leads_to_a_file(document):
    links = re.findall(r"\]\(([^)#]+)", document.read_text())
    missing = [link for link in links if "://" not in link and not (document.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("document", PAGES, ids=lambda path: path.name)
def test_every_link_to_a_heading_leads_to_one(document):
    links = re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", document.read_text())
    here = [(document.parent / path if path else document, anchor) for path, anchor in links if "://" not in path]
    assert [(path.name, anchor) for path, anchor in here if anchor not in anchors(path)] == []


def test_anchors_are_those_that_a_reader_of_the_pages_follows(tmp_path):
    (tmp_path / "page.md").write_text(
        "# The `bank` set, v2\n## It's on_time\n```\n# no heading\n```\n## It's on_time\n"
    )
    assert anchors(tmp_path / "page.md") == {"the-bank-set-v2", "its-on_time", "its-on_time-1"}


@pytest.mark.parametrize(("program", "printed"), EXAMPLES)
def test_every_example_prints_what_the_page_says(program, printed, tmp_path):
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=apart(tmp_path), capture_output=True, text=True, check=True)
    assert done.stdout == printed
