"""Our UD metrics equal those of `udeval` in every digit, whatever the words and sentences of the files."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise.evaluation.attachment import evaluate
from arcwise.evaluation.score import Score
from arcwise.treebank.reading import read_string
from tests.evaluation import perturb
from tests.pipeline.models import DATA, trained

udeval = pytest.importorskip("udtools.udeval")

INVENTED = """\
# text = Don't give Mia's old cat to him, please.
1-2	Don't	_	_	_	_	_	_	_	_
1	Do	do	AUX	VB	Mood=Imp|VerbForm=Fin	3	aux	_	_
2	n't	not	PART	RB	Polarity=Neg	3	advmod	_	_
3	give	give	VERB	VB	Mood=Imp|VerbForm=Fin	0	root	_	_
4-5	Mia's	_	_	_	_	_	_	_	_
4	Mia	Mia	PROPN	NNP	Number=Sing	7	nmod:poss	_	_
5	's	's	PART	POS	_	4	case	_	_
6	old	old	ADJ	JJ	Degree=Pos	7	amod	_	_
7	cat	cat	NOUN	NN	Number=Sing	3	obj	_	_
8	to	to	ADP	IN	_	9	case	_	_
9	him	he	PRON	PRP	Case=Acc|Gender=Masc|Number=Sing|Person=3|PronType=Prs	3	obl	_	SpaceAfter=No
10	,	,	PUNCT	,	_	3	punct	_	_
11	please	please	INTJ	UH	_	3	discourse	_	SpaceAfter=No
12	.	.	PUNCT	.	_	3	punct	_	_

# text = We paid 10 000 for what was seen.
1	We	we	PRON	PRP	Case=Nom|Number=Plur|Person=1|PronType=Prs	2	nsubj	_	_
2	paid	pay	VERB	VBD	Mood=Ind|Tense=Past|VerbForm=Fin	0	root	_	_
3	10 000	10000	NUM	CD	NumForm=Digit|NumType=Card	2	obj	_	_
4	for	for	ADP	IN	_	5	case	_	_
5	what	what	PRON	WP	PronType=Int	2	obl	_	_
6	was	be	AUX	VBD	Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin	7	aux:pass	_	_
7	seen	see	VERB	VBN	Tense=Past|VerbForm=Part|Voice=Pass	5	acl:relcl	_	SpaceAfter=No
7.1	then	then	ADV	RB	_	_	_	_	_
8	.	.	PUNCT	.	_	2	punct	_	_

# text = Vámonos al mar
1-2	Vámonos	_	_	_	_	_	_	_	_
1	Vamos	ir	VERB	_	Mood=Imp|Number=Plur|Person=1|VerbForm=Fin	0	root	_	_
2	nos	nosotros	PRON	_	Case=Acc|Number=Plur|Person=1|PronType=Prs	1	expl:pv	_	_
3-4	al	_	_	_	_	_	_	_	_
3	a	a	ADP	_	_	5	case	_	_
4	el	el	DET	_	Definite=Def|Gender=Masc|Number=Sing|PronType=Art	5	det	_	_
5	mar	_	NOUN	_	Gender=Masc|Number=Sing	1	obl	_	_

"""


def reference(gold: str, system: str) -> dict[str, Score]:
    files = [udeval.load_conllu(io.StringIO(text), "", {}) for text in (gold, system)]
    scores = udeval.evaluate(*files)
    return {
        name: Score(score.correct, score.gold_total, score.system_total, score.aligned_total)
        for name, score in scores.items()
        if name not in ("ELAS", "EULAS")
    }


def assert_equal(gold: str, system: str) -> None:
    scores = evaluate(*(read_string(text, format="conllu") for text in (gold, system)))
    ours = {name: score for name, score in scores.metrics["UD"].items() if name != "LA"}
    assert ours == reference(gold, system)
    for (convention, metric), counts in scores.sentence_counts.items():
        score = scores.metrics[convention][metric]
        assert counts.sum(axis=0).tolist() == [score.correct, score.gold, score.system]


@pytest.mark.parametrize("seed", range(60))
def test_invented_sentences(seed: int) -> None:
    random = Random(seed)
    spoiled = perturb.spoil(perturb.read(INVENTED * 3), random, retokenise=seed % 3 > 0)
    assert_equal(INVENTED * 3, perturb.write(spoiled))
    assert_equal(perturb.write(spoiled), INVENTED * 3)


@pytest.mark.parametrize("retokenise", [False, True])
def test_a_treebank(treebanks: Path, retokenise: bool) -> None:
    gold = (treebanks / "en_ewt" / "dev.conllu").read_text(encoding="utf-8")
    spoiled = perturb.spoil(perturb.read(gold), Random(1), retokenise=retokenise)
    assert_equal(gold, perturb.write(spoiled))


def test_output_of_the_parser() -> None:
    gold = (DATA / "dev.conllu").read_text(encoding="utf-8")
    assert_equal(gold, str(trained()(read_string(gold))))


def test_output_of_the_parser_on_a_treebank(treebanks: Path) -> None:
    gold = (treebanks / "en_ewt" / "dev.conllu").read_text(encoding="utf-8")
    assert_equal(gold, str(trained()(read_string(gold))))


@st.composite
def tokenisations(draw: st.DrawFn, text: str) -> str:
    """Some tokens, ranges and sentences over the text, with a chain or a bush as tree."""
    cuts = sorted(draw(st.sets(st.integers(1, len(text) - 1)))) if len(text) > 1 else []
    lines, number = [], 0
    labels = st.sampled_from(["nsubj", "aux", "det", "punct", "acl:relcl"])
    for start, stop in zip([0, *cuts], [*cuts, len(text)], strict=True):
        form = text[start:stop]
        words = draw(st.lists(st.sampled_from(["a", "A", "b", "ab", "b a"]), max_size=3))
        if len(words) > 1:
            lines.append(f"{number + 1}-{number + len(words)}\t{form}" + "\t_" * 8)
        for word in words if len(words) > 1 else [form]:
            number += 1
            head = 0 if number == 1 else draw(st.sampled_from([1, number - 1]))
            tag = draw(st.sampled_from("XY"))
            lines.append(f"{number}\t{word}\t_\t{tag}\t_\t_\t{head}\t{draw(labels)}\t_\t_")
        if stop == len(text) or draw(st.integers(0, 3)) == 0:
            lines.append("")
            number = 0
    return "\n".join(lines) + "\n"


@settings(deadline=None, max_examples=400)
@given(st.data())
def test_any_words_over_the_same_text(data: st.DataObject) -> None:
    text = data.draw(st.text("aAb", min_size=1, max_size=12))
    assert_equal(data.draw(tokenisations(text)), data.draw(tokenisations(text)))
