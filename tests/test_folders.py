"""What a content folder holds: what is read, what is left out and why, and live edits."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fuzz import fuzz_folders
from helpers import (
    BROKEN,
    SAMPLE,
    TOP,
    Server,
    ToolError,
    child_environment,
    run_server,
    server_command,
    tree_hash,
    write_records,
)

import inkan_mcp as server

RECORD = "---\ntitle: A\nstatus: accepted\n---\n\nBody\n"
OLD = 60.0  # seconds; files older than two seconds are cold

needs_links = pytest.mark.skipif(os.name == "nt", reason="links need a right on Windows")
posix_only = pytest.mark.skipif(os.name == "nt", reason="no such thing on Windows")


def record(title: str = "A", body: str = "Body", **keys: object) -> str:
    """Return the text of a record."""
    lines = "".join(f"{key}: {value}\n" for key, value in keys.items())
    return f"---\ntitle: {title}\n{lines}---\n\n{body}\n"


class Folder:
    """An archive in a folder and a source that reads it; ``said`` is what went to stderr."""

    def __init__(self, root: Path) -> None:
        self.root = root
        if not (root / "inkan.config.json").exists():
            write_records(root, {"inkan.config.json": "{}"}, age=OLD)
        self.said: list[str] = []
        self.source = server.FolderSource(os.fspath(root), self.said.append, {})

    def write(self, age: float = OLD, **files: str | bytes) -> Path:
        """Write files below the root; the keys are paths."""
        return write_records(self.root, files, age=age)

    def content(self, files: dict[str, str | bytes], age: float = OLD) -> Path:
        """Write files below the content folder."""
        return write_records(self.root / "content", files, age=age)

    def look(self) -> server.Snapshot:
        """Return what the source says now."""
        return self.source.snapshot(server.Call("2026-12-01"))

    @property
    def ids(self) -> list[str]:
        """The ids of the records now, sorted."""
        return sorted(found.id for found in self.look().records)

    @property
    def titles(self) -> dict[str, str]:
        """The titles of the records now, by id."""
        return {found.id: found.title for found in self.look().records}

    @property
    def problems(self) -> list[str]:
        """All problems now, as people read them."""
        return [str(problem) for problem in self.look().problems]

    def only(self) -> server.Record:
        """Return the one record that there is."""
        (found,) = self.look().records
        return found


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@contextmanager
def as_nobody() -> Iterator[Path]:
    """Give a folder that the test may write, under a user whom permissions bind."""
    place = Path(tempfile.mkdtemp()).resolve()
    place.chmod(0o777)
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    try:
        if is_root:
            os.seteuid(65534)
        yield place
    finally:
        if is_root:
            os.seteuid(0)
        shutil.rmtree(place, ignore_errors=True)


# Which files are records


@pytest.mark.parametrize(
    "name",
    [
        "sre/adr/0001-a.md", "sre/adr/0001-a.mdx", "sre/adr/a.md", "sre/0001-a.md", "0001-a.md",
        "sre/adr/deep/er/0001-a.md", "sre/adr/0012-new-email-template.md", "sre/adr/0001-a.MD",
        "sre/adr/0001-readme.md", "sre/adr/0001 a b.md", "sre/adr/0001-größe.md",
        "sre/adr.md/0001-a.md", "sre/adr/a.b.md",
    ],
)  # fmt: skip
def test_markdown_below_the_content_folder_is_a_record(folder, name):
    folder.content({name: RECORD})
    assert folder.ids == [name.rpartition(".")[0]]


@pytest.mark.parametrize(
    "name",
    [
        "sre/adr/_draft.md", "sre/adr/.hidden.md", "sre/_drafts/0001-a.md", "_old/adr/0001-a.md",
        ".git/adr/0001-a.md", "sre/adr/README.md", "sre/adr/readme.md", "sre/adr/index.md",
        "sre/adr/Index.mdx", "node_modules/adr/0001-a.md", "sre/node_modules/0001-a.md",
        "sre/adr/0001-a.txt", "sre/adr/0001-a.markdown", "sre/adr/md", "sre/adr/0001-a.md.bak",
        "sre/adr/template.md", "sre/adr/adr-template.md", "sre/adr/TEMPLATE.md",
    ],
)  # fmt: skip
def test_other_files_are_no_records(folder, name):
    folder.content({name: RECORD, "sre/adr/0002-b.md": RECORD})
    assert folder.ids == ["sre/adr/0002-b"]
    assert folder.problems == []


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "changelog.md", "glossary.md", "toc.md"])
def test_accompanying_file_is_no_record_and_no_fault_without_front_matter(folder, name):
    folder.content({f"sre/adr/{name}": "# About\n", "sre/adr/0002-b.md": RECORD})
    assert folder.ids == ["sre/adr/0002-b"]
    assert folder.problems == []


def test_accompanying_file_with_front_matter_is_a_record(folder):
    folder.content({"sre/adr/glossary.md": RECORD})
    assert folder.ids == ["sre/adr/glossary"]


def test_numbered_template_with_a_placeholder_heading_is_no_record(folder):
    text = "---\nstatus: proposed\n---\n\n# {short title of the decision}\n"
    folder.content({"sre/adr/0000-template.md": text, "sre/adr/0002-b.md": RECORD})
    assert folder.ids == ["sre/adr/0002-b"]


def test_numbered_template_with_a_real_heading_is_a_record(folder):
    text = "---\nstatus: accepted\n---\n\n# Use Markdown templates\n"
    folder.content({"sre/adr/0000-template.md": text})
    assert folder.ids == ["sre/adr/0000-template"]


def test_draft_is_left_out_without_a_word(folder):
    folder.content({"sre/adr/0001-a.md": record(draft="true"), "sre/adr/0002-b.md": RECORD})
    assert folder.ids == ["sre/adr/0002-b"]
    assert folder.problems == []


# Ids, projects, types, numbers, refs


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sre/adr/0001-slos.md", ("sre/adr/0001-slos", "sre", "adr", "0001", "SRE-ADR-0001")),
        ("sre/adr/7-x.md", ("sre/adr/7-x", "sre", "adr", "7", "SRE-ADR-7")),
        ("sre/0001-x.md", ("sre/0001-x", "sre", None, "0001", None)),
        ("0001-x.md", ("0001-x", None, None, "0001", None)),
        ("sre/adr/slug.md", ("sre/adr/slug", "sre", "adr", None, None)),
        ("sre/adr/20240105-x.md", ("sre/adr/20240105-x", "sre", "adr", None, None)),
        ("sre/adr/2024-01-05-x.md", ("sre/adr/2024-01-05-x", "sre", "adr", None, None)),
        ("sre/a/b/0001-x.md", ("sre/a/b/0001-x", "sre", "b", "0001", "SRE-B-0001")),
        ("sre/adr/²-x.md", ("sre/adr/²-x", "sre", "adr", None, None)),
    ],
)
def test_path_gives_id_project_type_number_and_ref(folder, name, expected):
    folder.content({name: RECORD})
    found = folder.only()
    assert (found.id, found.project, found.type, found.number, found.ref) == expected


def test_type_of_the_front_matter_beats_the_folder(folder):
    folder.content({"sre/adr/0001-a.md": record(type="rfc")})
    assert (folder.only().type, folder.only().ref) == ("rfc", "SRE-RFC-0001")


def test_ref_uses_the_key_of_the_project(folder):
    folder.content({"sre/adr/0001-a.md": RECORD, "sre/_project.yml": "key: ops\n"})
    assert folder.only().ref == "OPS-ADR-0001"
    assert folder.only().ref == "OPS-ADR-0001"  # and on the next call


def test_id_is_nfc_whatever_the_file_system_says(folder):
    folder.content({"sre/adr/0001-gro\u0308\u00dfe.md": RECORD})
    assert folder.only().id == "sre/adr/0001-gr\u00f6\u00dfe"
    assert folder.source.read_body(folder.only(), server.Call("")).strip() == "Body"


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux alone")
def test_undecodable_name_is_served_with_a_replacement_and_can_be_read(folder):
    folder.content({"sre/adr/0002-b.md": RECORD})
    place = os.fsencode(folder.root / "content" / "sre" / "adr") + b"/0001-caf\xe9.md"
    with open(place, "wb") as stream:
        stream.write(RECORD.encode())
    with Server("--root", folder.root) as client:
        found = client.call("search_records")["records"]
        assert [item["id"] for item in found] == ["sre/adr/0001-caf\ufffd", "sre/adr/0002-b"]
        assert client.call("get_record", id="sre/adr/0001-caf\ufffd")["body"].strip() == "Body"


# _project.yml


def test_project_file_describes_the_project(folder):
    folder.content(
        {
            "sre/_project.yml": 'name: SRE\ndescription: D\nowners: ["@a"]\norder: 2\nkey: S\n',
            "sre/adr/0001-a.md": RECORD,
        }
    )
    project = folder.look().projects["sre"]
    assert (project.name, project.description, project.owners) == ("SRE", "D", ["@a"])
    assert (project.order, project.key) == (2, "S")


def test_folder_with_a_project_file_alone_is_a_project(folder):
    folder.content({"sre/_project.yml": "name: SRE\n", "web/adr/0001-a.md": RECORD, "x/a.txt": ""})
    assert sorted(folder.look().projects) == ["sre", "web"]


def test_review_cycle_of_the_project_overrides_that_of_the_config(folder):
    folder.write(**{"inkan.config.json": '{"review": {"every": "1 year"}}'})
    old = record(status="accepted", date="2024-01-01")
    folder.content(
        {"a/adr/1-a.md": old, "b/adr/1-b.md": old, "b/_project.yml": "review: {every: 6 months}"}
    )
    due = {found.id: found.review.due for found in folder.look().records}
    assert due == {"a/adr/1-a": "2025-01-01", "b/adr/1-b": "2024-07-01"}


@pytest.mark.parametrize("text", ["[\n", "- a\n", b"name: \xff\n", "name: a\0\n", "just text\n"])
def test_broken_project_file_is_named_and_its_records_stay(folder, text):
    folder.content({"sre/_project.yml": text, "sre/adr/0001-a.md": RECORD})
    assert folder.ids == ["sre/adr/0001-a"]
    (problem,) = folder.problems
    assert problem.startswith("content/sre/_project.yml:")
    assert folder.look().projects["sre"].name == "sre"


def test_project_file_below_the_first_level_means_nothing(folder):
    folder.content({"sre/adr/_project.yml": "key: X\n", "sre/adr/0001-a.md": RECORD})
    assert folder.only().ref == "SRE-ADR-0001"


@posix_only
def test_project_file_that_is_a_pipe_is_named_and_holds_nothing_up(folder):
    folder.content({"sre/adr/0001-a.md": RECORD})
    os.mkfifo(folder.root / "content" / "sre" / "_project.yml")
    assert folder.ids == ["sre/adr/0001-a"]
    assert "no regular file" in folder.problems[0]


@needs_links
def test_project_file_that_leads_out_of_the_archive_is_not_read(folder):
    secret = folder.root / "secret.yml"
    secret.write_text("name: Secret\n", encoding="utf-8")
    folder.content({"sre/adr/0001-a.md": RECORD})
    (folder.root / "content" / "sre" / "_project.yml").symlink_to(secret)
    assert folder.look().projects["sre"].name == "sre"
    assert "leads out" in folder.problems[0]


# Broken files


@pytest.mark.parametrize(
    ("data", "place", "words"),
    [
        ("---\ntitle: [a\n---\n", None, ""),
        ("---\ntitle: A\n\n# A\n", "1:1", "never closed"),
        ("", "1:1", "the file is empty"),
        ("---\n- a\n---\n", "2:1", "a list"),
        ("---\njust words\n---\n", "2:1", "one text"),
        (b"---\ntitle: caf\xe9\n---\n", "2:11", "byte 15 of the file (0xe9) is not UTF-8"),
        (b"\xff\xfe-\0-\0-\0", "1:1", "byte 1 of the file (0xff) is not UTF-8"),
        (b"---\ntitle: a\n---\n\n\0\n", "5:1", "NUL"),
        (b"---\n" + b"#" * (4 * 2**20), None, "larger than 4 MiB"),
    ],
    ids=["yaml", "open", "empty", "list", "text", "latin1", "utf16", "nul", "large"],
)
def test_broken_file_is_left_out_with_place_and_reason(folder, data, place, words):
    folder.content({"sre/adr/0001-a.md": data, "sre/adr/0002-b.md": RECORD})
    snapshot = folder.look()
    assert [found.id for found in snapshot.records] == ["sre/adr/0002-b"]
    (problem,) = snapshot.problems
    assert words in problem.sentence
    if place:
        assert str(problem).startswith(f"content/sre/adr/0001-a.md:{place}: ")
    assert list(snapshot.broken) == ["sre/adr/0001-a"]
    assert snapshot.missing == snapshot.problems


def test_file_without_front_matter_is_read_from_its_text(folder):
    folder.content({"sre/adr/0001-a.md": "# 1. Use Kafka\n\n## Status\n\nRejected\n"})
    found = folder.only()
    assert (found.id, found.title, found.status) == ("sre/adr/0001-a", "Use Kafka", "rejected")
    assert folder.look().missing == []


def test_file_of_exactly_4_mib_is_read(folder):
    text = RECORD + "x" * (4 * 2**20 - len(RECORD))
    folder.content({"sre/adr/0001-a.md": text})
    assert folder.ids == ["sre/adr/0001-a"]


def test_unquoted_colon_is_repaired_and_reported(folder):
    folder.content({"sre/adr/0001-a.md": "---\ntitle: ADR-1: Use X\n---\n"})
    assert folder.only().title == "ADR-1: Use X"
    assert len(folder.problems) == 1
    assert folder.look().missing == []


def test_get_record_of_a_broken_file_answers_with_its_reason():
    with Server("--root", BROKEN) as client:
        for name in ("shop/adr/0003-latin-1", "shop/adr/3", "0003-latin-1", "SHOP/ADR/0003"):
            with pytest.raises(ToolError, match=r"0003-latin-1\.md:\d+:\d+: byte \d+ of the file"):
                client.call("get_record", id=name)


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_other_line_ends_are_read(folder, newline):
    folder.content({"sre/adr/0001-a.md": record(status="accepted").replace("\n", newline)})
    assert (folder.only().title, folder.only().status) == ("A", "accepted")


def test_byte_order_mark_is_dropped(folder):
    folder.content({"sre/adr/0001-a.md": "\ufeff" + RECORD, "sre/_project.yml": "\ufeffname: N\n"})
    assert folder.only().title == "A"
    assert folder.look().projects["sre"].name == "N"


@posix_only
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_what_is_no_regular_file_is_left_out_and_holds_nothing_up(folder, kind, monkeypatch):
    folder.content({"sre/adr/0002-b.md": RECORD})
    # the path of a socket may not be long
    monkeypatch.chdir(folder.root / "content" / "sre" / "adr")
    if kind == "pipe":
        os.mkfifo("0001-a.md")
    else:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("0001-a.md")
    assert folder.ids == ["sre/adr/0002-b"]
    assert folder.problems == [
        "content/sre/adr/0001-a.md: the file cannot be read: it is no regular file"
    ]
    assert "sre/adr/0001-a" in folder.look().broken


@posix_only
def test_link_to_a_device_is_not_read(folder):
    folder.content({"sre/adr/0002-b.md": RECORD})
    (folder.root / "content/sre/adr/0001-a.md").symlink_to("/dev/zero")
    assert folder.ids == ["sre/adr/0002-b"]


@posix_only
def test_file_without_permission_is_named_and_read_once_it_has_it():
    with as_nobody() as place:
        folder = Folder(place)
        folder.content({"sre/adr/0001-a.md": RECORD, "sre/adr/0002-b.md": RECORD})
        path = place / "content/sre/adr/0001-a.md"
        path.chmod(0)
        if os.access(path, os.R_OK, effective_ids=True):
            pytest.skip("permissions bind nobody here")
        before = folder.look()
        assert [found.id for found in before.records] == ["sre/adr/0002-b"]
        assert "Permission denied" in str(before.broken["sre/adr/0001-a"])
        assert folder.look() is before
        path.chmod(0o644)
        assert folder.ids == ["sre/adr/0001-a", "sre/adr/0002-b"]


@posix_only
@pytest.mark.parametrize("mode", [0o000, 0o400, 0o100])
def test_folder_without_permission_is_named_and_others_stay(mode):
    with as_nobody() as place:
        folder = Folder(place)
        files = {"sre/adr/0001-a.md": RECORD, "sre/_project.yml": "key: K\n", "web/a.md": RECORD}
        folder.content(files)
        assert folder.ids == ["sre/adr/0001-a", "web/a"]
        closed = place / "content" / "sre"
        closed.chmod(mode)
        if os.access(closed, os.R_OK | os.X_OK, effective_ids=True):
            pytest.skip("permissions bind nobody here")
        before = folder.look()
        assert [found.id for found in before.records] == ["web/a"]
        reasons = [line for line in folder.problems if line.startswith("content/sre")]
        assert any("Permission denied" in line for line in reasons)
        assert folder.look() is before
        closed.chmod(0o755)
        assert folder.ids == ["sre/adr/0001-a", "web/a"]
        assert folder.look().records[0].ref == "K-ADR-0001"


# Symbolic links


@needs_links
class TestLinks:
    @pytest.fixture
    def content(self, folder: Folder) -> Path:
        folder.content({"sre/adr/0001-a.md": RECORD, "web/adr/0001-b.md": RECORD})
        return folder.root / "content"

    def test_link_to_a_file_inside_is_a_record(self, folder, content):
        (content / "sre/adr/0005-c.md").symlink_to("../../web/adr/0001-b.md")
        assert "sre/adr/0005-c" in folder.ids
        assert folder.problems == []

    def test_link_to_a_folder_inside_is_looked_into(self, folder, content):
        (content / "old").symlink_to("sre", target_is_directory=True)
        assert folder.ids == ["old/adr/0001-a", "sre/adr/0001-a", "web/adr/0001-b"]
        found = folder.look().records[0]
        assert folder.source.read_body(found, server.Call("")).strip() == "Body"

    def test_edit_behind_a_link_is_seen(self, folder, content):
        (content / "old").symlink_to("sre", target_is_directory=True)
        assert folder.titles["old/adr/0001-a"] == "A"
        (content / "sre/adr/0001-a.md").write_text(record("B"), encoding="utf-8")
        assert folder.titles["old/adr/0001-a"] == "B"

    @pytest.mark.parametrize("name", ["0009-out.md", "outside"])
    def test_link_out_of_the_archive_is_refused(self, folder, content, name):
        write_records(folder.root, {"secret/0001-s.md": RECORD})
        target = folder.root / ("secret/0001-s.md" if name.endswith(".md") else "secret")
        (content / "sre" / name).symlink_to(target)
        assert folder.ids == ["sre/adr/0001-a", "web/adr/0001-b"]
        assert folder.problems == [
            f"content/sre/{name}: the symbolic link leads out of the archive's folders and is not "
            "followed"
        ]

    def test_get_record_of_a_refused_link_says_why(self, folder, content):
        (content / "sre/adr/0009-out.md").symlink_to("/etc/passwd")
        with Server("--root", folder.root) as client, pytest.raises(ToolError, match="leads out"):
            client.call("get_record", id="sre/adr/9")

    def test_folder_whose_name_begins_alike_is_outside(self, folder, content):
        write_records(folder.root, {"content-evil/adr/0001-e.md": RECORD})
        (content / "evil").symlink_to(folder.root / "content-evil")
        assert folder.ids == ["sre/adr/0001-a", "web/adr/0001-b"]

    def test_link_into_a_source_that_the_config_names_is_followed(self, folder, content):
        write_records(folder.root, {"more/x/0001-m.md": RECORD})
        folder.write(**{"inkan.config.json": '{"sources": [{"dir": "more"}]}'})
        (content / "also").symlink_to(folder.root / "more" / "x")
        assert folder.ids == ["also/0001-m", "sre/adr/0001-a", "web/adr/0001-b", "x/0001-m"]

    @pytest.mark.parametrize("target", [".", "..", "../..", "adr"])
    def test_loop_is_refused(self, folder, content, target):
        (content / "sre/adr/loop").symlink_to(os.path.join("..", "..", "sre", target))
        assert folder.ids == ["sre/adr/0001-a", "web/adr/0001-b"]
        assert any("content/sre/adr/loop" in line for line in folder.problems)

    def test_links_of_two_folders_to_each_other_end(self, folder, content):
        (content / "sre/w").symlink_to(content / "web")
        (content / "web/s").symlink_to(content / "sre")
        assert folder.ids == [
            "sre/adr/0001-a", "sre/w/adr/0001-b", "web/adr/0001-b", "web/s/adr/0001-a",
        ]  # fmt: skip
        assert len(folder.problems) == 2

    def test_many_folders_that_link_to_each_other_end(self, folder, content):
        names = [f"p{k}" for k in range(9)]
        for name in names:
            (content / name).mkdir()
            for other in names:
                (content / name / f"to-{other}").symlink_to(content / other)
        assert folder.ids[:1] == ["sre/adr/0001-a"]
        assert any("links to folders are followed" in line for line in folder.problems)

    def test_link_to_itself_and_dangling_link_are_named(self, folder, content):
        (content / "sre/adr/0003-x.md").symlink_to("0003-x.md")
        (content / "sre/adr/0004-x.md").symlink_to("nowhere.md")
        assert folder.ids == ["sre/adr/0001-a", "web/adr/0001-b"]
        assert len([line for line in folder.problems if "leads nowhere" in line]) == 2

    def test_link_that_is_no_record_by_its_name_is_no_fault(self, folder, content):
        (content / "sre/adr/logo.png").symlink_to("/etc/passwd")
        (content / "sre/adr/gone.png").symlink_to("nowhere.png")
        assert folder.problems == []

    def test_link_named_with_an_underscore_is_not_followed(self, folder, content):
        (content / "_old").symlink_to("sre")
        assert folder.ids == ["sre/adr/0001-a", "web/adr/0001-b"]

    def test_link_whose_target_changes_is_seen(self, folder, content):
        link = content / "sre/adr/0005-c.md"
        write_records(content, {"web/adr/0002-z.md": record("Z")}, age=OLD)
        link.symlink_to("../../web/adr/0001-b.md")
        assert folder.titles["sre/adr/0005-c"] == "A"
        link.unlink()
        link.symlink_to("../../web/adr/0002-z.md")
        assert folder.titles["sre/adr/0005-c"] == "Z"

    def test_root_behind_a_link_serves_everything(self, folder, content):
        alias = folder.root / "alias"
        alias.symlink_to(folder.root)
        seen = Folder(alias)
        (content / "sre/adr/0005-c.md").symlink_to("../../web/adr/0001-b.md")
        assert seen.ids == ["sre/adr/0001-a", "sre/adr/0005-c", "web/adr/0001-b"]
        assert seen.source.read_body(seen.look().records[0], server.Call("")).strip() == "Body"

    def test_content_folder_that_is_a_link_may_lead_elsewhere_later(self, folder, content):
        content.rename(folder.root / "one")
        write_records(folder.root, {"two/x/adr/0001-x.md": RECORD, "two/x/t.md": RECORD}, age=OLD)
        (folder.root / "two/x/adr/0002-l.md").symlink_to("../t.md")
        content.symlink_to("one")
        assert folder.ids == ["sre/adr/0001-a", "web/adr/0001-b"]
        content.unlink()
        content.symlink_to("two")
        assert folder.ids == ["x/adr/0001-x", "x/adr/0002-l", "x/t"]
        for found in folder.look().records:
            assert folder.source.read_body(found, server.Call("")).strip() == "Body"


# One id twice


def test_md_beats_mdx_with_a_warning(folder):
    folder.content({"sre/adr/0001-a.md": record("md"), "sre/adr/0001-a.mdx": record("mdx")})
    assert folder.only().title == "md"
    (problem,) = folder.problems
    assert "0001-a.mdx" in problem
    assert folder.look().missing


def test_content_folder_beats_a_source_with_the_same_id(folder):
    folder.write(**{"inkan.config.json": '{"sources": [{"dir": "more"}]}'})
    folder.write(**{"more/sre/adr/0001-a.md": record("source")})
    folder.content({"sre/adr/0001-a.md": record("content")})
    assert folder.only().title == "content"
    assert "more/sre/adr/0001-a.md" in folder.problems[0]


def test_two_files_with_one_number_are_both_kept(folder):
    folder.content({"sre/adr/0001-a.md": RECORD, "sre/adr/0001-b.md": RECORD})
    assert folder.ids == ["sre/adr/0001-a", "sre/adr/0001-b"]
    assert folder.problems == []


# Size and depth


@posix_only
def test_thousand_levels_of_folders_are_cut_with_a_sentence(folder, monkeypatch):
    folder.content({"sre/adr/0001-a.md": RECORD})
    monkeypatch.chdir(folder.root / "content")
    for _ in range(1000):  # from the inside out: a path of them all would be too long
        os.mkdir("outer")
        if os.path.exists("d"):
            os.rename("d", "outer/d")
        os.rename("outer", "d")
    try:
        assert folder.ids == ["sre/adr/0001-a"]
        (problem,) = folder.problems
        assert "folders deep" in problem
    finally:
        while os.path.exists("d/d"):  # shutil cannot remove what is this deep
            os.rename("d/d", "inner")
            os.rmdir("d")
            os.rename("inner", "d")


def test_thirty_levels_of_folders_are_read(folder):
    name = "d/" * 30 + "0001-a.md"
    folder.content({name: RECORD})
    assert folder.ids == [name[:-3]]


# Nothing found


def test_zero_records_says_where_it_looked_and_what_it_saw(folder):
    files = {"a.txt": "", "README.md": "", "b/_x.md": "", "b/0001-a.md": record(draft="true")}
    folder.content({**files, "b/0002-b.md": ""})
    looked = folder.look().looked
    assert os.fspath(folder.root.resolve() / "content") in looked
    for words in ("5 files", "1 not Markdown", "1 named README", "1 marked as draft", "1 unread"):
        assert words in looked


@pytest.mark.parametrize("tool", ["search_records", "list_projects", "list_tags", "due_reviews"])
def test_every_list_of_an_empty_archive_says_where_it_looked(tmp_path, tool):
    (tmp_path / "content").mkdir()
    (tmp_path / "inkan.config.json").write_text("{}", encoding="utf-8")
    with Server("--root", tmp_path) as client:
        (warning,) = client.call(tool)["warnings"]
    assert "No record was found in" in warning
    assert "content" in warning


def test_missing_content_folder_is_a_warning_and_heals(folder):
    folder.write(**{"inkan.config.json": '{"contentDir": "docs"}'})
    snapshot = folder.look()
    assert "does not exist" in str(snapshot.missing[0])
    assert os.fspath(folder.root / "docs") in str(snapshot.missing[0])
    folder.write(**{"docs/sre/0001-a.md": RECORD})
    assert folder.ids == ["sre/0001-a"]
    assert folder.look().missing == []
    shutil.rmtree(folder.root / "docs")
    assert folder.ids == []


def test_content_folder_that_is_a_file_is_named(folder):
    folder.write(**{"inkan.config.json": '{"contentDir": "docs"}', "docs": ""})
    assert "is no folder" in str(folder.look().missing[0])


# Sources


def test_source_with_a_project_is_that_projects_folder(folder):
    folder.write(**{"inkan.config.json": '{"sources": [{"dir": "pay", "project": "payments"}]}'})
    folder.write(
        **{"pay/adr/0001-a.md": RECORD, "pay/0002-b.md": RECORD, "pay/_project.yml": "key: P\n"}
    )
    folder.content({"sre/adr/0001-a.md": RECORD})
    assert folder.ids == ["payments/0002-b", "payments/adr/0001-a", "sre/adr/0001-a"]
    refs = {found.id: (found.ref, found.project) for found in folder.look().records}
    assert refs["payments/adr/0001-a"] == ("P-ADR-0001", "payments")
    assert refs["payments/0002-b"] == (None, "payments")


def test_source_without_a_project_is_a_content_folder(folder):
    folder.write(**{"inkan.config.json": '{"sources": [{"dir": "../more"}]}'})
    root = folder.root / "root"
    folder.root.joinpath("inkan.config.json").replace(write_records(root, {"x": ""}) / "x")
    (root / "x").replace(root / "inkan.config.json")
    write_records(folder.root, {"more/web/rfc/1-a.md": RECORD, "root/content/a/1-b.md": RECORD})
    seen = Folder(root)
    assert seen.ids == ["a/1-b", "web/rfc/1-a"]
    assert {found.path for found in seen.look().records} == {
        "content/a/1-b.md", "../more/web/rfc/1-a.md",
    }  # fmt: skip


def test_missing_source_is_in_every_list_and_fails_the_check(folder):
    folder.write(**{"inkan.config.json": '{"sources": [{"dir": "gone"}]}'})
    folder.content({"sre/adr/0001-a.md": RECORD})
    with Server("--root", folder.root) as client:
        assert "gone" in client.call("search_records")["warnings"][0]
        assert "gone" in client.call("list_tags")["warnings"][0]
        folder.write(**{"gone/web/1-a.md": RECORD})
        assert "warnings" not in client.call("list_tags")
        shutil.rmtree(folder.root / "gone")
        assert client.call("search_records")["total"] == 1
    assert run_server("--root", folder.root, "--check").returncode == 1


# What goes to stderr and what --check says


def test_warning_goes_to_stderr_once(folder):
    folder.content({"sre/adr/0001-a.md": b"\xff", "sre/adr/0002-b.md": RECORD})
    with Server("--root", folder.root) as client:
        for _ in range(3):
            client.call("search_records")
            client.call("list_tags")
        warnings = [line for line in client.errors if "0001-a.md" in line]
    assert warnings == [
        "inkan mcp: content/sre/adr/0001-a.md:1:1: byte 1 of the file (0xff) is not UTF-8; "
        "save the file as UTF-8"
    ]


def test_list_names_five_files_and_counts_the_rest(folder):
    folder.content({f"sre/adr/{k:04}-a.md": b"\xff" for k in range(260)})
    folder.content({"sre/adr/x.md": RECORD})
    with Server("--root", folder.root) as client:
        warnings = client.call("search_records")["warnings"]
    assert len(warnings) == 6
    assert warnings[-1] == "and 255 more: run --check"


def test_stderr_is_bounded_however_many_files_are_broken(folder):
    folder.content({f"sre/adr/{k:04}-{'long-name-' * 20}.md": b"\xff" for k in range(500)})
    folder.look()
    assert len(folder.said) == 101
    assert folder.said[-1] == "… and 400 more: run --check"
    assert sum(len(line) + 20 for line in folder.said) < 64 * 1024
    folder.content({f"sre/adr/{k:04}-new.md": b"\xff" for k in range(500)})
    folder.look()
    assert len(folder.said) == 101


def test_client_that_never_reads_stderr_is_answered(folder):
    folder.content({f"sre/adr/{k:04}-{'long-name-' * 20}.md": b"\xff" for k in range(500)})
    call = {"name": "search_records", "arguments": {}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
        for number in range(5)
    ]
    with subprocess.Popen(
        server_command("--root", folder.root),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=child_environment(), cwd=TOP,
    ) as process:  # fmt: skip
        process.stdin.write("\n".join([*lines, ""]).encode())
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in lines]
        process.stdin.close()
        assert process.wait(20) == 0
    assert sorted(answer["id"] for answer in answers) == list(range(5))


def test_names_with_control_characters_are_escaped(folder):
    if os.name == "nt":
        pytest.skip("no such names on Windows")
    folder.content({"sre/adr/0001-\x1b[31m\nred.md": b"\xff"})
    folder.look()
    assert folder.said == [
        "content/sre/adr/0001-\\x1b[31m\\nred.md:1:1: byte 1 of the file (0xff) is not UTF-8; "
        "save the file as UTF-8"
    ]


def test_check_of_a_good_archive_exits_0_with_a_summary(folder):
    folder.content({"sre/adr/0001-a.md": RECORD, "web/adr/0001-b.md": RECORD})
    folder.write(**{"inkan.config.json": "{}"})
    done = run_server("--root", folder.root, "--check")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "2 records in 2 projects: 0 errors, 0 warnings\n"


def test_check_lists_every_fault_with_its_place_and_level(folder):
    folder.content(
        {
            "sre/adr/0001-a.md": record(date="tomorrow"),
            "sre/adr/0002-b.md": b"---\ntitle: \xff\n---\n",
            "sre/adr/0003-c.md": record(supersedes="9999-gone"),
            "sre/adr/0004-d.md": RECORD,
            "sre/adr/0004-d.mdx": RECORD,
        }
    )
    done = run_server("--root", folder.root, "--check")
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert lines[0].startswith("content/sre/adr/0001-a.md:3:1: warning: date is ")
    assert lines[1].startswith("content/sre/adr/0002-b.md:2:8: error: byte 12 of the file")
    assert lines[2].startswith("content/sre/adr/0003-c.md")
    assert ": error: supersedes names " in lines[2]
    assert lines[3].startswith("content/sre/adr/0004-d.mdx: error: ")
    assert lines[4] == "3 records in 1 project: 3 errors, 1 warning"


def test_check_of_dates_alone_exits_0(folder):
    folder.content({"sre/adr/0001-a.md": record(date="tomorrow")})
    done = run_server("--root", folder.root, "--check")
    assert (done.returncode, done.stdout.count(": warning: ")) == (0, 1)


@pytest.mark.parametrize(
    "files",
    [
        {"content/a/1-a.md": "---\ntitle: A: B\n---\n"},
        {"content/a/1-a.md": RECORD, "content/a/1-a.mdx": RECORD},
        {"content/a/readme.md": ""},
        {"content/a/1-a.md": record(supersedes="1-zz")},
        {"inkan.config.json": '{"sources": [{"dir": "gone"}]}', "content/a/1-a.md": RECORD},
        {"inkan.config.json": "{", "content/a/1-a.md": RECORD},
    ],
    ids=["repair", "double", "nothing", "dead-link", "source", "config"],
)
def test_check_exits_1_for_an_error(folder, files):
    folder.write(**files)
    done = run_server("--root", folder.root, "--check")
    assert done.returncode == 1, done.stdout
    assert "error: " in done.stdout
    assert "Traceback" not in done.stderr


def test_check_reports_a_broken_config_with_its_place(folder):
    folder.write(**{"inkan.config.json": '{\n  "contentDir": 5\n}', "content/a/1-a.md": RECORD})
    done = run_server("--root", folder.root, "--check")
    assert done.stdout.splitlines() == [
        "inkan.config.json:2:3: error: contentDir is 5; write it as a text in quotes",
        "1 error, 0 warnings",
    ]


def test_session_leaves_the_archive_as_it_was(tmp_path):
    root = Path(shutil.copytree(SAMPLE, tmp_path / "sample"))
    before = tree_hash(root)
    with Server("--root", root) as client:
        client.initialize()
        found = client.call("search_records", query="kafka")["records"]
        client.call("get_record", id=found[0]["id"])
        for tool in ("list_projects", "list_tags", "list_fields", "list_authors", "due_reviews"):
            client.call(tool)
        client.request("resources/list")
    run_server("--root", root, "--check")
    assert tree_hash(root) == before


# Live


def test_archive_without_a_config_becomes_native_and_foreign_again(tmp_path):
    write_records(tmp_path, {"content/sre/adr/0001-a.md": RECORD}, age=OLD)
    source = server.FolderSource(os.fspath(tmp_path), lambda _: None, {})
    project = tmp_path / "content/sre/_project.yml"
    for number in range(4):
        refs = {found.ref for found in source.snapshot(server.Call("2026-12-01")).records}
        assert (refs == {"KEY-ADR-0001"}) is bool(number % 2)
        if number % 2:
            project.unlink()
        else:
            project.write_text("key: key\n", encoding="utf-8")


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """Gather the paths of records that are opened meanwhile."""
    names: list[str] = []
    LISTENERS.append(names)
    try:
        yield names
    finally:
        LISTENERS.remove(names)


LISTENERS: list[list[str]] = []


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and LISTENERS and str(arguments[0]).endswith((".md", ".yml", ".json")):
        for names in LISTENERS:
            names.append(os.path.basename(str(arguments[0])))


sys.addaudithook(_hear)


@pytest.fixture
def cold(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Give an archive of three records whose files are taken for cold at once."""
    monkeypatch.setattr(server, "HOT_NANOSECONDS", 0)
    folder.write(**{"inkan.config.json": '{"title": "T"}'})
    files = {f"sre/adr/{name}.md": record(name) for name in ("0001-a", "0002-b", "0003-c")}
    folder.content({**files, "sre/_project.yml": "key: K\n"})
    folder.look()
    return folder


def test_unchanged_files_are_not_read_again(cold):
    with opened_files() as opened:
        before = cold.look()
        assert cold.look() is before
    assert opened == []


def test_only_the_changed_file_is_read(cold):
    cold.content({"sre/adr/0002-b.md": record("edited")})
    with opened_files() as opened:
        assert cold.titles["sre/adr/0002-b"] == "edited"
    assert opened == ["0002-b.md"]


def test_other_records_stay_the_same_objects_when_one_changes(cold):
    before = {found.id: found for found in cold.look().records}
    cold.content({"sre/adr/0002-b.md": record("edited")})
    after = {found.id: found for found in cold.look().records}
    assert [name for name in after if after[name] is not before[name]] == ["sre/adr/0002-b"]


def test_touched_file_with_the_same_bytes_gives_the_same_snapshot(cold):
    before = cold.look()
    os.utime(cold.root / "content/sre/adr/0002-b.md")
    assert cold.look() is before


def test_edit_of_the_same_size_within_one_tick_is_seen(folder):
    path = folder.content({"sre/adr/0001-a.md": record("A0")}, age=0) / "sre/adr/0001-a.md"
    for number in range(1, 10):
        assert folder.titles == {"sre/adr/0001-a": f"A{number - 1}"}
        times = path.stat()
        with open(path, "r+b") as stream:
            stream.write(record(f"A{number}").encode())
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@posix_only
def test_edit_of_a_cold_file_with_its_time_put_back_is_seen(cold):
    path = cold.root / "content/sre/adr/0001-a.md"
    times = path.stat()
    path.write_text(record("0001-z"), encoding="utf-8")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert path.stat().st_size == times.st_size
    assert cold.titles["sre/adr/0001-a"] == "0001-z"


def test_file_with_a_time_in_the_future_is_read_again_on_every_call(folder):
    path = folder.content({"sre/adr/0001-a.md": RECORD}, age=-3600) / "sre/adr/0001-a.md"
    folder.look()
    with opened_files() as opened:
        folder.look()
    assert [name for name in opened if name.endswith(".md")] == [path.name]


def test_new_file_renamed_file_and_deleted_file_are_seen(cold):
    adr = cold.root / "content/sre/adr"
    cold.content({"sre/adr/0004-d.md": RECORD})
    assert "sre/adr/0004-d" in cold.ids
    (adr / "0004-d.md").rename(adr / "0005-e.md")
    assert cold.ids[-1] == "sre/adr/0005-e"
    (adr / "0005-e.md").unlink()
    assert len(cold.ids) == 3


def test_renamed_and_new_folders_are_seen(cold):
    content = cold.root / "content"
    (content / "sre").rename(content / "ops")
    assert cold.ids == ["ops/adr/0001-a", "ops/adr/0002-b", "ops/adr/0003-c"]
    assert list(cold.look().projects) == ["ops"]
    shutil.copytree(content / "ops", content / "web")
    assert len(cold.ids) == 6
    shutil.rmtree(content / "ops")
    assert cold.ids == ["web/adr/0001-a", "web/adr/0002-b", "web/adr/0003-c"]


def test_folders_that_change_places_are_seen(cold):
    content = cold.root / "content"
    cold.content({"web/adr/0001-a.md": record("web")})
    assert cold.titles["web/adr/0001-a"] == "web"
    for source, target in (("sre", "aside"), ("web", "sre"), ("aside", "web")):
        (content / source).rename(content / target)
    assert cold.titles["sre/adr/0001-a"] == "web"
    assert cold.titles["web/adr/0001-a"] == "0001-a"


def test_replaced_content_folder_is_seen(cold):
    (cold.root / "content").rename(cold.root / "aside")
    assert cold.ids == []
    cold.content({"new/adr/0001-n.md": RECORD})
    assert cold.ids == ["new/adr/0001-n"]


def test_file_that_becomes_a_folder_and_back_is_seen(cold):
    path = cold.root / "content/sre/adr/0001-a.md"
    text = path.read_text(encoding="utf-8")
    path.unlink()
    write_records(path, {"0009-x.md": RECORD}, age=OLD)
    assert cold.ids[0] == "sre/adr/0001-a.md/0009-x"
    shutil.rmtree(path)
    path.write_text(text, encoding="utf-8")
    assert cold.ids[0] == "sre/adr/0001-a"


@needs_links
def test_file_that_becomes_a_link_and_back_is_seen(cold):
    path = cold.root / "content/sre/adr/0001-a.md"
    path.unlink()
    path.symlink_to("0002-b.md")
    assert cold.titles["sre/adr/0001-a"] == "0002-b"
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert "sre/adr/0001-a" not in cold.ids
    path.unlink()
    path.write_text(record("again"), encoding="utf-8")
    assert cold.titles["sre/adr/0001-a"] == "again"


@needs_links
def test_folder_that_becomes_a_link_out_is_refused(cold):
    outside = cold.root / "outside"
    (cold.root / "content/sre").rename(outside)
    (cold.root / "content/sre").symlink_to(outside)
    assert cold.ids == []
    (cold.root / "content/sre").unlink()
    outside.rename(cold.root / "content/sre")
    assert len(cold.ids) == 3


@posix_only
def test_edit_through_a_hard_link_from_outside_is_seen(cold):
    outside = cold.root / "outside.md"
    os.link(cold.root / "content/sre/adr/0001-a.md", outside)
    cold.look()
    outside.write_text(record("edited outside"), encoding="utf-8")
    assert cold.titles["sre/adr/0001-a"] == "edited outside"


def test_file_that_breaks_and_heals_is_seen(cold):
    good = record("good")
    for text, broken in ((b"\xff", True), (good, False), ("", True), (b"\0", True), (good, False)):
        cold.content({"sre/adr/0001-a.md": text})
        assert ("sre/adr/0001-a" in cold.look().broken) is broken
        assert ("sre/adr/0001-a" in cold.ids) is not broken


def test_record_that_becomes_a_draft_and_back_is_seen(cold):
    cold.content({"sre/adr/0001-a.md": record(draft="true")})
    assert cold.ids == ["sre/adr/0002-b", "sre/adr/0003-c"]
    cold.content({"sre/adr/0001-a.md": RECORD})
    assert len(cold.ids) == 3


def test_changed_new_and_deleted_project_file_is_seen(cold):
    path = cold.root / "content/sre/_project.yml"
    refs = lambda: {found.ref for found in cold.look().records}  # noqa: E731
    assert "K-ADR-0001" in refs()
    cold.content({"sre/_project.yml": "key: N\nname: New\n"})
    assert "N-ADR-0001" in refs()
    assert cold.look().projects["sre"].name == "New"
    path.unlink()
    assert "SRE-ADR-0001" in refs()
    assert cold.look().projects["sre"].name == "sre"
    cold.content({"sre/_project.yml": "[\n"})
    assert len(cold.problems) == 1
    cold.content({"sre/_project.yml": "key: Z\n"})
    assert cold.problems == []
    assert "Z-ADR-0001" in refs()


def test_changed_config_is_seen(cold):
    cold.write(**{"docs/web/1-w.md": record(status="on trial")})
    cold.write(
        **{"inkan.config.json": '{"contentDir": "docs", "statuses": {"On-Trial": {"open": true}}}'}
    )
    found = cold.only()
    assert (found.id, found.status, found.open) == ("web/1-w", "On-Trial", True)
    (cold.root / "inkan.config.json").unlink()
    assert len(cold.ids) == 3


def test_touched_config_reads_no_record_again(folder):
    folder.write(age=0, **{"inkan.config.json": "{}"})
    folder.content({"sre/adr/0001-a.md": RECORD})
    before = folder.look()
    with opened_files() as opened:
        after = folder.look()
    assert after is before
    assert opened == ["inkan.config.json", "0001-a.md"]  # both changed a moment ago


def test_config_that_breaks_is_named_and_heals_without_a_restart(tmp_path):
    root = Path(shutil.copytree(SAMPLE, tmp_path / "sample"))
    config = root / "inkan.config.json"
    good = config.read_bytes()
    with Server("--root", root) as client:
        total = client.call("search_records")["total"]
        config.write_text('{\n  "contentDir": [1]\n}', encoding="utf-8")
        with pytest.raises(ToolError, match=r"inkan\.config\.json:2:3: contentDir is a list"):
            client.call("search_records")
        assert client.request("ping") == {}
        config.write_bytes(good)
        assert client.call("search_records")["total"] == total


def test_edit_is_seen_by_a_running_server(tmp_path):
    root = Path(shutil.copytree(SAMPLE, tmp_path / "sample"))
    with Server("--root", root) as client:
        before = client.call("search_records")["total"]
        write_records(root, {"decisions/new/adr/0001-live.md": record("Seen at once")})
        assert client.call("search_records")["total"] == before + 1
        assert client.call("get_record", id="new/adr/1")["title"] == "Seen at once"
        assert client.call("search_records", query="seen at once")["total"] == 1
        write_records(root, {"decisions/new/adr/0001-live.md": record("Other", "pelikan")})
        assert client.call("search_records", query="pelikan")["total"] == 1
        shutil.rmtree(root / "decisions" / "new")
        assert client.call("search_records")["total"] == before


def test_body_edited_between_two_searches_is_searched_anew(cold):
    def hits(needle: str) -> int:
        found = cold.look().records
        rows, _ = cold.source.search_bodies(found, [needle], server.Call(""))
        return sum(row[0] for row in rows)

    assert (hits("body"), hits("pelikan")) == (3, 0)
    cold.content({"sre/adr/0001-a.md": record("0001-a", "Pelikan")})
    assert (hits("body"), hits("pelikan")) == (2, 1)


def test_body_that_changed_and_changed_back_during_a_search_is_not_kept(cold):
    found = cold.look().records
    path = Path(found[0].location)
    good = path.read_bytes()
    path.write_bytes(good.replace(b"Body", b"Else"))
    assert cold.source.search_bodies(found[:1], ["else"], server.Call("")) == ([(True,)], [])
    path.write_bytes(good)
    found = cold.look().records
    assert cold.source.search_bodies(found[:1], ["else"], server.Call("")) == ([(False,)], [])


def test_calls_side_by_side_with_edits_never_fail(cold):
    faults: list[BaseException] = []
    ended = threading.Event()

    def read() -> None:
        try:
            while not ended.is_set():
                found = cold.look().records
                cold.source.search_bodies(found, ["body"], server.Call(""))
        except BaseException as fault:  # noqa: BLE001 - whatever it is, the test must tell
            faults.append(fault)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(60):
        cold.content({"sre/adr/0001-a.md": record(f"T{number}"), f"p{number}/1-x.md": RECORD})
        shutil.rmtree(cold.root / "content" / f"p{number}")
    ended.set()
    for reader in readers:
        reader.join(20)
    assert faults == []
    assert cold.titles["sre/adr/0001-a"] == "T59"
    assert len(cold.ids) == 3


@pytest.mark.parametrize("with_descriptors", [True, False])
def test_random_changes_leave_nothing_stale(tmp_path, monkeypatch, with_descriptors):
    if os.name == "nt":
        pytest.skip("the changes need symbolic links")
    monkeypatch.setattr(server, "_HAS_DIR_FD", with_descriptors)
    with fuzz_folders.short_hot_time():
        fault = fuzz_folders.run(tmp_path.resolve(), operations=120, seed=5)
    assert fault is None, fault
