"""`arcwise parse` with --confidence, --nbest and --min-risk."""

from __future__ import annotations

import json
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import arcwise.cli.parse
import arcwise.pipeline.parser
from arcwise import load, train
from arcwise.cli import main
from arcwise.pipeline.model import Settings
from arcwise.treebank.reading import BlockReader, read_conllu, read_string
from tests.synthetic import synthetic_treebank

DATA = Path(__file__).parent / "data"
DEV = DATA / "dev.conllu"
OURS = re.compile(r"\|?(ArcProb=[01]\.\d{4})\|(LabelProb=[01]\.\d{4})$")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "small.arcwise"
    settings = Settings(coarse_bits=12, arc_bits=16, label_bits=10, tag_bits=14)
    train(DATA / "train.conllu", output=path, epochs=2, label_epochs=1, settings=settings, jobs=2)
    return path


@pytest.fixture
def parse(monkeypatch, capfdbinary, model):
    """Run `arcwise parse` with the small model; gives exit status, standard output and standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["arcwise", "parse", "--model", str(model), *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfdbinary.readouterr()
        assert b"Traceback" not in err
        return ended.value.code or 0, out.decode(), err.decode()

    return run


def without_probabilities(text: str) -> str:
    """What `arcwise parse` writes without being asked for more."""
    lines = []
    for line in text.split("\n"):
        if line.startswith(("# tree_prob", "# rank", "# tree_score")):
            continue
        columns = line.split("\t")
        if columns[0].isdigit():
            assert OURS.search(columns[-1])
            columns[-1] = OURS.sub("", columns[-1]) or "_"
        lines.append("\t".join(columns))
    return "\n".join(lines)


def test_confidence_adds_and_changes_nothing_else(parse):
    status, plain, _ = parse(DEV)
    assert status == 0
    for jobs in (1, 3):
        status, sure, err = parse(DEV, "--confidence", "--jobs", jobs)
        assert status == 0
        assert without_probabilities(sure) == plain
        assert sure.count("# tree_prob = ") == len(read_conllu(DEV))
        assert err.startswith(f"parsed {len(read_conllu(DEV))} sentences, ")


def test_confidence_replaces_what_is_there(parse, tmp_path):
    (tmp_path / "sure.conllu").write_text(parse(DEV, "--confidence")[1])
    again = parse(tmp_path / "sure.conllu", "--confidence")[1]
    assert again == (tmp_path / "sure.conllu").read_text()


def test_confidences_are_those_of_the_parser(parse, model):
    parsed = load(model)(read_conllu(DEV))
    written = list(read_string(parse(DEV, "--confidence")[1]))
    for sentence, expected in zip(written, parsed, strict=True):
        found = [float(misc.partition("ArcProb=")[2][:6]) for misc in sentence.misc[1:]]
        assert expected.confidences is not None
        assert found == pytest.approx(expected.confidences[1:].tolist(), abs=1.01e-4)


def test_raw_text(parse, model):
    text = "My uncle doesn't know. Who knows him?"
    for options in (["--confidence"], ["--nbest", 2, "--confidence"], ["--min-risk", "--confidence"]):
        status, out, _ = parse("--text", text, *options)
        assert status == 0
        assert out.count("ArcProb=") == out.count("LabelProb=") == sum(map(len, read_string(out))) > 8
    assert "SpaceAfter=No|ArcProb=" in out
    status, out, _ = parse("--text", text, "--confidence", "-f", "json")
    assert all(0 <= word["arc_prob"] <= 1 for line in out.splitlines() for word in json.loads(line)["words"])


def test_json(parse):
    columns = list(read_string(parse(DEV, "--confidence", "--nbest", 2)[1]))
    objects = [
        json.loads(line) for line in parse(DEV, "--confidence", "--nbest", 2, "-f", "json")[1].splitlines()
    ]
    for found, sentence in zip(objects, columns, strict=True):
        assert list(found) == ["sent_id", "text", "words", "score", "rank", "tree_prob"]
        comments = dict(comment[2:].split(" = ", 1) for comment in sentence.comments if " = " in comment)
        assert str(found["rank"]) == comments["rank"]
        assert found["score"] == pytest.approx(float(comments["tree_score"]), abs=1e-4)
        assert found["tree_prob"] == pytest.approx(float(comments["tree_prob"]), rel=1e-5)
        for word, misc in zip(found["words"], sentence.misc[1:], strict=True):
            assert list(word)[-3:] == ["deprel", "arc_prob", "label_prob"]
            written = [float(entry.partition("=")[2]) for entry in misc.split("|")[-2:]]
            assert written == pytest.approx([word["arc_prob"], word["label_prob"]], abs=1.01e-4)
    (found,) = (
        json.loads(line) for line in parse("--text", "Go on!", "--nbest", 1, "-f", "json")[1].splitlines()
    )
    assert list(found) == ["sent_id", "text", "words", "score", "rank", "tree_prob"]
    assert list(found["words"][0])[-1] == "deprel"


def test_n_best_trees_begin_with_the_best(parse, monkeypatch):
    plain = parse(DEV)[1]
    outputs = {parse(DEV, "--nbest", 3, "--jobs", jobs)[1] for jobs in (1, 3)}
    monkeypatch.setattr(arcwise.cli.parse, "_BLOCK_BYTES", 3000)
    outputs.add(parse(DEV, "--nbest", 3, "--jobs", 2)[1])
    (out,) = outputs
    sentences = out.split("\n\n")
    firsts = [sentence for sentence in sentences if "# rank = 1\n" in sentence or not sentence]
    kept = [
        line
        for line in "\n\n".join(firsts).split("\n")
        if not re.match("# (rank|tree_score|tree_prob) = ", line)
    ]
    assert "\n".join(kept) == plain
    assert len(sentences) > 2.5 * len(firsts)
    scores = re.findall(r"# rank = (\d+)\n# tree_score = (.+)\n# tree_prob = (.+)\n", out)
    together = 0.0
    for (_, before, _), (rank, score, probability) in pairwise([("0", "inf", "0"), *scores]):
        together = float(probability) + (together if rank != "1" else 0.0)
        assert together <= 1
        assert rank == "1" or float(before) >= float(score)


def test_fewer_trees_than_asked_for(parse):
    status, out, err = parse("--text", "Go on!", "--nbest", 10_000)
    assert status == 0
    trees = re.findall(r"# rank = (\d+)\n.*\n# tree_prob = (.*)\n", out)
    assert [int(rank) for rank, _ in trees] == list(range(1, len(trees) + 1))
    assert len(trees) in range(2, 10)
    assert 0 < sum(float(probability) for _, probability in trees) <= 1  # with other labels there are more
    assert err.startswith("parsed 1 sentence, 3 words in")


def test_minimum_risk(parse, model, tmp_path):
    parser = load(model)
    with BlockReader(DEV) as reader:
        expected = b"".join(
            parser.with_trees(block, parser.parse_block(block, min_risk=True)).tobytes() for block in reader
        ).decode()
    assert parse(DEV, "--min-risk", "-j", 2)[1] == expected
    assert without_probabilities(parse(DEV, "--min-risk", "--confidence")[1]) == expected
    assert expected != parse(DEV)[1]


def test_kept_arcs_are_certain(parse, tmp_path):
    (tmp_path / "half.conllu").write_text(
        re.sub(r"\t\d+\t[a-z:]+(\t\S+\t\S+\n)", r"\t_\t_\1", DEV.read_text(), count=40)
    )
    for options in (["--confidence"], ["--nbest", 2, "--confidence"], ["--min-risk", "--confidence"]):
        status, out, _ = parse(tmp_path / "half.conllu", "--keep", *options)
        assert status == 0
        last = list(read_string(out))[-1]
        assert all("ArcProb=1.0000|LabelProb=1.0000" in misc for misc in last.misc[1:])
        (certain,) = (float(comment.split()[-1]) for comment in last.comments if "tree_prob" in comment)
        assert certain >= 0.999999
        assert "ArcProb=0." in out


def test_tags_anew(parse):
    plain = parse(DEV, "--retag")[1]
    assert without_probabilities(parse(DEV, "--retag", "--confidence")[1]) == plain


def test_long_sentences_have_no_probabilities(parse, monkeypatch):
    monkeypatch.setattr(arcwise.pipeline.parser, "LONGEST", 6)
    status, out, err = parse(DEV, "--confidence", "--nbest", 2)
    assert status == 0
    assert "parsed in pieces" in err
    for sentence in read_string(out):
        probable = any(comment.startswith("# tree_prob") for comment in sentence.comments)
        assert probable == ("ArcProb=" in sentence.misc[1]) == (len(sentence) <= 6)
        assert probable or "# rank = 1" in sentence.comments
    status, out, _ = parse(DEV, "--confidence", "-f", "json")
    for line in out.splitlines():
        found = json.loads(line)
        assert (
            (found["tree_prob"] is None)
            == (found["words"][0]["arc_prob"] is None)
            == (len(found["words"]) > 6)
        )


def test_older_formats_have_no_place_for_probabilities(parse, tmp_path):
    for name in ("conllx", "conll2008", "conll2009"):
        for options in (["--confidence"], ["--nbest", 2]):
            status, out, err = parse(DATA / f"{name}.conll", *options, "-o", tmp_path / "out")
            assert (status, out) == (2, "")
            assert (
                f"{' '.join(map(str, options))} with {name}: the format has no place for probabilities" in err
            )
            assert not (tmp_path / "out").exists()
        plain = parse(DATA / f"{name}.conll", "-f", "conllu")[1]
        assert (
            without_probabilities(parse(DATA / f"{name}.conll", "-f", "conllu", "--confidence")[1]) == plain
        )
        several = parse(DATA / f"{name}.conll", "-f", "conllu", "--nbest", 2)[1]
        assert several.count("# rank = 1\n") == plain.count("\n\n")
        assert parse(DATA / f"{name}.conll", "--min-risk")[0] == 0


def test_pictures_of_several_trees(parse):
    for picture in ("tree", "svg", "latex", "dot"):
        assert parse("--text", "Go on!", "--nbest", 2, "-f", picture)[0] == 0
        status, _, err = parse("--text", "Go on!", "--confidence", "-f", picture)
        assert status == 2
        assert f"--confidence with -f {picture}: pictures do not show it" in err
    first, second = parse("--text", "Go on!", "--nbest", 2, "-f", "tree")[1].strip().split("\n\n")
    assert re.match(r"rank 1, tree_score [\d.-]+, tree_prob 0\.\d+\n", first)
    assert second.startswith("rank 2, ")


def test_what_excludes_each_other(parse):
    status, _, err = parse(DEV, "--nbest", 2, "--min-risk")
    assert status == 2
    assert "--nbest and --min-risk exclude each other" in err
    for bad in ("0", "-1", "x", "10001"):
        assert parse(DEV, "--nbest", bad)[0] == 2


def test_many_blocks(parse, tmp_path):
    (tmp_path / "large.conllu").write_text(synthetic_treebank(300))
    outputs = {parse(tmp_path / "large.conllu", "--confidence", "--jobs", jobs)[1] for jobs in (1, 2)}
    assert len(outputs) == 1
