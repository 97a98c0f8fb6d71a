"""Measure the YAML package: blocks per second, interleaved with other readers.

    python tests/bench/bench_yaml.py [--rounds 7] [--cases FOLDER] [--modules FOLDER] [--json]

Each round runs every reader once over the same texts, so that a busy machine slows all of them;
the best round counts, in processor time. `--cases` names a folder of .yml files of real front
matter; `--modules` a `node_modules` folder with js-yaml. python-frontmatter is measured where it
is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from vendored_yaml import YAMLError, dump, load, load_lenient, split_front_matter  # noqa: E402

TEXT = (
    "use adopt replace store cache queue service gateway database postgres kafka events retries "
    "timeouts tracing metrics secrets tokens rollout canary schema migration index search billing "
    "orders payments ledger identity session policy audit regions failover backups limits quotas"
)
WORDS = TEXT.split()
PEOPLE = ("ada", "grace", "linus", "barbara", "edsger", "margaret", "donald", "frances", "ken")
NODE = """
const yaml = require(process.argv[1] + '/js-yaml');
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
for (const text of texts) yaml.load(text);
let best = 1e9;
for (let round = 0; round < 9; round++) {
  const begun = process.hrtime.bigint();
  for (const text of texts) yaml.load(text);
  best = Math.min(best, Number(process.hrtime.bigint() - begun) / 1e9);
}
console.log(texts.length / best);
"""


def record(rnd, number):
    """Make the front matter of an ordinary record: eight to eleven keys."""

    def some(words, most):
        return rnd.sample(words, rnd.randint(1, most))

    title = " ".join(some(WORDS, 8)).capitalize()
    tags = some(WORDS, 5)
    lines = [
        f'title: "ADR-{number}: {title}"' if rnd.random() < 0.15 else f"title: {title}",
        f"description: {' '.join(some(WORDS, 14))}",
        f"status: {rnd.choice(('accepted', 'accepted', 'proposed', 'draft', 'superseded'))}",
        f"date: 20{rnd.randint(15, 25)}-{rnd.randint(1, 12):02}-{rnd.randint(1, 28):02}",
        f"authors: [{', '.join(some(PEOPLE, 3))}]",
        "deciders:",
        *(f"  - {name.capitalize()} {rnd.choice(WORDS).capitalize()}" for name in some(PEOPLE, 4)),
    ]
    if rnd.random() < 0.5:
        lines.append(f"tags: [{', '.join(tags)}]")
    else:
        lines += ["tags:", *(f"  - {tag}" for tag in tags)]
    if rnd.random() < 0.6:
        lines += ["related:", f"  - {rnd.choice(WORDS)}/adr/{number:04}-{rnd.choice(WORDS)}"]
    if rnd.random() < 0.3:
        lines.append(f"supersedes: {rnd.choice(WORDS)}/adr/{number - 1:04}-{rnd.choice(WORDS)}")
    if rnd.random() < 0.3:
        lines.append(f"order: {number}")
    return "\n".join(lines) + "\n"


def rates(functions, items, rounds):
    """Give how many items a second each function takes."""
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for at, function in enumerate(functions):
            begun = time.process_time()
            for item in items:
                function(item)
            best[at] = min(best[at], time.process_time() - begun)
    return [len(items) / seconds for seconds in best]


def read_c(text):
    return yaml.load(text, yaml.CSafeLoader)


def write_c(value):
    return yaml.dump(value, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False)


def accepted(texts):
    """Keep what both readers accept."""
    kept = []
    for text in texts:
        try:
            load(text)
            read_c(text)
        except (YAMLError, yaml.YAMLError, ValueError):
            continue
        kept.append(text)
    return kept


def read_file(text):
    return load(split_front_matter(text).block)


def javascript_rate(texts, modules):
    answer = subprocess.run(
        ["node", "-e", NODE, os.path.abspath(modules)],
        input=json.dumps(texts), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(answer.stdout)


def measure_texts(name, texts, options):
    """Compare reading with the C loader of PyYAML, and with js-yaml where it is given."""
    ours, theirs = rates((load, read_c), texts, options.rounds)
    rows = [(f"{name}: load", ours, ours / theirs), (f"{name}: PyYAML CSafeLoader", theirs, 1.0)]
    if options.modules:
        script = javascript_rate(texts, options.modules)
        rows.append((f"{name}: js-yaml under node", script, script / theirs))
    return rows


def measure_files(records, rounds):
    """Compare a whole file, split and read, with python-frontmatter."""
    body = "\n## Context\n\n" + "Text of the record, in lines as people write them.\n" * 60
    files = [f"---\n{text}---\n{body}" for text in records]
    functions = [read_file]
    try:
        functions.append(import_module("frontmatter").loads)
    except ImportError:
        functions.append(lambda text: read_c(text.split("---", 2)[1]))
    ours, theirs = rates(functions, files, rounds)
    return [("file: split and load", ours, ours / theirs), ("file: the other", theirs, 1.0)]


def measure_writing(records, rounds):
    values = [load(text) for text in records]
    ours, theirs = rates((dump, write_c), values, rounds)
    return [("dump", ours, ours / theirs), ("PyYAML CSafeDumper", theirs, 1.0)]


GROWING = {
    "flow": lambda n: "a: [" + "word, " * (n // 6) + "]",
    "block": lambda n: "".join(f"key{i:06}:  word # c\n" for i in range(n // 21)),
    "quoted": lambda n: 'a: "' + "word \\n\n " * (n // 9) + '"',
    "literal": lambda n: "a: |\n" + "  word\n" * (n // 7),
    "comments": lambda n: "# word\n" * (n // 7),
}


def measure_growth(rounds):
    """Give the seconds for half a million and a million characters, and how they grow."""
    rows = []
    for name, make in GROWING.items():
        half, whole = (1 / rates([load_lenient], [make(n)], rounds)[0] for n in (500_000, 10**6))
        rows.append((f"1 MB of {name}: seconds", whole, whole / half))
    return rows


def measure_import():
    """Give the milliseconds that the import adds to the start of Python."""
    code = "import re, time; t = time.perf_counter(); import vendored_yaml; "
    code += "print((time.perf_counter() - t) * 1000)"
    runs = [
        float(
            subprocess.run(
                [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True
            ).stdout
        )
        for _ in range(9)
    ]
    return [("import: milliseconds", min(runs), 1.0)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cases", help="a folder with .yml files of real front matter")
    parser.add_argument("--modules", help="a node_modules folder with js-yaml")
    parser.add_argument("--json", action="store_true", help="print one object of figures")
    options = parser.parse_args()
    rnd = random.Random(7)
    records = [record(rnd, number) for number in range(1, 1001)]
    rows = measure_texts("records", records, options)
    if options.cases:
        paths = sorted(Path(options.cases).glob("*.yml"))
        texts = accepted([path.read_bytes().decode("utf-8") for path in paths])
        rows += measure_texts("samples", texts, options)
    rows += measure_files(records, options.rounds)
    rows += measure_writing(records, options.rounds)
    rows += measure_growth(3)
    rows += measure_import()
    if options.json:
        figures = {name: {"figure": figure, "ratio": ratio} for name, figure, ratio in rows}
        sys.stdout.write(json.dumps(figures, indent=1) + "\n")
    else:
        for name, figure, ratio in rows:
            sys.stdout.write(f"{name:34} {figure:12,.2f} {ratio:8.2f} x\n")


if __name__ == "__main__":
    main()
