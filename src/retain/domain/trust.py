"""Trust: how far a memory can be relied on, from whose word it is and what speaks for and against it.

A pure function of evidence and the present moment. Nothing of it is stored, so it is never out of date.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from retain.domain.memory import Kind, Memory, Provenance
from retain.domain.reliability import HEARD, RELIABILITY, reliability
from retain.domain.time import freshness, halved

# The weights and numbers are those of the contract.
_RELIABILITY, _AGREEMENT, _RECENCY, _REINFORCEMENT = 0.30, 0.35, 0.20, 0.15
REINFORCED_HALF_LIFE = timedelta(days=14)
INTERFERENCE = 0.1  # how much each newer memory about the same thing takes away
MOST_GENERATED = 0.6  # what a model made up is never trusted further, however often it is repeated
CROWDED = 0.60  # cosine from which on a newer memory is about the same thing
DORMANT = 0.1  # retention below which a memory sleeps
KEPT_AWAKE = 0.7  # salience from which on it never does


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about a memory that bears on how far to trust it.

    `said` is when it happened or was last said; `supporting` counts what says the same or what it was made from,
    `contradicting` what cannot be true beside it, `crowding` newer memories about the same thing that do neither.
    """

    provenance: Provenance
    kind: Kind
    said: datetime
    salience: float = 0.5
    supporting: int = 0
    contradicting: int = 0
    crowding: int = 0
    reinforced: int = 0
    reinforced_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Confidence:
    """The parts, each in 0 to 1, the two factors, and what comes of them."""

    reliability: float
    agreement: float
    recency: float
    reinforcement: float
    interference: float
    salience: float
    total: float

    @property
    def retention(self) -> float:
        """How present a memory still is: what is neither recent nor repeated fades, however true it may be."""
        return self.recency + self.reinforcement


def confidence(evidence: Evidence, now: datetime) -> Confidence:
    """How far to trust a memory at a moment, in 0 to 1."""
    relied = RELIABILITY[evidence.provenance]
    agreement = _agreement(evidence.supporting, evidence.contradicting)
    recency = freshness(evidence.kind, evidence.said, now)
    reinforcement = _reinforcement(evidence, now)
    interference = 1 / (1 + INTERFERENCE * evidence.crowding)
    salience = 0.5 + min(max(evidence.salience, 0.0), 1.0)
    base = _RELIABILITY * relied + _AGREEMENT * agreement + _RECENCY * recency + _REINFORCEMENT * reinforcement
    most = MOST_GENERATED if evidence.provenance is Provenance.MODEL_GENERATED else 1.0
    total = min(max(base * interference * salience, 0.0), most)
    return Confidence(relied, agreement, recency, reinforcement, interference, salience, total)


def sleeps(known: Confidence) -> bool:
    """Whether a memory is to go dormant: by how present it is, not by trust, which the undisputed never lose."""
    return known.retention < DORMANT and known.salience - 0.5 < KEPT_AWAKE


def _agreement(supporting: int, contradicting: int) -> float:
    return supporting / (supporting + contradicting) if supporting + contradicting else 1.0


def _reinforcement(evidence: Evidence, now: datetime) -> float:
    if not evidence.reinforced or evidence.reinforced_at is None:
        return 0.0
    fading = halved(evidence.reinforced_at, now, REINFORCED_HALF_LIFE)
    return min(1.0, 0.3 * math.log(1 + evidence.reinforced) * fading)


def provenance_of(memory: Memory) -> Provenance:
    """Whose word a memory is: as it was given, else by who was heard to say it, else nobody's that is known."""
    if memory.source.provenance:
        return memory.source.provenance
    if memory.source.tool == "consolidation":
        by_model = memory.metadata.get("found_by") == "llm"
        return Provenance.MODEL_GENERATED if by_model else Provenance.INFERENCE
    return Provenance(HEARD.get(str(memory.metadata.get("said_by")), Provenance.INFERENCE))


def known_word(memory: Memory) -> float | None:
    """How reliable the word is that a memory rests on; None where nobody said whose it is."""
    return reliability(memory.source.provenance, memory.metadata.get("said_by"))
