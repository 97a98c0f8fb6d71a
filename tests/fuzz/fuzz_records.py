"""Change the records of the sample at random, and see that nothing is lost, invented or leaked.

    python tests/fuzz/fuzz_records.py [CASES] [SEED]

A case is one changed file among others. All tools are called, with arguments that may be wrong:
every answer must fit its schema and be at most 1 MB, an error must be one line. A changed file must
be a record, a fault that is named, a draft, or a page that is none; what PyYAML reads as its front
matter must be what the record says. The files beside it must be answered as before, in bounded
time, and the folder must stay as it was. A fault is told with its seed and the text of its file.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

import yaml  # noqa: E402
from helpers import SAMPLE, Local, ToolError, tree_hash, write_records  # noqa: E402

import inkan_mcp  # noqa: E402

SLOW_SECONDS = 5.0  # of one case; what is not linear takes far longer
ROUND = 50  # cases between two looks at the hash of the folder
NAME = "zz/adr/0042-changed"
PATH = f"decisions/{NAME}.md"
CHANGED = "changed-marker"  # stands in the bodies of changed files alone
PIECES = [
    *("---\n", "\n", ": ", "- ", "[", "]", "{", "}", '"', "'", "#", " #", "|\n", ">\n", "&a", "*a"),
    *("!!python/object:os.system", "<<: *a", "%", "@", "`", "\t", "\r", "\0", "\x1b[31m", "\u202e"),
    *("\u2028", "\x85", "\ufeff", "e\u0301", "\u00e9", "\U0001f389", "~", "null", "true", ".inf"),
    *("9" * 50, "0x1F", "1_000", "-0", "1e999", "2026-13-99", "0000-00-00", "9999-12-31", ".."),
    *("supersedes: 1\n", "supersededBy: [x, 0001]\n", "related: [[a]]\n", "draft: true\n"),
    *("reviewers:\n  - {name: a, state: approved}\n", "review: {every: 1 year}\n"),
    *("title: a: b\n", "authors: @ada\n", "tags: a, b c\n", "status: Accepted\n", "type: rfc\n"),
    *("__proto__: 1\n", "2024: x\n", "true: x\n", "? x\n", "<!--", "```\n", "# H #\n", "[x](y)"),
    *("a" * 3000, "[" * 70, "[[" * 500, "../" * 200),
]
VALUES = [
    *(None, True, False, 0, 1, -1, 200, 201, 10**30, 1.5, 5.0, float("inf"), "", " ", "x", "kafka"),
    *("a b c", "risk=high", "=", "x=", "\0", "\ud800", "\u202e", "zz", "zz/adr/42", "0042-changed"),
    *("accepted", "2026-01-01", "2026-99-01", "decision://zz/adr/0042-changed"),
    *("%" * 500, "9" * 500, "../" * 300, "x " * 200, [], [1], {}, {"a": []}, "ada", "@ada", "adr"),
]


def sample_texts() -> list[str]:
    """Return the texts of all records of the sample."""
    return [path.read_text(encoding="utf-8") for path in sorted(SAMPLE.rglob("[0-9]*.md"))]


class Cases:
    """An endless row of changed files and arguments from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.texts = sample_texts()

    def data(self) -> bytes:
        """Return the bytes of a changed record, most of them with its front matter changed."""
        pick, below = self.random.choice, self.random.randrange
        text = pick(self.texts)
        for _ in range(below(1, 6)):
            end = min(len(text), 400) if self.random.random() < 0.8 else len(text)
            start = below(end + 1)
            stop = min(len(text), start + below(20))
            pieces = ["", *(pick(PIECES) for _ in "ab"), text[start:stop] * 2]
            piece = pick([*pieces, pick(self.texts)[:90]])
            text = text[:start] + piece + text[stop:]
        data = f"{text}\n{CHANGED}\n".encode("utf-8", "surrogatepass")
        if self.random.random() < 0.05:
            start = below(len(data))
            data = data[:start] + bytes([below(256)]) + data[start + 1 :]
        return data

    def arguments(self, tool: str) -> Any:
        """Return arguments of a tool, many of them wrong."""
        names = [argument.name for argument in inkan_mcp.TOOLS[tool].arguments]
        if self.random.random() < 0.02:
            return self.random.choice(VALUES)
        chosen = [name for name in [*names, "nothing"] if self.random.random() < 0.2]
        return {name: self.random.choice(VALUES) for name in chosen}


def read_apart(data: bytes) -> dict[str, Any] | None:
    """Return the front matter of a file as PyYAML reads it; nothing where it has none."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    if "\r" in text or not text.startswith("---\n") or "\n---\n" not in text:
        return None
    block = text[3:].partition("\n---\n")[0]
    if any(end in block for end in "\x85\u2028\u2029"):  # line ends to YAML 1.1 alone
        return None
    try:
        value = yaml.load(block, yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def check_title(data: bytes, record: dict[str, Any], problems: list[Any]) -> bool:
    """Compare a record's title with the one read apart; tell whether there was one to compare."""
    front = read_apart(data)
    if front is None or any(problem.kind == "repair" for problem in problems):
        return False
    titles = [value for key, value in front.items() if inkan_mcp.fold_key(key) == "title"]
    if len(titles) != 1 or not isinstance(titles[0], str) or not titles[0].strip():
        return False
    stated = titles[0].strip()
    assert record["title"] == stated or plain_value(stated), (record["title"], stated)
    return True


def plain_value(text: str) -> bool:
    """Tell whether a text may be a number, a truth value or nothing, which has other spellings."""
    return not isinstance(yaml.safe_load(json.dumps(text)[1:-1] or "~"), str) or text[0] in "-+.0~"


class Playground:
    """An archive: the sample's records, which stay, and one changed file."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.cases = Cases(seed)
        self.seed = seed
        kept = {
            path.relative_to(SAMPLE).as_posix(): path.read_bytes()
            for path in sorted(SAMPLE.rglob("*"))
            if path.is_file()
        }
        write_records(folder, kept, age=60)
        self.root = folder
        self.local = Local(folder)
        self.before = {name: self.local.text("get_record", id=name) for name in self.all_ids()}
        self.compared = 0

    def all_ids(self) -> list[str]:
        """Return every id that `search_records` lists."""
        return self.local.ids(limit=200)

    def step(self) -> str:
        """Try one case; return what became of the changed file."""
        data = self.cases.data()
        write_records(self.root, {PATH: data})
        start = time.monotonic()
        try:
            outcome = self.outcome(data)
            self.call_all()
            name = self.cases.random.choice(sorted(self.before))
            links = ("supersede", "related", "warnings", "currentRecord", "current")
            told = [x for x in self.local.text("get_record", id=name).split("\n") if x]
            expected = [x for x in self.before[name].split("\n") if x]
            if not any(word in line for line in {*told} ^ {*expected} for word in links):
                assert told == expected or "zz/" in "".join(told), name
            assert time.monotonic() - start < SLOW_SECONDS
        except Exception as error:
            where = f"seed {self.seed}; the file was:\n{data!r}"
            raise AssertionError(f"{type(error).__name__}: {error}\n{where}") from error
        return outcome

    def outcome(self, data: bytes) -> str:
        """Find the changed file among the answers, and compare it where it is a record."""
        snapshot = self.local.source.snapshot(inkan_mcp.Call(self.local.today))
        ids = [record.id for record in snapshot.records]
        assert set(self.before) <= set(ids), "a record was lost"
        assert set(ids) <= {*self.before, NAME}, "a record was invented"
        if NAME in ids:
            found = next(record for record in snapshot.records if record.id == NAME)
            record = self.local.get(NAME)
            body = inkan_mcp.body_of(data.decode("utf-8").removeprefix("\ufeff"))
            assert record["body"] == body or "bodyTruncated" in record
            self.compared += check_title(data, record, found.problems)
            return "record"
        if NAME in snapshot.broken:
            assert "cannot be read" in self.local.error("get_record", id=NAME)
            assert any(PATH in warning for warning in self.local.warnings())
            assert self.local.ids(query=CHANGED) == []
            return "broken"
        self.local.error("get_record", id=NAME)
        return "no record"

    def call_all(self) -> None:
        """Call every tool with arguments by chance; `Local` checks the answers."""
        for tool in inkan_mcp.TOOLS:
            arguments = self.cases.arguments(tool)
            result = self.local.result(tool, arguments)
            assert not result.is_error or ("\n" not in result.text and result.text)
        listed = inkan_mcp.list_resources(
            self.local.catalog.archive(inkan_mcp.Call(self.local.today)), None
        )
        assert len(inkan_mcp.encode(listed)) <= 1_000_000


def run(folder: Path, count: int, seed: int) -> dict[str, int]:
    """Try so many cases; return how many there were of each outcome. Raise what is wrong."""
    playground = Playground(folder, seed)
    outcomes: dict[str, int] = {}
    for number in range(count):
        outcome = playground.step()
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        if number % ROUND == 0:
            before = tree_hash(folder)
            playground.call_all()
            assert tree_hash(folder) == before, "the archive was changed"
    outcomes["compared"] = playground.compared
    return outcomes


def main() -> None:
    """Run as a command."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**6)
    sys.stdout.write(f"{count:,} cases from seed {seed}\n")
    with tempfile.TemporaryDirectory() as folder:
        outcomes = run(Path(folder), count, seed)
    sys.stdout.write(", ".join(f"{number:,} {name}" for name, number in outcomes.items()) + "\n")


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, ToolError) as fault:
        sys.exit(str(fault))
