"""The figures of word clusters: learning curves, and how frequent bigrams and classes are.

Koo (2010), tables 3.3 and 3.6 as curves, and figures 3-2, 3-3 and 3-4. Matplotlib draws them (`arcwise.draw.figures`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from arcwise.draw.figures import DARK, EXPERIMENTS, GREY, LIGHT, render
from arcwise.draw.text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (DARK, LIGHT, GREY)


def curve_picture(
    name: str, sizes: Sequence[int], panels: Mapping[str, Mapping[str, tuple[Sequence[float], Sequence[float]]]], form: str
) -> bytes:  # fmt: skip
    """Accuracy against the number of training sentences, on a logarithmic scale, two panels a row.

    panels: by title, and there by name of what is measured, the accuracies without and with clusters for all sizes.

    >>> panel = {"UAS": ([80.0, 84.0], [82.0, 85.0]), "LAS": ([75.0, 80.0], [78.0, 81.5])}
    >>> curve_picture("en_ewt", [1000, 2000], {"1st order": panel, "2nd order": panel}, "svg")[:5]
    b'<?xml'
    """

    def draw(figure: Figure) -> None:
        from matplotlib.ticker import NullFormatter, NullLocator

        rows = -(-len(panels) // 2)
        figure.set_size_inches(8.6, 0.6 + 3.0 * rows)
        grid = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False)
        for axes, (title, curves) in zip(grid.flat, panels.items(), strict=False):
            for (metric, pair), line in zip(curves.items(), ("-", "--"), strict=False):
                for values, colour, how in zip(pair, (LIGHT, DARK), ("without", "with"), strict=True):
                    axes.plot(
                        sizes, values, f"o{line}", color=colour, label=f"{visible(metric)} {how} clusters"
                    )
            axes.set_xscale("log")
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=30, ha="right")
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set_title(visible(title))
            axes.set_axisbelow(True)
        for axes in grid[-1]:
            axes.set_xlabel("training sentences")
        for axes in grid[:, 0]:
            axes.set_ylabel("accuracy on dev (%)")
        grid.flat[0].legend(loc="lower right", fontsize=8)
        figure.suptitle(visible(name), fontsize=10)

    return render(draw, form, EXPERIMENTS)


def bigram_picture(name: str, frequencies: Mapping[str, NDArray[np.int64]], form: str) -> bytes:
    """Frequencies in descending order, on a logarithmic scale that goes down to 0, a curve for each name.

    >>> bigram_picture("en_ewt", {"words": np.array([3, 1, 0]), "6 bits": np.array([90, 8, 0])}, "svg")[:5]
    b'<?xml'
    """

    def draw(figure: Figure) -> None:
        figure.set_size_inches(6.4, 4.0)
        axes = figure.subplots()
        for at, (grain, values) in enumerate(frequencies.items()):
            unseen = 100 * float(np.mean(values == 0))
            label = f"{visible(grain)} ({unseen:.1f}% unseen)"
            axes.step(
                np.linspace(0, 100, len(values)), values, color=_COLOURS[at % len(_COLOURS)], label=label
            )
        axes.set_yscale("symlog", linthresh=1, linscale=0.5)
        axes.set_ylim(bottom=-0.1)
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlim(0, 100)
        axes.set_xlabel("head-modifier bigrams of the development treebank, the most frequent first (%)")
        axes.set_ylabel("occurrences in the training treebank")
        axes.set_axisbelow(True)
        axes.set_title(visible(name))
        axes.legend(loc="upper right")

    return render(draw, form, EXPERIMENTS)


def depth_picture(
    name: str,
    depths: NDArray[np.int64],
    grains: Mapping[str, Mapping[str, NDArray[np.float64]]],
    form: str,
) -> bytes:
    """A panel of the depths of clusters, in descending order, and one for each grain: the shares of the text that classes have, in
    percent, in descending order, a curve for each way to make them.

    >>> shares = {"4 bits": np.array([60.0, 40.0]), "16 of equal frequency": np.array([50.0, 50.0])}
    >>> depth_picture("en", np.array([5, 4]), {"4 bits": shares}, "svg")[:5]
    b'<?xml'
    """

    def draw(figure: Figure) -> None:
        from matplotlib.ticker import MaxNLocator

        columns = 1 + -(-len(grains) // 2)
        figure.set_size_inches(3.6 * columns, 5.4)
        grid = figure.add_gridspec(2, columns)
        first = figure.add_subplot(grid[:, 0])
        _steps(first, depths, DARK, "-", "")
        first.set_ylim(0, float(depths.max()) + 1)
        first.yaxis.set_major_locator(MaxNLocator(integer=True))
        first.set_title("depth of the clusters")
        first.set_xlabel("clusters, the deepest first")
        first.set_ylabel("bits")
        for at, (grain, curves) in enumerate(grains.items()):
            row, column = divmod(at, columns - 1)
            axes = figure.add_subplot(grid[row, 1 + column])
            lines = zip(curves.items(), ((DARK, "-"), (LIGHT, "--")), strict=False)
            for (curve, shares), (colour, line) in lines:
                _steps(axes, shares[shares > 0], colour, line, visible(curve))
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.set_title(visible(grain))
            axes.set_xlabel("classes, the most frequent first")
            axes.set_ylabel("% of the text")
            if len(curves) > 1:
                axes.legend(loc="upper right", fontsize=8)
        figure.suptitle(visible(name), fontsize=10)

    return render(draw, form, EXPERIMENTS)


def _steps(
    axes: Axes, values: NDArray[np.int64] | NDArray[np.float64], colour: str, line: str, label: str
) -> None:
    """Values beside each other, each as wide as 1."""
    edges = np.arange(len(values) + 1)
    axes.stairs(values, edges, baseline=None, color=colour, linestyle=line, label=label, linewidth=1.4)
    axes.set_xlim(0, len(values))
    axes.set_axisbelow(True)
