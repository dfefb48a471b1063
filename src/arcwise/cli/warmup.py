"""`arcwise warmup`: compile before the first real job."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import click

from arcwise.cli.terminal import compiled_kernels, counted, duration, progress_bar

# Small, but with all that the kernels meet: a range, an empty node, features, a crossing arc.
_SENTENCES = """\
# text = Mary doesn't know who we talked to.
1	Mary	Mary	PROPN	NNP	Number=Sing	4	nsubj	_	_
2-3	doesn't	_	_	_	_	_	_	_	_
2	does	do	AUX	VBZ	Mood=Ind|Tense=Pres	4	aux	_	_
3	n't	not	PART	RB	_	4	advmod	_	_
4	know	know	VERB	VB	VerbForm=Inf	0	root	_	_
5	who	who	PRON	WP	PronType=Int	7	obl	_	_
6	we	we	PRON	PRP	Number=Plur	7	nsubj	_	_
7	talked	talk	VERB	VBD	Tense=Past	4	ccomp	_	_
7.1	together	together	ADV	RB	_	_	_	_	_
8	to	to	ADP	IN	_	5	case	_	SpaceAfter=No
9	.	.	PUNCT	.	_	4	punct	_	_

# text = Go on!
1	Go	go	VERB	VB	Mood=Imp	0	root	_	_
2	on	on	ADP	RP	_	1	compound:prt	_	SpaceAfter=No
3	!	!	PUNCT	.	_	1	punct	_	_

"""

Step = Callable[[Path], None]


@click.command("warmup")
@click.option(
    "--all", "everything", is_flag=True,
    help="Also what the options of parse, models of higher order, train, evaluate, analyze and decode need.",
)  # fmt: skip
def command(everything: bool) -> None:
    """Compile what `arcwise parse` needs, for this machine, so that the first real job need not wait.

    Compiled kernels are kept on disk, beside the package or where NUMBA_CACHE_DIR says, until arcwise or
    Numba change.

    \b
    Example:
      arcwise warmup
      arcwise warmup --all
    """
    steps = _PARSE | _OTHERS if everything else _PARSE
    begin = perf_counter()
    with progress_bar() as show, TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "treebank.conllu").write_text(_SENTENCES, encoding="utf-8")
        for number, (step, run) in enumerate(steps.items(), start=1):
            started, before = perf_counter(), compiled_kernels()
            show("compiling for this machine", number - 0.5, len(steps))
            run(folder)
            compiled = compiled_kernels() - before
            what = f"{counted(compiled, 'kernel')} compiled" if compiled else "ready"
            click.echo(f"{step:<8} {duration(perf_counter() - started):>8}  {what}")
    click.echo(f"{'all':<8} {duration(perf_counter() - begin):>8}")


def _read(folder: Path) -> None:
    from arcwise.treebank.reading import BlockReader

    with BlockReader(folder / "treebank.conllu", check_trees=False) as reader:
        list(reader)


def _parse(folder: Path) -> None:
    """All that lies between raw text, or a treebank, and trees."""
    from arcwise.pipeline.parser import bundled_models, load
    from arcwise.treebank.reading import BlockReader

    if not bundled_models():
        _train(folder)
    parser = load("en" if bundled_models() else folder / "trained.arcwise")
    parser("Mary doesn't know who we talked to. Go on!").draw()
    with BlockReader(folder / "treebank.conllu", check_trees=False) as reader:
        for block in reader:
            parser.parse_to_bytes(parser.tag_block(block, anew=True), keep=True)


def _train(folder: Path) -> None:
    from arcwise.pipeline.model import Settings
    from arcwise.pipeline.training import train

    settings = Settings(coarse_bits=8, arc_bits=8, label_bits=8, tag_bits=8)
    treebank = folder / "treebank.conllu"
    train(treebank, treebank, folder / "trained.arcwise", epochs=1, label_epochs=1, settings=settings)


def _charts(folder: Path) -> None:
    """Training and parsing with a chart, and all that `arcwise parse` can tell of trees beside the best one."""
    from arcwise.pipeline.model import Settings
    from arcwise.pipeline.training import train
    from arcwise.treebank.reading import BlockReader

    settings = Settings(
        coarse_bits=8, arc_bits=8, label_bits=8, part_bits=8, search="model1", pruning="projective", threshold=9.0
    )  # fmt: skip
    treebank = folder / "treebank.conllu"
    charts = train(treebank, treebank, epochs=1, label_epochs=1, settings=settings, gold_tags=True)
    settings = Settings(coarse_bits=8, arc_bits=8, label_bits=8)
    plain = train(treebank, treebank, epochs=1, label_epochs=1, settings=settings, gold_tags=True)
    for parser in (charts, plain):
        with BlockReader(treebank, check_trees=False) as reader:
            for block in reader:
                parser.parse_block(block, confidence=True, min_risk=True)
                parser.k_best_block(block, 2)


def _dual(folder: Path) -> None:
    """Training and parsing with head automata and dual decomposition, and with linear programs if HiGHS is there."""
    from arcwise.pipeline.model import Settings
    from arcwise.pipeline.training import train
    from arcwise.treebank.reading import BlockReader

    settings = Settings(
        coarse_bits=8, arc_bits=8, label_bits=8, part_bits=8, search="dual-grandchild", threshold=9.0
    )
    treebank = folder / "treebank.conllu"
    parser = train(treebank, treebank, epochs=1, label_epochs=1, settings=settings, gold_tags=True)
    with BlockReader(treebank, check_trees=False) as reader:
        for block in reader:
            parser.parse_block(block)
            parser.parse_block(block, confidence=True)
            if find_spec("highspy"):
                for lazy in (False, True):
                    parser.searching("price", pruned=False, lazy=lazy).parse_block(block)
                parser.searching("lp").parse_block(block)


def _evaluate(folder: Path) -> None:
    from arcwise.evaluation.attachment import attachment_scores
    from arcwise.evaluation.columns import Strings, read_columns
    from arcwise.evaluation.report import significance_table, system_tables

    strings = Strings()
    scores = attachment_scores(*(read_columns(folder / "treebank.conllu", strings) for _ in range(2)))
    system_tables(scores, seed=0, samples=10)
    significance_table(scores, scores, seed=0, samples=10)


def _analyze(folder: Path) -> None:
    import numpy as np

    from arcwise.evaluation.structure import measure_structure
    from arcwise.search.local_optima import count_local_optima
    from arcwise.treebank.reading import BlockReader

    with BlockReader(folder / "treebank.conllu") as reader:
        measure_structure(reader)
    count_local_optima(np.zeros((3, 3)))


def _decode(folder: Path) -> None:
    import numpy as np

    from arcwise.parts.scores import Scores
    from arcwise.search.decode import decode, k_best
    from arcwise.sums.front import marginals, max_marginals, sample

    S = np.random.default_rng(0).normal(size=(5, 5))
    for projective in (False, True):
        decode([S, S], projective=projective)
        k_best(S, 3, projective=projective)
        marginals([S, S], projective=projective)
        sample(S, 2, projective=projective)
    decode([S, S], block_degree=2, well_nested=True)
    k_best(Scores(S, siblings=np.zeros((5, 5, 5))), 3, projective=True)
    max_marginals(S)


_PARSE: dict[str, Step] = {"read": _read, "parse": _parse}
_OTHERS: dict[str, Step] = {
    "train": _train,
    "charts": _charts,
    "dual": _dual,
    "evaluate": _evaluate,
    "analyze": _analyze,
    "decode": _decode,
}
