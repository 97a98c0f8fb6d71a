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

from ._scalars import CONSTANTS, MAX_CHARACTERS, resolve

MISS: object = object()
_CLOSED = ("", -1)  # no list is open; else the key of the list and its indentation, once known

# A value that starts with one of these is text, unless it is a constant or has a colon inside.
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/($^;=<~\\")
_NUMBERS = frozenset("0123456789.")
# First characters of a key that may mean something else, or that only the full reader judges.
_ODD_KEYS = frozenset(" \"'[]{}&*!|>%@`,?-:<#.")


def read_simple(text: str) -> dict[str, object] | None:
    """Read a text, or give None; `OverflowError` where a number has too many digits."""
    if len(text) > MAX_CHARACTERS or not text.replace("\n", "").isprintable():
        return None
    result: dict[str, object] = {}
    opened = _CLOSED
    plain = "#" not in text
    for line in text.split("\n"):
        key, _, value = line.partition(": ")
        if key in result:
            return None
        # The common line, here because a call would take as long as the rest of it.
        if (
            plain
            and value[:1] in _LETTERS
            and key.isidentifier()
            and value[-1] not in ": "
            and ": " not in value
        ):
            result[key] = CONSTANTS.get(value, value) if len(value) < 6 else value
            opened = _CLOSED
            continue
        found = _read_line(line, result, opened)
        if found is None:
            return None
        opened = found
    return result or None


def _read_line(
    line: str, result: dict[str, object], opened: tuple[str, int]
) -> tuple[str, int] | None:
    """Read any line into `result`; give the list that is open after it."""
    body = line.lstrip(" ")
    if not body or body[0] == "#":
        return opened
    if body[:2] == "- ":
        return _read_item(body[2:], len(line) - len(body), result, opened)
    return _read_entry(line, result)


def _read_item(
    text: str, margin: int, result: dict[str, object], opened: tuple[str, int]
) -> tuple[str, int] | None:
    key, known = opened
    found = _read_scalar(text.strip(" "))
    if found is MISS or not key:
        return None
    items = result[key]
    if known == margin and isinstance(items, list):
        items.append(found)
        return opened
    if known >= 0:
        return None
    result[key] = [found]
    return key, margin


def _read_entry(line: str, result: dict[str, object]) -> tuple[str, int] | None:
    key, colon, value = line.partition(": ")
    if not colon:
        if line[-1] != ":":
            return None
        key = line[:-1]
    if key in result or not (key.isidentifier() or _is_key(key)):
        return None
    value = value.strip(" ")
    if not value or value[0] == "#":
        result[key] = None
        return key, -1
    found = _read_list(value) if value[0] == "[" else _read_scalar(value)
    if found is MISS:
        return None
    result[key] = found
    return _CLOSED


def _is_key(key: str) -> bool:
    return bool(key) and key[0] not in _ODD_KEYS and key[-1] != " " and " #" not in key


def _read_scalar(text: str) -> object:
    """Read a value that is no collection."""
    first = text[:1]
    if first in ("'", '"'):
        return _read_quoted(text, first)
    if " #" in text:
        text = text.partition(" #")[0].rstrip(" ")
    if first in _LETTERS or first in _NUMBERS or first > "\x7f":
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
    if text[-1] != "]" or "[" in inner or "]" in inner or "{" in inner or "}" in inner:
        return MISS
    if "#" in inner:
        return MISS
    if not inner.strip(" "):
        return []
    items = [_read_scalar(part.strip(" ")) for part in inner.split(",")]
    return MISS if MISS in items else items
