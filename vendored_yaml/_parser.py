"""The reader of the whole subset; start at `parse`.

Four layers, each of which uses those below it: `_Reader` here reads blocks by line and column,
`ValueReader` in `_values` what stands behind a key or dash, `FlowReader` in `_flow` by position
what may run over lines at any indentation; `Cursor` in `_cursor` knows lines, positions and how a
fault is said.

Every method that reads a node leaves the reader on the next line that has content, so that its
caller compares `indent` with its own column to know whether the node above has ended.

Every loop and pattern is linear: no pattern can match one text in two ways, and how often a line
is looked at again is bounded by the limit on depth.
"""

from __future__ import annotations

import re

from ._cursor import GAP, is_blank, shown
from ._errors import Repair, UnsupportedError, YAMLError
from ._flow import NAME, double_anchor, too_deep
from ._quotes import DOUBLE, SINGLE, unquote
from ._values import COLON, COMMENT, ValueReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_ALIAS_KEY = re.compile(r"\*[^ \t,\[\]{}]+[ \t]+:(?=[ \t]|\Z)")


def parse(text: str, repairs: list[Repair] | None = None) -> object:
    """Read a text; with a list for `repairs`, values that only lack quotes are read as text."""
    return _Reader(text, repairs).document()


def key_lines(text: str) -> dict[str, int]:
    """Give the line of each key of the outermost mapping, up to the first fault of the text."""
    try:
        reader = _Reader(text, [])
    except YAMLError:
        return {}
    try:
        reader.document()
    except YAMLError:
        return reader.root_lines
    return reader.root_lines


class _Reader(ValueReader):
    """One reading of one text."""

    __slots__ = ("repairs",)

    def __init__(self, text: str, repairs: list[Repair] | None) -> None:
        super().__init__(text)
        self.repairs = repairs

    def document(self) -> object:
        """Read the one document of the text; None where it has no content."""
        marked = "---" in self.text or "..." in self.text or "%" in self.text
        begins = _find_document(self) if marked else -1
        if begins >= 0:
            self.row, self.line = begins, self.lines[begins]
            at = self.after_blanks(3)
            if at < len(self.line) and self.line[at] != "#":
                return self._ended(self._inline(-1, at))
        self.advance()
        return None if self.indent < 0 else self._ended(self._block(-1, self.indent, ""))

    def _ended(self, value: object) -> object:
        if self.indent >= 0:
            raise self.indentation_fault()
        return value

    # -- Blocks ------------------------------------------------------------------------------------

    def _block(self, parent: int, col: int, key: str) -> object:
        """Read the node at column `col` of the current line, under a node at column `parent`.

        `key` is the nearest key above, for the report of a repair.
        """
        if self.is_dash(col):
            return self._sequence(col, key)
        entry = self._entry(col)
        if entry is not None:
            return self._mapping(col, entry)
        return self._inline(parent, col)

    def _mapping(self, col: int, entry: tuple[str, int] | None) -> dict[str, object]:
        """Read a mapping whose keys stand at column `col`; its first key is read already."""
        if self.enter():
            raise self.fault(col, *too_deep())
        result: dict[str, object] = {}
        rows: list[int] = []
        while entry is not None:
            key, at = entry
            if key in result:
                raise self._double_key_fault(col, key, rows[list(result).index(key)])
            rows.append(self.row)
            if self.depth == 1:
                self.root_lines[key] = self.row + 1
            result[key] = self._value(col, at, key)
            if self.indent != col:
                break
            entry = self._entry(col)
        else:
            raise self._entry_fault(col)
        if self.indent > col:
            raise self.indentation_fault()
        self.depth -= 1
        return result

    def _value(self, col: int, at: int, key: str) -> object:
        """Read the value of a key at column `col`; its text, if any, starts at column `at`."""
        line = self.line
        if at >= len(line) or line[at] == "#":
            return self._below(col, key)
        if self.repairs is None:
            return self._inline(col, at)
        return self._repaired(col, at, key)

    def _below(self, col: int, key: str) -> object:
        """Read the value of a key whose own line has none."""
        self.advance()
        if self.indent > col:
            return self._block(col, self.indent, key)
        if self.indent == col and self.is_dash(col):
            return self._sequence(col, key)
        return None

    def _sequence(self, col: int, key: str) -> list[object]:
        """Read a list whose dashes stand at column `col`."""
        if self.enter():
            raise self.fault(col, *too_deep())
        items = [self._item(col, key)]
        while self.indent == col and self.is_dash(col):
            items.append(self._item(col, key))
        if self.indent > col:
            raise self.indentation_fault()
        self.depth -= 1
        return items

    def _item(self, col: int, key: str) -> object:
        line = self.line
        at = self.after_blanks(col + 1)
        if at >= len(line) or line[at] == "#":
            self.advance()
            return self._block(col, self.indent, key) if self.indent > col else None
        if self.is_dash(at):
            self._check_compact(col, at)
            return self._sequence(at, key)
        lone = line[at] == "?" and is_blank(line[at + 1 :])  # a text in all real files, not a key
        entry = None if lone else self._entry(at)
        if entry is not None:
            self._check_compact(col, at)
            return self._mapping(at, entry)
        if self.repairs is None:
            return self._inline(col, at)
        return self._repaired(col, at, key)

    def _check_compact(self, col: int, at: int) -> None:
        """Refuse a tab between a dash and a block, whose column it would leave open."""
        if "\t" in self.line[col:at]:
            raise self.tab_fault(self.line.index("\t", col))

    def _inline(self, parent: int, col: int) -> object:
        """Read a scalar, a flow collection, an alias or an anchored node at column `col`."""
        read = _VALUE_STARTS.get(self.line[col])
        return self.plain(parent, col) if read is None else read(self, parent, col)

    def _repaired(self, parent: int, at: int, key: str) -> object:
        """Read a value on the line of its key; take the rest of the line where quotes lack."""
        row, line, depth = self.row, self.line, self.depth
        try:
            return self._inline(parent, at)
        except YAMLError as error:
            if self.repairs is None or self.unquoted != row or line[at] == "&":
                raise
            self.row, self.depth, self.unquoted = row, depth, -1
            self.advance()
            if self.indent > parent:  # the value goes on: where it ends would be a guess
                raise
            self.repairs.append(Repair(key, error))
            return line[at:].rstrip(" \t")

    def _anchored_value(self, parent: int, col: int) -> object:
        found = NAME.match(self.line, col + 1)
        if not found:
            return self.reserved(parent, col)
        before = self.aliases
        value = self._after_anchor(parent, self.after_blanks(found.end()))
        self.anchors[found.group()] = (value, self.aliases - before + 1)
        return value

    def _after_anchor(self, parent: int, at: int) -> object:
        line = self.line
        if at < len(line) and line[at] != "#":
            if line[at] in "&*":
                raise self.fault(at, *double_anchor())
            return self._inline(parent, at)
        if parent >= 0 and line[parent] != " " and not self.is_dash(parent):
            return self._below(parent, "")
        self.advance()
        return self._block(parent, self.indent, "") if self.indent > parent else None

    # -- Keys --------------------------------------------------------------------------------------

    def _entry(self, col: int) -> tuple[str, int] | None:
        """Give the key at column `col` and the column of its value, or None if it is no key."""
        read = _KEY_STARTS.get(self.line[col])
        return self._plain_entry(col) if read is None else read(self, col)

    def _plain_entry(self, col: int) -> tuple[str, int] | None:
        line = self.line
        if "\t" in line:
            found = COLON.search(line, col)
            end = found.start() if found else -1
        else:
            end = line.find(": ", col)
            if end < 0 and line[-1] == ":":
                end = len(line) - 1
        if end < 0 or ("#" in line and COMMENT.search(line, col, end)):
            return None
        return line[col:end].rstrip(" \t"), self.after_blanks(end + 1)

    def _no_entry(self, _col: int) -> None:
        return None

    def _tab_entry(self, col: int) -> None:
        raise self.tab_fault(col)

    def _indicator_entry(self, col: int) -> tuple[str, int] | None:
        """Read a key that starts with "-", "?" or ":"; before a blank they mean something else."""
        if self.line[col + 1 : col + 2] not in GAP:
            return self._plain_entry(col)
        if self.line[col] == "?":
            raise self.unsupported(col, "'? ' begins a complex key", "write 'key: value'")
        if self.line[col] == ":":
            raise self.unsupported(col, "this key is empty", 'write "" for an empty key')
        return None

    def _guarded_entry(self, col: int) -> tuple[str, int] | None:
        """Read a key that starts with "<" or with a space that is no indentation."""
        entry = self._plain_entry(col)
        if entry is not None and entry[0] == "<<":
            raise self.merge_fault(col)
        if entry is not None and self.line[col] == "\xa0":
            problem = "a no-break space (U+00A0) is used for indentation"
            raise self.fault(col, problem, "use spaces")
        return entry

    def _alias_entry(self, col: int) -> None:
        if _ALIAS_KEY.match(self.line, col):
            raise self.unsupported(col, "an alias is used as a key", "write the key out")

    def _anchored_entry(self, col: int) -> None:
        found = NAME.match(self.line, col + 1)
        at = self.after_blanks(found.end()) if found else col
        if not found or at == found.end() or self.line[at : at + 1] in ("", "&"):
            return
        if self._entry(at) is not None:
            raise self.unsupported(col, "an anchor stands before a key", "remove the anchor")

    def _quoted_entry(self, col: int) -> tuple[str, int] | None:
        line = self.line
        found = (DOUBLE if line[col] == '"' else SINGLE).match(line, col)
        colon = self.after_blanks(found.end()) if found else -1
        if not found or line[colon : colon + 1] != ":":
            return None
        if line[colon + 1 : colon + 2] not in GAP:
            raise self.fault(colon, "no space after ':'", "add a space after ':'")
        return unquote(found.group(), self.row, col), self.after_blanks(colon + 1)

    # -- Faults, to raise --------------------------------------------------------------------------

    def _double_key_fault(self, col: int, key: str, row: int) -> YAMLError:
        problem = f"the key {shown(key)!r} stands on line {row + 1} already"
        return self.fault(col, problem, "remove or rename one of the two")

    def _entry_fault(self, col: int) -> YAMLError:
        """Say why the current line is no `key: value`, though it stands where one must."""
        text = self.line[col:]
        if self.is_dash(col):
            problem = "a list item stands where a key is expected"
            return self.fault(col, problem, "put the list under a key, all items indented alike")
        if text[:2] == "* ":
            return self.fault(col, "a list item starts with '*'", "start list items with '- '")
        if text[0] == "-":
            problem = f"{shown(text)!r} is no key and no list item"
            return self.fault(col, problem, "put a space after '-' in a list")
        if text[:2] == "{{":
            return self.unsupported(col, "a template instead of a key", "write 'key: value'")
        self.check_key_space(self.row, col)
        problem = f"expected 'key: value', found {shown(text)!r}"
        return self.fault(col, problem, "indent the line if it continues the value above")


# -- Where the document begins and ends ---------------------------------------------------------


def _find_document(reader: _Reader) -> int:
    """Cut the text where its document ends; give the row of a leading "---", or -1."""
    begins = -1
    empty = True  # nothing but blank lines and comments so far
    for row, line in enumerate(reader.lines):
        if line[:3] in ("---", "...") and line[3:4] in GAP:
            if line[0] == "." or begins >= 0 or not empty:
                _end_document(reader, row)
                break
            begins = row
            empty = is_blank(line[3:])
        elif empty and not is_blank(line):
            empty = False
            if _DIRECTIVE.match(line) and begins < 0:
                problem = "a directive such as %YAML is not supported"
                raise UnsupportedError(problem, row + 1, 1, "remove the line")
    return begins


_DIRECTIVE = re.compile(r"%[A-Z]+[ \t]")


def _end_document(reader: _Reader, row: int) -> None:
    """End the text before a line "---" or "..."; refuse what comes after it."""
    line = reader.lines[row]
    if line[0] == "-":
        problem = "a second document begins here, which is not supported"
        hint = 'keep one document, or quote the "---" that belongs to a text'
        raise UnsupportedError(problem, row + 1, 1, hint)
    if not is_blank(line[3:]):
        raise YAMLError('text after "..."', row + 1, 4, "put it on a line of its own")
    for after in range(row + 1, reader.last):
        line = reader.lines[after]
        if not is_blank(line) and not (line[:3] == "..." and is_blank(line[3:])):
            problem = 'text after the "..." that ends the document is not supported'
            raise UnsupportedError(problem, after + 1, 1, "remove it")
    reader.cut(row)


# -- What the first character of a key or value may mean ----------------------------------------

_KEY_STARTS: dict[str, Callable[[_Reader, int], tuple[str, int] | None]] = {
    **dict.fromkeys("[]{}!|>%@`,#", _Reader._no_entry),
    **dict.fromkeys("\"'", _Reader._quoted_entry),
    **dict.fromkeys("-?:", _Reader._indicator_entry),
    **dict.fromkeys("<\xa0", _Reader._guarded_entry),
    "\t": _Reader._tab_entry,
    "&": _Reader._anchored_entry,
    "*": _Reader._alias_entry,
}
_VALUE_STARTS: dict[str, Callable[[_Reader, int, int], object]] = {
    **dict.fromkeys("%@`,]}", ValueReader.reserved),
    **dict.fromkeys("\"'", ValueReader.quoted),
    **dict.fromkeys("[{", ValueReader.flow),
    **dict.fromkeys("|>", ValueReader.header_text),
    **dict.fromkeys("-?:", ValueReader.indicator),
    "&": _Reader._anchored_value,
    "*": ValueReader.alias,
    "!": ValueReader.tag,
}
