"""The short way for the blocks most files have: flat keys, simple values, lists of words.

`read_simple` works line by line with methods of `str` and knows nothing of the rest of YAML. It
either gives what `_parser` would give, or None at the first thing it does not know, also where
that is a fault: the full reader then reads the text again and says what is wrong. What it takes
must therefore be a subset in which no line can change the meaning of another:

- only printable characters and line feeds: no tab, no control character, no odd space;
- `key: value` without indentation, the value a plain or quoted text, a number or a flow list of
  such, all on this line; a following line that is indented and no list item is a miss, so that no
  value goes on;
- `key:` alone, followed by nothing or by the items of one list, all indented alike;
- comments, which end a value as they do everywhere.
"""

from __future__ import annotations

from ._scalars import CONSTANTS, MAX_CHARACTERS, is_printable, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    # What may follow a key without a value: the key, how its items begin, the items so far.
    Open = tuple[str, str, list[object]]

MISS: object = object()
_CLOSED: Open = ("", "", [])

# A value that starts with one of these is text, unless it is a constant or has a colon inside.
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/($^;=<~\\")
_DIGITS = frozenset("0123456789")
# What is no text though it has but letters and dashes.
_NO_WORDS = frozenset(("", "-", *CONSTANTS))
# First characters of a key that may mean something else, or that only the full reader judges.
_ODD_KEYS = frozenset(" \"'[]{}&*!|>%@`,?-:<#.")


def read_simple(text: str) -> dict[str, object] | None:
    """Read a text, or give None; `OverflowError` where a number has too many digits."""
    if len(text) > MAX_CHARACTERS or not is_printable(text):
        return None
    result: dict[str, object] = {}
    opened, start, items = _CLOSED
    special = "#" in text
    for line in text.split("\n"):
        # Two common lines are read here, since a call would take as long as reading them: an item
        # of the list that is open, and a key with a text or a date.
        if opened and line.startswith(start):
            value = line[len(start) :]
            if value[:1] in _LETTERS and not (special or ": " in value or value[-1] in ": "):
                result[opened] = items
                items.append(value if len(value) > 5 else CONSTANTS.get(value, value))
                continue
        key, _, value = line.partition(": ")
        if key in result:
            return None
        if (
            (value[:1] in _LETTERS or (value[4:8:3] == "--" and value[:1] in _DIGITS))
            and not (special or ": " in value or value[-1] in ": ")
            and (key.isidentifier() or _is_key(key))
        ):
            result[key] = value if len(value) > 5 else CONSTANTS.get(value, value)
            opened = ""
            continue
        found = _read_line(line, key, value, result, (opened, start, items))
        if found is None:
            return None
        opened, start, items = found
    return result or None


def _read_line(
    line: str, key: str, value: str, result: dict[str, object], opened: Open
) -> Open | None:
    """Read any line into `result`; give the list that is open after it.

    `key` and `value` are what stands before and after the first ": ".
    """
    if line[:1] in " -#":
        return _read_odd(line, result, opened)
    if not value:
        key = line.rstrip(" ")
        if key[-1] != ":":
            return None
        key = key[:-1]
    if key in result or not (key.isidentifier() or _is_key(key)):
        return None
    value = value.strip(" ")
    if not value or value[0] == "#":
        result[key] = None
        return key, "  - ", []  # the usual indentation, until the first item shows it
    found = _read_list(value) if value[0] == "[" else _read_scalar(value)
    if found is MISS:
        return None
    result[key] = found
    return _CLOSED


def _read_odd(line: str, result: dict[str, object], opened: Open) -> Open | None:
    """Read a line that begins with no key: a blank one, a comment, an item."""
    body = line.lstrip(" ")
    if not body or body[0] == "#":
        return opened
    if body[:2] == "- ":
        return _read_item(line, len(line) - len(body) + 2, result, opened)
    return None


def _read_item(line: str, width: int, result: dict[str, object], opened: Open) -> Open | None:
    key, start, items = opened
    found = _read_scalar(line[width:].strip(" "))
    if found is MISS or not key:
        return None
    if not items:
        start = line[:width]
        result[key] = items
    elif not line.startswith(start):
        return None
    items.append(found)
    return key, start, items


def _is_key(key: str) -> bool:
    return bool(key) and key[0] not in _ODD_KEYS and key[-1] != " " and " #" not in key


def _read_scalar(text: str) -> object:
    """Read a value that is no collection."""
    first = text[:1]
    if first in ("'", '"'):
        return _read_quoted(text, first)
    if " #" in text:
        text = text.partition(" #")[0].rstrip(" ")
    if first in _LETTERS or first in _DIGITS or first > "\x7f":
        return MISS if ": " in text or text[-1] == ":" else resolve(text)
    return MISS


def _read_quoted(text: str, mark: str) -> object:
    end = text.find(mark, 1)
    if end < 0 or "\\" in text:
        return MISS
    rest = text[end + 1 :]
    if rest and not (rest[0] == " " and rest.lstrip(" ")[0] == "#"):
        return MISS
    return text[1:end]


def _read_list(text: str) -> object:
    """Read a list in brackets whose items are plain or quoted."""
    inner = text[1:-1]
    if text[-1] != "]":
        return MISS
    words = inner.split(", ")
    if inner.replace(", ", "").replace("-", "").isalpha() and _NO_WORDS.isdisjoint(words):
        return words
    if "#" in inner or "[" in inner or "]" in inner or "{" in inner or "}" in inner:
        return MISS
    items: list[object] = []
    for part in inner.split(","):
        found = _read_scalar(part.strip(" "))
        if found is MISS:
            return MISS if inner.strip(" ") else []
        items.append(found)
    return items
