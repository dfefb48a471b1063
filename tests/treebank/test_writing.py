from __future__ import annotations

import errno
import os
import stat

import pytest

from arcwise import InputError, read_conllu, write_conllu
from arcwise.treebank.reading import read_string
from arcwise.treebank.writing import check_output, open_output
from tests.treebank import examples


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_written_and_read_again(suffix, tmp_path):
    path = tmp_path / f"a.conllu{suffix}"
    write_conllu(read_string(examples.CONLLU * 50), path)
    assert "".join(map(str, read_conllu(path))) == examples.CONLLU * 50
    once = path.read_bytes()
    write_conllu(read_conllu(path), path)  # onto the file that is being read
    assert path.read_bytes() == once
    assert os.listdir(tmp_path) == [path.name]


def test_standard_output(capfdbinary):
    write_conllu(read_string(examples.CONLLX), "-")
    assert capfdbinary.readouterr().out == examples.CONLLX.encode()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, InputError])
@pytest.mark.parametrize("name", ["a.conllu", "a.gz", "a.xz", "a.zst"])
@pytest.mark.parametrize("there", [False, True])
def test_nothing_is_half_written(error, name, there, tmp_path):
    if there:
        (tmp_path / name).write_bytes(b"old")

    def interrupted():
        with open_output(tmp_path / name) as output:
            output.write(b"new" * 1000)
            raise error("stop")

    with pytest.raises(error):
        interrupted()
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(name, b"old")] * there


def test_permissions_are_those_of_a_plain_open(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    write_conllu([], tmp_path / "new")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
    (tmp_path / "plain").chmod(0o640)
    write_conllu([], tmp_path / "plain")
    assert stat.S_IMODE((tmp_path / "plain").stat().st_mode) == 0o640


def test_links_and_devices_are_kept(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("file")
    with open_output(tmp_path / "link") as output:
        output.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"
    with open_output(os.devnull) as output:
        output.write(b"gone")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_unwritable(tmp_path):
    for path in (tmp_path / "missing" / "a.conllu", tmp_path, tmp_path / "a\0b"):
        with pytest.raises(InputError, match="cannot write it"), open_output(path):
            pass
    if os.getuid() != 0:
        (tmp_path / "fixed").write_bytes(b"old")
        (tmp_path / "fixed").chmod(0o400)
        with pytest.raises(InputError, match="permission denied"), open_output(tmp_path / "fixed"):
            pass


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("name", ["/dev/full", "out"])
def test_an_error_of_writing_names_the_file(tmp_path, name):
    path = tmp_path / name

    def fill_the_disk() -> None:
        with open_output(path) as output:
            if name == "out":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as a full disk does, without a name
            output.write(b"x" * 100_000)

    with pytest.raises(OSError, match="No space left") as error:
        fill_the_disk()
    assert error.value.filename == str(path)
    assert not (tmp_path / "out").exists()


def test_whether_it_can_be_written_is_known_before(tmp_path):
    path = tmp_path / "out"
    check_output("-")
    check_output(path)
    assert not any(tmp_path.iterdir())
    path.write_text("as it was")
    check_output(path)
    assert path.read_text() == "as it was"
    for bad in (tmp_path, tmp_path / "none" / "out", tmp_path / "out" / "below"):
        with pytest.raises(InputError, match="cannot write it") as refused:
            check_output(bad)
        with pytest.raises(InputError, match="cannot write it") as refused_then, open_output(bad):
            pass
        assert str(refused.value) == str(refused_then.value)
