"""`arcwise bench` runs on tiny sizes and reports every figure; what it measures is not judged here."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arcwise.bench import charts, clusters, parsing, text_peers
from arcwise.bench.clusters import Size, make_text
from arcwise.bench.row import Row, times_as_fast
from arcwise.bench.text import find_peer, without_tags
from arcwise.bench.text_peers import UDPipe, train_udpipe
from arcwise.bench.timing import medians, run_python
from arcwise.bench.treebank import find_treebank, make_sentences, make_treebank
from arcwise.cli.bench import command
from arcwise.errors import ArcwiseError, InputError, ModelError
from arcwise.pipeline.model import Settings, load_model, save_model
from arcwise.pipeline.training import train
from arcwise.treebank.reading import read_string


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    folder.mkdir()
    make_treebank(folder, share=0.01)
    return folder


def bench(*arguments: str | Path) -> str:
    result = CliRunner().invoke(command, ["--rounds", "1", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def measured(*arguments: str | Path) -> list[dict[str, Any]]:
    report = json.loads(bench(*arguments, "--json"))
    assert {"date", "processor", "system", "packages", "peers"} <= report["machine"].keys()
    for row in report["rows"]:
        assert row["unit"]
        # A time of next to nothing may seem to shrink as sentences grow.
        assert row["ours"] > 0 or (row["ours"] == 0 and row["unit"] == "%") or row["unit"] == "(exponent)"
        assert row["reached"] in (True, False, None)
    assert len({(row["name"], row["peer"]) for row in report["rows"]}) == len(report["rows"])
    return list(report["rows"])


def test_search():
    rows = measured("search")
    assert len(rows) == 3 * (4 + 2) + 2
    beside = {row["peer"] for row in rows}
    assert {"ufal.chu_liu_edmonds", "plain column argmax", "vectorised argmax", "jobs=1"} < beside
    assert all(row["peer_value"] is None for row in rows if "torch-struct or" in row["peer"])


def test_sums():
    rows = measured("sums")
    assert {row["name"].split(",")[0] for row in rows} == {"marginals", "projective marginals"}
    assert {row["unit"] for row in rows} == {"us"}


def test_charts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(charts, "rows", partial(charts.rows, lengths=(3, 4, 6, 8)))  # 80 words take long
    rows = measured("charts")
    assert len(rows) == 5 * (4 + 2) + 2 * 2
    assert {row["unit"] for row in rows} == {"ms", "(exponent)"}
    assert all(row["peer"] == "" for row in rows)


def test_clusters(monkeypatch: pytest.MonkeyPatch):
    large = (Size(3000, 200, 10), Size(3000, 200, 20))
    monkeypatch.setattr(clusters, "rows", partial(clusters.rows, beside=Size(2000, 120, 10), large=large))
    installed = find_spec("brown_clustering") is not None
    time, kept, *larger = measured("clusters")
    assert [row["peer"] for row in larger] == ["counting the pairs alone"] * 2
    assert all(row["peer_value"] < row["ours"] for row in larger)
    assert (time["peer_value"] is not None) == (kept["peer_value"] is not None) == installed
    assert 10 < kept["ours"] < 100
    if installed:  # both look for the same clusters
        assert kept["peer_value"] == pytest.approx(kept["ours"], abs=0.1)

    monkeypatch.setattr(clusters, "import_module", missing)
    time, kept, *_ = measured("clusters")
    assert time["peer_value"] is kept["peer_value"] is None


def test_text_to_be_clustered():
    text = make_text(Size(5000, 400, 10))
    assert text == make_text(Size(5000, 400, 10))
    lines = [line.split() for line in text.splitlines()]
    assert {len(line) for line in lines} == {20}
    assert len(lines) == 250
    assert 300 < len({word for line in lines for word in line}) <= 400


def test_reading_a_treebank_and_made_up_text(treebank: Path):
    assert [row["target"] for row in measured("reading", "--treebank", treebank)] == ["8 times as fast"] * 2
    assert len(measured("reading")) == 2


def test_peers_that_cannot_read_a_file_are_left_out(tmp_path: Path):
    for part in ("train", "test"):
        (tmp_path / f"{part}.conll").write_text("1\tGo\tgo\tV\tV\t_\t0\troot\t_\t_\n\n")
    assert {row["peer"] for row in measured("reading", "--treebank", tmp_path)} == {""}


def test_training_and_parsing(treebank: Path, monkeypatch: pytest.MonkeyPatch):
    # With an empty cache, as asked for, half a minute would go into compiling.
    monkeypatch.setattr(parsing, "run_python", lambda *command, environment=None: run_python(*command))
    rows = {row["name"]: row for row in measured("parsing", "training", "--treebank", treebank)}
    assert rows["training on tiny: CPU time"]["target"] == "none"  # the target is that of another treebank
    assert (
        rows["UAS of the trained model on tiny test"]["ours"] > 20
    )  # twenty sentences teach little, but more than chance
    assert rows["parsing tiny test, one thread"]["unit"] == "words/s"
    assert rows["parsing tiny train, two threads (elapsed)"]["peer"] == "one thread"
    assert {"first tree from the shell, warm (elapsed)", "model file"} < rows.keys()


def test_orders(treebank: Path, tiny_model: Path, tmp_path: Path):
    small = load_model(tiny_model).settings
    chart = tmp_path / "chart.arcwise"
    settings = replace(small, search="model1", pruning="projective", part_bits=8)
    train(
        treebank / "train.conllu", output=chart, epochs=1, label_epochs=1, settings=settings, gold_tags=True
    )
    rows = measured("orders", "--treebank", treebank, "--model", chart, "--beside", tiny_model)
    kept, heads, oracle, uas, speed = (row["ours"] for row in rows)
    assert 0 < kept <= 100
    assert 1 <= heads <= small.most_heads
    assert uas <= oracle <= 100
    assert speed > 0
    assert rows[-1]["peer"] == "first order"
    with pytest.raises(InputError, match="expected a chart"):
        bench("orders", "--treebank", treebank, "--model", tiny_model)
    assert CliRunner().invoke(command, ["orders"]).exit_code == 2


def test_words_are_given_without_what_is_to_be_predicted():
    conllu = "".join(make_sentences(20))
    stripped = read_string(without_tags(conllu))
    assert [sentence.forms for sentence in stripped] == [sentence.forms for sentence in read_string(conllu)]
    columns = {
        tuple(line.split("\t")[2:9]) for line in without_tags(conllu).splitlines() if line[:1].isdigit()
    }
    assert columns == {("_",) * 7}
    assert without_tags(
        "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tX=1\n1.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t0:root\t_\n"
    ) == ("1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tX=1\n1.1\tgo\t_\t_\t_\t_\t_\t_\t_\t_\n")


@pytest.fixture
def tiny_model(treebank: Path) -> Path:
    settings = Settings(coarse_bits=8, arc_bits=8, label_bits=8, tag_bits=8)
    train(
        treebank / "train.conllu",
        None,
        treebank / "tiny.arcwise",
        epochs=1,
        label_epochs=1,
        settings=settings,
    )
    return treebank / "tiny.arcwise"


def test_text_beside_udpipe(treebank: Path, tiny_model: Path):
    pytest.importorskip("ufal.udpipe")
    # The smallest networks that it can train.
    stages = {
        "tokenizer": "epochs=1;early_stopping=0;dimension=16",
        "tagger": "iterations=1;models=1",
        "parser": "iterations=1;hidden_layer=10",
    }
    files = []
    for name in stages:
        files.append(treebank / f"{name}.udpipe")
        options = dict.fromkeys(stages, "none") | {name: stages[name]}
        train_udpipe(treebank / "train.conllu", treebank / "dev.conllu", files[-1], **options)
    with pytest.raises(InputError, match="no tagger"):
        UDPipe([files[0], files[2]])
    with pytest.raises(InputError, match="not a model of UDPipe 1"):
        UDPipe([treebank / "train.conllu"])
    with pytest.raises(InputError, match="no such file"):
        UDPipe([treebank / "none.udpipe"])
    given = [part for file in files for part in ("--udpipe", file)]
    rows = measured("text", "--treebank", treebank, "--model", tiny_model, *given)
    assert all(row["peer_value"] is not None for row in rows if row["peer"] == "UDPipe")
    assert next(row["ours"] for row in rows if row["name"].startswith("UPOS")) > 50  # its endings tell
    assert [row["name"] for row in rows if row["peer"] == ""] == [
        f"text to trees, tiny test: {step} alone" for step in ("tokenising", "tagging", "parsing")
    ]


def missing(name: str) -> None:
    """In place of `import_module`: nothing is installed."""
    raise ImportError(name)


def test_udpipe_is_left_out_if_not_wanted_or_not_installed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_peers, "import_module", missing)
    assert find_peer(("any.udpipe",)) == ("UDPipe", ("any.udpipe",), None)
    assert find_peer(()) == ("", (), None)


def test_text_needs_a_treebank_raw_text_and_a_tagger(treebank: Path, tiny_model: Path, tmp_path: Path):
    result = CliRunner().invoke(command, ["text"])
    assert result.exit_code == 2
    assert "--treebank" in result.output
    for part in ("train", "test"):
        (tmp_path / f"{part}.conllu").write_text("1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n\n")
    with pytest.raises(InputError, match="where its text has spaces"):
        bench("text", "--treebank", tmp_path, "--model", tiny_model)
    model = load_model(tiny_model)
    save_model(replace(model, tagger=None), tmp_path / "untagged.arcwise")
    with pytest.raises(ModelError, match="without a tagger"):
        bench("text", "--treebank", treebank, "--model", tmp_path / "untagged.arcwise")


def test_text_and_markdown(treebank: Path):
    text = bench("reading", "--treebank", treebank)
    assert text.startswith("date: ")
    assert "conllu.parse_incr" in text
    lines = bench("reading", "--treebank", treebank, "--markdown").splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + 2
    assert len({line.count("|") for line in table}) == 1


def test_unknown_names_and_missing_files_are_refused(tmp_path: Path):
    result = CliRunner().invoke(command, ["searching"])
    assert result.exit_code == 2
    assert "searching" in result.output
    with pytest.raises(InputError, match="no train file"):
        bench("reading", "--treebank", tmp_path)
    (tmp_path / "train.conllu").touch()
    with pytest.raises(InputError, match="no test file"):
        find_treebank(tmp_path)
    (tmp_path / "a-train.conllu").touch()
    with pytest.raises(InputError, match="2 files for train"):
        find_treebank(tmp_path)


def test_made_up_text_is_a_treebank():
    sentences = read_string("".join(make_sentences(50, seed="a")))  # refuses cycles and missing roots
    assert len(sentences) == 50
    assert all("root" in sentence.labels for sentence in sentences)
    assert list(make_sentences(5, seed="a")) == list(make_sentences(5, seed="a"))


def test_actions_take_turns_after_a_round_to_warm_up():
    calls: list[str] = []
    spent = medians({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=2)
    assert calls == ["a", "b"] * 3
    assert spent.keys() == {"a", "b"}


def test_what_a_process_cost():
    cost = run_python("-c", "sum(range(10**6))")
    assert cost.cpu > 0
    assert 1 < cost.memory < 100_000
    run_python("-c", "import os; assert os.environ['COLD'] == '1'", environment={"COLD": "1"})
    with pytest.raises(ArcwiseError, match="ValueError: no"):
        run_python("-c", "raise ValueError('no')")


def test_ratio_is_above_one_where_ours_is_better():
    assert Row("time", 2.0, "s", "peer", 3.0).ratio == 1.5
    assert Row("rate", 3.0, "words/s", "peer", 2.0).ratio == 1.5
    assert Row("alone", 3.0, "s").ratio is None
    assert times_as_fast(2.0, 3.0, 1.7)[1] is False
