"""`arcwise decode`, from file to text."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pytest

from arcwise import Scores, decode, k_best
from arcwise.cli import main
from arcwise.evaluation.traces import Trace, read_trace_file
from arcwise.treebank.reading import read_conllu


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    matrices = {
        "b first": rng.normal(size=(5, 5)),
        "a": rng.normal(size=(9, 9)),
        "c": rng.normal(size=(2, 3, 3)),
    }
    np.savez(tmp_path / "scores.npz", allow_pickle=False, **matrices)
    return tmp_path / "scores.npz", matrices


@pytest.fixture
def arcwise(monkeypatch, capfdbinary):
    """Run the command line; gives exit status, standard output and standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["arcwise", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfdbinary.readouterr()
        return ended.value.code or 0, out.decode(), err.decode()

    return run


def test_heads(scores, arcwise):
    path, matrices = scores
    status, out, _ = arcwise("decode", path)
    assert status == 0
    expected = [("b first", matrices["b first"]), ("a", matrices["a"])]
    expected += [("c[0]", matrices["c"][0]), ("c[1]", matrices["c"][1])]
    lines = [line.split("\t") for line in out.splitlines()]
    assert [line[0] for line in lines] == [name for name, _ in expected]
    for (_, score, heads), (_, S) in zip(lines, expected, strict=True):
        parse = decode(S)
        assert float(score) == parse.score
        assert list(map(int, heads.split())) == parse.heads[1:].tolist()


def test_options_and_json(scores, arcwise):
    path, matrices = scores
    options = ["--projective", "--multi-root", "--required", "0,2", "--forbidden", "0,1", "--k-best", "2"]
    status, out, _ = arcwise("decode", path, "--format", "json", *options)
    assert status == 0
    first = [json.loads(line) for line in out.splitlines()][:2]
    parses = k_best(
        matrices["b first"], 2, projective=True, single_root=False, required=[(0, 2)], forbidden=[(0, 1)]
    )
    assert first == [
        {"name": "b first", "score": parse.score, "heads": parse.heads[1:].tolist(), "rank": rank}
        for rank, parse in enumerate(parses, start=1)
    ]


def test_conllu_into_a_file(scores, arcwise, tmp_path):
    path, matrices = scores
    out = tmp_path / "trees.conllu"
    assert arcwise("decode", path, "--format", "conllu", "--jobs", 2, "-o", out) == (0, "", "")
    text = out.read_text()
    assert text.startswith("# sent_id = b first\n# score = ")
    assert len(list(read_conllu(out))) == 4
    heads = [line.split("\t")[6] for line in text.split("\n\n")[1].splitlines()[2:]]
    assert list(map(int, heads)) == decode(matrices["a"]).heads[1:].tolist()


def test_one_matrix_in_a_npy(arcwise, tmp_path):
    np.save(tmp_path / "one.npy", [[0, 5, 4], [0, 0, 3], [0, 9, 0]])
    assert arcwise("decode", tmp_path / "one.npy") == (0, "scores\t13.0\t2 0\n", "")


def test_bad_files_are_named(arcwise, tmp_path):
    def refused(name: str, *expected: str) -> None:
        status, _, err = arcwise("decode", tmp_path / name, "-o", tmp_path / "out")
        assert status == 2
        assert "Traceback" not in err
        for part in (name, *expected):
            assert part in err
        assert not (tmp_path / "out").exists()

    good = np.zeros((3, 3))
    refused("missing.npz", "No such file")
    (tmp_path / "text.npz").write_text("not a zip")
    refused("text.npz", "cannot read")
    (tmp_path / "empty.npz").touch()
    refused("empty.npz", "cannot read")
    np.savez(tmp_path / "cut.npz", a=good, b=good)
    (tmp_path / "cut.npz").write_bytes((tmp_path / "cut.npz").read_bytes()[:-40])
    refused("cut.npz", "cannot read")
    np.savez(tmp_path / "objects.npz", a=good, b=np.array([None]))
    refused("objects.npz", "'b'")
    np.savez(tmp_path / "nan.npz", a=good, b=np.full((3, 3), np.nan))
    refused("nan.npz", "'b'", "arc from 0 to 1 is nan")
    np.savez(tmp_path / "shape.npz", a=good, b=np.zeros((3, 4)))
    refused("shape.npz", "'b'", "(3, 4)")
    np.savez(tmp_path / "vector.npz", a=good, b=np.zeros(3))
    refused("vector.npz", "'b'", "(3,)")
    np.savez(tmp_path / "none.npz", a=good, b=np.full((3, 3), -np.inf))
    refused("none.npz", "'b'", "word 1 has no allowed head")


def test_bad_arcs_are_refused(scores, arcwise):
    path, _ = scores
    for arc in ("x", "1", "1,2,3"):
        status, _, err = arcwise("decode", path, "--required", arc)
        assert status == 2
        assert "as in 0,3" in err
    assert "expected a head in 0..4" in arcwise("decode", path, "--forbidden", "9,1")[2]


def test_help_has_an_example(arcwise):
    status, out, _ = arcwise("decode", "--help")
    assert status == 0
    assert "arcwise decode scores.npz" in out


def test_tables_of_parts(arcwise, tmp_path):
    rng = np.random.default_rng(0)
    S, siblings = rng.normal(size=(5, 5)), rng.normal(size=(5, 5, 5))
    path = tmp_path / "parts.npz"
    arrays = {
        "arcs": S, "siblings": siblings, "a/arcs": S, "a/siblings": -siblings, "alone/arcs": S, "plain": S,
    }  # fmt: skip
    np.savez(path, allow_pickle=False, **arrays)
    status, out, _ = arcwise("decode", path, "--projective")
    lines = [line.split("\t") for line in out.splitlines()]
    expected: dict[str, Any] = {
        "scores": Scores(S, siblings=siblings), "a": Scores(S, siblings=-siblings), "alone/arcs": S, "plain": S,
    }  # fmt: skip
    assert status == 0
    assert sorted(line[0] for line in lines) == sorted(expected)
    for name, score, heads in lines:
        parse = decode(expected[name], projective=True)
        assert float(score) == parse.score
        assert heads.split() == [str(h) for h in parse.heads[1:]]
    assert arcwise("decode", path, "--projective", "--decoder", "sibling")[1] == out
    assert arcwise("decode", path, "--projective", "--decoder", "model0")[0] == 2  # it knows no siblings
    status, _, err = arcwise("decode", path, "--k-best", 2)
    assert status == 2
    assert "projective=True" in err
    np.savez(path, arcs=S, siblings=S)
    status, _, err = arcwise("decode", path, "--projective")
    assert status == 2
    assert "siblings of shape (5, 5)" in err


def test_all_trees_of_parts(tmp_path, arcwise):
    rng = np.random.default_rng(3)
    arcs, siblings = rng.normal(size=(6, 6)), rng.normal(size=(6, 6, 6))
    np.savez(tmp_path / "parts.npz", arcs=arcs, siblings=siblings)
    status, out, _ = arcwise("decode", tmp_path / "parts.npz", "--format", "json")
    assert status == 0
    best, found = decode(Scores(arcs, siblings=siblings)), json.loads(out)
    assert found["heads"] == best.heads[1:].tolist()
    assert found["certified"]
    assert found["bound"] == found["score"] == best.score
    options = ["--decoder", "dual", "--no-exact", "--iterations", "1", "--format", "json"]
    status, out, _ = arcwise("decode", tmp_path / "parts.npz", *options)
    assert status == 0
    assert json.loads(out)["bound"] >= best.score


def test_trees_of_a_class(tmp_path, arcwise):
    S = np.random.default_rng(4).normal(size=(9, 9))
    np.savez(tmp_path / "scores.npz", one=S, two=S.T.copy())
    for name, options in (
        ("2-well-nested", {"block_degree": 2, "well_nested": True}),
        ("1-inherit", {"one_inherit": True}),
    ):
        status, out, _ = arcwise("decode", tmp_path / "scores.npz", "--shape", name, "--format", "json")
        assert status == 0
        found = [json.loads(line) for line in out.splitlines()]
        assert [one["heads"] for one in found] == [decode(T, **options).heads[1:].tolist() for T in (S, S.T)]
        assert all(one["certified"] for one in found)
    for bad in (
        ["--shape", "round"],
        ["--shape", "2", "--k-best", "2"],
        ["--shape", "2", "--decoder", "eisner"],
    ):
        status, _, err = arcwise("decode", tmp_path / "scores.npz", *bad)
        assert status == 2
        assert "shape" in err or "eisner" in err


def test_constraints(tmp_path, arcwise):
    S = np.random.default_rng(5).normal(size=(6, 6))
    np.savez(tmp_path / "scores.npz", one=S, two=S)
    rules = tmp_path / "rules.txt"
    rules.write_text("leaf 2\n@two root 4\n@1 subtree 3-5\n@three root 1\n")
    status, out, err = arcwise("decode", tmp_path / "scores.npz", "--constraints", rules)
    assert status == 2
    wishes = [["leaf 2", "subtree 3-5"], ["leaf 2", "root 4"]]
    expected = [decode(S, constraints=own).heads[1:].tolist() for own in wishes]
    assert [[int(h) for h in line.split("\t")[2].split()] for line in out.splitlines()] == expected
    assert "rules.txt: no array is called @three (line 4), expected the name or the number of one" in err
    rules.write_text("leaf 2\n@two root 4\n@1 subtree 3-5\n")
    assert arcwise("decode", tmp_path / "scores.npz", "--constraints", rules) == (0, out, "")
    rules.write_text("root 1\nroot 2\n")
    status, out, err = arcwise("decode", tmp_path / "scores.npz", "--constraints", rules)
    assert (status, out) == (2, "")
    assert "'one'" in err
    assert "root 1; root 2" in err
    assert arcwise("decode", tmp_path / "scores.npz", "--constraints", rules, "--k-best", "2")[0] == 2


def test_a_file_without_arrays_is_refused(tmp_path, arcwise):
    np.savez(tmp_path / "none.npz")
    status, out, err = arcwise("decode", tmp_path / "none.npz")
    assert (status, out) == (2, "")
    assert err == f"arcwise: {tmp_path / 'none.npz'}: no arrays, expected at least one\n"


def test_climbing_has_bounds(scores, arcwise):
    path, _ = scores
    status, out, _ = arcwise(
        "decode", path, "--decoder", "climb", "--restarts", 3, "--start", "uniform", "--seed", 7, "-f", "json"
    )
    assert status == 0
    found = [json.loads(line) for line in out.splitlines()]
    assert [one["certified"] for one in found] == [one["bound"] == one["score"] for one in found]
    assert found[0]["certified"]
    out = arcwise("decode", path, "--decoder", "climb", "--no-exact", "-f", "json")[1]
    assert "bound" not in out


def test_a_budget_is_a_limit(tmp_path, arcwise):
    """So few nodes that not all trees of the class are proved best; more, and they are."""
    rng = np.random.default_rng(1)
    np.savez(tmp_path / "s.npz", *rng.normal(size=(12, 11, 11)))
    options = ["decode", tmp_path / "s.npz", "--shape", "2-well-nested", "-f", "json"]
    proved = [
        [json.loads(line)["certified"] for line in arcwise(*options, *limit)[1].splitlines()]
        for limit in (["--budget", 1], ["--seconds", 0], ["--budget", 20_000])
    ]
    assert [all(each) for each in proved] == [False, False, True]


def test_a_trace_is_written(tmp_path, arcwise):
    cube = np.random.default_rng(1).normal(size=(6, 6, 6))
    np.savez(
        tmp_path / "parts.npz",
        **{"b/arcs": cube[0], "b/siblings": cube, "a/arcs": cube[1], "a/siblings": cube},
    )
    status, out, _ = arcwise("decode", tmp_path / "parts.npz", "--trace", tmp_path / "t.trace")
    trace = read_trace_file(tmp_path / "t.trace")
    assert status == 0
    assert isinstance(trace, Trace)
    assert [sentence.id for sentence in trace.sentences] == [line.split("\t")[0] for line in out.splitlines()]
    assert [str(sentence.score) for sentence in trace.sentences] == [
        line.split("\t")[1] for line in out.splitlines()
    ]
    assert arcwise("decode", tmp_path / "parts.npz", "--trace", "-")[0] == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--rule", "paper"], "rule with decoder 'spanning-tree', expected one of the decoders"),
        (["--iterations", 5], "iterations with decoder 'spanning-tree', expected one of the decoders"),
        (["--relaxation", "pairs"], "relaxation with decoder 'spanning-tree', expected one of the decoders"),
        (["--seed", 5], "seed with decoder 'spanning-tree', expected decoder 'climb' for it"),
        (["--trace", "t.trace"], "trace with decoder 'spanning-tree', expected decoder 'dual' for it"),
        (["--k-best", 2, "--no-exact"], "--no-exact with --k-best, expected one of them"),
        (["--k-best", 2, "--seconds", 5], "--seconds with --k-best, expected one of them"),
    ],
)
def test_options_that_would_do_nothing_are_refused(scores, arcwise, monkeypatch, options, told):
    monkeypatch.chdir(scores[0].parent)
    status, out, err = arcwise("decode", scores[0], *options)
    assert (status, out) == (2, "")
    assert told in err
