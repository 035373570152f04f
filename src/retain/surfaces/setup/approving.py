"""Decisions about a project's settings file, as commands make them: for a person, never for a tool or a hook."""

from collections.abc import Sequence

from retain import approvals
from retain.app import SystemClock
from retain.approvals import Content, Decision, Verdict
from retain.clients.planning import Step
from retain.config import ProjectFile
from retain.domain.time import iso


def decide(file: ProjectFile, verdict: Verdict, content: Content | None = None) -> None:
    approvals.decide(file.kept_in, Decision(content or file.content, verdict, iso(SystemClock().now())))


def follow(before: ProjectFile | None, done: Sequence[Step]) -> None:
    """What a person has just had written into the file is approved, unless something else in it is not."""
    if before is None or (before.holds and before.verdict is not Verdict.APPROVED):
        return
    for step in done:
        if step.path == before.path and step.edit and step.edit.new is not None and not step.problem:
            decide(before, Verdict.APPROVED, Content.of(step.path, step.edit.new.encode("utf-8")))
