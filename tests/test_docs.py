"""The documents name what there is, and every link in them leads somewhere."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from retain.config import VARIABLES, Settings
from retain.surfaces.cli.main import cli
from retain.surfaces.mcp.resources import RESOURCES
from retain.surfaces.mcp.toolsets import default

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]


def page(name):
    return (ROOT / name).read_text()


@pytest.mark.parametrize("tool", [tool.name for tool in default.tools.tools])
def test_every_tool_has_a_row_in_the_tools_page(tool):
    assert f"| `{tool}` |" in page("docs/tools.md")


@pytest.mark.parametrize("resource", [resource.uri for resource in RESOURCES])
def test_every_resource_is_named_in_the_tools_page(resource):
    assert resource in page("docs/tools.md")


@pytest.mark.parametrize("setting", [field.name for field in fields(Settings)])
def test_every_setting_has_a_row_with_its_variables(setting):
    row = next(line for line in page("docs/configuration.md").splitlines() if line.startswith(f"| `{setting}` |"))
    assert all(f"`{variable}`" in row for variable in VARIABLES.get(setting, ()))


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_every_command_is_named_in_the_command_page(command):
    assert f"`retain {command}" in page("docs/commands.md")


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
