"""`arcwise cluster`: clusters of words from text."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import click

from arcwise.cli.terminal import Show, counted, duration, progress_bar, say
from arcwise.treebank.formats import FORMATS

if TYPE_CHECKING:
    from arcwise.clusters.clustering import Clustering, Watcher
    from arcwise.clusters.files import Clusters


@click.command("cluster")
@click.argument("corpora", metavar="CORPUS...", nargs=-1, required=True, type=click.Path())
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write the clusters.")
@click.option(
    "--method", type=click.Choice(["brown", "hmm"]), default="brown", show_default=True,
    help="Brown's algorithm, or a hidden Markov model that begins with the tags of a treebank and splits them.",
)  # fmt: skip
@click.option(
    "-c", "--clusters", type=click.IntRange(1), metavar="C",
    help="How many clusters, at most (of hmm: no fewer than there are tags).  [default: 1000; hmm 64]",
)  # fmt: skip
@click.option(
    "--min-count", "minimum", type=click.IntRange(1), default=3, show_default=True, metavar="N",
    help="Leave out words that occur less often.",
)  # fmt: skip
@click.option(
    "--by", type=click.Choice(["neighbours", "heads"]), default="neighbours", show_default=True,
    help="Which words make a pair: one and the next, or a head and its modifier (in treebanks and parsed text).",
)  # fmt: skip
@click.option(
    "--bits", type=click.IntRange(1), metavar="K", help="Cut the bit strings off after so many bits."
)
@click.option(
    "--classes", type=click.IntRange(1), metavar="K",
    help="Cut the bit strings off such that so many different ones remain, at most, of about equal frequency.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(["text", *FORMATS]), help="Of the corpora; recognised if not given."
)
@click.option("--resume", is_flag=True, help="Go on with the run that was stopped, if there is one.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing unless something is wrong.")
def command(
    corpora: tuple[str, ...],
    output: str,
    method: str,
    clusters: int | None,
    minimum: int,
    by: str,
    bits: int | None,
    classes: int | None,
    form: str | None,
    resume: bool,
    quiet: bool,
) -> None:
    """Cluster the words of each CORPUS by the words next to them.

    A CORPUS is plain text in UTF-8, a sentence a line and its words separated by spaces, or a treebank (CoNLL-U, CoNLL-X,
    CoNLL-2008 or CoNLL-2009), plain or compressed, or `-` for standard input. All are read as one. --method hmm needs tags in some.

    FILE has a line for every word: the bit string of its cluster, the word, and how often it occurred, separated by tabs. The bit
    string is the way from the root of a binary tree to the cluster, so that words whose strings begin alike are alike, the more so
    the more bits they share. A run that was stopped goes on with --resume, from FILE.checkpoint, and gives the same bytes as an
    unbroken one.

    \b
    Example:
      arcwise cluster news.txt.xz -o clusters.tsv
      arcwise cluster news.txt books.conllu.gz -c 500 --min-count 10 -o clusters.tsv.gz
      arcwise parse news.txt | arcwise cluster - --by heads -o syntactic.tsv
      arcwise cluster train.conllu news.txt --method hmm -o states.tsv
    """
    from arcwise.clusters.clustering import HMM, cluster
    from arcwise.clusters.corpora import NEIGHBOURS
    from arcwise.clusters.hierarchy import equal_frequency, fixed_prefixes

    if bits is not None and classes is not None:
        raise click.UsageError("--bits and --classes both say where to cut: give one of them")
    if method == HMM and by != NEIGHBOURS:
        raise click.UsageError("--by heads is for --method brown")

    def cut(found: Clusters) -> Clusters:
        if bits is not None:
            return found._replace(bits=fixed_prefixes(found.bits, bits))
        if classes is not None:
            return found._replace(bits=equal_frequency(found.bits, found.counts, classes))
        return found

    started = perf_counter()
    checkpoints: set[Path] = set()
    try:
        with progress_bar(not quiet) as show:
            result = cluster(
                corpora, output, method=method, clusters=clusters, minimum=minimum, by=by, format=form, resume=resume,
                watcher=_watcher(show, quiet, checkpoints), finish=cut,
            )  # fmt: skip
    except (KeyboardInterrupt, SystemExit):
        if checkpoints and not quiet:
            say("stopped: the same command with --resume goes on")
        raise
    if not quiet:
        _summary(result, output, minimum, perf_counter() - started)


def _watcher(show: Show, quiet: bool, checkpoints: set[Path]) -> Watcher:
    """Tells people; the checkpoints that a run can go on from are added to `checkpoints`."""
    from arcwise.clusters.clustering import Watcher

    class Bars(Watcher):
        def note(self, text: str) -> None:
            if not quiet:
                say(text)

        def progress(self, what: str, done: int, total: int | None) -> None:
            show(what, done, total)

        def resumable(self, checkpoint: Path) -> None:
            checkpoints.add(checkpoint)

    return Bars()


def _summary(result: Clustering, output: str, minimum: int, seconds: float) -> None:
    """What was read, and what came out."""
    words = len(result.clusters.bits)
    say(
        f"{counted(result.sentences, 'sentence')}, {counted(result.tokens, 'word')}: {counted(words, 'different one')} "
        f"occur{'s' * (words == 1)} {counted(minimum, 'time')} or more, which is "
        f"{100 * result.covered / result.tokens:.2f}% of the text"
    )
    strings = set(result.clusters.bits.values())
    shortest, longest = min(map(len, strings)), max(map(len, strings))
    lengths = counted(longest, "bit") if shortest == longest else f"{shortest} to {longest} bits"
    say(f"{counted(len(strings), 'cluster')}, bit strings of {lengths}")
    if result.hidden is None:
        say(
            f"mutual information of a pair: {result.information:.4f} bits by the clusters, {result.of_words:.4f} by the words "
            f"({counted(result.pairs, 'pair')})"
        )
    else:
        hidden = result.hidden
        say(
            f"{counted(hidden.tags, 'tag')} split into {counted(len(hidden.bits), 'state')}; "
            f"log-likelihood of a word: {hidden.likelihood / result.tokens:.4f}"
        )
    say(f"clustered in {duration(seconds)}, {duration(process_time())} of CPU time with loading")
    if output != "-":
        say(f"clusters: {output}")
