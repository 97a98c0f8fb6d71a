"""Splitting a file into front matter and body, and putting it together again."""

from __future__ import annotations

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
            "the first line ---yaml opens no front matter; write --- alone, and the block as YAML",
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


def test_a_body_without_a_block_is_joined_unchanged():
    assert join_front_matter(None, "text\n") == "text\n"
