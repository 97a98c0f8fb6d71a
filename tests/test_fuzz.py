"""Short runs of the fuzzers; the long ones are commands in ``tests/fuzz``."""

from __future__ import annotations

import importlib.util

import pytest
from helpers import TESTS, requirement


@pytest.fixture(scope="module")
def fuzz_protocol():
    path = TESTS / "fuzz" / "fuzz_protocol.py"
    spec = importlib.util.spec_from_file_location("fuzz_protocol", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@requirement("fuzz")
@pytest.mark.parametrize("seed", [1, 2])
def test_arbitrary_lines_get_exactly_the_answers_that_are_due(fuzz_protocol, seed):
    assert fuzz_protocol.run(1000, seed) > 500
