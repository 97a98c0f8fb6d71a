"""Where the reader stands in a text, and how it says what it found there.

The reader stands on one line that has content (`row`, `line`, `indent`). Rows and columns count
from 0 here; faults count from 1.
"""

from __future__ import annotations

import re

from ._errors import UnsupportedError, YAMLError
from ._scalars import MAX_CHARACTERS, is_printable

END = "\0"  # the line after the last: NUL is refused in a text, so nothing else looks like it
GAP = ("", " ", "\t", "\n", END)  # what must follow an indicator such as "-" or ":"

# YAML 1.2, 5.1: the characters that may not stand in a text; halves of characters among them.
_FORBIDDEN = "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff\ud800-\udfff]"
_BLANKS = re.compile(r"[ \t]*")


class Cursor:
    """A place in a text that moves from line to line."""

    __slots__ = ("indent", "last", "line", "lines", "offsets", "row", "text", "unquoted")

    def __init__(self, text: str) -> None:
        self.lines = _checked(text).split("\n")
        if not self.lines[-1]:
            self.lines.pop()
        self.last = len(self.lines)
        self.lines.append(END)
        self.text = text  # up to its end, and where its lines begin, once `offset` is called
        self.offsets: list[int] = []
        self.row = self.indent = -1
        self.line = ""
        self.unquoted = -1  # the row of a fault that quotes would mend

    def cut(self, row: int) -> None:
        """Let the text end before a row."""
        self.lines[row:] = [END]
        self.last = row

    # -- Lines ----------------------------------------------------------------------------------

    def advance(self) -> None:
        """Go to the next line that has more than a comment; `indent` is -1 at the end."""
        lines = self.lines
        row = self.row + 1
        while True:
            line = lines[row]
            body = line.lstrip(" ")
            if body and body[0] != "#" and (body[0] != "\t" or not is_blank(body)):
                break
            row += 1
        self.row = row
        self.line = line
        self.indent = len(line) - len(body) if row < self.last else -1

    def after_blanks(self, at: int) -> int:
        """Give the column of the first character from `at` on that is no space and no tab."""
        line = self.line
        if line[at : at + 1] not in (" ", "\t"):
            return at
        if line[at + 1 : at + 2] not in ("", " ", "\t"):
            return at + 1
        return end_of(_BLANKS, line, at)

    def is_dash(self, col: int) -> bool:
        """Tell whether a list item begins at a column."""
        line = self.line
        return line[col] == "-" and line[col + 1 : col + 2] in GAP

    # -- Positions in the whole text ------------------------------------------------------------

    def offset(self, col: int) -> int:
        """Give the position of a column of the current line in the whole text."""
        if not self.offsets:
            self.text = "\n".join(self.lines)
            at = 0
            for line in self.lines:
                self.offsets.append(at)
                at += len(line) + 1
        return self.offsets[self.row] + col

    def place(self, pos: int) -> tuple[int, int]:
        """Give row and column of a position."""
        from bisect import bisect

        row = bisect(self.offsets, pos) - 1
        return row, pos - self.offsets[row]

    def go_to(self, pos: int) -> int:
        """Make the line of a position the current one; give the column."""
        row, col = self.place(pos)
        self.row, self.line = row, self.lines[row]
        return col

    # -- Faults, for the caller to raise --------------------------------------------------------

    def fault(self, col: int, problem: str, hint: str) -> YAMLError:
        """Give a fault at a column of the current line."""
        return YAMLError(problem, self.row + 1, col + 1, hint)

    def unsupported(self, col: int, problem: str, hint: str) -> YAMLError:
        """Give the fault of a construct that the subset leaves out."""
        return UnsupportedError(f"{problem}, which is not supported", self.row + 1, col + 1, hint)

    def unquoted_fault(self, col: int, problem: str, start: int, say: str) -> YAMLError:
        """Give the fault of a value that starts at column `start` and would be right in quotes."""
        self.unquoted = self.row
        text = self.line[start:].rstrip(" \t")
        return self.fault(col, problem, f"{say}: {in_quotes(text)}" if len(text) <= 60 else say)

    def fault_at(self, pos: int, problem: str, hint: str) -> YAMLError:
        """Give a fault at a position of the whole text."""
        return self.fault(self.go_to(pos), problem, hint)

    def digits_fault(self, error: OverflowError, col: int) -> YAMLError:
        """Give the fault of a number that `resolve` found too long."""
        problem = f"a number of {error.args[0]:,} digits is too long"
        return self.fault(col, problem, "quote the value")


def _checked(text: str) -> str:
    """Refuse what no reading can mend: size and control characters."""
    if len(text) > MAX_CHARACTERS:
        problem = f"the text has {len(text):,} characters, more than {MAX_CHARACTERS:,}"
        raise YAMLError(problem, 1, 1, "keep long text out of the YAML")
    if is_printable(text):
        return text
    found = re.search(_FORBIDDEN, text)  # compiled, at some cost, only for a text that needs it
    if found:
        start = found.start()
        raise YAMLError(
            f"the character U+{ord(found.group()):04X} is not allowed",
            text.count("\n", 0, start) + 1,
            start - text.rfind("\n", 0, start),
            "remove it, or write it as an escape in double quotes",
        )
    return text


def end_of(pattern: re.Pattern[str], text: str, pos: int) -> int:
    """Give where a match at a position ends: the position itself where there is none."""
    found = pattern.match(text, pos)
    return found.end() if found else pos


def is_blank(text: str) -> bool:
    """Tell whether a line has nothing but white space or a comment."""
    body = text.lstrip(" \t")
    return not body or body[0] == "#"


def in_quotes(text: str) -> str:
    """Write a text in quotes, as a person would, for a hint."""
    if "'" in text or '"' not in text:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"'{text}'"


def shown(text: str) -> str:
    """Cut a text to what fits into a sentence."""
    return text if len(text) <= 40 else text[:37] + "..."
