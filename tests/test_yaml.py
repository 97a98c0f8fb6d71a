"""Reading and writing YAML.

A case of reading is a pair of files in `data/yaml`: a `.yml` beside the `.json` it means in
`valid`, beside the `.txt` with the message in `invalid`, and beside a `.json` with value and
repairs in `lenient`. A case of writing in `dump` is a `.json` and the `.yml` written for it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from vendored_yaml import UnsupportedError, YAMLError, dump, key_lines, load, load_lenient
from vendored_yaml._parser import parse

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data" / "yaml"


def names(folder):
    return sorted(path.stem for path in (DATA / folder).glob("*.yml"))


def text_of(path):
    return path.read_bytes().decode("utf-8")


def same(one, other):
    """Compare with types: 1 is not True, 1.0 is not 1, and NaN is NaN."""
    return repr(one) == repr(other)


@pytest.mark.parametrize("name", names("valid"))
def test_valid_text_is_read_as_the_value_beside_it(name):
    path = DATA / "valid" / name
    text = text_of(path.with_name(name + ".yml"))
    expected = json.loads(text_of(path.with_name(name + ".json")))
    assert same(load(text), expected)
    assert same(load_lenient(text), (expected, []))


@pytest.mark.parametrize("name", names("valid"))
def test_the_whole_way_reads_the_same_as_the_short_way(name):
    text = text_of(DATA / "valid" / f"{name}.yml").replace("\r\n", "\n").replace("\r", "\n")
    assert same(parse(text.lstrip("\ufeff")), load(text))


@pytest.mark.parametrize("name", names("invalid"))
def test_invalid_text_is_refused_with_the_message_beside_it(name):
    with pytest.raises(YAMLError) as caught:
        load(text_of(DATA / "invalid" / f"{name}.yml"))
    message = f"{type(caught.value).__name__}: {caught.value}\n"
    assert message == text_of(DATA / "invalid" / f"{name}.txt")


@pytest.mark.parametrize("name", names("lenient"))
def test_values_that_lack_quotes_are_repaired_and_reported(name):
    value, repairs = load_lenient(text_of(DATA / "lenient" / f"{name}.yml"))
    fields = ("line", "column", "key", "problem", "hint")
    reported = [{field: getattr(repair, field) for field in fields} for repair in repairs]
    expected = json.loads(text_of(DATA / "lenient" / f"{name}.json"))
    assert {"value": value, "repairs": reported} == expected


UNREPAIRED = {
    "value goes on": "title: a: b\n  more\n",
    "open quote": 'title: "a\nb: 1\n',
    "open bracket": "title: [a\nb: 1\n",
    "escape": 'path: "C:\\Users"\n',
    "double key": "a: 1\na: 2\n",
    "tab": "a:\n\tb: 1\n",
    "tag": "a: !x y\n",
    "item in brackets": "a: [@b, c]\n",
    "missing item": "a: [b,,c]\n",
    "alias": "a: *b\n",
    "anchored": "a: &x @b\n",
    "list on the line": "a: - b\n",
    "later line": "a: b\n  c: d\n",
    "root": "@a\n",
    "own line": "a:\n  @b\n",
    "no space": "a: 1\nb:2\n",
    "lines in brackets": "a: [b,\n  c] d\n",
    "lines in quotes": "a: 'b\n  c' d\n",
    "hash in a list": "a: [#b, c]\n",
}


@pytest.mark.parametrize("name", UNREPAIRED)
def test_nothing_but_missing_quotes_is_forgiven(name):
    with pytest.raises(YAMLError) as strict:
        load(UNREPAIRED[name])
    with pytest.raises(YAMLError) as lenient:
        load_lenient(UNREPAIRED[name])
    assert str(strict.value) == str(lenient.value)


def test_a_repair_shows_what_it_repaired():
    (repair,) = load_lenient("author: @ada\n")[1]
    assert repr(repair) == (
        "Repair('author', line 1, column 9: the value starts with \"@\", which YAML reserves)"
    )


def test_an_error_has_its_parts_and_is_a_value_error():
    with pytest.raises(ValueError, match="quote the value") as caught:
        load("a: 1\ntitle: ADR-1: X\n")
    error = caught.value
    assert (error.line, error.column) == (2, 13)
    assert error.problem == "': ' inside a value without quotes"
    assert error.hint == 'quote the value: "ADR-1: X"'


def test_an_error_without_a_hint_is_a_sentence_too():
    assert str(YAMLError("no", 1, 2)) == "line 1, column 2: no"


def test_what_the_subset_leaves_out_is_told_apart_from_faults():
    with pytest.raises(UnsupportedError):
        load("a: !!str 1\n")


def test_more_than_a_million_characters_are_refused():
    with pytest.raises(YAMLError, match=r"1,048,577 characters, more than 1,048,576"):
        load("a" * (1024 * 1024 + 1))


def test_half_a_character_in_the_text_is_refused():
    with pytest.raises(YAMLError, match=r"U\+D800 is not allowed"):
        load("a: \ud800\n")


def test_aliases_give_the_node_of_their_anchor():
    value = load("a: &x [1]\nb: *x\n")
    assert value["a"] is value["b"]


def test_keys_know_their_lines():
    assert key_lines('# c\na: 1\nb:\n  c: 2\n"d e": [\n1]\n') == {"a": 2, "b": 3, "d e": 5}


def test_keys_in_braces_know_their_lines():
    assert key_lines('{"a": 1,\n "b": {c: 2}}') == {"a": 1, "b": 2}


def test_a_broken_text_gives_the_lines_of_the_keys_before_the_fault():
    assert key_lines("a: @x\nb: [\n") == {"a": 1, "b": 2}
    assert key_lines("a: \x07\n") == {}


# -- Cases that are not part of the project ------------------------------------------------------

CASES = os.environ.get("INKAN_CASES")
needs_cases = pytest.mark.skipif(not CASES, reason="INKAN_CASES names no folder of cases")


def equal_but_for_dates(expected, found):
    """Compare with values of js-yaml, which has one kind of number and reads dates."""
    if isinstance(expected, dict):
        return set(expected) == set(found) and all(
            equal_but_for_dates(expected[key], found[key]) for key in expected
        )
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(equal_but_for_dates, expected, found))
    if isinstance(expected, str) and re.fullmatch(r"....-..-..T..:..:..\....Z", expected):
        return isinstance(found, str) and found[:4] == expected[:4]
    return found == expected and isinstance(found, bool) == isinstance(expected, bool)


@needs_cases
def test_front_matter_of_real_files_is_read_as_expected_or_refused():
    folder = Path(CASES) / "yaml-samples" / "front-matter"
    for path in sorted(folder.glob("*.yml")):
        if path.with_suffix(".err").exists():
            with pytest.raises(YAMLError):
                load(text_of(path))
        else:
            expected = json.loads(text_of(path.with_suffix(".json")))
            assert equal_but_for_dates(expected, load(text_of(path))), path.name


def suite_cases(kind):
    folder = Path(CASES) / "yaml-samples"
    kinds = json.loads(text_of(folder / "suite-classification.json"))
    cases = json.loads(text_of(folder / "suite-cases.json"))
    return [case for case in cases if kinds.get(case["id"]) == kind]


@needs_cases
def test_the_public_suite_is_read_right():
    for case in suite_cases("parse"):
        assert equal_but_for_dates(json.loads(case["json"]), load(case["yaml"])), case["id"]


@needs_cases
def test_the_public_suite_is_refused_where_it_is_invalid():
    accepted = []
    for case in suite_cases("reject-invalid"):
        with suppress(YAMLError):
            load(case["yaml"])
            accepted.append(case["id"])
    assert accepted == ["Y79Y/000"]  # a tab on a blank line of a block text: real files have it


@needs_cases
def test_what_the_subset_leaves_out_of_the_public_suite_is_never_read_wrong():
    for case in suite_cases("unsupported"):
        with suppress(YAMLError):
            found = load(case["yaml"])
            if case["json"]:
                with suppress(json.JSONDecodeError):  # several values: none is the one
                    assert equal_but_for_dates(json.loads(case["json"]), found), case["id"]


# -- Writing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names("dump"))
def test_a_value_is_written_as_the_text_beside_it(name):
    value = json.loads(text_of(DATA / "dump" / f"{name}.json"))
    assert dump(value) == text_of(DATA / "dump" / f"{name}.yml")


@pytest.mark.parametrize("name", [name for name in names("dump") if name != "texts"])
@pytest.mark.parametrize("read", [load, yaml.safe_load, yaml.CSafeLoader])
def test_what_is_written_is_read_back_equal(name, read):
    value = json.loads(text_of(DATA / "dump" / f"{name}.json"))
    text = dump(value)
    assert same(yaml.load(text, read) if read is yaml.CSafeLoader else read(text), value)


def test_half_a_character_is_written_as_the_replacement_character():
    assert load(dump({"a": "x\udfff"})) == {"a": "x\ufffd"}


def test_tuples_and_kinds_of_numbers_and_text_are_written():
    class Text(str):
        __slots__ = ()

    class Number(int):
        pass

    assert dump({"a": (1, Text("b")), "c": Number(2)}) == "a:\n  - 1\n  - b\nc: 2\n"


@pytest.mark.parametrize("value", [{1: "a"}, {"a": b"x"}, [object()]])
def test_what_is_no_data_is_not_written(value):
    with pytest.raises(TypeError):
        dump(value)


def test_a_value_that_holds_itself_is_not_written():
    value = []
    value.append(value)
    with pytest.raises(ValueError, match="deeper than 64"):
        dump(value)


def test_the_deepest_value_that_is_written_is_read():
    value = "a"
    for _ in range(64):
        value = [value]
    assert load(dump(value)) == value


texts = st.text(max_size=12) | st.text(alphabet="ab01.:-+#'\" \n\\[]{}&*!|>%@,?~_eTx", max_size=12)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(values)
def test_any_value_is_read_back_equal_by_this_package_and_by_pyyaml(value):
    text = dump(value)
    assert same(load(text), value)
    assert same(yaml.load(text, yaml.CSafeLoader), value)


@settings(deadline=None)
@given(st.text(alphabet="ab: -\n#'\"[]{},&*!|>%@?\\\t~1.", max_size=40))
def test_any_text_is_read_or_refused_and_never_read_otherwise_than_by_the_whole_way(text):
    try:
        value = load(text)
    except YAMLError:
        with pytest.raises(YAMLError):
            parse(text)
    else:
        assert same(parse(text), value)
        assert same(load(dump(value)), value)


# -- Unicode: only ASCII is a space, a digit or a line end ---------------------------------------

ODD_SPACES = "\x85\xa0\u1680\u2000\u2028\u2029\u202f\u205f\u3000"


@pytest.mark.parametrize("space", ODD_SPACES)
def test_an_odd_space_is_text_wherever_it_stands(space):
    text = f"a: {space}b{space}\nc: [{space}d{space}]\ne:\n  - {space}f{space}\ng{space}: h\n"
    odd = f"{space}b{space}"
    assert load(text) == {
        "a": odd,
        "c": [odd.replace("b", "d")],
        "e": [odd.replace("b", "f")],
        f"g{space}": "h",
    }


@pytest.mark.parametrize("digits", ["١٢", "１２", "०", "²", "1_0", "①"])
def test_digits_of_other_scripts_are_text(digits):
    assert load(f"a: {digits}\nb: [{digits}]\n") == {"a": digits, "b": [digits]}


@pytest.mark.parametrize("text", ["infinity", "nan", "inf", "1_0.5", "١.٥", "0x１"])
def test_what_python_takes_for_a_number_and_yaml_does_not_is_text(text):
    assert load(f"a: {text}\n") == {"a": text}


# -- Cost ----------------------------------------------------------------------------------------


def seconds(text):
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        with suppress(YAMLError):
            load_lenient(text)
        best = min(best, time.process_time() - begun)
    return best


HOSTILE = {
    "flow": lambda n: "a: [" + "x, " * (n // 3) + "]",
    "pairs": lambda n: "a: [" + "{b: c}, " * (n // 8) + "]",
    "block": lambda n: "".join(f"k{i}: v # c\n" for i in range(n // 12)),
    "items": lambda n: "a:\n" + "  - x: y\n" * (n // 9),
    "quoted": lambda n: 'a: "' + "x \\n\n " * (n // 6) + '"',
    "open quote": lambda n: 'a: "' + "\\x " * (n // 3),
    "open apostrophe": lambda n: "a: '" + "'' " * (n // 3),
    "literal": lambda n: "a: |\n" + "  x\n" * (n // 4),
    "folded": lambda n: "a: >\n" + "  x\n\n" * (n // 5),
    "comments": lambda n: "# c\n" * (n // 4),
    "blank lines": lambda n: "a: x" + "\n" * n + "  y",
    "spaces in quotes": lambda n: 'a: "x\n' + " " * n + 'x"',
    "spaces in brackets": lambda n: "a: [x" + " " * n + "y]",
    "comments in brackets": lambda n: "a: [x" + "\n#" * (n // 2) + "\n]",
    "tabs": lambda n: "\t\n" * (n // 2),
    "dashes": lambda n: "- " * (n // 2),
    "brackets": lambda n: "a: " + "[" * n,
    "anchors": lambda n: "&a " * (n // 3),
    "repairs": lambda n: "- @a\n" * (n // 5),
    "repaired lists": lambda n: "- [a](b)\n" * (n // 9),
    "digits": lambda n: "a: [" + ("1" * 4000 + ",") * (n // 4000) + "]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_twice_the_text_takes_no_more_than_about_twice_the_time(name):
    half, whole = HOSTILE[name](50_000), HOSTILE[name](200_000)
    # Quadratic time would be 16 times as long; the margin is for the clock and the collector.
    assert seconds(whole) < 9 * seconds(half) + 0.1


def test_importing_the_package_imports_no_part_of_it_yet():
    code = (
        "import sys, vendored_yaml\n"
        "print([name for name in sys.modules if name.startswith('vendored_yaml._')])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    assert shown.stdout.strip() == "[]"


def test_the_package_has_no_other_names():
    import vendored_yaml

    with pytest.raises(AttributeError, match="no attribute 'safe_load'"):
        vendored_yaml.safe_load  # noqa: B018
