"""Tables as files and in Markdown."""

from __future__ import annotations

from pathlib import Path

from arcwise.experiments.tables import Count, markdown, with_mean, write_table

ROWS = {"aa": {"UAS dev": 80.0, "seconds": 0.00012}, "bb": {"UAS dev": 91.255, "seconds": 0.0}}


def test_a_file(tmp_path: Path) -> None:
    write_table(tmp_path / "table.tsv", "treebank", ROWS)
    assert (tmp_path / "table.tsv").read_text().splitlines() == [
        "treebank\tUAS dev\tseconds", "aa\t80.00\t0.00012", f"bb\t{91.255:.2f}\t0.00",
    ]  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["table.tsv"]


def test_some_columns_and_the_mean() -> None:
    lines = list(markdown("UAS", with_mean(ROWS), "UAS "))
    assert lines[:2] == ["| UAS | dev |", "|---|---:|"]
    assert lines[-1] == f"| mean | {(80 + 91.255) / 2:.2f} |"


def test_whole_numbers_are_shown_as_such_only_if_they_are_counts() -> None:
    lines = list(markdown("words", {"aa": {"count": Count(12), "mean": 12, "share": True}}))
    assert lines[-1] == "| aa | 12 | 12.00 | 1.00 |"
