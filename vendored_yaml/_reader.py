"""The three ways to read a text."""

from __future__ import annotations

from ._errors import Repair
from ._parser import key_lines, parse

__all__ = ["key_lines", "load", "load_lenient"]


def load(text: str) -> object:
    """Read a YAML text into dict, list, str, int, float, bool and None; without content, None.

    Keys are always text, and dates stay the text they are. Raises `YAMLError` for what is no
    YAML, and `UnsupportedError`, a kind of it, for what the subset leaves out.
    """
    return parse(text)


def load_lenient(text: str) -> tuple[object, list[Repair]]:
    """Read a text like `load`, and take `key: rest` or `- rest` as text where only quotes lack.

    Gives the value and one `Repair` for each text so read. Whatever else is wrong raises
    `YAMLError` as in `load`.
    """
    repairs: list[Repair] = []
    return parse(text, repairs), repairs
