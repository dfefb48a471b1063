"""`arcwise plot`: how dual decomposition converged, as a picture and in a few numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arcwise.cli.terminal import counted, say
from arcwise.draw.text import visible
from arcwise.errors import InputError

if TYPE_CHECKING:
    from arcwise.evaluation.traces import SentenceTrace, Stopping, Trace


@click.command("plot")
@click.argument("source", metavar="TRACE", type=click.Path())
@click.option(
    "-o", "--output", metavar="OUT",
    help="Where to draw: a file .png, .svg or .pdf; if not given, TRACE with .png added.",
)  # fmt: skip
@click.option("--sentence", metavar="N|ID", help="Draw one sentence: its number in the file, or its sent_id.")
def command(source: str, output: str | None, sentence: str | None) -> None:
    """Draw how dual decomposition converged. Needs Matplotlib: pip install 'arcwise[plot]'.

    Of a TRACE that `arcwise parse --trace TRACE` wrote: the sentences proved best after so many iterations, the head automata
    computed anew in each of them, and the gaps that remain; with --sentence the bound and the score of every iteration of one
    sentence. Of a file of `arcwise experiment stopping`: accuracy, proofs and agreement against the iterations allowed. Prints a
    summary. OUT appears when it is complete; the same TRACE gives the same bytes.

    \b
    Example:
      arcwise parse dev.conllu --model sib.arcwise --trace dev.trace -o parsed.conllu
      arcwise plot dev.trace
      arcwise plot dev.trace --sentence 7 -o seven.svg
    """
    from arcwise.draw.convergence import FORMS, picture
    from arcwise.evaluation.traces import Stopping, read_trace_file
    from arcwise.treebank.writing import open_output

    if output is None and source == "-":
        raise click.UsageError("a trace from standard input needs -o OUT")
    form = "png" if output is None else Path(output).suffix[1:].lower()
    if form not in FORMS:
        raise click.UsageError(f"-o {output}: expected a name that ends in .png, .svg or .pdf")
    trace = read_trace_file(source)
    if isinstance(trace, Stopping):
        if sentence is not None:
            raise click.UsageError(f"--sentence is for traces; {source} is of arcwise experiment stopping")
        data, summary, name = picture(trace, form), _stopping_summary(trace), ""
    elif sentence is not None:
        one = _pick(trace, sentence, source)
        data, summary, name = picture(one, form, unit=trace.unit), _sentence_summary(one), f".{one.sentence}"
    else:
        data, summary, name = picture(trace, form), _summary(trace), ""
    output = output or f"{source}{name}.{form}"
    with open_output(output) as file:
        file.write(data)
    click.echo("\n".join(summary))
    say(f"drew {output}")


def _pick(trace: Trace, wanted: str, file: str) -> SentenceTrace:
    """The sentence of this number, else of this id."""
    for sentence in trace.sentences:
        if str(sentence.sentence) == wanted:
            return sentence
    for sentence in trace.sentences:
        if sentence.id == wanted:
            return sentence
    last = trace.sentences[-1].sentence
    raise InputError(f"no sentence {wanted!r}", expected=f"a number up to {last}, or a sent_id", file=file)


def _summary(trace: Trace) -> list[str]:
    import numpy as np

    sentences = trace.sentences
    ends = [sentence.ended for sentence in sentences]
    certified = sum(sentence.certified for sentence in sentences)
    by = ", ".join(f"{ends.count(end):,} by {end}" for end in ("agreement", "bound", "finish") if end in ends)
    iterations = np.array([sentence.iterations for sentence in sentences])
    automata = sum(sentence.iterations * (sentence.words + 1) for sentence in sentences)
    recomputed = sum(int(sentence.recomputed.sum()) for sentence in sentences)
    lines = [
        f"sentences   {len(sentences):,}",
        f"certified   {certified:,}, {100 * certified / len(sentences):.2f}%" + (f": {by}" if by else ""),
        f"iterations  median {np.median(iterations):g}, mean {iterations.mean():.1f}, most {iterations.max():,}",
        f"recomputed  {100 * recomputed / automata:.1f}% of automata",
    ]
    if certified < len(sentences):
        gaps = [sentence.gap for sentence in sentences if not sentence.certified]
        lines.append(f"gap left    median {np.median(gaps):.4g}, largest {max(gaps):.4g}")
    return lines


def _sentence_summary(sentence: SentenceTrace) -> list[str]:
    name = f"sentence {sentence.sentence}" + (f" ({visible(sentence.id)})" if sentence.id else "")
    return [
        f"{name}: {counted(sentence.words, 'word')}, {counted(sentence.iterations, 'iteration')}, ended by {sentence.ended}",
        f"score {sentence.score:.6g}, bound {sentence.bound:.6g}, gap {sentence.gap:.4g}",
    ]


def _stopping_summary(stopping: Stopping) -> list[str]:
    """A table, a line for each K."""
    rows = zip(*stopping[2:], strict=True)
    return [
        f"{visible(stopping.model)} on {visible(stopping.treebank)}, %",
        f"{'K':>6}  {'UAS':>6}  {'certified':>9}  {'same tree':>9}",
        *(f"{K:>6}  {uas:6.2f}  {proved:9.2f}  {same:9.2f}" for K, uas, proved, same in rows),
    ]
