"""One thing that was checked, as `retain doctor` tells it."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `repair` says what to do unless it is ok."""

    area: str
    state: State
    note: str
    repair: str = ""
