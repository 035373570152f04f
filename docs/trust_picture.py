"""Draws docs/trust.svg: how far current and outdated statements are trusted after a change, in the simulated year.

python docs/trust_picture.py          # from the newest result of benchmarks/year.py
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
WIDTH, HEIGHT = 800, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 770, 92, 350
WEEKS = 16
FEWEST = 5  # statements behind a point

PAPER, INK, SOFT, PALE = "#f8fafc", "#0f172a", "#64748b", "#cbd5e1"
CURRENT, OUTDATED, SEEN = "#0e7490", "#c2410c", "#64748b"

Row = Mapping[str, float]
Point = tuple[float, float]


def main() -> None:
    newest = max(RESULTS.glob("*-year.json"), key=lambda file: file.stat().st_mtime)
    told = json.loads(newest.read_text(encoding="utf-8"))
    Path(__file__).with_name("trust.svg").write_text("\n".join(_svg(told)) + "\n", encoding="utf-8")


def _svg(told: dict[str, Any]) -> Iterator[str]:
    current, outdated = (_drawable(told["confidence"][name]) for name in ("current", "outdated"))
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    yield ' font-family="Helvetica, Arial, Liberation Sans, sans-serif" font-size="12">'
    yield "<title>Confidence of current and of outdated statements, by weeks since the change</title>"
    yield f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="12" fill="{PAPER}" stroke="{PALE}"/>'
    yield _text((LEFT, 34), "How far statements are trusted after a fact has changed", INK, size=16, weight=600)
    yield _text((LEFT, 56), "a simulated year, 5,000 episodes; line: median, band: middle half", SOFT)
    yield from _axes()
    yield from _line([(_x(week), _y(share)) for week, share in _seen(told)], SEEN, dashed=True)
    for rows, colour in ((outdated, OUTDATED), (current, CURRENT)):
        yield _band(rows, colour)
        yield from _line([(_x(row["week"]), _y(row["median"])) for row in rows], colour)
    yield from _key()
    yield "</svg>"


def _drawable(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["week"] <= WEEKS and row["statements"] >= FEWEST]


def _seen(told: dict[str, Any]) -> Iterator[Point]:
    """The share of outdated statements that recall still shows, by week."""
    for week, states in told["states_of_outdated"].items():
        if int(week) <= WEEKS and sum(states.values()) >= FEWEST:
            yield int(week), states.get("active", 0) / sum(states.values())


def _axes() -> Iterator[str]:
    for tenth in range(0, 11, 2):
        y = _y(tenth / 10)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}" stroke="{PALE}" stroke-width="1"/>'
        yield _text((LEFT - 10, y + 4), f"{tenth / 10:.1f}", SOFT, anchor="end")
    for week in range(0, WEEKS + 1, 2):
        yield _text((_x(week), BOTTOM + 20), str(week), SOFT, anchor="middle")
    yield _text(((LEFT + RIGHT) / 2, BOTTOM + 42), "weeks since the change", SOFT, anchor="middle")


def _band(rows: Sequence[Row], colour: str) -> str:
    above = [(_x(row["week"]), _y(row["high"])) for row in rows]
    below = [(_x(row["week"]), _y(row["low"])) for row in reversed(rows)]
    return f'<polygon points="{_points([*above, *below])}" fill="{colour}" fill-opacity="0.16"/>'


def _line(points: Sequence[Point], colour: str, *, dashed: bool = False) -> Iterator[str]:
    style = 'stroke-width="1.5" stroke-dasharray="3 4"' if dashed else 'stroke-width="2.5"'
    yield f'<polyline points="{_points(points)}" fill="none" stroke="{colour}" {style} stroke-linejoin="round"/>'


def _key() -> Iterator[str]:
    x = float(LEFT)
    told = ((CURRENT, "says what holds now"), (OUTDATED, "says what held before, still shown by recall"))
    for colour, words in told:
        yield f'<rect x="{x}" y="68" width="18" height="10" rx="2" fill="{colour}"/>'
        yield _text((x + 24, 77), words, INK)
        x += 6.1 * len(words) + 54
    yield f'<line x1="{x}" y1="73" x2="{x + 18}" y2="73" stroke="{SEEN}" stroke-width="1.5" stroke-dasharray="3 4"/>'
    yield _text((x + 24, 77), "share of these that it still shows", INK)


def _x(week: float) -> float:
    return LEFT + (RIGHT - LEFT) * week / WEEKS


def _y(share: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * share


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _text(at: Point, words: str, colour: str, *, size: int = 12, weight: int = 400, anchor: str = "start") -> str:
    place = f'x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}"'
    return f'<text {place} fill="{colour}">{escape(words)}</text>'


if __name__ == "__main__":
    main()
