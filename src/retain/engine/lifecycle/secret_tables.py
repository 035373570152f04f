"""Secrets in tables of Markdown: the cells below a heading like "password", and those beside one."""

import re
from collections.abc import Callable

from retain.engine.lifecycle.placeholders import is_masked, is_password, is_placeholder

NAMED = re.compile(
    r"[*_` ]{0,4}(?:[a-z]{1,20}[ _-]){0,2}(?:password|passwd|pass|pwd|pw|passphrase|secret|token|api[ _-]?key|pin"
    r"|passwort|kennwort|contraseña|mot de passe|mdp|senha|wachtwoord|hasło|пароль|密码|パスワード)[*_` ]{0,4}",
    re.I,
)
PASSWORD = re.compile(r"pass|pw|kenn|contra|mot de|mdp|senha|wacht|has|парол|密码|パス", re.I)
RULE = re.compile(r"[ \t|:-]{3,400}")


def without_cells(text: str, mark: Callable[[], str]) -> str:
    """The text with such cells replaced by what `mark` says."""
    if "|" not in text:
        return text
    lines = text.split("\n")
    columns: dict[int, bool] = {}
    for number, line in enumerate(lines):
        if line.count("|") < 1:
            columns = {}
            continue
        cells = line.split("|")
        named = {place for place, cell in enumerate(cells) if NAMED.fullmatch(cell.strip())}
        follows = lines[number + 1] if number + 1 < len(lines) else ""
        if named and "-" in follows and RULE.fullmatch(follows):
            columns = {place: PASSWORD.search(cells[place]) is not None for place in named}
            continue
        lines[number] = "|".join(_cell(cell, place, columns, named, mark) for place, cell in enumerate(cells))
    return "\n".join(lines)


def _cell(cell: str, place: int, columns: dict[int, bool], named: set[int], mark: Callable[[], str]) -> str:
    value = cell.strip().strip("`*\"'")
    is_there = place in columns or place - 1 in named
    if not is_there or len(value) < 4 or NAMED.fullmatch(value) or is_placeholder(value) or is_masked(value):
        return cell
    return cell.replace(value, mark()) if is_password(value) or (columns.get(place) and " " not in value) else cell
