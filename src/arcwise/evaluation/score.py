"""A count of right answers, and the fractions that are reported of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """How many of the system's answers are right, of how many on either side.

    correct: right answers. gold, system: how many either file has. aligned: how many gold words have a
    counterpart in the system's file, or None where that question makes no sense (tokens, sentences, words).
    When both files have the same words, precision, recall, F1 and aligned accuracy of an attachment score are
    one number.

    >>> Score(correct=3, gold=4, system=6, aligned=4)
    Score(correct=3, gold=4, system=6, aligned=4)
    >>> score = Score(correct=3, gold=4, system=6, aligned=4)
    >>> score.precision, score.recall, score.f1, score.aligned_accuracy
    (0.5, 0.75, 0.6, 0.75)
    """

    correct: int
    gold: int
    system: int
    aligned: int | None = None

    @property
    def precision(self) -> float:
        """Right answers per answer of the system."""
        return self.correct / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        """Right answers per gold answer."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.correct / (self.gold + self.system) if self.gold + self.system else 0.0

    @property
    def aligned_accuracy(self) -> float | None:
        """Right answers per aligned gold word: what is left when words are not held against the system."""
        if self.aligned is None:
            return None
        return self.correct / self.aligned if self.aligned else 0.0
