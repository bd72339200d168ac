"""Runs in the appliance's virtual machine: a line of JSON with a script comes in, one with what it printed goes out.

By a port of its own, so that neither the network nor a console is in the way.
"""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

PORT = Path("/dev/virtio-ports/hearth.test")

while not PORT.exists():
    time.sleep(0.2)
with PORT.open("r+b", buffering=0) as port:
    while True:
        line = b""
        while not line.endswith(b"\n"):
            line += port.read(1) or b""
        asked = json.loads(line)
        done = subprocess.run(
            ["sh", "-c", asked["script"]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        answer = {"number": asked["number"], "status": done.returncode, "printed": done.stdout}
        port.write(json.dumps(answer).encode() + b"\n")
