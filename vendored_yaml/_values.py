"""Values that start on the current line: plain, quoted, in brackets, or under a header."""

from __future__ import annotations

import re

from ._cursor import GAP, is_blank, shown
from ._errors import YAMLError
from ._flow import NAME, FlowReader
from ._scalars import resolve

COLON = re.compile(r":(?=[ \t]|\Z)")
COMMENT = re.compile(r"[ \t]#")
_HEADER = re.compile(r"[|>](?:([1-9])([-+]?)|([-+])([1-9]?))?(?:[ \t]+#.*|[ \t]*)\Z")
_KEY_WITHOUT_SPACE = re.compile(r"[^ \t:#\[\]{}\"',&*!|>%@`-][^ \t:#]*:(?!//)(?=[^ \t:])")


class ValueReader(FlowReader):
    """Reads values at a column of the current line.

    `parent` is the column of the key or dash the value belongs to, or -1; lines that are indented
    more belong to the value too. Every method leaves the reader on the line after the value.
    """

    __slots__ = ()

    # -- Values ------------------------------------------------------------------------------------

    def plain(self, parent: int, col: int) -> object:
        """Read a text without quotes, over all its lines; resolve it if it has one."""
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
            text = COMMENT.split(text, maxsplit=1)[0].rstrip(" \t")
            found = COLON.search(text)
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
                self.check_key_space(*first)
                raise
            parts += ("\n" * len(between) or " ", text)
            self.advance()
        return "".join(parts)

    def indicator(self, parent: int, col: int) -> object:
        """Read a plain text that starts with "-", "?" or ":"."""
        if self.line[col + 1 : col + 2] not in GAP:
            return self.plain(parent, col)
        if self.line[col] == "-":
            problem = "a list begins on the line of its key"
            raise self.fault(col, problem, "put it on the next line, or quote the value")
        return self.reserved(parent, col)

    def reserved(self, _parent: int, col: int) -> object:
        """Refuse a text that starts with a character YAML keeps for itself."""
        mark = "'" if self.line[col] == '"' else '"'
        problem = f"the value starts with {mark}{self.line[col]}{mark}, which YAML reserves"
        raise self.unquoted_fault(col, problem, col, "quote it")

    def tag(self, _parent: int, col: int) -> object:
        """Refuse a tag."""
        raise self.unsupported(col, "'!' begins a tag", "quote the value if it is a text")

    def quoted(self, parent: int, col: int) -> str:
        """Read a text in quotes."""
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

    def flow(self, parent: int, col: int) -> object:
        """Read a collection in brackets."""
        row = self.row
        value, after = self.flow_node(self.offset(col))
        at = self.go_to(after)
        what = f"closing '{self.text[after - 1]}'"
        self._finish(parent, at, col if self.row == row else -1, what)
        return value

    def alias(self, parent: int, col: int) -> object:
        """Read an alias; `**bold**` is none."""
        found = NAME.match(self.line, col + 1)
        name = found.group() if found else ""
        if not found or ("*" in name and name not in self.anchors):  # **bold** is no alias
            return self.reserved(parent, col)
        value = self.aliased(name, col)
        self._finish(parent, found.end(), col, "alias")
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
            raise self.indentation_fault()

    # -- Text under a header: | and > (YAML 1.2, 8.1) ----------------------------------------------

    def header_text(self, parent: int, col: int) -> str:
        """Read the lines under `|` or `>`."""
        found = _HEADER.match(self.line, col)
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
            raise self.indentation_fault()
        return texts

    # -- Faults, to raise --------------------------------------------------------------------------

    def tab_fault(self, col: int) -> YAMLError:
        """Give the fault of a tab where spaces must stand."""
        return self.fault(col, "a tab is used for indentation", "use spaces")

    def indentation_fault(self) -> YAMLError:
        """Give the fault of a line whose column fits nothing above it."""
        col = self.indent
        if self.line[col] == "\t":
            return self.tab_fault(col)
        if self.is_dash(col):
            problem = "this list item is not in line with the items above"
            return self.fault(col, problem, "indent all items of a list alike")
        problem = f"the indentation of {shown(self.line[col:])!r} fits nothing above it"
        hint = "indent the keys of a mapping alike, or quote the value if the line belongs to one"
        return self.fault(col, problem, hint)

    def check_key_space(self, row: int, col: int) -> None:
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
