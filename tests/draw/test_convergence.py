"""Pictures of convergence: in every form, the same bytes each time, whatever the trace."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from arcwise import Scores, decode
from arcwise.draw.convergence import FORMS, picture
from arcwise.errors import ArcwiseError, InputError
from arcwise.evaluation.traces import ENDS, SentenceTrace, Stopping, Trace, sentence_trace
from tests.evaluation.test_traces import made, three_sentences

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
STOPPING = Stopping(
    "sib.arcwise", "dev", [1, 10, 5000], [80.5, 87.0, 88.0], [30.0, 80.0, 98.5], [60.0, 95.0, 100.0]
)
DRAWN: list[Trace | SentenceTrace | Stopping] = [three_sentences(), three_sentences().sentences[1], STOPPING]


@pytest.fixture(scope="module")
def real() -> Trace:
    """Traces of random tables, stopped early: some agree, some are left with a gap."""
    rng = np.random.default_rng(2)
    sentences = []
    for number, n in enumerate((1, 3, 6, 8, 8, 8), start=1):
        scores = Scores(arcs=rng.normal(size=(n + 1, n + 1)), siblings=rng.normal(size=(n + 1,) * 3))
        parse = decode(scores, projective=False, trace=True, exact=False, iterations=150)
        sentences.append(sentence_trace(parse, number))
    assert {"agreement", "iterations"} <= {sentence.ended for sentence in sentences}
    return Trace("dual", "log odds", sentences)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("drawn", DRAWN, ids=["trace", "sentence", "stopping"])
def test_every_form(drawn, form):
    assert picture(drawn, form).startswith(MAGIC[form])


def test_the_same_bytes_every_time(tmp_path, monkeypatch):
    """Whatever the hour, the settings of the user and the seed of hashes."""
    (tmp_path / "matplotlibrc").write_text(
        "backend: TkAgg\nfont.size: 20\nsvg.fonttype: none\naxes.facecolor: red\n"
    )
    monkeypatch.setenv("MATPLOTLIBRC", str(tmp_path / "matplotlibrc"))
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    program = (
        "import sys; from tests.draw.test_convergence import DRAWN, FORMS, picture\n"
        "for drawn, form in zip(DRAWN, FORMS): sys.stdout.buffer.write(picture(drawn, form))"
    )
    there = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert there.stdout == b"".join(map(picture, DRAWN, FORMS))


def test_real_traces(real):
    assert picture(real, "png") != picture(real._replace(sentences=real.sentences[:3]), "png")
    pictures = {picture(sentence, "png", unit=real.unit) for sentence in real.sentences}
    assert len(pictures) == len(real.sentences)


def one(ended: str, bounds: list[float], scores: list[float], **options: float | str) -> SentenceTrace:
    return made(1, ended, bounds, scores, [1] * len(bounds), **options)


@pytest.mark.parametrize(
    "sentence",
    [
        *(one(ended, [9.0, 8.0], [5.0, 7.0], bound=8.0) for ended in ENDS),
        one("agreement", [7.0], [7.0]),
        one("agreement", [7.0 + 1e-14], [7.0]),
        one("agreement", [0.0], [0.0], score=0.0, bound=0.0),
        one("finish", [9.0, 8.0], [-np.inf, -np.inf]),
        one("iterations", [1e300, 1e300], [-1e300, -1e300], score=-1e300, bound=1e300),
        one("budget", [1e-300], [-1e-300], score=-1e-300, bound=1e-300),
        one("bound", [1e9, 7.0], [7.0, 7.0]),
    ],
    ids=lambda sentence: f"{sentence.ended}-{sentence.bounds[0]:g}",
)
def test_odd_sentences(sentence):
    assert picture(sentence).startswith(MAGIC["svg"])
    assert picture(Trace("dual", None, [sentence])).startswith(MAGIC["svg"])


@pytest.mark.parametrize("form", FORMS)
def test_odd_names(form):
    odd = "$x$ $\\frac 文 \x1b[1m \ud800 שלום\n<&>"
    sentence = one("bound", [9.0, 7.0], [7.0, 7.0], id=odd)
    for drawn in (sentence, Trace(odd, odd, [sentence]), Stopping(odd, odd, [1], [0], [0], [100])):
        assert picture(drawn, form, unit=odd).startswith(MAGIC[form])


def test_what_is_refused(monkeypatch):
    with pytest.raises(InputError, match="form is 'gif', expected 'png', 'svg', 'pdf'"):
        picture(STOPPING, "gif")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ArcwiseError, match=r"need Matplotlib: pip install 'arcwise\[plot\]'"):
        picture(STOPPING, "svg")


def test_matplotlib_is_loaded_only_to_draw():
    program = "import sys, arcwise.draw.convergence, arcwise.cli.plot; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
