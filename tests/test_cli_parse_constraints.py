"""`arcwise parse --constraints`, and constraints in the column MISC with --keep."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from arcwise.cli import main
from arcwise.pipeline.model import save_model
from arcwise.treebank.reading import read_conllu
from arcwise.trees.blocks import is_projective
from tests.pipeline.models import trained

DEV = Path(__file__).parent / "data" / "dev.conllu"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "first.arcwise"
    save_model(trained().model, path)
    return path


@pytest.fixture
def parse(monkeypatch, capfdbinary, model, tmp_path):
    """Run `arcwise parse` with the model and with rules; gives exit status, sentences, and standard error."""

    def run(*arguments, rules=None):
        if rules is not None:
            (tmp_path / "rules.txt").write_text(rules)
            arguments = (*arguments, "--constraints", tmp_path / "rules.txt")
        output = tmp_path / "output.conllu"
        command = ["arcwise", "parse", "--model", str(model), "-o", str(output), *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as ended:
            main()
        err = capfdbinary.readouterr().err.decode()
        assert "Traceback" not in err
        status = ended.value.code or 0
        return status, list(read_conllu(output)) if output.exists() else [], err

    return run


def test_rules_hold_for_all_sentences_or_for_some(parse):
    sentences = len(read_conllu(DEV))
    status, plain, err = parse(DEV)
    assert status == 0
    assert "constraints changed" not in err
    rules = "at-most-one det  # one is enough\n\n@2 root 1\n@nobody leaf 1\n@999 leaf 2\n"
    status, found, err = parse(DEV, rules=rules)
    assert status == 2  # of the two that are for no sentence; the others hold
    assert len(found) == sentences
    for sentence in found:
        heads = [sentence.heads[m] for m in range(1, len(sentence) + 1) if sentence.labels[m] == "det"]
        assert len(heads) == len(set(heads))
    numbers = [sentence.sent_id for sentence in found]
    assert all(number is None or not number.isdecimal() for number in numbers)
    assert found[1].heads[1] == 0
    changed = sum(str(a) != str(b) for a, b in zip(plain, found, strict=True))
    assert changed >= 1
    assert f"constraints changed the trees of {changed} sentence" in err
    assert "rules.txt: no sentence is @nobody (line 4) or @999 (line 5), expected the sent_id or" in err
    assert [str(s) for s in parse(DEV, "--jobs", 2, rules=rules)[1]] == [str(s) for s in found]


def test_a_sentence_is_selected_by_its_name(parse):
    name = read_conllu(DEV)[2].sent_id
    status, found, err = parse(DEV, rules=f"@{name} root 2\n")
    assert status == 0
    assert found[2].heads[2] == 0
    assert "no sentence is" not in err


def test_text_takes_constraints(parse):
    status, (sentence,), _ = parse(
        "--text", "The old king slept", rules="subtree 1-2\nlabels amod,det word=1\n"
    )
    assert status == 0
    assert sorted([sentence.heads[1] in (1, 2), sentence.heads[2] in (1, 2)]) == [False, True]
    assert sentence.labels[1] in ("amod", "det")


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("leaf 1\nsubtre 2-3\n", "rules.txt:2: 'subtre 2-3', expected a constraint: arc, "),
        ("@1 leaf 900\n", "dev.conllu:1: 'leaf 900' in a sentence of "),
        ("at-most-one nsubjj\n", "unknown label nsubjj in 'at-most-one nsubjj', expected labels of the model, such as nsubj"),
        ("leaf 2\n@1 root 1\n@1 arc 2 1\n", "dev.conllu:1: no tree has all of these together: "),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(parse, rules, message):
    status, _, err = parse(DEV, "-q", rules=rules)
    assert status == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_the_fewest_constraints_that_conflict_are_named(parse):
    status, _, err = parse(DEV, "-q", rules="leaf 3\nat-most-one det\n@1 root 1\n@1 arc 2 1\n")
    assert status == 2
    assert ":1: no tree has all of these together: root 1; arc 2 1 (in: " in err


@pytest.mark.parametrize("option", [["--nbest", 2], ["--min-risk"], ["--confidence"], ["--trace", "x.trace"]])
def test_only_the_best_tree_has_constraints(parse, option):
    status, _, err = parse(DEV, *option, rules="leaf 1\n")
    assert status == 2
    assert "--constraints goes with the best tree only" in err


def test_a_shape_goes_with_constraints(parse):
    status, found, _ = parse(DEV, "--shape", "projective", rules="at-most-one det\n@1 leaf 2\n")
    assert status == 0
    assert 2 not in found[0].heads
    assert all(is_projective(sentence.heads) for sentence in found)
    assert parse(DEV, "--shape", "round")[0] == 2


def test_misc_has_constraints_with_keep_only(parse, tmp_path):
    words = [
        ("The", "HeadOutside=1-2"),
        ("king", "Leaf=Yes"),
        ("slept", "SpaceAfter=No|NoHead=0"),
        (".", "_"),
    ]
    lines = [f"{i}\t{form}" + "\t_" * 7 + f"\t{misc}\n" for i, (form, misc) in enumerate(words, 1)]
    source = tmp_path / "given.conllu"
    source.write_text("".join(lines) + "\n")
    status, (sentence,), _ = parse(source, "--keep")
    assert status == 0
    assert 2 not in sentence.heads
    assert sentence.heads[1] not in (1, 2)
    assert sentence.heads[3] != 0
    assert sentence.misc == ["", *(misc for _, misc in words)]
    assert parse(source)[1][0].heads[1] == 2
    source.write_text("".join(lines).replace("Leaf=Yes", "Subtree=0-x") + "\n")
    status, _, err = parse(source, "--keep")
    assert status == 2
    assert "given.conllu:1: token 2: Subtree=0-x in MISC, expected Subtree=FIRST-LAST" in err
    assert parse(source)[0] == 0
