"""The writer: block style, two spaces, key order kept, nothing folded.

What it writes is read back equal by YAML 1.1 and YAML 1.2 readers alike, so a text is put into
quotes as soon as one of them would take it for something else.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_DEPTH = 64  # what the reader of this package takes
MAX_KEY = 1024  # characters before a colon (YAML 1.2.2, 7.4.2); a longer key stands behind `?`

# Words that some reader takes for null, a truth value, a merge or a default key, in any case.
_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
# "-" and "." are in it because they may begin a marker, digits and signs because of numbers.
_ODD_STARTS = frozenset("-?:,[]{}#&*!|>'\"%@` \xa0~=<+.0123456789")
_ALWAYS_QUOTED = frozenset("-?:,[]{}#&*!|>'\"%@` \xa0")
# Patterns are compiled on first use (`re` keeps what it compiled): most values need none.
_LOOKS_LIKE_VALUE = (
    r"~|=|<<|\.\.\..*"
    r"|[-+]?0[xX][0-9a-fA-F_]+|[-+]?0[oO]?[0-7_]+|[-+]?0[bB][01_]+"
    r"|[-+]?[0-9_]*\.?[0-9_]*(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?[0-9][0-9_]*(?::[0-9]{1,2})+(?:\.[0-9_]*)?"
    r"|[-+]?\.(?:[iI][nN][fF]|[nN][aA][nN])"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?"
)
_UNSAFE_CHARACTERS = "\0-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff"
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def dump(value: object) -> str:
    """Write a value made of dict, list, tuple, str, int, float, bool and None as YAML.

    The text ends with a line feed. Raises `TypeError` for any other type, or a key that is no
    text, and `ValueError` where lists and mappings nest deeper than 64 levels.
    """
    lines: list[str] = []
    if value and isinstance(value, dict):
        _write_mapping(value, "", lines)
    elif value and isinstance(value, (list, tuple)):
        _write_list(value, "", lines)
    else:
        lines.append(_scalar(value, ""))
    lines.append("")
    return "\n".join(lines)


def _write_mapping(mapping: dict[str, object], margin: str, lines: list[str]) -> None:
    for key, value in mapping.items():
        if not isinstance(key, str):
            raise TypeError(f"a key must be text, not {type(key).__name__}")
        text = key if _is_plain(key) else _quoted(key)
        if len(text) >= MAX_KEY:
            lines.append(f"{margin}? {text}")
            text = ""
        name = f"{margin}{text}:"
        if value and isinstance(value, dict):
            lines.append(name)
            _write_mapping(value, _deeper(margin), lines)
        elif value and isinstance(value, (list, tuple)):
            lines.append(name)
            _write_list(value, _deeper(margin), lines)
        elif type(value) is str and _is_plain(value):
            lines.append(f"{name} {value}")
        else:
            lines.append(f"{name} {_scalar(value, margin)}")


def _write_list(items: Iterable[object], margin: str, lines: list[str]) -> None:
    for item in items:
        if item and isinstance(item, (dict, list, tuple)):
            first, inner = len(lines), _deeper(margin)
            if isinstance(item, dict):
                _write_mapping(item, inner, lines)
            else:
                _write_list(item, inner, lines)
            lines[first] = f"{margin}- {lines[first][len(inner) :]}"
        else:
            lines.append(f"{margin}- {_scalar(item, margin)}")


def _deeper(margin: str) -> str:
    if len(margin) >= 2 * (MAX_DEPTH - 1):
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    return margin + "  "


def _scalar(value: object, margin: str) -> str:
    if isinstance(value, str):
        if _is_plain(value):
            return value
        return _literal(value, margin) if _fits_literal(value) else _quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, (dict, list, tuple)):  # the others have been written as blocks
        return "{}" if isinstance(value, dict) else "[]"
    raise TypeError(f"a value of type {type(value).__name__} cannot be written as YAML")


def _float(value: float) -> str:
    """Write a float with a dot before its exponent, without which YAML 1.1 reads a text."""
    text = float.__repr__(value)
    if text[-1] in "fn":
        return text.replace("inf", ".inf").replace("nan", ".nan")
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    return text


def _is_plain(text: str) -> bool:
    """Tell whether every reader takes the text, without quotes, for itself."""
    if not text or text[-1] in " :\xa0" or ": " in text or " #" in text:
        return False
    if not text.isprintable() and _is_unsafe(text):
        return False
    first = text[0]
    if first in _ODD_STARTS:
        if first in _ALWAYS_QUOTED or text[4:8:3] == "--":  # the latter is nearly always a date
            return False
        return not re.fullmatch(_LOOKS_LIKE_VALUE, text)
    return len(text) > 5 or text.lower() not in _WORDS


def _quoted(text: str) -> str:
    if not text.isprintable() and _is_unsafe(text):
        return '"' + re.sub(f'["\\\\{_UNSAFE_CHARACTERS}]', _escape, text) + '"'
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return f'"{text}"'


def _is_unsafe(text: str) -> bool:
    """Tell whether a text has characters that must be written as escapes."""
    return re.search(f"[{_UNSAFE_CHARACTERS}]", text) is not None


def _escape(found: re.Match[str]) -> str:
    char = found.group()
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:  # half of a character: no file can hold it
        code = 0xFFFD
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _fits_literal(text: str) -> bool:
    """Tell whether a text can stand under `|`: several lines, no white space that would be lost."""
    if "\n" not in text or text[0] in " \n" or text[-1] in " \xa0" or " \n" in text:
        return False
    return not _is_unsafe(text.replace("\n", ""))


def _literal(text: str, margin: str) -> str:
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    sign = "-" if not ends else "+" if ends > 1 else ""
    inner = "\n" + margin + "  "
    lines = body.split("\n")
    written = "".join([inner + line if line else "\n" for line in lines])
    return f"|{sign}{written}" + "\n" * (ends - 1)
