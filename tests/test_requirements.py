"""Every requirement has a test, and every test of the protocol names what it shows."""

from __future__ import annotations

import ast
import json

import pytest
from helpers import TESTS

REQUIREMENTS = json.loads((TESTS / "requirements.json").read_text(encoding="utf-8"))
IDS = [requirement["id"] for requirement in REQUIREMENTS]
BOUND = ("protocol", "streams", "process", "resources", "clients", "fuzz")


def named(function):
    """Return the ids of requirements that a test's decorators name."""
    calls = [mark for mark in function.decorator_list if isinstance(mark, ast.Call)]
    marks = [mark for mark in calls if getattr(mark.func, "id", "") == "requirement"]
    return [argument.value for mark in marks for argument in mark.args]


def requirements_of(path):
    """Return the tests of a file with the requirements that they name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name: named(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_requirements_are_told_apart_and_say_whence_they_come():
    assert len(set(IDS)) == len(IDS)
    for requirement in REQUIREMENTS:
        assert set(requirement) == {"id", "source", "text"}
        assert requirement["source"]
        assert requirement["text"].endswith(".")


@pytest.mark.parametrize("name", BOUND)
def test_every_test_of_the_protocol_names_a_requirement_that_there_is(name):
    tests = requirements_of(TESTS / f"test_{name}.py")
    assert tests
    assert [test for test, ids in tests.items() if not ids or not set(ids) <= set(IDS)] == []


def test_every_requirement_has_a_test():
    shown = {
        requirement_id
        for path in TESTS.glob("test_*.py")
        for ids in requirements_of(path).values()
        for requirement_id in ids
    }
    assert sorted(set(IDS) - shown) == []
