"""Folders of code for tests, and what indexes them."""

import threading

from retain.domain.code import CodeIndex, IndexStatus, index_key
from retain.domain.ids import id_of
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.engine.code.code import Code
from retain.engine.code.finding.search import CodeQuestion
from retain.engine.code.indexing.holding import claimed, new_holder
from retain.engine.code.reading.roots import Roots
from retain.engine.parts import Parts

ADA = Caller("ada")
PARSE = 'def parse_moment(text):\n    """Turns text into a moment."""\n    return text\n'
FORMAT = 'def format_moment(moment):\n    """Writes a moment down."""\n    return str(moment)\n'


class Model(HashedEmbedder):
    """Notes what it is given; while the gate is shut, it is loading."""

    def __init__(self, *, ready=True):
        self.texts, self.gate = [], threading.Event()
        if ready:
            self.gate.set()

    def wait(self, seconds):
        return self.gate.wait(seconds)

    def embed(self, texts):
        self.texts += texts
        return super().embed(texts)


def write(folder, path, text):
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def a_shop(folder):
    """A folder with three files: two of Python, and one about them."""
    write(folder, "src/parse.py", PARSE)
    write(folder, "src/format.py", FORMAT)
    write(folder, "README.md", "# Shop\n\nWe sell things.\n")
    return folder


def a_tree(folder, files, functions):
    """A folder with so many files of so many functions, no two alike."""
    for n in range(files):
        body = "\n\n".join(f"def number_{n}_{f}(value):\n    return value + {f}" for f in range(functions))
        write(folder, f"part{n % 10}/file{n}.py", f"{body}\n")
    return folder


def a_code(store, clock, *roots, model=None, home=None):
    return Code(Parts(store, model or HashedEmbedder(), clock), Roots(roots, home))


def indexed(code, root, caller=ADA, **options):
    """Indexes to the end, which must be a good one."""
    done = code.index(str(root), caller, patience=60, **options)
    assert (done.running, done.index.status, done.index.error) == (False, IndexStatus.COMPLETED, None)
    return done


def by_hand(store, clock, root):
    """An index that is claimed, as a run finds it."""
    now = clock.now()
    project = Project(id_of(str(root)), root.name, str(root), now)
    wanted = CodeIndex(project, "ada", IndexStatus.INDEXING, started=now, holder=new_holder(), beat=now)
    return claimed(store, wanted, now, new=True)


def key_of(root, user="ada"):
    return index_key(id_of(str(root.resolve())), user)


def names_found(code, text, caller=ADA):
    return [hit.stored.chunk.name for hit in code.search(CodeQuestion(text), caller).hits]
