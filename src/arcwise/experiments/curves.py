"""Tables 3.3 and 3.6 of Koo's thesis: what parsers reach that learn from ever more sentences, without and with word clusters.

With a tagger that learns from all sentences, and with one that learns from as few as the parser. And what is said there of halving:
how clusters and half the sentences compare with all of them and no clusters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from arcwise.draw.clusters import curve_picture
from arcwise.experiments.cluster_models import ALL, METRICS, MODELS, ORDERS, SAME, Case, Parsers, with_gains
from arcwise.experiments.tables import Rows, markdown
from arcwise.experiments.trained_models import Tell, growing, part_of

TAGGERS = {"tagger on all": ALL, "tagger on as many": SAME}
COLUMNS = [f"{metric}, {tagger}, {model}" for metric in METRICS for tagger in TAGGERS for model in MODELS]


def sizes_of(wanted: Collection[int], sentences: int) -> list[int]:
    """Those wanted that are smaller than the treebank, half of it, and all.

    >>> sizes_of([1000, 8000, 16000], 12543)
    [1000, 6271, 8000, 12543]
    """
    chosen = {size for size in wanted if size < sentences} | {sentences // 2, sentences}
    return sorted(chosen - {0})


def curves(
    parsers: Parsers, sizes: list[int], jobs: int = 1, tell: Tell = lambda share: None
) -> Iterator[Rows]:
    """The rows of all sizes that are ready, in order, whenever one more is."""

    def task(size: str, model: str, tell: Tell) -> dict[str, float]:
        order, frequent = MODELS[model]
        found: dict[str, float] = {}
        for at, (name, tagger) in enumerate(TAGGERS.items()):
            case = Case(int(size), tagger, order, frequent)
            reached = parsers.accuracy(case, part_of(tell, at, len(TAGGERS)))
            found |= {f"{metric}, {name}, {model}": value for metric, value in reached.items()}
        return found

    work = {str(size): float(size) for size in sizes}
    return map(with_gains, growing(work, MODELS, COLUMNS, task, jobs, tell))


def halves(sizes: list[int]) -> list[tuple[int, int]]:
    """Every size that is half of another, and that one; of all sentences, half of which may end in .5, the half rounded down.

    >>> halves([1000, 2000, 4000, 4500, 9001])
    [(1000, 2000), (2000, 4000), (4500, 9001)]
    """
    return [
        (half, size)
        for size in sizes
        for half in sizes
        if size == 2 * half or (size == sizes[-1] and half == size // 2)
    ]


def halved(rows: Rows) -> Rows:
    """For all `halves` of the sizes: half with clusters, all without, and how much better the former is."""
    found = {}
    for half, size in halves([int(name) for name in rows]):
        row: dict[str, float] = {}
        for metric in METRICS:
            for tagger in TAGGERS:
                for order in ORDERS:
                    column = f"{metric}, {tagger}, {order}"
                    with_half, without = rows[str(half)][f"{column} + clusters"], rows[str(size)][column]
                    row |= {
                        f"{column} + clusters, half": with_half,
                        f"{column}, all": without,
                        f"{column}, difference": with_half - without,
                    }
        found[f"{half} + clusters, {size}"] = row
    return found


def tables(bank: str, rows: Rows) -> Iterator[str]:
    """The tables in Markdown, and below them how often half is enough."""
    half = halved(rows)
    for metric in METRICS:
        for tagger in TAGGERS:
            title = f"{bank}, {metric}, {tagger}"
            yield from markdown(title, rows, f"{metric}, {tagger}, ")
            yield ""
            if half:
                yield from markdown(f"{title}, halved", half, f"{metric}, {tagger}, ")
                yield ""
    for metric in METRICS if half else ():
        differences = [
            value
            for row in half.values()
            for column, value in row.items()
            if column.startswith(metric) and column.endswith("difference")
        ]
        enough = sum(difference >= 0 for difference in differences)
        yield (
            f"- {metric}: half of the sentences with clusters do as well as all of them without, or better, in {enough} of "
            f"{len(differences)} comparisons."
        )


def figure(bank: str, rows: Rows, form: str) -> bytes:
    """The curves as a picture, a panel for each order and tagger."""
    panels = {
        f"{order} order, {tagger}": {
            metric: (
                [row[f"{metric}, {tagger}, {order}"] for row in rows.values()],
                [row[f"{metric}, {tagger}, {order} + clusters"] for row in rows.values()],
            )
            for metric in METRICS
        }
        for order in ORDERS
        for tagger in TAGGERS
    }
    return curve_picture(bank, [int(name) for name in rows], panels, form)
