"""Which symbols the files of a project use, as far as names tell: code is read, not run."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from retain.domain.code import StoredChunk
from retain.domain.code_words import home_names, is_aside, is_compound
from retain.ports import CodeStore

# What a use of a name says about what it means. A private name is not meant for others; inside of its own file a use
# says little about the project.
PRIVATE, AT_HOME = 0.1, 0.1
FOCUSED = 10.0
# A name of one word may be anybody's (`join`, `digest`, `Context`). It means a symbol when the file names also the
# class or module where that is at home; when it does not, hardly: least where the word is in lower case.
PLAIN, STRAY, STRAY_PLAIN = 0.5, 0.1, 0.01
# A name with more definers says nothing about any of them.
MOST_DEFINERS = 20

Place = int  # of a symbol among all, or of a file


@dataclass(slots=True)
class Uses:
    """Who uses which symbol, as columns: `sources` and `targets` are files."""

    files: dict[tuple[str, str], Place] = field(default_factory=dict)
    aside: set[Place] = field(default_factory=set)
    """The files that are not the product's own."""
    homes: list[Place] = field(default_factory=list)
    """The file of each symbol."""
    sources: list[Place] = field(default_factory=list)
    targets: list[Place] = field(default_factory=list)
    symbols: list[Place] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def file(self, index: str, path: str) -> Place:
        known = self.files.get((index, path))
        if known is None:
            known = self.files[index, path] = len(self.files)
            if is_aside(path):
                self.aside.add(known)
        return known

    def add(self, source: Place, symbol: Place, weight: float) -> None:
        self.sources.append(source)
        self.targets.append(self.homes[symbol])
        self.symbols.append(symbol)
        self.weights.append(weight)


def found_uses(
    store: CodeStore, keys: Sequence[str], symbols: Sequence[StoredChunk], focused: Collection[str] = ()
) -> Uses:
    """The uses in these indexes; those of `focused` names count more."""
    uses = Uses()
    uses.homes = [uses.file(symbol.index, symbol.path) for symbol in symbols]
    for key in keys:
        namesakes = _Namesakes(key, symbols, uses)
        for path, rows in groupby(store.uses(key), key=itemgetter(0)):
            lines = {name: count for _, name, count in rows}
            source = uses.file(key, path)
            for name in filter(namesakes.names.__contains__, lines):
                weight = lines[name] ** 0.5 * (FOCUSED if name in focused else 1.0)
                for place, share in namesakes.meant(name, source, lines):
                    uses.add(source, place, weight * share)
    return uses


class _Namesakes:
    """The symbols of each name in an index, those of the product apart from those of its tests."""

    def __init__(self, key: str, symbols: Sequence[StoredChunk], uses: Uses) -> None:
        self._symbols, self._uses = symbols, uses
        self._product: defaultdict[str, list[Place]] = defaultdict(list)
        self._aside: defaultdict[str, list[Place]] = defaultdict(list)
        self._own: defaultdict[tuple[Place, str], list[Place]] = defaultdict(list)
        self._homes: dict[Place, list[str]] = {}
        for place, symbol in enumerate(symbols):
            if symbol.index == key:
                name, home = symbol.chunk.name, uses.homes[place]
                self._own[home, name].append(place)
                (self._aside if home in uses.aside else self._product)[name].append(place)
        self.names = self._product.keys() | self._aside.keys()

    def meant(self, name: str, source: Place, used: Collection[str]) -> list[tuple[Place, float]]:
        """What a name may mean in a file that uses all these names, with how much a use says about each of them."""
        own = self._own.get((source, name))
        if own:
            return [(place, AT_HOME * _worth(name, known=True) / len(own)) for place in own]
        found = self._product.get(name, [])
        if source in self._uses.aside:
            found = found or self._aside[name]
        if not 0 < len(found) <= MOST_DEFINERS:
            return []
        known = [place for place in found if self._is_known(place, used)]
        chosen = known or found
        # One that many define is likely another one's.
        worth = _worth(name, known=bool(known)) / len(chosen) ** 1.5
        return [(place, worth) for place in chosen]

    def _is_known(self, place: Place, used: Collection[str]) -> bool:
        homes = self._homes.get(place)
        if homes is None:
            symbol = self._symbols[place]
            homes = self._homes[place] = home_names(symbol.path, symbol.chunk)
        return any(name in used for name in homes)


@lru_cache(maxsize=32_768)
def _worth(name: str, *, known: bool) -> float:
    private = PRIVATE if name.startswith("_") else 1.0
    if is_compound(name):
        return private
    if name.islower():
        return private * (PLAIN if known else STRAY_PLAIN)
    return private if known else private * STRAY
