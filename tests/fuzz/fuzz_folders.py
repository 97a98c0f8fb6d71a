"""Change a folder at random and compare an archive that lives through it with one that is new.

``python tests/fuzz/fuzz_folders.py --operations 20000 --seed 7``. After each operation everything
that the living one says, the answers of the tools too, must be what a fresh one says. The first
difference ends the run with the operations that led to it. The time in which a file counts as hot
is shortened, so that most are cold. With ``--records 20000 --every 100`` the archive is a large
one, compared now and then.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).resolve().parents[2] / name) for name in (".", "tests/bench"))

import generate

import inkan_mcp as server

HOT_SECONDS = 0.03  # well above the tick of a file system's clock on a plain kernel
PROJECTS = ("sre", "web", "löhne")
TYPES = ("adr", "rfc", "adr/old")
NAMES = ("0001-a.md", "0001-a.mdx", "0002-b.md", "0003-c d?.md", "README.md", "_x.md", "notes.txt")
NEEDLES = ("kafka", "straße")
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_records", {"limit": 200}), ("search_records", {"query": "kafka rabbit"}),
    ("search_records", {"query": "kafka"}), ("search_records", {"current_only": True}),
    ("search_records", {"tag": "x"}), ("search_records", {"status": "accepted"}),
    ("search_records", {"project": "web", "since": "2026-01-02"}), ("list_tags", {}),
    ("search_records", {"field": "cost=5"}), ("list_authors", {"project": "sre"}),
    ("list_projects", {}), ("list_fields", {}), ("due_reviews", {"within": 400}),
    ("rfc_reviews", {"reviewer": "ada"}), ("rfc_reviews", {}), ("get_record", {"id": "0001-a"}),
    ("get_record", {"id": "sre/adr/1"}), ("get_record", {"id": "ADR-1"}),
    ("get_record", {"id": "B"}), ("list_tags", {"project": "web"}),
]  # fmt: skip
CONFIGS = (
    "{}",
    '{"contentDir": "content"}',
    '{"contentDir": "other"}',
    '{"sources": [{"dir": "other", "project": "web"}]}',
    '{"sources": [{"dir": "other"}], "statuses": {"Accepted": {"current": true}}}',
    '{"contentDir": 5}',
    "{",
)
PROJECT_FILES = (
    "name: One\nkey: ONE\n", "name: Two\nkey: TWO\n", "order: x\n", "[\n", "", "review: 1 year\n",
)  # fmt: skip


class Playground:
    """A folder with an archive in it, and the operations that change it."""

    def __init__(self, root: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.root = root / "root"
        self.outside = root / "outside"
        self.content = self.root / "content"
        for folder in (self.content, self.root / "other", self.outside):
            folder.mkdir(parents=True)
        (self.outside / "0009-out.md").write_text(self.text(), encoding="utf-8")
        self.operations: list[Callable[[], None]] = [
            *(7 * [self.write]), self.touch, self.remove, self.rename, self.make_folder, self.link,
            self.hard_link, self.edit_outside, self.write_project, self.swap, self.replace,
            self.copy_tree, self.remove_tree, self.write_config, self.move_content, self.set_times,
        ]  # fmt: skip

    def step(self) -> str:
        """Do one operation that works, and return its name."""
        while True:
            operation = self.rng.choice(self.operations)
            with contextlib.suppress(OSError, shutil.Error):
                operation()
                return operation.__name__

    def text(self) -> bytes | Any:
        """Return the text of a record, as often as not of a length that others have too."""
        word = self.rng.choice(("kafka", "rabbit", "straße"))
        front = self.rng.choice(
            ("title: A", "title: B", "title: [", "draft: true", "type: rfc", "status: Accepted",
             "supersedes: 1", "title: A\ntags: [x, y]", "- a", "title: A\ntags: [X]\ndate: soon",
             "status: proposed\nreviewers: ['@ada', '@bo']", "authors: ada\ndate: 2026-01-02",
             "supersededBy: ../rfc/0002-b.md", "title: x: y\nrelated: 0001-a\ncost: 5",
             "status: accepted\ndate: 2026-01-01\nreview_in: 1 year")
        )  # fmt: skip
        return f"---\n{front}\n---\n\n{word}\n"

    def data(self) -> bytes:
        """Return the bytes of a file, one in six of them broken."""
        broken = (b"", b"no front matter", b"---\ntitle: \xff\n---\n", b"---\ntitle: A\n---\n\0")
        if self.rng.random() < 0.17:
            return self.rng.choice(broken)
        return bytes(self.text().encode("utf-8"))

    def folder(self) -> Path:
        """Return a folder of records that need not be there."""
        base = self.rng.choice((self.content, self.content, self.root / "other"))
        return base.joinpath(self.rng.choice(PROJECTS), *self.rng.choice(TYPES).split("/"))

    def place(self) -> Path:
        """Return the path of a file that need not be there."""
        folder = self.folder()
        for _ in range(self.rng.choice((0, 0, 0, 1, 2))):
            folder = folder.parent
        return folder / self.rng.choice(NAMES)

    def present(self) -> Path:
        """Return a path that is there, a file's or a folder's."""
        place = self.rng.choice((self.content, self.content, self.root / "other"))
        while True:
            place /= self.rng.choice(sorted(os.listdir(place)) or ["nothing"])
            if place.is_symlink() or not place.is_dir() or self.rng.random() < 0.15:
                place.lstat()
                return place

    def write(self) -> None:
        place = self.place()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(self.data())

    def touch(self) -> None:
        os.utime(self.present())

    def set_times(self) -> None:
        """Edit a file and put its old time back, or set a time to come."""
        place = self.present()
        before = place.stat()
        if place.is_file():
            place.write_bytes(self.data())
        ahead = self.rng.choice((0, 0, 3600 * 10**9))
        os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns + ahead))

    def remove(self) -> None:
        self.present().unlink()

    def rename(self) -> None:
        target = self.rng.choice((self.place, self.folder))()
        self.present().replace(target)

    def make_folder(self) -> None:
        self.place().mkdir(parents=True)

    def link(self) -> None:
        place = self.rng.choice((self.place, self.folder))()
        targets = (
            self.present(), self.folder(), self.place(), self.outside, place.parent,
            self.outside / "0009-out.md", self.root / "nowhere",
        )  # fmt: skip
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(self.rng.choice(targets))

    def hard_link(self) -> None:
        os.link(self.outside / "0009-out.md", self.place())

    def edit_outside(self) -> None:
        (self.outside / "0009-out.md").write_bytes(self.data())

    def write_project(self) -> None:
        path = self.content / self.rng.choice(PROJECTS) / "_project.yml"
        if self.rng.random() < 0.3:
            path.unlink()
        else:
            path.write_text(self.rng.choice(PROJECT_FILES), encoding="utf-8")

    def swap(self) -> None:
        """Exchange two files or folders."""
        one, two, aside = self.present(), self.present(), self.root / "aside"
        one.rename(aside)
        try:
            two.rename(one)
        except OSError:
            aside.rename(one)
            raise
        aside.rename(two)

    def replace(self) -> None:
        """Put a folder in the place of a file, or the other way round."""
        place = self.present()
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
            place.write_bytes(self.data())
        else:
            place.unlink()
            place.mkdir()
            (place / "0004-d.md").write_bytes(self.data())

    def copy_tree(self) -> None:
        source, target = self.folder().parent, self.folder()
        if target.is_relative_to(source):
            raise FileExistsError
        shutil.copytree(source, target, symlinks=True)

    def remove_tree(self) -> None:
        shutil.rmtree(self.folder())

    def write_config(self) -> None:
        path = self.root / self.rng.choice(("inkan.config.json", "inkan.config.yml"))
        if self.rng.random() < 0.4:
            path.unlink()
        else:
            path.write_text(self.rng.choice(CONFIGS), encoding="utf-8")

    def move_content(self) -> None:
        """Let the content folder be a link, lead elsewhere, or be a folder again."""
        kept = self.root / f"content-{self.rng.randrange(2)}"
        if self.content.is_symlink():
            target = self.content.resolve()
            self.content.unlink()
            if self.rng.random() < 0.5:
                target.rename(self.content)
                return
            kept.mkdir(exist_ok=True)
        else:
            self.content.rename(kept)
        self.content.symlink_to(kept)


def fact_of(record: server.Record, source: server.FolderSource, call: server.Call) -> Any:
    """Return everything that a record says, its body too."""
    names = set(server.Record.__slots__) - {"handle", "folded", "body", "problems", "location"}
    plain = {name: told(getattr(record, name)) for name in sorted(names)}
    return plain, [str(problem) for problem in record.problems], source.read_body(record, call)


def told(value: Any) -> Any:
    """Return a value, or what an object's members are."""
    slots = getattr(type(value), "__slots__", None)
    if isinstance(value, (list, tuple)):
        return [told(item) for item in value]
    return {name: told(getattr(value, name)) for name in slots} if slots else value


def answers_of(catalog: server.Catalog, records: list[server.Record]) -> dict[str, str]:
    """Return what the tools answer: their tables are brought up to date, not built anew."""
    calls = [*CALLS, *(("get_record", {"id": record.id}) for record in records[:40])]
    call = server.Call("2026-12-01")
    return {f"{name} {given}": server.call_tool(catalog, name, given, call).text
            for name, given in calls}  # fmt: skip


def facts_of(catalog: server.Catalog) -> Any:
    """Return all that a source says at this moment."""
    call = server.Call("2026-12-01")
    source = catalog.source
    try:
        snapshot = source.snapshot(call)
    except server.InkanError as fault:
        return str(fault)
    bodies = source.search_bodies(snapshot.records, NEEDLES, call)
    return {
        "records": {r.id: fact_of(r, source, call) for r in snapshot.records},
        "order": [r.id for r in snapshot.records],
        "projects": {name: told(project) for name, project in snapshot.projects.items()},
        "broken": {name: str(problem) for name, problem in snapshot.broken.items()},
        "problems": sorted(map(str, snapshot.problems)),
        "missing": [str(problem) for problem in snapshot.missing],
        "looked": snapshot.looked,
        "bodies": dict(zip((r.id for r in snapshot.records), bodies[0])),
        "answers": answers_of(catalog, snapshot.records),
    }


def run(root: Path, operations: int, seed: int, *, records: int = 0, every: int = 1) -> str | None:
    """Do so many operations below a folder; return what differed, or nothing.

    The archive has so many records at first, and is compared after ``every`` so many operations.
    """
    playground = Playground(root, seed)
    if records:
        generate.write_archive(playground.root, records)

    def new_catalog() -> server.Catalog:
        root = os.fspath(playground.root)
        return server.Catalog(server.FolderSource(root, lambda _: None, {}))

    living = new_catalog()
    done: list[str] = []
    for number in range(operations):
        done.append(playground.step())
        if playground.rng.random() < 0.2 / every:
            time.sleep(HOT_SECONDS * 1.5)
        if number % every:
            continue
        seen, expected = facts_of(living), facts_of(new_catalog())
        if seen != expected:
            last = done[-max(5, every) :]
            return f"seed {seed}, operation {number}: {last}\n{difference(seen, expected)}"
    return None


def difference(seen: Any, expected: Any) -> str:
    """Return where two facts differ."""
    if not isinstance(seen, dict) or not isinstance(expected, dict):
        return f"  the living source: {seen!r}\n  a fresh one:       {expected!r}"
    names = [n for n in {**seen, **expected} if seen.get(n) != expected.get(n)]
    return "\n".join(f" {n}:\n{difference(seen.get(n), expected.get(n))}" for n in names)


@contextlib.contextmanager
def short_hot_time():
    """Let files be cold sooner, so that a run without sleeps meets cold ones too."""
    before, server.HOT_NANOSECONDS = server.HOT_NANOSECONDS, int(HOT_SECONDS * 1e9)
    try:
        yield
    finally:
        server.HOT_NANOSECONDS = before


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, run, report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--operations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--records", type=int, default=0, help="in the archive at first")
    parser.add_argument("--every", type=int, default=1, help="operations per comparison")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, short_hot_time():
        options = {"records": given.records, "every": given.every}
        fault = run(Path(folder).resolve(), given.operations, given.seed, **options)
    sys.stdout.write(fault or f"{given.operations} operations, no difference")
    sys.stdout.write("\n")
    return 1 if fault else 0


if __name__ == "__main__":
    sys.exit(main())
