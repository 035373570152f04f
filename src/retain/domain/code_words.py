"""How a chunk of code is read by the two searches: as terms, as the text of its vector, and by its name."""

import re
from collections.abc import Sequence
from textwrap import dedent

from retain.domain.code import Chunk
from retain.domain.words import STOP_WORDS, bare, query_terms, terms

MOST_SAID = 300  # characters of a doc comment in a headline
MOST_JOINED = 6  # words of a question that are taken for one name

# What questions about code say besides what they are about.
_ABOUT = """
    call called calls class classes code def define defined defines definition definitions find function functions
    implement implementation implemented implements method methods search show source struct symbol usage used uses
    where
"""
_ABOUT_CODE = frozenset(_ABOUT.split())

_NAME = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::|->|#)[^\W\d][\w$]*)*")
_BETWEEN = re.compile(r"::|->|[.#]")
_STEP = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z0-9]+|[^\W\dA-Za-z_]+")
_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|specs?|__tests__)/|(?:^|/)(?:test_[^/]*|conftest\.py)$|[._-](?:test|spec|tests)\.\w+$|Tests?\.\w+$"
)
_ASIDE = re.compile(r"(?:^|/)(?:examples?|samples?|demos?|bench(?:mark)?s?|fixtures|testdata|mocks?|__mocks__)/")
# Files that stand for their folder.
_FOLDER_FILES = frozenset({"__init__", "__main__", "index", "mod", "lib", "main"})
_SENTENCE = re.compile(r"(?<=[.!?])\s|\n\s*\n")
_MIXED_CASE = re.compile(r"[a-z0-9][A-Z]")


def indexed(path: str, chunk: Chunk) -> tuple[str, str, str]:
    """What the full-text index keeps, as three fields: names, doc comment, body."""
    return _terms(f"{path} {chunk.qualified}"), _terms(chunk.doc), _terms(chunk.text)


def embedded_as(path: str, chunk: Chunk) -> str:
    """What the vectors of a chunk are made of, beside its headline: path, qualified name, doc comment, body."""
    # Indentation is tokens that say nothing: without it one question in a hundred more finds its function.
    body = dedent(chunk.text)
    doc = "" if chunk.doc in body else chunk.doc
    return "\n".join(part for part in (f"{path} {chunk.qualified}", doc, body) if part)


def headline(chunk: Chunk) -> str:
    """A chunk in one line: its names as words, and its signature, or where it has none how its doc comment begins."""
    names = " ".join(step.casefold() for step in _STEP.findall(chunk.qualified))
    if chunk.signature:
        return f"{names}: {chunk.signature}"
    return f"{names} {_SENTENCE.split(chunk.doc.strip(), maxsplit=1)[0][:MOST_SAID]}".strip()


def code_terms(question: str) -> list[str]:
    """The terms of a question about code: without "function", "where is", "defined", unless it has nothing else."""
    telling = " ".join(word for word in question.split() if bare(word.strip(".,:;?!()`")) not in _ABOUT_CODE)
    return query_terms(telling) or query_terms(question)


def folded(name: str) -> str:
    """A name as it is compared: `parse_moment`, `parseMoment` and `ParseMoment` are one, so are `A::b` and `A.b`."""
    return (
        _BETWEEN.sub(".", name.strip().removesuffix("()")).replace("_", "").replace("-", "").replace("$", "").casefold()
    )


def names_asked(question: str) -> list[str]:
    """What of a question is written as the name of a symbol, or all of it when it could be one, longest first.

    A plain word is a name only when the question says nothing else: nearly every verb is a function somewhere.
    """
    written = [found[0] for found in _NAME.finditer(question) if _is_written_as_name(question, found)]
    return sorted(dict.fromkeys([*written, *_whole(question)]), key=lambda name: (-len(name), name))


def spellings(name: str) -> list[str]:
    """A name in the ways that languages write it, to be looked up without regard to case."""
    *around, last = _BETWEEN.split(name.strip().removesuffix("()"))
    steps = _STEP.findall(last)
    ways = [last, "_".join(steps), "".join(steps), "-".join(steps), f"_{'_'.join(steps)}"] if steps else [last]
    return list(dict.fromkeys(".".join([*around, way]) for way in ways))


def lookups(name: str) -> list[str]:
    """The names under which a symbol may be found: what is asked for as `Store.apply` may be `sqlite.Store.apply`."""
    return list(dict.fromkeys([*spellings(name), *spellings(last_name(name))]))


def last_name(name: str) -> str:
    return _BETWEEN.split(name.strip().removesuffix("()"))[-1]


def is_test(path: str) -> bool:
    """Whether a file is there to test others, by the customs of most languages."""
    return _TEST.search(path) is not None


def is_aside(path: str) -> bool:
    """Whether a file is not part of what a project makes: tests and what they read, examples, benchmarks."""
    return is_test(path) or _ASIDE.search(path) is not None


def home_names(path: str, chunk: Chunk) -> list[str]:
    """The names by which a file that uses a symbol would get hold of it: its class, else its module or package."""
    if chunk.parent:
        return [_BETWEEN.split(chunk.parent)[-1]]
    *folders, file = path.split("/")
    steps = [step for step in (*folders, file.partition(".")[0]) if step != chunk.name]
    is_shared = file.endswith((".go", ".java")) or not _FOLDER_FILES.isdisjoint(steps[-1:])
    return steps[-2:] if is_shared else steps[-1:]


def is_about_tests(question: str) -> bool:
    return "test" in code_terms(question)


def is_compound(name: str) -> bool:
    """Whether a name is made of several words, and so hardly anybody else's."""
    return len(_STEP.findall(name)) > 1


def is_called(chunk: Chunk, name: str) -> bool:
    """Whether a name means this chunk: its own name, or the end of its qualified name."""
    wanted, whole = folded(name), folded(chunk.qualified)
    return whole == wanted or whole.endswith(f".{wanted}") or ("." not in wanted and folded(chunk.name) == wanted)


def _is_written_as_name(question: str, found: "re.Match[str]") -> bool:
    name, after = found[0], question[found.end() : found.end() + 1]
    return "_" in name or bool(_BETWEEN.search(name) or _MIXED_CASE.search(name)) or after == "("


def _whole(question: str) -> list[str]:
    words = _NAME.findall(question)
    return [name for kept in (words, _without(words, _ABOUT_CODE | STOP_WORDS)) if (name := _joined(kept))]


def _without(words: Sequence[str], unwanted: frozenset[str]) -> list[str]:
    return [word for word in words if bare(word) not in unwanted]


def _joined(words: Sequence[str]) -> str:
    if len(words) == 1:
        return words[0]
    return "_".join(words) if 1 < len(words) <= MOST_JOINED else ""


def _terms(text: str) -> str:
    return " ".join(terms(text))
