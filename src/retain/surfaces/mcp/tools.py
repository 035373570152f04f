"""Tools: plain typed functions, and what a client is told about them."""

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ParamSpec, TypedDict, TypeVar, Unpack, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from retain.errors import RetainError
from retain.surfaces.mcp.schema import Schema, schema_of

logger = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R", bound=Mapping[str, object] | str)
# A failed call's body: an object, or the message alone where the contract says so.
Envelope = Callable[[RetainError], dict[str, object] | str]
PROGRESS = "progress"  # a tool with a parameter of this name is given a way to say how far it is


class Hints(TypedDict, total=False):
    """What a client may assume; a tool that says nothing adds and never destroys."""

    read_only: bool
    destructive: bool
    idempotent: bool


def envelope(error: RetainError) -> dict[str, object]:
    """The body of a failed call, with whatever else the error knows."""
    return {
        "error": error.code,
        "message": error.message,
        "degraded": error.degraded,
        "retry_possible": error.retry_possible,
        **error.details,
    }


@dataclass(frozen=True)
class Tool:
    """One function that clients may call. Its schemas are built when first asked for."""

    name: str
    title: str
    function: Callable[..., Mapping[str, object] | str]
    hints: Hints
    envelope: Envelope = envelope
    output: type | Schema | None = None
    meta: dict[str, Any] | None = None  # passed through to the client as it is

    @property
    def description(self) -> str:
        return inspect.getdoc(self.function) or self.title

    @cached_property
    def model(self) -> type[BaseModel]:
        """The parameters after the first, which is the application and never comes from outside."""
        hints = get_type_hints(self.function, include_extras=True)
        _, *parameters = (p for p in inspect.signature(self.function).parameters.values() if p.name != PROGRESS)
        # create_model is typed for fields written out by name.
        fields: Any = {p.name: (hints[p.name], ... if p.default is p.empty else p.default) for p in parameters}
        return create_model(self.name, __config__=ConfigDict(extra="forbid", protected_namespaces=()), **fields)

    @cached_property
    def reports(self) -> bool:
        return PROGRESS in inspect.signature(self.function).parameters

    @cached_property
    def input_schema(self) -> Schema:
        schema = schema_of(self.model)
        schema.setdefault("properties", {})
        return schema

    @cached_property
    def output_schema(self) -> Schema | None:
        return self.output if self.output is None or isinstance(self.output, dict) else schema_of(self.output)


class Toolset:
    """The tools of one contract, in the order they are written."""

    def __init__(self, name: str, envelope: Envelope = envelope) -> None:
        self.name = name
        self.tools: list[Tool] = []
        self.envelope = envelope

    def tool(
        self,
        title: str,
        *,
        name: str | None = None,
        output: type | Schema | None = None,
        meta: dict[str, Any] | None = None,
        **hints: Unpack[Hints],
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Offer a function as a tool; the function itself stays as it is."""

        def offer(function: Callable[P, R]) -> Callable[P, R]:
            self.tools.append(Tool(name or function.__name__, title, function, hints, self.envelope, output, meta))
            return function

        return offer

    def add(self, tool: Tool) -> None:
        """Offer a tool of another set here too."""
        self.tools.append(tool)


def merged(toolsets: Iterable[Toolset]) -> dict[str, Tool]:
    """All tools by the name they are called by: the first set keeps a name that two sets want."""
    found: dict[str, Tool] = {}
    for toolset in toolsets:
        for tool in toolset.tools:
            if any(tool.function is other.function for other in found.values()):
                continue
            name = tool.name if tool.name not in found else f"{toolset.name}_{tool.name}"
            if name != tool.name:
                logger.warning("two toolsets have %s; that of %s is called %s", tool.name, toolset.name, name)
            found[name] = replace(tool, name=name)
    return found
