"""What went wrong for users of other servers has a test here: a table says which."""

from __future__ import annotations

import ast
import json

import pytest
from helpers import TESTS

TABLE = json.loads((TESTS / "field_bugs.json").read_text(encoding="utf-8"))
NAMES = {
    node.name
    for path in TESTS.glob("test_*.py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["outcome"][:40])
def test_an_outcome_that_users_reported_names_tests_that_exist(row):
    assert set(row) == {"outcome", "tests"}
    assert row["outcome"].endswith(".")
    assert row["tests"]
    assert sorted(set(row["tests"]) - NAMES) == []


def test_outcomes_are_told_apart():
    outcomes = [row["outcome"] for row in TABLE]
    assert len(set(outcomes)) == len(outcomes) > 40
