"""What all commands share: help, errors, progress bars; and `arcwise warmup`."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

import arcwise
from arcwise import kernels
from arcwise.cli import arcwise_command, main, terminal
from arcwise.cli.terminal import compiled_kernels, progress_bar
from arcwise.pipeline.parser import bundled_models
from tests.pipeline.models import quick

DATA = Path(__file__).parent / "data"
COMMANDS = [
    *("parse", "train", "calibrate", "evaluate", "analyze", "decode", "cluster"),
    *("bench", "experiment", "plot", "warmup"),
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(name):
    result = CliRunner().invoke(arcwise_command, [name, "--help"])
    assert result.exit_code == 0
    assert f"Example:\n    arcwise {name}" in result.output or f"\n    arcwise {name} " in result.output


def test_the_help_lists_the_commands():
    result = CliRunner().invoke(arcwise_command, ["--help"])
    assert result.exit_code == 0
    assert arcwise_command.list_commands(None) == COMMANDS  # type: ignore[arg-type]
    for name in COMMANDS:
        assert f"\n  {name} " in result.output


def test_version():
    result = CliRunner().invoke(arcwise_command, ["--version"])
    assert result.output == f"arcwise, version {arcwise.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["brew"],
        ["--colour"],
        ["parse", "--beam", "7"],
        ["parse", "--jobs", "0", "--model", "m"],
        ["parse", "--format", "xml", "--model", "m"],
        ["train", "t.conllu"],
        ["train", "t.conllu", "-o", "m", "--epochs", "none"],
        ["train", "t.conllu", "-o", "m", "--learner", "magic"],
    ],
)
def test_bad_options_are_refused(arguments):
    result = CliRunner().invoke(arcwise_command, arguments)
    assert result.exit_code == 2
    assert "Usage: " in result.output
    assert "Error: " in result.output


def test_a_refusal_is_one_line(monkeypatch, capfd, tmp_path):
    monkeypatch.setattr(sys, "argv", ["arcwise", "analyze", str(tmp_path / "missing")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert (
        capfd.readouterr().err
        == f"arcwise: {tmp_path / 'missing'}: cannot read it: no such file or directory\n"
    )


def test_starting_loads_nothing_heavy():
    program = (
        "import sys, arcwise.cli, arcwise.cli.parse, arcwise.cli.train; "
        "print({'numpy', 'numba', 'rich', 'safetensors'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def shown(monkeypatch, steps, only_compiling=False) -> str:
    """What a terminal gets when `steps` are shown after the bar appeared."""
    appeared = Event()
    appear = terminal._Bars.appear

    def appear_and_tell(bars: terminal._Bars) -> None:
        appear(bars)
        appeared.set()

    screen = Terminal()
    monkeypatch.setattr(terminal, "_PATIENCE", 0.0)
    monkeypatch.setattr(terminal._Bars, "appear", appear_and_tell)
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar(only_compiling=only_compiling) as show:
        assert appeared.wait(60)
        for step in steps:
            show(*step)
    return screen.getvalue()


def test_a_bar_appears_on_a_terminal(monkeypatch):
    monkeypatch.setattr(terminal, "compiled_kernels", lambda: 0)
    out = shown(monkeypatch, [("parsing", 10, 100), ("parsing", 50, 100)])
    assert "parsing" in out
    assert "50%" in out
    assert "compiling" not in out


def test_the_bar_says_when_it_compiles(monkeypatch):
    monkeypatch.setattr(terminal, "compiled_kernels", lambda: 3)
    assert "compiling for this machine (once)" in shown(monkeypatch, [])
    assert "parsing" in shown(monkeypatch, [("parsing", 10, 100)])
    only = shown(monkeypatch, [("parsing", 10, 100)], only_compiling=True)
    assert "compiling" in only
    assert "parsing" not in only


def test_no_bar_where_all_is_quick_or_there_is_no_terminal(monkeypatch):
    for screen in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", screen)
        with progress_bar() as show:
            show("parsing", 1, 2)
        assert screen.getvalue() == ""


def test_warmup():
    result = CliRunner().invoke(arcwise_command, ["warmup"])
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines()] == ["read", "parse", "all"]


def test_warmup_leaves_nothing_to_compile(tmp_path):
    """In a process of its own: no kernel that parse, train, evaluate, analyze and decode call has types unseen before."""
    quick(DATA / "dev.conllu", output=tmp_path / "ready", epochs=1, label_epochs=1, gold_tags=False)
    ready = "en" if bundled_models() else "ready"
    program = f"""
import sys
import numpy as np
from click.testing import CliRunner
from arcwise.cli import arcwise_command

def run(*arguments):
    result = CliRunner().invoke(arcwise_command, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output

def compiled():
    modules = [module for name, module in sys.modules.items() if name.startswith("arcwise.")]
    kernels = [value for module in modules for value in vars(module).values() if hasattr(value, "py_func")]
    return {{(kernel.py_func.__qualname__, signature) for kernel in kernels for signature in kernel.signatures}}

def unforeseen(*arguments):
    before = compiled()
    run(*arguments)
    print(sorted(name for name, _ in compiled() - before))

data = {str(DATA)!r}
with open("text.txt", "w") as file:
    file.write("It rained. Who knows?\\n\\n" * 3000)
np.savez("scores.npz", one=np.random.default_rng(0).normal(size=(9, 9)), two=np.ones((3, 4, 4)))
run("warmup")
unforeseen("parse", "--text", "It rained.", "-m", {ready!r}, "-f", "tree")
unforeseen("parse", data + "/dev.conllu", "-m", {ready!r}, "-o", "out", "-j", 2)
run("warmup", "--all")
treebanks = data + "/train.conllu", "--dev", data + "/dev.conllu"
unforeseen("train", *treebanks, "-o", "m", "--size", "small", "--epochs", 1, "--label-epochs", 1)
unforeseen("parse", data + "/dev.conllu", "-m", "m", "-o", "out", "-j", 2)
unforeseen("parse", "--text", "It rained.", "-m", "m", "-f", "tree")
unforeseen("parse", "text.txt", "-m", "m", "-j", 2, "--offsets")
for form in ("sentences", "words", "vertical"):
    unforeseen("parse", "text.txt", "-m", "m", "--format", form, "-f", "svg", "-o", "out.svg")
unforeseen("parse", data + "/dev.conllu", "-m", "m", "--keep", "--retag", "-o", "out2")
unforeseen("parse", data + "/conllx.conll", "-m", "m", "--output-format", "json")
unforeseen("evaluate", data + "/dev.conllu", "out", "out", "--samples", 10)
unforeseen("analyze", data + "/dev.conllu")
unforeseen("decode", "scores.npz")
unforeseen("decode", "scores.npz", "--projective", "--k-best", 2, "--multi-root")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n" * 15


def test_only_kernels_missed_by_the_cache_count_as_compiled(monkeypatch):
    invented = [
        SimpleNamespace(stats=SimpleNamespace(cache_misses=misses)) for misses in ({"(int64,)": 1}, {})
    ]
    monkeypatch.setattr(kernels, "_kernels", invented)
    assert compiled_kernels() == 1
