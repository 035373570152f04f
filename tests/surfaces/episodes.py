"""What tests of the audrey tools say again and again."""

from dataclasses import replace
from datetime import timedelta

from fakes import FixedClock, ScriptedLLM
from retain.domain.changes import AtVersion, Changes
from retain.domain.memory import State, Status

PORT = "The API listens on port 8080."
OTHER_PORT = "The API listens on port 9090."
LIMITS = (
    "Stripe answered 429 when we sent more than 100 requests a second.",
    "Stripe answered 429 again when we sent 120 requests a second.",
    "Stripe answered 429 as soon as we sent more than 100 requests a second in the import.",
)


def encode(audrey, content=PORT, source="told-by-user", **given):
    """The reply to a new episode."""
    return audrey("memory_encode", content=content, source=source, **given)


def recall(audrey, query="port API listens", **given):
    return audrey("memory_recall", query=query, **given)["results"]


def contents(rows):
    return [row["content"] for row in rows]


def disputed(audrey):
    """The ids of two memories that contradict each other, and of their contradiction."""
    older, newer = encode(audrey)["id"], encode(audrey, OTHER_PORT, "inference")
    return older, newer["id"], newer["contradicts"][0]["contradiction_id"]


def introspect(audrey, **given):
    return audrey("memory_introspect", **given)


def resolve(audrey, contradiction, **given):
    return audrey("memory_resolve_truth", contradiction_id=contradiction, **given)


def faults(body):
    """What is wrong with each field of a refused call."""
    assert body["error"] == "invalid_input"
    return {each["field"]: each["problem"] for each in body["faults"]}


def codes(body):
    return [warning["code"] for warning in body["warnings"]]


def with_llm(audrey, *answers, **said):
    """Lets a language model answer from now on."""
    llm = ScriptedLLM(*answers, **said)
    _exchange(audrey, llm=llm)
    return llm


def days_later(audrey, days):
    """Lets time pass, for good."""
    _exchange(audrey, clock=FixedClock(audrey.app.engine.parts.clock.now() + timedelta(days=days)))


def asleep(audrey, id):
    """Puts a memory to sleep."""
    memory = audrey.store.memories([id])[id].memory
    now = audrey.app.now()
    changed = replace(memory, status=Status(State.DORMANT, "faded", now), version=memory.version + 1)
    audrey.store.apply(Changes(now, expects=(AtVersion(id, memory.version),), memories=(changed,)))


def _exchange(audrey, **parts):
    engine = audrey.app.engine
    engine.parts = replace(engine.parts, **parts)
    engine._trust = None  # it has the parts of before
