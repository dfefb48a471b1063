"""Figures by Matplotlib: the forms they have, how they look, and what to say when it is not installed.

It is imported only here and in what draws, and only when a picture is drawn: `pip install 'arcwise[plot]'` brings it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any

from arcwise.errors import ArcwiseError, InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Each form, and what keeps the time out of it: the same numbers give the same bytes.
FORMS: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}

EXPERIMENTS = "figures of experiments"  # what is to be drawn, in messages

# A dark and a light colour: told apart in grey, and by their lines.
DARK, LIGHT, GREY = "#1b4965", "#e08e45", "#8a8a8a"
_SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "arcwise",
    "text.parse_math": False,  # names may have dollar signs
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "savefig.dpi": 150,
}


def check_form(form: str, what: str) -> None:
    """InputError if it is none of FORMS, ArcwiseError if Matplotlib is not installed; what: that is to be drawn."""
    if form not in FORMS:
        raise InputError(f"form is {form!r}", expected=", ".join(map(repr, FORMS)))
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ArcwiseError(f"{what} need Matplotlib: pip install 'arcwise[plot]'") from None


def render(draw: Callable[[Figure], None], form: str, what: str) -> bytes:
    """What `draw` draws, in one of `FORMS`, always the same bytes from the same version of Matplotlib; errors as of `check_form`."""
    check_form(form, what)
    from matplotlib import rc_context, style
    from matplotlib.figure import Figure

    output = BytesIO()
    with style.context("default"), rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # names in any script
        figure = Figure(layout="constrained")
        draw(figure)
        figure.savefig(output, format=form, metadata=FORMS[form])
    return output.getvalue()
