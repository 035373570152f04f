"""Draws docs/hooks.svg: what runs in a session of Claude Code, what each hook reads and writes, and what follows.

python docs/hooks_picture.py
"""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from retain.surfaces.hooks.asking import SECONDS as ANSWER
from retain.surfaces.hooks.runner import OTHER_SECONDS
from retain.surfaces.hooks.runner import SECONDS as DEADLINES

WIDTH, HEIGHT = 800, 590
EVENTS = {
    "SessionStart": "summary",
    "UserPromptSubmit": "what fits the prompt",
    "Stop": "hand over",
    "PreCompact": "hand over",
    "SessionEnd": "hand over",
}
WHEN = ("begins, resumes, is cleared", "every prompt", "every answer", "context is cut", "it ends")
SPOOLED = (
    "spool/",
    "session, transcript, last answer: one file for each conversation",
    "what a crash leaves there is taken up at the next SessionStart",
)
WORKS = ("one worker, in the background", "reads what is new, cleans it,", "keeps what matters")
LEFT, COLUMN, GAP = 24, 144, 8

PAPER, INK, SOFT, PALE = "#f8fafc", "#0f172a", "#64748b", "#cbd5e1"
RECALL, CAPTURE, WHITE = "#0e7490", "#c2410c", "#ffffff"

Box = tuple[float, float, float, float]
AGENT: Box = (LEFT, 30, WIDTH - 2 * LEFT, 46)
HOOK_TOP, HOOK_HEIGHT = 134, 78
SHOWN: Box = (24, 268, 144, 62)
SERVER: Box = (176, 268, 144, 62)
SPOOL: Box = (328, 268, 448, 62)
STORE: Box = (24, 398, 296, 70)
WORKER: Box = (404, 398, 220, 70)
MODEL: Box = (664, 398, 112, 70)
FILE: Box = (404, 516, 220, 48)


def main() -> None:
    Path(__file__).with_name("hooks.svg").write_text("\n".join(_svg()) + "\n", encoding="utf-8")


def _svg() -> Iterator[str]:
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    yield ' font-family="Helvetica, Arial, Liberation Sans, sans-serif" font-size="12">'
    yield "<title>What runs in a session, and when</title><defs>"
    yield from (_head(colour) for colour in (RECALL, CAPTURE, SOFT))
    yield f'</defs><rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="12" fill="{PAPER}" stroke="{PALE}"/>'
    yield from _box(AGENT, ["Claude Code: one session", "the agent and the user at work"], fill=INK, ink=WHITE)
    yield from _hooks()
    yield from _recalling()
    yield from _capturing()
    yield "</svg>"


def _hooks() -> Iterator[str]:
    for number, (event, does) in enumerate(EVENTS.items()):
        colour = RECALL if number < 2 else CAPTURE
        x = LEFT + number * (COLUMN + GAP)
        seconds = DEADLINES.get(event, OTHER_SECONDS)
        yield from _box((x, HOOK_TOP, COLUMN, HOOK_HEIGHT), [event, does, f"at most {seconds:g} s"], edge=colour)
        yield _text((x + COLUMN / 2, 98), WHEN[number], SOFT, size=11)
    for x in (_middle(0) - 20, _middle(1) - 20):
        yield _arrow((x, 104), (x, HOOK_TOP - 2), SOFT)
        yield _arrow((x + 40, HOOK_TOP), (x + 40, 104), RECALL)
        yield _text((x + 46, 122), "notes", RECALL, size=11, anchor="start")
    for number in (2, 3, 4):
        yield _arrow((_middle(number), 104), (_middle(number), HOOK_TOP - 2), SOFT)


def _recalling() -> Iterator[str]:
    yield from _box(SHOWN, ["injected/", "ids of what both showed,", "so nothing comes twice"])
    yield from _box(
        SERVER, ["the living server", "its model is loaded;", f"waited for {1000 * ANSWER:.0f} ms"], edge=RECALL
    )
    yield from _box(STORE, ["retain.db", "memories, words, vectors,", "how far each transcript was read"], edge=RECALL)
    low = HOOK_TOP + HOOK_HEIGHT
    yield _arrow((_middle(0), low), (_middle(0), SHOWN[1] - 2), SOFT)
    yield _arrow((_middle(1), low), (_middle(1), SERVER[1] - 2), RECALL, both=True)
    yield _text((_middle(1) + 8, 244), "socket", RECALL, size=11, anchor="start")
    yield _arrow((_middle(1), SERVER[1] + SERVER[3]), (_middle(1), STORE[1] - 2), RECALL, both=True)
    # Past the other boxes: hooks read the store themselves, at the start and when no server answers.
    yield f'<path d="M172 {STORE[1]}V{low + 22}M140 {low + 22}H204" fill="none" stroke="{RECALL}" stroke-width="1.6"/>'
    yield from (_arrow((x, low + 22), (x, low + 2), RECALL) for x in (140, 204))
    for number, words in enumerate(("read only: at the start,", "and by words when", "no server answers")):
        yield _text((164, 352 + 14 * number), words, RECALL, size=11, anchor="end")


def _capturing() -> Iterator[str]:
    yield from _box(SPOOL, SPOOLED, edge=CAPTURE)
    yield from _box(WORKER, WORKS, edge=CAPTURE)
    yield from _box(MODEL, ["language model", "only if", "you chose one"], dashed=True)
    yield from _box(FILE, ["CLAUDE.md, AGENTS.md", "between markers, if you asked for it"], edge=CAPTURE)
    for number in (2, 3, 4):
        yield _arrow((_middle(number), HOOK_TOP + HOOK_HEIGHT), (_middle(number), SPOOL[1] - 2), CAPTURE)
    centre = WORKER[0] + WORKER[2] / 2
    yield _arrow((centre, SPOOL[1] + SPOOL[3]), (centre, WORKER[1] - 2), CAPTURE)
    yield _text((centre + 8, 368), "started by the hook, detached", CAPTURE, size=11, anchor="start")
    row = WORKER[1] + 35
    yield _arrow((WORKER[0], row), (STORE[0] + STORE[2] + 2, row), CAPTURE)
    yield _text(((WORKER[0] + STORE[0] + STORE[2]) / 2, row - 8), "memories", CAPTURE, size=11)
    yield _arrow((WORKER[0] + WORKER[2], row), (MODEL[0] - 2, row), SOFT, both=True, dashed=True)
    yield _arrow((centre, WORKER[1] + WORKER[3]), (centre, FILE[1] - 2), CAPTURE)
    yield _text((LEFT, 536), "The client reads CLAUDE.md itself when a session begins.", SOFT, size=11, anchor="start")
    yield _text((LEFT, 552), "Whatever fails: the hook says {} and the session goes on.", SOFT, size=11, anchor="start")


def _middle(column: int) -> float:
    return LEFT + column * (COLUMN + GAP) + COLUMN / 2


def _head(colour: str) -> str:
    size = 'viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse"'
    shape = f'<path d="M0 0 8 4 0 8z" fill="{colour}"/>'
    return f'<marker id="to{colour[1:]}" {size} orient="auto-start-reverse">{shape}</marker>'


def _box(
    at: Box, lines: Sequence[str], *, fill: str = WHITE, ink: str = INK, edge: str = PALE, dashed: bool = False
) -> Iterator[str]:
    """A box whose first line is its name."""
    x, y, wide, high = at
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    colour = SOFT if dashed else edge
    frame = f'rx="7" fill="{fill}" stroke="{colour}" stroke-width="1.5"{dash}'
    yield f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" {frame}/>'
    top = y + high / 2 - 8 * (len(lines) - 1) + 4
    for number, words in enumerate(lines):
        yield _text((x + wide / 2, top + 16 * number), words, ink, size=13 if number == 0 else 11, bold=number == 0)


def _arrow(
    start: tuple[float, float], end: tuple[float, float], colour: str, *, both: bool = False, dashed: bool = False
) -> str:
    marker = f"url(#to{colour[1:]})"
    heads = f' marker-end="{marker}"' + (f' marker-start="{marker}"' if both else "")
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    ends = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="1.6"{heads}{dash}/>'


def _text(
    at: tuple[float, float],
    words: str,
    colour: str,
    *,
    size: int = 12,
    bold: bool = False,
    anchor: str = "middle",
) -> str:
    weight = ' font-weight="600"' if bold else ""
    place = f'x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}" font-size="{size}"'
    return f'<text {place} fill="{colour}"{weight}>{escape(words)}</text>'


if __name__ == "__main__":
    main()
