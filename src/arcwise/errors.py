"""Everything arcwise refuses, it refuses with one of these."""

from __future__ import annotations


class ArcwiseError(Exception):
    """Base of all errors that arcwise raises on purpose. The command line prints it and exits with 2."""


class InputError(ArcwiseError, ValueError):
    """An input that cannot be used: says where, what was found, and what was expected.

    >>> str(InputError("HEAD is '7'", expected="a number from 0 to 5", file="a.conllu", line=3, token="2"))
    "a.conllu:3: token 2: HEAD is '7', expected a number from 0 to 5"
    """

    def __init__(
        self,
        found: str,
        *,
        expected: str | None = None,
        file: str | None = None,
        line: int | None = None,
        token: str | None = None,
    ) -> None:
        self.found, self.expected, self.file, self.line, self.token = found, expected, file, line, token
        place = ":".join(str(part) for part in (file, line) if part is not None)
        parts = [place] if place else []
        if token is not None:
            parts.append(f"token {token}")
        parts.append(found if expected is None else f"{found}, expected {expected}")
        super().__init__(": ".join(parts))


class NoTreeError(ArcwiseError, ValueError):
    """The scores and constraints admit no tree."""


class ModelError(ArcwiseError):
    """A model file that is missing, damaged, foreign, or of another version."""
