"""`arcwise train`: a model from a treebank."""

from __future__ import annotations

import math
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import click

from arcwise.cli.terminal import counted, duration, jobs_option, say
from arcwise.treebank.formats import FORMATS

if TYPE_CHECKING:
    from arcwise.pipeline.parser import Parser

# The charts of every order, the one picked if none is named last.
_ORDERS = {"1": ("eisner",), "2": ("sibling", "model0", "carreras"), "3": ("model2", "model1")}
SEARCHES = [chart for charts in _ORDERS.values() for chart in charts]
# The same for head automata, which find all trees.
_AUTOMATA = {"2": ("sibling", "grandparent", "grandchild"), "3": ("third", "grand-sibling")}
PARTS = list(dict.fromkeys([*SEARCHES, *(parts for order in _AUTOMATA.values() for parts in order)]))
_MODELS = {"first": "1", "second": "2", "third": "3", "full": "3"}
PRUNINGS = ("heads", "trees", "projective")
LEARNERS = ("mira", "perceptron", "log-linear", "max-margin")
OPTIMISERS = ("online", "sgd", "adagrad", "eg", "batch-eg", "lbfgs", "cg")
_THRESHOLD = -math.log(0.002)
_RANK = 50  # of the tensor of full models

# Bits of the tables of weights of the pruner, of the arcs, of the labels and of the tags.
_SIZES: dict[str, dict[str, int]] = {
    "small": {
        "coarse_bits": 17,
        "arc_bits": 19,
        "label_bits": 12,
        "tag_bits": 18,
        "part_bits": 18,
        "tensor_bits": 13,
    },
    "normal": {},
    "large": {
        "coarse_bits": 22,
        "arc_bits": 25,
        "label_bits": 18,
        "tag_bits": 24,
        "part_bits": 24,
        "tensor_bits": 18,
    },
}


@click.command("train")
@click.argument("treebank", metavar="TRAIN", type=click.Path())
@click.option("--dev", type=click.Path(), help="The treebank that decides which epoch is kept.")
@click.option("-o", "--output", required=True, metavar="MODEL", help="Where to write the model.")
@click.option(
    "--order", type=click.Choice(["1", "2", "3"]),
    help="How many arcs are scored together at most.  [default: 1, or that of --parts]",
)  # fmt: skip
@click.option(
    "--model", type=click.Choice(["first", "second", "third", "full"]),
    help="Instead of --order: what is scored, first, second or third order; full: third order with far parts and features of whole "
    "trees, found by hill climbing, and a tensor.",
)  # fmt: skip
@click.option(
    "--decoder", type=click.Choice(["climb"]),
    help="climb: find trees by hill climbing, in training, too.  [default: by a search that proves them best]",
)  # fmt: skip
@click.option(
    "--restarts", type=click.IntRange(1), metavar="K",
    help="Of hill climbing for a sentence in training: it ends after so many runs without a better tree.  [default: 3]",
)  # fmt: skip
@click.option("--projective", is_flag=True, help="Only trees whose arcs do not cross, found by a chart.")
@click.option(
    "--parts", type=click.Choice(PARTS),
    help="What is scored, instead of what --order picks (grandchild or grand-sibling; with --projective the chart: eisner, carreras "
    "or model1).",
)  # fmt: skip
@click.option(
    "--prune", "beam", type=click.FloatRange(0, 1), metavar="SHARE",
    help="Leave out arcs that are less likely than this share of the best head's probability.  "
    "[default: 0.0067; with --projective 0.002]",
)  # fmt: skip
@click.option(
    "--most-heads", type=click.IntRange(2, 1000), metavar="K",
    help="Of a word at most so many heads are kept, the likeliest: fewer make models of higher order faster.  [default: 17]",
)  # fmt: skip
@click.option(
    "--prune-by", "pruning", type=click.Choice(list(PRUNINGS)),
    help="What this probability is of: the heads of a word, all trees, or projective trees.  "
    "[default: heads; with --projective projective]",
)  # fmt: skip
@click.option(
    "--learner", type=click.Choice(LEARNERS), default="mira", show_default=True,
    help="How the weights are learned.",
)  # fmt: skip
@click.option(
    "--optimiser", type=click.Choice(OPTIMISERS),
    help="How the objective of log-linear (default: sgd) and max-margin (sgd) is minimised.",
)  # fmt: skip
@click.option(
    "--steps", type=click.IntRange(0), metavar="K",
    help="Steps of dual decomposition for a sentence in training; 0 learns from what each word takes on its own.  [default: 100]",
)  # fmt: skip
@click.option(
    "--tune", is_flag=True,
    help="First choose --rate and --penalty on the development treebank: up to 12 trials of 3 epochs, beginning with those given.",
)  # fmt: skip
@click.option(
    "--rate", type=float,
    help="How far a step goes; of mira, the longest step.  [default: mira 0.01, with head automata 0.003; sgd 0.02; adagrad 0.05; "
    "eg 0.3, max-margin 1]",
)  # fmt: skip
@click.option(
    "--penalty", type=float, metavar="C",
    help="The weight of |w|^2 / 2 beside the losses of all sentences.  [default: log-linear 2, eg 10; max-margin 5, eg 100]",
)  # fmt: skip
@click.option(
    "--labels", type=click.Choice(["both", "joint", "after"]), default="both", show_default=True,
    help="Find them with the arcs (joint), in the tree found (after), or both, their scores added.",
)  # fmt: skip
@click.option("--epochs", type=click.IntRange(1), help="At most so many for the trees.  [default: 12]")
@click.option("--label-epochs", type=click.IntRange(1), help="At most so many for the labels.  [default: 6]")
@click.option(
    "--patience", type=click.IntRange(1), help="Stop after so many without a better LAS.  [default: 3]"
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The same gives the same bytes."
)
@click.option(
    "--single-root/--multi-root", default=None,
    help="Whether a tree has exactly one root; as the treebank has it if not given.",
)  # fmt: skip
@click.option(
    "--shape", default="any", show_default=True, metavar="NAME",
    help="Of the trees that the model finds: any, projective, 1-inherit, 2 (block degree), 2-well-nested, 3 and so on, well-nested; "
    "auto for the smallest class that covers 99% of TRAIN (as `arcwise analyze` tells).",
)  # fmt: skip
@click.option(
    "--tensor", "rank", type=click.IntRange(0), metavar="RANK",
    help="Also learn a low-rank tensor of the words of an arc (50 is a good rank); with mira only.  [default: 0, none; with --model "
    "full 50]",
)  # fmt: skip
@click.option(
    "--clusters", type=click.Path(), metavar="FILE",
    help="Word clusters, as `arcwise cluster` and others write them, that the tagger and the parser also see. The model holds what "
    "it needs of them.",
)  # fmt: skip
@click.option(
    "--cluster-cut", type=click.Choice(["bits", "frequency"]),
    help="What stands in for tags: the first 4 and 6 bits, or 16 and 64 classes of about equal frequency.  [default: bits]",
)  # fmt: skip
@click.option(
    "--frequent", type=click.IntRange(0), metavar="N",
    help="So many words, the most frequent of TRAIN, are seen beside clusters.  [default: 800]",
)  # fmt: skip
@click.option(
    "--size", type=click.Choice(list(_SIZES)), default="normal", show_default=True,
    help="Of the model's tables of weights.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)),
    help="The format of the treebanks; recognised if not given.",
)  # fmt: skip
@click.option("--skip-bad", is_flag=True, help="Leave out malformed sentences, and count them.")
@click.option(
    "--gold-tags", is_flag=True, help="Learn from the treebank's own tags, and do not learn to tag."
)
@jobs_option
@click.option("--resume", is_flag=True, help="Go on with the run that was stopped, if there is one.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing unless something is wrong.")
def command(
    treebank: str,
    dev: str | None,
    output: str,
    order: str | None,
    model: str | None,
    decoder: str | None,
    projective: bool,
    parts: str | None,
    beam: float | None,
    most_heads: int | None,
    pruning: str | None,
    form: str | None,
    size: str,
    rank: int | None,
    skip_bad: bool,
    jobs: int,
    resume: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Train a model on the treebank TRAIN.

    Treebanks are CoNLL-U, CoNLL-X, CoNLL-2008 or CoNLL-2009 files, plain or compressed. After every epoch
    the model is measured on the development treebank: UAS and LAS count all words, and labels with their
    subtypes. The epoch with the best LAS is kept; without --dev, the last. A run that was stopped goes on
    with --resume, from the file MODEL.checkpoint, and gives the same model as an unbroken one.

    Models of order 2 and 3 also score siblings, grandchildren and so on, which is more accurate and slower. They find the best of all
    trees, projective or not, by dual decomposition over head automata, and prove it best. --parts names what is scored: sibling,
    grandparent (grandchildren alone), grandchild (siblings and grandchildren), all of order 2, or grand-sibling (these too; order
    3). Each sentence is learned from by --steps steps of dual decomposition, or from what each word would take on its own.

    With --projective trees are projective, and training trees that are not are made so. --parts names the chart: sibling (siblings),
    carreras (and the outermost grandchildren), model0 (all grandchildren), model1 (siblings, grandchildren and grand-siblings),
    model2 (siblings, tri-siblings, and the outermost grandchildren and grand-siblings). Log-linear models of order 2 over all trees
    score siblings and grandchildren by belief propagation, approximately.

    With --shape every tree found belongs to a class of trees, and is the best one of that class; learning looks at all trees.

    With --tensor the words of an arc are also scored by a low-rank tensor: every word is seen as a head and as a modifier in RANK
    dimensions, so that words that never met in TRAIN have a score together. It is learned by mira with all else, from a start that
    one more pass over TRAIN finds, and adds to the scores of arcs whatever the order or the search.

    With --clusters words are also seen by their clusters: what is learned of one word then holds for others like it, known from
    text alone.

    Learners: perceptron and mira move the weights from the tree found to the right one; log-linear and max-margin minimise an
    objective, C/2 |w|^2 plus a loss a sentence, by an optimiser: sgd and adagrad (stochastic gradients), eg (exponentiated
    gradient on the dual), for log-linear also batch-eg, lbfgs and cg (of these an epoch is ten iterations over all sentences). Labels
    of known trees are learned by mira, or the perceptron if that is the learner. Where HEAD is _ in TRAIN, what is known of the
    sentence is learned.

    \b
    Example:
      arcwise train train.conllu --dev dev.conllu -o my.arcwise
      arcwise train train.conllu --dev dev.conllu -o small.arcwise --size small --epochs 5
      arcwise train train.conllu --dev dev.conllu -o second.arcwise --order 2
      arcwise train train.conllu --dev dev.conllu -o third.arcwise --order 3 --projective
      arcwise train train.conllu --dev dev.conllu -o nested.arcwise --shape auto
      arcwise train train.conllu --dev dev.conllu -o clustered.arcwise --order 2 --clusters clusters.tsv
      arcwise train train.conllu --dev dev.conllu -o crf.arcwise --learner log-linear --tune
    """
    from arcwise.cli.training_report import training_report
    from arcwise.pipeline.model import Settings
    from arcwise.pipeline.options import Options
    from arcwise.pipeline.training import train

    given = {name: value for name, value in options.items() if value is not None}
    settings: dict[str, Any] = dict(_SIZES[size])
    orders = _ORDERS if projective else _AUTOMATA
    climb = decoder == "climb" or model == "full"
    if model is not None and order is not None:
        raise click.UsageError("--model and --order say the same: give one of them")
    if model == "full" and parts is not None:
        raise click.UsageError("--model full scores all parts: leave out --parts")
    if climb and projective:
        raise click.UsageError("hill climbing finds all trees: leave out --projective")
    for name in ("cluster_cut", "frequent"):
        if options[name] is not None and options["clusters"] is None:
            raise click.UsageError(f"--{name.replace('_', '-')} is for --clusters")
    if options["restarts"] is not None and not climb:
        raise click.UsageError("--restarts is for --decoder climb and --model full")
    order = _MODELS[model] if model is not None else order
    if order is None:
        order = next((order for order, known in orders.items() if parts in known), "1")
    if parts is not None and parts not in orders.get(order, ()):
        if parts in [known for names in orders.values() for known in names]:
            raise click.UsageError(f"--parts {parts} is not of order {order}")
        raise click.UsageError(
            f"--parts {parts} is for {'all trees: leave out' if projective else 'charts: add'} --projective"
        )
    if projective:
        settings |= {"search": parts or _ORDERS[order][-1], "threshold": _THRESHOLD, "pruning": "projective"}
    elif order == "2" and parts is None and options["learner"] == "log-linear":
        settings["search"] = "belief-propagation"
    elif model == "full":
        settings |= {"search": "full"}
    elif order != "1":
        settings["search"] = f"dual-{parts or _AUTOMATA[order][0 if climb and order == '3' else -1]}"
    settings["climb"] = climb
    if beam is not None and math.isnan(beam):
        raise click.UsageError("--prune nan")
    if beam is not None:
        settings["threshold"] = -math.log(beam) if beam > 0 else math.inf
    if most_heads is not None:
        settings["most_heads"] = most_heads
    if pruning is not None:
        settings["pruning"] = pruning
    if rank is None:
        rank = _RANK if model == "full" and options["learner"] == "mira" else 0
    given["settings"] = Settings(**settings, tensor=rank)
    started = perf_counter()
    try:
        with training_report(Options(**given), quiet) as report:
            parser = train(
                treebank, dev, output, format=form, skip_bad=skip_bad, resume=resume, jobs=jobs, watcher=report,
                **given,
            )  # fmt: skip
    except KeyboardInterrupt:
        if not quiet and Path(f"{output}.checkpoint").exists():
            say("stopped: the same command with --resume goes on after the last finished epoch")
        raise
    if not quiet:
        _summary(parser, output, perf_counter() - started)


def _summary(parser: Parser, output: str, seconds: float) -> None:
    """What came out, and what to do with it."""
    stages = parser.model.facts["training"]
    best = " and ".join(f"{stage['best']} of {stage['epochs']} for the {stage['stage']}" for stage in stages)
    say(f"best epochs: {best}")
    if tags := parser.model.facts["tags"]:
        names = {"upos": "UPOS", "xpos": "XPOS", "feats": "FEATS", "lemma": "LEMMA"}
        say("development treebank: " + ", ".join(f"{name} {tags[key]:.2f}" for key, name in names.items()))
    if stages[-1]["las"] >= 0:
        say(
            f"development treebank: UAS {stages[-1]['uas']:.2f}, LAS {stages[-1]['las']:.2f} "
            "(all words count, labels with their subtypes)"
        )
    if "last gradient" in stages[0]:
        share = stages[0]["last gradient"] / stages[0]["first gradient"]
        say(f"norm of the gradient: {share:.2g} of that at the start")
    say(f"trained in {duration(seconds)}, {duration(process_time())} of CPU time with loading")
    roots = "exactly one root" if parser.single_root else "several roots allowed"
    shape = parser.model.settings.shape
    roots += "" if shape == "any" else f", trees of shape {shape}"
    megabytes = Path(output).stat().st_size / 1e6
    say(f"model: {output}, {megabytes:.1f} MB, {counted(len(parser.labels), 'label')}, {roots}")
    say(f"parse with it: arcwise parse text.conllu --model {output} -o parsed.conllu")
