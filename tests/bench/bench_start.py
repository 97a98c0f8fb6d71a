"""Times from starting the process to the answer of `initialize`, against the bare JSON-line loop.

Run it with `python tests/bench/bench_start.py [RUNS] [PYTHON]` from the top folder.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipapp
from pathlib import Path

BENCH = Path(__file__).resolve().parent
TOP = BENCH.parents[1]
sys.path.insert(0, str(BENCH))

from generate import write_archive  # noqa: E402

# Compiled modules are kept, as they are for people.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


def seconds(command: list[str]) -> float:
    """Return the time from the start of a process to its first answer."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=TOP, env=ENVIRONMENT
    )
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    line = process.stdout.readline()
    elapsed = time.perf_counter() - start
    assert json.loads(line)["id"] == 0
    process.stdin.close()
    process.wait()
    process.stdout.close()
    return elapsed


def write_zipapp(folder: Path) -> str:
    """Build the server as one file and return its path."""
    for path in ("inkan_mcp.py", "vendored_yaml"):
        (folder / path).symlink_to(TOP / path)
    target = folder.with_suffix(".pyz")
    zipapp.create_archive(folder, target, main="inkan_mcp:main")
    return str(target)


def commands(python: str, folder: Path) -> dict[str, list[str]]:
    """Return what is timed, by the name it is told by."""
    small, large, zipped = folder / "small", folder / "large", folder / "zipped"
    for path, count in ((small, 10), (large, 10_000)):
        path.mkdir()
        write_archive(path, count, "native", 1)
    zipped.mkdir()
    pyz = write_zipapp(zipped)
    return {
        "bare loop": [python, str(BENCH / "bare_loop.py")],
        "-m, 10 records": [python, "-m", "inkan_mcp", "--root", str(small)],
        "-m, 10,000 records": [python, "-m", "inkan_mcp", "--root", str(large)],
        "by path": [python, str(TOP / "inkan_mcp.py"), "--root", str(small)],
        "zipapp": [python, pyz, "--root", str(small)],
    }


def main() -> None:
    """Run as a command."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    python = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    with tempfile.TemporaryDirectory() as name:
        timed = commands(python, Path(name))
        times: dict[str, list[float]] = {label: [] for label in timed}
        for command in timed.values():
            seconds(command)  # the first start compiles
        for _ in range(runs):  # in turns, so that a busy moment hits all of them
            for label, command in timed.items():
                times[label].append(seconds(command))
    bare = min(times["bare loop"])
    for label, found in times.items():
        best, median = min(found) * 1000, statistics.median(found) * 1000
        over = best - bare * 1000
        sys.stdout.write(f"{label:20} best {best:6.1f} ms  median {median:6.1f} ms  +{over:.1f}\n")


if __name__ == "__main__":
    main()
