"""Where a memory stands among others: what speaks against it, and when it holds."""

from dataclasses import dataclass
from datetime import datetime

from retain.domain.changes import Contradiction
from retain.domain.memory import Memory, MemoryId, Provenance
from retain.domain.order import Pair, Side, disputing
from retain.domain.trust import known_word, provenance_of


@dataclass(frozen=True, slots=True)
class Rival:
    """The other side of a contradiction that nobody has decided: an active memory."""

    contradiction: Contradiction
    whole: Memory

    @property
    def memory(self) -> MemoryId:
        return self.whole.id

    @property
    def text(self) -> str:
        return self.whole.text

    @property
    def last_said(self) -> datetime:
        return self.whole.last_said

    @property
    def provenance(self) -> Provenance:
        return provenance_of(self.whole)

    @property
    def is_newer(self) -> bool:
        return self.memory == self.contradiction.newer

    def is_later_than(self, memory: Memory) -> bool:
        """Things change: what was said before speaks against nothing that was said since."""
        return (self.last_said, self.is_newer) > (memory.last_said, False)

    def beside(self, memory: Memory) -> Pair:
        """Which of the two leads."""
        older, newer = (memory, self.whole) if self.is_newer else (self.whole, memory)
        return disputing(side(older), side(newer))

    def leads(self, memory: Memory) -> bool:
        return self.beside(memory).leading.id == self.memory

    def said(self, longest: int) -> str:
        """Its text in one line, cut to about so many characters."""
        return one_line(self.text, longest)


@dataclass(frozen=True, slots=True)
class Standing:
    """What disputes a memory; and when it holds, where it and another were found to hold each in its own case."""

    rivals: tuple[Rival, ...] = ()
    conditions: tuple[str, ...] = ()

    @property
    def when(self) -> str:
        """The conditions as they follow the word "when"; empty where there are none."""
        said = "; ".join(self.conditions)
        return said[5:] if said.lower().startswith("when ") else said


def side(memory: Memory) -> Side:
    """A memory as one of two that cannot both be true."""
    return Side(memory.id, memory.last_said.timestamp(), known_word(memory))


def one_line(text: str, longest: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= longest else flat[:longest].rsplit(" ", 1)[0] + "…"
