from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from arcwise import ArcwiseError, InputError, ModelError, load
from arcwise.cli import arcwise_command
from arcwise.evaluation.structure import measure_structure
from arcwise.pipeline.model import save_model
from arcwise.search.local_optima import count_local_optima
from arcwise.treebank.reading import BlockReader
from tests.pipeline.models import DATA, data_blocks, random_model
from tests.pipeline.models import SMALL as SMALL_MODEL
from tests.synthetic import synthetic_treebank

# The yields of 2 and 3, {2, 4} and {3, 5}, interleave; the second tree has two roots.
SMALL = """\
1	a	a	X	X	_	0	root	_	_
2	b	b	X	X	_	1	one	_	_
3	c	c	X	X	_	1	one	_	_
4	d	d	X	X	_	2	two	_	_
5	e	e	X	X	_	3	two	_	_

1	a	a	X	X	_	0	root	_	_
2	b	b	X	X	_	3	one	_	_
3	c	c	X	X	_	0	root	_	_

"""
CYCLE = """\
# text = a b
1	a	a	X	X	_	2	one	_	_
2	b	b	X	X	_	1	one	_	_

"""
HEADLESS = """\
# text = a b
1	a	a	X	X	_	_	_	_	_
2	b	b	X	X	_	1	one	_	_

"""


def analyze(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(arcwise_command, ["analyze", *map(str, arguments)], input=stdin)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.conllu"
    path.write_text(SMALL)
    return path


def test_json(small: Path) -> None:
    result = analyze(small, "--format", "json")
    assert result.exit_code == 0, result.output
    (report,) = json.loads(result.stdout)["treebanks"]
    assert report == {
        "name": str(small),
        "sentences": 2,
        "skipped": 0,
        "words": 8,
        "mean_length": 4.0,
        "median_length": 4.0,
        "longest": 5,
        "nonprojective_sentences": 1,
        "ill_nested_sentences": 1,
        "one_inherit_sentences": 1,
        "several_root_sentences": 1,
        "nonprojective_arcs": 2,
        "left_arcs": 1,
        "right_arcs": 4,
        "mean_arc_length": 1.6,
        "distinct_labels": 3,
        "percent": {
            "nonprojective_sentences": 50.0,
            "ill_nested_sentences": 50.0,
            "one_inherit_sentences": 50.0,
            "several_root_sentences": 50.0,
            "nonprojective_arcs": 25.0,
            "left_arcs": 20.0,
        },
        "well_nested_by_block_degree": {"1": 1},
        "ill_nested_by_block_degree": {"2": 1},
        "by_class": {
            "projective": 1,
            "1-inherit": 1,
            "2-well-nested": 1,
            "2": 2,
            "well-nested": 1,
            "any": 2,
        },
        "smallest_class": {"2": 100.0},
        "by_gap_degree": {"0": 1, "1": 1},
        "by_edge_degree": {"0": 1, "1": 1},
        "by_roots": {"1": 1, "2": 1},
        "by_length": {"3": 1, "5": 1},
        "by_arc_length": {"-1": 1, "1": 1, "2": 3},
        "labels": {"one": 3, "root": 3, "two": 2},
    }


def test_csv_holds_the_same_numbers(small: Path) -> None:
    (report,) = json.loads(analyze(small, "--format", "json").stdout)["treebanks"]
    rows = list(csv.DictReader(io.StringIO(analyze(small, "--format", "csv").stdout)))
    assert {row["treebank"] for row in rows} == {report.pop("name")}
    flat = {
        (measure, item): number
        for measure, value in report.items()
        for item, number in (value.items() if isinstance(value, dict) else [("", value)])
    }
    assert {(row["measure"], row["item"]): float(row["value"]) for row in rows} == flat


def test_text(small: Path) -> None:
    lines = analyze(small).stdout.splitlines()
    assert lines[0] == str(small)
    assert "block degree  well-nested      %  ill-nested      %" in lines
    assert "1                       1  50.00           0   0.00" in lines
    assert "2                       0   0.00           1  50.00" in lines
    assert ">4                      0   0.00           0   0.00" in lines
    assert "non-projective arcs                2  25.00" in lines
    assert "5-8            1  50.00  ██████████████████████████████" in lines
    assert "two       2  25.00" in lines
    assert all(line == line.rstrip() for line in lines)


def test_the_smallest_class(small: Path) -> None:
    lines = analyze(small).stdout.splitlines()
    assert "projective             1   50.00" in lines
    assert "2                      2  100.00  the smallest that covers 99%" in lines
    lines = analyze(small, "--cover", "50").stdout.splitlines()
    assert "projective             1   50.00  the smallest that covers 50%" in lines
    (report,) = json.loads(analyze(small, "--cover", "50", "--format", "json").stdout)["treebanks"]
    assert report["smallest_class"] == {"projective": 50.0}
    assert analyze(small, "--cover", "101").exit_code == 2


def test_several_files_and_all_of_them(small: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.conllu.gz"
    packed.write_bytes(gzip.compress(SMALL.encode()))
    report = json.loads(analyze(small, packed, "--format", "json").stdout)
    assert [one["name"] for one in report["treebanks"]] == [str(small), str(packed)]
    assert report["all"]["sentences"] == 4
    assert report["all"]["labels"] == {"one": 6, "root": 6, "two": 4}
    assert "all 2 treebanks" in analyze(small, packed).stdout


def test_standard_input() -> None:
    report = json.loads(analyze("-", "--format", "json", stdin=SMALL.encode()).stdout)
    assert report["treebanks"][0]["words"] == 8


@pytest.mark.parametrize(("bad", "line"), [(CYCLE, 12), (HEADLESS, 11)])
def test_bad_sentences_are_named_or_skipped(tmp_path: Path, bad: str, line: int) -> None:
    path = tmp_path / "bad.conllu"
    path.write_text(SMALL + bad)
    refused = analyze(path)
    assert refused.exit_code != 0
    assert isinstance(refused.exception, InputError)
    assert f"bad.conllu:{line}: " in str(refused.exception)
    skipped = analyze(path, "--skip-bad", "--format", "json")
    assert skipped.exit_code == 0
    assert f"skipped 1 sentences of {path}" in skipped.stderr
    (report,) = json.loads(skipped.stdout)["treebanks"]
    assert (report["sentences"], report["skipped"]) == (2, 1)
    assert report["labels"] == {"one": 3, "root": 3, "two": 2}


@pytest.mark.parametrize(("bad", "cause"), [(CYCLE, "a cycle"), (HEADLESS, "a word without a head")])
def test_a_reader_that_checks_no_trees_is_no_danger(bad: str, cause: str) -> None:
    blocks = list(BlockReader(io.BytesIO((SMALL + bad).encode()), format="conllu", check_trees=False))
    with pytest.raises(InputError, match=f":11: a sentence with {cause}, expected a tree"):
        measure_structure(blocks)
    assert measure_structure(blocks, skip_bad=True).skipped == 1


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    result = analyze(tmp_path / "none.conllu")
    assert isinstance(result.exception, InputError)
    assert "none.conllu" in str(result.exception)


def test_nothing_given() -> None:
    assert analyze().exit_code == 2


def test_help_has_an_example() -> None:
    shown = analyze("--help").stdout
    assert "arcwise analyze train.conllu dev.conllu" in shown
    assert "arcwise analyze test.conllu --local-optima --model en" in shown


def test_blocks_add_up(tmp_path: Path) -> None:
    path = tmp_path / "synthetic.conllu"
    path.write_text(synthetic_treebank(300, several_roots=0.2, nonprojective=0.3))
    one = measure_structure(BlockReader(path))
    blocks = list(BlockReader(path, block_bytes=4000))
    assert len(blocks) > 10
    assert measure_structure(blocks) == one


def test_the_published_figures(treebanks: Path) -> None:
    """The table of the treebanks' own README, every figure of it."""
    lines = (treebanks / "README.md").read_text().splitlines()
    table = lines[next(k for k, line in enumerate(lines) if "np sent %" in line) :]
    names, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table if line[:1] == "|"
    ]
    rows = [row for row in rows if len(row) == len(names) and row[1] in ("train", "dev", "test")]
    assert len(rows) == 52
    for row in rows:
        expected = dict(zip(names, row, strict=True))
        (file,) = (treebanks / expected["code"]).glob(f"{expected['split']}.*")
        structure = measure_structure(BlockReader(file))
        percent = 100 / structure.sentences
        degrees = dict.fromkeys(("1", "2", "3", ">3"), 0)
        for (degree, _), sentences in structure.block_degrees.items():
            degrees[str(degree) if degree <= 3 else ">3"] += sentences
        assert expected == {
            "code": expected["code"],
            "split": expected["split"],
            "sentences": str(structure.sentences),
            "words": str(structure.words),
            "np sent %": f"{structure.nonprojective_sentences * percent:.1f}",
            "np arcs %": f"{structure.nonprojective_arcs / structure.words * 100:.2f}",
            **{f"bd {degree}": f"{sentences * percent:.2f}" for degree, sentences in degrees.items()},
            "ill-nested %": f"{structure.ill_nested * percent:.2f}",
            "multi-root %": f"{structure.several_roots * percent:.1f}",
            "longest": str(structure.longest),
            "labels": str(len(structure.labels)),
        }


def test_on_a_terminal(small: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "arcwise", "analyze", str(small)]
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # how the end of a terminal shows itself
            while piece := os.read(ours, 4096):
                shown += piece
    os.close(ours)
    assert process.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    assert re.search(r"^ *>4 +0 +0\.00 +0 +0\.00 *\r?$", text, re.MULTILINE)
    assert "\x1b[" in shown.decode()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return saved(tmp_path)


def saved(folder: Path, single_root: bool = True, **settings: Any) -> Path:
    """The file of a model of random weights."""
    path = folder / "random.arcwise"
    blocks = data_blocks("dev.conllu")
    save_model(
        random_model(1, blocks, single_root=single_root, settings=replace(SMALL_MODEL, **settings)), path
    )
    return path


def test_local_optima(model: Path) -> None:
    result = analyze(DATA / "dev.conllu", "--local-optima", "--model", model, "--format", "json")
    assert result.exit_code == 0, result.output
    (report,) = json.loads(result.stdout)["treebanks"]
    (block,) = data_blocks("dev.conllu")
    scores = list(load(model).arc_scores(block))
    lengths = np.array([len(S) - 1 for S in scores])
    assert lengths.tolist() == np.diff(block.words).tolist()
    assert (report["sentences"], report["skipped"], report["most"]) == (len(block), 0, 10000)
    for kind, single_root in (("any_roots", False), ("one_root", True)):
        counts = np.array([count_local_optima(S, single_root=single_root) for S in scores])
        chosen = {"all": lengths > 0, "up_to_15": lengths <= 15, "over_15": lengths > 15}
        for words, among in chosen.items():
            told, one = report[f"{kind}_{words}"], counts[among]
            assert told["sentences"] == among.sum()
            assert told["more_than_most"] == (one > 10000).sum()
            if not among.any():
                continue
            assert told["mean_length"] == pytest.approx(lengths[among].mean())
            for percent in (50, 70, 90):
                assert (one <= told[f"optima_{percent}"]).mean() >= percent / 100
                assert (one < told[f"optima_{percent}"]).mean() < percent / 100
            assert told["one_optimum"] == (one == 1).sum()
            assert told["percent_one_optimum"] == pytest.approx(100 * (one == 1).mean())


def test_local_optima_as_text_and_csv(model: Path) -> None:
    arguments: list[str | Path] = [
        DATA / "dev.conllu",
        DATA / "dev.conllu",
        "--local-optima",
        "--model",
        model,
    ]
    text = analyze(*arguments, "--most", "1").stdout
    assert text.count("Local optima among trees with any number of roots") == 3
    assert text.count("Local optima among trees of one root") == 3
    assert "all 2 treebanks" in text
    assert re.search(r"^words +sentences +mean words +50% +70% +90% +one optimum +%$", text, re.MULTILINE)
    assert ">1" in text
    report = json.loads(analyze(*arguments, "--format", "json").stdout)
    assert report["all"]["sentences"] == 2 * report["treebanks"][0]["sentences"]
    rows = list(csv.DictReader(io.StringIO(analyze(*arguments[1:], "--format", "csv").stdout)))
    told = {(row["measure"], row["item"]): float(row["value"]) for row in rows}
    assert told["any_roots_all", "optima_90"] == report["treebanks"][0]["any_roots_all"]["optima_90"]


def test_local_optima_of_a_model_of_several_roots(tmp_path: Path) -> None:
    model = saved(tmp_path, single_root=False)
    text = analyze(DATA / "dev.conllu", "--local-optima", "--model", model).stdout
    assert "any number of roots" in text
    assert "of one root" not in text


def test_local_optima_need_no_trees(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "headless.conllu"
    path.write_text(HEADLESS + "1\tbad\n\n")
    arguments: list[str | Path] = [path, "--local-optima", "--model", model]
    assert isinstance(analyze(*arguments).exception, InputError)
    result = analyze(*arguments, "--skip-bad", "--format", "json")
    (report,) = json.loads(result.stdout)["treebanks"]
    assert (report["sentences"], report["skipped"]) == (1, 1)
    assert report["any_roots_over_15"]["sentences"] == 0
    assert "skipped 1 sentences" in result.stderr


def test_local_optima_of_a_sentence_that_is_parsed_in_pieces(
    model: Path, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcwise.pipeline.parser.LONGEST", 4)
    result = analyze(small, "--local-optima", "--model", model, "--format", "json")
    (report,) = json.loads(result.stdout)["treebanks"]
    assert (report["sentences"], report["skipped"]) == (1, 1)
    assert "skipped 1 sentences" in result.stderr
    assert "of more than 4 words" in result.stderr


def test_local_optima_of_other_models_are_refused(tmp_path: Path) -> None:
    others: list[tuple[dict[str, Any], str]] = [
        ({"search": "eisner"}, "trees by eisner"),
        ({"shape": "2"}, "trees of shape 2"),
    ]
    for settings, way in others:
        path = saved(tmp_path, **settings)
        error = analyze(DATA / "dev.conllu", "--local-optima", "--model", path).exception
        assert isinstance(error, ArcwiseError)
        assert f"this model finds {way}" in str(error)
        assert "local optima are counted only for first-order models of all trees" in str(error)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--local-optima"], "--local-optima needs the scores of a first-order model"),
        (["--model", "en"], "--model goes with --local-optima only"),
        (["--most", "5"], "--most goes with --local-optima only"),
        (["--local-optima", "--model", "en", "--cover", "90"], "--cover does not go with --local-optima"),
        (["--local-optima", "--model", "en", "--most", "0"], "--most"),
    ],
)
def test_options_that_do_not_go_together(small: Path, options: list[str], message: str) -> None:
    result = analyze(small, *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_missing_model_is_named(small: Path) -> None:
    error = analyze(small, "--local-optima", "--model", "none.arcwise").exception
    assert isinstance(error, ModelError)
    assert "none.arcwise: no such model" in str(error)
