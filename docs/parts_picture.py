"""Draws docs/parts.svg: what each part of the score of a recall is worth, on each set that was asked.

python docs/parts_picture.py          # from the newest result of benchmarks/parts.py
"""

import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
WIDTH, LEFT, TOP, ROW = 800, 150, 104, 30
GAP = 18  # between two sets
PAPER, INK, SOFT, PALE, GAIN, LOSS = "#f8fafc", "#0f172a", "#64748b", "#cbd5e1", "#0e7490", "#c2410c"
TITLES = {
    "asides": "facts beside answers",
    "developer": "developers",
    "locomo": "LoCoMo dev",
    "longmemeval": "LongMemEval dev",
}

Point = tuple[float, float]
Worth = Mapping[str, Mapping[str, float]]


def main() -> None:
    newest = max(RESULTS.glob("*-parts.json"), key=lambda file: file.stat().st_mtime)
    worth: Worth = json.loads(newest.read_text(encoding="utf-8"))
    Path(__file__).with_name("parts.svg").write_text("\n".join(_svg(worth)) + "\n", encoding="utf-8")


def _svg(worth: Worth) -> Iterator[str]:
    parts = [part for part in next(iter(worth.values())) if part not in ("all", "questions")]
    gains = {name: {part: row["all"] - row[part] for part in parts} for name, row in worth.items()}
    parts.sort(key=lambda part: -sum(row[part] for row in gains.values()))
    height, column = TOP + ROW * len(parts) + 24, (WIDTH - LEFT - 24) / len(worth)
    most = max(abs(gain) for row in gains.values() for gain in row.values())
    scale = (column - GAP - 44) / most  # a bar to the left of the line is short: little costs anything
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    yield ' font-family="Helvetica, Arial, Liberation Sans, sans-serif" font-size="12">'
    yield "<title>What each part of the score is worth: points of any@5 that are lost without it</title>"
    yield f'<rect x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="12" fill="{PAPER}" stroke="{PALE}"/>'
    yield _text((24, 34), "What each part of the score is worth", INK, size=16, weight=600)
    yield _text((24, 56), "questions of 100 whose answer is in the first five with it and not without it", SOFT)
    for number, part in enumerate(parts):
        yield _text((LEFT - 12, TOP + ROW * number + 12), part, INK, anchor="end")
    for number, (name, row) in enumerate(gains.items()):
        zero = LEFT + column * number + 16
        yield _text((zero, TOP - 18), f"{TITLES[name]} ({worth[name]['questions']})", SOFT)
        yield f'<line x1="{zero}" y1="{TOP - 8}" x2="{zero}" y2="{TOP + ROW * len(parts) - 8}" stroke="{PALE}"/>'
        for place, part in enumerate(parts):
            yield from _bar(row[part], zero, TOP + ROW * place, scale)
    yield "</svg>"


def _bar(gain: float, zero: float, y: float, scale: float) -> Iterator[str]:
    wide = max(abs(gain) * scale, 0.5)
    left = zero if gain >= 0 else zero - wide
    yield f'<rect x="{left:.1f}" y="{y}" width="{wide:.1f}" height="16" rx="2" fill="{GAIN if gain >= 0 else LOSS}"/>'
    yield _text((max(zero, left + wide) + 6, y + 12), f"{gain:+.1f}", INK)


def _text(at: Point, words: str, colour: str, *, size: int = 12, weight: int = 400, anchor: str = "start") -> str:
    place = f'x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}"'
    return f'<text {place} fill="{colour}">{escape(words)}</text>'


if __name__ == "__main__":
    main()
