from __future__ import annotations

import gzip
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcwise import Clusters, InputError, read_clusters, write_clusters

GOOD = b"00\tthe\t12\n01\ta\t7\n1\t\xc3\xa9t\xc3\xa9\t3\n"

words = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1, max_size=5)
entries = st.dictionaries(
    words, st.tuples(st.text("01", min_size=1, max_size=9), st.integers(0, 10**15)), min_size=1
)


@given(entries)
def test_round_trip(tmp_path_factory, entries):
    path = tmp_path_factory.mktemp("clusters") / "clusters.tsv"
    clusters = Clusters({w: b for w, (b, _) in entries.items()}, {w: n for w, (_, n) in entries.items()})
    write_clusters(clusters, path)
    assert read_clusters(path) == clusters
    lines = [line.split("\t")[0] for line in path.read_bytes().decode().split("\n")[:-1]]
    assert lines == sorted(lines)


def test_compressed(tmp_path):
    path = tmp_path / "clusters.tsv.gz"
    clusters = read_clusters(BytesIO(GOOD))
    write_clusters(clusters, path)
    assert gzip.decompress(path.read_bytes()) == GOOD
    assert read_clusters(path) == clusters
    assert clusters.bits["\u00e9t\u00e9"] == "1"
    assert clusters.counts["the"] == 12


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"", None, "an empty file, expected a bit string, a word and a count, separated by tabs"),
        (b"00\tthe\t12\n\n", 2, "an empty line, expected a bit string"),
        (b"00\tthe\n", 1, "2 columns, expected a bit string"),
        (b"00 the 12\n", 1, "1 column, expected a bit string"),
        (b"00\tthe\t12\t5\n", 1, "4 columns, expected"),
        (b"00\tthe\t12\n012\ta\t7\n", 2, "bit string '012', expected one or more of 0 and 1"),
        (b"\tthe\t12\n", 1, "bit string '', expected"),
        (b"00\t\t12\n", 1, "an empty word, expected a word"),
        (b"00\tthe\tmany\n", 1, "count 'many', expected a whole number"),
        (b"00\tthe\t-1\n", 1, "count '-1', expected"),
        (b"00\tthe\t\xc2\xb2\n", 1, "count '\u00b2', expected"),
        (b"00\tthe\t" + b"9" * 50 + b"\n", 1, "count '9999999999999999999999999999999999999999...'"),
        (b"00\tthe\t12\r\n\r\n", 2, "an empty line, expected a bit string"),
        (b"00\tthe\t12\r\r\n", 1, "count '12\\r', expected a whole number"),
        (b"\xef\xbb\xbf00\tthe\t12\n", 1, "a byte order mark, expected UTF-8 without one"),
        (b"00\tthe\t12\n01\tt\xffe\t1\n", 2, "byte 5 of the line, 0xff, is not UTF-8, expected UTF-8"),
        (b"00\tthe\t12\n01\ta\t7\n10\tthe\t1\n", 3, "'the' for the second time, after line 1"),
        (b"00\tthe\t12\n01\ta\t", 2, "count '', expected a whole number"),
        (b"00\tthe\t12\n01\ta", 2, "2 columns, expected a bit string"),
        (b"00\tthe\t12\n01", 2, "1 column, expected a bit string"),
        (b"00\tthe\t12\n01\tthe\t1", 2, "'the' for the second time, after line 1"),
    ],
)
def test_damaged_files(data, line, message, tmp_path):
    path = tmp_path / "clusters.tsv"
    path.write_bytes(data)
    with pytest.raises(InputError) as error:
        read_clusters(path)
    place = f"{path}:{line}: " if line else f"{path}: "
    assert str(error.value).startswith(place + message)


def test_files_made_elsewhere():
    expected = read_clusters(BytesIO(GOOD))
    for data in (GOOD[:-1], GOOD.replace(b"\n", b"\r\n"), GOOD.replace(b"\n", b"\r\n")[:-2]):
        assert read_clusters(BytesIO(data)) == expected


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_clusters(tmp_path / "none.tsv")


def test_what_cannot_be_read_back_is_not_written(tmp_path):
    path = tmp_path / "clusters.tsv"
    for word, bits in (("a\tb", "0"), ("a\nb", "0"), ("a", ""), ("\ud800", "0"), ("", "1")):
        with pytest.raises(InputError):
            write_clusters(Clusters({word: bits}, {word: 1}), path)
    with pytest.raises(InputError, match="no words, expected one or more with a cluster"):
        write_clusters(Clusters({}, {}), path)
    assert list(tmp_path.iterdir()) == []
