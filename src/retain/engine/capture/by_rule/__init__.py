"""Extraction by rule: what a conversation says that is worth remembering, found without a model."""

from retain.engine.capture.by_rule.extract import extract

__all__ = ["extract"]
