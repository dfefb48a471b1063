"""One line of `arcwise bench`: a figure of ours beside a peer's and the target."""

from __future__ import annotations

from dataclasses import dataclass

Target = tuple[str, bool | None]


@dataclass(frozen=True, slots=True)
class Row:
    """Ours and the peer's value in `unit`, and whether `target` is reached (None: not known).

    peer: what ours is compared with, "" for nothing; peer_value: None if it is not installed.
    """

    name: str
    ours: float
    unit: str
    peer: str = ""
    peer_value: float | None = None
    target: str = "none"
    reached: bool | None = None

    @property
    def ratio(self) -> float | None:
        """How many times as fast, as small or as good as the peer: above 1 is better.

        >>> Row("tree", 2.0, "us", "peer", 8.0).ratio, Row("parse", 900.0, "words/s", "peer", 300.0).ratio
        (4.0, 3.0)
        """
        if self.peer_value is None or not self.ours or not self.peer_value:
            return None
        return self.ours / self.peer_value if self.unit.endswith(("/s", "%")) else self.peer_value / self.ours


def at_most(value: float, limit: float, unit: str) -> Target:
    """The target of a cost, and whether it is reached.

    >>> at_most(12.5, 15, "us")
    ('at most 15 us', True)
    """
    return f"at most {limit:,g} {unit}", value <= limit


def at_least(value: float, limit: float, unit: str) -> Target:
    """The target of a rate or an accuracy, and whether it is reached."""
    return f"at least {limit:,g} {unit}", value >= limit


def times_as_fast(ours: float, peer: float | None, times: float) -> Target:
    """The target of a time beside a peer's, and whether it is reached: not known without the peer.

    >>> times_as_fast(10.0, 60.0, 5), times_as_fast(10.0, None, 5)
    (('5 times as fast', True), ('5 times as fast', None))
    """
    return f"{times:g} times as fast", None if peer is None else peer >= times * ours
