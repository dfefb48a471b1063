"""How often bigrams occur: numbers counted by hand, the command, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arcwise.clusters.files import Clusters
from arcwise.errors import InputError
from arcwise.experiments.bigrams import bigrams, classes, measure

BITS = {
    "the": "00000000",
    "a": "00000001",
    "cat": "01000000",
    "dog": "01000001",
    "sleeps": "1",
    "barks": "11000000",
}
TREES: dict[str, list[tuple[str, tuple[int, ...]]]] = {
    "train": [("the cat sleeps", (2, 3, 0)), ("The dog barks", (2, 3, 0)), ("the cat sleeps", (2, 3, 0))],
    "dev": [("the cat barks", (2, 3, 0)), ("a dog sleeps", (2, 3, 0)), ("axolotl barks", (2, 0))],
    "test": [("a cat", (2, 0))],
}


def write_treebank(folder: Path) -> Path:
    folder.mkdir()
    for part, trees in TREES.items():
        lines = []
        for words, heads in trees:
            for number, (word, head) in enumerate(zip(words.split(), heads, strict=True), 1):
                lines.append(f"{number}\t{word}\t_\t_\t_\t_\t{head}\tdep\t_\t_\n")
            lines.append("\n")
        (folder / f"{part}.conllu").write_text("".join(lines))
    return folder


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    return write_treebank(tmp_path / "bank")


@pytest.fixture
def clusters(tmp_path: Path) -> Path:
    (tmp_path / "toy.tsv").write_text("".join(f"{bits}\t{word}\t5\n" for word, bits in BITS.items()))
    return tmp_path / "toy.tsv"


def test_arcs_from_the_root_are_left_out(bank: Path) -> None:
    assert bigrams(bank / "train.conllu") == {
        ("cat", "the"): 2, ("sleeps", "cat"): 2, ("dog", "The"): 1, ("barks", "dog"): 1
    }  # fmt: skip


def test_numbers_counted_by_hand(bank: Path) -> None:
    """Of dev: cat-the, barks-cat, dog-a, sleeps-dog, barks-axolotl.

    Of words only cat-the occurs in train, twice. 8 bits tell all words apart that have clusters, but The is the: again only
    cat-the. 6 bits do not tell cat from dog, nor the from a: cat-the and dog-a are one bigram, thrice in train; barks-cat is
    barks-dog, once; sleeps-dog is sleeps-cat, twice; no word of train is without a cluster, so barks-axolotl does not occur.
    """
    counts = dict.fromkeys(BITS, 5)
    rows, frequencies = measure(bank / "train.conllu", bank / "dev.conllu", Clusters(BITS, counts))
    assert {grain: found.tolist() for grain, found in frequencies.items()} == {
        "words": [2, 0, 0, 0, 0], "8 bits": [2, 0, 0, 0, 0], "6 bits": [3, 3, 2, 1, 0]
    }  # fmt: skip
    assert rows["words"] == {
        "bigrams": 5, "unseen, %": 80.0, "unseen or no cluster, %": 80.0, "10%": 0, "25%": 0, "50%": 0, "75%": 0, "90%": 2
    }  # fmt: skip
    assert rows["6 bits"] == {
        "bigrams": 5, "unseen, %": 20.0, "unseen or no cluster, %": 20.0, "10%": 0, "25%": 1, "50%": 2, "75%": 3, "90%": 3
    }  # fmt: skip


def test_words_without_a_cluster_are_one_class(bank: Path) -> None:
    bits = {word: string for word, string in BITS.items() if word not in ("the", "a")}
    rows, frequencies = measure(
        bank / "train.conllu", bank / "dev.conllu", Clusters(bits, dict.fromkeys(bits, 5))
    )
    assert frequencies["8 bits"].tolist() == [2, 1, 0, 0, 0], "cat-the, and dog-a, which is dog-The"
    assert rows["8 bits"]["unseen, %"] == 60
    assert rows["8 bits"]["unseen or no cluster, %"] == 100


def test_lower_case_is_that_of_the_parser() -> None:
    assert classes(Clusters({"été": "0110", "ａ": "0111"}, {}), {"ÉTÉ", "Ａ"}, 3) == {"ÉTÉ": "011", "Ａ": ""}


def test_no_arcs(tmp_path: Path) -> None:
    file = tmp_path / "one.conllu"
    file.write_text("1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    with pytest.raises(InputError, match="no arcs between words"):
        bigrams(file)


def test_the_command(run: Any, bank: Path, clusters: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.md"
    results.write_text("<!-- bigrams bank -->\nold\n<!-- end of bigrams bank -->\n")
    table, picture = tmp_path / "bigrams.tsv", tmp_path / "bigrams.svg"
    arguments = ("bigrams", bank, "--clusters", clusters, "-o", table, "--write", results, "--plot", picture)
    status, out, err = run(*arguments)
    assert (status, err) == (0, f"drew {picture}\n")
    lines = out.splitlines()
    assert lines[0].startswith("| bank, dev bigrams in train | bigrams | unseen, % |")
    assert lines[-1] == "| 6 bits | 5 | 20.00 | 20.00 | 0 | 1 | 2 | 3 | 3 |"
    assert results.read_text().splitlines()[1:-1] == lines
    assert table.read_text().splitlines()[1].split("\t")[:3] == ["words", "5", "80.00"]
    drawn = picture.read_bytes()
    assert drawn.startswith(b"<?xml")
    assert run(*arguments)[1] == out
    assert picture.read_bytes() == drawn


def test_what_is_refused(run: Any, bank: Path, clusters: Path, tmp_path: Path) -> None:
    table, empty = tmp_path / "bigrams.tsv", tmp_path / "empty.tsv"
    empty.write_text("")
    for arguments, message in (
        ([bank, "-o", table], "Missing option '--clusters'"),
        ([bank, "--clusters", tmp_path / "none.tsv", "-o", table], "does not exist"),
        ([bank, "--clusters", empty, "-o", table], f"arcwise: {empty}: an empty file, expected a bit string"),
        ([bank, "--clusters", clusters], "Missing option '-o' / '--output'"),
        ([bank, "--clusters", clusters, "-o", table, "--plot", "out.gif"], "ends in .png, .svg or .pdf"),
        (
            [bank, "--clusters", clusters, "-o", table, "--write", empty],
            "no place for the table 'bigrams bank'",
        ),
        ([tmp_path / "none", "--clusters", clusters, "-o", table], "does not exist"),
    ):
        status, out, err = run("bigrams", *arguments)
        assert (status, out) == (2, "")
        assert message in err
    (bank / "dev.conllu").unlink()
    status, _, err = run("bigrams", bank, "--clusters", clusters, "-o", table)
    assert (status, err) == (2, f"arcwise: {bank}: 0 files dev*.conll*, expected one\n")
    assert not table.exists()
