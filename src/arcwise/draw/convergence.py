"""How dual decomposition converges, as pictures: of one sentence, of a treebank, and against the number of iterations allowed.

Matplotlib draws them, which is imported only when a picture is drawn (`arcwise.draw.figures`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arcwise.draw.figures import DARK, FORMS, GREY, LIGHT, render
from arcwise.draw.text import visible
from arcwise.evaluation.traces import (
    Floats,
    SentenceTrace,
    Stopping,
    Trace,
    converged_after,
    gaps_after,
    recomputed_share,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FORMS", "picture"]

_ENDS = {
    "agreement": "the parts agree in iteration",
    "bound": "the bound meets the tree in iteration",
    "finish": "the finish proves it after iteration",
    "budget": "the finish gives up after iteration",
    "iterations": "stopped after iteration",
}
_FEW = 100  # so many iterations are drawn to scale, more on a log axis


def picture(drawn: Trace | SentenceTrace | Stopping, form: str = "svg", *, unit: str | None = None) -> bytes:
    """A picture in one of `FORMS`, always the same bytes from the same version of Matplotlib.

    Of a sentence: the dual value and the score of the tree of every iteration, and the best of both so far, which close in on the
    score of the best tree. Of a trace: how many sentences are proved after so many iterations, how many automata are computed anew
    (Koo et al. 2010, figure 3), and how large the gaps are that remain. Of `Stopping`: their figure 4.

    unit: of the scores of a sentence; a trace has its own. ArcwiseError if Matplotlib is not installed.

    >>> half = Stopping("sib.arcwise", "dev", [10, 5000], accuracy=[87.0, 87.6], certificates=[61, 98.2], agreement=[90.1, 100])
    >>> picture(half, "svg")[:5]
    b'<?xml'
    """

    def draw(figure: Figure) -> None:
        if isinstance(drawn, SentenceTrace):
            _draw_sentence(figure, drawn, unit)
        elif isinstance(drawn, Trace):
            _draw_trace(figure, drawn)
        else:
            _draw_stopping(figure, drawn)

    return render(draw, form, "pictures of traces")


def _draw_sentence(figure: Figure, trace: SentenceTrace, unit: str | None) -> None:
    """Distances from the score of the tree found, on log axes up and down: bounds sink towards it, trees rise."""
    figure.set_size_inches(7, 4.2)
    axes = figure.subplots()
    k = np.arange(1, trace.iterations + 1)
    bounds = trace.bounds - trace.score
    scores = np.where(trace.scores > -np.inf, trace.scores, np.nan) - trace.score
    least, best = np.minimum.accumulate(bounds), np.fmax.accumulate(scores)
    dots = "." if trace.iterations <= _FEW else None
    axes.fill_between(k, least, best, color="#f0f0f0", linewidth=0)
    axes.plot(k, bounds, color=DARK, alpha=0.5, linewidth=0.6, marker=dots, label="dual value")
    axes.plot(k, least, color=DARK, label="least bound so far")
    axes.plot(k, scores, color=LIGHT, alpha=0.5, linewidth=0.6, marker=dots, label="score of the tree")
    axes.plot(k, best, "--", color=LIGHT, label="best score so far")
    last = trace.iterations
    if trace.certified:
        label = "proved best" if trace.converged else "proved best by the finish"
        axes.plot(last, 0, "*", color="black", markersize=11, zorder=5, label=label)
    else:
        axes.plot([last, last], [0, trace.gap], "_-", color="black", label=f"gap left: {trace.gap:.4g}")
    _iteration_axis(axes, last, log=last > _FEW)
    _distance_axis(axes, np.concatenate([bounds, scores, [trace.gap]]), 1e-9 * max(1.0, abs(trace.score)))
    axes.set_ylabel(_with_unit(f"distance from {trace.score:.6g}, the score of the tree found", unit))
    name = f"Sentence {trace.sentence}" + (f" ({visible(trace.id)})" if trace.id else "")
    axes.set_title(f"{name}: {_ENDS[trace.ended]} {trace.iterations:,}")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))


def _draw_trace(figure: Figure, trace: Trace) -> None:
    figure.set_size_inches(13, 3.6)
    proved, recomputed, gaps = figure.subplots(1, 3)
    sentences = trace.sentences
    most = max(sentence.iterations for sentence in sentences)
    k = np.arange(1, most + 1)
    dots = "." if most <= _FEW else None

    proved.step(
        k, 100 * converged_after(trace), where="post", color=DARK, marker=dots, label="dual decomposition"
    )
    if any(sentence.ended == "finish" for sentence in sentences):
        share = 100 * float(np.mean([sentence.certified for sentence in sentences]))
        proved.axhline(share, color=LIGHT, linestyle="--", label="and its finish")
        proved.legend(loc="lower right")
    proved.set_ylabel("sentences proved best (%)")
    recomputed.plot(k, 100 * recomputed_share(trace), color=DARK, marker=dots, linewidth=1)
    recomputed.set_ylabel("automata computed anew (%)")
    for axes in (proved, recomputed):
        _iteration_axis(axes, most, log=most > _FEW)
    _draw_gaps(gaps, trace, most)
    for axes in (proved, recomputed, gaps):
        axes.set_ylim(0, 104)
    figure.suptitle(f"decoder: {visible(trace.decoder)}, sentences: {len(sentences):,}", fontsize=10)


def _draw_gaps(axes: Axes, trace: Trace, most: int) -> None:
    """For every size, the share of gaps that are no smaller: after one, ten, a hundred ... iterations, and at the end."""
    from matplotlib.ticker import FuncFormatter

    stages = {
        f"after iteration {10**power:,}": gaps_after(trace, 10**power) for power in range(len(str(most)))
    }
    stages["at the end"] = np.array([sentence.gap for sentence in trace.sentences])
    smallest = min(float(gaps[gaps > 0].min(initial=np.inf)) for gaps in stages.values())
    for at, (label, gaps) in enumerate(stages.items()):
        sizes = np.sort(gaps[(gaps > 0) & (gaps < np.inf)])
        larger = np.arange(len(sizes), -1, -1) + (gaps == np.inf).sum()
        axes.step(
            [smallest / 2, *sizes, sizes[-1]] if len(sizes) else [],
            [100 * larger[0] / len(gaps), *(100 * larger / len(gaps))] if len(sizes) else [],
            linestyle=("-", "--", "-.", ":")[at % 4],
            color=str(0.75 - 0.75 * at / (len(stages) - 1)),  # the later, the darker
            label=label if (gaps > 0).any() else f"{label}: none",
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda gap, _: f"{gap:g}"))
    axes.set_xlabel(_with_unit("gap between bound and best tree", trace.unit))
    axes.set_ylabel("sentences with such a gap or more (%)")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))


def _draw_stopping(figure: Figure, stopping: Stopping) -> None:
    figure.set_size_inches(6.4, 4.2)
    axes = figure.subplots()
    curves = (
        (stopping.agreement, f"same tree as with K = {stopping.iterations[-1]:,}", GREY, "s:"),
        (stopping.certificates, "proved best", LIGHT, "^--"),
        (stopping.accuracy, "right heads (UAS)", DARK, "o-"),
    )
    for percent, label, colour, line in curves:
        axes.plot(stopping.iterations, percent, line, color=colour, label=label)
    _iteration_axis(axes, stopping.iterations[-1], log=True)
    axes.set_xlabel("iterations allowed, K")
    axes.set_ylabel("%")
    axes.set_title(f"{visible(stopping.model)} on {visible(stopping.treebank)}")
    axes.legend(loc="lower right")


def _iteration_axis(axes: Axes, last: int, *, log: bool) -> None:
    """Iterations 1 .. last, to scale or on a log axis."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_xlabel("iteration")
    if log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda k, _: f"{k:,.0f}"))
        axes.set_xlim(0.9, 1.12 * last)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.set_xlim(0.5, last + 0.5)


def _distance_axis(axes: Axes, distances: Floats, rounding: float) -> None:
    """A log axis in both directions from 0, of four powers of ten at most, with a linear piece between."""
    from matplotlib.ticker import FuncFormatter

    sizes = np.abs(distances[np.isfinite(distances)])
    sizes = sizes[sizes > rounding]
    if not len(sizes):
        axes.set_ylim(-1, 1)
    else:
        smallest = max(float(sizes.min()), 1e-4 * float(sizes.max()))
        axes.set_yscale("symlog", linthresh=10 ** np.ceil(np.log10(smallest)))
        axes.yaxis.set_major_formatter(
            FuncFormatter(lambda distance, _: f"{distance:+g}" if distance else "0")
        )


def _with_unit(name: str, unit: str | None) -> str:
    return f"{name} ({visible(unit)})" if unit else name
