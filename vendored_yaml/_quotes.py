"""What stands between quotes: escapes, and lines folded (YAML 1.2, 7.3)."""

from __future__ import annotations

import re

from ._errors import YAMLError

# Written so that no text can be matched in two ways: a quote that is never closed costs one scan.
DOUBLE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
SINGLE = re.compile(r"'[^']*(?:''[^']*)*'(?!')")

_WHITE = re.compile(r"[ \t\n]+")
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|\n[ \t\n]*|.)|[ \t\n]+", re.DOTALL
)

_ESCAPES = {
    "\\0": "\0",
    "\\a": "\a",
    "\\b": "\b",
    "\\t": "\t",
    "\\\t": "\t",
    "\\n": "\n",
    "\\v": "\v",
    "\\f": "\f",
    "\\r": "\r",
    "\\e": "\x1b",
    "\\ ": " ",
    '\\"': '"',
    "\\/": "/",
    "\\\\": "\\",
    "\\N": "\x85",
    "\\_": "\xa0",
    "\\L": "\u2028",
    "\\P": "\u2029",
}


def unquote(source: str, row: int, col: int) -> str:
    """Give the text that stands in quotes at a row and column; its quotes are part of `source`."""
    inner = source[1:-1]
    if source[0] == "'":
        inner = inner.replace("''", "'")
        return _WHITE.sub(_folded, inner) if "\n" in inner else inner
    if "\\" not in inner and "\n" not in inner:
        return inner
    return _unescaped(inner, row, col + 1)


def _folded(found: re.Match[str]) -> str:
    """Fold white space: one line end is a space, each further one a line feed."""
    run = found.group()
    breaks = run.count("\n")
    return ("\n" * (breaks - 1) or " ") if breaks else run


def _unescaped(inner: str, row: int, col: int) -> str:
    def replaced(found: re.Match[str]) -> str:
        source = found.group()
        if source[0] != "\\":
            return _folded(found)
        if found.lastindex and int(found.group(found.lastindex), 16) <= 0x10FFFF:
            return chr(int(found.group(found.lastindex), 16))
        if source[1] == "\n":  # an escaped line end joins two lines; blank ones between count
            return "\n" * (source.count("\n") - 1)
        if source not in _ESCAPES:
            raise _escape_fault(inner, found.start(), row, col)
        return _ESCAPES[source]

    text = _ESCAPE.sub(replaced, inner)
    if text.isascii() or not re.search("[\ud800-\udfff]", text):
        return text
    try:  # JSON writes a character beyond U+FFFF as two escapes, one for each half
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        problem = "an escape from \\ud800 to \\udfff is half of a character"
        raise YAMLError(problem, row + 1, col, "write both halves, or the character") from None


def _escape_fault(inner: str, at: int, row: int, col: int) -> YAMLError:
    before = inner[:at]
    breaks = before.count("\n")
    return YAMLError(
        f"{inner[at : at + 2]} is no escape in double quotes",
        row + breaks + 1,
        at - before.rfind("\n") if breaks else col + at + 1,
        "use single quotes, or write \\\\ for a backslash",
    )
