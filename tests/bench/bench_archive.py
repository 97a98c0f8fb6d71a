"""Measure a folder of records against what the machine can do: ratios in one run.

    python tests/bench/bench_archive.py --records 10000 [--json] [--folder DIR]

Each row compares one thing that a client does with a bare program that does the least that could
be done for it. Which rows run where: `cold` in two fresh processes each, imports included (the
comparison needs PyYAML with its C loader); `memory` and `ping` in a real server process; all others
in this process, since a pipe would only add the same to both sides. Medians of rounds in which both
sides take turns. ``--folder`` keeps the generated archives for the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.extend(os.fspath(folder) for folder in Path(__file__).resolve().parents[:3])

import generate
from helpers import Server

import inkan_mcp as server

TOP = Path(__file__).resolve().parents[2]
TODAY = "2026-12-01"
COLD_SERVER = """
import sys, time
sys.path.insert(0, {top!r})
started = time.perf_counter()
import os
import inkan_mcp as server
source = server.FolderSource({root!r}, lambda _: None, dict(os.environ))
source.start()
found = server.call_tool(server.Catalog(source), "search_records", {{}}, server.Call("2026-12-01"))
assert not found.is_error, found.text
sys.stdout.write(str(time.perf_counter() - started))
"""
COLD_BARE = """
import sys, time
started = time.perf_counter()
import os
import yaml
for folder, folders, names in os.walk({root!r}):
    for name in names:
        if name.endswith(".md"):
            with open(os.path.join(folder, name), encoding="utf-8", newline="") as stream:
                text = stream.read()
            yaml.load(text[4 : text.index("\\n---\\n", 4) + 1], yaml.CSafeLoader)
sys.stdout.write(str(time.perf_counter() - started))
"""


class Row:
    """One measurement: seconds or bytes of ours and of what it is held against."""

    def __init__(
        self, name: str, against: str, times: tuple[float, float], most: float, unit: str = "ms"
    ) -> None:
        self.name, self.against, self.most, self.unit = name, against, most, unit
        self.ours, self.theirs = times

    @property
    def ratio(self) -> float:
        """Ours by theirs."""
        return self.ours / self.theirs

    def shown(self) -> list[str]:
        """Return the cells of the table's row."""
        factor = {"ms": 1e3, "MB": 1e-6, "x": 1}[self.unit]
        figures = [f"{value * factor:.2f} {self.unit}" for value in (self.ours, self.theirs)]
        verdict = "" if self.ratio <= self.most else " (over)"
        return [self.name, self.against, *figures, f"{self.ratio:.2f}", f"{self.most:g}{verdict}"]


class Bench:
    """One archive, warm in this process."""

    def __init__(self, root: Path, rounds: int) -> None:
        self.root, self.rounds = root, rounds
        self.content = root / "content"
        self.source = server.FolderSource(os.fspath(root), lambda _: None, dict(os.environ))
        self.source.start()
        self.catalog = server.Catalog(self.source)
        self.snapshot = self.source.snapshot(server.Call(TODAY))
        newest = max(path.stat().st_ctime for path in self.content.rglob("*"))
        time.sleep(max(0.0, newest + 2.5 - time.time()))  # until every file is cold
        self.call("search_records")

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool and return its text."""
        result = server.call_tool(self.catalog, tool, arguments, server.Call(TODAY))
        assert not result.is_error, result.text
        return result.text

    def compare(
        self, ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 0
    ) -> tuple[float, float]:
        """Return the median seconds of both, taken in turns."""
        times: tuple[list[float], list[float]] = ([], [])
        for task in (ours, theirs):
            task()
        for _ in range(rounds or self.rounds):
            for task, taken in zip((ours, theirs), times):
                started = time.perf_counter()
                task()
                taken.append(time.perf_counter() - started)
        return statistics.median(times[0]), statistics.median(times[1])

    def walk(self) -> int:
        """List every folder and look at every file, as little as that can be."""
        seen = 0
        folders = [os.fspath(self.content)]
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        os.stat(entry.path)
                        seen += 1
        return seen

    # Rows

    def cold(self) -> Iterator[Row]:
        """The first search after the start, against listing, reading and parsing alone."""
        ours = COLD_SERVER.format(top=os.fspath(TOP), root=os.fspath(self.root))
        theirs = COLD_BARE.format(root=os.fspath(self.content))
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(3):
            for program, taken in zip((ours, theirs), times):
                taken.append(float(run_python(program)))
        yield Row("first search", "list, read, CSafeLoader", (min(times[0]), min(times[1])), 0.5)

    def warm(self) -> Iterator[Row]:
        """Calls that need no body, against a walk of the same folder."""
        some = self.snapshot.records[len(self.snapshot.records) // 2]
        tag = max(self.snapshot.records, key=lambda record: len(record.tags)).tags[0]
        calls: list[tuple[str, str, dict[str, Any]]] = [
            ("search by status", "search_records", {"status": "accepted"}),
            ("search by project and tag", "search_records", {"project": some.project, "tag": tag}),
            ("get_record", "get_record", {"id": some.id}),
            ("list_tags", "list_tags", {}),
            ("due_reviews", "due_reviews", {}),
        ]
        for name, tool, arguments in calls:
            times = self.compare(lambda t=tool, a=arguments: self.call(t, **a), self.walk)
            yield Row(name, "scandir and stat", times, 1.1)

    def bodies(self) -> Iterator[Row]:
        """Searches of bodies, against grep over the same folder."""
        for name, needle in self.needles():

            def grep(needle: str = needle) -> None:
                command = ["grep", "-rilF", "-e", needle, os.fspath(self.content)]
                environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
                subprocess.run(command, stdout=subprocess.DEVNULL, env=environment, check=False)

            def search(needle: str = needle) -> int:
                return int(json.loads(self.call("search_records", query=needle))["total"])

            times = self.compare(search, grep, max(3, self.rounds // 2))
            yield Row(f"body query, {name} ({search():,})", "grep -rilF", times, 1.1)

    def needles(self) -> list[tuple[str, str]]:
        """Return a word that no record, few and many records hold."""
        counts: dict[str, int] = {}
        sample = self.snapshot.records[:: max(1, len(self.snapshot.records) // 400)]
        for record in sample:
            body = self.source.read_body(record, server.Call(TODAY))
            for word in set(re.findall(r"[a-z]{5,9}", body)):
                counts[word] = counts.get(word, 0) + 1
        ordered = sorted(counts, key=lambda word: (counts[word], word))
        return [("none", "zzqxjv"), ("few", generate.RARE_WORDS.split()[0]), ("many", ordered[-1])]

    def change(self) -> Iterator[Row]:
        """A search after one file changed, against the same search before plus one parse."""
        path = Path(self.snapshot.records[7].location)
        text = path.read_text(encoding="utf-8")
        origin = server.Origin(self.snapshot.records[7].id, "x.md")
        ours, theirs = [], []
        for number in range(self.rounds):
            started = time.perf_counter()
            self.call("search_records", status="accepted")
            server.parse_record(text, origin, server.Rules())
            theirs.append(time.perf_counter() - started)
            path.write_text(f"{text}\nEdit {number}.\n", encoding="utf-8")
            started = time.perf_counter()
            self.call("search_records", status="accepted")
            ours.append(time.perf_counter() - started)
        path.write_text(text, encoding="utf-8")
        figures = statistics.median(ours), statistics.median(theirs)
        yield Row("search after one change", "before, and one parse", figures, 1.1)

    def memory(self) -> Iterator[Row]:
        """Resident memory of a server, against the sizes of all files."""
        if not Path("/proc/self/status").exists():
            return
        total = sum(path.stat().st_size for path in self.content.rglob("*") if path.is_file())
        with Server("--root", self.root) as client:
            client.initialize()
            client.request("tools/call", {"name": "search_records", "arguments": {}}, 120)
            yield Row("memory before body queries", "file sizes", (rss(client), total), 0.65, "MB")
            for needle in ("zzqxjv", "the", "kafka"):
                arguments = {"name": "search_records", "arguments": {"query": needle}}
                client.request("tools/call", arguments, 120)
            yield Row("memory after body queries", "file sizes", (rss(client), total), 1.8, "MB")

    def ping(self) -> Iterator[Row]:
        """The p95 of pings during the first scan, against that of an idle server."""
        with Server("--root", self.root) as client:
            client.initialize()
            idle = [timed(lambda: client.request("ping")) for _ in range(300)]
            scan = client.start("tools/call", {"name": "search_records", "arguments": {}})
            busy: list[float] = []
            while not client.answers(scan):
                busy.append(timed(lambda: client.request("ping")))
            client.answer(scan)
        yield Row(f"ping p95 in a scan ({len(busy)})", "idle ping p95", (p95(busy), p95(idle)), 10)


def growth(small: Bench, large: Bench) -> Iterator[Row]:
    """How much longer a search takes in an archive ten times as large, against a walk's growth."""
    before, after = (
        bench.compare(lambda b=bench: b.call("search_records", type="rfc"), bench.walk)
        for bench in (small, large)
    )
    grown = after[0] / before[0], after[1] / before[1]
    sizes = f"{len(small.snapshot.records):,} to {len(large.snapshot.records):,}"
    yield Row(f"growth, {sizes}", "growth of the walk", grown, 1.1, "x")


def timed(task: Callable[[], object]) -> float:
    """Return the seconds that a task takes."""
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


def p95(values: list[float]) -> float:
    """Return the value that nineteen in twenty do not pass."""
    return sorted(values)[min(len(values) - 1, len(values) * 95 // 100)]


def rss(client: Server) -> int:
    """Return the resident memory of a server in bytes, as Linux tells it."""
    status = Path(f"/proc/{client.process.pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024


def run_python(program: str) -> str:
    """Run a program in a fresh interpreter and return what it writes."""
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, check=True, encoding="utf-8"
    )
    return done.stdout


@contextmanager
def archive(folder: str | None, records: int) -> Iterator[Path]:
    """Give an archive of so many records; one in a kept folder is written once."""
    with tempfile.TemporaryDirectory() as passing:
        root = Path(folder or passing).resolve() / f"records-{records}"
        if not root.exists():
            generate.write_archive(root, records)
        yield root


ROWS = ("cold", "warm", "bodies", "change", "memory", "ping", "growth")


def measure(given: argparse.Namespace) -> list[Row]:
    """Run the rows that were asked for."""
    wanted = given.only or ROWS
    rows: list[Row] = []
    with archive(given.folder, given.records) as root:
        bench = Bench(root, given.rounds)
        for name in wanted:
            if name != "growth":
                rows += getattr(bench, name)()
        if "growth" in wanted and given.records >= 1000:
            with archive(given.folder, given.records // 10) as small:
                rows += growth(Bench(small, given.rounds * 2), bench)
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, measure, print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=int, default=10_000, help="default: 10,000")
    parser.add_argument("--rounds", type=int, default=15, help="of each warm row (default: 15)")
    parser.add_argument("--only", nargs="*", choices=ROWS, help="these rows alone")
    parser.add_argument("--folder", help="where archives are kept; made if it does not exist")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    given = parser.parse_args(arguments)
    rows = measure(given)
    if given.json:
        keys = ("name", "against", "ours", "theirs", "ratio", "most", "unit")
        listed = [{key: getattr(row, key) for key in keys} for row in rows]
        version = sys.version.split()[0]
        report = {"records": given.records, "python": version, "rows": listed}
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
        return 0
    head = ["work", "against", "ours", "theirs", "ratio", "at most"]
    cells = [head, ["---"] * 6, *(row.shown() for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(6)]
    for line in cells:
        padded = (cell.ljust(width) for cell, width in zip(line, widths))
        sys.stdout.write("| " + " | ".join(padded) + " |\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
