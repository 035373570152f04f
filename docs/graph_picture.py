"""Draws docs/graph.svg: what recall walks for one question, on a small memory of its own.

python docs/graph_picture.py
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import retain
from retain.domain.graph import Entity, Relation
from retain.domain.recall import Filter
from retain.engine.knowledge.pagerank import pagerank, tempered
from retain.engine.parts import owners, places
from retain.engine.recall.channels import ChannelHit, ChannelQuestion
from retain.ports import Subgraph

QUESTION = "What could make CheckoutPage slow?"
NAMED = "CheckoutPage"
WIDTH, HEIGHT = 900, 640

Point = tuple[float, float]
# Where things stand in the picture; everything else in it is worked out by Retain.
ENTITIES: dict[str, Point] = {
    "CheckoutPage": (180, 290),
    "PriceService": (460, 290),
    "Redis": (750, 210),
    "kestrel": (750, 350),
    "InvoiceMailer": (150, 552),
    "PostgreSQL": (420, 552),
}
MEMORIES: dict[str, Point] = {
    "CheckoutPage depends on PriceService for the total of an order": (370, 140),
    "The button on CheckoutPage stays grey until a total is there": (170, 440),
    "PriceService rounds half up, as the tax office wants it": (460, 440),
    "PriceService depends on Redis for the exchange rates of the day": (735, 75),
    "kestrel copies its disk to the archive each full hour": (750, 475),
    "InvoiceMailer uses PostgreSQL and tries three times": (720, 552),
}
QUESTION_AT: Point = (190, 55)
BOX_WIDTH, LINE = 262, 17

PAPER, INK, SOFT, PALE = "#f8fafc", "#0f172a", "#64748b", "#cbd5e1"
SEED, ENTITY, MEMORY = "#c2410c", "#0e7490", "#ffffff"
PALE_INK = "#94a3b8"


@dataclass
class Picture:
    """What there is and what was walked of it, by name and text; what was not walked has no time and no hit."""

    entities: dict[str, Entity]
    relations: list[tuple[str, str, Relation]]
    links: list[tuple[str, str]]
    time: dict[str, float]
    hits: dict[str, ChannelHit] = field(default_factory=dict)
    seeds: set[str] = field(default_factory=set)


def main() -> None:
    with TemporaryDirectory() as folder:
        project = Path(folder) / "shop"
        (project / ".git").mkdir(parents=True)
        with retain.open(Path(folder) / "retain.db", project_dir=project) as memory:
            picture = _asked(memory)
    target = Path(__file__).with_name("graph.svg")
    target.write_text("\n".join(_svg(picture)) + "\n", encoding="utf-8")


def _asked(memory: retain.Retain) -> Picture:
    price, host = memory.entity("PriceService", "component"), memory.entity("kestrel", "host")
    memory.relate(price.id, host.id, "runs_on")
    for text in MEMORIES:
        memory.remember(text)
    caller, parts = memory.caller(), memory.engine.parts
    answer = memory.engine.recall_by_channels(ChannelQuestion(QUESTION), caller)
    # The seeds, as the recall has chosen them: the entity that is named, and what the other two channels found.
    lanes = (memory.engine.search_by_meaning, memory.engine.search_by_words)
    found = {hit.id for lane in lanes for hit in lane(QUESTION, 5, caller).hits}
    entities = {entity.name: entity for entity in parts.store.entities_named(list(ENTITIES), owners(caller))}
    near = parts.store.around([entities[NAMED].id], list(found), Filter(places(caller)), memory.now())
    time, scores = _ranked(near, entities[NAMED].id, found)
    told = {hit.id: round(hit.graph, 4) for hit in answer.hits}
    if told != {id: round(scores[id], 4) for id in near.memories}:
        raise SystemExit(f"the picture would differ from what recall says: {told}")
    picture = _named(memory, entities, near, time)
    picture.hits = {hit.stored.memory.text: hit for hit in answer.hits}
    picture.seeds = {NAMED, *(text for text, hit in picture.hits.items() if hit.id in found)}
    return picture


def _ranked(near: Subgraph, named: str, found: set[str]) -> tuple[dict[str, float], dict[str, float]]:
    """How much of the walker's time each node gets, and the score of each memory."""
    nodes = (*near.entities, *near.memories)
    number = {id: place for place, id in enumerate(nodes)}
    ends, others, weights = zip(*near.edges, strict=True)
    hits = [number[id] for id in found if id in number]
    seeds = {number[named]: 1.0} | dict.fromkeys(hits, 1 / len(hits))
    shares = pagerank(len(nodes), ends + others, others + ends, weights + weights, seeds)
    scores = tempered(shares, ends + others)
    best = max(float(scores[number[id]]) for id in near.memories)
    return (
        {id: float(shares[place]) for id, place in number.items()},
        {id: float(scores[number[id]]) / best for id in near.memories},
    )


def _named(
    memory: retain.Retain,
    entities: dict[str, Entity],
    near: Subgraph,
    time: dict[str, float],
) -> Picture:
    store = memory.engine.parts.store
    names = {entity.id: name for name, entity in entities.items()}
    texts = {id: stored.memory.text for id, stored in store.memories(list(near.memories)).items()}
    label = names | texts
    nodes = (*near.entities, *near.memories)
    links = [(label[nodes[a]], label[nodes[b]]) for a, b, _ in near.edges if nodes[a] in texts]
    relations = [
        (names[relation.source], names[relation.target], relation)
        for entity in entities.values()
        for relation in memory.related(entity.id).relations
    ]
    return Picture(entities, relations, links, {label[id]: share for id, share in time.items()})


def _svg(picture: Picture) -> Iterator[str]:
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    yield ' font-family="Helvetica, Arial, Liberation Sans, sans-serif" font-size="13">'
    yield "<title>What recall walks for one question</title>"
    yield '<defs><marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="12" markerHeight="12"'
    yield f' markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" fill="{SOFT}"/></marker></defs>'
    yield f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="12" fill="{PAPER}" stroke="{PALE}"/>'
    yield from _asking(picture)
    for text, name in picture.links:
        yield _line(MEMORIES[text], ENTITIES[name], stroke=PALE_INK, width=1.2)
    for source, target, relation in picture.relations:
        yield from _relation(picture, source, target, relation)
    for name in ENTITIES:
        yield from _entity(picture, name)
    for text in MEMORIES:
        yield from _memory(picture, text)
    yield from _question()
    yield from _key()
    yield "</svg>"


def _asking(picture: Picture) -> Iterator[str]:
    """From the question to where the walk begins."""
    x, y = QUESTION_AT
    for seed in sorted(picture.seeds):
        end = ENTITIES.get(seed) or MEMORIES[seed]
        way = f"M{x} {y} L{end[0]} {end[1]}" if end[1] < 400 else f"M{x - 120} {y} Q20 {y + 180} {end[0] - 90} {end[1]}"
        yield f'<path d="{way}" fill="none" stroke="{SEED}" stroke-width="1.6" stroke-dasharray="5 4"/>'


def _relation(picture: Picture, source: str, target: str, relation: Relation) -> Iterator[str]:
    walked = source in picture.time
    start, end = ENTITIES[source], ENTITIES[target]
    stop = _short_of(start, end, _radius(picture, target) + 3)
    colour = SOFT if walked else PALE
    arrow = ' marker-end="url(#to)"' if walked else ""
    yield _line(start, stop, stroke=colour, width=1 + 2 * relation.weight, extra=arrow)
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    how = "by rule" if relation.by_rule else "stated"
    yield from _words((x, y), [relation.type, f"{relation.weight:.1f} {how}"], SOFT if walked else PALE_INK)


def _entity(picture: Picture, name: str) -> Iterator[str]:
    x, y = ENTITIES[name]
    walked, radius = name in picture.time, _radius(picture, name)
    ring = f' stroke="{SEED}" stroke-width="4"' if name in picture.seeds else f' stroke="{PAPER}" stroke-width="2"'
    yield f'<circle cx="{x}" cy="{y}" r="{radius:.1f}" fill="{ENTITY if walked else PALE}"{ring}/>'
    lines = [name, picture.entities[name].type, *([f"{picture.time[name]:.1%} of the walk"] if walked else [])]
    yield from _words((x, y + radius + 4 + 7.5 * len(lines)), lines, INK if walked else PALE_INK)


def _memory(picture: Picture, text: str) -> Iterator[str]:
    x, y = MEMORIES[text]
    hit, lines = picture.hits.get(text), textwrap.wrap(text, 36)
    height = LINE * (len(lines) + (hit is not None)) + 14
    top, left = y - height / 2, x - BOX_WIDTH / 2
    stroke = f'stroke="{SEED}" stroke-width="3"' if text in picture.seeds else f'stroke="{PALE}" stroke-width="1.5"'
    yield f'<rect x="{left}" y="{top}" width="{BOX_WIDTH}" height="{height}" rx="7" fill="{MEMORY}" {stroke}/>'
    for number, line in enumerate(lines):
        yield _text((x, top + 20 + number * LINE), line, INK if hit else PALE_INK)
    if hit:
        said = f"ppr {hit.graph:.2f} · vector {hit.vector:.2f} · bm25 {hit.words:.2f}"
        yield _text((x, top + 20 + len(lines) * LINE), said, SEED, size=12)


def _question() -> Iterator[str]:
    x, y = QUESTION_AT
    yield f'<rect x="{x - 165}" y="{y - 24}" width="330" height="48" rx="24" fill="{INK}"/>'
    yield _text((x, y + 5), QUESTION, "#ffffff", ' font-weight="600"', size=14)


def _key() -> Iterator[str]:
    y = HEIGHT - 22
    yield f'<circle cx="40" cy="{y - 4}" r="8" fill="{ENTITY}"/>'
    yield _text((56, y), "entity", SOFT, anchor="start")
    yield f'<rect x="112" y="{y - 12}" width="24" height="16" rx="4" fill="{MEMORY}" stroke="{PALE_INK}"/>'
    yield _text((144, y), "memory", SOFT, anchor="start")
    yield f'<rect x="212" y="{y - 12}" width="24" height="16" rx="4" fill="{MEMORY}" stroke="{SEED}" stroke-width="3"/>'
    yield _text((244, y), "seed: named in the question, or found by meaning or words", SOFT, anchor="start")
    yield f'<circle cx="640" cy="{y - 4}" r="8" fill="{PALE}"/>'
    yield _text((656, y), "not walked", SOFT, anchor="start")


def _radius(picture: Picture, name: str) -> float:
    return 10 + 40 * picture.time.get(name, 0.0) ** 0.5


def _short_of(start: Point, end: Point, gap: float) -> Point:
    across, down = end[0] - start[0], end[1] - start[1]
    share = 1 - gap / (across**2 + down**2) ** 0.5
    return start[0] + across * share, start[1] + down * share


def _line(start: Point, end: Point, *, stroke: str, width: float, extra: str = "") -> str:
    ends = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
    return f'<line {ends} stroke="{stroke}" stroke-width="{width:.1f}"{extra}/>'


def _words(at: Point, lines: Sequence[str], colour: str) -> Iterator[str]:
    """Lines on a piece of the background, so that what they lie on does not cross them."""
    wide, high = 6 * max(map(len, lines)) + 8, 15 * len(lines) + 4
    left, top = at[0] - wide / 2, at[1] - high / 2
    yield f'<rect x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{high}" fill="{PAPER}"/>'
    for number, line in enumerate(lines):
        weight = ' font-weight="600"' if number == 0 else ""
        yield _text((at[0], top + 14 + 15 * number), line, colour, weight, size=12)


def _text(at: Point, words: str, colour: str, extra: str = "", *, size: int = 13, anchor: str = "middle") -> str:
    place = f'x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}" font-size="{size}"'
    return f'<text {place} fill="{colour}"{extra}>{escape(words)}</text>'


if __name__ == "__main__":
    main()
