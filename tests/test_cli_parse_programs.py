"""`arcwise parse` by linear and integer programs: --decoder lp|ilp|price and their options."""

from __future__ import annotations

import pytest

from arcwise.treebank.reading import read_conllu
from tests.test_cli_parse_dual import DEV, model, parse  # noqa: F401

pytest.importorskip("highspy")


def test_price_and_integer_programs_prove_every_tree(parse):  # noqa: F811
    sentences = len(read_conllu(DEV))
    status, plain, err = parse(DEV, "--decoder", "price")
    assert status == 0
    assert f"proved best: {sentences} of {sentences} sentences; the linear program is integral for " in err
    assert "parts" in err
    assert "scored" in err
    assert parse(DEV, "--decoder", "price", "--jobs", 2)[1] == plain
    status, _, err = parse(DEV, "--decoder", "ilp", "--relaxation", "sums", "--connected", "multi-flow")
    assert status == 0
    assert f"proved best: {sentences} of {sentences} sentences" in err


def test_all_arcs_and_scores_on_demand(parse):  # noqa: F811
    every = parse(DEV, "--decoder", "price", "--no-prune")
    lazy = parse(DEV, "--decoder", "price", "--no-prune", "--lazy")
    assert every[0] == lazy[0] == 0
    assert "were scored (100.0%)" in every[2]
    assert "were scored (100.0%)" not in lazy[2]


def test_a_relaxation_leaves_a_gap_and_so_does_the_time_limit(parse):  # noqa: F811
    assert parse(DEV, "--decoder", "lp", "--relaxation", "pairs", "--connected", "single-flow")[0] == 0
    status, _, err = parse(DEV, "--decoder", "price", "--seconds", 0)
    assert status == 0
    assert "the largest gap is" in err
    assert f"{len(read_conllu(DEV))} programs ended by the time limit" in err


@pytest.mark.parametrize(
    "wrong",
    [
        ("--decoder", "price", "--connected", "multi-flow"),
        ("--no-prune",),
        ("--lazy", "--decoder", "ilp"),
        ("--decoder", "lp", "--relaxation", "tight"),
    ],
)
def test_what_does_not_go_together_is_refused(parse, wrong):  # noqa: F811
    status, out, err = parse(DEV, *wrong)
    assert status == 2
    assert not out
    assert "expected" in err or "tight" in err
