"""The least that a server can do: read a line of JSON, write a line of JSON. The benches' measure."""

from __future__ import annotations

import json
import sys

for line in sys.stdin.buffer:
    message = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": {}}
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
    sys.stdout.buffer.flush()
