"""A folder with sources that tests write, index and ask about."""

import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fakes import FixedClock
from retain.domain.code import CodeIndex
from retain.domain.ids import id_of
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.engine.code.code import Code
from retain.engine.code.finding.search import CodeAnswer, CodeQuestion, search
from retain.engine.code.reading.roots import Roots
from retain.engine.parts import Parts
from retain.ports import Embedder, Store


@dataclass(frozen=True)
class Tree:
    """A project's folder, and who asks about it; without `here`, from nowhere in particular."""

    parts: Parts
    root: Path
    user: str = ""

    def write(self, **files: str) -> "Tree":
        """Files by name; `a__b` is the file b in the folder a, and what has no dot ends in .py."""
        for name, text in files.items():
            path = self.root / name.replace("__", "/")
            path = path if path.suffix else path.with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text).strip() + "\n")
        return self

    def index(self) -> CodeIndex:
        code = Code(self.parts, Roots((self.root.parent,)))
        done = code.index(str(self.root), self.caller, patience=60)
        code.close()
        assert not done.running
        return done.index

    @property
    def project(self) -> Project:
        root = self.root.resolve()
        return Project(id_of(str(root)), root.name, str(root), self.parts.clock.now())

    @property
    def caller(self) -> Caller:
        return Caller(self.user)

    @property
    def inside(self) -> Caller:
        return Caller(self.user, self.project)

    def ask(self, text: str, caller: Caller | None = None, **fields: Any) -> CodeAnswer:
        return search(self.parts, CodeQuestion(text, **fields), caller or self.caller)

    def found(self, text: str, **fields: Any) -> list[str]:
        return [hit.stored.chunk.qualified for hit in self.ask(text, **fields).hits]

    def beside(self, name: str) -> "Tree":
        """Another project in the same store."""
        root = self.root.parent / name
        root.mkdir(parents=True, exist_ok=True)
        return replace(self, root=root)


def a_tree(store: Store, folder: Path, embedder: Embedder | None = None, name: str = "shop") -> Tree:
    root = folder / "projects" / name
    root.mkdir(parents=True)
    return Tree(Parts(store, embedder or HashedEmbedder(), FixedClock()), root)
