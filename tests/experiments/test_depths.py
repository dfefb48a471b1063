"""How deep and how frequent clusters are: numbers counted by hand, the command, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arcwise.clusters.files import Clusters
from arcwise.errors import InputError
from arcwise.experiments.depths import WHOLE, cuts, depth_table, table

# Bit strings, words and counts: six clusters, of 40, 30, 10, 10, 8 and 2 words of the text.
LINES = [
    ("0", "the", 40), ("10", "and", 30), ("110000000", "cat", 7), ("110000000", "dog", 3), ("110000001", "axolotl", 10),
    ("1101", "sees", 8), ("111", "!", 2),
]  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "toy.tsv").write_text("".join(f"{bits}\t{word}\t{count}\n" for bits, word, count in LINES))
    return tmp_path / "toy.tsv"


def clusters() -> Clusters:
    return Clusters({word: bits for bits, word, _ in LINES}, {word: count for _, word, count in LINES})


def test_numbers_counted_by_hand() -> None:
    found = cuts(clusters())
    assert found[WHOLE].depths.tolist() == [1, 2, 9, 9, 4, 3]
    assert found[WHOLE].frequencies.tolist() == [40, 30, 10, 10, 8, 2]
    for length in (4, 6, 8):  # the two clusters of depth 9 are one class
        assert found[f"{length} bits"].depths.tolist() == [1, 2, length, 4, 3]
        assert found[f"{length} bits"].frequencies.tolist() == [40, 30, 20, 8, 2]
    for classes in (16, 64, 256):  # more than there are clusters
        assert found[f"{classes} of equal frequency"].frequencies.tolist() == [40, 30, 10, 10, 8, 2]
    row = table(found)["4 bits"]
    assert list(row.values())[:-1] == [5, 1, 3, 4, 40.0, 20.0, 2.0]
    assert table(found)[WHOLE]["depth, median"] == 4, "of six the fourth"
    assert depth_table(found[WHOLE]) == {
        "1": {"clusters": 1, "% of the clusters": pytest.approx(100 / 6), "% of the text": 40.0},
        "2": {"clusters": 1, "% of the clusters": pytest.approx(100 / 6), "% of the text": 30.0},
        "3": {"clusters": 1, "% of the clusters": pytest.approx(100 / 6), "% of the text": 2.0},
        "4": {"clusters": 1, "% of the clusters": pytest.approx(100 / 6), "% of the text": 8.0},
        "9": {"clusters": 2, "% of the clusters": pytest.approx(100 / 3), "% of the text": 20.0},
    }


def test_the_perplexity_of_equally_frequent_classes_is_their_number() -> None:
    bits = {f"{number:04b}": f"{number:04b}" for number in range(16)}
    rows = table(cuts(Clusters(bits, dict.fromkeys(bits, 3))))
    assert [row["perplexity"] for row in rows.values()] == [pytest.approx(16)] * len(rows)


def test_classes_of_equal_frequency_are_less_uneven() -> None:
    """A tree that grows at one side: every bit parts off a cluster, all equally frequent."""
    bits = {str(depth): "1" * depth + "0" for depth in range(40)}
    rows = table(cuts(Clusters(bits, dict.fromkeys(bits, 1))))
    assert rows["4 bits"]["classes"] == 5
    assert rows["16 of equal frequency"]["classes"] == 16
    assert rows["16 of equal frequency"]["perplexity"] > 2 * rows["4 bits"]["perplexity"]


def test_counts_of_zero() -> None:
    with pytest.raises(InputError, match="all counts are 0"):
        cuts(Clusters({"a": "0", "b": "1"}, {"a": 0, "b": 0}))
    row = table(cuts(Clusters({"a": "0", "b": "1"}, {"a": 8, "b": 0})))[WHOLE]
    assert (row["perplexity"], row["% of the text, least frequent"]) == (1, 0)


def test_the_command(run: Any, file: Path, tmp_path: Path) -> None:
    output, picture, results = (tmp_path / name for name in ("depths.tsv", "depths.svg", "results.md"))
    results.write_text("<!-- depths toy -->\n<!-- end of depths toy -->\n")
    arguments = ("depths", "--clusters", file, "-o", output, "--plot", picture)
    status, out, err = run(*arguments, "--write", results)
    assert (status, err) == (0, f"drew {picture}\n")
    lines = out.splitlines()
    assert lines[0].startswith("| toy, classes cut by | classes | depth, least |")
    assert lines[2].startswith("| 4 bits | 5 | 1 | 3 | 4 | 40.00 | 20.00 | 2.00 |")
    assert lines[-1] == "| 9 | 2 | 33.33 | 20.00 |"
    assert results.read_text().splitlines()[1:-1] == lines
    assert output.read_text().splitlines()[-1].split("\t")[:5] == [WHOLE, "6", "1", "4", "9"]
    drawn = picture.read_bytes()
    assert run(*arguments)[1] == out
    assert picture.read_bytes() == drawn
    assert run(*arguments, "--name", "other")[1].startswith("| other, classes cut by |")


def test_one_cluster(run: Any, tmp_path: Path) -> None:
    (tmp_path / "one.tsv").write_text("0\tthe\t1\n")
    status, out, _ = run(
        "depths", "--clusters", tmp_path / "one.tsv", "-o", tmp_path / "o.tsv", "--plot", tmp_path / "o.png"
    )
    assert status == 0
    assert "| whole strings | 1 | 1 | 1 | 1 | 100.00 | 100.00 | 100.00 | 1.00 |" in out


def test_what_is_refused(run: Any, file: Path, tmp_path: Path) -> None:
    output, bad = tmp_path / "depths.tsv", tmp_path / "bad.tsv"
    bad.write_text("012\tthe\t7\n")
    (tmp_path / "empty.tsv").write_text("")
    for arguments, message in (
        (["-o", output], "Missing option '--clusters'"),
        (["--clusters", tmp_path / "none.tsv", "-o", output], "does not exist"),
        (["--clusters", tmp_path / "empty.tsv", "-o", output], "empty.tsv: an empty file, expected"),
        (
            ["--clusters", bad, "-o", output],
            f"arcwise: {bad}:1: bit string '012', expected one or more of 0 and 1",
        ),
        (["--clusters", file, "-o", tmp_path / "none" / "depths.tsv"], "none"),
        (["--clusters", file, "-o", output, "--write", tmp_path / "none.md"], "cannot read it: no such file"),
    ):
        status, out, err = run("depths", *arguments)
        assert (status, out) == (2, "")
        assert message in err
    assert not output.exists()
