"""Which memories there are to consolidate, and which of them speak of the same thing, by meaning or by shared words."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from retain.domain.ending import Way
from retain.domain.memory import Kind, Memory, MemoryId, Place, Scope, Vector
from retain.domain.recall import Filter, Warning
from retain.domain.session import Caller
from retain.domain.words import query_terms
from retain.engine.ending import endable
from retain.engine.parts import places
from retain.ports import MemoryStore, Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

ALIKE = 0.72
SHARED_WORDS = 0.5
SMALLEST = 3
SESSIONS = 200  # in which one looks for what keeps coming up, the newest
MOST = 2000  # the similarity of every pair is held at once: 16 MB


@dataclass(frozen=True, slots=True)
class Cluster:
    """Memories that speak of one thing, oldest first; `near` says how close each is to the middle, if vectors told."""

    members: tuple[Memory, ...]
    near: tuple[float, ...] = ()

    @property
    def texts(self) -> list[str]:
        return [m.text for m in self.members]

    @property
    def tags(self) -> tuple[str, ...]:
        """The commonest first."""
        return tuple(tag for tag, _ in Counter(tag for m in self.members for tag in m.tags).most_common())

    @property
    def importance(self) -> float:
        return max(m.importance for m in self.members)

    @property
    def weight(self) -> tuple[float, int]:
        """What is consolidated first: what matters more, then what was said more often."""
        return round(sum(m.importance for m in self.members) / len(self.members), 3), len(self.members)

    @property
    def roots(self) -> tuple[MemoryId, ...]:
        """What was really said: a summary among the members stands for its sources."""
        return tuple(dict.fromkeys(root for m in self.members for root in m.derived_from or (m.id,)))


def episodes_of(store: MemoryStore, caller: Caller) -> list[Memory]:
    """What was said in the caller's session and is in no summary yet, newest first, but for what speaks for itself."""
    wanted = Filter(places(caller), kinds=(Kind.EPISODIC,), session=caller.session)
    unsaid = (m for m in listed(store, wanted) if not m.consolidated)
    return endable(store, list(islice(unsaid, MOST)), Way.SUMMARISE)


def evidence_for(store: Store, caller: Caller) -> list[Memory]:
    """What can show a pattern, newest first: what was said in other sessions too, no pattern itself, and no summary
    beside its own sources."""
    project = caller.project.id if caller.project else None
    others = [Place(Scope.SESSION, caller.user, project, id) for id in store.sessions(caller.user, project, SESSIONS)]
    wanted = Filter(tuple({place.key: place for place in (*places(caller), *others)}.values()))
    seen = [m for m in islice(listed(store, wanted), MOST) if m.place.project in (None, project)]
    ids = {m.id for m in seen}
    return [m for m in seen if not is_pattern(m) and ids.isdisjoint(m.derived_from)]


def is_pattern(memory: Memory) -> bool:
    return memory.kind is Kind.PROCEDURAL and bool(memory.derived_from)


def listed(store: MemoryStore, wanted: Filter) -> Iterator[Memory]:
    """Every memory that passes the filter, read a page at a time."""
    offset = 0
    while page := store.listed(wanted, MOST, offset):
        yield from (stored.memory for stored in page)
        offset += len(page)


def clustered(store: MemoryStore, memories: Sequence[Memory], model: str, smallest: int = SMALLEST) -> list[Cluster]:
    """By meaning where there are vectors, and what has none yet is left out; by shared words where nobody has any."""
    vectors = vectors_of(store, [m.id for m in memories], model)
    if not vectors:
        groups = by_words([m.text for m in memories], smallest=smallest)
        return [_cluster([memories[place] for place in group], {}) for group in groups]
    known = [m for m in memories if m.id in vectors]
    groups = by_meaning([vectors[m.id] for m in known], smallest=smallest)
    return [_cluster([known[place] for place in group], vectors) for group in groups]


def vectors_of(store: MemoryStore, ids: Sequence[MemoryId], model: str) -> dict[MemoryId, Vector]:
    """One vector a memory: for a long text the middle of its chunks."""
    found = store.vectors(ids, model) if ids else {}
    return {id: chunks[0] if len(chunks) == 1 else centre(chunks) for id, chunks in found.items()}


def missing(store: MemoryStore, ids: Sequence[MemoryId], model: str) -> tuple[Warning, ...]:
    """What to tell a caller whose memories have not all got a vector."""
    without = len(ids) - len(vectors_of(store, ids, model))
    if not without:
        return ()
    note = f"{without} of {len(ids)} memories have no vector yet; they are left for the next run"
    if without == len(ids):
        note = "no vectors are there (the embedding model is off or loading); grouped by the words that memories share"
    return (Warning("partial_results", note),)


def by_meaning(vectors: Sequence[Vector], threshold: float = ALIKE, smallest: int = SMALLEST) -> list[list[int]]:
    """Groups of indexes whose vectors have an average cosine of at least the threshold, in order of first member.

    Give the newest first: what comes after `MOST` is not looked at.
    """
    if len(vectors) < smallest:
        return []
    rows = _rows(vectors[:MOST])
    return _clusters(rows @ rows.T, threshold, smallest)


def by_words(texts: Sequence[str], threshold: float = SHARED_WORDS, smallest: int = SMALLEST) -> list[list[int]]:
    """The same for texts without vectors: the share of words that two texts have in common."""
    if len(texts) < smallest:
        return []
    return _clusters(_jaccard([query_terms(text) for text in texts[:MOST]]), threshold, smallest)


def centre(vectors: Sequence[Vector]) -> Vector:
    """The direction in which vectors point together: of a long text's chunks, or of a cluster."""
    import numpy as np

    total = _rows(vectors).sum(axis=0)
    length = float(np.linalg.norm(total)) or 1.0
    return Vector((total / length).astype("<f4").tobytes())


def closeness(vectors: Sequence[Vector]) -> list[float]:
    """How near each vector is to the centre of all."""
    return [float(cosine) for cosine in _rows(vectors) @ _rows([centre(vectors)])[0]]


def _cluster(members: Sequence[Memory], vectors: Mapping[MemoryId, Vector]) -> Cluster:
    ordered = sorted(members, key=lambda m: (m.event_time, m.created, m.id))
    return Cluster(tuple(ordered), tuple(closeness([vectors[m.id] for m in ordered])) if vectors else ())


def _rows(vectors: Sequence[Vector]) -> "Matrix":
    import numpy as np

    return np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1)


def _jaccard(bags: Sequence[Sequence[str]]) -> "Matrix":
    import numpy as np

    holding: defaultdict[str, list[int]] = defaultdict(list)
    for row, bag in enumerate(bags):
        for term in bag:
            holding[term].append(row)
    shared = np.zeros((len(bags), len(bags)), dtype=np.float32)
    for rows in holding.values():
        if len(rows) > 1:
            shared[np.ix_(rows, rows)] += 1
    sizes = np.array([len(bag) for bag in bags], dtype=np.float32)
    either: Matrix = np.maximum(sizes[:, None] + sizes[None, :] - shared, 1)
    return shared / either


def _clusters(similarity: "Matrix", threshold: float, smallest: int) -> list[list[int]]:
    """Average link by chains of nearest neighbours: n² in all, where looking for the best pair each time is n³.

    Joining two clusters never brings the result nearer to a third than the nearer of the two was, so pairs may be
    joined as they are met, and a cluster with no neighbour above the threshold is finished for good.
    """
    import numpy as np

    near = similarity.astype(np.float32, copy=True)
    np.fill_diagonal(near, -1)
    members = [[index] for index in range(len(near))]
    live = near.max(axis=1) >= threshold
    near[:, ~live] = -1
    chain: list[int] = []
    while live.any():
        tip = chain[-1] if chain else int(np.argmax(live))
        nearest = _nearest(near[tip], chain[-2] if len(chain) > 1 else None)
        if near[tip, nearest] < threshold:
            live[tip] = False
            near[:, tip] = -1
            chain.clear()
        elif len(chain) > 1 and nearest == chain[-2]:
            _join(near, live, members, (tip, nearest))
            del chain[-2:]
        else:
            chain += [nearest] if chain else [tip, nearest]
    return sorted(sorted(cluster) for cluster in members if len(cluster) >= smallest)


def _nearest(row: "Matrix", before: int | None) -> int:
    """On a tie the one the chain came from, else two equal neighbours would send it round for ever."""
    best = int(row.argmax())
    return before if before is not None and row[before] >= row[best] else best


def _join(near: "Matrix", live: "NDArray[np.bool_]", members: list[list[int]], pair: tuple[int, int]) -> None:
    kept, gone = sorted(pair)
    weight = len(members[kept]), len(members[gone])
    joined = (near[kept] * weight[0] + near[gone] * weight[1]) / sum(weight)
    joined[~live] = -1
    joined[[kept, gone]] = -1
    near[kept], near[:, kept] = joined, joined
    near[:, gone] = -1
    live[gone] = False
    members[kept] += members[gone]
    members[gone] = []
