"""Splitting a file into front matter and body, and putting it together again."""

from __future__ import annotations

import json
import os

import pytest

from vendored_yaml import join_front_matter, split_front_matter

CASES = {
    "plain": ("---\na: 1\n---\nbody\n", "a: 1\n", "body\n", 4),
    "none": ("# T\nbody\n", None, "# T\nbody\n", 1),
    "empty file": ("", None, "", 1),
    "empty block": ("---\n---\nbody\n", "", "body\n", 3),
    "blank block": ("---\n\n---\nbody\n", "\n", "body\n", 4),
    "comment alone": ("---\n# c\n---\nbody\n", "# c\n", "body\n", 4),
    "byte order mark": ("\ufeff---\na: 1\n---\nbody\n", "a: 1\n", "body\n", 4),
    "crlf": ("---\r\na: 1\r\n---\r\nbody\r\n", "a: 1\n", "body\r\n", 4),
    "lone cr, empty": ("---\r---\rbody", "", "body", 3),
    "lone cr, open": ("---\ra\n--- x\r", None, "---\ra\n--- x\r", 1),
    "lone cr inside": ("---\na: 1\rb: 2\n---\nbody\r", "a: 1\nb: 2\n", "body\r", 5),
    "lone cr after": ("---\na: 1\n---\nb\r", "a: 1\n", "b\r", 4),
    "crlf, blanks": ("\r\n---\r\na: 1\r\n--- \r\nb", "a: 1\n", "b", 5),
    "dots before dashes": ("---\na: 1\n...\n---\nb\n", "a: 1\n", "---\nb\n", 4),
    "toml without keys": ("+++\ntext\n", None, "+++\ntext\n", 1),
    "comment alone first": ("<!-- a -->\n# T\n", None, "<!-- a -->\n# T\n", 1),
    "open comment": ("<!-- a\n---\nb: 1\n", None, "<!-- a\n---\nb: 1\n", 1),
    "language, open": ("---js\na\n", None, "---js\na\n", 1),
    "lone cr": ("---\ra: 1\r---\rbody\r", "a: 1\n", "body\r", 4),
    "blank lines first": ("\n\n---\na: 1\n---\nbody\n", "a: 1\n", "body\n", 6),
    "indented fence": (" ---\na: 1\n---\nbody\n", None, " ---\na: 1\n---\nbody\n", 1),
    "blanks after the fences": ("--- \na: 1\n---  \nbody\n", "a: 1\n", "body\n", 4),
    "indented fence inside": ("---\na: |\n  ---\n---\nx\n", "a: |\n  ---\n", "x\n", 5),
    "four dashes inside": ("---\na: 1\n----\n---\nx\n", "a: 1\n----\n", "x\n", 5),
    "four dashes first": ("----\na: 1\n----\n", None, "----\na: 1\n----\n", 1),
    "dots close": ("---\na: 1\n...\nbody\n", "a: 1\n", "body\n", 4),
    "rule in the body": ("---\na: 1\n---\nx\n\n---\ny\n", "a: 1\n", "x\n\n---\ny\n", 4),
    "closed by the end": ("---\na: 1\n---", "a: 1\n", "", 4),
    "fence alone": ("---", None, "---", 1),
    "rule before a text": ("---\n\nExample!\n", None, "---\n\nExample!\n", 1),
}


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_split_at_its_fences(name):
    text, block, body, body_line = CASES[name]
    parts = split_front_matter(text)
    assert (parts.block, parts.body, parts.body_line) == (block, body, body_line)
    assert parts.problem is None


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][1] is not None])
def test_joined_parts_split_into_the_same_parts(name):
    _, block, body, _ = CASES[name]
    parts = split_front_matter(join_front_matter(block, body))
    assert (parts.block, parts.body) == (block, body)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "---\na: 1\nbody\n",
            "the front matter that begins on line 1 is never closed by ---; "
            "put a line --- after its last key",
        ),
        (
            "---yaml\na: 1\n---\n",
            "the line ---yaml opens no front matter; write --- alone, and the block as YAML",
        ),
        (
            "+++\na = 1\n+++\n",
            "front matter between +++ is TOML, which is not read; use YAML between ---",
        ),
        (
            "<!-- c -->\n---\na: 1\n---\n",
            "the front matter stands after a comment and is not read; "
            "put its --- on the first line",
        ),
    ],
)
def test_what_looks_like_front_matter_and_is_none_is_named(text, problem):
    parts = split_front_matter(text)
    assert (parts.block, parts.body, parts.problem) == (None, text, problem)


def test_the_block_knows_the_line_it_begins_on():
    assert split_front_matter("\n---\na: 1\n---\n").line == 3


def test_a_block_that_would_end_early_is_not_joined():
    with pytest.raises(ValueError, match="would end it"):
        join_front_matter("a: 1\n---\nb: 2\n", "")


def test_a_block_without_a_last_line_end_gets_one():
    assert join_front_matter("a: 1", "b") == "---\na: 1\n---\nb"


def test_ten_thousand_false_fences_are_passed_quickly():
    parts = split_front_matter("---\n" + "----\n....\n" * 10_000 + "---\nbody")
    assert parts.body_line == 20_003


def test_the_given_table_of_cases_is_followed():
    folder = os.environ.get("INKAN_CASES")
    if not folder:
        pytest.skip("INKAN_CASES names no folder of cases")
    with open(f"{folder}/yaml-samples/split-cases.json", encoding="utf-8") as file:
        cases = json.load(file)
    for case in cases:
        parts = split_front_matter(case["input"])
        expected = case["inkan"]
        block = expected["block"]
        if block is not None:
            block = block.replace("\r\n", "\n").replace("\r", "\n")
        found = (parts.block, parts.body, parts.body_line)
        assert found == (block, expected["body"], expected["body_line"]), case["name"]


def test_a_body_without_a_block_is_joined_unchanged():
    assert join_front_matter(None, "text\n") == "text\n"
