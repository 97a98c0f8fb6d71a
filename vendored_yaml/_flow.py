"""What is read by position because it may run over lines at any indentation: quotes, [ ], { }.

As in js-yaml 4, and against the letter of YAML 1.2, the further lines may stand at any column:
real files close a bracket, or go on in quotes, at the start of a line.
"""

from __future__ import annotations

import re

from ._cursor import END, Cursor, end_of, in_quotes, shown
from ._errors import YAMLError
from ._quotes import DOUBLE, SINGLE, unquote
from ._scalars import resolve

MAX_DEPTH = 64
MAX_ALIASES = 100

NAME = re.compile(r"[^ \t\n,\[\]{}\0]+")
_WHITE = re.compile(r"[ \t\n]*")
# One line of a plain text. The alternatives exclude one another at every character.
_PLAIN = re.compile(
    r"(?:[^,\[\]{}: \t\n\0#]+"
    r"|:(?![ \t\n,\[\]{}\0])"
    r"|(?<![ \t\n])#"
    r"|[ \t]+(?![ \t\n#,\[\]{}:\0])"
    r"|[ \t]+(?=:[^ \t\n,\[\]{}\0]))+"
)
_RESERVED = frozenset("&*!|>%@`,#[]{}\0")


class FlowReader(Cursor):
    """Reads nodes by position. A method takes the position of a node and gives the one after it."""

    __slots__ = ("aliases", "anchors", "depth", "root_lines")

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.anchors: dict[str, tuple[object, int]] = {}  # node, and what a use of it counts
        self.aliases = 0
        self.depth = 0
        self.root_lines: dict[str, int] = {}

    def enter(self) -> bool:
        """Go one level down; say whether that is too deep."""
        self.depth += 1
        return self.depth > MAX_DEPTH

    def flow_node(self, pos: int) -> tuple[object, int]:
        """Read a scalar, a collection, an alias or an anchored node."""
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
            raise self.digits_fault(error, self.go_to(pos)) from None

    # -- Collections ----------------------------------------------------------------------------

    def _flow_list(self, start: int) -> tuple[list[object], int]:
        if self.enter():
            raise self.fault_at(start, *too_deep())
        items: list[object] = []
        pos = self._flow_skip(start + 1)
        while self.text[pos] != "]":
            item, pos = self._flow_item(pos, start)
            items.append(item)
            pos = self._flow_comma(pos, "]", start)
        self.depth -= 1
        return items, pos + 1

    def _flow_item(self, pos: int, start: int) -> tuple[object, int]:
        """Read an item of a list; `a: b` is a mapping of one key."""
        if self.text[pos] in "[{&*":
            value, after = self.flow_node(pos)
            if self.text[self._flow_skip(after)] == ":":
                raise self._complex_fault(pos)
            return value, after
        text, after, is_quoted = self._flow_scalar(pos, start)
        value_at = self._flow_colon(pos, after, start)
        if value_at < 0:
            return (text if is_quoted else self._flow_resolved(text, pos)), after
        if text == "<<" and not is_quoted:
            raise self.merge_fault(self.go_to(pos))
        value, after = self._flow_value(value_at)
        return {text: value}, after

    def _flow_map(self, start: int) -> tuple[dict[str, object], int]:
        if self.enter():
            raise self.fault_at(start, *too_deep())
        result: dict[str, object] = {}
        pos = self._flow_skip(start + 1)
        while self.text[pos] != "}":
            key, after = self._flow_key(pos, start)
            if key in result:
                problem = f"the key {shown(key)!r} stands in these braces twice"
                raise self.fault_at(pos, problem, "remove or rename one of the two")
            if self.depth == 1:
                self.root_lines[key] = self.place(pos)[0] + 1
            value_at = self._flow_colon(pos, after, start)
            result[key] = None
            if value_at >= 0:
                result[key], after = self._flow_value(value_at)
            pos = self._flow_comma(after, "}", start)
        self.depth -= 1
        return result, pos + 1

    def _flow_key(self, pos: int, start: int) -> tuple[str, int]:
        """Read a key of braces, which stays text whatever it looks like."""
        if self.text[pos] in "[{&*":
            raise self._complex_fault(pos)
        key, after, is_quoted = self._flow_scalar(pos, start)
        if key == "<<" and not is_quoted:
            raise self.merge_fault(self.go_to(pos))
        return key, after

    def _flow_value(self, pos: int) -> tuple[object, int]:
        """Read the value after a colon or an anchor, which may be missing."""
        pos = self._flow_skip(pos)
        return (None, pos) if self.text[pos] in ",]}" else self.flow_node(pos)

    def _flow_colon(self, pos: int, after: int, start: int) -> int:
        """Give the position after the colon of the key read from `pos` to `after`, or -1."""
        colon = self._flow_skip(after)
        if self.text[colon] != ":":
            return -1
        if "\n" in self.text[pos:colon]:  # a key ends on its line, so a bracket is missing
            raise self._open_fault(start)
        return colon + 1

    def _flow_comma(self, pos: int, close: str, start: int) -> int:
        """Move past the comma that must follow an item, or up to the closing bracket."""
        text = self.text
        after = self._flow_skip(pos)
        if text[after] == ",":
            return self._flow_skip(after + 1)
        if text[after] == close:
            return after
        if text[after] == END or "\n" in text[start:after]:
            raise self._open_fault(start)
        row, col = self.row, self.go_to(after)
        if row == self.row and text[start] == "{":  # {proposed | [ADR-5](5.md)} is a placeholder
            self.unquoted = row
        raise self.fault(col, f"expected ',' or '{close}'", "quote the value")

    def _flow_skip(self, pos: int) -> int:
        """Give the position of the next character that is no white space and no comment."""
        text = self.text
        if text[pos] not in " \t\n#":
            return pos
        while True:
            pos = end_of(_WHITE, text, pos)
            if text[pos] != "#":
                return pos
            if text[pos - 1] not in " \t\n":
                raise self._hash_fault(pos)
            pos = text.index("\n", pos)

    # -- Anchors and aliases --------------------------------------------------------------------

    def _flow_anchored(self, pos: int) -> tuple[object, int]:
        found = NAME.match(self.text, pos + 1)
        if not found:
            raise self.fault_at(pos, "'&' without a name", "quote it")
        before = self.aliases
        at = self._flow_skip(found.end())
        if self.text[at] in "&*":
            raise self.fault_at(at, *double_anchor())
        value, after = self._flow_value(at)
        self.anchors[found.group()] = (value, self.aliases - before + 1)
        return value, after

    def _flow_alias(self, pos: int) -> tuple[object, int]:
        found = NAME.match(self.text, pos + 1)
        if not found:
            raise self.fault_at(pos, "'*' without a name", "quote it")
        row, line = self.row, self.line
        value = self.aliased(found.group(), self.go_to(pos))
        self.row, self.line = row, line
        return value, found.end()

    def aliased(self, name: str, col: int) -> object:
        """Give the node of an anchor.

        A use counts with the uses inside its node, so that aliases of aliases cannot multiply.
        """
        if name not in self.anchors:
            problem = f"the alias *{shown(name)} names no anchor above"
            raise self.fault(col, problem, "quote the value")
        value, weight = self.anchors[name]
        self.aliases += weight
        if self.aliases > MAX_ALIASES:
            problem = f"more than {MAX_ALIASES} uses of aliases"
            raise self.fault(col, problem, "write the values out")
        return value

    # -- Scalars --------------------------------------------------------------------------------

    def quoted_at(self, pos: int) -> tuple[str, int]:
        """Read text in quotes."""
        mark = self.text[pos]
        found = (DOUBLE if mark == '"' else SINGLE).match(self.text, pos)
        row, col = self.place(pos)
        if not found:
            hint = f"close it with {mark}"
            if mark == "'":
                hint += ", or use double quotes for a text with an apostrophe"
            raise YAMLError("this quote is never closed", row + 1, col + 1, hint)
        return unquote(found.group(), row, col), found.end()

    def _flow_scalar(self, pos: int, start: int = -1) -> tuple[str, int, bool]:
        """Read a scalar; give its text, the position after it and whether it is quoted."""
        text = self.text
        first = text[pos]
        if first in "\"'":
            value, after = self.quoted_at(pos)
            return value, after, True
        if first == END and start >= 0:
            raise self._open_fault(start)
        if first in _RESERVED or (first in "-?:" and text[pos + 1] in " \t\n,[]{}\0"):
            raise self._reserved_fault(pos)
        after = end_of(_PLAIN, text, pos)
        value = text[pos:after]
        return (value, after, False) if text[after] in ",]}" else self._flow_lines(value, after)

    def _flow_lines(self, value: str, after: int) -> tuple[str, int, bool]:
        """Read the further lines of a plain text."""
        text = self.text
        parts = [value]
        while True:
            pos = end_of(_WHITE, text, after)
            breaks = text.count("\n", after, pos)
            end = end_of(_PLAIN, text, pos)
            if not breaks or end == pos:
                return "".join(parts), after, False
            after = end
            parts += ("\n" * (breaks - 1) or " ", text[pos:end])

    # -- Faults ---------------------------------------------------------------------------------

    def merge_fault(self, col: int) -> YAMLError:
        """Give the fault of a merge key, which YAML 1.2 no longer has."""
        return self.unsupported(col, "'<<' is a merge key", "write the keys out")

    def _open_fault(self, start: int) -> YAMLError:
        bracket = self.text[start]
        close = "]" if bracket == "[" else "}"
        hint = f"close it with '{close}', or quote the value"
        return self.fault_at(start, f"this '{bracket}' is never closed", hint)

    def _complex_fault(self, pos: int) -> YAMLError:
        """Give the fault of a key that is no text; most are templates such as {{ title }}."""
        row, col = self.row, self.go_to(pos)
        what = "a list, mapping, anchor or alias is used as a key"
        if self.text[pos - 1 : pos + 1] == "{{":
            what = "'{{' begins a mapping that is used as a key"
            if row == self.row:
                self.unquoted = row
        return self.unsupported(col, what, "quote the value")

    def _hash_fault(self, pos: int) -> YAMLError:
        """Give the fault of [#12](https://...), where "#" would begin a comment."""
        row, col = self.row, self.go_to(pos)
        if row == self.row and "](" in self.line[col:]:
            self.unquoted = row
        return self.fault(col, "'#' right after a bracket, comma or quote", "quote the whole value")

    def _reserved_fault(self, pos: int) -> YAMLError:
        first = self.text[pos]
        col = self.go_to(pos)
        if first == ",":
            problem = "an item is missing before ','"
            return self.fault(col, problem, "remove the comma, or write the item")
        if first in _UNSUPPORTED:
            return self.unsupported(col, *_UNSUPPORTED[first])
        return self.fault(
            col, f"an item starts with {in_quotes(first)}, which YAML reserves", "quote it"
        )


_UNSUPPORTED = {
    "!": ("'!' begins a tag", "quote it"),
    ":": ("this key is empty", 'write "" for an empty key'),
    "?": ("'? ' begins a complex key", "quote it"),
}


def too_deep() -> tuple[str, str]:
    """Say that there are too many levels, and what to do."""
    return f"nested deeper than {MAX_DEPTH} levels", "make the structure flatter"


def double_anchor() -> tuple[str, str]:
    """Say that an anchor has no value of its own, and what to do."""
    return "an anchor must be followed by a value", "use one of the two"
