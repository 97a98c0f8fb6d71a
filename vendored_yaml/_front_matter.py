"""Where the front matter of a Markdown file begins and ends.

The fences are those of Jekyll: a first line `---` and a later line `---` or `...`, each with
nothing but blanks behind it. Blank lines may stand before the first. No word behind the fence
switches the language, as some tools have it: one of them runs the block as a program.
"""

from __future__ import annotations

import re


class FrontMatter:
    """A file in two parts.

    `block` is the YAML between the fences with line feeds for line ends, or None where there is
    none; `line` is the line of the file on which it begins. `body` is the rest of the file,
    unchanged, and `body_line` the line on which that begins. Lines count from 1. `problem` is
    None, or a sentence about what looks like front matter and is none.
    """

    __slots__ = ("block", "body", "body_line", "line", "problem")

    def __init__(self, block: str | None, body: str, body_line: int = 1, line: int = 1) -> None:
        self.block = block
        self.body = body
        self.body_line = body_line
        self.line = line
        self.problem: str | None = None


def split_front_matter(text: str) -> FrontMatter:
    """Take a file apart; a byte order mark at its start is dropped. Raises nothing."""
    if text[:1] == "\ufeff":
        text = text[1:]
    if text[:4] == "---\n":
        if "\r" not in text:  # nearly every file: two searches tell where the block ends
            at = text.find("\n---", 3)
            if text[at + 4 : at + 5] == "\n" and at > 0 and text.find("\n...", 3, at) < 0:
                block = text[4 : at + 1]
                return FrontMatter(block, text[at + 5 :], block.count("\n") + 3, 2)
        opened = 4
        line = 2
    else:
        found = _pattern(r"(?:[ \t]*(?:\r\n?|\n))*---[ \t]*(?:\r\n?|\n)").match(text)
        if found is None:
            return _without(text)
        opened = found.end()
        line = 1 + _count_lines(text[:opened])
    closing = _find_closing(text, opened)
    if closing is None:
        return _unclosed(text, opened, line)
    start, end = closing
    block = text[opened:start]
    body_line = line + 1
    if "\r" in block:
        block = block.replace("\r\n", "\n").replace("\r", "\n")
    return FrontMatter(block, text[end:], body_line + block.count("\n"), line)


def join_front_matter(block: str | None, body: str) -> str:
    """Put a file together from a block and a body, as `split_front_matter` gives them.

    Raises `ValueError` where the block holds a line that would end it.
    """
    if block is None:
        return body
    if block and block[-1:] != "\n":
        block += "\n"
    if _find_closing("\n" + block, 1) is not None:
        raise ValueError("the block holds a line --- or ..., which would end it")
    return f"---\n{block}---\n{body}"


def _pattern(source: str) -> re.Pattern[str]:
    """Compile on first use (`re` keeps what it compiled), so that an import costs nothing."""
    return re.compile(source)


def _find_closing(text: str, opened: int) -> tuple[int, int] | None:
    """Give where the closing fence starts and where the line after it does.

    `opened` is the start of a line. Searching by `str.find` is ten times as fast as a pattern.
    """
    fence = _pattern(r"(?:---|\.\.\.)[ \t]*(?:\r\n?|\n|\Z)")
    if text.count("\r") != text.count("\r\n"):  # a lone carriage return ends a line too
        found = _pattern(r"(?<=[\r\n])" + fence.pattern).search(text, opened)
        return found.span() if found else None
    at = opened
    while True:
        if text[at : at + 4] == "---\n":
            return at, at + 4
        found = fence.match(text, at)
        if found:
            return found.span()
        dashes = text.find("\n---", at)
        dots = text.find("\n...", at, dashes if dashes >= 0 else len(text))
        at = (dots if dots >= 0 else dashes) + 1
        if not at:
            return None


def _count_lines(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _unclosed(text: str, opened: int, line: int) -> FrontMatter:
    """Give a file whose first fence is never closed; a rule before a text is no fault."""
    result = FrontMatter(None, text)
    if _pattern(r"[A-Za-z_][\w -]*:(?:[ \t\r\n]|\Z)").match(text, opened):
        result.problem = (
            f"the front matter that begins on line {line - 1} is never closed by ---; "
            "put a line --- after its last key"
        )
    return result


def _without(text: str) -> FrontMatter:
    """Give a file without front matter, and say where something looks like one."""
    result = FrontMatter(None, text)
    head = text[:4000].lstrip(" \t\r\n")
    if head[:4] == "<!--":
        result.problem = _after_comment(text)
    elif head[:3] == "+++":
        found = _pattern(r"\+\+\+[ \t]*[\r\n]+[ \t]*(?:\[|[\w-]+[ \t]*=)").match(head)
        if found:
            result.problem = (
                "front matter between +++ is TOML, which is not read; use YAML between ---"
            )
    else:
        found = _pattern(r"---[ \t]*([A-Za-z]+)[ \t]*[\r\n]").match(head)
        if found and _find_closing(text, 1):
            result.problem = (
                f"the line ---{found.group(1)} opens no front matter; "
                "write --- alone, and the block as YAML"
            )
    return result


def _after_comment(text: str) -> str | None:
    end = text.find("-->")
    rest = text[end + 3 :].lstrip(" \t\r\n") if end >= 0 else ""
    if _pattern(r"---[ \t]*[\r\n]+[A-Za-z_][\w -]*:").match(rest):
        return (
            "the front matter stands after a comment and is not read; put its --- on the first line"
        )
    return None
