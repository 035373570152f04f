"""The languages that are known, one line each: by which files, and with which grammar and queries they are read."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

TEXT = "text"


@dataclass(frozen=True, slots=True)
class Language:
    """How a language is told from a file's name, and what reads it; without a grammar it is cut by paragraphs.

    `files` are extensions with their dot, or whole names; `grammar` is the module and function that give it;
    `queries` are the .scm files that are read one after the other.
    """

    name: str
    files: str
    interpreters: str = ""
    grammar: str = ""
    queries: str = ""


_GRAMMARS = "tree_sitter_typescript"
_JAVASCRIPT, _TYPESCRIPT = "ecmascript javascript", "ecmascript typescript"

LANGUAGES = (
    Language("python", ".py .pyi .pyw SConstruct", "python pypy uv", "tree_sitter_python:language", "python"),
    Language("javascript", ".js .jsx .mjs .cjs", "node nodejs bun", "tree_sitter_javascript:language", _JAVASCRIPT),
    Language("typescript", ".ts .mts .cts", "deno ts-node tsx", f"{_GRAMMARS}:language_typescript", _TYPESCRIPT),
    Language("typescript", ".tsx", "", f"{_GRAMMARS}:language_tsx", f"{_TYPESCRIPT} tsx"),
    Language("go", ".go", "", "tree_sitter_go:language", "go"),
    Language("rust", ".rs", "", "tree_sitter_rust:language", "rust"),
    Language("java", ".java", "", "tree_sitter_java:language", "java"),
    Language("c", ".c .h", "", "tree_sitter_c:language", "c"),
    Language("cpp", ".cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .ipp .inl .cu .cuh", "", "tree_sitter_cpp:language", "cpp"),
    Language("csharp", ".cs .csx", "", "tree_sitter_c_sharp:language", "csharp"),
    Language("ruby", ".rb .rake .gemspec .ru Gemfile Rakefile Podfile", "ruby", "tree_sitter_ruby:language", "ruby"),
    Language("php", ".php .phtml .php5", "php", "tree_sitter_php:language_php", "php"),
    Language("bash", ".sh .bash .bats .bashrc .profile", "sh bash dash", "tree_sitter_bash:language", "bash"),
    Language("markdown", ".md .markdown .mdx"),
    Language("clojure", ".clj .cljs .cljc .edn"),
    Language("cmake", ".cmake CMakeLists.txt"),
    Language("css", ".css .scss .sass .less"),
    Language("dart", ".dart"),
    Language("dockerfile", ".dockerfile Dockerfile Containerfile"),
    Language("elixir", ".ex .exs", "elixir"),
    Language("erlang", ".erl .hrl", "escript"),
    Language("fish", ".fish", "fish"),
    Language("fsharp", ".fs .fsi .fsx"),
    Language("graphql", ".graphql .gql"),
    Language("groovy", ".groovy .gradle Jenkinsfile", "groovy"),
    Language("haskell", ".hs .lhs", "runhaskell"),
    Language("html", ".html .htm .xhtml .vue .svelte .astro"),
    Language("ini", ".ini .cfg .conf .properties .editorconfig"),
    Language("json", ".json .jsonc .json5"),
    Language("julia", ".jl", "julia"),
    Language("kotlin", ".kt .kts", "kotlin"),
    Language("lua", ".lua", "lua luajit"),
    Language("makefile", ".mk Makefile makefile GNUmakefile Justfile justfile"),
    Language("nix", ".nix"),
    Language("objective-c", ".m .mm"),
    Language("ocaml", ".ml .mli", "ocaml"),
    Language("perl", ".pl .pm", "perl"),
    Language("powershell", ".ps1 .psm1", "pwsh"),
    Language("proto", ".proto"),
    Language("r", ".r .R", "Rscript"),
    Language("rst", ".rst"),
    Language("scala", ".scala .sbt", "scala"),
    Language("sql", ".sql"),
    Language("swift", ".swift", "swift"),
    Language("terraform", ".tf .tfvars .hcl"),
    Language("toml", ".toml"),
    Language("xml", ".xml .xsd .xsl .svg .csproj .props"),
    Language("yaml", ".yml .yaml"),
    Language("zig", ".zig"),
    Language("zsh", ".zsh .zshrc", "zsh"),
    Language(TEXT, ".txt .text"),
)  # fmt: skip

_XML = re.compile(r"\s*<\?xml\s")
_INTERPRETER = re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*)?(?:\S*/)?([\w+-]+)")
_CPP_HEADER = re.compile(
    r"^[ \t]*(?:class\s+\w[^.,;()]*(?:[{:;]|$)|namespace\s+[\w:]*\s*(?:\{|$)|template\s*<"
    r"|using\s+(?:namespace\b|\w+\s*=)|(?:public|private|protected)\s*:|#\s*include\s*<\w+>)",
    re.MULTILINE,
)


def _by_words(pairs: Iterable[tuple[str, Language]]) -> dict[str, Language]:
    return {word: language for words, language in pairs for word in words.split()}


_BY_FILE = _by_words((language.files, language) for language in LANGUAGES)
_BY_INTERPRETER = _by_words((language.interpreters, language) for language in LANGUAGES)
_TEXT = _BY_FILE[".txt"]
_CPP = _BY_FILE[".cpp"]


def language_of(path: str, first_line: str = "") -> str:
    """The name of a file's language, `text` where it is unknown.

    The name of the file decides; a file without an extension may say it in a `#!` line. A header `.h` is
    called `c` here: only `parse`, which sees all of it, can tell whether it is C++.
    """
    return _language(path, first_line).name


def reader_of(path: str, text: str) -> Language:
    """What reads a file, by its name and its text."""
    language = _language(path, text[:200].split("\n", 1)[0])
    if language.grammar and _XML.match(text):
        # Translations of Qt are called .ts too.
        return _BY_FILE[".xml"]
    if language.name == "c" and path.lower().endswith(".h") and _CPP_HEADER.search(text):
        return _CPP
    return language


def _language(path: str, first_line: str) -> Language:
    name = PurePosixPath(path.replace("\\", "/")).name
    suffix = "." + name.rpartition(".")[2] if "." in name else ""
    known = _BY_FILE.get(name) or _BY_FILE.get(suffix) or _BY_FILE.get(suffix.lower())
    return known or _BY_FILE.get(name.partition(".")[0]) or _by_shebang(first_line) or _TEXT


def _by_shebang(first_line: str) -> Language | None:
    found = _INTERPRETER.match(first_line.lstrip("\ufeff"))
    if found is None:
        return None
    name = found[1]
    return _BY_INTERPRETER.get(name) or _BY_INTERPRETER.get(name.rstrip("0123456789.-"))
