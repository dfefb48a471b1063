"""Models with word clusters: of every order, stored, repeated, resumed, and refused when something is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arcwise import Clusters, cluster, read_clusters, write_clusters
from arcwise.errors import ArcwiseError, InputError, ModelError
from arcwise.features.cluster_templates import CLUSTER_ARCS
from arcwise.pipeline.model import FULL, Model, Settings, load_model, read_sealed, save_model
from arcwise.pipeline.options import Options
from arcwise.pipeline.parser import Parser, load
from arcwise.treebank.reading import read_conllu, read_string
from arcwise.treebank.sentence import Sentence
from tests.clusters.test_lookup import plain
from tests.pipeline.models import DATA, Recorder, is_tree, quick
from tests.pipeline.test_model import resealed
from tests.pipeline.test_training import InterruptedRunError, Killer

TINY = Settings(coarse_bits=10, arc_bits=12, label_bits=7, tag_bits=10, part_bits=12, tensor_bits=8)
ORDERS: dict[str, dict[str, Any]] = {
    "first": {},
    "grandchild": {"search": "dual-grandchild"},
    "carreras": {"search": "carreras", "pruning": "projective"},
    "model1": {"search": "model1", "pruning": "projective"},
    "full": {"search": FULL, "climb": True, "tensor": 5},
}


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clusters") / "clusters.tsv"
    cluster([DATA / "train.conllu"], path, clusters=30, minimum=1)
    return path


def treebank(sentences: int = 25, file: str = "train.conllu") -> list[Sentence]:
    return [sentence for sentence in read_conllu(DATA / file) if len(sentence) < 15][:sentences]


def short(clusters: Path, output: Path | None = None, **options: Any) -> Parser:
    defaults: dict[str, Any] = {
        "epochs": 1, "label_epochs": 1, "settings": TINY, "clusters": clusters, "frequent": 20,
    }  # fmt: skip
    chosen = defaults | options
    if chosen["settings"].climb or chosen["settings"].search == FULL:
        chosen["restarts"] = 2
    if chosen["clusters"] is None and "frequent" not in options:
        del chosen["frequent"]
    return quick(treebank(), treebank(8, "dev.conllu"), output, **chosen)


@pytest.fixture(scope="module")
def tagging(clusters: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of first order with a tagger."""
    path = tmp_path_factory.mktemp("tagging") / "model"
    short(clusters, path, gold_tags=False, epochs=3)
    return path


def with_arrays(model: Model, **changed: np.ndarray) -> Model:
    return replace(
        model, arrays=model.arrays | {f"clusters.{name}": array for name, array in changed.items()}
    )


@pytest.mark.parametrize("order", ORDERS)
def test_every_order(clusters: Path, tmp_path: Path, order: str) -> None:
    settings, dev = replace(TINY, **ORDERS[order]), treebank(12, "dev.conllu")
    parser = short(clusters, tmp_path / "one", settings=settings)
    assert parser.model.settings.clusters
    found = parser(dev)
    assert all(is_tree(sentence.heads.tolist()) for sentence in found)
    assert str(load(tmp_path / "one")(dev)) == str(found)
    save_model(load_model(tmp_path / "one"), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "one").read_bytes()

    short(clusters, tmp_path / "other", settings=settings, jobs=3)
    assert (tmp_path / "other").read_bytes() == (tmp_path / "one").read_bytes()

    # Trees are scored by clusters, too.
    grains = parser.model.arrays["clusters.grains"]
    moved = Parser(with_arrays(parser.model, grains=np.roll(grains, 5, axis=0)))(dev)
    assert [sentence.score for sentence in moved] != [sentence.score for sentence in found]


def test_a_tagger_and_any_number_of_threads(clusters: Path, tagging: Path, tmp_path: Path) -> None:
    short(clusters, tmp_path / "model", gold_tags=False, epochs=3, jobs=3)
    assert (tmp_path / "model").read_bytes() == tagging.read_bytes()
    parser = load(tagging)
    assert parser.tagger is not None
    assert len(parser.tagger.clusters.grains) == 30
    text = "Mary didn't see him. Who did? Émile's 3 cans"
    assert str(parser(text)) == str(Parser(load_model(tagging))(text))


def test_other_seeds_cuts_and_frequent_words_give_other_models(
    clusters: Path, tagging: Path, tmp_path: Path
) -> None:
    different: list[dict[str, Any]] = [
        {},
        {"seed": 1},
        {"cluster_cut": "frequency"},
        {"frequent": 0},
        {"words": 5},
    ]
    contents = set()
    for number, options in enumerate(different):
        short(clusters, tmp_path / str(number), **options)
        contents.add((tmp_path / str(number)).read_bytes())
    assert len(contents) == len(different)


# Interrupted and continued


@pytest.fixture
def interrupted(clusters: Path, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "model"
    with pytest.raises(InterruptedRunError):
        short(clusters, path, gold_tags=False, epochs=3, watcher=Killer("trees", 2))
    assert not path.exists()
    yield path
    assert not path.exists() or not Path(f"{path}.checkpoint").exists()


def test_resume(clusters: Path, tagging: Path, interrupted: Path) -> None:
    recorder = Recorder()
    short(clusters, interrupted, gold_tags=False, epochs=3, resume=True, jobs=2, watcher=recorder)
    assert "going on after epoch 1 of the trees" in recorder.notes
    assert interrupted.read_bytes() == tagging.read_bytes()


def test_resume_with_the_same_clusters_elsewhere(
    clusters: Path, tagging: Path, interrupted: Path, tmp_path: Path
) -> None:
    shutil.copy(clusters, tmp_path / "moved.tsv")
    short(tmp_path / "moved.tsv", interrupted, gold_tags=False, epochs=3, resume=True)
    assert interrupted.read_bytes() == tagging.read_bytes()


def test_resume_with_other_clusters_is_refused(clusters: Path, interrupted: Path, tmp_path: Path) -> None:
    found = read_clusters(clusters)
    first, *_, second = found.bits
    assert found.bits[first] != found.bits[second]
    other = tmp_path / "other.tsv"
    write_clusters(found._replace(bits=found.bits | {first: found.bits[second]}), other)
    content = Path(f"{interrupted}.checkpoint").read_bytes()
    for path, options in (
        (other, {}),
        (None, {}),
        (clusters, {"frequent": 19}),
        (clusters, {"words": 19}),
        (clusters, {"cluster_cut": "frequency"}),
    ):
        with pytest.raises(ModelError, match="a checkpoint of other data or other options"):
            short(path, interrupted, gold_tags=False, epochs=3, resume=True, **options)  # type: ignore[arg-type]
    assert Path(f"{interrupted}.checkpoint").read_bytes() == content


# What is stored


def drop(names: list[str], header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    for name in names:
        del arrays[f"clusters.{name}"]


def test_models_without_their_clusters_are_refused(clusters: Path, tagging: Path, tmp_path: Path) -> None:
    for model in (load_model(tagging), short(clusters).model):
        assert load(resealed(tmp_path, lambda header, arrays: None, model)).labels == model.names
        for names in (["keys", "of", "grains"], ["keys"], ["keys", "grains"]):
            with pytest.raises(ModelError, match=f"{tmp_path / 'wrong'}: .*clusters.* missing$"):
                load(resealed(tmp_path, partial(drop, names), model))
        for name in ("of", "grains"):
            with pytest.raises(ModelError, match=rf"can use: .*clusters\.{name} is missing"):
                load(resealed(tmp_path, partial(drop, [name]), model))


def test_models_with_damaged_clusters_are_refused(clusters: Path, tmp_path: Path) -> None:
    model = short(clusters).model
    for name in ("keys", "of", "grains"):
        array = model.arrays[f"clusters.{name}"]
        for wrong in (array[:-1].copy(), array.astype(np.float64), array[None].copy()):
            save_model(with_arrays(model, **{name: wrong}), tmp_path / "model")
            with pytest.raises(ModelError, match=r"can use: .*clusters"):
                load(tmp_path / "model")
    save_model(with_arrays(model, grains=model.arrays["clusters.grains"][:0]), tmp_path / "model")
    with pytest.raises(ModelError, match=r"can use: .*clusters"):
        load(tmp_path / "model")


def test_models_without_clusters_are_written_as_they_were(tmp_path: Path) -> None:
    parser = short(None, tmp_path / "model", gold_tags=False)  # type: ignore[arg-type]
    header, arrays = read_sealed(tmp_path / "model", "arcwise model")
    assert not [
        name for name in (*header, *header["settings"], *header["facts"], *arrays) if "cluster" in name
    ]
    assert header["settings"]["arcs"] == TINY.arcs
    assert not load_model(tmp_path / "model").settings.clusters
    dev = treebank(12, "dev.conllu")
    assert str(load(tmp_path / "model")(dev)) == str(parser(dev))
    for option in ({"frequent": 3}, {"cluster_cut": "frequency"}):
        with pytest.raises(InputError, match=f"{next(iter(option))} without clusters"):
            short(None, **option)  # type: ignore[arg-type]


# Options and notes


def test_templates_of_ones_own_are_kept(clusters: Path) -> None:
    own = replace(TINY, arcs=TINY.arcs + "B6 | B6\n")
    assert Options(clusters=clusters, settings=own).settings == own
    assert Options(clusters=clusters, settings=TINY).settings == TINY.with_clusters()
    assert CLUSTER_ARCS in Options(clusters=str(clusters)).settings.arcs
    with pytest.raises(ArcwiseError, match="templates that see word clusters, and no clusters"):
        Options(settings=own)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cluster_cut": "magic"}, "cluster_cut 'magic', expected one of bits, frequency"),
        ({"frequent": -1}, "frequent -1, expected 0 or more"),
        ({"frequent": 1.5}, "frequent is 1.5, expected a whole number"),
        ({"words": -1}, "words -1, expected 0 or more"),
    ],
)
def test_options_that_are_refused(clusters: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArcwiseError, match=message):
        Options(clusters=clusters, **options)


def test_clusters_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        short(tmp_path / "none.tsv", tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_what_is_told_of_clusters(tmp_path: Path) -> None:
    """A word has the cluster of its lower case, not that of another word with the same one."""
    rows = [f"{k}\t{form}\t_\tX\t_\t_\t{k - 1}\tdep\t_\t_\n" for k, form in enumerate(
        ("Paris", "PARIS", "paris", "the", "The", "unknown", "ÉTÉ", "Ａ"), 1)]  # fmt: skip
    sentences = list(read_string("".join(rows) + "\n"))
    few, many = "most words have none: are the clusters of the treebank's language", "of the words of the"
    for words, share in (
        (["Paris", "the", "été", "ａ"], 4),
        (["Paris"], 1),
        (["the", "paris"], 5),
        (["x"], 0),
    ):
        found = Clusters(dict.fromkeys(words, "01"), dict.fromkeys(words, 3))
        write_clusters(found, tmp_path / "clusters.tsv")
        forms = sentences[0].forms[1:]
        assert sum(plain(found, "bits", form) is not None for form in forms) == share
        recorder = Recorder()
        quick(
            sentences,
            settings=TINY,
            clusters=tmp_path / "clusters.tsv",
            epochs=1,
            label_epochs=1,
            watcher=recorder,
        )
        (note,) = (note for note in recorder.notes if many in note)
        assert note == f"{share / len(forms):.1%} of the words of the training treebank have a cluster"
        assert any(note.startswith(few) for note in recorder.notes) == (share < len(forms) / 2)
