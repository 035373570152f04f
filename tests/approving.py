"""What a person decides about a project's settings file, without asking one."""

from pathlib import Path

from retain.approvals import Content, Decision, Verdict, decide


def approve(file: Path, home: Path, verdict: Verdict = Verdict.APPROVED) -> None:
    decide(home, Decision(Content.of(file, file.read_bytes()), verdict, "2026-01-01T00:00:00Z"))
