"""What an unquoted text means: null, a truth value, a number, or itself; and what a text may be.

The values are those of the YAML 1.2 core schema as js-yaml 4 reads it, but for dates, which stay
the text they are: no time zone is guessed, and an impossible day harms nobody.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

    Scalar = Union[None, bool, int, float, str]

MAX_CHARACTERS = 1024 * 1024
# `int` of more digits takes quadratic time, and Python 3.11 refuses it.
MAX_DIGITS = 4300
_MAX_BITS = 14_284  # 10 ** 4300 has as many; a longer number could be read but not be written

CONSTANTS: dict[str, bool | None] = {
    "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip

_PRINTABLE = bytes(range(32, 127)) + b"\n"

# Only a text that starts with one of these can be a number. ASCII alone: `int` and `float` would
# take the digits of every script.
NUMBER_STARTS = frozenset("0123456789+-.")

_SPECIAL = {
    sign + dot: float(sign + "inf") for sign in ("", "+", "-") for dot in (".inf", ".Inf", ".INF")
}
_SPECIAL.update(dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")))

# Compiled on first use (`re` keeps what it compiled): most files have no such number.
_NUMBER = (
    r"[-+]?(?:"
    r"(?P<int>[0-9]+)"
    r"|0x(?P<hex>[0-9a-fA-F]+)|0o(?P<oct>[0-7]+)|0b(?P<bin>[01]+)"
    r"|(?P<float>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r")"
)
_BASES = {"int": 10, "hex": 16, "oct": 8, "bin": 2}


def is_printable(text: str) -> bool:
    """Tell whether a text has nothing but printable characters and line feeds."""
    if text.isascii():  # deleting what is allowed takes half as long as looking at it
        return not text.encode("ascii").translate(None, _PRINTABLE)
    return text.replace("\n", "").isprintable()


def resolve(text: str) -> Scalar:
    """Give the value of a plain text that is not empty; `OverflowError` for too many digits."""
    if text[0] in NUMBER_STARTS:
        return number(text)
    if text in CONSTANTS:
        return CONSTANTS[text]
    return text


def number(text: str) -> Scalar:
    """Give the number a plain text stands for, or the text itself."""
    if text[4:8:3] == "--":  # no number has a dash in both places; nearly every date has
        return text
    if len(text) < 16 and text.isdigit() and text.isascii():
        return int(text)
    found = re.fullmatch(_NUMBER, text)
    if found is None:
        return _SPECIAL.get(text, text)
    kind = found.lastgroup or ""
    if kind == "float":
        value = float(text)
        return text if value in (_SPECIAL[".inf"], _SPECIAL["-.inf"]) else value
    digits = found.group(kind)
    if len(digits) > MAX_DIGITS:
        raise OverflowError(len(digits))
    value = int(digits, _BASES[kind])
    if value.bit_length() > _MAX_BITS:
        raise OverflowError(len(digits))
    return -value if text[0] == "-" else value
