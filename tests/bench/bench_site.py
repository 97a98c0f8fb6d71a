"""Measure a published site as the source, against what its latency alone would cost.

    python tests/bench/bench_site.py [--bodies 500] [--latency 0.02] [--records 20000]

The server runs in a process of its own; figures are the best of three.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.dirname(os.path.dirname(HERE))]

SERVER = """
import sys
from site_server import Reply, SiteServer, as_json
bodies, latency, records = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
site = SiteServer()
text = "Context and decision, consequences too. " * 80
def entry(n):
    return {"id": f"team-{n % 20}/adr/{n:05}-a-decision", "title": f"A decision {n}",
            "ref": f"TEAM-ADR-{n:05}", "status": "accepted", "date": "2024-05-01",
            "tags": ["a", "b"], "authors": ["@ana"], "deciders": ["@bo"], "description": text[:90],
            "fields": {"risk": "high"}, "url": f"https://acme.dev/team-{n % 20}/adr/{n:05}"}
site.pages["/decisions.json"] = as_json([entry(n) for n in range(bodies)])
site.pages["/large/decisions.json"] = as_json([entry(n) for n in range(records)])
for n in range(bodies):
    site.pages["/" + entry(n)["id"] + ".md"] = Reply(text + str(n), delay=latency)
print(site.url, flush=True)
sys.stdin.read()
site.close()
"""


def measured(action) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bodies", type=int, default=500)
    parser.add_argument("--latency", type=float, default=0.02)
    parser.add_argument("--records", type=int, default=20_000)
    options = parser.parse_args()
    arguments = [str(value) for value in (options.bodies, options.latency, options.records)]
    paths = os.pathsep.join(sys.path[:2])
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    ) as server:
        url = server.stdout.readline().strip()
        figures = [
            *bodies(url, options.bodies, options.latency),
            *index(url + "/large", options.records),
        ]
        server.stdin.close()
    missed = False
    for name, value, most in figures:
        missed |= value > most
        sys.stdout.write(f"{name:44} {value:8.3f}  (at most {most:g})\n")
    return int(missed)


def bodies(url: str, count: int, latency: float):
    """A query over that many bodies, none of them known, as a ratio to the latency alone."""
    import inkan_mcp

    def search() -> float:
        source = inkan_mcp.SiteSource(url, [], os.environ, print)
        call = inkan_mcp.Call("2026-01-15")
        records = source.snapshot(call).records
        taken = measured(lambda: source.search_bodies(records, ["not there"], call))
        warm = measured(lambda: source.search_bodies(records, ["not there"], call))
        source.stop()
        return taken, warm

    ideal = math.ceil(count / inkan_mcp.BODY_READERS) * latency
    taken, warm = min(search() for _ in range(3))
    yield f"{count} bodies at {latency * 1000:g} ms, times the ideal", taken / ideal, 1.3
    yield f"{count} bodies again, times the ideal", warm / ideal, 0.05


def index(url: str, count: int):
    """The first and the second reading of a large index, as ratios to ``json.loads`` of it."""
    import urllib.request

    import inkan_mcp

    with urllib.request.urlopen(url + "/decisions.json") as answer:
        text = answer.read()
    loads = min(measured(lambda: json.loads(text)) for _ in range(3))
    source = inkan_mcp.SiteSource(url, [], os.environ, print)
    call = inkan_mcp.Call("2026-01-15")
    first = measured(lambda: source.snapshot(call))
    second = min(measured(lambda: source.snapshot(call)) for _ in range(3))
    source.stop()
    yield f"index of {count} entries, times json.loads", first / loads, 30
    yield "the same again, times json.loads", second / loads, 0.05


if __name__ == "__main__":
    sys.exit(main())
