"""Short runs of the fuzzers; the long ones are commands in ``tests/fuzz``."""

from __future__ import annotations

import importlib.util

import pytest
from helpers import TESTS, requirement


def load(name):
    path = TESTS / "fuzz" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def fuzz_protocol():
    return load("fuzz_protocol")


@requirement("fuzz")
@pytest.mark.parametrize("seed", [1, 2])
def test_arbitrary_lines_get_exactly_the_answers_that_are_due(fuzz_protocol, seed):
    assert fuzz_protocol.run(1000, seed) > 500


@requirement("fuzz")
@pytest.mark.parametrize("seed", [1, 2])
def test_changed_records_lose_invent_and_leak_nothing(tmp_path, seed):
    outcomes = load("fuzz_records").run(tmp_path, 60, seed)
    assert min(outcomes["record"], outcomes["broken"], outcomes["compared"]) > 5
