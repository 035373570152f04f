"""Symbols drawn as an outline: files, and in them the signatures with their lines."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from retain.domain.code import StoredChunk
from retain.engine.context import tokens_in

LONGEST_LINE = 160

Place = int  # of a symbol among all


class Sketch:
    """Draws some of the symbols of a project; what stands around a symbol is drawn with it."""

    def __init__(self, symbols: Sequence[StoredChunk], projects: Mapping[str, str]) -> None:
        """`projects` are the names to put before paths, by index; none where there is only one."""
        self.symbols = symbols
        self._projects = projects
        self._inside: defaultdict[tuple[str, str], list[Place]] = defaultdict(list)
        for place, symbol in enumerate(symbols):
            self._inside[symbol.index, symbol.path].append(place)
        self.total_files = len(self._inside)
        self._named: dict[tuple[str, str], dict[str, Place]] = {}

    def shown(self, places: Sequence[Place]) -> dict[Place, None]:
        """These symbols and those around them, in this order."""
        shown: dict[Place, None] = {}
        for place in places:
            for one in self._outward(place):
                shown[one] = None
        return shown

    def drawn(self, places: Sequence[Place]) -> str:
        """Files in the order of their first symbol, symbols in the order of their file."""
        shown = self.shown(places)
        files: dict[tuple[str, str], list[Place]] = {}
        for place in shown:
            files.setdefault((self.symbols[place].index, self.symbols[place].path), []).append(place)
        return "\n".join(line for file, inside in files.items() for line in self._file(file, sorted(inside)))

    def left_out(self, places: Sequence[Place]) -> str:
        shown = self.shown(places)
        rest = len(self.symbols) - len(shown)
        files = self.total_files - len(self._files(shown))
        if not rest:
            return ""
        others = f", {files:,} files are not shown" if files else ""
        return f"\n… {rest:,} more symbols{others}"

    def count_files(self, places: Sequence[Place]) -> int:
        return len(self._files(self.shown(places)))

    def _files(self, places: Iterable[Place]) -> set[tuple[str, str]]:
        return {(self.symbols[place].index, self.symbols[place].path) for place in places}

    def _file(self, file: tuple[str, str], inside: Sequence[Place]) -> list[str]:
        index, path = file
        name = f"{self._projects[index]}: {path}" if index in self._projects else path
        in_order = sorted(inside, key=lambda place: self.symbols[place].chunk.start_line)
        return [_cut(name.replace("\n", "\ufffd")), *(self._line(place) for place in in_order)]

    def _line(self, place: Place) -> str:
        chunk = self.symbols[place].chunk
        indent = "  " * (len(self._outward(place)) - 1)
        signature = " ".join((chunk.signature or f"{chunk.kind.value} {chunk.name}").split())
        return _cut(f"{chunk.start_line:>5}  {indent}{signature}")

    def _outward(self, place: Place) -> list[Place]:
        """The symbol with what is around it, the outermost first."""
        chain = [place]
        while (around := self._around(self.symbols[chain[-1]])) is not None and around not in chain:
            chain.append(around)
        return chain[::-1]

    def _around(self, symbol: StoredChunk) -> Place | None:
        """What a symbol stands in; of several with that name the first."""
        file = symbol.index, symbol.path
        if file not in self._named:  # most files are never drawn
            backwards = reversed(self._inside[file])
            self._named[file] = {self.symbols[place].chunk.qualified: place for place in backwards}
        return self._named[file].get(symbol.chunk.parent)


def most_that_fit(order: Sequence[Place], draw: Callable[[Sequence[Place]], str], budget: int) -> Sequence[Place]:
    """As many of the first as can be drawn within so many tokens."""
    few, many = 0, min(len(order), budget)  # a line takes more than a token
    while few < many:
        middle = (few + many + 1) // 2
        if tokens_in(draw(order[:middle])) <= budget:
            few = middle
        else:
            many = middle - 1
    return order[:few]


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"
