"""The usual house, beside a model that a test can make slow or stuck by a file: each graph then takes so long."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from agent.model.graphs import Graphs
from tools.house import check_settings, open_house

__all__ = ["check_settings", "open_house"]

DELAY = Path("/var/lib/hearth/delay")
"""What each graph takes in seconds, while there is this file; in the state folder, as the service can read that."""

_run = Graphs._run


def _slow_run(self: Graphs, name: str, *inputs: Any) -> list[Any]:
    try:
        ends = time.monotonic() + float(DELAY.read_text())
        while DELAY.exists() and time.monotonic() < ends:  # a stuck start goes on when the file is taken away
            time.sleep(0.02)
    except OSError:
        pass
    return _run(self, name, *inputs)


Graphs._run = _slow_run  # type: ignore[method-assign]
