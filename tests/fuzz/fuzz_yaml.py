"""Edit YAML texts at random and compare what the package reads with what other readers do.

    python tests/fuzz/fuzz_yaml.py [--seconds 60] [--seed 1] [--cases FOLDER] [--modules FOLDER]

Texts come from `tests/data/yaml`, from `--cases` (a folder of .yml files) and from a generator.
A finding is: an exception that is no `YAMLError`; a reading that takes a second; the short way and
the whole way disagreeing; a value that differs from PyYAML and js-yaml where those two agree; a
written value that is not read back equal. js-yaml is used where node and `--modules`, a
`node_modules` folder with js-yaml 4, are given; without it PyYAML alone is the measure.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from vendored_yaml import YAMLError, dump, load, load_lenient  # noqa: E402
from vendored_yaml._fast import read_simple  # noqa: E402
from vendored_yaml._parser import parse  # noqa: E402
from vendored_yaml._reader import _normal  # noqa: E402
from vendored_yaml._scalars import resolve  # noqa: E402

NODE = """
const yaml = require(process.argv[1] + '/js-yaml');
const show = (k, v) => typeof v === 'number' && !Number.isFinite(v) ? {'@number': String(v)} : v;
const lines = require('readline').createInterface({input: process.stdin});
lines.on('line', line => console.log(JSON.stringify(JSON.parse(line).map(text => {
  try { return [JSON.stringify(yaml.load(text, {schema: yaml.CORE_SCHEMA}) ?? null, show)]; }
  catch (error) { return null; }
}))));
"""
PIECES = (
    *("a", "b", "key", "x y", "1", "0x1F", ".5", "null", "true", "2024-01-02", "é", "🚀", "~"),
    *(": ", ":", " :", "- ", "-", " ", "  ", "    ", "\n", "\n", "\n\n", "\n  ", "\n- ", "\t"),
    *("'", '"', "''", "\\", "\\n", "\\u0041", "[", "]", "{", "}", ", ", ",", "#", " # c", "|", ">"),
    *("|-", ">+", "|2", "&x ", "*x", "!t ", "%", "@", "`", "?", "? ", "---", "...", "<<: ", "\xa0"),
    *("a: b\n", "- c\n", "k:\n", "k2: [x, y]\n", "  d: e\n", "q: 'r'\n", "s: |\n  t\n", "1e3"),
    *('"u": "v"\n', "\r\n"),
)

# What may come out of a reader with a fault, but for `YAMLError`, which is a `ValueError`.
CRASHES = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RuntimeError,
    TypeError, ValueError,
)  # fmt: skip


def say(text):
    sys.stdout.write(text + "\n")


class Oracle(yaml.CSafeLoader):
    """PyYAML with the scalars of this package, so that it differs in structure alone."""

    yaml_implicit_resolvers: ClassVar = {}

    def construct_scalar_12(self, node):
        if not isinstance(node, yaml.ScalarNode):
            raise yaml.YAMLError("tag")
        if node.style:
            return node.value
        return resolve(node.value) if node.value else None

    def construct_mapping(self, node, deep=False):
        result = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in result:
                raise yaml.YAMLError("key")
            result[key.value] = self.construct_object(value, deep=True)
        return result


Oracle.add_constructor("tag:yaml.org,2002:str", Oracle.construct_scalar_12)
Oracle.add_constructor("tag:yaml.org,2002:map", lambda self, node: self.construct_mapping(node))
Oracle.add_constructor(
    "tag:yaml.org,2002:seq", lambda self, node: self.construct_sequence(node, deep=True)
)


def read_pyyaml(text):
    """Give the value in a list, or None where PyYAML refuses the text."""
    try:
        return [plain(yaml.load(text, Oracle))]
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return None


def plain(value):
    """Make values comparable: JavaScript has one kind of number."""
    if isinstance(value, dict):
        if set(value) == {"@number"}:
            return value["@number"]
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if isinstance(value, int) and abs(value) >= 10**308:  # no number in JavaScript
            return str(value)
        value = float(value)
        if not math.isfinite(value):
            return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}[str(value)]
    return value


class JavaScript:
    """js-yaml in a child process, or nothing."""

    def __init__(self, modules):
        self.child = None
        if modules:
            self.child = subprocess.Popen(
                ["node", "-e", NODE, os.path.abspath(modules)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
            )  # fmt: skip

    def read(self, texts):
        if self.child is None:
            return [read_pyyaml(text) for text in texts]
        self.child.stdin.write(json.dumps(texts) + "\n")
        self.child.stdin.flush()
        answers = json.loads(self.child.stdout.readline())
        return [answer and [plain(json.loads(answer[0]))] for answer in answers]


def edit(text, rnd, pool):
    """Change a text in one to four places."""
    for _ in range(rnd.randint(1, 4)):
        at = rnd.randrange(len(text) + 1)
        end = min(len(text), at + rnd.choice((0, 0, 1, 1, 2, 5, 20)))
        kind = rnd.random()
        if kind < 0.6:
            new = rnd.choice(PIECES)
        elif kind < 0.75:
            other = rnd.choice(pool)
            start = rnd.randrange(len(other) + 1)
            new = other[start : start + rnd.randint(1, 40)]
        else:
            new = ""
        text = text[:at] + new + text[end:]
    return text


def build(rnd):
    return "".join(rnd.choice(PIECES) for _ in range(rnd.randint(1, 14)))


class Findings:
    """What has been found, and how often readers agreed."""

    def __init__(self):
        self.counts = {}
        self.found = 0

    def count(self, name):
        self.counts[name] = self.counts.get(name, 0) + 1

    def report(self, kind, text, *details):
        self.found += 1
        if self.found <= 20:
            say(f"FINDING {kind}: {text!r}")
            for detail in details:
                say("    " + repr(detail)[:300])


def read(text, findings):
    """Read a text in every way the package has; give the value in a list, or None."""
    begun = time.perf_counter()
    try:
        value = [load(text)]
    except YAMLError as error:
        value = None
        lines = _normal(text).split("\n")
        if not (1 <= error.line <= len(lines) + 1 and error.column >= 1 and str(error)):
            findings.report("place", text, str(error))
    except CRASHES as error:
        findings.report("exception", text, error)
        return None
    try:
        lenient, repairs = load_lenient(text)
        if value is not None and (repairs or plain(lenient) != plain(value[0])):
            findings.report("lenient", text, value, lenient)
    except YAMLError:
        if value is not None:
            findings.report("lenient refuses", text)
    except CRASHES as error:
        findings.report("lenient exception", text, error)
    if time.perf_counter() - begun > 1:
        findings.report("slow", text)
    try:
        simple = read_simple(_normal(text))
    except OverflowError:
        simple = None
    if simple is not None:
        findings.count("short way")
        try:
            whole = parse(_normal(text))
        except YAMLError as error:
            findings.report("short way alone", text, simple, str(error))
        else:
            if repr(whole) != repr(simple):
                findings.report("two ways", text, simple, whole)
    return value


def long_key(text):
    """Tell whether a line may hold a key beyond 1,024 characters, which PyYAML refuses."""
    return any(len(line) > 1000 and ":" in line for line in text.split("\n"))


def write(value, findings):
    """Write a value that was read; it must be read back equal."""
    try:
        text = dump(value)
    except ValueError as error:
        findings.report("dump", repr(value), error)
        return None
    try:
        if repr(load(text)) != repr(value):
            findings.report("dump own", text, value)
        if not long_key(text) and read_pyyaml(text) != [plain(value)]:
            findings.report("dump pyyaml", text, value)
    except YAMLError as error:
        findings.report("dump own", text, str(error))
    return text


def compare(texts, javascript, findings):
    values = [read(text, findings) for text in texts]
    for text, value, script in zip(texts, values, javascript.read(texts)):
        python = read_pyyaml(text)
        if value is None:
            alone = script is not None and script == python
            findings.count("refused alone" if alone else "refused")
        elif script is not None and python is not None and script == python:
            findings.count("equal")
            if [plain(value[0])] != script:
                findings.report("value", text, value, script)
        elif script is None and python is None:
            findings.count("accepted alone")
        else:
            findings.count("others disagree")
    written = [(write(value[0], findings), value[0]) for value in values if value is not None]
    written = [pair for pair in written if pair[0] is not None]
    for (text, value), script in zip(written, javascript.read([pair[0] for pair in written])):
        if script != [plain(value)]:
            findings.report("dump js-yaml", text, value, script)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", help="a folder with .yml files")
    parser.add_argument("--modules", help="a node_modules folder with js-yaml 4")
    options = parser.parse_args()
    folders = [ROOT / "tests/data/yaml", *([Path(options.cases)] if options.cases else [])]
    pool = [
        path.read_bytes().decode("utf-8")
        for folder in folders
        for path in sorted(folder.rglob("*.yml"))
    ] or ["a: b\n"]
    rnd = random.Random(options.seed)
    javascript = JavaScript(options.modules)
    findings = Findings()
    end = time.monotonic() + options.seconds
    total = 0
    while time.monotonic() < end:
        texts = [
            build(rnd) if rnd.random() < 0.4 else edit(rnd.choice(pool), rnd, pool)
            for _ in range(200)
        ]
        compare(texts, javascript, findings)
        total += len(texts)
    say(f"{total:,} texts, {findings.found} findings; {findings.counts}")
    return 1 if findings.found else 0


if __name__ == "__main__":
    sys.exit(main())
