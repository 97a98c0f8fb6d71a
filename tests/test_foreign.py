"""Archives that are not inkan's: where they are found, and what is read of them.

Each `data/foreign/NAME/` is a repository as a team keeps it; `NAME.json` beside it has the facts:
the archives that are found, and every record with the trap that it sets. A new trap is a new file
and a line of facts.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from helpers import DATA, TODAY

import inkan_mcp

FOREIGN = DATA / "foreign"
FACTS = {path.stem: json.loads(path.read_text("utf-8")) for path in FOREIGN.glob("*.json")}
TRAPS = [
    pytest.param(name, facts, id=f"{name}: {facts['trap']}")
    for name, archive in sorted(FACTS.items())
    for facts in archive["records"]
]
MEMBERS = {"statusText": "status_text", "supersededBy": "superseded_by"}


def found_in(root: Path) -> list[inkan_mcp.ForeignArchive]:
    """Return the archives of a repository."""
    return inkan_mcp.find_foreign_archives(str(root), inkan_mcp.Call(TODAY))[0]


def read_folder(archive: inkan_mcp.ForeignArchive) -> list[inkan_mcp.Record]:
    """Return the records of one archive, read in the way of a source."""
    records: list[inkan_mcp.Record | None] = []
    reader = archive.reader
    for folder, folders, names in os.walk(archive.folder):
        folders[:] = sorted(name for name in folders if reader.enters(name))
        relative = os.path.relpath(folder, archive.folder).replace(os.sep, "/")
        relative = "" if relative == "." else relative
        taken = [name for name in sorted(names) if reader.refuses(relative, name) is None]
        records += [read_file(reader, Path(folder, n), f"{relative}/{n}") for n in taken]
    kept = [record for record in records if record is not None]
    reader.settle(kept)
    return kept


def read_file(reader: Any, path: Path, relative: str) -> inkan_mcp.Record | None:
    """Return the record of one file, with the metadata beside it."""
    relative = relative.lstrip("/")
    text = path.read_bytes().decode("utf-8")
    beside = reader.sidecar(relative.rpartition("/")[0], path.name)
    if beside and path.with_name(beside).exists():
        text = inkan_mcp.with_metadata(text, path.with_name(beside).read_text("utf-8"))
    try:
        origin = reader.origin(relative, str(path))
        return reader.parse(text, origin, inkan_mcp.Rules())
    except inkan_mcp.NotARecord:
        return None


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the archives to where no repository lies above them, whose name they would take."""
    top = tmp_path_factory.mktemp("foreign")
    for name in FACTS:
        shutil.copytree(FOREIGN / name, top / name)
    return top


@pytest.fixture(scope="module")
def records(copies: Path) -> dict[str, list[inkan_mcp.Record]]:
    return {
        name: [record for archive in found_in(copies / name) for record in read_folder(archive)]
        for name in FACTS
    }


@pytest.mark.parametrize("name", sorted(FACTS))
def test_archives_are_found_with_their_projects(name: str, copies: Path) -> None:
    found = {
        os.path.relpath(archive.folder, copies / name).replace(os.sep, "/"): archive
        for archive in found_in(copies / name)
    }
    expected = {fact["folder"] or ".": fact for fact in FACTS[name]["archives"]}
    assert found.keys() == expected.keys()
    for folder, fact in expected.items():
        assert found[folder].project == fact["project"]
        assert fact.get("convention") in (None, found[folder].convention)


@pytest.mark.parametrize("name", sorted(FACTS))
def test_every_record_is_read_and_nothing_else(name: str, records: dict[str, Any]) -> None:
    expected = {fact["path"]: fact["id"] for fact in FACTS[name]["records"]}
    assert {record.path: record.id for record in records[name]} == expected
    assert len(records[name]) == len(expected)


@pytest.mark.parametrize(("name", "facts"), TRAPS)
def test_record_states_its_facts(name: str, facts: dict[str, Any], records: Any) -> None:
    record = next(record for record in records[name] if record.path == facts["path"])
    for member, expected in facts.items():
        if member in ("trap", "problems", "fields"):
            continue
        value = getattr(record, MEMBERS.get(member, member))
        assert (list(value) if isinstance(value, tuple) else value) == expected, member
    assert dict(record.fields, **facts.get("fields", {})) == record.fields


@pytest.mark.parametrize(("name", "facts"), TRAPS)
def test_faults_are_told_with_their_line(name: str, facts: dict[str, Any], records: Any) -> None:
    record = next(record for record in records[name] if record.path == facts["path"])
    expected = facts.get("problems", [])
    assert len(record.problems) == len(expected)
    for problem, wanted in zip(record.problems, expected):
        kind, _, rest = wanted.partition(":")
        line, _, words = rest.partition(": ")
        assert problem.kind == kind
        assert not line or problem.line == int(line)
        assert words in problem.sentence


def test_settling_again_after_a_change_decides_anew(copies: Path) -> None:
    (archive,) = found_in(copies / "undecided")
    before = read_folder(archive)
    origin = archive.reader.origin("0003-late.md", "")
    late = archive.reader.parse("# Late\n\nDate: 12/31/2020\n", origin, inkan_mcp.Rules())
    archive.reader.settle([*before, late])
    assert [record.date for record in before] == ["2020-03-04", "2020-04-04"]
    archive.reader.settle(before)
    assert [record.date for record in before] == [None, "2020-04-04"]
    assert [len(record.problems) for record in before] == [1, 0]


@pytest.mark.parametrize(
    ("stem", "template"),
    [
        ("template", True), ("0000-template", True), ("adr-template-bare-minimal", True),
        ("001-ADR-template", True), ("adr000-template", True), ("NNNN-title", True),
        ("ADRXXX-title", True), ("20xx-xx-xx.TEMPLATE", True), ("2024-01-01-template", True),
        ("0012-new-email-template", False), ("0031-use-minijinja-for-templates", False),
        ("0007-template-engine", False),
    ],
)  # fmt: skip
def test_only_a_whole_name_makes_a_template(stem: str, template: bool) -> None:
    assert inkan_mcp.is_template(stem) is template


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("Superseded (as never built) by [ADR 32](/adr/32)", "superseded"),
        ("Obsolete", "superseded"),
        ("superceded", "superseded"), ("Rejected in favour of ADR 111", "rejected"),
        ("no-go", "rejected"),
        ("No longer relevant.", "deprecated"), ("Inactive (superseded by CIP-2)", "deprecated"),
        ("Incomplete", "proposed"), ("In Review", "proposed"), ("Last Call", "proposed"),
        ("proposed | partially superseded by ADR-3", "proposed"), ("APPRROVED", "accepted"),
        ("[ADOPTED](/README.md#adopted)", "accepted"),
        ("Accepted, not implemented yet", "accepted"),
        ("Implemented (Swift 5.8)", "implemented"), ("`Implemented`", "implemented"),
        ("Implemented. Superseded by [ADR 4](4.md)", "superseded"),
        ("Implemented. Parts of this ADR were superseded by ADR 4", "implemented"),
        ("approved/implemented", None), ("draft or accepted", None), ("", None),
        ("activation", None),
    ],
)  # fmt: skip
def test_written_status_becomes_one_of_eight(words: str, status: str | None) -> None:
    assert inkan_mcp.canonical_status(words) == status


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2020-2-3", "2020-02-03"), ("2020/02/03", "2020-02-03"), ("2020.02.03", "2020-02-03"),
        ("20200203", "2020-02-03"), ("2020-02-03T10:11:12Z", "2020-02-03"),
        ("<2020-02-03>", "2020-02-03"),
        ("3 Feb 2020", "2020-02-03"), ("3-Feb-2020", "2020-02-03"), ("2020-Feb-03", "2020-02-03"),
        ("3rd of February 2020", "2020-02-03"),
        ("Feb 3rd, 2020", "2020-02-03"), ("February 2020", "2020-02"), ("2020-02", "2020-02"),
        ("3.2.2020", "2020-02-03"), ("13/2/2020", "2020-02-13"), ("2/13/2020", "2020-02-13"),
        ("accepted on 2020-02-03, mended on 2021-01-01", "2020-02-03"),
        ("2025-11019", None), ("2024-023-2706", None), ("2022-05-??", None), ("20201-02-13", None),
        ("Smarch 3, 2020", None), ("45/45/2020", None), ("2020-02-30", None), ("v1.2", None),
    ],
)  # fmt: skip
def test_date_is_read_in_any_form(text: str, date: str | None) -> None:
    found = inkan_mcp.find_date(text)
    assert (found.iso if found else None) == date


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("[2. X](0002-x.md) and [ADR 3](/adr/3)", ["[2. X](0002-x.md)", "[ADR 3](/adr/3)"]),
        ("ADR-0009", ["ADR-0009"]), ("#6, #7", ["6", "7"]), ("[[0003-x]]", ["[[0003-x]]"]),
        ("../adr/0003-x.html", ["../adr/0003-x.html"]), ("0003-x", ["0003-x"]),
        ("649, 749", ["649", "749"]),
        ("https://example.org/adr/0003-x.md (in part)", ["https://example.org/adr/0003-x.md"]),
        ("the old way", ["the old way"]), ("N/A", []), ("-", []), ("{ADR}", []),
        ("2020-01-02", ["2020-01-02"]),
    ],
)  # fmt: skip
def test_targets_are_parted_and_cleaned(text: str, targets: list[str]) -> None:
    assert inkan_mcp.list_targets(text, whole=True) == targets


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://github.com/acme/depot.git", "depot"), ("git@example.org:acme/depot", "depot"),
        ("ssh://git@example.org/acme/depot/", "depot"), ("", "here"),
    ],
)  # fmt: skip
def test_repository_names_the_project(tmp_path: Path, address: str, name: str) -> None:
    root = tmp_path / "here"
    (root / "docs/adr").mkdir(parents=True)
    (root / "docs/adr/0001-a.md").write_text("# A\n", "utf-8")
    (root / ".git").mkdir()
    remote = f'[remote "origin"]\n\turl = {address}\n' if address else ""
    (root / ".git/config").write_text(f"[core]\n\tbare = false\n{remote}[branch]\n", "utf-8")
    assert [archive.project for archive in found_in(root)] == [name]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".adr.json", '{"path": "notes/log", "language": "en"}'),
        ("adrs.toml", 'adr_dir = "notes/log"\n'),
        (".adr-dir", "./notes/log\n"),
        (
            "catalog-info.yaml",
            "metadata:\n  annotations:\n    backstage.io/adr-location: notes/log\n",
        ),
    ],
)
def test_pointer_file_settles_where_records_are(tmp_path: Path, file: str, text: str) -> None:
    for folder in ("notes/log", "docs/adr"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "0001-a.md").write_text("# A\n", "utf-8")
    (tmp_path / file).write_text(text, "utf-8")
    assert [archive.folder for archive in found_in(tmp_path)] == [str(tmp_path / "notes" / "log")]


@pytest.mark.parametrize("pointer", ["../outside", "/etc", "missing"])
def test_pointer_out_of_the_root_or_to_nothing_is_passed_over(tmp_path: Path, pointer: str) -> None:
    root = tmp_path / "root"
    for folder in (root / "docs/adr", tmp_path / "outside"):
        folder.mkdir(parents=True)
        (folder / "0001-a.md").write_text("# A\n", "utf-8")
    (root / ".adr-dir").write_text(pointer, "utf-8")
    assert [archive.folder for archive in found_in(root)] == [str(root / "docs" / "adr")]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_links_are_not_followed_in_the_search(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    for folder in (outside / "adr", root):
        folder.mkdir(parents=True)
    (outside / "adr/0001-a.md").write_text("# A\n", "utf-8")
    (root / "docs").symlink_to(outside, target_is_directory=True)
    (root / "loop").symlink_to(root, target_is_directory=True)
    assert found_in(root) == []


def test_every_folder_on_the_way_is_watched(tmp_path: Path) -> None:
    (tmp_path / "a/b/docs/adr/old").mkdir(parents=True)
    (tmp_path / "a/b/docs/adr/0001-a.md").write_text("# A\n", "utf-8")
    (tmp_path / ".adr-dir").write_text("a/b/docs/adr", "utf-8")
    _, watched = inkan_mcp.find_foreign_archives(str(tmp_path), inkan_mcp.Call(TODAY))
    on_the_way = ["", "a", "a/b", "a/b/docs", "a/b/docs/adr", "a/b/docs/adr/old", ".adr-dir"]
    assert {os.path.normpath(tmp_path / part) for part in on_the_way} <= set(watched)


def test_search_ends_when_its_call_is_cancelled(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"folder-{number}").mkdir()
    call = inkan_mcp.Call(TODAY)
    call.cancelled = True
    with pytest.raises(inkan_mcp.Cancelled):
        inkan_mcp.find_foreign_archives(str(tmp_path), call)


HOSTILE = {
    "brackets": "# T\n\n## Status\n\n" + "[" * 50_000,
    "links": "# T\n\n## Status\n\nSuperseded by " + "[a](" * 20_000,
    "bars": "# T\n\n" + "|" * 50_000,
    "cells": "# T\n\n" + "<td>" * 20_000,
    "comments": "<!--" * 20_000,
    "fences": "```\n" * 20_000,
    "labels": "# T\n\n" + "Status: \n" * 10_000,
    "phrases": "# T\n\n## Status\n\n" + "superseded " * 10_000,
    "rules": "a\n---\n" * 10_000,
    "headings": "# a\n" * 20_000,
    "header": "Title: a\nStatus: b\n" + "X: c\n" * 20_000,
    "one line": "# " + "a" * 200_000,
    "controls": "\0\u2028\ud800 # x\n" * 10_000,
}


@pytest.mark.parametrize("ending", [".md", ".rst", ".adoc"])
@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_text_is_read_in_linear_time(name: str, ending: str) -> None:
    origin = inkan_mcp.Origin("p/adr/0001-x", f"adr/0001-x{ending}")
    start = time.perf_counter()
    record = inkan_mcp.parse_plain_record(HOSTILE[name], origin, inkan_mcp.Rules())
    assert record is not None
    assert time.perf_counter() - start < 5.0


def test_broken_records_never_raise(records: dict[str, list[inkan_mcp.Record]]) -> None:
    paths = [Path(record.location) for each in records.values() for record in each]
    texts = [path.read_bytes().decode("utf-8") for path in paths]
    chance = random.Random(7)
    for number in range(400):
        text = chance.choice(texts)
        at, size = chance.randrange(len(text)), chance.randrange(30)
        noise = chance.choice(["", "\n", "---\n", "<!--", "```\n", "|", "[", "**", "\0", "2020-"])
        broken = text[:at] + noise + text[at + size :]
        origin = inkan_mcp.Origin("p/adr/0001-x", "adr/0001-x" + chance.choice([".md", ".rst"]))
        assert inkan_mcp.parse_plain_record(broken, origin, inkan_mcp.Rules()), (number, broken)


def test_summary_says_what_was_recognised(copies: Path) -> None:
    (archive,) = found_in(copies / "madr")
    summary = inkan_mcp.archive_summary(archive, read_folder(archive))
    assert summary.startswith(f"{archive.folder}: MADR, 17 records, ")
    assert "without a status (they count as current)" in summary
    assert summary.endswith(", 1 repair")


def test_reader_adopts_a_later_search_unless_ids_change(tmp_path: Path) -> None:
    (tmp_path / "docs/adr").mkdir(parents=True)
    (tmp_path / "docs/adr/0001-a.md").write_text("# A\n", "utf-8")
    (before,) = found_in(tmp_path)
    (tmp_path / "docs/adr/0002-b").mkdir()
    (tmp_path / "docs/adr/0002-b/README.md").write_text("# B\n", "utf-8")
    assert before.reader.refuses("0002-b", "README.md") is not None
    assert before.reader.adopt(found_in(tmp_path)[0].reader)
    assert before.reader.refuses("0002-b", "README.md") is None
    (tmp_path / "web/docs/adr").mkdir(parents=True)
    (tmp_path / "web/docs/adr/0001-a.md").write_text("# A\n", "utf-8")
    (tmp_path / "docs/adr/web").mkdir()
    (tmp_path / "docs/adr/web/0001-a.md").write_text("# A\n", "utf-8")
    assert not before.reader.adopt(found_in(tmp_path)[0].reader)
