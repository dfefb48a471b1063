"""Probabilities in CoNLL-U: what is written, and what stays as it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arcwise.pipeline.annotating import annotate, written_probability
from arcwise.pipeline.confidence import Probabilities
from arcwise.pipeline.parsed import Trees

TEXT = """\
# newdoc
# tree_prob = 0.5
#rank=7
# text = No, = it
1-2\tNo,\t_\t_\t_\t_\t_\t_\t_\tArcProb=no|SpaceAfter=No
1\tNo\t_\t_\t_\t_\t0\troot\t_\t_
2\t,\t_\t_\t_\t_\t1\tpunct\t_\tA=1|LabelProb=0.1|B
2.1\tgo\t_\t_\t_\t_\t_\t_\t_\t_

1\tArcProb=1\t_\t_\t_\t_\t0\troot\t_\tArcProb=0.3333

"""


def trees(ranks: list[int] | None, logs: list[float], arcs: list[float] | None) -> Trees:
    found = None if arcs is None else np.array(arcs)
    return Trees(
        np.array([0, 1, 0], np.int32),
        np.zeros(3, np.int32),
        np.array([3.25, -1e-9]),
        np.ones(2, np.bool_),
        ("root",),
        np.zeros(2),
        np.zeros((2, 1), np.int64),
        Probabilities(np.array(logs), found, found),
        None if ranks is None else np.array(ranks, np.int32),
    )


def test_confidence() -> None:
    found = annotate(TEXT.encode(), trees(None, [-0.5, -1e-3], [1.0, 0.25, 0.99996])).decode()
    expected = TEXT.replace("# tree_prob = 0.5\n", "")
    expected = expected.replace("# text = No, = it\n", "# text = No, = it\n# tree_prob = 0.60653\n")
    expected = expected.replace("root\t_\t_\n", "root\t_\tArcProb=1.0000|LabelProb=1.0000\n")
    expected = expected.replace("A=1|LabelProb=0.1|B", "A=1|B|ArcProb=0.2500|LabelProb=0.2500")
    expected = expected.replace("ArcProb=0.3333", "ArcProb=1.0000|LabelProb=1.0000")
    assert found == expected.replace("\n\n1\t", "\n\n# tree_prob = 0.999\n1\t")


def test_ranks() -> None:
    found = annotate(TEXT.encode(), trees([1, 2], [-0.5, -1000.0], None)).decode()
    expected = TEXT.replace("# tree_prob = 0.5\n#rank=7\n", "").replace(
        "= it\n", "= it\n# rank = 1\n# tree_score = 3.2500\n# tree_prob = 0.60653\n"
    )
    second = "# rank = 2\n# tree_score = -0.0000\n# tree_prob = 5.07595e-435\n"
    assert found == expected.replace("\n\n1\t", f"\n\n{second}1\t")


def test_what_is_not_known_is_not_said() -> None:
    nobody = trees([1, 1], [np.nan, np.nan], [np.nan] * 3)
    found = annotate(TEXT.encode(), nobody).decode()
    assert "Prob=" not in found.replace("ArcProb=no", "").replace("\tArcProb=1\t", "")
    assert "tree_prob" not in found
    assert found.count("# rank = 1\n# tree_score = ") == 2
    assert found.endswith("root\t_\t_\n\n")
    assert annotate(found.encode(), nobody).decode() == found


@pytest.mark.parametrize("logarithm", [0.0, -1e-12, -1.0, -699.0, -701.0, -12345.678, -1e6])
def test_digits(logarithm: float) -> None:
    mantissa, _, exponent = written_probability(logarithm).partition("e")
    assert math.log(float(mantissa)) + int(exponent or 0) * math.log(10) == pytest.approx(logarithm, abs=1e-5)
