"""The shape of the code: what it imports, in which order it stands."""

from __future__ import annotations

import ast
import collections
import subprocess
import sys

import pytest
from helpers import SAMPLE, TOP, child_environment

SOURCE = (TOP / "inkan_mcp.py").read_text(encoding="utf-8")
MODULE = ast.parse(SOURCE)
NOT_AT_START = (
    *("argparse", "concurrent", "dataclasses", "datetime", "difflib", "enum_", "http", "inspect"),
    *("logging", "pathlib", "queue", "socket", "ssl", "subprocess", "threading", "tomllib"),
    *("typing", "unicodedata", "urllib"),
)


def imported(tree: ast.AST) -> set[str]:
    """Return the first parts of all modules that are imported absolutely."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").partition(".")[0])
    return names


@pytest.mark.skipif(sys.version_info < (3, 10), reason="the list of modules came with 3.10")
def test_only_the_standard_library_is_imported():
    platform = {"msvcrt", "winreg", "_winapi"}
    assert imported(MODULE) - sys.stdlib_module_names - platform == {"vendored_yaml"}
    for path in (TOP / "vendored_yaml").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert imported(tree) <= sys.stdlib_module_names


def test_every_name_of_the_module_has_one_meaning():
    names = collections.Counter(
        name
        for node in MODULE.body
        for name in (
            [node.name]
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
            else [t.id for t in getattr(node, "targets", []) if isinstance(t, ast.Name)]
        )
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_sections_stand_in_the_order_of_the_map():
    banners = [line[5:].strip(" ─") for line in SOURCE.splitlines() if line.startswith("# ── ")]
    main = [banner for banner in banners if banner.partition(" ")[0].isdigit()]
    listed = [line.split("  ")[0] for line in SOURCE.split('"""')[1].splitlines()]
    mapped = [" ".join(line.split()) for line in SOURCE.split('"""')[1].splitlines()]
    assert len(main) == 12
    for banner in main:
        assert any(line.startswith(banner) for line in mapped), (banner, listed)


def test_first_answer_imports_nothing_that_local_mode_does_not_need():
    request = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n'
    command = [sys.executable, "-X", "importtime", "-m", "inkan_mcp", "--root", str(SAMPLE)]
    done = subprocess.run(
        command, input=request, capture_output=True, cwd=TOP, check=True,
        env=child_environment({"PYTHONPATH": None}),
    )  # fmt: skip
    names = {
        line.rpartition("|")[2].strip().partition(".")[0]
        for line in done.stderr.decode().splitlines()
        if line.startswith("import time:")
    }
    bare = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import json, runpy"],
        capture_output=True, check=True, env=child_environment(),
    )  # fmt: skip
    already = {
        line.rpartition("|")[2].strip().partition(".")[0]
        for line in bare.stderr.decode().splitlines()
    }
    assert names & set(NOT_AT_START) - already == set()


def test_module_runs_on_the_oldest_interpreter_without_site():
    code = "import sys; sys.path.insert(0, '.'); import inkan_mcp"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=TOP, check=True)


def test_longest_function_is_short_enough():
    lengths = {
        node.name: (node.end_lineno or 0) - node.lineno + 1
        for node in ast.walk(MODULE)
        if isinstance(node, ast.FunctionDef)
    }
    assert {name: length for name, length in lengths.items() if length > 60} == {}
