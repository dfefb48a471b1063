"""The figures of hill climbing: what the full model gains by the length of sentences, and what more restarts bring.

Zhang et al. (2014), figures 4, 5 and 6. Matplotlib draws them (`arcwise.draw.figures`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from arcwise.draw.figures import DARK, EXPERIMENTS, GREY, LIGHT, render
from arcwise.draw.text import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BAR = 0.38  # of the room that a treebank has
_COLOURS = (DARK, LIGHT, GREY)
_LINES = ("-", "--", "-.", ":")


def gain_picture(gains: Mapping[str, Mapping[str, float]], form: str) -> bytes:
    """Bars beside each other for every treebank, one for each group of sentences. gains: points of UAS, by treebank and group.

    >>> gain_picture({"hu": {"up to 15 words": 0.8, "more": 1.9}}, "svg")[:5]
    b'<?xml'
    """

    def draw(figure: Figure) -> None:
        groups = list(next(iter(gains.values())))
        figure.set_size_inches(max(4.0, 1.0 + 0.8 * len(gains)), 3.6)
        axes, places = figure.subplots(), np.arange(len(gains))
        for at, group in enumerate(groups):
            heights = [gains[name][group] for name in gains]
            shift = (at - (len(groups) - 1) / 2) * _BAR
            axes.bar(places + shift, heights, _BAR, color=_COLOURS[at % len(_COLOURS)], label=visible(group))
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_xticks(places, [visible(name) for name in gains], rotation=30, ha="right")
        axes.grid(False, axis="x")
        axes.set_axisbelow(True)
        axes.set_ylabel("gain of the full model (points of UAS)")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(groups))

    return render(draw, form, EXPERIMENTS)


def restart_picture(
    runs: Sequence[int],
    curves: Mapping[str, Sequence[float]],
    trade: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    form: str,
) -> bytes:
    """Two panels: scores against the number of runs, and UAS against the seconds that a token takes.

    runs: of which each curve has a score, in percent of the best one, by name. trade: by name, seconds and UAS for numbers of runs.

    >>> restart_picture([1, 10], {"hu, over 15 words": [98.9, 100.0]}, {"hu": ([1e-4, 1e-3], [80.0, 82.5])}, "svg")[:5]
    b'<?xml'
    """

    def draw(figure: Figure) -> None:
        from matplotlib.ticker import NullFormatter

        figure.set_size_inches(13, 4.0)
        scores, speed = figure.subplots(1, 2)
        for at, (name, values) in enumerate(curves.items()):
            scores.plot(runs, values, _LINES[at % 4], color=_colour(at, len(curves)), label=visible(name))
        scores.set_xscale("log")
        scores.xaxis.set_major_formatter("{x:,.0f}")
        scores.set_xlabel("runs")
        scores.set_ylabel("score of the tree (% of the best)")
        for at, (name, (seconds, accuracy)) in enumerate(trade.items()):
            speed.plot(
                seconds, accuracy, f"o{_LINES[at % 4]}", color=_colour(at, len(trade)), label=visible(name)
            )
        speed.set_xscale("log")
        speed.xaxis.set_major_formatter("{x:g}")
        speed.xaxis.set_minor_formatter(NullFormatter())
        speed.set_xlabel("CPU seconds a token")
        speed.set_ylabel("UAS")
        for axes in (scores, speed):
            axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=7)

    return render(draw, form, EXPERIMENTS)


def _colour(at: int, of: int) -> str:
    """Of few curves our colours, of many those of Matplotlib."""
    return _COLOURS[at % len(_COLOURS)] if of <= len(_COLOURS) else f"C{at % 10}"
