"""What is found in a small project of each language: beside its folder in tests/repos stands what is expected."""

from pathlib import Path

import pytest

from retain.engine.code.parsing.languages import LANGUAGES
from retain.engine.code.parsing.parse import missing_grammar, parse

REPOS = Path(__file__).parents[2] / "repos"
PROJECTS = sorted(folder.name for folder in REPOS.iterdir() if folder.is_dir())


def expected(project):
    """Path, language, chunks, uses and names that are no uses, for each file of a project."""
    for block in (REPOS / f"{project}.txt").read_text().split("\n\n"):
        head, *lines = block.strip().splitlines()
        path, language = head.split(": ")
        said = [line.strip() for line in lines]
        chunks = [line for line in said if not line.startswith(("uses ", "never "))]
        uses, never = ({word for line in said if line.startswith(mark) for word in line.split()[1:]}
                       for mark in ("uses ", "never "))  # fmt: skip
        yield path, language, chunks, uses, never


def files(project):
    folder = REPOS / project
    return {file.relative_to(folder).as_posix(): file.read_text() for file in folder.rglob("*") if file.is_file()}


def row(chunk):
    doc = chunk.doc.splitlines()[0] if chunk.doc else ""
    return f"{chunk.kind} {chunk.qualified} {chunk.start_line}-{chunk.end_line} {doc}".strip()


def all_chunks(project):
    return {chunk.qualified: chunk for path, text in files(project).items() for chunk in parse(path, text).chunks}


@pytest.mark.parametrize("project", PROJECTS)
def test_definitions_are_found_with_their_parents_lines_and_docs(project):
    texts = files(project)
    for path, language, chunks, _, _ in expected(project):
        parsed = parse(path, texts.pop(path))
        assert (path, parsed.language) == (path, language)
        assert [row(chunk) for chunk in parsed.chunks] == chunks
    assert texts == {}, "files that nothing is expected of"


@pytest.mark.parametrize("project", PROJECTS)
def test_uses_of_names_are_found_on_their_lines_and_local_variables_are_none(project):
    texts = files(project)
    for path, _, _, uses, never in expected(project):
        references = parse(path, texts[path]).references
        assert uses <= {f"{each.name}:{each.line}" for each in references}
        assert not never & {each.name for each in references}
        assert len(set(references)) == len(references)


def test_every_language_with_a_grammar_has_a_project_and_a_grammar_that_loads():
    languages = {language.name for language in LANGUAGES if language.grammar}
    assert languages <= set(PROJECTS)
    assert [name for name in languages if missing_grammar(name)] == []


def test_a_class_is_its_head_with_the_signatures_of_its_members():
    assert all_chunks("python")["Route"].text == "\n".join(
        [
            "@dataclass(frozen=True)",
            "class Route:",
            '    """The stops of a parcel, the first and the last included."""',
            "",
            "    stops: tuple[str, ...]",
            "    minutes: int = 0",
            "    notes: list[str] = field(default_factory=list)",
            "",
            "    def is_direct(self) -> bool:",
            "",
            "    def extended(",
            "        self,",
            "        stop: str,",
            "        minutes: int,",
            "    ) -> Route:",
        ]
    )


def test_a_class_with_braces_keeps_its_last_line():
    text = all_chunks("java")["Library"].text
    assert "    public Loan lend(Book book, Reader reader) throws LendingException {" in text
    assert "Loan.of" not in text
    assert "@Override" not in text
    assert text.endswith("}")


def test_a_class_without_methods_is_whole():
    chunk = all_chunks("typescript")["Entry"]
    assert chunk.text.startswith("/** What can be kept. */\nexport interface Entry<T> {\n  key: Key;")
    assert chunk.text.endswith("touch(now: Date): void;\n}")


@pytest.mark.parametrize(
    ("project", "name", "signature"),
    [
        ("python", "Route.extended", "def extended( self, stop: str, minutes: int, ) -> Route"),
        ("python", "Parcel.deliver", "async def deliver(self) -> None"),
        ("javascript", "cartsOf", "export const cartsOf = async (person) =>"),
        ("typescript", "Cache.put", "put(entry: Entry<T>): void"),
        ("go", "Depot.Put", "func (d *Depot) Put(box Box) error"),
        ("go", "Box", "type Box struct"),
        ("rust", "Ring.push", "pub fn push(&mut self, item: T) -> Result<(), Full>"),
        ("java", "Library.clear", "void clear()"),
        ("c", "ring_count", "static size_t ring_count(const ring_t *ring)"),
        ("cpp", "geo.Circle.area", "double Circle::area() const"),
        ("csharp", "Acme.Billing.Invoice.Invoice", "public Invoice(Customer customer) : base(customer.Name)"),
        ("ruby", "Garden.water", "def self.water(bed)"),
        ("php", "App.Models.User.mail", "public function mail(Message $message): bool"),
        ("bash", "main", "function main"),
    ],
)
def test_a_signature_is_the_head_on_one_line(project, name, signature):
    assert all_chunks(project)[name].signature == signature


def test_a_signature_is_never_long():
    (chunk,) = parse("a.py", f"def f({', '.join(f'argument_{n}: int' for n in range(100))}):\n    pass\n").chunks
    assert chunk.signature.startswith("def f(argument_0: int, argument_1")
    assert len(chunk.signature) == 300


@pytest.mark.parametrize(
    ("project", "name", "doc"),
    [
        ("go", "Depot.Put", "Put stores a box,\nor says that there is no room."),
        ("rust", "Ring.new", "An empty ring."),
        ("javascript", "Cart", "A cart with its lines."),
        ("csharp", "Acme.Billing.Invoice", "What a customer owes."),
        ("php", "App.Models.User", "Someone who can log in."),
    ],
)
def test_a_doc_comment_loses_its_marks(project, name, doc):
    assert all_chunks(project)[name].doc == doc


def test_what_a_rust_type_can_do_is_a_class_of_its_name():
    parsed = parse("lib.rs", files("rust")["src/lib.rs"])
    heads = [chunk.signature for chunk in parsed.chunks if chunk.name == "Ring"]
    assert heads == ["pub struct Ring<T>", "impl<T> Ring<T>", "impl<T> Drain for Ring<T>"]


@pytest.mark.parametrize(
    "text",
    [
        "# Copyright of somebody.\n# Licensed to you.\n\nimport os\n",
        "# -*- coding: utf-8 -*-\nimport os\n",
        "#!/usr/bin/env python\nimport os\n",
    ],
)
def test_licences_and_words_to_tools_are_not_what_a_file_is_about(text):
    (chunk,) = parse("a.py", text).chunks
    assert chunk.doc == ""
    assert chunk.text == text.strip()


@pytest.mark.parametrize(
    ("path", "name"),
    [("shop/__init__.py", "shop"), ("shop/index.ts", "shop"), ("src/shelf/mod.rs", "shelf"), ("index.js", "index"),
     ("a\\b\\c.py", "c")],
)  # fmt: skip
def test_what_stands_outside_is_named_after_the_file_or_its_folder(path, name):
    (chunk,) = parse(path, "use(1);").chunks
    assert (chunk.kind, chunk.name) == ("module", name)


def test_a_comment_and_decorators_belong_to_a_definition_only_without_a_gap():
    text = "# about nothing\n\n# about f\n@wrapped(\n    1,\n)\n# more\n@twice\ndef f():\n    pass\n"
    above, function = parse("a.py", text).chunks
    assert (above.start_line, above.end_line) == (1, 1)
    assert (function.start_line, function.end_line, function.doc) == (3, 10, "about f\nmore")


def test_two_definitions_on_one_line_are_one_chunk():
    chunks = parse("a.js", "function a() { one(); } function b() { two(); }").chunks
    assert [(chunk.name, chunk.text.count("two")) for chunk in chunks] == [("a", 1)]


def test_a_header_is_cpp_when_it_says_so():
    assert parse("a.h", "/* this class of problem */\nint f(void);").language == "c"
    assert parse("a.h", "#include <stdio.h>\nint f(void);").language == "c"
    assert parse("a.h", "#include <vector>\nint f();").language == "cpp"
    assert parse("a.h", "class A {\n};").language == "cpp"


def test_a_translation_that_is_called_like_typescript_is_xml():
    assert parse("de.ts", '<?xml version="1.0"?>\n<TS></TS>').language == "xml"
