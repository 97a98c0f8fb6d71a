"""A subset of YAML, read and written without any dependency, and front matter.

`load` and `load_lenient` read a text, `dump` writes a value, `split_front_matter` and
`join_front_matter` take a Markdown file apart and put it together. What the subset is, and where
it differs from YAML 1.1 and 1.2, is a table in the README of this folder. What is outside it is
refused with a sentence that names the fix; nothing is guessed.

The parts are imported on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._emitter import dump
    from ._errors import Repair, UnsupportedError, YAMLError
    from ._front_matter import FrontMatter, join_front_matter, split_front_matter
    from ._reader import key_lines, load, load_lenient

__all__ = [
    "FrontMatter",
    "Repair",
    "UnsupportedError",
    "YAMLError",
    "dump",
    "join_front_matter",
    "key_lines",
    "load",
    "load_lenient",
    "split_front_matter",
]

_HOMES = {
    "FrontMatter": "_front_matter",
    "Repair": "_errors",
    "UnsupportedError": "_errors",
    "YAMLError": "_errors",
    "dump": "_emitter",
    "join_front_matter": "_front_matter",
    "key_lines": "_reader",
    "load": "_reader",
    "load_lenient": "_reader",
    "split_front_matter": "_front_matter",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
