"""Times 1,000 pipelined pings and 1,000 small tool calls against the bare JSON-line loop.

Run it with `python tests/bench/bench_protocol.py [RUNS] [PYTHON]` from the top folder. It fails
when pings reach less than 0.3 of the loop's throughput.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent
TOP = BENCH.parents[1]
COUNT = 1000
LEAST = 0.3


def lines(method: str, params: dict[str, object] | None = None) -> bytes:
    """Return a thousand requests."""
    message: dict[str, object] = {"jsonrpc": "2.0", "id": 0, "method": method}
    if params is not None:
        message["params"] = params
    return b"".join(json.dumps({**message, "id": n}).encode() + b"\n" for n in range(COUNT))


PING = lines("ping")
CALL = lines("tools/call", {"name": "list_projects", "arguments": {}})


class Process:
    """A server, warmed up by one request of each kind."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=TOP
        )
        for data in (PING, CALL):
            self.process.stdin.write(data.partition(b"\n")[0] + b"\n")
            self.process.stdin.flush()
            self.process.stdout.readline()

    def seconds(self, data: bytes) -> float:
        """Return the time from the first byte sent to the last answer read."""
        start = time.perf_counter()
        writer = threading.Thread(target=self.write, args=(data,))
        writer.start()
        for _ in range(COUNT):
            self.process.stdout.readline()
        writer.join()
        return time.perf_counter() - start

    def write(self, data: bytes) -> None:
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def main() -> None:
    """Run as a command."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    python = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    loop = Process([python, str(BENCH / "bare_loop.py")])
    sample = str(TOP / "tests" / "data" / "sample")
    server = Process([python, "-m", "inkan_mcp", "--root", sample])
    best: dict[str, float] = {}
    for _ in range(runs):  # in turns, so that a busy moment hits all of them
        for name, process, data in (
            ("bare loop", loop, PING),
            ("ping", server, PING),
            ("list_projects", server, CALL),
        ):
            best[name] = min(best.get(name, 9e9), process.seconds(data))
    loop.close()
    server.close()
    for name, seconds in best.items():
        share = best["bare loop"] / seconds
        sys.stdout.write(f"{name:14} {COUNT / seconds:9,.0f} a second, {share:.2f} of the loop\n")
    share = best["bare loop"] / best["ping"]
    assert share >= LEAST, f"pings reach {share:.2f} of the bare loop; {LEAST} is the least"


if __name__ == "__main__":
    main()
