"""SIGINT and SIGTERM end every command, whatever it does; Ctrl-C ends what is called from Python.

Nothing here ends by itself: each command would go on for hours. `GUARD` only keeps a test that fails from hanging.
"""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from arcwise.pipeline.parser import bundled_models
from tests.pipeline.models import quick

DATA = Path(__file__).parent / "data"
GUARD = 120.0  # seconds
BEGUN = 2.0  # seconds of CPU time after which a process has begun with what takes long, or compiles it

ENDINGS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
START = (sys.executable, "-m", "arcwise")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of inputs that take very long."""
    folder, random = tmp_path_factory.mktemp("inputs"), np.random.default_rng(0)
    arcs, parts = random.normal(size=(41, 41)), random.normal(size=(2, 41, 41, 41))
    np.savez(folder / "parts.npz", arcs=arcs, siblings=3 * parts[0], grandchildren=3 * parts[1])
    np.save(folder / "matrix.npy", random.normal(size=(61, 61)))
    words = random.integers(0, 20_000, (20_000, 20))
    (folder / "text").write_text("\n".join(" ".join(f"w{word}" for word in line) for line in words))
    sentences = (DATA / "train.conllu").read_text()
    (folder / "large.conllu").write_text(sentences * 50)
    os.mkfifo(folder / "pipe")
    quick(DATA / "train.conllu", output=folder / "small.arcwise", epochs=1, label_epochs=1)
    return folder


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a process in `tmp_path / "out"`, whose temporary folders are in `tmp_path / "tmp"`."""
    started: list[subprocess.Popen[bytes]] = []

    def run(*arguments: object, **environment: str) -> subprocess.Popen[bytes]:
        for name in ("out", "tmp"):
            (tmp_path / name).mkdir(exist_ok=True)
        process = subprocess.Popen(
            list(map(str, arguments)), cwd=tmp_path / "out", env=os.environ | {"TMPDIR": str(tmp_path / "tmp")} | environment,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def wait_until_begun(process: subprocess.Popen[bytes]) -> None:
    """Wait until the process has worked for a while, or waits for input."""
    before, idle = 0.0, 0
    while process.poll() is None:
        if not Path("/proc/self/stat").exists():
            time.sleep(2 * BEGUN)
            return
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        idle = idle + 1 if used == before > 0.1 else 0
        if used > BEGUN or idle == 5:
            return
        before = used
        time.sleep(0.3)


def stop(process: subprocess.Popen[bytes], number: int) -> str:
    """Send a signal, and wait for the end; gives what was said."""
    process.send_signal(number)
    assert process.stderr is not None
    process.wait(GUARD)
    err = process.stderr.read().decode()
    assert "Traceback" not in err
    return err


def left(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


COMMANDS = {
    "parse": 'parse -m en --text "{ones}" --budget 1000000000000 -o out.conllu',
    "parse by climbing": "parse -m {inputs}/small.arcwise {inputs}/large.conllu --decoder climb --no-exact --restarts 65536 -o out",
    "parse in threads": "parse -m en -j 2 {inputs}/large.conllu --decoder climb --restarts 65536 -o out.xz",
    "parse standard input": "parse -m {inputs}/small.arcwise -",
    "train": "train {data}/train.conllu --dev {data}/dev.conllu -o m.arcwise --epochs 1000000 --size small --patience 1000000",
    "cluster": "cluster {inputs}/text -c 10000 --min-count 1 -o clusters.tsv",
    "decode": "decode {inputs}/parts.npz -o out",
    "decode in threads": "decode {inputs}/parts.npz --jobs 2 --decoder ilp",
    "decode by branching": "decode {inputs}/matrix.npy --shape 1-inherit --decoder branch-and-bound -o out",
    "k best": "decode {inputs}/matrix.npy --k-best 100000000 -o out",
    "evaluate": "evaluate {inputs}/large.conllu {inputs}/large.conllu {inputs}/large.conllu --samples 100000000",
    "analyze": "analyze -",
    "plot": "plot {inputs}/pipe -o plot.png",
    "bench": "bench search",
    "experiment": "experiment random -o random.tsv",
    "warmup": "warmup",
}


@pytest.mark.parametrize(("number", "status"), ENDINGS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_signal_ends_every_command(name, number, status, inputs, start, tmp_path):
    if " -m en" in COMMANDS[name] and not bundled_models():
        pytest.skip("no model comes with this checkout")
    if "ilp" in COMMANDS[name]:
        pytest.importorskip("highspy")
    if name == "plot":
        pytest.importorskip("matplotlib")
    text = COMMANDS[name].replace('"{ones}"', "ONES").format(inputs=inputs, data=DATA)
    arguments = ["1 " * 200 if word == "ONES" else word for word in text.split()]
    # To warm up takes long where nothing is compiled yet.
    process = start(
        *START, *arguments, **({"NUMBA_CACHE_DIR": str(tmp_path / "tmp")} if name == "warmup" else {})
    )
    wait_until_begun(process)
    assert process.poll() is None, process.stderr.read()
    err = stop(process, number)
    assert process.returncode == status, err
    assert ("arcwise: interrupted" in err) == (number == signal.SIGINT)
    kept = {"out.conllu", "out", "out.xz"} & {*arguments} if name.startswith("parse") else set()
    for file in kept:
        assert f"interrupted: 0 sentences parsed so far are in {tmp_path / 'out' / file}" in err
    checkpoints = {"m.arcwise.checkpoint", "clusters.tsv.checkpoint"}
    assert left(tmp_path / "out") - checkpoints == kept
    assert not {
        path for path in left(tmp_path / "tmp") if (tmp_path / "tmp" / path).is_file() and ".code" not in path
    }


# A call into C that gives the lock away, as kernels do, and never looks at signals.
STUCK = """
import hashlib, sys, threading
from arcwise.cli import signals
from arcwise.treebank.writing import open_output
signals._GRACE = float(sys.argv[2])
with signals.heeding_signals():
    tell = lambda path: print("kept", path, file=sys.stderr, flush=True)
    with open_output(sys.argv[1], interrupted=tell) as output, open_output("other") as other:
        output.write(b"finished")
        other.write(b"begun")
        threading.Timer(0.5, print, ["stuck"], {"file": sys.stderr, "flush": True}).start()
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
"""


@pytest.mark.parametrize("before", [None, b"something else"])
@pytest.mark.parametrize(("name", "opened"), [("out", open), ("out.gz", gzip.open)])
@pytest.mark.parametrize(("number", "status"), ENDINGS)
def test_the_process_ends_though_its_main_thread_does_not(
    number, status, name, opened, before, start, tmp_path
):
    folder = tmp_path / "out"
    folder.mkdir()
    if before is not None:
        (folder / name).write_bytes(before)
    process = start(sys.executable, "-c", STUCK, name, 0.5)
    assert process.stderr.readline() == b"stuck\n"
    err = stop(process, number)
    assert process.returncode == status
    kept = folder / (name if before is None else f"{name}.partial")
    assert f"kept {kept}" in err
    with opened(kept, "rb") as file:
        assert file.read() == b"finished"
    assert left(folder) == {name, kept.name}
    if before is not None:
        assert (folder / name).read_bytes() == before


def test_a_second_signal_does_not_wait(start):
    process = start(sys.executable, "-c", STUCK, "out", 1e6)
    assert process.stderr.readline() == b"stuck\n"
    process.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.0)
    stop(process, signal.SIGINT)
    assert process.returncode == 143  # the first one says how


def test_ignored_signals_stay_ignored(start):
    """As in a shell's background jobs, which Ctrl-C does not mean."""
    program = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + STUCK
    process = start(sys.executable, "-c", program, "out", 0.1)
    assert process.stderr.readline() == b"stuck\n"
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.0)
    stop(process, signal.SIGTERM)
    assert process.returncode == 143


CALLS = {
    "decode": "arcwise.decode(tables(), budget=10**15)",
    "decode several": "arcwise.decode([tables(), tables()], budget=10**15, jobs=2)",
    "climb": "arcwise.decode(tables(), decoder='climb', restarts=65536)",
    "climb in threads": "arcwise.decode(tables(), decoder='climb', restarts=65536, jobs=2)",
    "branch and bound": "arcwise.decode(normal(size=(121, 121)), one_inherit=True, budget=10**15)",
    "many searches": "arcwise.k_best(normal(size=(61, 61)), 10**8)",
    "sums": "[arcwise.marginals(normal(size=(1001, 1001)), projective=True) for _ in range(1000)]",
    "parse": "arcwise.load(small).searching('climb', restarts=65536, exact=False)(arcwise.read_conllu(data))",
    "pipe": "list(arcwise.load(small).searching('climb', restarts=65536, exact=False).pipe([arcwise.read_conllu(data)] * 9, jobs=2))",
    "train": "arcwise.train(data, epochs=10**6)",
    "cluster": "arcwise.cluster(text, clusters=10000, minimum=1)",
}
CALLER = """
import sys, threading
import numpy as np
import arcwise
small, data, text = sys.argv[1:4]
normal = np.random.default_rng(0).normal
def tables():
    return arcwise.Scores(normal(size=(41, 41)), siblings=3 * normal(size=(41, 41, 41)), grandchildren=3 * normal(size=(41, 41, 41)))
try:
    CALL
except KeyboardInterrupt:
    assert threading.current_thread() is threading.main_thread()
    sys.exit(7)
"""


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_ends_what_is_called_from_python(name, inputs, start):
    process = start(
        sys.executable, "-c", CALLER.replace("CALL", CALLS[name]),
        inputs / "small.arcwise", DATA / "train.conllu", inputs / "text",
    )  # fmt: skip
    wait_until_begun(process)
    assert process.poll() is None, process.stderr.read()
    stop(process, signal.SIGINT)
    assert process.returncode == 7
