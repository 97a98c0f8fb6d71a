"""How a text is read: the short way where it is simple, else the whole way."""

from __future__ import annotations

from ._errors import Repair
from ._fast import read_simple


def load(text: str) -> object:
    """Read a YAML text into dict, list, str, int, float, bool and None; without content, None.

    Keys are always text, and dates stay the text they are. The nodes of an anchor and its aliases
    are one object. Raises `YAMLError` for what is no YAML, and `UnsupportedError`, a kind of it,
    for what the subset leaves out.
    """
    return _read(text, None)


def load_lenient(text: str) -> tuple[object, list[Repair]]:
    """Read a text like `load`, and take `key: rest` or `- rest` as text where only quotes lack.

    Gives the value and one `Repair` for each text so read. Whatever else is wrong raises
    `YAMLError` as in `load`.
    """
    repairs: list[Repair] = []
    return _read(text, repairs), repairs


def key_lines(text: str) -> dict[str, int]:
    """Give the line, from 1, of each key of the outermost mapping, for a message about it.

    The text is read again; of one that is broken, the keys before its first fault are given.
    """
    from ._parser import key_lines as find_lines

    return find_lines(_normal(text))


def _read(text: str, repairs: list[Repair] | None) -> object:
    if "\r" in text or text[:1] == "\ufeff":
        text = _normal(text)
    try:
        found = read_simple(text)
    except OverflowError:  # the whole way says where the number stands
        found = None
    if found is not None:
        return found
    from ._parser import parse

    return parse(text, repairs)


def _normal(text: str) -> str:
    """Drop one byte order mark and make every line end a line feed (YAML 1.2, 5.2 and 5.4)."""
    if text[:1] == "\ufeff":
        text = text[1:]
    return text.replace("\r\n", "\n").replace("\r", "\n")
