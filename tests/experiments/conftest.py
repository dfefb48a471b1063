"""What the tests of commands share."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from arcwise.cli import main


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Any:
    """Run `arcwise experiment`; gives exit status, standard output and standard error."""

    def run(*arguments: object) -> tuple[Any, str, str]:
        monkeypatch.setattr(sys, "argv", ["arcwise", "experiment", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return ended.value.code or 0, out, err

    return run
