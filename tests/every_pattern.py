"""Every regular expression of the package: those that are made when it is imported, and those that calls have in them.

As a program it tries each of them on hostile texts, within the time that the processor has for it.
"""

import ast
import importlib
import importlib.util
import pkgutil
import re
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from hostile_texts import hostile_texts

CALLS = {"compile", "sub", "subn", "search", "match", "fullmatch", "findall", "finditer", "split"}
REPETITIONS = 40  # 2 ** 40 ways to read a text take hours; ten thousand take no time
SECONDS = 20  # for all
# Made while the program runs, from something that is escaped; here with a word in its place.
ESCAPED = re.compile(r"^re\.escape\(")

Compiled = "re.Pattern[str] | re.Pattern[bytes]"


def modules() -> list[ModuleType]:
    package = importlib.util.find_spec("retain")
    found = pkgutil.walk_packages(package.submodule_search_locations, "retain.")
    return [importlib.import_module(each.name) for each in found if not each.name.endswith("__main__")]


def made_at_import() -> dict[str, Compiled]:
    """What is compiled while all modules are imported, by the place; whatever it is put into afterwards."""
    compile, made = re.compile, {}

    def noted(pattern, flags=0):
        one = compile(pattern, flags)
        caller = sys._getframe(1)
        if "retain" in caller.f_code.co_filename:
            made[f"{Path(caller.f_code.co_filename).name}:{caller.f_lineno} {one.pattern[:60]!r}"] = one
        return one

    re.compile = noted
    try:
        modules()
    finally:
        re.compile = compile
    return made


def in_calls() -> Iterator[tuple[str, ast.expr, ModuleType]]:
    """The pattern of each call of `re` that stands in a function, and where."""
    for module in modules():
        file = Path(module.__file__ or "")
        source = file.read_text()
        for function in ast.walk(ast.parse(source)) if "re." in source else ():
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                yield from (
                    (f"{file.name}:{call.lineno}", call.args[0], module)
                    for call in ast.walk(function)
                    if _is_of_re(call)
                )


def _is_of_re(call: ast.AST) -> bool:
    function = getattr(call, "func", None)
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
        and function.attr in CALLS
    )


def known(pattern: ast.expr, module: ModuleType) -> "str | bytes | None":
    """What a pattern in a call is, if that can be told from the module alone; a word for what is escaped."""
    if isinstance(pattern, ast.JoinedStr):
        parts = [known(part.value if isinstance(part, ast.FormattedValue) else part, module) for part in pattern.values]
        return None if None in parts else "".join(map(str, parts))
    if isinstance(pattern, ast.Call) and ESCAPED.match(ast.unparse(pattern)):
        return "word"
    try:
        found = eval(compile(ast.Expression(pattern), "", "eval"), vars(module))
    except NameError:
        return None
    return found.pattern if isinstance(found, re.Pattern) else found


def in_source() -> tuple[dict[str, Compiled], set[str]]:
    """What calls in functions have, and those calls whose pattern only a run of the program tells."""
    found, unknown = {}, set()
    for where, pattern, module in in_calls():
        source = known(pattern, module)
        if source is None:
            unknown.add(f"{where.partition(':')[0]}: {ast.unparse(pattern)}")
        else:
            found[f"{where} {source[:60]!r}"] = re.compile(source)
    return found, unknown


def built() -> dict[str, Compiled]:
    """Some of those that are made while the program runs, by the code that makes them."""
    # Not above: what is imported before `made_at_import` looks is not seen by it.
    from retain.domain import words
    from retain.engine import context
    from retain.engine.code.reading.globs import translate
    from retain.engine.code.reading.ignore import Rules
    from retain.engine.lookup import fitting

    typed = fitting.Typed("get-user by --the-name")
    globs = [
        "**/" * 20 + "x",
        "**/d/" * 12 + "x",
        r"**\/" * 12 + "x",
        "*a*a*a*a*b",
        "**/*a*/b/**/*a*b*/**/c",
        "[!a-z]*[a-z]",
    ]
    rules = Rules("\n".join(globs).encode())
    return {
        **{f"glob {glob!r}": re.compile(translate(glob, by_path=True), re.DOTALL) for glob in globs},
        **{f"globs {n}": each.any for n, each in enumerate(rules._for_all._paths._portions)},
        **{f"typed {each.pattern!r}": each for each in typed._spelled},
        **{f"opened {each.pattern!r}": each for _, each in context._named(["/p/src/app/main.py"], "/p")},
        "word as written": words._written_chunk(),
        "any part": words._any_part(),
    }


def attack(patterns: "dict[str, Compiled]") -> None:
    for where, pattern in patterns.items():
        sys.stdout.write(f"{where}\n")
        sys.stdout.flush()
        for text in hostile_texts(pattern, REPETITIONS):
            pattern.search(text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text)


def main(sources: list[str], seconds: int = SECONDS) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    if sources:
        attack({source: re.compile(source) for source in sources})
        return
    at_import = made_at_import()
    in_functions, unknown = in_source()
    attack({**at_import, **in_functions, **built()})
    sys.stdout.write("".join(f"unknown {each}\n" for each in sorted(unknown)))


if __name__ == "__main__":
    main(sys.argv[2:], int(sys.argv[1]))
