"""How fast the graph contract's recall is at 10k entities, 50k relations and 10k memories, hubs included.

    python benchmarks/pagerank.py

The subgraph and PageRank alone are held to what a walk of depth 3 may take, the whole recall to what a hybrid one
may; questions are embedded beforehand. A hub is joined to half of all entities, and half of the memories that are
seen speak of it.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import servers
from building import START, caller, copy_of, projects
from corpus import LookedUp, questions
from engine_speed import ASKED, WARM_UP, engine_on
from measuring import Row, Times, load_average, table, timed
from results import save
from retain.domain.changes import Changes
from retain.domain.graph import MENTIONS, RELATED, Entity, Link, Relation
from retain.domain.ids import new_id
from retain.domain.recall import Filter
from retain.engine.engine import Engine
from retain.engine.parts import places
from retain.engine.recall import channels
from retain.engine.recall.channels import ChannelQuestion, Channels, Weights
from retain.engine.recall.recall import Question

SIZE = 10_000
GRAPH, RECALL = 20.0, 5.0  # milliseconds: the design's table
HUB = "Falcon"
NO_GRAPH = Weights(graph=0.0)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(f"load average {load_average():.1f} on {servers.cores()} cores", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        rows = list(measured(Path(folder)))
    print(table(rows))
    machine = {"cores": servers.cores(), "load_average": load_average(), "python": sys.version.split()[0]}
    print("saved", save("pagerank", {"machine": machine, "rows": [row.told() for row in rows]}))


def measured(folder: Path) -> Iterator[Row]:
    asked = list(questions(ASKED + WARM_UP))
    about = [f"{HUB}: {text}" for text in asked]
    with engine_on(copy_of(SIZE, folder), LookedUp(questions(ASKED + WARM_UP))) as engine:
        names = engine.parts.store.entity_names([projects()[0].id])
        naming = [f"{text} {names[-1 - place]}" for place, text in enumerate(asked)]
        for name, texts in (("", asked), (", naming an entity", naming)):
            yield from _rows(engine, name, texts)
        _add_hub(engine)
        yield from _rows(engine, ", naming a hub", about)


def _rows(engine: Engine, name: str, texts: Sequence[str]) -> Iterator[Row]:
    """The same questions one after the other in each way, so that what else the machine does falls on all alike."""
    calls: dict[str, Callable[[str], object]] = {
        "by channels": lambda text: engine.recall_by_channels(ChannelQuestion(text), caller()),
        "without the graph": lambda text: engine.recall_by_channels(ChannelQuestion(text, 10, NO_GRAPH), caller()),
        "hybrid": lambda text: engine.recall(Question(text), caller()),
    }
    for text in texts:
        engine.parts.embedder.embed([text])
    times = {kind: Times([], []) for kind in ("graph", *calls)}
    nodes = []
    for text in texts:
        lanes = _lanes(engine, text)
        times["graph"].add(timed([lambda text=text, lanes=lanes: _graph(engine, text, lanes)]))
        nodes.append(lanes.nodes)
        for kind, call in calls.items():
            times[kind].add(timed([lambda call=call, text=text: call(text)]))
            engine.settle(1)
    times = {kind: Times(taken.wall[WARM_UP:], taken.cpu[WARM_UP:]) for kind, taken in times.items()}
    yield _with(times["graph"].row(f"subgraph and PageRank{name}", GRAPH), f"{statistics.median(nodes):.0f} nodes")
    yield times["by channels"].row(f"recall by channels at {SIZE:,}{name}", RECALL)
    yield times["without the graph"].row(f"recall by channels without the graph{name}")
    yield times["hybrid"].row(f"hybrid recall at {SIZE:,}{name}", RECALL)


def _lanes(engine: Engine, text: str) -> Channels:
    """What the graph starts from: the other channels, as recall runs them."""
    found = Channels()
    channels._search(engine.parts, ChannelQuestion(text, 10, NO_GRAPH), found, Filter(places(caller())), caller())
    return found


def _graph(engine: Engine, text: str, lanes: Channels) -> None:
    channels._by_graph(engine.parts, text, lanes, Filter(places(caller())), caller())


def _with(row: Row, note: str) -> Row:
    return replace(row, note=f"{row.note}; {note}")


def _add_hub(engine: Engine) -> None:
    store, owner = engine.parts.store, projects()[0].id
    hub = Entity(new_id(START), HUB, "service", owner, START)
    others = [entity.id for entity in store.entities_named(store.entity_names([owner]), [owner])][::2]
    half = len(others) // 2
    joined = [Relation(hub.id, other, RELATED, START, 1.0) for other in others[:half]]
    joined += [Relation(other, hub.id, RELATED, START, 1.0) for other in others[half:]]
    memories = [stored.memory.id for stored in store.listed(Filter(places(caller())), SIZE)][::2]
    links = tuple(Link(id, hub.id, MENTIONS, START, by_rule=True) for id in memories)
    store.apply(Changes(at=START, entities=(hub,), relations=tuple(joined), links=links))


if __name__ == "__main__":
    main()
