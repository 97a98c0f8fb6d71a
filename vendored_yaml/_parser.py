"""The reader of the whole subset; start at `parse`.

Three layers, each of which uses those below it: `_Reader` here reads blocks by line and column,
`FlowReader` in `_flow` reads by position what may run over lines at any indentation, and `Cursor`
in `_cursor` knows lines, positions and how a fault is said.

Every method that reads a node leaves the reader on the next line that has content, so that its
caller compares `indent` with its own column to know whether the node above has ended.

Every loop and pattern is linear: no pattern can match one text in two ways, and how often a line
is looked at again is bounded by the limit on depth.
"""

from __future__ import annotations

import re

from ._cursor import GAP, is_blank, shown
from ._errors import Repair, UnsupportedError, YAMLError
from ._flow import NAME, FlowReader, double_anchor, too_deep
from ._quotes import DOUBLE, SINGLE, unquote
from ._scalars import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_COLON = re.compile(r":(?=[ \t]|\Z)")
_COMMENT = re.compile(r"[ \t]#")
_ALIAS_KEY = re.compile(r"\*[^ \t,\[\]{}]+[ \t]+:(?=[ \t]|\Z)")
_KEY_WITHOUT_SPACE = re.compile(r"[^\s:#\[\]{}\"',&*!|>%@`-][^\s:#]*:(?!//)(?=[^ \t:])")
_TEXT_HEADER = re.compile(r"[|>](?:([1-9])([-+]?)|([-+])([1-9]?))?(?:[ \t]+#.*|[ \t]*)\Z")


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


class _Reader(FlowReader):
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
            raise self._indentation_fault()
        return value

    # -- Blocks ---------------------------------------------------------------------------------

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
            raise self._indentation_fault()
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
            raise self._indentation_fault()
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
            raise self._tab_fault(self.line.index("\t", col))

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

    # -- Keys -----------------------------------------------------------------------------------

    def _entry(self, col: int) -> tuple[str, int] | None:
        """Give the key at column `col` and the column of its value, or None if it is no key."""
        read = _KEY_STARTS.get(self.line[col])
        return self._plain_entry(col) if read is None else read(self, col)

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
        return line[col:end].rstrip(" \t"), self.after_blanks(end + 1)

    def _no_entry(self, _col: int) -> None:
        return None

    def _tab_entry(self, col: int) -> None:
        raise self._tab_fault(col)

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

    # -- Values that start on the current line --------------------------------------------------

    def _inline(self, parent: int, col: int) -> object:
        """Read a scalar, a flow collection, an alias or an anchored node at column `col`."""
        read = _VALUE_STARTS.get(self.line[col])
        return self._plain(parent, col) if read is None else read(self, parent, col)

    def _plain(self, parent: int, col: int) -> object:
        text = self._plain_text(col, col)
        row = self.row
        self.advance()
        if self.indent > parent:
            return self._plain_lines(parent, text, row, col)
        try:
            return resolve(text)
        except OverflowError as error:
            self.row = row
            raise self.digits_fault(error, col) from None

    def _plain_text(self, col: int, start: int) -> str:
        """Give the plain text from column `col` to the end of the line or to a comment.

        `start` is the column where the value began, or -1 if that was on a line above.
        """
        text = self.line[col:]
        if "\t" in text:
            text = _COMMENT.split(text, maxsplit=1)[0].rstrip(" \t")
            found = _COLON.search(text)
            if found:
                raise self._colon_fault(col + found.start(), start)
            return text
        if "#" in text:
            text = text.partition(" #")[0]
        text = text.rstrip(" ")
        if ": " in text:
            raise self._colon_fault(col + text.index(": "), start)
        if text[-1] == ":":
            raise self._colon_fault(col + len(text) - 1, start)
        return text

    def _plain_lines(self, parent: int, text: str, row: int, col: int) -> str:
        """Read the further lines of a plain text; the reader stands on the second."""
        parts = [text]
        first = (row, col)
        while self.indent > parent:
            between = self.lines[row + 1 : self.row]
            if self.lines[row][col:].rstrip(" \t") != text or "#" in "".join(between):
                problem = "this text follows a comment inside a value"
                raise self.fault(self.indent, problem, "move the comment, or add the missing key")
            row, col = self.row, self.after_blanks(self.indent)
            try:
                text = self._plain_text(col, -1)
            except YAMLError:
                self._check_key_space(*first)
                raise
            parts += ("\n" * len(between) or " ", text)
            self.advance()
        return "".join(parts)

    def _indicator(self, parent: int, col: int) -> object:
        """Read a plain text that starts with "-", "?" or ":"."""
        if self.line[col + 1 : col + 2] not in GAP:
            return self._plain(parent, col)
        if self.line[col] == "-":
            problem = "a list begins on the line of its key"
            raise self.fault(col, problem, "put it on the next line, or quote the value")
        return self._reserved(parent, col)

    def _reserved(self, _parent: int, col: int) -> object:
        mark = "'" if self.line[col] == '"' else '"'
        problem = f"the value starts with {mark}{self.line[col]}{mark}, which YAML reserves"
        raise self.unquoted_fault(col, problem, col, "quote it")

    def _tag(self, _parent: int, col: int) -> object:
        raise self.unsupported(col, "'!' begins a tag", "quote the value if it is a text")

    def _quoted(self, parent: int, col: int) -> str:
        line = self.line
        mark = line[col]
        end = line.find(mark, col + 1)
        if end > 0 and line[end + 1 : end + 2] != mark and line.find("\\", col, end) < 0:
            self._finish(parent, end + 1, col, "closing quote")
            return line[col + 1 : end]
        row = self.row
        value, after = self.quoted_at(self.offset(col))
        at = self.go_to(after)
        self._finish(parent, at, col if self.row == row else -1, "closing quote")
        return value

    def _flow(self, parent: int, col: int) -> object:
        row = self.row
        value, after = self.flow_node(self.offset(col))
        at = self.go_to(after)
        what = f"closing '{self.text[after - 1]}'"
        self._finish(parent, at, col if self.row == row else -1, what)
        return value

    def _finish(self, parent: int, at: int, start: int, what: str) -> None:
        """Go on after a value that ended before column `at`.

        `start` is the column where it began, or -1 if that was on another line.
        """
        rest = self.line[at:]
        if rest:
            body = rest.lstrip(" \t")
            if body and (body[0] != "#" or len(body) == len(rest)):
                raise self._rest_fault(at + len(rest) - len(body), start, what)
        self.advance()
        if self.indent > parent:
            raise self._indentation_fault()

    # -- Anchors and aliases --------------------------------------------------------------------

    def _anchored_value(self, parent: int, col: int) -> object:
        found = NAME.match(self.line, col + 1)
        if not found:
            return self._reserved(parent, col)
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

    def _alias_value(self, parent: int, col: int) -> object:
        found = NAME.match(self.line, col + 1)
        name = found.group() if found else ""
        if not found or ("*" in name and name not in self.anchors):  # **bold** is no alias
            return self._reserved(parent, col)
        value = self.aliased(name, col)
        self._finish(parent, found.end(), col, "alias")
        return value

    # -- Block text: | and > (YAML 1.2, 8.1) ----------------------------------------------------

    def _block_text(self, parent: int, col: int) -> str:
        found = _TEXT_HEADER.match(self.line, col)
        if not found:
            problem = f"text after '{self.line[col]}' on its line"
            raise self.unquoted_fault(col, problem, col, "quote the value")
        digit, sign = found.group(1) or found.group(4), found.group(2) or found.group(3)
        folded = self.line[col] == ">"
        width = max(parent, 0) + int(digit) if digit else self._text_width(max(parent, 0))
        texts = self._text_lines(width, parent)
        kept = len(texts)
        while kept and not texts[kept - 1]:
            kept -= 1
        body = _folded(texts[:kept]) if folded else "\n".join(texts[:kept])
        if sign == "+":
            return body + "\n" * (len(texts) - kept + (1 if kept else 0))
        return body + "\n" if kept and sign != "-" else body

    def _text_width(self, parent: int) -> int:
        """Give the indentation of the first line with text; no blank line may be wider."""
        widest = parent + 1
        for row in range(self.row + 1, self.last):
            body = self.lines[row].lstrip(" ")
            width = len(self.lines[row]) - len(body)
            if not body:
                widest = max(widest, width)
            elif width <= parent:
                break
            elif width < widest:
                self.row = row
                problem = "a blank line above this text is indented more than the text"
                raise self.fault(width, problem, "remove the spaces of the blank line")
            else:
                return width
        return widest

    def _text_lines(self, width: int, parent: int) -> list[str]:
        """Give the lines under a header, without their indentation, and move past them."""
        margin = " " * width
        texts: list[str] = []
        row = self.row + 1
        while row < self.last:
            line = self.lines[row]
            if not line.startswith(margin) and line.strip(" "):
                break
            texts.append(line[width:])
            row += 1
        self.row = row - 1
        self.advance()
        if self.indent > parent:
            raise self._indentation_fault()
        return texts

    # -- Faults, to raise -----------------------------------------------------------------------

    def _tab_fault(self, col: int) -> YAMLError:
        return self.fault(col, "a tab is used for indentation", "use spaces")

    def _double_key_fault(self, col: int, key: str, row: int) -> YAMLError:
        problem = f"the key {shown(key)!r} stands on line {row + 1} already"
        return self.fault(col, problem, "remove or rename one of the two")

    def _indentation_fault(self) -> YAMLError:
        col = self.indent
        if self.line[col] == "\t":
            return self._tab_fault(col)
        if self.is_dash(col):
            problem = "this list item is not in line with the items above"
            return self.fault(col, problem, "indent all items of a list alike")
        problem = f"the indentation of {shown(self.line[col:])!r} fits nothing above it"
        hint = "indent the keys of a mapping alike, or quote the value if the line belongs to one"
        return self.fault(col, problem, hint)

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
        self._check_key_space(self.row, col)
        problem = f"expected 'key: value', found {shown(text)!r}"
        return self.fault(col, problem, "indent the line if it continues the value above")

    def _check_key_space(self, row: int, col: int) -> None:
        """Refuse `key:value`, which its author takes for a key with a value."""
        text = self.lines[row][col:]
        found = _KEY_WITHOUT_SPACE.match(text)
        if found:
            self.row = row
            problem = f"no space after ':' in {shown(text)!r}"
            raise self.fault(col + found.end() - 1, problem, "add a space after ':'")

    def _colon_fault(self, col: int, start: int) -> YAMLError:
        where = "':' at the end of" if is_blank(self.line[col + 1 :]) else "': ' inside"
        problem = f"{where} a value without quotes"
        if start < 0:
            hint = "quote the value, or indent this line like the keys above it"
            return self.fault(col, problem, hint)
        return self.unquoted_fault(col, problem, start, "quote the value")

    def _rest_fault(self, col: int, start: int, what: str) -> YAMLError:
        if start < 0:
            hint = "remove it, or quote the whole value"
            return self.fault(col, f"text after the {what}", hint)
        if self.line[col] == ":" and what != "closing quote":
            problem = "a list or mapping is used as a key"
            return self.unsupported(start, problem, "quote the whole value")
        return self.unquoted_fault(col, f"text after the {what}", start, "quote the whole value")


def _folded(texts: list[str]) -> str:
    """Join the lines of a `>` text; those that start with white space keep their line ends."""
    parts: list[str] = []
    blank = 0
    was_wide = True  # nothing is folded before the first line
    for text in texts:
        if not text:
            blank += 1
            continue
        is_wide = text[0] in " \t"
        if is_wide or was_wide:
            parts.append("\n" * (blank + (1 if parts else 0)))
        else:
            parts.append("\n" * blank or " ")
        parts.append(text)
        was_wide, blank = is_wide, 0
    return "".join(parts)


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
    **dict.fromkeys("%@`,]}", _Reader._reserved),
    **dict.fromkeys("\"'", _Reader._quoted),
    **dict.fromkeys("[{", _Reader._flow),
    **dict.fromkeys("|>", _Reader._block_text),
    **dict.fromkeys("-?:", _Reader._indicator),
    "&": _Reader._anchored_value,
    "*": _Reader._alias_value,
    "!": _Reader._tag,
}
