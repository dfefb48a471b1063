"""One line of `arcwise bench`: a figure of ours beside a peer's and the target."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """Ours and the peer's value in `unit`, and whether `target` is reached (None: not known)."""

    name: str
    ours: float
    unit: str
    peer: str
    peer_value: float | None
    target: str
    reached: bool | None

    @property
    def ratio(self) -> float | None:
        """The peer's value over ours: how many times as fast, where the unit is a time."""
        return self.peer_value / self.ours if self.peer_value is not None and self.ours else None
