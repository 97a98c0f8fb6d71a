"""The reader: lines and indentation for blocks, positions in the text for flow and quotes.

Start at `parse`. The reader stands on one line that has content (`row`, `line`, `indent`); every
method that reads a node leaves it on the next such line, so a caller compares `indent` with its
own column to know whether the node above has ended. Blocks are read by columns of one line; only
what may run over several lines without regard to indentation (flow collections and quoted text)
is read by position in the whole text.

Every pattern and loop is linear: no pattern can match one text in two ways, and what is looked at
again is bounded by the limit on depth.
"""

from __future__ import annotations

import re

from ._errors import Repair, UnsupportedError, YAMLError
from ._scalars import MAX_DIGITS, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

MAX_CHARACTERS = 1024 * 1024
MAX_DEPTH = 64
MAX_ALIASES = 100

_END = "\0"  # the line after the last: NUL is refused in a text, so nothing else looks like it
_GAP = ("", " ", "\t", "\n", _END)  # what must follow an indicator such as "-" or ":"

_FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff\ud800-\udfff]")
_MARKER = re.compile(r"^(?:---|\.\.\.)(?=[ \t\n]|\Z)", re.MULTILINE)
_COLON = re.compile(r":(?=[ \t]|\Z)")
_COMMENT = re.compile(r"[ \t]#")
_SPACE = re.compile(r"[ \t]*")
_WHITE = re.compile(r"[ \t\n]*")
_NAME = re.compile(r"[^ \t\n,\[\]{}\0]+")
_DOUBLE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_SINGLE = re.compile(r"'[^']*(?:''[^']*)*'(?!')")
_BLOCK_HEADER = re.compile(r"[|>](?:([1-9])([-+]?)|([-+])([1-9]?))?(?:[ \t]+#.*|[ \t]*)\Z")
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|\n[ \t]*|(.))|[ \t\n]+|\\", re.DOTALL
)
_FLOW_PLAIN = re.compile(
    r"(?:[^,\[\]{}: \t\n\0#]+"
    r"|:(?![ \t\n,\[\]{}\0])"
    r"|(?<![ \t\n])#"
    r"|[ \t]+(?![ \t\n#,\[\]{}:\0])"
    r"|[ \t]+(?=:[^ \t\n,\[\]{}\0]))+"
)

_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f",
    "r": "\r", "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0",
    "L": "\u2028", "P": "\u2029",
}  # fmt: skip


def parse(text: str, repairs: list[Repair] | None = None) -> object:
    """Read a text; with a list for `repairs`, values that only lack quotes are read as text."""
    return _Reader(text, repairs).document()


def key_lines(text: str) -> dict[str, int]:
    """Give the line of each key of the outermost mapping, up to the first fault of the text."""
    reader = _Reader("", [])
    try:
        reader = _Reader(text, [])
        reader.document()
    except YAMLError:
        pass
    return reader.root_lines


def quoted(text: str) -> str:
    """Write a text in quotes, as a person would, for a hint."""
    if "'" in text or '"' not in text:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"'{text}'"


def _shown(text: str) -> str:
    """Cut a text to what fits into a sentence."""
    return text if len(text) <= 40 else text[:37] + "..."


def _normal(text: str) -> str:
    """Drop one byte order mark and make every line end a line feed (YAML 1.2, 5.2 and 5.4)."""
    if text[:1] == "\ufeff":
        text = text[1:]
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


class _Reader:
    """One reading of one text."""

    __slots__ = (
        "aliases", "anchors", "depth", "indent", "last", "line", "lines", "offsets", "repairs",
        "root_lines", "row", "text", "unquoted",
    )  # fmt: skip

    def __init__(self, text: str, repairs: list[Repair] | None) -> None:
        self.repairs = repairs
        self.root_lines: dict[str, int] = {}
        self.anchors: dict[str, tuple[object, int]] = {}
        self.aliases = 0
        self.depth = 0
        self.unquoted = -1  # the row on which a fault was found that quotes would mend
        self.text = ""
        self.offsets: list[int] = []
        self.lines = self._checked(_normal(text)).split("\n")
        if not self.lines[-1]:
            self.lines.pop()
        self.last = len(self.lines)
        self.lines.append(_END)
        self.row = self.indent = -1
        self.line = ""

    # -- The document ---------------------------------------------------------------------------

    def _checked(self, text: str) -> str:
        """Refuse what no reading can mend: size and control characters."""
        if len(text) > MAX_CHARACTERS:
            raise YAMLError(
                f"the text has {len(text):,} characters, more than {MAX_CHARACTERS:,}",
                1, 1, "keep long text out of the YAML",
            )  # fmt: skip
        found = None if text.isprintable() else _FORBIDDEN.search(text)
        if found:
            start = found.start()
            line = text.count("\n", 0, start)
            column = start - (text.rfind("\n", 0, start) + 1)
            raise YAMLError(
                f"the control character U+{ord(found.group()):04X} is not allowed",
                line + 1, column + 1, "remove it, or write it as an escape in double quotes",
            )  # fmt: skip
        return text

    def document(self) -> object:
        """Read the one document of the text."""
        begins = self._find_document()
        if begins >= 0:
            self.row, self.line = begins, self.lines[begins]
            at = self._after_gap(3)
            if at < len(self.line) and self.line[at] != "#":
                value = self._inline(-1, at)
                return self._ended(value)
        self._advance()
        if self.indent < 0:
            return None
        return self._ended(self._block(-1, self.indent, ""))

    def _ended(self, value: object) -> object:
        if self.indent >= 0:
            self._fail_indentation()
        return value

    def _find_document(self) -> int:
        """Cut the lines at the end of the document; give the row of a leading "---", or -1."""
        begins = -1
        empty = True  # nothing but blank lines and comments so far
        for row in range(self.last):
            line = self.lines[row]
            if line[:3] in ("---", "...") and line[3:4] in _GAP:
                if line[0] == "-" and empty and begins < 0:
                    begins = row
                    empty = _is_blank(line[3:])
                    continue
                self._end_document(row)
                break
            if empty and not _is_blank(line):
                empty = False
                if line[0] == "%" and begins < 0:
                    self._fail_at_percent(row)
        return begins

    def _fail_at_percent(self, row: int) -> None:
        if re.match(r"%[A-Z]+[ \t]", self.lines[row]):
            raise UnsupportedError(
                "a directive such as %YAML is not supported", row + 1, 1, "remove the line"
            )

    def _end_document(self, row: int) -> None:
        """End the text before `row`, a line "---" or "...", and refuse what comes after it."""
        line = self.lines[row]
        if line[0] == "-":
            raise UnsupportedError(
                "a second document begins here, which is not supported", row + 1, 1,
                'keep one document, or quote the "---" that belongs to a text',
            )  # fmt: skip
        if not _is_blank(line[3:]):
            raise YAMLError('text after "..."', row + 1, 4, "put it on a line of its own")
        for after in range(row + 1, self.last):
            line = self.lines[after]
            if not _is_blank(line) and not (line[:3] == "..." and _is_blank(line[3:])):
                raise UnsupportedError(
                    'text after the "..." that ends the document is not supported', after + 1, 1,
                    "remove it",
                )  # fmt: skip
        self.last = row
        del self.lines[row:]
        self.lines.append(_END)

    # -- Lines ----------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Go to the next line that has more than a comment."""
        lines = self.lines
        row = self.row + 1
        while True:
            line = lines[row]
            body = line.lstrip(" ")
            if body and body[0] != "#" and (body[0] != "\t" or not _is_blank(body)):
                break
            row += 1
        self.row = row
        self.line = line
        self.indent = len(line) - len(body) if row < self.last else -1

    def _after_gap(self, at: int) -> int:
        """Give the column of the first character from `at` on that is no space and no tab."""
        line = self.line
        if line[at : at + 1] not in (" ", "\t"):
            return at
        if line[at + 1 : at + 2] not in ("", " ", "\t"):
            return at + 1
        found = _SPACE.match(line, at)
        return found.end() if found else at

    def _is_dash(self, col: int) -> bool:
        line = self.line
        return line[col] == "-" and line[col + 1 : col + 2] in _GAP

    # -- Faults ---------------------------------------------------------------------------------

    def _fail(self, col: int, problem: str, hint: str | None = None) -> NoReturn:
        raise YAMLError(problem, self.row + 1, col + 1, hint)

    def _fail_unsupported(self, col: int, problem: str, hint: str | None = None) -> NoReturn:
        raise UnsupportedError(f"{problem}, which is not supported", self.row + 1, col + 1, hint)

    def _fail_unquoted(self, col: int, problem: str, start: int, say: str) -> NoReturn:
        """Refuse a value that starts at column `start` and would be right in quotes."""
        self.unquoted = self.row
        text = self.line[start:].rstrip(" \t")
        hint = f"{say}: {quoted(text)}" if len(text) <= 60 else say
        self._fail(col, problem, hint)

    def _fail_indentation(self) -> NoReturn:
        col = self.indent
        first = self.line[col]
        if first == "\t":
            self._fail_tab(col)
        if self._is_dash(col):
            self._fail(
                col, "this list item is not in line with the items above",
                "indent all items of a list alike",
            )  # fmt: skip
        self._fail(
            col, f"the indentation of {_shown(self.line[col:])!r} fits nothing above it",
            "indent the keys of one mapping alike, or quote the value above if this line belongs to it",
        )  # fmt: skip

    def _fail_tab(self, col: int) -> NoReturn:
        self._fail(col, "a tab is used for indentation", "use spaces")

    def _fail_entry(self, col: int) -> NoReturn:
        """Say why the current line is no `key: value`, though it stands where one must."""
        line = self.line
        text = line[col:]
        if self._is_dash(col):
            self._fail(
                col, "a list item stands where a key is expected",
                "put the list under a key, all its items indented alike",
            )  # fmt: skip
        if text[:2] == "* ":
            self._fail(col, "a list item starts with '*'", "start list items with '- '")
        if text[0] == "-":
            self._fail(col, f"{_shown(text)!r} is no key", "put a space after '-' in a list")
        self._check_key_space(text, col)
        if text[0] in "\"'":
            self._quoted(-1, col)  # says what is wrong with the quotes, if they are
        if text[:2] == "{{":
            self._fail_unsupported(col, "a template stands where a key is expected")
        self._fail(
            col, f"expected 'key: value', found {_shown(text)!r}",
            "indent the line if it continues the value above",
        )  # fmt: skip

    def _check_key_space(self, text: str, col: int, row: int = -1) -> None:
        """Refuse `key:value`, of which the author thinks that it is a key."""
        found = re.match(r"[^\s:#\[\]{}\"',&*!|>%@`-][^\s:#]*:(?!//)(?=[^ \t:])", text)
        if found:
            raise YAMLError(
                f"no space after ':' in {_shown(text)!r}",
                (self.row if row < 0 else row) + 1, col + found.end(), "add a space after ':'",
            )  # fmt: skip

    def _enter(self, col: int) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self._fail(col, f"nested deeper than {MAX_DEPTH} levels", "make the structure flatter")

    # -- Blocks ---------------------------------------------------------------------------------

    def _block(self, parent: int, col: int, key: str) -> object:
        """Read the node at column `col` of the current line, under a node at column `parent`."""
        if self._is_dash(col):
            return self._sequence(col, key)
        entry = self._entry(col)
        if entry is not None:
            return self._mapping(col, entry)
        return self._inline(parent, col)

    def _mapping(self, col: int, entry: tuple[str, int]) -> dict[str, object]:
        """Read a mapping whose keys stand at column `col`; its first key is read already."""
        self._enter(col)
        result: dict[str, object] = {}
        rows: list[int] = []
        while True:
            key, at = entry
            if key in result:
                first = rows[list(result).index(key)] + 1
                self._fail(
                    col, f"the key {_shown(key)!r} stands on line {first} already",
                    "remove or rename one of the two",
                )  # fmt: skip
            rows.append(self.row)
            if self.depth == 1:
                self.root_lines[key] = self.row + 1
            result[key] = self._value(col, at, key)
            if self.indent != col:
                break
            found = self._entry(col)
            if found is None:
                self._fail_entry(col)
            entry = found
        if self.indent > col:
            self._fail_indentation()
        self.depth -= 1
        return result

    def _value(self, col: int, at: int, key: str) -> object:
        """Read the value of a key at column `col`; its text, if any, starts at column `at`."""
        line = self.line
        if at >= len(line) or line[at] == "#":
            return self._below(col, key)
        if self.repairs is None:
            return self._inline(col, at)
        return self._repairing(col, at, key)

    def _below(self, col: int, key: str) -> object:
        """Read the value of a key whose own line has none."""
        self._advance()
        if self.indent > col:
            return self._block(col, self.indent, key)
        if self.indent == col and self._is_dash(col):
            return self._sequence(col, key)
        return None

    def _sequence(self, col: int, key: str) -> list[object]:
        """Read a list whose dashes stand at column `col`."""
        self._enter(col)
        items: list[object] = []
        while True:
            items.append(self._item(col, key))
            if self.indent != col or not self._is_dash(col):
                break
        if self.indent > col:
            self._fail_indentation()
        self.depth -= 1
        return items

    def _item(self, col: int, key: str) -> object:
        line = self.line
        at = self._after_gap(col + 1)
        if at >= len(line) or line[at] == "#":
            self._advance()
            return self._block(col, self.indent, key) if self.indent > col else None
        if self._is_dash(at):
            self._check_compact(col, at)
            return self._sequence(at, key)
        if line[at] == "?" and line[at + 1 :].strip(" \t") == "":
            self._fail_unquoted(at, "'?' alone means a complex key, not a text", at, "quote it")
        entry = self._entry(at)
        if entry is not None:
            self._check_compact(col, at)
            return self._mapping(at, entry)
        if self.repairs is None:
            return self._inline(col, at)
        return self._repairing(col, at, key)

    def _check_compact(self, col: int, at: int) -> None:
        if "\t" in self.line[col:at]:
            self._fail_tab(self.line.index("\t", col))

    def _repairing(self, parent: int, at: int, key: str) -> object:
        """Read a value on the line of its key; take the rest of the line where quotes lack."""
        row, line, depth = self.row, self.line, self.depth
        try:
            return self._inline(parent, at)
        except YAMLError as error:
            if self.unquoted != row or error.line != row + 1 or line[at] == "&":
                raise
            self.row, self.depth, self.unquoted = row, depth, -1
            self._advance()
            if self.indent > parent:  # the value goes on: where it ends is a guess
                raise
            if self.repairs is not None:
                self.repairs.append(Repair(key, error))
            return line[at:].rstrip(" \t")

    # -- Keys -----------------------------------------------------------------------------------

    def _entry(self, col: int) -> tuple[str, int] | None:
        """Give the key at column `col` and the column of its value, or None if it is no key."""
        line = self.line
        if line[col] in _ODD_KEYS:
            return self._odd_entry(col)
        return self._plain_entry(col)

    def _plain_entry(self, col: int) -> tuple[str, int] | None:
        line = self.line
        if "\t" in line:
            found = _COLON.search(line, col)
            end = found.start() if found else -1
        else:
            end = line.find(": ", col)
            if end < 0 and line[-1] == ":":
                end = len(line) - 1
        if end < 0 or ("#" in line and _COMMENT.search(line, col, end)):
            return None
        return line[col:end].rstrip(" \t"), self._after_gap(end + 1)

    def _odd_entry(self, col: int) -> tuple[str, int] | None:
        """Give the entry whose key starts with a character that may mean something else."""
        line = self.line
        first = line[col]
        if first in "\"'":
            return self._quoted_entry(col)
        if first == "\t":
            self._fail_tab(col)
        if first == "&":
            return self._anchored_entry(col)
        if first in "-?:":
            if line[col + 1 : col + 2] not in _GAP:
                return self._plain_entry(col)
            if first == "?":
                self._fail_unsupported(col, "'? ' begins a complex key", "write 'key: value'")
            if first == ":":
                self._fail_unsupported(col, "this key is empty", 'write "" for an empty key')
            return None
        if first in "<\xa0":
            return self._guarded_entry(col)
        if first == "*":
            found = re.compile(r"\*[^ \t,\[\]{}]+[ \t]+:(?=[ \t]|\Z)").match(line, col)
            if found:
                self._fail_unsupported(col, "an alias is used as a key")
        return None

    def _guarded_entry(self, col: int) -> tuple[str, int] | None:
        entry = self._plain_entry(col)
        if entry is not None and entry[0] == "<<":
            self._fail_unsupported(col, "'<<' is a merge key", "write the keys out")
        if entry is not None and self.line[col] == "\xa0":
            self._fail(col, "a no-break space (U+00A0) is used for indentation", "use spaces")
        return entry

    def _quoted_entry(self, col: int) -> tuple[str, int] | None:
        line = self.line
        found = (_DOUBLE if line[col] == '"' else _SINGLE).match(line, col)
        if not found:
            return None
        colon = self._after_gap(found.end())
        if line[colon : colon + 1] != ":":
            return None
        if line[colon + 1 : colon + 2] not in _GAP:
            self._fail(colon, "no space after ':'", "add a space after ':'")
        return self._unquote(found.group(), self.row, col), self._after_gap(colon + 1)

    def _anchored_entry(self, col: int) -> tuple[str, int] | None:
        found = _NAME.match(self.line, col + 1)
        if found:
            at = self._after_gap(found.end())
            if at > found.end() and at < len(self.line) and self._entry(at) is not None:
                self._fail_unsupported(col, "an anchor stands before a key")
        return None

    # -- Values that start on the current line --------------------------------------------------

    def _inline(self, parent: int, col: int) -> object:
        """Read a scalar, a flow collection, an alias or an anchored node at column `col`."""
        read = _STARTS.get(self.line[col])
        if read is None:
            return self._plain(parent, col)
        return read(self, parent, col)

    def _plain(self, parent: int, col: int) -> object:
        text = self._plain_text(col, col)
        row = self.row
        self._advance()
        if self.indent > parent:
            return self._plain_lines(parent, text, row, col)
        try:
            return resolve(text)
        except OverflowError as error:
            raise _too_long(error, row, col) from None

    def _plain_text(self, col: int, start: int) -> str:
        """Give the plain text from column `col` to the end of the line or to a comment."""
        text = self.line[col:]
        if "\t" in text:
            return self._tabbed_text(col)
        if "#" in text:
            text = text.partition(" #")[0]
        text = text.rstrip(" ")
        if ": " in text:
            self._fail_colon(col + text.index(": "), start)
        if text[-1:] == ":":
            self._fail_colon(col + len(text) - 1, start)
        return text

    def _tabbed_text(self, col: int) -> str:
        text = _COMMENT.split(self.line[col:], maxsplit=1)[0].rstrip(" \t")
        found = _COLON.search(text)
        if found:
            self._fail_colon(col + found.start(), col)
        return text

    def _fail_colon(self, col: int, start: int) -> NoReturn:
        where = "': ' inside" if self.line[col + 1 :].strip(" \t") else "':' at the end of"
        self._fail_unquoted(col, f"{where} a value without quotes", start, "quote the value")

    def _plain_lines(self, parent: int, text: str, row: int, col: int) -> str:
        """Read the further lines of a plain text, of which the reader stands on the second."""
        parts = [text]
        first_row, first_col = row, col
        while self.indent > parent:
            between = self.lines[row + 1 : self.row]
            if self.lines[row][col:].rstrip(" \t") != text or any(map(_has_comment, between)):
                self._fail(
                    self.indent, "this text follows a comment inside a value",
                    "move the comment, or put the key in front",
                )  # fmt: skip
            row, col = self.row, self._after_gap(self.indent)
            try:
                text = self._plain_text(col, col)
            except YAMLError:
                self._check_key_space(self.lines[first_row][first_col:], first_col, first_row)
                raise
            parts += ("\n" * len(between) or " ", text)
            self._advance()
        return "".join(parts)

    def _indicator(self, parent: int, col: int) -> object:
        """Read a plain text that starts with "-", "?" or ":"."""
        line = self.line
        if line[col + 1 : col + 2] not in _GAP:
            return self._plain(parent, col)
        if line[col] == "-":
            self._fail(
                col, "a list begins on the line of its key",
                "put it on the next line, or quote the value",
            )  # fmt: skip
        return self._reserved(parent, col)

    def _reserved(self, _parent: int, col: int) -> object:
        first = self.line[col]
        return self._fail_unquoted(
            col, f"the value starts with {quoted(first)}, which YAML reserves", col, "quote it"
        )

    def _tag(self, _parent: int, col: int) -> object:
        return self._fail_unsupported(
            col, "'!' begins a tag", f"quote the value: {quoted(_shown(self.line[col:]))}"
        )

    def _finish(self, parent: int, at: int, start: int, what: str) -> None:
        """Go on after a value that ended before column `at`; nothing may follow but a comment."""
        rest = self.line[at:]
        if rest:
            body = rest.lstrip(" \t")
            if body and (body[0] != "#" or body is rest or len(body) == len(rest)):
                self._fail_rest(at + len(rest) - len(body), start, what)
        self._advance()
        if self.indent > parent:
            if parent < 0:
                self._fail(self.indent, f"text after the {what}", "keep one value, or use 'key: value'")
            self._fail_indentation()

    def _fail_rest(self, col: int, start: int, what: str) -> NoReturn:
        if start < 0:
            self._fail(col, f"text after the {what}", "remove it, or quote the whole value")
        if self.line[col] == ":" and what != "closing quote":
            self._fail_unsupported(start, "a list or mapping is used as a key", "quote the whole value")
        self._fail_unquoted(col, f"text after the {what}", start, "quote the whole value")

    # -- Anchors and aliases --------------------------------------------------------------------

    def _anchored(self, parent: int, col: int) -> object:
        found = _NAME.match(self.line, col + 1)
        if not found:
            self._reserved(parent, col)
        at = self._after_gap(found.end()) if found else 0
        name = found.group() if found else ""
        line, before = self.line, self.aliases
        if at < len(line) and line[at] != "#":
            if line[at] in "&*":
                self._fail(at, "an anchor must be followed by a value", "use one of the two")
            value = self._inline(parent, at)
        elif parent >= 0 and line[parent] != " " and not self._is_dash(parent):
            value = self._below(parent, "")
        else:
            self._advance()
            value = self._block(parent, self.indent, "") if self.indent > parent else None
        self.anchors[name] = (value, self.aliases - before + 1)
        return value

    def _alias(self, parent: int, col: int) -> object:
        found = _NAME.match(self.line, col + 1)
        if found is None or ("*" in found.group() and found.group() not in self.anchors):
            self._reserved(parent, col)
        else:
            value = self._aliased(found.group(), col)
            self._finish(parent, found.end(), col, "alias")
            return value
        return None

    def _aliased(self, name: str, col: int) -> object:
        """Give the node of an anchor; it counts with the aliases inside it, so none multiply."""
        if name not in self.anchors:
            self._fail(col, f"the alias *{_shown(name)} names no anchor above", "quote the value")
        value, weight = self.anchors[name]
        self.aliases += weight
        if self.aliases > MAX_ALIASES:
            self._fail(col, f"more than {MAX_ALIASES} uses of aliases", "write the values out")
        return value

    # -- Block text: | and > --------------------------------------------------------------------

    def _block_text(self, parent: int, col: int) -> str:
        found = _BLOCK_HEADER.match(self.line, col)
        if not found:
            self._fail_unquoted(
                col, f"text after '{self.line[col]}' on its line", col, "quote the value"
            )
        digit, sign = found.group(1) or found.group(4), found.group(2) or found.group(3)
        folded = self.line[col] == ">"
        texts = self._block_lines(max(parent, 0) + int(digit) if digit else -1, parent)
        kept = len(texts)
        while kept and not texts[kept - 1]:
            kept -= 1
        body = _folded(texts[:kept]) if folded else "\n".join(texts[:kept])
        if sign == "+":
            return body + "\n" * (len(texts) - kept + (1 if kept else 0))
        return body + "\n" if kept and sign != "-" else body

    def _block_lines(self, width: int, parent: int) -> list[str]:
        """Give the lines under a header, without their indentation, and move past them."""
        lines, row = self.lines, self.row + 1
        if width < 0:
            width = self._block_width(row, parent)
        texts: list[str] = []
        margin = " " * width
        while row < self.last:
            line = lines[row]
            if line.startswith(margin):
                texts.append(line[width:])
            elif line.strip(" "):
                break
            else:
                texts.append("")
            row += 1
        self.row = row - 1
        self._advance()
        if self.indent > parent:
            self._fail_indentation()
        return texts

    def _block_width(self, row: int, parent: int) -> int:
        """Give the indentation of the first line with text; no blank line may be wider."""
        widest = 0
        for at in range(row, self.last):
            line = self.lines[at]
            body = line.lstrip(" ")
            width = len(line) - len(body)
            if body:
                if width <= parent:
                    break
                if width < widest:
                    raise YAMLError(
                        "a blank line above this text is indented more than the text", at + 1,
                        width + 1, "remove the spaces of the blank line",
                    )  # fmt: skip
                return width
            widest = max(widest, width)
        return max(widest, parent + 1)

    # -- Quoted text ----------------------------------------------------------------------------

    def _quoted(self, parent: int, col: int) -> str:
        line = self.line
        mark = line[col]
        end = line.find(mark, col + 1)
        if end > 0 and line[end + 1 : end + 2] != mark and line.find("\\", col, end) < 0:
            self._finish(parent, end + 1, col, "closing quote")
            return line[col + 1 : end]
        row = self.row
        value, after = self._quoted_at(self._offset(col))
        at = self._go_to(after)
        self._finish(parent, at, col if self.row == row else -1, "closing quote")
        return value

    def _quoted_at(self, pos: int) -> tuple[str, int]:
        """Read quoted text at a position; give it with the position after it."""
        double = self.text[pos] == '"'
        found = (_DOUBLE if double else _SINGLE).match(self.text, pos)
        if not found:
            row, col = self._place(pos)
            raise YAMLError(
                "this quote is never closed", row + 1, col + 1,
                f"close it with {self.text[pos]}, or quote the whole value"
                if double else "close it with ', or use double quotes for text with an apostrophe",
            )  # fmt: skip
        return self._unquote(found.group(), *self._place(pos)), found.end()

    def _unquote(self, source: str, row: int, col: int) -> str:
        inner = source[1:-1]
        if source[0] == "'":
            inner = inner.replace("''", "'")
            return _WHITE_RUN.sub(_fold_run, inner) if "\n" in inner else inner
        if "\\" not in inner and "\n" not in inner:
            return inner
        return _Unescape(inner, row, col).text()

    # -- Positions in the text ------------------------------------------------------------------

    def _offset(self, col: int) -> int:
        """Give the position of a column of the current line in the whole text."""
        if not self.offsets:
            self.text = "\n".join(self.lines)
            at = 0
            for line in self.lines:
                self.offsets.append(at)
                at += len(line) + 1
        return self.offsets[self.row] + col

    def _place(self, pos: int) -> tuple[int, int]:
        """Give row and column of a position."""
        from bisect import bisect

        row = bisect(self.offsets, pos) - 1
        return row, pos - self.offsets[row]

    def _go_to(self, pos: int) -> int:
        """Make the line of a position the current one; give the column."""
        row, col = self._place(pos)
        self.row, self.line = row, self.lines[row]
        return col

    def _fail_in_flow(self, pos: int, problem: str, hint: str | None = None) -> NoReturn:
        self._fail(self._go_to(pos), problem, hint)

    # -- Flow collections: [ ] and { } ----------------------------------------------------------

    def _flow(self, parent: int, col: int) -> object:
        row = self.row
        value, after = self._flow_node(self._offset(col))
        at = self._go_to(after)
        what = "closing '" + self.text[after - 1] + "'"
        self._finish(parent, at, col if self.row == row else -1, what)
        return value

    def _flow_node(self, pos: int) -> tuple[object, int]:
        first = self.text[pos]
        if first == "[":
            return self._flow_list(pos)
        if first == "{":
            return self._flow_map(pos)
        if first == "&":
            return self._flow_anchored(pos)
        if first == "*":
            return self._flow_alias(pos)
        text, after, is_quoted = self._flow_scalar(pos)
        return (text if is_quoted else self._flow_resolved(text, pos)), after

    def _flow_resolved(self, text: str, pos: int) -> object:
        try:
            return resolve(text)
        except OverflowError as error:
            raise _too_long(error, *self._place(pos)) from None

    def _flow_list(self, start: int) -> tuple[list[object], int]:
        self._enter_flow(start)
        items: list[object] = []
        pos = self._skip(start + 1)
        while self.text[pos] != "]":
            item, pos = self._flow_item(pos, start)
            items.append(item)
            pos = self._comma(pos, "]", start)
        self.depth -= 1
        return items, pos + 1

    def _flow_item(self, pos: int, start: int) -> tuple[object, int]:
        """Read an item of a list; `a: b` is a mapping of one key."""
        if self.text[pos] in "[{&*":
            value, after = self._flow_node(pos)
            if self.text[self._skip(after)] == ":":
                self._fail_complex(pos)
            return value, after
        text, after, is_quoted = self._flow_scalar(pos, start)
        value_at = self._flow_colon(pos, after, start)
        if value_at < 0:
            return (text if is_quoted else self._flow_resolved(text, pos)), after
        self._check_merge(text, pos, is_quoted)
        value, after = self._flow_value(value_at)
        return {text: value}, after

    def _flow_map(self, start: int) -> tuple[dict[str, object], int]:
        self._enter_flow(start)
        result: dict[str, object] = {}
        pos = self._skip(start + 1)
        while self.text[pos] != "}":
            if self.text[pos] in "[{&*":
                self._fail_complex(pos)
            key, after, is_quoted = self._flow_scalar(pos, start)
            self._check_merge(key, pos, is_quoted)
            if key in result:
                self._fail_in_flow(
                    pos, f"the key {_shown(key)!r} stands in these braces twice",
                    "remove or rename one of the two",
                )  # fmt: skip
            if self.depth == 1:
                self.root_lines[key] = self._place(pos)[0] + 1
            value_at = self._flow_colon(pos, after, start)
            result[key] = None
            if value_at >= 0:
                result[key], after = self._flow_value(value_at)
            pos = self._comma(after, "}", start)
        self.depth -= 1
        return result, pos + 1

    def _enter_flow(self, pos: int) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self._fail_in_flow(pos, f"nested deeper than {MAX_DEPTH} levels", "make it flatter")

    def _flow_value(self, pos: int) -> tuple[object, int]:
        """Read the value after a colon, which may be missing."""
        pos = self._skip(pos)
        return (None, pos) if self.text[pos] in ",]}" else self._flow_node(pos)

    def _flow_colon(self, pos: int, after: int, start: int) -> int:
        """Give the position after the colon of the key read from `pos` to `after`, or -1."""
        colon = self._skip(after)
        if self.text[colon] != ":":
            return -1
        if "\n" in self.text[pos:colon]:
            self._fail_open(start)
        return colon + 1

    def _check_merge(self, key: str, pos: int, is_quoted: bool) -> None:  # noqa: FBT001
        if key == "<<" and not is_quoted:
            self._fail_unsupported(self._go_to(pos), "'<<' is a merge key", "write the keys out")

    def _fail_complex(self, pos: int) -> NoReturn:
        """Refuse a key that is no text; most are templates such as {{ title }}."""
        row, col = self.row, self._go_to(pos)
        what = "a list, mapping, anchor or alias is used as a key"
        if self.text[pos - 1 : pos + 1] == "{{":
            what = "'{{' begins a mapping used as a key"
            if row == self.row:
                self.unquoted = row
        self._fail_unsupported(col, what, "quote the value")

    def _fail_open(self, start: int) -> NoReturn:
        bracket = self.text[start]
        close = "]" if bracket == "[" else "}"
        self._fail_in_flow(
            start, f"this '{bracket}' is never closed", f"close it with '{close}', or quote the value"
        )

    def _comma(self, pos: int, close: str, start: int) -> int:
        """Move past what must follow an item: a comma, or the closing bracket (not past it)."""
        text = self.text
        after = self._skip(pos)
        if text[after] == ",":
            return self._skip(after + 1)
        if text[after] == close:
            return after
        if text[after] == _END or "\n" in text[start:after]:
            self._fail_open(start)
        row, col = self.row, self._go_to(after)
        if row == self.row and text[start] == "{":
            self.unquoted = row
        self._fail(col, f"expected ',' or '{close}'", "quote the value")

    def _skip(self, pos: int) -> int:
        """Give the position of the next character that is no white space and no comment."""
        text = self.text
        if text[pos] not in " \t\n#":
            return pos
        while True:
            found = _WHITE.match(text, pos)
            pos = found.end() if found else pos
            if text[pos] != "#":
                return pos
            if text[pos - 1] not in " \t\n":
                self._fail_hash(pos)
            pos = text.index("\n", pos)

    def _fail_hash(self, pos: int) -> NoReturn:
        """Refuse "#" right after a bracket or comma: [#12](https://...) is no list."""
        row, col = self.row, self._go_to(pos)
        if row == self.row and "](" in self.line[col:]:
            self.unquoted = row
        self._fail(col, "'#' right after a bracket, comma or quote", "quote the whole value")

    def _flow_anchored(self, pos: int) -> tuple[object, int]:
        found = _NAME.match(self.text, pos + 1)
        if not found:
            self._fail_in_flow(pos, "'&' without a name", "quote it")
        before = self.aliases
        at = self._skip(found.end())
        if self.text[at] in "&*":
            self._fail_in_flow(at, "an anchor must be followed by a value", "use one of the two")
        value, after = self._flow_value(at)
        self.anchors[found.group()] = (value, self.aliases - before + 1)
        return value, after

    def _flow_alias(self, pos: int) -> tuple[object, int]:
        found = _NAME.match(self.text, pos + 1)
        if not found:
            self._fail_in_flow(pos, "'*' without a name", "quote it")
        row, line = self.row, self.line
        value = self._aliased(found.group(), self._go_to(pos))
        self.row, self.line = row, line
        return value, found.end()

    def _flow_scalar(self, pos: int, start: int = -1) -> tuple[str, int, bool]:
        """Read a scalar; give its text, the position after it and whether it is quoted."""
        text = self.text
        first = text[pos]
        if first in "\"'":
            value, after = self._quoted_at(pos)
            return value, after, True
        if first == _END and start >= 0:
            self._fail_open(start)
        if first in _RESERVED or (first in "-?:" and text[pos + 1] in " \t\n,[]{}\0"):
            self._fail_reserved(pos)
        found = _FLOW_PLAIN.match(text, pos)
        after = found.end() if found else pos
        value = text[pos:after]
        return (value, after, False) if text[after] in ",]}" else self._flow_lines(value, after)

    def _flow_lines(self, value: str, after: int) -> tuple[str, int, bool]:
        """Read the further lines of a plain text in a flow collection."""
        text = self.text
        parts = [value]
        while True:
            white = _WHITE.match(text, after)
            pos = white.end() if white else after
            breaks = text.count("\n", after, pos)
            if not breaks or text[pos] in ",[]{}#\0":
                break
            found = _FLOW_PLAIN.match(text, pos)
            if not found:
                break
            after = found.end()
            parts += ("\n" * (breaks - 1) or " ", found.group())
        return "".join(parts), after, False

    def _fail_reserved(self, pos: int) -> NoReturn:
        first = self.text[pos]
        col = self._go_to(pos)
        if first == "!":
            self._fail_unsupported(col, "'!' begins a tag", "quote it")
        if first == ",":
            self._fail(col, "an item is missing before ','", "remove the comma, or write the item")
        if first == ":":
            self._fail_unsupported(col, "this key is empty", 'write "" for an empty key')
        if first == "?":
            self._fail_unsupported(col, "'? ' begins a complex key", "quote it")
        self._fail(col, f"an item starts with {quoted(first)}, which YAML reserves", "quote it")


class _Unescape:
    """The text between double quotes, its escapes replaced and its lines folded."""

    __slots__ = ("col", "inner", "row")

    def __init__(self, inner: str, row: int, col: int) -> None:
        self.inner = inner
        self.row = row
        self.col = col

    def text(self) -> str:
        text = _ESCAPE.sub(self._replaced, self.inner)
        return _paired(text, self.row, self.col) if _has_surrogate(text) else text

    def _replaced(self, found: re.Match[str]) -> str:
        source = found.group()
        if source[0] != "\\":
            return _fold_run(found)
        digits = found.group(found.lastindex) if found.lastindex else ""
        if source[1:2] in ("x", "u", "U") and len(source) > 2:
            code = int(digits, 16)
            if code <= 0x10FFFF:
                return chr(code)
        elif source[1:2] == "\n":
            return ""
        elif digits in _ESCAPES:
            return _ESCAPES[digits]
        self._fail(found.start(), source)

    def _fail(self, at: int, source: str) -> NoReturn:
        before = self.inner[:at]
        row = self.row + before.count("\n")
        col = at - before.rfind("\n") - 1 if "\n" in before else self.col + 1 + at
        raise YAMLError(
            f"{source} is no escape in double quotes", row + 1, col + 1,
            "use single quotes, or write \\\\ for a backslash",
        )  # fmt: skip


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and re.search("[\ud800-\udfff]", text) is not None


def _paired(text: str, row: int, col: int) -> str:
    """Join the halves of characters that JSON writes as two escapes."""
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise YAMLError(
            "an escape \\ud800 to \\udfff is half of a character", row + 1, col + 1,
            "write both halves, or the character itself",
        ) from None  # fmt: skip


_WHITE_RUN = re.compile(r"[ \t\n]+")


def _fold_run(found: re.Match[str]) -> str:
    """Fold white space in quotes: one line end is a space, each further one a line feed."""
    run = found.group()
    breaks = run.count("\n")
    if not breaks:
        return run
    return "\n" * (breaks - 1) or " "


def _is_blank(text: str) -> bool:
    """Tell whether a line has nothing but white space or a comment."""
    body = text.lstrip(" \t")
    return not body or body[0] == "#"


def _has_comment(line: str) -> bool:
    return "#" in line


def _folded(texts: list[str]) -> str:
    """Join the lines of a `>` text (YAML 1.2, 8.1.3): lines that start with white space stay."""
    parts: list[str] = []
    blank = 0
    wide = True  # nothing is folded before the first line
    for text in texts:
        if not text:
            blank += 1
            continue
        is_wide = text[0] in " \t"
        if is_wide or wide:
            parts.append("\n" * (blank + (1 if parts else 0)))
        else:
            parts.append("\n" * blank or " ")
        parts.append(text)
        wide, blank = is_wide, 0
    return "".join(parts)


def _too_long(error: OverflowError, row: int, col: int) -> YAMLError:
    return YAMLError(
        f"a number of {error.args[0]} digits is longer than {MAX_DIGITS}", row + 1, col + 1,
        "quote the value",
    )  # fmt: skip


# First characters that may make a line something else than `plain key: value`.
_ODD_KEYS = frozenset("\"'[]{}&*!|>%@`,?-:<#\t\xa0")
_RESERVED = frozenset("&*!|>%@`,#[]{}\0")
_STARTS: dict[str, Callable[[_Reader, int, int], object]] = {
    '"': _Reader._quoted, "'": _Reader._quoted, "[": _Reader._flow, "{": _Reader._flow,
    "|": _Reader._block_text, ">": _Reader._block_text, "&": _Reader._anchored,
    "*": _Reader._alias, "!": _Reader._tag, "-": _Reader._indicator, "?": _Reader._indicator,
    ":": _Reader._indicator,
    **dict.fromkeys("%@`,]}", _Reader._reserved),
}  # fmt: skip
