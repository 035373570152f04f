"""Which symbols the files of a project use, as far as names tell: code is read, not run."""

from collections import defaultdict
from collections.abc import Collection, KeysView, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from retain.domain.code import StoredChunk
from retain.domain.code_words import home_names, is_aside, is_compound
from retain.ports import CodeSearch

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
    """Who uses which symbol, as columns: `sources` are files."""

    files: dict[tuple[str, str], Place] = field(default_factory=dict)
    aside: set[Place] = field(default_factory=set)
    """The files that are not the product's own."""
    homes: list[Place] = field(default_factory=list)
    """The file of each symbol."""
    sources: list[Place] = field(default_factory=list)
    symbols: list[Place] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def file(self, index: str, path: str) -> Place:
        known = self.files.get((index, path))
        if known is None:
            known = self.files[index, path] = len(self.files)
            if is_aside(path):
                self.aside.add(known)
        return known

    def add(self, source: Place, symbols: Sequence[Place], weight: float) -> None:
        """A use that may mean any of these symbols."""
        self.sources += [source] * len(symbols)
        self.symbols += symbols
        self.weights += [weight] * len(symbols)


def found_uses(
    store: CodeSearch, keys: Sequence[str], symbols: Sequence[StoredChunk], focused: Collection[str] = ()
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
                meant, worth = namesakes.meant(name, source, lines.keys())
                uses.add(source, meant, worth * lines[name] ** 0.5 * (FOCUSED if name in focused else 1.0))
    return uses


class _Namesakes:
    """The symbols of each name in an index, those of the product apart from those of its tests."""

    def __init__(self, key: str, symbols: Sequence[StoredChunk], uses: Uses) -> None:
        self._symbols, self._uses = symbols, uses
        self._product: defaultdict[str, list[Place]] = defaultdict(list)
        self._aside: defaultdict[str, list[Place]] = defaultdict(list)
        self._own: list[dict[str, list[Place]]] = [{} for _ in uses.files]
        self._homes: dict[Place, list[str]] = {}
        for place, symbol in enumerate(symbols):
            if symbol.index == key:
                name, home = symbol.chunk.name, uses.homes[place]
                self._own[home].setdefault(name, []).append(place)
                (self._aside if home in uses.aside else self._product)[name].append(place)
        self.names = self._product.keys() | self._aside.keys()

    def meant(self, name: str, source: Place, used: KeysView[str]) -> tuple[Sequence[Place], float]:
        """What a name may mean in a file that uses all these names, and how much a use says about each of them."""
        own = self._own[source].get(name) if source < len(self._own) else None
        if own:
            return own, AT_HOME * _worth(name, known=True) / len(own)
        found = self._product.get(name, [])
        if source in self._uses.aside:
            found = found or self._aside.get(name, [])
        if not 0 < len(found) <= MOST_DEFINERS:
            return (), 0.0
        known = [place for place in found if self._is_known(place, used)]
        chosen = known or found
        # One that many define is likely another one's.
        return chosen, _worth(name, known=bool(known)) / len(chosen) ** 1.5

    def _is_known(self, place: Place, used: KeysView[str]) -> bool:
        homes = self._homes.get(place)
        if homes is None:
            symbol = self._symbols[place]
            homes = self._homes[place] = home_names(symbol.path, symbol.chunk)
        return not used.isdisjoint(homes)


@lru_cache(maxsize=32_768)
def _worth(name: str, *, known: bool) -> float:
    private = PRIVATE if name.startswith("_") else 1.0
    if is_compound(name):
        return private
    if name.islower():
        return private * (PLAIN if known else STRAY_PLAIN)
    return private if known else private * STRAY
