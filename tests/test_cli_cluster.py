from __future__ import annotations

import gzip
import io
import os
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray

from arcwise import InputError, cluster, read_clusters, read_conllu
from arcwise.cli import arcwise_command
from arcwise.clusters import brown, clustering, hidden_markov, split_merge
from arcwise.clusters.checkpoint import save_checkpoint

DATA = Path(__file__).parent / "data"


def run(*arguments: str | Path | int, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(arcwise_command, ["cluster", *map(str, arguments)], input=stdin)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Words as frequent as in texts; even words come after odd ones more often than not."""
    rng = np.random.default_rng(5)
    words = np.minimum(rng.zipf(1.3, 20_000), 500)
    words[1::2] += words[1::2] % 2
    path = tmp_path / "text.txt"
    lines = [" ".join(f"w{word}" for word in line) for line in words.reshape(-1, 20).tolist()]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_cluster(text, tmp_path):
    output = tmp_path / "clusters.tsv"
    result = run(text, "-o", output, "-c", 20)
    assert result.exit_code == 0, result.output
    clusters = read_clusters(output)
    assert len(set(clusters.bits.values())) == 20
    assert min(clusters.counts.values()) >= 3
    assert "1,000 sentences, 20,000 words: " in result.output
    assert f"{len(clusters.bits):,} different ones occur 3 times or more" in result.output
    assert "20 clusters, bit strings of " in result.output
    assert "mutual information of a pair: " in result.output
    assert f"clusters: {output}\n" in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clusters.tsv", "text.txt"]
    assert run(text, "-o", output, "-c", 20, "--quiet").output == ""


def test_corpora_are_read_as_one(text, tmp_path):
    whole, parts = tmp_path / "whole.tsv", tmp_path / "parts.tsv.gz"
    lines = text.read_bytes().splitlines(keepends=True)
    (tmp_path / "part.txt").write_bytes(b"".join(lines[:300]))
    assert run(text, "-o", whole, "-c", 20).exit_code == 0
    result = run(tmp_path / "part.txt", "-", "-o", parts, "-c", 20, stdin=b"".join(lines[300:]))
    assert result.exit_code == 0, result.output
    assert gzip.decompress(parts.read_bytes()) == whole.read_bytes()
    # The order of sentences does not matter.
    result = run("-", "-q", "-o", "-", "-c", 20, "--format", "text", stdin=b"".join(lines[::-1]))
    assert result.stdout_bytes == whole.read_bytes()


def test_few_words(tmp_path):
    output = tmp_path / "clusters.tsv"
    assert run("-", "-o", output, "--min-count", 1, stdin=b"\n\na b\n\n\na c\n").exit_code == 0
    assert set(read_clusters(output).bits) == {"a", "b", "c"}
    result = run("-", "-o", output, "--min-count", 1, stdin=b"a a a")
    assert result.exit_code == 0
    assert "only 1 different word for 1,000 clusters: each is a cluster of its own\n" in result.output
    assert "1 sentence, 3 words: 1 different one occurs 1 time or more, which is 100.00%" in result.output
    assert "1 cluster, bit strings of 1 bit\n" in result.output
    assert output.read_bytes() == b"0\ta\t3\n"
    assert run("-", "-o", output, "--min-count", 1, "-c", 1, stdin=b"a b a b").exit_code == 0
    assert output.read_bytes() == b"0\ta\t2\n0\tb\t2\n"


def test_fewer_words_than_clusters(tmp_path):
    """Each word is a cluster of its own, however many are asked for."""
    text, found = b"a b a c\n\n\nb a c a\n", []
    for number in (3, 4, 1000):
        result = run("-", "-o", tmp_path / f"{number}.tsv", "--min-count", 1, "-c", number, stdin=text)
        assert result.exit_code == 0, result.output
        assert "2 sentences, 8 words: 3 different ones occur 1 time or more" in result.output
        assert "3 clusters, bit strings of 1 to 2 bits" in result.output
        note = f"only 3 different words for {number:,} clusters: each is a cluster of its own\n"
        assert (note in result.output) == (number > 3)
        found.append((tmp_path / f"{number}.tsv").read_bytes())
    assert len(set(found)) == 1
    assert len(set(read_clusters(tmp_path / "3.tsv").bits.values())) == 3


def test_a_line_of_any_length_takes_little_memory(tmp_path):
    """1 MB, 20 MB: what is held is a piece of it, and the pairs."""
    words = [f"{k * k % 97:02d}{'x' * 48}" for k in range(400_000)]
    line, output = tmp_path / "line.txt", tmp_path / "clusters.tsv"
    for count, megabytes in ((20_000, 1), (400_000, 20)):
        line.write_text(" ".join(words[:count]))
        assert megabytes * 1_000_000 < line.stat().st_size < megabytes * 1_100_000
        tracemalloc.start()
        try:
            assert run(line, "-o", output, "-c", 10, "-q").exit_code == 0
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert sum(read_clusters(output).counts.values()) == count
    # The first run may also compile.
    assert peak < 16_000_000


def test_huge_words_and_columns(tmp_path):
    """A word of 1 MB is one; of 20 MB it is a mistake, which is found before all of it is read."""
    text, output = tmp_path / "text.txt", tmp_path / "clusters.tsv"
    text.write_text(f"{'x' * 1_000_000} y " * 3)
    assert run(text, "-o", output, "-q").exit_code == 0
    assert read_clusters(output).counts == {"x" * 1_000_000: 3, "y": 3}
    output.unlink()
    text.write_text("a b\n" + "x" * 20_000_000)
    assert str(run(text, "-o", output).exception) == (
        f"{text}:2: a word of more than 1 MiB, expected spaces between words"
    )
    treebank = tmp_path / "huge.conllu"
    treebank.write_text(f"1\t{'x' * 20_000_000}\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    assert str(run(treebank, "-o", output).exception) == (
        f"{treebank}:1: token 1: a line of more than 1 MiB, expected a shorter one"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["huge.conllu", "text.txt"]


@pytest.mark.parametrize(
    ("stdin", "message"),
    [
        (b"", "<stdin>: no words, expected more text"),
        (b"\n \n\n", "<stdin>: no words, expected more text"),
        (b"a b c\n", "<stdin>: no word occurs 3 times or more, expected more text"),
        (b"a b\nc \xff\n", "<stdin>:2: byte 3 of the line, 0xff, is not UTF-8, expected UTF-8"),
    ],
)
def test_bad_text(stdin, message, tmp_path):
    result = run("-", "-o", tmp_path / "clusters.tsv", stdin=stdin)
    assert isinstance(result.exception, InputError)
    assert str(result.exception) == message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("method", ["brown", "hmm"])
def test_too_little_text(method, tmp_path):
    output, message = tmp_path / "clusters.tsv", "no word occurs 1000 times or more, expected more text"
    options = ("--method", method, "--min-count", 1000, "-o", output)
    result = run(DATA / "train.conllu", *options)
    assert str(result.exception) == f"{DATA / 'train.conllu'}: {message}"
    result = run(DATA / "train.conllu", "-", *options, stdin=b"a\n")
    assert str(result.exception) == f"{DATA / 'train.conllu'} and 1 more: {message}"
    assert list(tmp_path.iterdir()) == []


def test_more_clusters_than_memory(tmp_path):
    text = " ".join(f"w{k}" for k in range(20_000)).encode()
    result = run("-", "-o", tmp_path / "clusters.tsv", "-c", 20_000, "--min-count", 1, stdin=text)
    assert str(result.exception) == "20,000 clusters need 16 GB of tables, expected 16,384 at most"
    result = run(DATA / "train.conllu", "-o", tmp_path / "clusters.tsv", "-c", 20_000, "--method", "hmm")
    assert str(result.exception) == "20,000 states, expected 4,096 at most"
    assert list(tmp_path.iterdir()) == []


def test_in_a_process_of_its_own(tmp_path):
    """One line, exit status 2, no traceback, nothing half-written."""
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"a b\n\xffc\n")
    command = [sys.executable, "-m", "arcwise", "cluster", str(bad), "-o", str(tmp_path / "out.tsv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"arcwise: {bad}:2: byte 1 of the line, 0xff, is not UTF-8, expected UTF-8\n"
    assert [path.name for path in tmp_path.iterdir()] == ["bad.txt"]


def test_bad_targets(text, tmp_path):
    for output, message in ((tmp_path, "a folder"), (tmp_path / "none" / "x.tsv", "no such folder")):
        for method in ("brown", "hmm"):  # the target is looked at first: there is no such text
            result = run(tmp_path / "none.txt", "--method", method, "-o", output)
            assert message in str(result.exception)
    assert run(text, "-o", "x", "--bits", 4, "--classes", 4).exit_code == 2
    assert run(text, "-o", "x", "-c", 0).exit_code == 2


def test_bad_arguments(text):
    for options, message in (
        ({"minimum": 0}, "minimum: 0, expected a whole number, 1 or more"),
        ({"clusters": 0}, "clusters: 0, expected"),
        ({"clusters": 1.5}, "clusters: 1.5, expected"),
        ({"method": "magic"}, "method 'magic', expected one of brown, hmm"),
        ({"method": "hmm", "by": "heads"}, "pairs of 'heads', expected neighbours"),
    ):
        with pytest.raises(InputError, match=message):
            cluster([text], **options)
    with pytest.raises(InputError, match="no words, expected more text"):
        cluster([])


def test_by_heads(tmp_path):
    output = tmp_path / "clusters.tsv"
    assert (
        run(DATA / "train.conllu", "--by", "heads", "--min-count", 1, "-c", 30, "-o", output).exit_code == 0
    )
    by_heads = read_clusters(output)
    assert run(DATA / "train.conllu", "--min-count", 1, "-c", 30, "-o", output).exit_code == 0
    by_neighbours = read_clusters(output)
    assert by_heads.counts == by_neighbours.counts
    assert by_heads.bits != by_neighbours.bits


def test_cut(text, tmp_path):
    full, cut = tmp_path / "full.tsv", tmp_path / "cut.tsv"
    run(text, "-o", full, "-c", 40)
    whole = read_clusters(full)
    run(text, "-o", cut, "-c", 40, "--bits", 3)
    assert read_clusters(cut).bits == {word: bits[:3] for word, bits in whole.bits.items()}
    result = run(text, "-o", cut, "-c", 40, "--classes", 6)
    found = read_clusters(cut)
    assert len(set(found.bits.values())) == 6
    assert "6 clusters, bit strings of " in result.output
    assert all(whole.bits[word].startswith(bits) for word, bits in found.bits.items())


def test_information_is_that_of_the_clusters_that_are_written(text, tmp_path):
    found = []
    for classes in (1, 2, 6, 40):
        result = run(text, "-o", tmp_path / "cut.tsv", "-c", 40, "--classes", classes)
        line = re.search(r"mutual information of a pair: ([\d.]+) bits by the clusters", result.output)
        assert line is not None
        found.append(float(line[1]))
    assert found[0] == 0
    assert found == sorted(set(found))
    assert found[-1] == round(cluster(text, clusters=40).information, 4)


def test_hidden_markov(tmp_path):
    output = tmp_path / "clusters.tsv"
    result = run(DATA / "train.conllu", "--method", "hmm", "-c", 25, "--min-count", 2, "-o", output)
    assert result.exit_code == 0, result.output
    assert "tags split into 25 states; log-likelihood of a word: -" in result.output
    assert f"{len(list(read_conllu(DATA / 'train.conllu'))):,} sentences, " in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clusters.tsv"]
    clusters = read_clusters(output)
    assert 10 < len(set(clusters.bits.values())) <= 25
    assert min(clusters.counts.values()) >= 2
    assert "<stdin>: no word has a tag" in str(
        run("-", "--method", "hmm", "-o", output, stdin=b"a a a").exception
    )
    assert run("-", "--method", "hmm", "--by", "heads", "-o", output, stdin=b"a a a").exit_code == 2


def interrupted_after(merges: int, monkeypatch) -> None:
    grow = brown._grow

    def interrupted(*arguments):
        grow(*arguments)
        if arguments[6] >= merges:
            monkeypatch.setattr(brown, "_grow", grow)
            raise KeyboardInterrupt

    monkeypatch.setattr(brown, "_grow", interrupted)


def test_resume(text, tmp_path, monkeypatch):
    whole, output = tmp_path / "whole.tsv", tmp_path / "clusters.tsv"
    run(text, "-o", whole, "-c", 20)
    monkeypatch.setattr(brown, "_STEPS", 7)
    interrupted_after(50, monkeypatch)
    result = run(text, "-o", output, "-c", 20)
    assert result.exit_code == 130
    assert "stopped: the same command with --resume goes on" in result.output
    checkpoint = tmp_path / "clusters.tsv.checkpoint"
    assert checkpoint.exists()
    assert not output.exists()

    # Other options, other text, and damage are refused, and leave the checkpoint as it is.
    kept = checkpoint.read_bytes()
    assert "a checkpoint of another text or other options" in str(
        run(text, "-o", output, "-c", 21, "--resume").exception
    )
    assert "a checkpoint of another text" in str(run("-", "-o", output, "--resume", stdin=b"a a a").exception)
    for damaged in (b"", kept[:100], kept[:-3], kept[:-1] + b"x", kept.replace(b"clustering", b"clusterinx")):
        checkpoint.write_bytes(damaged)
        error = run(text, "-o", output, "-c", 20, "--resume").exception
        assert "not a checkpoint of a clustering, or damaged: remove it to start anew" in str(error)
    checkpoint.write_bytes(kept)

    interrupted_after(120, monkeypatch)
    result = run(text, "-o", output, "-c", 20, "--resume")
    assert result.exit_code == 130
    assert "going on after 49 of " in result.output or "going on after 56 of " in result.output
    result = run(text, "-o", output, "-c", 20, "--resume")
    assert result.exit_code == 0, result.output
    assert output.read_bytes() == whole.read_bytes()
    assert not checkpoint.exists()
    result = run(text, "-o", output, "-c", 20, "--resume")
    assert "no checkpoint to go on from: starting anew" in result.output
    assert output.read_bytes() == whole.read_bytes()


def test_a_checkpoint_is_looked_at_first(tmp_path):
    (tmp_path / "clusters.tsv.checkpoint").write_text("damaged")
    result = run("no such text", "-o", tmp_path / "clusters.tsv", "--resume")
    assert "clusters.tsv.checkpoint: not a checkpoint of a clustering, or damaged" in str(result.exception)


def test_clusters_that_cannot_be_written_are_refused_at_once(tmp_path):
    (tmp_path / "clusters.tsv.checkpoint").mkdir()
    result = run("no such text", "-o", tmp_path / "clusters.tsv")
    assert "clusters.tsv.checkpoint: cannot write it: is a directory" in str(result.exception)


def hidden_interrupted_after(pieces: int, monkeypatch) -> None:
    expect, calls = hidden_markov.expect, 0

    def interrupted(*arguments):
        nonlocal calls
        expect(*arguments)
        calls += 1
        if calls == pieces:
            monkeypatch.setattr(split_merge, "expect", expect)
            raise KeyboardInterrupt

    monkeypatch.setattr(split_merge, "expect", interrupted)


def test_resume_hidden_markov(text, tmp_path, monkeypatch):
    whole, output = tmp_path / "whole.tsv", tmp_path / "clusters.tsv"
    checkpoint = tmp_path / "clusters.tsv.checkpoint"
    options = ("--method", "hmm", "-c", 40, "--min-count", 2)
    monkeypatch.setattr(split_merge, "_PIECE", 200)
    unbroken = run(DATA / "train.conllu", *options, "-o", whole)
    assert unbroken.exit_code == 0, unbroken.output

    # In the middle of a pass: at first there is nothing to go on from.
    hidden_interrupted_after(2, monkeypatch)
    result = run(DATA / "train.conllu", *options, "-o", output)
    assert result.exit_code == 130
    assert "--resume" not in result.output
    assert not checkpoint.exists()

    states: list[str] = []
    while result.exit_code == 130:
        if len(states) < 4:
            hidden_interrupted_after(120, monkeypatch)
        result = run(DATA / "train.conllu", *options, "-o", output, "--resume")
        assert checkpoint.exists() == (result.exit_code == 130)
        assert ("stopped: the same command with --resume goes on" in result.output) == checkpoint.exists()
        states += re.findall(r"going on with (\d+) of 40 states", result.output)
        if checkpoint.exists() and len(states) == 2:
            for others in ((*options, "-c", 41), ("-c", 40)):  # the latter is of Brown's algorithm
                refused = run(DATA / "train.conllu", *others, "-o", output, "--resume")
                assert "a checkpoint of another text or other options" in str(refused.exception)
    assert result.exit_code == 0, result.output
    assert len(set(states)) > 2
    assert output.read_bytes() == whole.read_bytes()
    likelihoods = [re.findall(r"log-likelihood.*", each.output) for each in (unbroken, result)]
    assert likelihoods[0] == likelihoods[1]


def test_an_old_checkpoint_is_no_promise(text, tmp_path, monkeypatch):
    """A run that was stopped before it kept anything cannot go on, whatever lies there."""
    checkpoint = tmp_path / "clusters.tsv.checkpoint"
    checkpoint.write_bytes(b"of long ago")

    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(clustering, "count_corpus", stop)
    result = run(text, "-o", tmp_path / "clusters.tsv")
    assert result.exit_code == 130
    assert "--resume" not in result.output
    assert checkpoint.read_bytes() == b"of long ago"


def test_checkpoints_are_written_now_and_then(text, tmp_path, monkeypatch):
    monkeypatch.setattr(clustering, "_SAVE_EVERY", 0.0)
    monkeypatch.setattr(brown, "_STEPS", 7)
    saved = []

    def save(path: Path, arrays: dict[str, NDArray[np.int32]], print_: str) -> None:
        saved.append(len(arrays["merges"]))
        save_checkpoint(path, arrays, print_)

    monkeypatch.setattr(clustering, "save_checkpoint", save)
    assert run(text, "-o", tmp_path / "clusters.tsv", "-c", 20).exit_code == 0
    assert saved[:3] == [7, 14, 21]


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_kill_leaves_a_checkpoint(text, tmp_path):
    output = tmp_path / "clusters.tsv"
    script = f"""
import os, signal
from arcwise.cli import main
from arcwise.clusters import brown
grow, calls = brown._grow, []
def watched(*arguments):
    grow(*arguments)
    calls.append(1)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIG{{}})
brown._grow, brown._STEPS = watched, 5
import sys
sys.argv = ["arcwise", "cluster", {str(text)!r}, "-o", {str(output)!r}, "-c", "20"]
main()
"""
    for name, status in (("TERM", 143), ("INT", 130)):
        done = subprocess.run(
            [sys.executable, "-c", script.format(name)], capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
        assert sorted(path.name for path in tmp_path.iterdir()) == ["clusters.tsv.checkpoint", "text.txt"]
    assert run(text, "-o", output, "-c", 20, "--resume").exit_code == 0
    kept = output.read_bytes()
    assert run(text, "-o", output, "-c", 20).exit_code == 0
    assert output.read_bytes() == kept


def test_from_python(text):
    result = cluster([io.BytesIO(text.read_bytes())], clusters=10)
    assert len(set(result.clusters.bits.values())) == 10
    assert 0 < result.information < result.of_words
    assert (result.sentences, result.tokens) == (1000, 20_000)
    for one in (text, str(text), io.BytesIO(text.read_bytes())):  # no list
        assert cluster(one, clusters=10) == result


def test_hidden_markov_from_python(tmp_path):
    output = tmp_path / "clusters.tsv"
    result = cluster(DATA / "train.conllu", output, method="hmm", clusters=20)
    assert read_clusters(output) == result.clusters
    assert result.hidden is not None
    assert result.hidden.hard() == result.clusters
    assert len(result.hidden.bits) == 20
    assert result.covered == sum(result.clusters.counts.values()) < result.tokens
